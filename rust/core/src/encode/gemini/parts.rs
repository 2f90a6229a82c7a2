//! The parts of a candidate.

use super::Gemini;
use crate::assemble::Block;
use crate::encode::note::NoteCode;
use crate::encode::text::{arguments_object, literal, plain, raw};
use crate::encode::turn::Turn;
use crate::encode::voice::BlockKind;
use crate::json::Raw;

#[derive(Debug, Clone, Copy)]
pub(super) struct Speech {
    pub(super) is_thought: bool,
    /// It reads as the rest of the block before it.
    pub(super) is_rest: bool,
}

#[derive(Debug)]
pub(super) struct Call {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) arguments: String,
    pub(super) signature: String,
}

impl Gemini {
    /// A text or thinking block opens; right behind one of its kind it reads as the rest of that.
    pub(super) fn speak(&mut self, turn: &mut Turn, index: usize, kind: BlockKind) -> Speech {
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
    pub(super) fn call(&mut self, turn: &mut Turn, index: usize, call: &Call) -> Option<Vec<u8>> {
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
    pub(super) fn part(&mut self, turn: &mut Turn, index: usize, block: &Block) -> Option<Vec<u8>> {
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
                Some(one_line(json))
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
}

pub(super) fn merged_signature(turn: &mut Turn, index: usize) {
    let detail = "the signature would belong to the block that this one reads as a part of";
    turn.note(NoteCode::SignatureDropped, Some(index), detail);
}

pub(super) fn unsupported_part(turn: &mut Turn, index: usize, kind: &str) {
    let detail = format!("an extension {kind:?} is no part of that kind");
    turn.note(NoteCode::ContentUnsupported, Some(index), detail);
}

pub(super) fn unsupported_fact(turn: &mut Turn, kind: &str) {
    let detail = format!("an extension {kind:?} is nothing that this wire says");
    turn.note(NoteCode::ContentUnsupported, None, detail);
}

/// JSON that [`raw`] writes.
pub(super) fn one_line(json: &str) -> Vec<u8> {
    let mut part = Vec::new();
    raw(Raw::assume(json), &mut part);
    part
}

/// Whether JSON is a part that reads back as an extension of that kind.
pub(super) fn is_part(kind: &str, json: Raw<'_>) -> bool {
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
