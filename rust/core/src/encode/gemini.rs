//! Gemini `streamGenerateContent`: each payload holds the next parts of the one candidate, the last one why
//! it ended.

mod parts;

use super::note::NoteCode;
use super::slots::Slots;
use super::text::{end, literal, number, plain, raw};
use super::turn::Turn;
use super::voice::{BlockKind, Opening, Stop, Voice, Whole};
use super::whole_block::WholeBlock;
use crate::error::ErrorDocument;
use crate::event::StopReason;
use crate::json::Raw;
use crate::usage::Usage;
use crate::wire::gemini::{FACTS, KNOWN_MEMBERS, stop_reason};
use parts::{
    Call, Speech, is_part, merged_signature, one_line, unsupported_fact, unsupported_part,
};

/// A block that is open.
#[derive(Debug)]
enum Open {
    Speech(Speech),
    /// A call goes out whole.
    Call(Call),
    /// So does a part of the provider's own.
    Part(Box<WholeBlock>),
}

#[derive(Debug, Default)]
pub(crate) struct Gemini {
    open: Slots<Open>,
    /// The text or thinking block that the other side takes for open.
    speech: Option<BlockKind>,
    /// What stands behind the candidates of a payload.
    tail: Vec<u8>,
    /// A payload has gone out, and one with a candidate.
    has_started: bool,
    has_candidate: bool,
    /// A call could not be said.
    lost_call: bool,
    /// The block that collects what it will say.
    waiting: Option<usize>,
}

const BEGIN: &str = "data: {\"candidates\":[{\"content\":{\"parts\":[";
const END: &str = "],\"role\":\"model\"},\"index\":0}]";

/// The word for a stop.
const fn word(reason: StopReason) -> &'static str {
    match reason {
        StopReason::EndTurn
        | StopReason::ToolUse
        | StopReason::StopSequence
        | StopReason::Unknown => "STOP",
        StopReason::MaxTokens | StopReason::ContextWindow => "MAX_TOKENS",
        StopReason::Refusal | StopReason::ContentFilter => "SAFETY",
        StopReason::PauseTurn | StopReason::Other => "OTHER",
    }
}

impl Voice for Gemini {
    fn is_exclusive(&self, _: BlockKind) -> bool {
        // Parts follow one another.
        true
    }

    fn start(&mut self, turn: &mut Turn, id: Option<&str>, model: Option<&str>, _: &mut Vec<u8>) {
        self.label(turn, id, model);
    }

    fn open(&mut self, turn: &mut Turn, index: usize, opening: Opening<'_>, _: &mut Vec<u8>) {
        let block = match opening {
            Opening::Text => Open::Speech(self.speak(turn, index, BlockKind::Text)),
            Opening::Thinking => Open::Speech(self.speak(turn, index, BlockKind::Thinking)),
            Opening::Tool { id, name, extra } => {
                if extra.is_some() {
                    let detail = "a call has no further members on this wire";
                    turn.note(NoteCode::ContentUnsupported, Some(index), detail);
                }
                self.waiting = Some(index);
                Open::Call(Call {
                    id: id.to_owned(),
                    name: name.to_owned(),
                    arguments: String::new(),
                    signature: String::new(),
                })
            }
            Opening::Redacted { .. } => {
                let detail = "this wire has no redacted thinking";
                turn.note(NoteCode::ReasoningDropped, Some(index), detail);
                return;
            }
            Opening::Extension { kind, json } => {
                if !is_part(kind, json) {
                    unsupported_part(turn, index, kind);
                    return;
                }
                self.waiting = Some(index);
                Open::Part(WholeBlock::new(kind, json))
            }
        };
        self.open.put(index, block);
    }

    #[inline]
    fn piece(&mut self, _: &mut Turn, index: usize, piece: &str, out: &mut Vec<u8>) {
        match self.open.get_mut(index) {
            Some(Open::Speech(speech)) => {
                let is_thought = speech.is_thought;
                self.has_started = true;
                self.has_candidate = true;
                plain(BEGIN, out);
                plain("{\"text\":", out);
                literal(piece, out);
                plain(
                    if is_thought {
                        ",\"thought\":true}"
                    } else {
                        "}"
                    },
                    out,
                );
                plain(END, out);
                out.extend_from_slice(&self.tail);
            }
            Some(Open::Call(call)) => call.arguments.push_str(piece),
            _ => {}
        }
    }

    fn signature(&mut self, turn: &mut Turn, index: usize, signature: &str, out: &mut Vec<u8>) {
        match self.open.get_mut(index) {
            Some(Open::Call(call)) => call.signature.push_str(signature),
            Some(&mut Open::Speech(speech)) => {
                if speech.is_rest {
                    merged_signature(turn, index);
                    return;
                }
                let thought = if speech.is_thought {
                    ",\"thought\":true"
                } else {
                    ""
                };
                self.begin(out);
                plain("{\"text\":\"\"", out);
                plain(thought, out);
                plain(",\"thoughtSignature\":", out);
                literal(signature, out);
                plain("}", out);
                self.end(out);
            }
            _ => {}
        }
    }

    fn citation(&mut self, turn: &mut Turn, index: usize, _: Raw<'_>, _: &mut Vec<u8>) {
        let detail = "a text has no citations on this wire";
        turn.note(NoteCode::ContentUnsupported, Some(index), detail);
    }

    fn extension(
        &mut self,
        _: &mut Turn,
        index: usize,
        kind: &str,
        json: Raw<'_>,
        _: &mut Vec<u8>,
    ) {
        if let Some(Open::Part(block)) = self.open.get_mut(index) {
            block.add(kind, json);
        }
    }

    fn fact(&mut self, turn: &mut Turn, kind: &str, json: Raw<'_>, out: &mut Vec<u8>) {
        if FACTS.contains(&kind) && !json.is_empty() {
            self.has_started = true;
            self.has_candidate = true;
            plain("data: {\"candidates\":[{\"", out);
            plain(kind, out);
            plain("\":", out);
            raw(json, out);
            plain(",\"index\":0}]", out);
            out.extend_from_slice(&self.tail);
        } else if kind.is_empty() && is_unknown(json) {
            self.say_labels(out);
            plain("data: ", out);
            raw(json, out);
            plain("\n\n", out);
        } else {
            unsupported_fact(turn, kind);
        }
    }

    fn close(&mut self, turn: &mut Turn, index: usize, out: &mut Vec<u8>) {
        self.waiting = self.waiting.filter(|&waiting| waiting != index);
        let part = match self.open.take(index) {
            Some(Open::Call(call)) => self.call(turn, index, &call),
            Some(Open::Part(block)) => block.finish().map(|(_, json)| one_line(&json)),
            _ => None,
        };
        if let Some(part) = part {
            self.speech = None;
            self.begin(out);
            out.extend_from_slice(&part);
            self.end(out);
        }
    }

    fn cut(&mut self, turn: &mut Turn, _: &mut Vec<u8>) {
        if let Some(index) = self.waiting.take() {
            let detail = "what this wire says whole had not ended when the turn was cut";
            turn.note(NoteCode::ContentUnsupported, Some(index), detail);
        }
    }

    fn stop(&mut self, turn: &mut Turn, stop: Stop<'_>, out: &mut Vec<u8>) {
        count(turn, stop.usage);
        plain("data: {", out);
        if stop.reason == StopReason::Refusal && !self.has_candidate {
            blocked(turn, stop.raw, out);
        } else {
            plain(
                "\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"\"}],\"role\":\"model\"},\
                 \"finishReason\":\"",
                out,
            );
            plain(self.finish_reason(turn, stop), out);
            plain("\",\"index\":0}]", out);
        }
        if let Some(usage) = stop.usage {
            plain(",\"usageMetadata\":", out);
            write_usage(&usage, out);
        }
        out.extend_from_slice(&self.tail);
    }

    fn fail(&mut self, _: &mut Turn, fault: &ErrorDocument, out: &mut Vec<u8>) {
        // The wire has a status always: one that says whether trying again may help.
        let status = match fault.status {
            Some(status) => status,
            None if fault.retryable => 503,
            None => 400,
        };
        plain("data: {\"error\":{\"code\":", out);
        number(status.into(), out);
        plain(",\"message\":", out);
        literal(&fault.message, out);
        plain(",\"status\":", out);
        literal(&fault.kind, out);
        plain("}", out);
        end(out);
    }

    fn body(&mut self, turn: &mut Turn, whole: &Whole, out: &mut Vec<u8>) {
        let message = &whole.message;
        self.label(turn, message.id.as_deref(), message.model.as_deref());
        let mut parts = Vec::new();
        turn.calls = 0;
        for (index, block) in message.content.iter().enumerate() {
            if let Some(part) = self.part(turn, index, block) {
                plain(if parts.is_empty() { "" } else { "," }, &mut parts);
                parts.extend_from_slice(&part);
            }
        }
        let mut facts = Vec::new();
        for kind in FACTS {
            if let Some(fact) = whole.fact(kind).filter(|fact| !fact.is_empty()) {
                plain(",\"", &mut facts);
                plain(kind, &mut facts);
                plain("\":", &mut facts);
                raw(fact, &mut facts);
            }
        }
        for (kind, _) in &whole.facts {
            if !FACTS.contains(&kind.as_str()) {
                unsupported_fact(turn, kind);
            }
        }
        count(turn, message.usage);
        let stop = whole.stop();
        plain("{", out);
        if stop.reason == StopReason::Refusal && parts.is_empty() && facts.is_empty() {
            blocked(turn, stop.raw, out);
        } else {
            plain("\"candidates\":[{\"content\":{\"parts\":[", out);
            out.extend_from_slice(&parts);
            plain("],\"role\":\"model\"},\"finishReason\":\"", out);
            plain(self.finish_reason(turn, stop), out);
            plain("\",\"index\":0", out);
            out.extend_from_slice(&facts);
            plain("}]", out);
        }
        if let Some(usage) = message.usage {
            plain(",\"usageMetadata\":", out);
            write_usage(&usage, out);
        }
        self.tail.truncate(self.tail.len() - 2);
        out.extend_from_slice(&self.tail);
    }
}

impl Gemini {
    /// Takes what the response says of itself.
    fn label(&mut self, turn: &mut Turn, id: Option<&str>, model: Option<&str>) {
        // The wire demands neither.
        let model = model.or(turn.settings.model.as_deref());
        let id = id.or(turn.settings.id.as_deref());
        for (name, label) in [("modelVersion", model), ("responseId", id)] {
            if let Some(label) = label {
                plain(",\"", &mut self.tail);
                plain(name, &mut self.tail);
                plain("\":", &mut self.tail);
                literal(label, &mut self.tail);
            }
        }
        end(&mut self.tail);
    }

    fn begin(&mut self, out: &mut Vec<u8>) {
        self.has_started = true;
        self.has_candidate = true;
        plain(BEGIN, out);
    }

    fn end(&self, out: &mut Vec<u8>) {
        plain(END, out);
        out.extend_from_slice(&self.tail);
    }

    /// Says id and model, if no payload has: one that says something else begins the message without.
    fn say_labels(&mut self, out: &mut Vec<u8>) {
        if !std::mem::replace(&mut self.has_started, true) && self.tail.len() > 3 {
            plain("data: {", out);
            out.extend_from_slice(&self.tail[1..]);
        }
    }

    /// The word for the end of the turn.
    fn finish_reason<'a>(&self, turn: &mut Turn, stop: Stop<'a>) -> &'a str {
        let is_name = |raw: &&str| {
            let is_name = |byte: u8| byte.is_ascii_uppercase() || byte == b'_';
            !raw.is_empty() && raw.bytes().all(is_name) && *raw != "FINISH_REASON_UNSPECIFIED"
        };
        let raw = stop.raw.filter(is_name);
        if self.lost_call && matches!(stop.reason, StopReason::ToolUse | StopReason::EndTurn) {
            let reason = "MALFORMED_FUNCTION_CALL";
            turn.note_reason(stop.reason, reason);
            return reason;
        }
        let settled = |reason| match reason {
            StopReason::EndTurn if turn.calls > 0 => StopReason::ToolUse,
            reason => reason,
        };
        if let Some(raw) = raw
            && settled(stop_reason(raw)) == stop.reason
            && (turn.is_own || stop.reason != StopReason::Other)
        {
            return raw;
        }
        let reason = word(stop.reason);
        if settled(stop_reason(reason)) != stop.reason {
            turn.note_reason(stop.reason, reason);
        }
        reason
    }
}

/// A prompt that was blocked, so that there is no candidate.
fn blocked(turn: &Turn, raw: Option<&str>, out: &mut Vec<u8>) {
    plain("\"promptFeedback\":{\"blockReason\":", out);
    let own = raw.filter(|raw| turn.is_own && !raw.is_empty());
    literal(own.unwrap_or("SAFETY"), out);
    plain("}", out);
}

/// Whether a payload is one of which nothing is known.
fn is_unknown(json: Raw<'_>) -> bool {
    json.is_object()
        && json.members(&KNOWN_MEMBERS).iter().all(Option::is_none)
        && ErrorDocument::read(json).is_none()
}

/// Notes what the wire counts otherwise.
fn count(turn: &mut Turn, usage: Option<Usage>) {
    turn.count_writes_as_input(usage);
    if usage.is_some_and(|usage| usage.reasoning_tokens > usage.output_tokens) {
        let detail = "more tokens of reasoning than of output are as many as of output";
        turn.note(NoteCode::UsageReduced, None, detail);
    }
}

fn write_usage(usage: &Usage, out: &mut Vec<u8>) {
    let Usage {
        input_tokens,
        output_tokens,
        cache_read_tokens,
        cache_write_tokens,
        reasoning_tokens,
        ..
    } = *usage;
    let prompt = input_tokens
        .saturating_add(cache_read_tokens)
        .saturating_add(cache_write_tokens);
    plain("{\"promptTokenCount\":", out);
    number(prompt, out);
    if cache_read_tokens > 0 {
        plain(",\"cachedContentTokenCount\":", out);
        number(cache_read_tokens, out);
    }
    // Here the two add up to the output.
    let reasoning_tokens = reasoning_tokens.min(output_tokens);
    plain(",\"candidatesTokenCount\":", out);
    number(output_tokens - reasoning_tokens, out);
    if reasoning_tokens > 0 {
        plain(",\"thoughtsTokenCount\":", out);
        number(reasoning_tokens, out);
    }
    plain(",\"totalTokenCount\":", out);
    number(prompt.saturating_add(output_tokens), out);
    plain("}", out);
}
