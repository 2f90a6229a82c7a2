//! Anthropic Messages: a named event a step, blocks numbered in the order in which they open.

use super::note::NoteCode;
use super::slots::Slots;
use super::text::{
    arguments, begin, end, fault_document, is_typed, literal, number, optional, other_members,
    plain, raw,
};
use super::turn::Turn;
use super::voice::{BlockKind, Opening, Stop, Voice, Whole};
use crate::assemble::Block;
use crate::error::ErrorDocument;
use crate::event::StopReason;
use crate::json::Raw;
use crate::usage::Usage;
use crate::wire::Dialect;
use crate::wire::anthropic::{FACTS, stop_reason};

/// A block that is open on the wire.
#[derive(Debug)]
struct Open {
    kind: BlockKind,
    number: u64,
    /// What stands before each of its pieces.
    prefix: Vec<u8>,
}

#[derive(Debug, Default)]
pub(crate) struct Anthropic {
    open: Slots<Open>,
    /// How many blocks have opened.
    blocks: u64,
    /// Facts that the closing `message_delta` gives.
    facts: Vec<(String, String)>,
}

/// The word for a stop.
const fn word(reason: StopReason) -> &'static str {
    match reason {
        StopReason::EndTurn | StopReason::Unknown => "end_turn",
        StopReason::ToolUse => "tool_use",
        StopReason::MaxTokens => "max_tokens",
        StopReason::StopSequence => "stop_sequence",
        StopReason::Refusal | StopReason::ContentFilter => "refusal",
        StopReason::PauseTurn => "pause_turn",
        StopReason::ContextWindow => "model_context_window_exceeded",
        StopReason::Other => "other",
    }
}

/// The event types of the wire, which no extension may pass for.
const KNOWN: [&str; 8] = [
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
    "ping",
    "error",
];

/// The block types that are no extension.
const PLAIN: [&str; 3] = ["text", "thinking", "redacted_thinking"];

impl Voice for Anthropic {
    fn start(&mut self, turn: &mut Turn, id: Option<&str>, model: Option<&str>, out: &mut Vec<u8>) {
        begin("message_start", out);
        plain(",\"message\":{", out);
        labels(turn, id, model, out);
        plain(
            ",\"content\":[],\"stop_reason\":null,\"stop_sequence\":null,\"usage\":\
             {\"input_tokens\":0,\"output_tokens\":0}}",
            out,
        );
        end(out);
    }

    fn open(&mut self, turn: &mut Turn, index: usize, opening: Opening<'_>, out: &mut Vec<u8>) {
        if let Opening::Extension { kind, json } = opening
            && (PLAIN.contains(&kind) || !is_typed(json, kind))
        {
            turn.note(
                NoteCode::ContentUnsupported,
                Some(index),
                format!("an extension {kind:?} is no block of that type"),
            );
            return;
        }
        let number = self.blocks;
        self.blocks += 1;
        block_event("content_block_start", number, out);
        plain(",\"content_block\":", out);
        let piece = match opening {
            Opening::Text => {
                plain("{\"type\":\"text\",\"text\":\"\"}", out);
                "{\"type\":\"text_delta\",\"text\":"
            }
            Opening::Thinking => {
                plain(
                    "{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}",
                    out,
                );
                "{\"type\":\"thinking_delta\",\"thinking\":"
            }
            Opening::Tool { id, name, extra } => {
                turn.calls += 1;
                tool_head(&turn.call_id(id, index, name), name, out);
                plain("{}", out);
                tool_tail(extra, out);
                "{\"type\":\"input_json_delta\",\"partial_json\":"
            }
            Opening::Redacted { data } => {
                redacted(data, out);
                ""
            }
            Opening::Extension { json, .. } => {
                raw(json, out);
                ""
            }
        };
        end(out);
        let mut prefix = Vec::new();
        block_event("content_block_delta", number, &mut prefix);
        plain(",\"delta\":", &mut prefix);
        plain(piece, &mut prefix);
        let kind = opening.kind();
        self.open.put(
            index,
            Open {
                kind,
                number,
                prefix,
            },
        );
    }

    #[inline]
    fn piece(&mut self, _: &mut Turn, index: usize, piece: &str, out: &mut Vec<u8>) {
        if let Some(block) = self.open.get_mut(index) {
            out.extend_from_slice(&block.prefix);
            literal(piece, out);
            plain("}}\n\n", out);
        }
    }

    fn signature(&mut self, turn: &mut Turn, index: usize, signature: &str, out: &mut Vec<u8>) {
        let Some(block) = self.open.get_mut(index) else {
            return;
        };
        if block.kind != BlockKind::Thinking {
            let detail = "only thinking has a signature on this wire";
            turn.note(NoteCode::SignatureDropped, Some(index), detail);
            return;
        }
        block_event("content_block_delta", block.number, out);
        plain(
            ",\"delta\":{\"type\":\"signature_delta\",\"signature\":",
            out,
        );
        literal(signature, out);
        plain("}}\n\n", out);
    }

    fn citation(&mut self, _: &mut Turn, index: usize, json: Raw<'_>, out: &mut Vec<u8>) {
        let Some(block) = self.open.get_mut(index) else {
            return;
        };
        block_event("content_block_delta", block.number, out);
        plain(
            ",\"delta\":{\"type\":\"citations_delta\",\"citation\":",
            out,
        );
        raw(json, out);
        plain("}}\n\n", out);
    }

    fn extension(
        &mut self,
        turn: &mut Turn,
        index: usize,
        kind: &str,
        json: Raw<'_>,
        out: &mut Vec<u8>,
    ) {
        let Some(block) = self.open.get_mut(index) else {
            return;
        };
        if !is_typed(json, kind) {
            turn.note(
                NoteCode::ContentUnsupported,
                Some(index),
                format!("an extension {kind:?} is no delta of that type"),
            );
            return;
        }
        out.extend_from_slice(&block.prefix);
        raw(json, out);
        end(out);
    }

    fn fact(&mut self, turn: &mut Turn, kind: &str, json: Raw<'_>, out: &mut Vec<u8>) {
        if FACTS.contains(&kind) {
            self.facts.retain(|(known, _)| known != kind);
            self.facts.push((kind.to_owned(), json.text().to_owned()));
            return;
        }
        // An event or a delta of a type that was unknown: it goes out as an event of that type.
        let is_event = is_typed(json, kind)
            && !KNOWN.contains(&kind)
            && kind.bytes().all(|byte| byte >= b' ')
            && ErrorDocument::read(json).is_none();
        if is_event {
            plain("event: ", out);
            plain(kind, out);
            plain("\ndata: ", out);
            raw(json, out);
            plain("\n\n", out);
        } else {
            turn.note(
                NoteCode::ContentUnsupported,
                None,
                format!("an extension {kind:?} is no event of that type"),
            );
        }
    }

    fn close(&mut self, _: &mut Turn, index: usize, out: &mut Vec<u8>) {
        if let Some(block) = self.open.take(index) {
            block_event("content_block_stop", block.number, out);
            end(out);
        }
    }

    fn stop(&mut self, turn: &mut Turn, stop: Stop<'_>, out: &mut Vec<u8>) {
        let facts = std::mem::take(&mut self.facts);
        let fact = |kind: &str| {
            let fact = facts.iter().find(|(known, _)| known == kind);
            fact.map(|(_, json)| Raw::assume(json))
        };
        begin("message_delta", out);
        plain(",\"delta\":{", out);
        stop_members(turn, stop, fact, out);
        for kind in ["stop_details", "container"] {
            optional_member(kind, fact(kind), out);
        }
        plain("},\"usage\":", out);
        usage(turn, stop.usage, out);
        optional_member("context_management", fact("context_management"), out);
        end(out);
        begin("message_stop", out);
        end(out);
    }

    fn fail(&mut self, _: &mut Turn, fault: &ErrorDocument, out: &mut Vec<u8>) {
        plain("event: error\ndata: ", out);
        fault_document(Dialect::Anthropic, fault, out);
        plain("\n\n", out);
    }

    fn body(&mut self, turn: &mut Turn, whole: &Whole, out: &mut Vec<u8>) {
        let message = &whole.message;
        plain("{", out);
        labels(turn, message.id.as_deref(), message.model.as_deref(), out);
        plain(",\"content\":[", out);
        for (index, block) in message.content.iter().enumerate() {
            if index > 0 {
                plain(",", out);
            }
            content(turn, index, block, out);
        }
        plain("],", out);
        stop_members(turn, whole.stop(), |kind| whole.fact(kind), out);
        for kind in ["stop_details", "container", "context_management"] {
            optional_member(kind, whole.fact(kind), out);
        }
        plain(",\"usage\":", out);
        usage(turn, message.usage, out);
        plain("}", out);
    }
}

fn block_event(kind: &str, index: u64, out: &mut Vec<u8>) {
    begin(kind, out);
    plain(",\"index\":", out);
    number(index, out);
}

fn labels(turn: &mut Turn, id: Option<&str>, model: Option<&str>, out: &mut Vec<u8>) {
    plain("\"id\":", out);
    literal(&turn.response_id(id, model, "msg_"), out);
    plain(
        ",\"type\":\"message\",\"role\":\"assistant\",\"model\":",
        out,
    );
    literal(&turn.model(model), out);
}

fn stop_members<'f>(
    turn: &mut Turn,
    stop: Stop<'_>,
    fact: impl Fn(&str) -> Option<Raw<'f>>,
    out: &mut Vec<u8>,
) {
    plain("\"stop_reason\":", out);
    let said = turn.stop_word(stop.reason, stop.raw, stop_reason, word);
    optional(said, out);
    plain(",\"stop_sequence\":", out);
    match fact("stop_sequence") {
        Some(sequence) => raw(sequence, out),
        None => plain("null", out),
    }
}

fn optional_member(name: &str, value: Option<Raw<'_>>, out: &mut Vec<u8>) {
    if let Some(value) = value {
        plain(",\"", out);
        plain(name, out);
        plain("\":", out);
        raw(value, out);
    }
}

fn tool_head(id: &str, name: &str, out: &mut Vec<u8>) {
    plain("{\"type\":\"tool_use\",\"id\":", out);
    literal(id, out);
    plain(",\"name\":", out);
    literal(name, out);
    plain(",\"input\":", out);
}

fn tool_tail(extra: Option<Raw<'_>>, out: &mut Vec<u8>) {
    if let Some(extra) = extra {
        other_members(extra, &["type", "id", "name", "input"], out);
    }
    plain("}", out);
}

fn redacted(data: &str, out: &mut Vec<u8>) {
    plain("{\"type\":\"redacted_thinking\",\"data\":", out);
    literal(data, out);
    plain("}", out);
}

/// A whole block.
fn content(turn: &mut Turn, index: usize, block: &Block, out: &mut Vec<u8>) {
    match block {
        Block::Text {
            text, citations, ..
        } => {
            plain("{\"type\":\"text\",\"text\":", out);
            literal(text, out);
            for (at, citation) in citations.iter().enumerate() {
                plain(if at == 0 { ",\"citations\":[" } else { "," }, out);
                raw(Raw::assume(citation), out);
            }
            plain(if citations.is_empty() { "}" } else { "]}" }, out);
        }
        Block::Thinking { text, signature } => {
            plain("{\"type\":\"thinking\",\"thinking\":", out);
            literal(text, out);
            plain(",\"signature\":", out);
            literal(signature.as_deref().unwrap_or_default(), out);
            plain("}", out);
        }
        Block::RedactedThinking { data } => redacted(data, out),
        Block::ToolUse {
            id,
            name,
            arguments: text,
            extra,
            ..
        } => {
            tool_head(&turn.call_id(id, index, name), name, out);
            arguments(turn, index, text, out);
            tool_tail(extra.as_deref().map(Raw::assume), out);
        }
        Block::Provider { json, .. } => raw(Raw::assume(json), out),
    }
}

fn usage(turn: &mut Turn, usage: Option<Usage>, out: &mut Vec<u8>) {
    if usage.is_none() {
        let detail = "the turn has no usage, which the wire demands: zeros were said";
        turn.note(NoteCode::UsageReduced, None, detail);
    }
    let usage = usage.unwrap_or_default();
    let counter = |name: &str, value: u64, out: &mut Vec<u8>| {
        plain(name, out);
        number(value, out);
    };
    counter("{\"input_tokens\":", usage.input_tokens, out);
    let written = usage.cache_write_tokens;
    counter(",\"cache_creation_input_tokens\":", written, out);
    let read = usage.cache_read_tokens;
    counter(",\"cache_read_input_tokens\":", read, out);
    if usage.cache_write_1h_tokens > 0 {
        let hour = usage.cache_write_1h_tokens;
        let rest = written.saturating_sub(hour);
        counter(
            ",\"cache_creation\":{\"ephemeral_5m_input_tokens\":",
            rest,
            out,
        );
        counter(",\"ephemeral_1h_input_tokens\":", hour, out);
        plain("}", out);
    }
    counter(",\"output_tokens\":", usage.output_tokens, out);
    if usage.reasoning_tokens > 0 {
        let reasoning = usage.reasoning_tokens;
        counter(
            ",\"output_tokens_details\":{\"thinking_tokens\":",
            reasoning,
            out,
        );
        plain("}", out);
    }
    plain("}", out);
}
