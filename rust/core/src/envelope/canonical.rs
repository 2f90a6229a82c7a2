//! Strict reading: exactly what the encoder writes, decided in one pass over the text.
//!
//! "Parse, print and compare" says the same and costs a tree and a second text; it is the oracle in the
//! tests.

use super::number::is_canonical_number;
use super::parse::{Assistant, Call, Tool};
use super::{DEPTH_AROUND_EXTRA, MAX_ENVELOPE_DEPTH};
use crate::escapes::{canonical_end, plain_length};
use crate::json::{Raw, Str, check_number};

/// What the strings of an envelope say whose literals hold escapes, in the order of the text; those of
/// extra content left out. Found out on the way, it need not be found out again.
#[derive(Debug, Clone, Default)]
pub struct Said {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Said {
    /// Nothing yet.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            bytes: Vec::new(),
            ends: Vec::new(),
        }
    }

    /// Forgets everything but the room that it took, if that is at most so many bytes.
    pub fn clear(&mut self, most: usize) {
        if self.bytes.capacity() + self.ends.capacity() * size_of::<usize>() > most {
            *self = Self::default();
        }
        self.bytes.clear();
        self.ends.clear();
    }

    /// The texts, in UTF-8.
    pub fn texts(&self) -> impl Iterator<Item = &[u8]> {
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        let ranges = begins.zip(self.ends.iter().copied());
        ranges.map(|(begin, end)| self.bytes.get(begin..end).unwrap_or_default())
    }
}

/// Reads an assistant envelope that is canonical: writing it again gives the same bytes, and it carries no
/// reasoning and no number with an exponent.
#[must_use]
pub fn parse_canonical_assistant(text: &str) -> Option<Assistant<'_>> {
    canonical_assistant(Scan::new(text, None))
}

/// [`parse_canonical_assistant`], with what the strings say. Of a text that is refused a part may be there.
#[must_use]
pub fn parse_canonical_assistant_said<'a>(text: &'a str, said: &mut Said) -> Option<Assistant<'a>> {
    canonical_assistant(Scan::new(text, Some(said)))
}

fn canonical_assistant<'a>(mut scan: Scan<'a, '_>) -> Option<Assistant<'a>> {
    let mut content = Str::EMPTY;
    scan.expect("{\"content\":")?;
    scan.string(&mut content)?;
    scan.expect(",\"tool_calls\":[")?;
    let mut calls = Vec::with_capacity(2);
    loop {
        calls.push(Call {
            id: Str::EMPTY,
            name: Str::EMPTY,
            arguments: Str::EMPTY,
            extra: None,
        });
        scan.call(calls.last_mut()?)?;
        if scan.expect(",").is_none() {
            break;
        }
    }
    scan.expect("]}")?;
    scan.end()?;
    Some(Assistant {
        content: Some(content),
        calls,
        reasoning: None,
        canonical: true,
    })
}

/// Reads a tool envelope that is canonical.
#[must_use]
pub fn parse_canonical_tool(text: &str) -> Option<Tool<'_>> {
    canonical_tool(Scan::new(text, None))
}

/// [`parse_canonical_tool`], with what the strings say. Of a text that is refused a part may be there.
#[must_use]
pub fn parse_canonical_tool_said<'a>(text: &'a str, said: &mut Said) -> Option<Tool<'a>> {
    canonical_tool(Scan::new(text, Some(said)))
}

fn canonical_tool<'a>(mut scan: Scan<'a, '_>) -> Option<Tool<'a>> {
    let (mut content, mut tool_call_id) = (Str::EMPTY, Str::EMPTY);
    scan.expect("{\"content\":")?;
    scan.string(&mut content)?;
    scan.expect(",\"tool_call_id\":")?;
    scan.string(&mut tool_call_id)?;
    scan.expect("}")?;
    scan.end()?;
    Some(Tool {
        tool_call_id,
        content: Some(content),
        canonical: true,
    })
}

/// Reads the extra content of a call, if its text is canonical.
#[must_use]
pub fn canonical_value(text: &str) -> Option<Raw<'_>> {
    let mut scan = Scan::new(text, None);
    scan.value(MAX_ENVELOPE_DEPTH - DEPTH_AROUND_EXTRA)?;
    scan.end()?;
    Some(Raw::assume(text))
}

/// A place in a text. What it stands on is canonical so far; None is "not canonical".
struct Scan<'a, 's> {
    text: &'a str,
    at: usize,
    said: Option<&'s mut Said>,
}

impl<'a, 's> Scan<'a, 's> {
    const fn new(text: &'a str, said: Option<&'s mut Said>) -> Self {
        Self { text, at: 0, said }
    }

    fn rest(&self) -> &'a [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    #[inline]
    fn expect(&mut self, literal: &str) -> Option<()> {
        let fits = self.rest().starts_with(literal.as_bytes());
        fits.then(|| self.at += literal.len())
    }

    fn end(&self) -> Option<()> {
        (self.at == self.text.len()).then_some(())
    }

    fn call(&mut self, call: &mut Call<'a>) -> Option<()> {
        self.expect("{\"arguments\":")?;
        self.string(&mut call.arguments)?;
        if self.expect(",\"extra_content\":").is_some() {
            if self.rest().first() == Some(&b'n') {
                return None;
            }
            let from = self.at;
            let said = self.said.take();
            self.value(MAX_ENVELOPE_DEPTH - DEPTH_AROUND_EXTRA)?;
            self.said = said;
            call.extra = Some(Raw::assume(self.text.get(from..self.at)?));
        }
        self.expect(",\"id\":")?;
        self.string(&mut call.id)?;
        self.expect(",\"name\":")?;
        self.string(&mut call.name)?;
        self.expect("}")
    }

    /// A string in its one spelling: what needs an escape has its own, nothing else has any. It is put where
    /// it belongs: moving it there, out of an `Option`, cost more than finding its end.
    fn string(&mut self, into: &mut Str<'a>) -> Option<()> {
        self.expect("\"")?;
        let from = self.at;
        let bytes = self.text.as_bytes();
        let first = from + plain_length(bytes.get(from..)?);
        match bytes.get(first)? {
            b'"' => {
                *into = Str::with_flag(self.text.get(from..first)?, false);
                self.at = first + 1;
                return Some(());
            }
            b'\\' => {}
            _ => return None,
        }
        let Some(said) = &mut self.said else {
            let (end, _) = canonical_end(bytes, first, None)?;
            *into = Str::with_flag(self.text.get(from..end)?, true);
            self.at = end + 1;
            return Some(());
        };
        let begin = said.bytes.len();
        said.bytes.extend_from_slice(bytes.get(from..first)?);
        let (end, short) = canonical_end(bytes, first, Some(&mut said.bytes))?;
        *into = Str::with_flag(self.text.get(from..end)?, true);
        if !short {
            said.bytes.truncate(begin);
            said.bytes.extend_from_slice(into.to_text().as_bytes());
        }
        said.ends.push(said.bytes.len());
        self.at = end + 1;
        Some(())
    }

    /// Any value, with at most `depth` arrays and objects in each other.
    fn value(&mut self, depth: usize) -> Option<()> {
        match self.rest().first()? {
            b'"' => self.string(&mut { Str::EMPTY }),
            b'{' => self.object(depth.checked_sub(1)?),
            b'[' => self.array(depth.checked_sub(1)?),
            b'-' | b'0'..=b'9' => {
                let end = check_number(self.text.as_bytes(), self.at).ok()?;
                is_canonical_number(self.text.get(self.at..end)?).then(|| self.at = end)
            }
            b't' => self.expect("true"),
            b'f' => self.expect("false"),
            _ => self.expect("null"),
        }
    }

    fn array(&mut self, depth: usize) -> Option<()> {
        self.expect("[")?;
        if self.expect("]").is_some() {
            return Some(());
        }
        loop {
            self.value(depth)?;
            if self.expect(",").is_none() {
                return self.expect("]");
            }
        }
    }

    fn object(&mut self, depth: usize) -> Option<()> {
        self.expect("{")?;
        if self.expect("}").is_some() {
            return Some(());
        }
        let mut before: Option<Str<'a>> = None;
        loop {
            let mut key = Str::EMPTY;
            self.string(&mut key)?;
            if before.is_some_and(|before| !is_sorted(before, key)) {
                return None;
            }
            before = Some(key);
            self.expect(":")?;
            self.value(depth)?;
            if self.expect(",").is_none() {
                return self.expect("}");
            }
        }
    }
}

/// Whether one name comes before another, by their UTF-8 bytes.
fn is_sorted(before: Str<'_>, key: Str<'_>) -> bool {
    match (before.plain(), key.plain()) {
        (Some(before), Some(key)) => before < key,
        _ => before.to_text() < key.to_text(),
    }
}
