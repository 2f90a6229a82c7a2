//! The message of a response that is not streamed, which has one place for each kind of content.

use std::collections::HashSet;

use super::super::note::NoteCode;
use super::super::text::{literal, number, plain, raw};
use super::super::turn::Turn;
use super::super::voice::Whole;
use super::{
    DETAILS, Home, call, drop_signature, extension_home, optional_member, proof, says_text,
};
use crate::assemble::Block;
use crate::event::StopReason;
use crate::json::Raw;

/// A piece of `content`.
#[derive(Debug)]
enum Piece<'a> {
    Text(&'a str),
    /// Thinking whose signature is no entry of `reasoning_details`.
    Thought(&'a str, &'a str),
    Part(Raw<'a>),
}

/// An entry of `reasoning_details`.
#[derive(Debug)]
enum Entry<'a> {
    Text(&'a str),
    Proof(Raw<'a>),
}

#[derive(Debug)]
enum Call<'a> {
    Made {
        id: String,
        name: &'a str,
        arguments: &'a str,
        extra: Option<Raw<'a>>,
    },
    Served(Raw<'a>),
}

impl Call<'_> {
    fn id(&self) -> Option<&str> {
        match self {
            Self::Made { id, .. } => Some(id),
            Self::Served(_) => None,
        }
    }
}

/// A message of the wire, sorted into its places.
#[derive(Debug, Default)]
pub(super) struct Spoken<'a> {
    /// The text goes into the member for refusals.
    pub(super) is_refusal: bool,
    field: &'static str,
    content: Vec<Piece<'a>>,
    thinking: Vec<&'a str>,
    entries: Vec<Entry<'a>>,
    calls: Vec<Call<'a>>,
    annotations: Vec<Raw<'a>>,
    images: Vec<Raw<'a>>,
    /// The place of the last block, thinking before text before calls.
    place: Option<u8>,
}

impl<'a> Spoken<'a> {
    /// Sorts a turn; reasoning goes into the member `field`.
    pub(super) fn of(field: &'static str, turn: &mut Turn, whole: &'a Whole) -> Self {
        let mut spoken = Self {
            field,
            ..Self::default()
        };
        for (index, block) in whole.message.content.iter().enumerate() {
            spoken.block(turn, index, block);
        }
        spoken.is_refusal = whole.message.stop_reason == StopReason::Refusal
            && !spoken.content.is_empty()
            && spoken
                .content
                .iter()
                .all(|piece| matches!(piece, Piece::Text(_)));
        spoken
    }

    fn block(&mut self, turn: &mut Turn, index: usize, block: &'a Block) {
        match block {
            Block::Text {
                text,
                citations,
                signature,
                ..
            } => {
                self.at(turn, index, 1);
                self.content.push(Piece::Text(text));
                let citations = citations.iter().map(|json| Raw::assume(json));
                self.annotations.extend(citations);
                if signature.is_some() {
                    drop_signature(turn, index);
                }
            }
            Block::Thinking { text, signature } => {
                self.at(turn, index, 0);
                self.thinking(text, signature.as_deref());
            }
            Block::RedactedThinking { .. } => {
                let detail = "the wire has no redacted thinking";
                turn.note(NoteCode::ReasoningDropped, Some(index), detail);
            }
            Block::ToolUse {
                id,
                name,
                arguments,
                signature,
                extra,
                ..
            } => {
                self.at(turn, index, 2);
                match signature.as_deref().map(proof) {
                    Some(Some(entry)) => self.entries.push(Entry::Proof(entry)),
                    Some(None) => drop_signature(turn, index),
                    None => {}
                }
                self.calls.push(Call::Made {
                    id: turn.call_id(id, index, name),
                    name,
                    arguments,
                    extra: extra.as_deref().map(Raw::assume),
                });
            }
            Block::Provider { kind, json } => {
                let json = Raw::assume(json);
                match extension_home(kind, json) {
                    Some(Home::Call) => self.calls.push(Call::Served(json)),
                    Some(Home::Images) => self.images.push(json),
                    Some(Home::Content) => {
                        self.at(turn, index, 1);
                        self.content.push(Piece::Part(json));
                    }
                    None => turn.note(
                        NoteCode::ContentUnsupported,
                        Some(index),
                        format!("the wire has no block {kind:?}"),
                    ),
                }
            }
        }
    }

    /// Notes a block that reads as a part of another one, or before blocks that it came after.
    fn at(&mut self, turn: &mut Turn, index: usize, place: u8) {
        let merges = self.place == Some(place) && place < 2;
        if merges || self.place.is_some_and(|last| last > place) {
            let detail = "a message of this wire has one place for each kind of content";
            turn.note(NoteCode::BlocksMerged, Some(index), detail);
        }
        self.place = Some(place);
    }

    fn thinking(&mut self, text: &'a str, signature: Option<&'a str>) {
        let entry = signature.and_then(proof);
        if let (Some(signature), None) = (signature, entry) {
            self.content.push(Piece::Thought(text, signature));
            return;
        }
        // An entry that says its text itself is the whole block, where entries are what is read.
        let is_whole = self.field == DETAILS && entry.is_some_and(says_text);
        if !text.is_empty() && !is_whole {
            if self.field == DETAILS {
                self.entries.push(Entry::Text(text));
            } else {
                self.thinking.push(text);
            }
        }
        self.entries.extend(entry.map(Entry::Proof));
    }

    /// Appends the message.
    pub(super) fn push(&self, whole: &Whole, out: &mut Vec<u8>) {
        plain("{\"role\":\"assistant\",\"content\":", out);
        if self.is_refusal {
            plain("null,\"refusal\":", out);
            literal(&self.joined_text(), out);
        } else {
            self.push_content(out);
            plain(",\"refusal\":null", out);
        }
        if !self.thinking.is_empty() {
            plain(",\"", out);
            plain(self.field, out);
            plain("\":", out);
            literal(&self.thinking.concat(), out);
        }
        list(DETAILS, &self.entries, push_entry, out);
        // Where an id repeats, it takes more than the id to tell the calls apart.
        let ids: Vec<&str> = self.calls.iter().filter_map(Call::id).collect();
        let distinct: HashSet<&str> = ids.iter().copied().collect();
        let numbered: Vec<(Option<u64>, &Call<'_>)> = (0..)
            .zip(&self.calls)
            .map(|(at, call)| ((distinct.len() < ids.len()).then_some(at), call))
            .collect();
        list("tool_calls", &numbered, push_call, out);
        let push_raw = |json: &Raw<'_>, out: &mut Vec<u8>| raw(*json, out);
        list("annotations", &self.annotations, push_raw, out);
        list("images", &self.images, push_raw, out);
        optional_member("audio", whole.fact("audio"), out);
        let tools: Vec<Raw<'_>> = whole
            .facts
            .iter()
            .filter(|(kind, _)| kind == "executed_tools")
            .map(|(_, json)| Raw::assume(json))
            .collect();
        list("executed_tools", &tools, push_raw, out);
        plain("}", out);
    }

    fn joined_text(&self) -> String {
        self.content
            .iter()
            .filter_map(|piece| match piece {
                Piece::Text(text) => Some(*text),
                _ => None,
            })
            .collect()
    }

    /// A string where there is nothing but text, else a list of parts.
    fn push_content(&self, out: &mut Vec<u8>) {
        if self.content.is_empty() {
            plain("null", out);
            return;
        }
        let is_text = |piece: &Piece<'_>| matches!(piece, Piece::Text(_));
        if self.content.iter().all(is_text) {
            literal(&self.joined_text(), out);
            return;
        }
        for (at, piece) in self.content.iter().enumerate() {
            plain(if at == 0 { "[" } else { "," }, out);
            match piece {
                Piece::Text(text) => {
                    plain("{\"type\":\"text\",\"text\":", out);
                    literal(text, out);
                    plain("}", out);
                }
                Piece::Thought(text, signature) => {
                    plain("{\"type\":\"thinking\",\"thinking\":", out);
                    literal(text, out);
                    plain(",\"signature\":", out);
                    literal(signature, out);
                    plain("}", out);
                }
                Piece::Part(json) => raw(*json, out),
            }
        }
        plain("]", out);
    }
}

/// Appends a member that is a list, if there is anything in it.
fn list<T>(name: &str, elements: &[T], push: impl Fn(&T, &mut Vec<u8>), out: &mut Vec<u8>) {
    for (at, element) in elements.iter().enumerate() {
        plain(",", out);
        if at == 0 {
            plain("\"", out);
            plain(name, out);
            plain("\":[", out);
        }
        push(element, out);
    }
    if !elements.is_empty() {
        plain("]", out);
    }
}

fn push_entry(entry: &Entry<'_>, out: &mut Vec<u8>) {
    match entry {
        Entry::Text(text) => {
            plain("{\"type\":\"reasoning.text\",\"text\":", out);
            literal(text, out);
            plain("}", out);
        }
        Entry::Proof(json) => raw(*json, out),
    }
}

fn push_call((index, made): &(Option<u64>, &Call<'_>), out: &mut Vec<u8>) {
    match made {
        Call::Made {
            id,
            name,
            arguments,
            extra,
        } => {
            plain("{", out);
            if let Some(index) = index {
                plain("\"index\":", out);
                number(*index, out);
                plain(",", out);
            }
            call(id, name, arguments, *extra, out);
        }
        Call::Served(json) => raw(*json, out),
    }
}
