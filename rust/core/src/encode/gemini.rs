//! Gemini `streamGenerateContent`: each payload holds the next parts of the one candidate, the last one why
//! it ended.

use super::note::NoteCode;
use super::slots::Slots;
use super::text::{arguments_object, end, literal, number, plain, raw};
use super::turn::Turn;
use super::voice::{BlockKind, Opening, Stop, Voice, Whole};
use crate::assemble::{Block, Builder};
use crate::error::ErrorDocument;
use crate::event::{Event, StopReason};
use crate::json::Raw;
use crate::usage::Usage;
use crate::wire::gemini::{FACTS, KNOWN_MEMBERS, stop_reason};

/// A block that is open.
#[derive(Debug)]
enum Open {
    Speech(Speech),
    /// A call goes out whole.
    Call(Call),
    /// So does a part of the provider's own.
    Part(Box<Builder>),
}

#[derive(Debug, Clone, Copy)]
struct Speech {
    is_thought: bool,
    /// It reads as the rest of the block before it.
    is_rest: bool,
}

#[derive(Debug)]
struct Call {
    id: String,
    name: String,
    arguments: String,
    signature: String,
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
                let mut builder = Box::<Builder>::default();
                add(&mut builder, kind, json);
                self.waiting = Some(index);
                Open::Part(builder)
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
        if let Some(Open::Part(builder)) = self.open.get_mut(index) {
            add(builder, kind, json);
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
            Some(Open::Part(builder)) => whole_part(*builder),
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
        note_usage(turn, stop.usage);
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
        note_usage(turn, message.usage);
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

    /// A text or thinking block opens; right behind one of its kind it reads as the rest of that.
    fn speak(&mut self, turn: &mut Turn, index: usize, kind: BlockKind) -> Speech {
        let is_rest = self.speech.replace(kind) == Some(kind);
        if is_rest {
            let detail = "the wire has no border between two such blocks: they read as one";
            turn.note(NoteCode::BlocksMerged, Some(index), detail);
        }
        Speech {
            is_thought: kind == BlockKind::Thinking,
            is_rest,
        }
    }

    /// The part of a call. One without an object of arguments cannot be said: to run it without any would
    /// not be what the model asked for.
    fn call(&mut self, turn: &mut Turn, index: usize, call: &Call) -> Option<Vec<u8>> {
        let Ok(arguments) = arguments_object(&call.arguments) else {
            self.lost_call = true;
            let detail = "a call whose arguments are no JSON object cannot be said";
            turn.note(NoteCode::ContentUnsupported, Some(index), detail);
            return None;
        };
        turn.calls += 1;
        let mut part = Vec::new();
        plain("{\"functionCall\":{\"name\":", &mut part);
        literal(&call.name, &mut part);
        // A call needs no id here.
        if !call.id.is_empty() {
            plain(",\"id\":", &mut part);
            literal(&call.id, &mut part);
        }
        if let Some(arguments) = arguments {
            plain(",\"args\":", &mut part);
            raw(arguments, &mut part);
        }
        plain("}", &mut part);
        if !call.signature.is_empty() {
            plain(",\"thoughtSignature\":", &mut part);
            literal(&call.signature, &mut part);
        }
        plain("}", &mut part);
        Some(part)
    }

    /// The part of a whole block.
    fn part(&mut self, turn: &mut Turn, index: usize, block: &Block) -> Option<Vec<u8>> {
        let part = match block {
            Block::Text {
                text,
                citations,
                signature,
                ..
            } => {
                if !citations.is_empty() {
                    let detail = "a text has no citations on this wire";
                    turn.note(NoteCode::ContentUnsupported, Some(index), detail);
                }
                return self.speech_part(
                    turn,
                    index,
                    BlockKind::Text,
                    (text, signature.as_deref()),
                );
            }
            Block::Thinking { text, signature } => {
                let said = (text.as_str(), signature.as_deref());
                return self.speech_part(turn, index, BlockKind::Thinking, said);
            }
            Block::RedactedThinking { .. } => {
                let detail = "this wire has no redacted thinking";
                turn.note(NoteCode::ReasoningDropped, Some(index), detail);
                None
            }
            Block::ToolUse {
                id,
                name,
                arguments,
                signature,
                extra,
                ..
            } => {
                if extra.is_some() {
                    let detail = "a call has no further members on this wire";
                    turn.note(NoteCode::ContentUnsupported, Some(index), detail);
                }
                let call = Call {
                    id: id.clone(),
                    name: name.clone(),
                    arguments: arguments.clone(),
                    signature: signature.clone().unwrap_or_default(),
                };
                self.call(turn, index, &call)
            }
            Block::Provider { kind, json } if is_part(kind, Raw::assume(json)) => {
                let mut part = Vec::new();
                raw(Raw::assume(json), &mut part);
                Some(part)
            }
            Block::Provider { kind, .. } => {
                unsupported_part(turn, index, kind);
                None
            }
        };
        if part.is_some() {
            self.speech = None;
        }
        part
    }

    fn speech_part(
        &mut self,
        turn: &mut Turn,
        index: usize,
        kind: BlockKind,
        (text, signature): (&str, Option<&str>),
    ) -> Option<Vec<u8>> {
        if text.is_empty() && signature.is_none() {
            return None;
        }
        let speech = self.speak(turn, index, kind);
        let mut part = Vec::new();
        plain("{\"text\":", &mut part);
        literal(text, &mut part);
        if speech.is_thought {
            plain(",\"thought\":true", &mut part);
        }
        match signature {
            Some(_) if speech.is_rest => merged_signature(turn, index),
            Some(signature) => {
                plain(",\"thoughtSignature\":", &mut part);
                literal(signature, &mut part);
            }
            None => {}
        }
        plain("}", &mut part);
        Some(part)
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
            note_reason(turn, stop.reason, reason);
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
            note_reason(turn, stop.reason, reason);
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

fn note_reason(turn: &mut Turn, reason: StopReason, word: &str) {
    let detail = format!("the stop reason {} was said as {word}", reason.as_str());
    turn.note(NoteCode::ReasonMapped, None, detail);
}

fn merged_signature(turn: &mut Turn, index: usize) {
    let detail = "the signature would belong to the block that this one reads as a part of";
    turn.note(NoteCode::SignatureDropped, Some(index), detail);
}

fn unsupported_part(turn: &mut Turn, index: usize, kind: &str) {
    let detail = format!("an extension {kind:?} is no part of that kind");
    turn.note(NoteCode::ContentUnsupported, Some(index), detail);
}

fn unsupported_fact(turn: &mut Turn, kind: &str) {
    let detail = format!("an extension {kind:?} is nothing that this wire says");
    turn.note(NoteCode::ContentUnsupported, None, detail);
}

/// Adds a piece of a provider's block.
fn add(builder: &mut Builder, kind: &str, json: Raw<'_>) {
    let index = Some(0);
    let json = json.text();
    let added = builder.apply(Event::Extension { index, kind, json });
    debug_assert_eq!(added, Ok(()), "the block is the only one");
}

fn whole_part(builder: Builder) -> Option<Vec<u8>> {
    let block = builder.into_message(None).content.into_iter().next();
    let Some(Block::Provider { json, .. }) = block else {
        return None;
    };
    let mut part = Vec::new();
    raw(Raw::assume(&json), &mut part);
    Some(part)
}

/// Whether JSON is a part that reads back as an extension of that kind.
fn is_part(kind: &str, json: Raw<'_>) -> bool {
    let known = json.members(&["text", "functionCall"]);
    let first = json.entries().map(|(key, _)| key);
    let first = first
        .into_iter()
        .find(|key| !key.is("thought") && !key.is("thoughtSignature"));
    let is_text = known[0].and_then(Raw::as_str).is_some();
    json.is_object()
        && !is_text
        && (known[1].is_none() || kind == "functionCall")
        && first.is_some_and(|key| key.is(kind))
}

/// Whether a payload is one of which nothing is known.
fn is_unknown(json: Raw<'_>) -> bool {
    json.is_object()
        && json.members(&KNOWN_MEMBERS).iter().all(Option::is_none)
        && ErrorDocument::read(json).is_none()
}

fn note_usage(turn: &mut Turn, usage: Option<Usage>) {
    if usage.is_some_and(|usage| usage.cache_write_tokens > 0) {
        let detail = "tokens written to a cache count as input";
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
    plain(",\"candidatesTokenCount\":", out);
    number(output_tokens.saturating_sub(reasoning_tokens), out);
    if reasoning_tokens > 0 {
        plain(",\"thoughtsTokenCount\":", out);
        number(reasoning_tokens, out);
    }
    plain(",\"totalTokenCount\":", out);
    number(prompt.saturating_add(output_tokens), out);
    plain("}", out);
}
