//! Writing the lines that [`read`](super::read) knows.

use crate::envelope::CallText;
use crate::image_marker;
use crate::json::push_literal_bytes;
use crate::usage::Usage;

/// A row as a line says it: what it does not have is left out.
#[derive(Debug, Clone)]
pub struct RowText<'a> {
    /// Who says it.
    pub role: &'a str,
    /// What is said.
    pub content: &'a str,
    /// The calls of an assistant row.
    pub tool_calls: Vec<CallText<'a>>,
    /// The call that a result answers.
    pub tool_call_id: Option<&'a str>,
    /// The row's identity.
    pub id: Option<&'a str>,
    /// The request that the row came from.
    pub request_id: Option<&'a str>,
    /// The model that answered.
    pub model: Option<&'a str>,
    /// When.
    pub created_at: Option<&'a str>,
    /// Why the turn stopped.
    pub stop_reason: Option<&'a str>,
    /// The tokens of the turn.
    pub usage: Option<Usage>,
    /// Whether the turn was cut.
    pub interrupted: bool,
    /// Why the tool failed, where it did.
    pub tool_failure: Option<&'a str>,
    /// The host's metadata, an object in canonical form.
    pub extra_metadata: Option<&'a str>,
}

impl RowText<'_> {
    /// Whether the content might be one string of a flat history that stands for fields: such a row is not
    /// to be written as it is.
    #[must_use]
    pub fn may_lift(&self) -> bool {
        if !self.tool_calls.is_empty() || self.tool_call_id.is_some() {
            return false;
        }
        match self.role {
            "user" => image_marker::has_image_parts(self.content),
            "assistant" | "tool" => self.content.starts_with('{'),
            _ => false,
        }
    }

    /// About how long the line gets.
    #[must_use]
    pub fn length(&self) -> usize {
        let calls = self.tool_calls.iter();
        let called: usize = calls
            .map(|call| call.arguments.len() + call.extra.map_or(0, str::len) + 100)
            .sum();
        self.content.len() + called + self.extra_metadata.map_or(0, str::len) + 200
    }

    /// Appends the line, without its end.
    pub fn push(&self, out: &mut Vec<u8>) {
        let length = self.length();
        out.reserve(length + length / 8);
        out.extend_from_slice(b"{\"role\":");
        push_literal_bytes(self.role, out);
        out.extend_from_slice(b",\"content\":");
        push_literal_bytes(self.content, out);
        if !self.tool_calls.is_empty() {
            self.push_calls(out);
            out.extend_from_slice(b",\"v\":2,\"shape\":\"assistant_calls\"");
        } else if self.tool_call_id.is_some() {
            out.extend_from_slice(b",\"v\":2,\"shape\":\"tool_result\"");
        }
        let texts: [(&[u8], _); 6] = [
            (b",\"tool_call_id\":", self.tool_call_id),
            (b",\"id\":", self.id),
            (b",\"request_id\":", self.request_id),
            (b",\"model\":", self.model),
            (b",\"created_at\":", self.created_at),
            (b",\"stop_reason\":", self.stop_reason),
        ];
        for (name, text) in texts {
            if let Some(text) = text {
                out.extend_from_slice(name);
                push_literal_bytes(text, out);
            }
        }
        if let Some(usage) = self.usage {
            push_usage(usage, out);
        }
        if self.interrupted {
            out.extend_from_slice(b",\"interrupted\":true");
        }
        if let Some(detail) = self.tool_failure {
            out.extend_from_slice(b",\"tool_failure\":{\"detail\":");
            push_literal_bytes(detail, out);
            out.push(b'}');
        }
        if let Some(metadata) = self.extra_metadata {
            out.extend_from_slice(b",\"extra_metadata\":");
            out.extend_from_slice(metadata.as_bytes());
        }
        out.push(b'}');
    }

    fn push_calls(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b",\"tool_calls\":[");
        for (at, call) in self.tool_calls.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            out.extend_from_slice(b"{\"id\":");
            push_literal_bytes(call.id, out);
            out.extend_from_slice(b",\"name\":");
            push_literal_bytes(call.name, out);
            out.extend_from_slice(b",\"arguments\":");
            push_literal_bytes(call.arguments, out);
            if let Some(extra) = call.extra {
                out.extend_from_slice(b",\"extra_content\":");
                out.extend_from_slice(extra.as_bytes());
            }
            out.push(b'}');
        }
        out.push(b']');
    }
}

/// The counters that are not zero, sorted by their names.
fn push_usage(usage: Usage, out: &mut Vec<u8>) {
    let counters: [(&[u8], u64); 6] = [
        (b"\"cache_read_tokens\":", usage.cache_read_tokens),
        (b"\"cache_write_1h_tokens\":", usage.cache_write_1h_tokens),
        (b"\"cache_write_tokens\":", usage.cache_write_tokens),
        (b"\"input_tokens\":", usage.input_tokens),
        (b"\"output_tokens\":", usage.output_tokens),
        (b"\"reasoning_tokens\":", usage.reasoning_tokens),
    ];
    out.extend_from_slice(b",\"usage\":{");
    let mut is_first = true;
    for (name, count) in counters {
        if count > 0 {
            if !is_first {
                out.push(b',');
            }
            is_first = false;
            out.extend_from_slice(name);
            out.extend_from_slice(count.to_string().as_bytes());
        }
    }
    out.push(b'}');
}
