//! Strict reading: exactly what the encoder writes, decided in one pass over the text.
//!
//! "Parse, print and compare" says the same and costs a tree and a second text; it is the oracle in the
//! tests.

use super::number::is_canonical_number;
use super::parse::{Assistant, Call, Tool};
use super::{DEPTH_AROUND_EXTRA, MAX_ENVELOPE_DEPTH};
use crate::escapes::canonical_end;
use crate::json::{Raw, Str, check_number, plain_run};

/// Reads an assistant envelope that is canonical: writing it again gives the same bytes, and it carries no
/// reasoning and no number with an exponent.
#[must_use]
pub fn parse_canonical_assistant(text: &str) -> Option<Assistant<'_>> {
    let mut scan = Scan { text, at: 0 };
    scan.expect("{\"content\":")?;
    let content = scan.string()?;
    scan.expect(",\"tool_calls\":[")?;
    let mut calls = Vec::with_capacity(2);
    loop {
        calls.push(scan.call()?);
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
    let mut scan = Scan { text, at: 0 };
    scan.expect("{\"content\":")?;
    let content = scan.string()?;
    scan.expect(",\"tool_call_id\":")?;
    let tool_call_id = scan.string()?;
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
    let mut scan = Scan { text, at: 0 };
    scan.value(MAX_ENVELOPE_DEPTH - DEPTH_AROUND_EXTRA)?;
    scan.end()?;
    Some(Raw::assume(text))
}

/// A place in a text. What it stands on is canonical so far; None is "not canonical".
struct Scan<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scan<'a> {
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

    fn call(&mut self) -> Option<Call<'a>> {
        self.expect("{\"arguments\":")?;
        let arguments = self.string()?;
        let mut extra = None;
        if self.expect(",\"extra_content\":").is_some() {
            if self.rest().first() == Some(&b'n') {
                return None;
            }
            let from = self.at;
            self.value(MAX_ENVELOPE_DEPTH - DEPTH_AROUND_EXTRA)?;
            extra = Some(Raw::assume(self.text.get(from..self.at)?));
        }
        self.expect(",\"id\":")?;
        let id = self.string()?;
        self.expect(",\"name\":")?;
        let name = self.string()?;
        self.expect("}")?;
        Some(Call {
            id,
            name,
            arguments,
            extra,
        })
    }

    /// A string in its one spelling: what needs an escape has its own, nothing else has any.
    fn string(&mut self) -> Option<Str<'a>> {
        self.expect("\"")?;
        let from = self.at;
        let bytes = self.text.as_bytes();
        let first = from + plain_run(bytes.get(from..)?);
        let (end, escaped) = match bytes.get(first)? {
            b'"' => (first, false),
            b'\\' => (canonical_end(bytes, first)?, true),
            _ => return None,
        };
        self.at = end + 1;
        Some(Str::with_flag(self.text.get(from..end)?, escaped))
    }

    /// Any value, with at most `depth` arrays and objects in each other.
    fn value(&mut self, depth: usize) -> Option<()> {
        match self.rest().first()? {
            b'"' => self.string().map(drop),
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
            let key = self.string()?;
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
