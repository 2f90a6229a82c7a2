//! Lenient reading, for history: any JSON of the shape counts.

use super::MAX_ENVELOPE_DEPTH;
use super::canonical::{parse_canonical_assistant, parse_canonical_tool};
use crate::json::{JsonError, Raw, Str};

/// An assistant envelope, as slices of its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assistant<'a> {
    /// What the model said; None where that is null, missing or not a string, which reads as the empty text.
    pub content: Option<Str<'a>>,
    /// The calls; at least one.
    pub calls: Vec<Call<'a>>,
    /// The reasoning, where it is a string.
    pub reasoning: Option<Str<'a>>,
    /// Whether the text is canonical.
    pub canonical: bool,
}

/// A call of an assistant envelope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call<'a> {
    /// The call's id.
    pub id: Str<'a>,
    /// The tool's name.
    pub name: Str<'a>,
    /// The argument text.
    pub arguments: Str<'a>,
    /// What the provider wants back, where it is not null.
    pub extra: Option<Raw<'a>>,
}

/// A tool envelope, as slices of its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tool<'a> {
    /// The id of the call that this answers.
    pub tool_call_id: Str<'a>,
    /// The result, as [`Assistant::content`].
    pub content: Option<Str<'a>>,
    /// Whether the text is canonical.
    pub canonical: bool,
}

/// Reads an assistant envelope: a JSON object with a non-empty array `tool_calls` of objects with the
/// strings `id`, `name` and `arguments`. Other members do not matter; of members with one name the last
/// one counts. The result carries no authority: nothing may run a call because a string parsed.
#[must_use]
pub fn parse_assistant(text: &str) -> Option<Assistant<'_>> {
    parse_canonical_assistant(text)
        .or_else(|| assistant_of(read(text, MAX_ENVELOPE_DEPTH).ok()?).ok())
}

/// Reads a tool envelope: a JSON object with a string `tool_call_id`.
#[must_use]
pub fn parse_tool(text: &str) -> Option<Tool<'_>> {
    parse_canonical_tool(text).or_else(|| tool_of(read(text, MAX_ENVELOPE_DEPTH).ok()?).ok())
}

/// Checks that a text is JSON without lone surrogates; the offset of the fault where it is not.
pub(super) fn read(text: &str, max_depth: usize) -> Result<Raw<'_>, usize> {
    let lone = |end: usize| lone_surrogate(&text.as_bytes()[..end]);
    match Raw::parse(text, max_depth) {
        Ok(raw) => lone(text.len()).map_or(Ok(raw), Err),
        // Up to its fault the text is JSON, so the search sees only escapes there.
        Err(JsonError::Syntax(at) | JsonError::TooDeep(at)) => Err(lone(at).unwrap_or(at)),
        Err(JsonError::UnexpectedEnd) => Err(lone(text.len()).unwrap_or(text.len())),
    }
}

/// The offset of the first escape of a surrogate without its partner, in a text that is JSON as far as it
/// goes. A high surrogate at its very end has no partner.
fn lone_surrogate(bytes: &[u8]) -> Option<usize> {
    let unit = |at: usize| -> Option<u16> {
        let escape = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u16::from_str_radix(std::str::from_utf8(escape).ok()?, 16).ok()
    };
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'\\', bytes.get(at..)?) {
        at += found;
        match unit(at) {
            Some(0xD800..=0xDBFF) => {
                // An escape that is cut off is another fault, if one at all.
                if !matches!(unit(at + 6), Some(0xDC00..=0xDFFF)) {
                    return Some(at);
                }
                at += 12;
            }
            Some(0xDC00..=0xDFFF) => return Some(at),
            Some(_) => at += 6,
            None => at += 2,
        }
    }
    None
}

/// The assistant envelope that a value is; where it is none, the part at fault.
pub(super) fn assistant_of(raw: Raw<'_>) -> Result<Assistant<'_>, &str> {
    let [content, reasoning, calls] = raw.members(&["content", "reasoning_content", "tool_calls"]);
    let list = calls.ok_or(raw.text())?;
    let calls = list
        .elements()
        .map(call_of)
        .collect::<Result<Vec<_>, _>>()?;
    if calls.is_empty() {
        return Err(list.text());
    }
    Ok(Assistant {
        content: content.and_then(Raw::as_str),
        calls,
        reasoning: reasoning.and_then(Raw::as_str),
        canonical: false,
    })
}

fn call_of<'a>(raw: Raw<'a>) -> Result<Call<'a>, &'a str> {
    let [arguments, extra, id, name] = raw.members(&["arguments", "extra_content", "id", "name"]);
    let string = |member: Option<Raw<'a>>| member.and_then(Raw::as_str);
    if let (Some(arguments), Some(id), Some(name)) = (string(arguments), string(id), string(name)) {
        return Ok(Call {
            id,
            name,
            arguments,
            extra,
        });
    }
    // Of several at fault the first in the text; a member that is missing is the call's own fault.
    let wrong = |member: Option<Raw<'a>>| member.filter(|value| value.as_str().is_none());
    Err([arguments, id, name]
        .into_iter()
        .filter_map(wrong)
        .map(Raw::text)
        .min_by_key(|text| text.as_ptr().addr())
        .unwrap_or(raw.text()))
}

/// The tool envelope that a value is; where it is none, the part at fault.
pub(super) fn tool_of(raw: Raw<'_>) -> Result<Tool<'_>, &str> {
    let [content, id] = raw.members(&["content", "tool_call_id"]);
    let id = id.ok_or(raw.text())?;
    Ok(Tool {
        tool_call_id: id.as_str().ok_or(id.text())?,
        content: content.and_then(Raw::as_str),
        canonical: false,
    })
}
