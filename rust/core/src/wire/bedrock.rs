//! Bedrock `ConverseStream`, as in the Amazon Bedrock API reference.

use super::slots::{Slot, Slots, open_late};
use super::template::FreeMember;
use super::turn::{BlockKind, Hot, Turn};
use super::{Payload, Wire, anthropic, value_str};
use crate::assemble::Builder;
use crate::error::ErrorDocument;
use crate::event::{Event, StopReason, Terminal, WarningCode};
use crate::json::{Raw, Str, range_in};
use crate::usage;

#[derive(Debug, Default)]
pub(crate) struct Bedrock {
    slots: Slots,
    /// The stop reason of `messageStop`; the stop itself waits for `metadata`, which brings the usage.
    reason: Option<String>,
    has_metadata: bool,
}

fn stop_reason(raw: &str) -> StopReason {
    match raw {
        "guardrail_intervened" | "content_filtered" => StopReason::ContentFilter,
        other => anthropic::stop_reason(other),
    }
}

impl Wire for Bedrock {
    fn free_members(&self) -> &'static [FreeMember] {
        // Padding against the guessing of lengths.
        const MEMBERS: [FreeMember; 1] = [FreeMember::always("p")];
        &MEMBERS
    }

    fn payload(
        &mut self,
        turn: &mut Turn,
        _said: &Builder,
        Payload { raw, name, faulty }: Payload<'_>,
    ) -> Result<(), ErrorDocument> {
        let index = raw.member("contentBlockIndex").and_then(Raw::as_i64);
        if self.reason.is_some() && name.starts_with("contentBlock") {
            if self.has_content(Payload { raw, name, faulty }) {
                turn.after_stop();
            }
            return Ok(());
        }
        match name {
            "initial-response" => {}
            "messageStart" => turn.start(None, None),
            "contentBlockStart" => {
                turn.start(None, None);
                match (index, raw.member("start")) {
                    (Some(index), Some(start)) => self.block_start(turn, index, start),
                    (Some(_), None) => {}
                    (None, _) => turn.warn(WarningCode::DroppedFragment),
                }
            }
            "contentBlockDelta" => {
                turn.start(None, None);
                match (index, raw.member("delta")) {
                    (Some(index), Some(delta)) => self.block_delta(turn, index, delta, raw),
                    _ => turn.warn(WarningCode::DroppedFragment),
                }
            }
            // Text has no start, so a stop without a block is that of a text that stayed empty.
            "contentBlockStop" => {
                if let Some(index) = index {
                    self.slots.close(turn, index);
                }
            }
            "messageStop" => {
                turn.start(None, None);
                let reason = value_str(raw.member("stopReason"));
                self.reason = Some(reason.map(|reason| turn.text(reason)).unwrap_or_default());
                self.slots.close_all(turn);
                let fields = raw.member("additionalModelResponseFields");
                if let Some(fields) = fields.filter(|fields| !fields.is_empty()) {
                    turn.fact("additionalModelResponseFields", fields.text());
                }
                if self.has_metadata {
                    self.stop(turn);
                }
            }
            "metadata" => {
                let [usage, trace] = raw.members(&["usage", "trace"]);
                if let Some(usage) = usage.and_then(usage::bedrock) {
                    turn.usage = Some(usage);
                }
                if let Some(trace) = trace {
                    turn.start(None, None);
                    turn.fact("trace", trace.text());
                }
                self.has_metadata = true;
                if self.reason.is_some() {
                    self.stop(turn);
                }
            }
            _ if faulty => {}
            _ => {
                turn.warn(WarningCode::UnknownEvent);
                turn.start(None, None);
                turn.fact(name, raw.text());
            }
        }
        Ok(())
    }

    fn whole(&mut self, turn: &mut Turn, body: Raw<'_>) -> Result<(), ErrorDocument> {
        let [output, reason, usage, trace] =
            body.members(&["output", "stopReason", "usage", "trace"]);
        turn.start(None, None);
        let content = output.and_then(|output| output.member("message")?.member("content"));
        for (index, block) in (0..).zip(content.into_iter().flat_map(Raw::elements)) {
            self.whole_block(turn, index, block);
            self.slots.close(turn, index);
        }
        turn.usage = usage.and_then(usage::bedrock);
        if let Some(trace) = trace {
            turn.fact("trace", trace.text());
        }
        if let Some(reason) = value_str(reason) {
            self.reason = Some(turn.text(reason));
            self.stop(turn);
        }
        Ok(())
    }

    fn has_content(&self, Payload { raw, name, .. }: Payload<'_>) -> bool {
        match name {
            "contentBlockStart" => raw.member("start").is_some_and(|start| !start.is_empty()),
            "contentBlockDelta" => {
                let delta = raw.member("delta");
                delta.is_some_and(|delta| delta.entries().any(|(_, value)| !value.is_empty()))
            }
            _ => false,
        }
    }

    fn ended(&self) -> bool {
        self.reason.is_some()
    }

    fn finish(&mut self, turn: &mut Turn) -> Result<(), String> {
        if self.reason.is_none() {
            return Err("no messageStop came".to_owned());
        }
        self.stop(turn);
        Ok(())
    }
}

impl Bedrock {
    fn stop(&mut self, turn: &mut Turn) {
        let raw = self.reason.take().filter(|reason| !reason.is_empty());
        let reason = raw.as_deref().map_or(StopReason::Unknown, stop_reason);
        turn.stop(reason, raw.as_deref(), Terminal::MessageStop);
    }

    fn block_start(&mut self, turn: &mut Turn, index: i64, start: Raw<'_>) {
        let Some((kind, value)) = start.entries().next() else {
            return;
        };
        let kind = kind.to_text();
        self.slots.close(turn, index);
        let slot = match kind.as_str() {
            "toolUse" => {
                let [id, name, run_by] = value.members(&["toolUseId", "name", "type"]);
                let name = value_str(name)
                    .map(|name| turn.text(name))
                    .unwrap_or_default();
                let is_server = run_by
                    .and_then(Raw::as_str)
                    .is_some_and(|kind| kind.is("server_tool_use"));
                if is_server || turn.options.server_tools.contains(&name) {
                    if is_server {
                        turn.mark_server_call();
                    }
                    Slot::extension(turn, &kind, start)
                } else {
                    let id = value_str(id).map(|id| turn.text(id));
                    let block = turn.open(BlockKind::Tool);
                    turn.tool_start(block, id.as_deref(), &name, None);
                    Slot::Tool { block, input: None }
                }
            }
            "text" => Slot::Text(None),
            "reasoningContent" => Slot::Thinking(None),
            _ => Slot::extension(turn, &kind, start),
        };
        self.slots.put(turn, index, slot);
    }

    fn block_delta(&mut self, turn: &mut Turn, index: i64, delta: Raw<'_>, payload: Raw<'_>) {
        let Some((kind, value)) = delta.entries().next() else {
            return;
        };
        let kind = kind.to_text();
        if let Some(Slot::Extension(block)) = self.slots.get_mut(index) {
            turn.log.push(Event::Extension {
                index: Some(*block),
                kind: &kind,
                json: delta.text(),
            });
            return;
        }
        match kind.as_str() {
            "text" => {
                if let Some(piece) = value_str(Some(value)) {
                    let block = self.text_block(turn, index);
                    say(turn, block, piece, payload);
                }
            }
            "citation" => {
                let block = self.text_block(turn, index);
                turn.log.push(Event::Citation {
                    index: block,
                    json: value.text(),
                });
            }
            "reasoningContent" => self.reasoning(turn, index, value, payload),
            "toolUse" => match (self.slots.get_mut(index), value_str(value.member("input"))) {
                (Some(Slot::Tool { block, .. }), Some(piece)) => say(turn, *block, piece, payload),
                (Some(Slot::Tool { .. }), None) => {}
                _ => turn.warn(WarningCode::DroppedFragment),
            },
            _ => {
                turn.warn(WarningCode::UnknownEvent);
                turn.fact(&kind, delta.text());
            }
        }
    }

    /// A block of a response that was not streamed.
    fn whole_block(&mut self, turn: &mut Turn, index: i64, block: Raw<'_>) {
        let Some((kind, value)) = block.entries().next() else {
            return;
        };
        match kind.to_text().as_str() {
            "toolUse" => {
                self.block_start(turn, index, block);
                if let (Some(Slot::Tool { block, .. }), Some(input)) =
                    (self.slots.get_mut(index), value.member("input"))
                {
                    turn.raw_arguments(*block, input.text());
                }
            }
            "reasoningContent" => {
                // The streamed form names its members without this wrapping.
                let text = value.member("reasoningText").unwrap_or(value);
                self.reasoning(turn, index, text, block);
            }
            "citationsContent" => {
                let [content, citations] = value.members(&["content", "citations"]);
                for part in content.into_iter().flat_map(Raw::elements) {
                    self.block_delta(turn, index, part, block);
                }
                for citation in citations.into_iter().flat_map(Raw::elements) {
                    let block = self.text_block(turn, index);
                    turn.log.push(Event::Citation {
                        index: block,
                        json: citation.text(),
                    });
                }
            }
            "text" => self.block_delta(turn, index, block, block),
            _ => self.block_start(turn, index, block),
        }
    }

    fn reasoning(&mut self, turn: &mut Turn, index: i64, value: Raw<'_>, payload: Raw<'_>) {
        let [text, signature, redacted] = value.members(&["text", "signature", "redactedContent"]);
        if let Some(piece) = value_str(text) {
            let block = self.thinking_block(turn, index);
            say(turn, block, piece, payload);
        }
        if let Some(piece) = value_str(signature) {
            let block = self.thinking_block(turn, index);
            turn.signature(block, piece);
            // The payload is more than a delta of text.
            turn.hot = None;
        }
        if let Some(data) = value_str(redacted) {
            // Each is a block of its own.
            let data = turn.text(data);
            turn.hot = None;
            self.slots.close(turn, index);
            let block = turn.open(BlockKind::Redacted);
            turn.log.push(Event::RedactedThinking {
                index: block,
                data: &data,
            });
            self.slots.put(turn, index, Slot::Redacted(block));
        }
    }

    /// The text block at a number. Text and thinking have no start, so another kind there has ended.
    fn text_block(&mut self, turn: &mut Turn, index: i64) -> usize {
        if let Some(Slot::Text(block)) = self.slots.get_mut(index) {
            return open_late(turn, block, BlockKind::Text);
        }
        self.slots.close(turn, index);
        let block = turn.open(BlockKind::Text);
        self.slots.put(turn, index, Slot::Text(Some(block)));
        block
    }

    fn thinking_block(&mut self, turn: &mut Turn, index: i64) -> usize {
        if let Some(Slot::Thinking(block)) = self.slots.get_mut(index) {
            return open_late(turn, block, BlockKind::Thinking);
        }
        self.slots.close(turn, index);
        let block = turn.open(BlockKind::Thinking);
        self.slots.put(turn, index, Slot::Thinking(Some(block)));
        block
    }
}

/// A delta that is all of its payload.
fn say(turn: &mut Turn, block: usize, piece: Str<'_>, payload: Raw<'_>) {
    turn.delta(block, piece);
    turn.hot = Some(Hot {
        hole: range_in(payload.text(), piece.body()),
        block,
    });
}
