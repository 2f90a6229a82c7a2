//! Tool arguments: text that a model wrote, which may be anything.

use crate::json::{JsonError, MAX_ARGUMENT_DEPTH, Raw, trim, validate_to};

/// Why argument text cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Invalid {
    /// Not JSON.
    Malformed(JsonError),
    /// More than [`MAX_ARGUMENT_DEPTH`] levels.
    TooDeep,
    /// JSON, but not an object.
    NotAnObject,
}

impl Invalid {
    /// The reason's name in `snake_case`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Malformed(_) => "malformed",
            Self::TooDeep => "too_deep",
            Self::NotAnObject => "not_an_object",
        }
    }
}

/// Checks that `text` is one JSON object, or blank, which stands for the empty object.
///
/// # Errors
/// [`Invalid`] says why it is not.
pub fn check(text: &str) -> Result<(), Invalid> {
    if trim(text).is_empty() {
        return Ok(());
    }
    match Raw::parse(text, MAX_ARGUMENT_DEPTH) {
        Ok(raw) if raw.is_object() => Ok(()),
        Ok(_) => Err(Invalid::NotAnObject),
        Err(JsonError::TooDeep(_)) => Err(Invalid::TooDeep),
        Err(error) => Err(Invalid::Malformed(error)),
    }
}

/// JSON text of what is there of an unfinished argument text, for display: open strings, arrays and
/// objects are closed, an unfinished key, escape, number or word is left out. `{}` where nothing can be
/// shown.
#[must_use]
pub fn complete(text: &str) -> String {
    const NOTHING: &str = "{}";
    let text = text.trim_start_matches([' ', '\t', '\n', '\r']);
    let mut open = Vec::new();
    match validate_to(text.as_bytes(), MAX_ARGUMENT_DEPTH, &mut open) {
        Ok(()) => return trim(text).to_owned(),
        Err(JsonError::UnexpectedEnd) => {}
        Err(_) => return NOTHING.to_owned(),
    }
    if open.first() != Some(&true) {
        return NOTHING.to_owned();
    }
    let mut out = cut_to_value(text);
    // What is open may have changed with what was cut off: a key's object stays, nothing else is lost.
    for object in open.iter().rev() {
        out.push(if *object { '}' } else { ']' });
    }
    if Raw::parse(&out, usize::MAX).is_ok() {
        out
    } else {
        NOTHING.to_owned()
    }
}

/// The text up to the last value that can be shown, an open string closed.
fn cut_to_value(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut at = 0;
    // Up to here the text can be closed: behind an opening bracket or a whole value.
    let mut safe = 0;
    let mut stack: Vec<bool> = Vec::new();
    // In an object: whether the next string is a key.
    let mut key = false;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                let start = at;
                let end = open_string(bytes, at + 1);
                at = end.0;
                if key {
                    // A key without its value is not shown.
                } else if end.1 {
                    safe = at;
                } else {
                    let mut out = text[..start].to_owned();
                    out.push_str(&text[start..end.0]);
                    out.push('"');
                    return out;
                }
            }
            byte @ (b'{' | b'[') => {
                stack.push(byte == b'{');
                key = byte == b'{';
                at += 1;
                safe = at;
            }
            b'}' | b']' => {
                stack.pop();
                at += 1;
                safe = at;
                key = false;
            }
            b',' => {
                key = stack.last() == Some(&true);
                at += 1;
            }
            b':' => {
                key = false;
                at += 1;
            }
            b' ' | b'\t' | b'\n' | b'\r' => at += 1,
            _ => {
                let length = bytes[at..]
                    .iter()
                    .position(|b| matches!(b, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r'));
                // A number or word at the very end may go on: it is shown only once something follows it.
                let Some(length) = length else { break };
                at += length;
                safe = at;
            }
        }
    }
    text[..safe].to_owned()
}

/// The end of a string body: behind its closing quote and `true`, or where what can be shown of it ends.
fn open_string(bytes: &[u8], mut at: usize) -> (usize, bool) {
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => return (at + 1, true),
            b'\\' => {
                let length = if bytes.get(at + 1) == Some(&b'u') {
                    6
                } else {
                    2
                };
                if at + length > bytes.len() {
                    return (at, false);
                }
                // A high surrogate waits for its partner.
                let high = length == 6
                    && matches!(bytes[at + 2], b'd' | b'D')
                    && matches!(bytes[at + 3], b'8'..=b'9' | b'a'..=b'b' | b'A'..=b'B');
                if high
                    && at + 12 > bytes.len()
                    && bytes[at + 6..].iter().zip(b"\\u").all(|(a, b)| a == b)
                {
                    return (at, false);
                }
                at += length;
            }
            _ => at += 1,
        }
    }
    (at, false)
}
