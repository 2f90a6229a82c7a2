//! Why a text is not canonical, and where.
//!
//! The text is walked beside what the encoder would write instead, which is printed only where a name
//! comes twice: there the later value is what the encoder writes at the earlier place.

use std::borrow::Cow;

use super::MAX_ENVELOPE_DEPTH;
use super::canonical::{parse_canonical_assistant, parse_canonical_tool};
use super::form::{push_form, text_of};
use super::number::is_canonical_number;
use super::parse::{assistant_of, read, tool_of};
use crate::json::{Raw, Str, Token, push_literal_bytes};

/// Why a text is not a canonical envelope. Of several at one offset the first in this order is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// No JSON, a lone surrogate, or nested too deep.
    NotJson,
    /// JSON of another shape.
    NotAnEnvelope,
    /// The content is null, missing or not a string.
    NullContent,
    /// It carries reasoning.
    Reasoning,
    /// A member that envelopes do not have.
    ExtraMember,
    /// Members that are not sorted.
    KeyOrder,
    /// White space between the tokens.
    Whitespace,
    /// A character in another spelling than its own.
    Escape,
    /// A number in another spelling than its own, or with an exponent.
    Number,
    /// A name that comes twice.
    DuplicateKey,
    /// An `extra_content` that is null.
    NullExtra,
}

impl Reason {
    /// The reason's code.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotJson => "not_json",
            Self::NotAnEnvelope => "not_an_envelope",
            Self::NullContent => "null_content",
            Self::Reasoning => "reasoning",
            Self::ExtraMember => "extra_member",
            Self::KeyOrder => "key_order",
            Self::Whitespace => "whitespace",
            Self::Escape => "escape",
            Self::Number => "number",
            Self::DuplicateKey => "duplicate_key",
            Self::NullExtra => "null_extra",
        }
    }
}

/// The first thing about a text that is not canonical.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NonCanonical {
    /// Why.
    pub reason: Reason,
    /// The first byte that the encoder would write differently, counted from 0; of a number its first byte,
    /// of what is no JSON or no envelope the first byte at fault.
    pub offset: usize,
}

/// Says why the strict parsers refuse a text; None where one of them accepts it.
#[must_use]
pub fn explain_not_canonical(text: &str) -> Option<NonCanonical> {
    if parse_canonical_assistant(text).is_some() || parse_canonical_tool(text).is_some() {
        return None;
    }
    let raw = match read(text, MAX_ENVELOPE_DEPTH) {
        Ok(raw) => raw,
        Err(offset) => return found(Reason::NotJson, offset),
    };
    let walk = Walk { text };
    let kind = match (assistant_of(raw), tool_of(raw)) {
        (Ok(_), _) => Kind::Assistant,
        (Err(_), Ok(_)) => Kind::Tool,
        (Err(call), Err(result)) => {
            let at_fault = if raw.member("tool_calls").is_some() {
                call
            } else {
                result
            };
            return found(Reason::NotAnEnvelope, walk.offset(at_fault));
        }
    };
    let end = walk.offset(raw.text()) + raw.text().len();
    walk.space(0)
        .or_else(|| walk.value(raw, kind))
        .or_else(|| walk.space(end))
        // Not reached: what has no fault was accepted above.
        .or_else(|| found(Reason::NotAnEnvelope, 0))
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "every caller returns what it gives"
)]
const fn found(reason: Reason, offset: usize) -> Option<NonCanonical> {
    Some(NonCanonical { reason, offset })
}

/// What a value is to the encoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Assistant,
    Tool,
    Content,
    Calls,
    Call,
    Json,
}

impl Kind {
    /// What a member of such a value is, None for one that the encoder does not write.
    fn member(self, name: &str, value: Raw<'_>) -> Option<Self> {
        match (self, name) {
            (Self::Assistant | Self::Tool, "content") => Some(Self::Content),
            (Self::Assistant, "tool_calls") => Some(Self::Calls),
            (Self::Call, "extra_content") => (!value.is_null()).then_some(Self::Json),
            (Self::Tool, "tool_call_id")
            | (Self::Call, "arguments" | "id" | "name")
            | (Self::Json, _) => Some(Self::Json),
            _ => None,
        }
    }

    const fn element(self) -> Self {
        if matches!(self, Self::Calls) {
            Self::Call
        } else {
            Self::Json
        }
    }

    /// Appends what the encoder writes for such a value.
    fn push(self, value: Raw<'_>, out: &mut Vec<u8>) {
        match self {
            Self::Content if value.as_str().is_none() => out.extend_from_slice(b"\"\""),
            Self::Calls => {
                for (at, call) in value.elements().enumerate() {
                    out.push(if at == 0 { b'[' } else { b',' });
                    let entries = entries_of(call);
                    for (at, wanted) in Self::Call.wanted(&entries).iter().enumerate() {
                        out.push(if at == 0 { b'{' } else { b',' });
                        push_literal_bytes(wanted.name, out);
                        out.push(b':');
                        if let Some(last) = wanted.last {
                            push_form(entries[last].value, out);
                        }
                    }
                    out.push(b'}');
                }
                out.push(b']');
            }
            _ => {
                push_form(value, out);
            }
        }
    }

    /// The members that the encoder writes, in its order.
    fn wanted<'e>(self, entries: &'e [Entry<'_>]) -> Vec<Wanted<'e>> {
        let mut order: Vec<usize> = (0..entries.len()).collect();
        order.sort_by(|&one, &other| entries[one].name.cmp(&entries[other].name));
        let mut wanted: Vec<Wanted<'e>> = Vec::with_capacity(order.len());
        if matches!(self, Self::Assistant | Self::Tool)
            && entries.iter().all(|entry| entry.name != "content")
        {
            // It sorts before whatever else envelopes have.
            wanted.push(Wanted {
                name: "content",
                last: None,
            });
        }
        for (place, &at) in order.iter().enumerate() {
            let entry = &entries[at];
            let is_last = order
                .get(place + 1)
                .is_none_or(|&next| entries[next].name != entry.name);
            if is_last && self.member(&entry.name, entry.value).is_some() {
                wanted.push(Wanted {
                    name: &entry.name,
                    last: Some(at),
                });
            }
        }
        wanted
    }
}

/// A member as it stands.
struct Entry<'a> {
    key: Str<'a>,
    name: Cow<'a, str>,
    value: Raw<'a>,
}

fn entries_of(object: Raw<'_>) -> Vec<Entry<'_>> {
    let entry = |(key, value)| Entry {
        key,
        name: text_of(key),
        value,
    };
    object.entries().map(entry).collect()
}

/// A member as the encoder writes it: its name, and which entry holds its value.
struct Wanted<'e> {
    name: &'e str,
    last: Option<usize>,
}

/// How many bytes two texts have in common from their start on.
fn common(one: &[u8], other: &[u8]) -> usize {
    one.iter().zip(other).take_while(|(a, b)| a == b).count()
}

struct Walk<'a> {
    text: &'a str,
}

impl<'a> Walk<'a> {
    /// Where a part of the text begins.
    fn offset(&self, part: &str) -> usize {
        part.as_ptr().addr() - self.text.as_ptr().addr()
    }

    fn byte(&self, at: usize) -> u8 {
        self.text.as_bytes().get(at).copied().unwrap_or_default()
    }

    fn is_space(&self, at: usize) -> bool {
        matches!(self.byte(at), b' ' | b'\t' | b'\n' | b'\r')
    }

    fn space(&self, at: usize) -> Option<NonCanonical> {
        self.is_space(at).then_some(NonCanonical {
            reason: Reason::Whitespace,
            offset: at,
        })
    }

    fn value(&self, raw: Raw<'a>, kind: Kind) -> Option<NonCanonical> {
        let from = self.offset(raw.text());
        if kind == Kind::Content && raw.as_str().is_none() {
            return found(Reason::NullContent, from);
        }
        match self.byte(from) {
            b'"' => {
                let offset = self.escape(raw.as_str()?)?;
                found(Reason::Escape, offset)
            }
            b'{' => self.object(raw, kind),
            b'[' => self.array(raw, kind),
            b'-' | b'0'..=b'9' if !is_canonical_number(raw.text()) => found(Reason::Number, from),
            _ => None,
        }
    }

    /// Where a string literal differs from its one spelling.
    fn escape(&self, string: Str<'a>) -> Option<usize> {
        if string.plain().is_some() {
            return None;
        }
        let mut printed = Vec::with_capacity(string.body().len() + 2);
        push_literal_bytes(&string.to_text(), &mut printed);
        let from = self.offset(string.body()) - 1;
        let same = common(&printed, &self.text.as_bytes()[from..]);
        (same < printed.len()).then_some(from + same)
    }

    fn array(&self, raw: Raw<'a>, kind: Kind) -> Option<NonCanonical> {
        let mut at = self.offset(raw.text()) + 1;
        for (place, element) in raw.elements().enumerate() {
            if place > 0 {
                if let Some(fault) = self.space(at) {
                    return Some(fault);
                }
                at += 1;
            }
            let fault = self
                .space(at)
                .or_else(|| self.value(element, kind.element()));
            if fault.is_some() {
                return fault;
            }
            at = self.offset(element.text()) + element.text().len();
        }
        self.space(at)
    }

    fn object(&self, raw: Raw<'a>, kind: Kind) -> Option<NonCanonical> {
        let entries = entries_of(raw);
        let wanted = kind.wanted(&entries);
        let mut at = self.offset(raw.text()) + 1;
        for (place, entry) in entries.iter().enumerate() {
            if let Some(fault) = self.space(at) {
                return Some(fault);
            }
            let Some(want) = wanted.get(place) else {
                // The encoder is done; at the comma it closes the object.
                return found(blame(kind, &entries, place, None), at);
            };
            if place > 0 {
                at += 1;
                if let Some(fault) = self.space(at) {
                    return Some(fault);
                }
            }
            if let Some(fault) = self.key(kind, &entries, place, want) {
                return Some(fault);
            }
            let key = entry.key.body();
            let colon = self.offset(key) + key.len() + 1;
            if let Some(fault) = self.space(colon).or_else(|| self.space(colon + 1)) {
                return Some(fault);
            }
            let fault = if want.last == Some(place) {
                let of = kind.member(&entry.name, entry.value).unwrap_or(Kind::Json);
                self.value(entry.value, of)
            } else {
                self.overruled(kind, &entries, entry, want)
            };
            if fault.is_some() {
                return fault;
            }
            at = self.offset(entry.value.text()) + entry.value.text().len();
        }
        self.space(at)
    }

    /// A name against the one that the encoder writes here.
    fn key(
        &self,
        kind: Kind,
        entries: &[Entry<'a>],
        place: usize,
        want: &Wanted<'_>,
    ) -> Option<NonCanonical> {
        let entry = &entries[place];
        let escape = self.escape(entry.key);
        if entry.name == want.name {
            return escape.and_then(|offset| found(Reason::Escape, offset));
        }
        let mut printed = Vec::with_capacity(want.name.len() + 2);
        push_literal_bytes(want.name, &mut printed);
        let from = self.offset(entry.key.body()) - 1;
        let offset = from + common(&printed, &self.text.as_bytes()[from..]);
        let mut reason = blame(kind, entries, place, Some(want));
        if escape == Some(offset) {
            reason = reason.min(Reason::Escape);
        }
        found(reason, offset)
    }

    /// A value against the one that the same name has later on, which the encoder writes here.
    fn overruled(
        &self,
        kind: Kind,
        entries: &[Entry<'a>],
        entry: &Entry<'a>,
        want: &Wanted<'_>,
    ) -> Option<NonCanonical> {
        let mut printed = Vec::new();
        if let Some(last) = want.last {
            let value = entries[last].value;
            let of = kind.member(want.name, value).unwrap_or(Kind::Json);
            of.push(value, &mut printed);
        }
        let from = self.offset(entry.value.text());
        let end = from + entry.value.text().len();
        let offset = from + common(&printed, &self.text.as_bytes()[from..]);
        let differs = offset < from + printed.len() || offset < end;
        let number = self.odd_number(entry.value);
        if let Some(number) = number.filter(|&number| number < offset || !differs) {
            return found(Reason::Number, number);
        }
        if !differs {
            return None;
        }
        let mut reason = Reason::DuplicateKey;
        if number == Some(offset) {
            reason = reason.min(Reason::Number);
        }
        if offset == end && self.is_space(end) {
            reason = reason.min(Reason::Whitespace);
        }
        if let Some(own) = self
            .value(entry.value, Kind::Json)
            .filter(|own| own.offset == offset)
        {
            reason = reason.min(own.reason);
        }
        found(reason, offset)
    }

    /// Where the first number in a value begins that is not in its one spelling.
    fn odd_number(&self, raw: Raw<'a>) -> Option<usize> {
        raw.tokens().find_map(|token| match token {
            Token::Number(text) if !is_canonical_number(text) => Some(self.offset(text)),
            _ => None,
        })
    }
}

/// Why a member is not what the encoder writes at its place: `want`, or the end of the object.
fn blame(kind: Kind, entries: &[Entry<'_>], place: usize, want: Option<&Wanted<'_>>) -> Reason {
    let name = &entries[place].name;
    let last = entries.iter().rposition(|entry| entry.name == *name);
    let value = last.map_or(entries[place].value, |last| entries[last].value);
    if want.is_some_and(|want| want.last.is_none()) {
        return Reason::NullContent;
    }
    if kind.member(name, value).is_some() {
        // A name that sorts behind the one wanted stands too early, whether it comes again or not.
        return match want {
            Some(want) if want.name < name.as_ref() => Reason::KeyOrder,
            _ => Reason::DuplicateKey,
        };
    }
    match (kind, name.as_ref()) {
        (Kind::Assistant, "reasoning_content") if value.as_str().is_some() => Reason::Reasoning,
        (Kind::Call, "extra_content") if last == Some(place) => Reason::NullExtra,
        (Kind::Call, "extra_content") => Reason::DuplicateKey,
        _ => Reason::ExtraMember,
    }
}
