//! Writing JSON and events into the output buffer.

use std::io::Write as _;

use super::note::NoteCode;
use super::turn::Turn;
use crate::error::ErrorDocument;
pub(crate) use crate::escapes::push_literal_bytes as literal;
use crate::fault::write_document;
use crate::json::{MAX_PAYLOAD_DEPTH, Raw, trim};
use crate::wire::Dialect;

/// Appends a text that is written as it is.
#[inline]
pub(crate) fn plain(text: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(text.as_bytes());
}

/// Appends a number.
pub(crate) fn number(number: u64, out: &mut Vec<u8>) {
    // Writing to a vector cannot fail.
    let _ = write!(out, "{number}");
}

/// Appends a JSON value as it stands, but on one line: a line end between its tokens would end the `data:`
/// line that it is part of. Within its strings there can be none.
pub(crate) fn raw(value: Raw<'_>, out: &mut Vec<u8>) {
    let start = out.len();
    plain(value.text(), out);
    for byte in &mut out[start..] {
        if matches!(*byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
}

/// Appends a fault as the provider's error document.
pub(crate) fn fault_document(dialect: Dialect, fault: &ErrorDocument, out: &mut Vec<u8>) {
    let mut document = String::new();
    write_document(
        dialect,
        &fault.kind,
        &fault.message,
        fault.status,
        &mut document,
    );
    plain(&document, out);
}

/// Appends a literal, or `null`.
pub(crate) fn optional(text: Option<&str>, out: &mut Vec<u8>) {
    match text {
        Some(text) => literal(text, out),
        None => plain("null", out),
    }
}

/// Appends `,"name":value` for each member of an object but those of the names.
pub(crate) fn other_members(object: Raw<'_>, but: &[&str], out: &mut Vec<u8>) {
    for (key, value) in object.entries() {
        if but.iter().any(|name| key.is(name)) {
            continue;
        }
        plain(",\"", out);
        plain(key.body(), out);
        plain("\":", out);
        raw(value, out);
    }
}

/// Appends the arguments of a call where the wire takes them as an object: as the model wrote them where
/// they are one, an empty object where they are blank. What is no object stays what it is, and what is no
/// JSON becomes a string: no tool can be run with that, as it could be with an empty object.
pub(crate) fn arguments(turn: &mut Turn, index: usize, text: &str, out: &mut Vec<u8>) {
    match arguments_object(text) {
        Ok(Some(object)) => raw(object, out),
        Ok(None) => plain("{}", out),
        Err(NoObject) => {
            if let Ok(value) = Raw::parse(text, MAX_PAYLOAD_DEPTH - super::WRAPPING) {
                raw(value, out);
                return;
            }
            let detail = "arguments that are no JSON stand as a string";
            turn.note(NoteCode::ArgumentsReplaced, Some(index), detail);
            literal(text, out);
        }
    }
}

/// Arguments that are no JSON object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NoObject;

/// Arguments as the object that they are; none where they are blank.
pub(crate) fn arguments_object(text: &str) -> Result<Option<Raw<'_>>, NoObject> {
    match Raw::parse(text, MAX_PAYLOAD_DEPTH - super::WRAPPING) {
        Ok(object) if object.is_object() => Ok(Some(object)),
        _ if trim(text).is_empty() => Ok(None),
        _ => Err(NoObject),
    }
}

/// Whether the type that an extension says of itself is its kind, so that it reads back as that.
pub(crate) fn is_typed(json: Raw<'_>, kind: &str) -> bool {
    json.is_object()
        && json
            .string("type")
            .map_or(kind.is_empty(), |name| name.is(kind))
}

/// Begins an event whose name is also the type in its payload.
pub(crate) fn begin(kind: &str, out: &mut Vec<u8>) {
    plain("event: ", out);
    plain(kind, out);
    plain("\ndata: {\"type\":\"", out);
    plain(kind, out);
    plain("\"", out);
}

/// Ends an event whose payload is an object.
pub(crate) fn end(out: &mut Vec<u8>) {
    plain("}\n\n", out);
}
