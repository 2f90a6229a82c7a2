//! Anthropic Messages, as in Anthropic's streaming documentation and as its imitators speak it.

use super::slots::{Slot, Slots, open_late};
use super::turn::{BlockKind, Hot, Turn};
use super::{Payload, Wire, other_members, value_str};
use crate::assemble::Builder;
use crate::error::ErrorDocument;
use crate::event::{Event, StopReason, Terminal, WarningCode};
use crate::json::{Raw, Str, range_in};
use crate::usage::AnthropicUsage;

#[derive(Debug, Default)]
pub(crate) struct Anthropic {
    slots: Slots,
    usage: AnthropicUsage,
    reason: Option<String>,
    id: Option<String>,
}

/// The stop reasons of Anthropic, which Bedrock shares.
pub(crate) fn stop_reason(raw: &str) -> StopReason {
    match raw {
        "end_turn" => StopReason::EndTurn,
        "tool_use" => StopReason::ToolUse,
        "max_tokens" => StopReason::MaxTokens,
        "stop_sequence" => StopReason::StopSequence,
        "refusal" | "sensitive" => StopReason::Refusal,
        "pause_turn" => StopReason::PauseTurn,
        "model_context_window_exceeded" => StopReason::ContextWindow,
        _ => StopReason::Other,
    }
}

/// Facts of the turn that go out as extensions of their name.
pub(crate) const FACTS: [&str; 4] = [
    "stop_sequence",
    "stop_details",
    "container",
    "context_management",
];

impl Wire for Anthropic {
    fn payload(
        &mut self,
        turn: &mut Turn,
        _said: &Builder,
        Payload {
            raw: payload,
            faulty,
            ..
        }: Payload<'_>,
    ) -> Result<(), ErrorDocument> {
        let [kind, index, message, block, delta, usage] = payload.members(&[
            "type",
            "index",
            "message",
            "content_block",
            "delta",
            "usage",
        ]);
        let index = index.and_then(Raw::as_i64);
        let kind = kind
            .and_then(Raw::as_str)
            .map(Str::to_text)
            .unwrap_or_default();
        match kind.as_str() {
            "message_start" => return self.message_start(turn, message),
            "content_block_start" => {
                turn.start(None, None);
                match (index, block) {
                    (Some(index), Some(block)) => self.block_start(turn, index, block),
                    _ => turn.warn(WarningCode::DroppedFragment),
                }
            }
            "content_block_delta" => match (index, delta) {
                (Some(index), Some(delta)) => self.block_delta(turn, index, delta, payload),
                _ => turn.warn(WarningCode::DroppedFragment),
            },
            "content_block_stop" => {
                if !index.is_some_and(|index| self.slots.close(turn, index)) {
                    turn.warn(WarningCode::DroppedFragment);
                }
            }
            "message_delta" => {
                turn.start(None, None);
                self.facts(turn, delta);
                self.facts(turn, Some(payload));
                if let Some(usage) = usage {
                    self.usage.delta(usage);
                    turn.usage = self.usage.get();
                }
            }
            "message_stop" => self.stop(turn, Terminal::MessageStop),
            "ping" | "error" => {}
            _ if faulty => {}
            _ => {
                turn.warn(WarningCode::UnknownEvent);
                turn.start(None, None);
                turn.fact(&kind, payload.text());
            }
        }
        Ok(())
    }

    fn whole(&mut self, turn: &mut Turn, body: Raw<'_>) -> Result<(), ErrorDocument> {
        // Without its content it is something else.
        if body.member("content").is_some_and(Raw::is_array) {
            self.message_start(turn, Some(body))?;
            self.stop(turn, Terminal::MessageStop);
        }
        Ok(())
    }

    fn has_content(&self, Payload { raw: payload, .. }: Payload<'_>) -> bool {
        let [kind, message, block, delta] =
            payload.members(&["type", "message", "content_block", "delta"]);
        match kind.and_then(Raw::as_str).map(Str::to_text).as_deref() {
            // A repeated start is its usage only.
            Some("message_start") => {
                let id = value_str(message.and_then(|message| message.member("id")));
                id.is_some_and(|id| !self.id.as_deref().is_some_and(|known| id.is(known)))
            }
            Some("content_block_start") => block.is_some_and(|block| {
                let [kind, text, thinking, signature, citations] =
                    block.members(&["type", "text", "thinking", "signature", "citations"]);
                let is_late = kind
                    .and_then(Raw::as_str)
                    .is_some_and(|kind| kind.is("text") || kind.is("thinking"));
                let content = [text, thinking, signature, citations];
                !is_late || content.into_iter().flatten().any(|value| !value.is_empty())
            }),
            Some("content_block_delta") => delta.is_some_and(|delta| {
                delta
                    .entries()
                    .any(|(key, value)| !key.is("type") && !value.is_null() && !value.is_empty())
            }),
            Some("ping" | "message_delta" | "message_stop" | "content_block_stop" | "error")
            | None => false,
            Some(_) => true,
        }
    }

    fn ended(&self) -> bool {
        self.reason.is_some() && self.slots.is_empty()
    }

    fn finish(&mut self, turn: &mut Turn) -> Result<(), String> {
        if self.ended() {
            turn.warn(WarningCode::MissingTerminal);
            self.stop(turn, Terminal::FinishReason);
            return Ok(());
        }
        Err(match (turn.started, self.reason.is_some()) {
            (false, _) => "no message_start came".to_owned(),
            (true, false) => "neither a stop reason nor message_stop came".to_owned(),
            (true, true) => "a block was left open and no message_stop came".to_owned(),
        })
    }
}

impl Anthropic {
    fn message_start(
        &mut self,
        turn: &mut Turn,
        message: Option<Raw<'_>>,
    ) -> Result<(), ErrorDocument> {
        let [id, model, content, usage] = match message {
            Some(message) => message.members(&["id", "model", "content", "usage"]),
            None => [None; 4],
        };
        let id = id.and_then(Raw::as_str);
        let again = turn.started;
        if again
            && let (Some(new), Some(old)) = (id.filter(|id| !id.is_empty()), &self.id)
            && !new.is(old)
        {
            if self.ended() {
                turn.after_stop();
                return Ok(());
            }
            return Err(ErrorDocument::named(
                "stream_restarted",
                "a second message began before the first had ended",
            ));
        }
        if let Some(usage) = usage {
            self.usage.start(usage);
            turn.usage = self.usage.get();
        }
        if again {
            return Ok(());
        }
        turn.start(id, model.and_then(Raw::as_str));
        self.id = id.filter(|id| !id.is_empty()).map(Str::to_text);
        // Programmatic tool calling sends a whole response in its start.
        for block in content.into_iter().flat_map(Raw::elements) {
            Self::open(turn, block).close(turn);
        }
        self.facts(turn, message);
        Ok(())
    }

    /// The stop reason and the facts beside it, from a message or a delta of one.
    fn facts(&mut self, turn: &mut Turn, holder: Option<Raw<'_>>) {
        let Some(holder) = holder else { return };
        if let Some(reason) = holder.string("stop_reason") {
            self.reason = Some(turn.text(reason));
        }
        for (kind, fact) in FACTS.iter().zip(holder.members(&FACTS)) {
            if let Some(fact) = fact {
                turn.fact(kind, fact.text());
            }
        }
    }

    fn stop(&mut self, turn: &mut Turn, terminal: Terminal) {
        self.slots.close_all(turn);
        let reason = self.reason.take();
        let stop = reason.as_deref().map_or(StopReason::Unknown, stop_reason);
        turn.stop(stop, reason.as_deref(), terminal);
    }

    fn block_start(&mut self, turn: &mut Turn, index: i64, block: Raw<'_>) {
        self.slots.close(turn, index);
        let slot = Self::open(turn, block);
        self.slots.put(turn, index, slot);
    }

    /// Opens a block from its start, with the content that the start holds.
    fn open(turn: &mut Turn, block: Raw<'_>) -> Slot {
        let [kind, text, citations, thinking, signature, data] =
            block.members(&["type", "text", "citations", "thinking", "signature", "data"]);
        let kind = kind
            .and_then(Raw::as_str)
            .map(Str::to_text)
            .unwrap_or_default();
        match kind.as_str() {
            "text" => {
                let mut slot = None;
                if let Some(text) = value_str(text) {
                    let at = open_late(turn, &mut slot, BlockKind::Text);
                    turn.delta(at, text);
                }
                for citation in citations.into_iter().flat_map(Raw::elements) {
                    let index = open_late(turn, &mut slot, BlockKind::Text);
                    turn.citation(index, citation.text());
                }
                Slot::Text(slot)
            }
            "thinking" => {
                let mut slot = None;
                if let Some(thinking) = value_str(thinking) {
                    let at = open_late(turn, &mut slot, BlockKind::Thinking);
                    turn.delta(at, thinking);
                }
                if let Some(signature) = value_str(signature) {
                    let at = open_late(turn, &mut slot, BlockKind::Thinking);
                    turn.signature(at, signature);
                }
                Slot::Thinking(slot)
            }
            "redacted_thinking" => {
                let data = value_str(data)
                    .map(|data| turn.text(data))
                    .unwrap_or_default();
                let index = turn.open(BlockKind::Redacted);
                turn.log
                    .push(Event::RedactedThinking { index, data: &data });
                Slot::Redacted(index)
            }
            "tool_use" => open_tool(turn, block),
            _ => {
                if kind.ends_with("_tool_use") {
                    turn.mark_server_call();
                }
                Slot::extension(turn, &kind, block)
            }
        }
    }

    fn block_delta(&mut self, turn: &mut Turn, index: i64, delta: Raw<'_>, payload: Raw<'_>) {
        let Some(slot) = self.slots.get_mut(index) else {
            turn.warn(WarningCode::DroppedFragment);
            return;
        };
        let [kind, text, thinking, partial_json, signature, citation] = delta.members(&[
            "type",
            "text",
            "thinking",
            "partial_json",
            "signature",
            "citation",
        ]);
        let kind = kind
            .and_then(Raw::as_str)
            .map(Str::to_text)
            .unwrap_or_default();
        if let Slot::Extension(index) = *slot {
            turn.log.push(Event::Extension {
                index: Some(index),
                kind: &kind,
                json: delta.text(),
            });
            return;
        }
        let plain = |turn: &mut Turn, block: usize, piece: Str<'_>| {
            turn.delta(block, piece);
            turn.hot = Some(Hot {
                hole: range_in(payload.text(), piece.body()),
                block,
            });
        };
        match (kind.as_str(), slot) {
            ("text_delta", Slot::Text(at)) => {
                if let Some(piece) = value_str(text) {
                    let block = open_late(turn, at, BlockKind::Text);
                    plain(turn, block, piece);
                }
            }
            ("thinking_delta", Slot::Thinking(at)) => {
                if let Some(piece) = value_str(thinking) {
                    let block = open_late(turn, at, BlockKind::Thinking);
                    plain(turn, block, piece);
                }
            }
            ("input_json_delta", Slot::Tool { block, input }) => {
                if let Some(piece) = value_str(partial_json) {
                    *input = None;
                    plain(turn, *block, piece);
                }
            }
            ("signature_delta", Slot::Thinking(at)) => {
                if let Some(piece) = value_str(signature) {
                    let block = open_late(turn, at, BlockKind::Thinking);
                    turn.signature(block, piece);
                }
            }
            ("citations_delta", Slot::Text(at)) => {
                if let Some(citation) = citation {
                    let index = open_late(turn, at, BlockKind::Text);
                    turn.citation(index, citation.text());
                }
            }
            (
                "text_delta" | "thinking_delta" | "input_json_delta" | "signature_delta"
                | "citations_delta",
                _,
            ) => {
                turn.warn(WarningCode::DroppedFragment);
            }
            _ => {
                turn.warn(WarningCode::UnknownEvent);
                turn.fact(&kind, delta.text());
            }
        }
    }
}

fn open_tool(turn: &mut Turn, block: Raw<'_>) -> Slot {
    let [id, name, input] = block.members(&["id", "name", "input"]);
    let name = value_str(name)
        .map(|name| turn.text(name))
        .unwrap_or_default();
    if turn.options.server_tools.contains(&name) {
        return Slot::extension(turn, "tool_use", block);
    }
    let id = value_str(id).map(|id| turn.text(id));
    let extra = other_members(block, &["type", "id", "name", "input"]);
    let index = turn.open(BlockKind::Tool);
    turn.tool_start(index, id.as_deref(), &name, extra.as_deref());
    let input = input
        .filter(|input| !input.is_empty())
        .map(|input| input.text().to_owned());
    Slot::Tool {
        block: index,
        input,
    }
}
