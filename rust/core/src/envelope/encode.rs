//! Writing envelopes.

use super::form::into_text;
use crate::json::push_literal_bytes;

/// What the encoder writes of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallText<'a> {
    /// The call's id.
    pub id: &'a str,
    /// The tool's name.
    pub name: &'a str,
    /// The argument text as the model wrote it.
    pub arguments: &'a str,
    /// What the provider wants back, as canonical JSON ([`canonical_json`](super::canonical_json)).
    pub extra: Option<&'a str>,
}

/// The envelope of an assistant turn. Its content is null where there is no text, and it has
/// `reasoning_content` only where there is reasoning.
#[must_use]
pub fn encode_assistant(
    text: Option<&str>,
    calls: &[CallText<'_>],
    reasoning: Option<&str>,
) -> String {
    let mut out = Vec::new();
    push_assistant(text, calls, reasoning, &mut out);
    into_text(out)
}

/// The envelope of a tool's result.
#[must_use]
pub fn encode_tool(tool_call_id: &str, content: &str) -> String {
    let mut out = Vec::new();
    push_tool(tool_call_id, content, &mut out);
    into_text(out)
}

/// [`encode_assistant`] behind what `out` already holds, in UTF-8.
pub fn push_assistant(
    text: Option<&str>,
    calls: &[CallText<'_>],
    reasoning: Option<&str>,
    out: &mut Vec<u8>,
) {
    out.reserve(assistant_length(text, calls, reasoning));
    out.extend_from_slice(b"{\"content\":");
    match text {
        Some(text) => push_literal_bytes(text, out),
        None => out.extend_from_slice(b"null"),
    }
    if let Some(reasoning) = reasoning {
        out.extend_from_slice(b",\"reasoning_content\":");
        push_literal_bytes(reasoning, out);
    }
    out.extend_from_slice(b",\"tool_calls\":[");
    for (at, call) in calls.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        out.extend_from_slice(b"{\"arguments\":");
        push_literal_bytes(call.arguments, out);
        if let Some(extra) = call.extra {
            out.extend_from_slice(b",\"extra_content\":");
            out.extend_from_slice(extra.as_bytes());
        }
        out.extend_from_slice(b",\"id\":");
        push_literal_bytes(call.id, out);
        out.extend_from_slice(b",\"name\":");
        push_literal_bytes(call.name, out);
        out.push(b'}');
    }
    out.extend_from_slice(b"]}");
}

/// [`encode_tool`] behind what `out` already holds, in UTF-8.
pub fn push_tool(tool_call_id: &str, content: &str, out: &mut Vec<u8>) {
    out.reserve(with_escapes(content.len() + tool_call_id.len()) + 64);
    out.extend_from_slice(b"{\"content\":");
    push_literal_bytes(content, out);
    out.extend_from_slice(b",\"tool_call_id\":");
    push_literal_bytes(tool_call_id, out);
    out.push(b'}');
}

/// About how long the envelope gets, so that it is seldom moved while it is written.
fn assistant_length(text: Option<&str>, calls: &[CallText<'_>], reasoning: Option<&str>) -> usize {
    let said = text.map_or(0, str::len) + reasoning.map_or(0, str::len);
    let called: usize = calls
        .iter()
        .map(|call| {
            let plain = call.id.len() + call.name.len() + call.extra.map_or(0, str::len);
            with_escapes(call.arguments.len()) + plain + 80
        })
        .sum();
    with_escapes(said) + called + 80
}

const fn with_escapes(length: usize) -> usize {
    length + length / 4
}
