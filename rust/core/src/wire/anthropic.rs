//! Anthropic Messages, as in Anthropic's streaming documentation and as its imitators speak it.

use std::collections::BTreeMap;

use super::Wire;
use super::template::range_in;
use super::turn::{BlockKind, Hot, Turn};
use crate::assemble::object;
use crate::error::ErrorDocument;
use crate::event::{Event, StopReason, Terminal, WarningCode};
use crate::json::{Raw, Str};
use crate::usage::AnthropicUsage;

/// A block that is open on the wire.
#[derive(Debug)]
enum Slot {
    /// Opens at its first delta.
    Text(Option<usize>),
    /// Opens at its first delta.
    Thinking(Option<usize>),
    /// The input of the start block, which counts unless argument deltas come.
    Tool {
        block: usize,
        input: Option<String>,
    },
    Extension(usize),
    Redacted(usize),
}

impl Slot {
    const fn block(&self) -> Option<usize> {
        match *self {
            Self::Text(block) | Self::Thinking(block) => block,
            Self::Tool { block, .. } | Self::Extension(block) | Self::Redacted(block) => {
                Some(block)
            }
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Anthropic {
    slots: BTreeMap<i64, Slot>,
    usage: AnthropicUsage,
    reason: Option<String>,
    id: Option<String>,
}

fn stop_reason(raw: &str) -> StopReason {
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
const FACTS: [&str; 4] = [
    "stop_sequence",
    "stop_details",
    "container",
    "context_management",
];

impl Wire for Anthropic {
    fn payload(
        &mut self,
        turn: &mut Turn,
        payload: Raw<'_>,
        faulty: bool,
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
            "content_block_stop" => match index.and_then(|index| self.slots.remove(&index)) {
                Some(slot) => close(turn, slot),
                None => turn.warn(WarningCode::DroppedFragment),
            },
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

    fn has_content(&self, payload: Raw<'_>) -> bool {
        let [kind, block] = payload.members(&["type", "content_block"]);
        match kind.and_then(Raw::as_str).map(Str::to_text).as_deref() {
            Some("content_block_start") => block.is_some_and(|block| {
                let kind = block.string("type");
                let hidden = |name: &str| block.string(name).is_none_or(Str::is_empty);
                !(kind.is_some_and(|k| k.is("text")) && hidden("text")
                    || kind.is_some_and(|k| k.is("thinking"))
                        && hidden("thinking")
                        && hidden("signature"))
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
            let slot = Self::open(turn, block);
            close(turn, slot);
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
        // Blocks that the wire left open close in the order in which they opened, whatever its own indices.
        let mut open: Vec<Slot> = std::mem::take(&mut self.slots).into_values().collect();
        open.sort_by_key(Slot::block);
        for slot in open {
            close(turn, slot);
        }
        let reason = self.reason.take();
        let stop = reason.as_deref().map_or(StopReason::Unknown, stop_reason);
        turn.stop(stop, reason.as_deref(), terminal);
    }

    fn block_start(&mut self, turn: &mut Turn, index: i64, block: Raw<'_>) {
        if let Some(old) = self.slots.remove(&index) {
            close(turn, old);
        }
        let slot = Self::open(turn, block);
        self.slots.insert(index, slot);
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
                    turn.log.push(Event::Citation {
                        index,
                        json: citation.text(),
                    });
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
                Slot::Extension(open_extension(turn, &kind, block))
            }
        }
    }

    fn block_delta(&mut self, turn: &mut Turn, index: i64, delta: Raw<'_>, payload: Raw<'_>) {
        let Some(slot) = self.slots.get_mut(&index) else {
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
                    turn.log.push(Event::Citation {
                        index,
                        json: citation.text(),
                    });
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

/// A string that is there and not empty.
fn value_str(value: Option<Raw<'_>>) -> Option<Str<'_>> {
    value
        .and_then(Raw::as_str)
        .filter(|string| !string.is_empty())
}

/// The block of a slot, which its first content opens.
fn open_late(turn: &mut Turn, slot: &mut Option<usize>, kind: BlockKind) -> usize {
    *slot.get_or_insert_with(|| turn.open(kind))
}

fn open_extension(turn: &mut Turn, kind: &str, block: Raw<'_>) -> usize {
    let index = turn.open(BlockKind::Extension);
    turn.log.push(Event::Extension {
        index: Some(index),
        kind,
        json: block.text(),
    });
    index
}

fn open_tool(turn: &mut Turn, block: Raw<'_>) -> Slot {
    let [id, name, input] = block.members(&["id", "name", "input"]);
    let name = value_str(name)
        .map(|name| turn.text(name))
        .unwrap_or_default();
    if turn.options.server_tools.contains(&name) {
        turn.mark_server_call();
        return Slot::Extension(open_extension(turn, "tool_use", block));
    }
    let id = value_str(id).map(|id| turn.text(id));
    let known = ["type", "id", "name", "input"];
    let others: Vec<(String, &str)> = block
        .entries()
        .filter(|(key, value)| !value.is_null() && !known.iter().any(|name| key.is(name)))
        .map(|(key, value)| (key.to_text(), value.text()))
        .collect();
    let extra = (!others.is_empty())
        .then(|| object(others.iter().map(|(name, json)| (name.as_str(), *json))));
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

fn close(turn: &mut Turn, slot: Slot) {
    match slot {
        Slot::Text(block) | Slot::Thinking(block) => {
            if let Some(block) = block {
                turn.close(block);
            }
        }
        Slot::Tool { block, input } => {
            // The input of the start block counts where no argument delta came.
            if let Some(input) = input {
                turn.raw_arguments(block, &input);
            }
            turn.close(block);
        }
        Slot::Extension(block) | Slot::Redacted(block) => turn.close(block),
    }
}
