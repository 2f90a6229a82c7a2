//! The canonical form of any JSON value, printed anew.

use std::borrow::Cow;
use std::ops::Range;

use super::number::{self, Number};
use super::parse::read;
use super::{DEPTH_AROUND_EXTRA, MAX_ENVELOPE_DEPTH};
use crate::json::{Raw, Str, Token, Tokens, push_literal_bytes};

/// The canonical form of a JSON text, as [`CallText::extra`](super::CallText::extra) wants it. None where the text is no JSON,
/// holds a lone surrogate or a number that no double can hold, or nests too deep for an envelope.
#[must_use]
pub fn canonical_json(text: &str) -> Option<String> {
    let raw = read(text, MAX_ENVELOPE_DEPTH - DEPTH_AROUND_EXTRA).ok()?;
    let mut out = Vec::with_capacity(text.len());
    let finite = push_form(raw, &mut out);
    finite.then(|| into_text(out))
}

/// The text of bytes that were put together from texts.
pub(super) fn into_text(bytes: Vec<u8>) -> String {
    match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    }
}

/// What a string literal says. For texts without lone surrogates.
pub(super) fn text_of(text: Str<'_>) -> Cow<'_, str> {
    match text.plain() {
        Some(plain) => Cow::Borrowed(plain),
        None => Cow::Owned(text.to_text()),
    }
}

/// Appends the canonical form of a value that was read by [`read`]: of members with one name the last one.
/// Returns whether every number fits a double; one that does not is copied as it stands.
pub(super) fn push_form(raw: Raw<'_>, out: &mut Vec<u8>) -> bool {
    let mut tokens = raw.tokens();
    let first = tokens.next();
    push_value(first, &mut tokens, out)
}

fn push_value(token: Option<Token<'_>>, tokens: &mut Tokens<'_>, out: &mut Vec<u8>) -> bool {
    match token {
        Some(Token::String(text)) => push_literal_bytes(&text_of(text), out),
        Some(Token::Number(text)) => return push_number(text, out),
        Some(Token::Bool(true)) => out.extend_from_slice(b"true"),
        Some(Token::Bool(false)) => out.extend_from_slice(b"false"),
        Some(Token::Null | Token::End) | None => out.extend_from_slice(b"null"),
        Some(Token::BeginArray) => {
            let mut finite = true;
            out.push(b'[');
            let mut first = true;
            while let Some(token) = tokens.next().filter(|token| *token != Token::End) {
                if !std::mem::replace(&mut first, false) {
                    out.push(b',');
                }
                finite &= push_value(Some(token), tokens, out);
            }
            out.push(b']');
            return finite;
        }
        Some(Token::BeginObject) => return push_object(tokens, out),
    }
    true
}

/// The members are written in the order of the text, and moved where that is not the sorted one.
fn push_object(tokens: &mut Tokens<'_>, out: &mut Vec<u8>) -> bool {
    let mut finite = true;
    let mut members: Vec<(Cow<'_, str>, Range<usize>)> = Vec::new();
    out.push(b'{');
    let begin = out.len();
    while let Some(Token::String(key)) = tokens.next() {
        if !members.is_empty() {
            out.push(b',');
        }
        let from = out.len();
        let key = text_of(key);
        push_literal_bytes(&key, out);
        out.push(b':');
        let value = tokens.next();
        finite &= push_value(value, tokens, out);
        members.push((key, from..out.len()));
    }
    if !members.is_sorted_by(|(one, _), (other, _)| one < other) {
        let written = out.split_off(begin);
        // The sort is stable, so the last of equal names is the one that comes last in the text.
        members.sort_by(|(one, _), (other, _)| one.cmp(other));
        for same in members.chunk_by(|(one, _), (other, _)| one == other) {
            if out.len() > begin {
                out.push(b',');
            }
            if let Some((_, range)) = same.last() {
                out.extend_from_slice(&written[range.start - begin..range.end - begin]);
            }
        }
    }
    out.push(b'}');
    finite
}

fn push_number(text: &str, out: &mut Vec<u8>) -> bool {
    let Number::Double(value) = Number::read(text) else {
        out.extend_from_slice(text.as_bytes());
        return true;
    };
    let printed = number::double_text(value);
    out.extend_from_slice(printed.as_deref().unwrap_or(text).as_bytes());
    printed.is_some()
}
