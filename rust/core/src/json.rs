//! JSON as text: validate once, then walk raw slices.
//!
//! The decoders never build a tree. A payload is checked in one pass ([`Raw::parse`]); after that the
//! members that matter are picked out as slices of the payload ([`Raw::members`]), and everything that is
//! handed on as JSON stays as the provider wrote it. Grammar: RFC 8259.

use memchr::memchr2;

use crate::escapes;
pub use crate::escapes::{escaped_characters, push_literal_bytes};
use crate::index::{Index, Long, Record, Recorder, known_end};
use crate::string_body::check_string;

/// How deep payloads may nest before they count as malformed.
pub const MAX_PAYLOAD_DEPTH: usize = 512;
/// How deep tool arguments may nest before they are refused.
pub const MAX_ARGUMENT_DEPTH: usize = 128;

/// Why a text is not JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonError {
    /// The text ends where more had to come; nothing before that is wrong.
    UnexpectedEnd,
    /// A byte that no JSON text can have at this offset.
    Syntax(usize),
    /// More nested arrays and objects than allowed, at this offset.
    TooDeep(usize),
}

impl std::fmt::Display for JsonError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::UnexpectedEnd => formatter.write_str("the JSON text ends too early"),
            Self::Syntax(at) => write!(formatter, "not JSON at byte {at}"),
            Self::TooDeep(at) => write!(formatter, "nested too deep at byte {at}"),
        }
    }
}

/// One JSON value as it stands in a text that was found valid, without white space around it.
#[derive(Debug, Clone, Copy)]
pub struct Raw<'a> {
    text: &'a str,
    /// Where the long values in it end, if the pass that validated them has written that down.
    long: &'a [Long],
}

impl PartialEq for Raw<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Raw<'_> {}

/// A JSON string literal of a valid text: what stands between its quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Str<'a> {
    body: &'a str,
    escaped: bool,
}

const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// Cuts JSON white space off both ends.
#[must_use]
pub fn trim(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_ascii() && is_space(c as u8))
}

/// Whether the text ends in the middle of a JSON value. A blank text does not.
#[must_use]
pub fn ends_inside_value(text: &str) -> bool {
    !trim(text).is_empty() && matches!(Raw::parse(text, usize::MAX), Err(JsonError::UnexpectedEnd))
}

impl<'a> Raw<'a> {
    /// A value that was found valid elsewhere, without white space around it.
    pub(crate) const fn assume(text: &'a str) -> Self {
        Self { text, long: &[] }
    }

    /// A value of a text that was found valid elsewhere, by somebody who no longer holds the text. Of any other
    /// text the parts mean nothing.
    #[must_use]
    pub fn of_valid(text: &'a str) -> Self {
        Self::assume(trim(text))
    }

    /// Checks that `text` is one JSON value with at most `max_depth` nested arrays and objects.
    ///
    /// # Errors
    /// [`JsonError`] says where the text stops being JSON.
    pub fn parse(text: &'a str, max_depth: usize) -> Result<Self, JsonError> {
        validate(text.as_bytes(), max_depth)?;
        Ok(Self::assume(trim(text)))
    }

    /// The same, with what `index` can tell later.
    ///
    /// # Errors
    /// As for [`Raw::parse`].
    pub(crate) fn parse_with(
        text: &'a str,
        max_depth: usize,
        index: &'a mut Index,
    ) -> Result<Self, JsonError> {
        let mut recorder = Recorder::new(text, index);
        validate_into(text.as_bytes(), max_depth, &mut Vec::new(), &mut recorder)?;
        let text = trim(text);
        let long = index.inside(text);
        Ok(Self { text, long })
    }

    /// The value's text.
    #[must_use]
    pub const fn text(self) -> &'a str {
        self.text
    }

    fn first(self) -> u8 {
        self.text.as_bytes().first().copied().unwrap_or(b'n')
    }

    /// Whether this is an object.
    #[must_use]
    pub fn is_object(self) -> bool {
        self.first() == b'{'
    }

    /// Whether this is an array.
    #[must_use]
    pub fn is_array(self) -> bool {
        self.first() == b'['
    }

    /// Whether this is `null`.
    #[must_use]
    pub fn is_null(self) -> bool {
        self.first() == b'n'
    }

    /// Whether this is `{}`, `[]` or `""`.
    #[must_use]
    pub fn is_empty(self) -> bool {
        match self.first() {
            b'"' => self.text.len() == 2,
            b'{' | b'[' => trim(&self.text[1..self.text.len() - 1]).is_empty(),
            _ => false,
        }
    }

    /// The string, if this is one.
    #[must_use]
    pub fn as_str(self) -> Option<Str<'a>> {
        (self.first() == b'"').then(|| Str::between(&self.text[1..self.text.len() - 1]))
    }

    /// The number, if this is a JSON integer without sign, fraction and exponent that fits 64 bits.
    #[must_use]
    pub fn as_u64(self) -> Option<u64> {
        if !self.first().is_ascii_digit() {
            return None;
        }
        self.text.parse().ok()
    }

    /// The number, if this is a JSON integer without fraction and exponent that fits 64 bits.
    #[must_use]
    pub fn as_i64(self) -> Option<i64> {
        if !matches!(self.first(), b'-' | b'0'..=b'9') {
            return None;
        }
        self.text.parse().ok()
    }

    /// The members of an object in their order; none for anything else.
    #[must_use]
    pub fn entries(self) -> Entries<'a> {
        let rest = if self.is_object() {
            &self.text[1..]
        } else {
            "}"
        };
        let long = self.long;
        Entries { rest, long }
    }

    /// The elements of an array; none for anything else.
    #[must_use]
    pub fn elements(self) -> Elements<'a> {
        let rest = if self.is_array() {
            &self.text[1..]
        } else {
            "]"
        };
        let long = self.long;
        Elements { rest, long }
    }

    /// The value's tokens, in one pass over the text whatever nests in it.
    #[must_use]
    pub const fn tokens(self) -> Tokens<'a> {
        Tokens { rest: self.text }
    }

    /// The members of the given names. A name that comes twice counts with its last value; `null` is
    /// absent. Anything but an object has none.
    #[must_use]
    pub fn members<const N: usize>(self, names: &[&str; N]) -> [Option<Self>; N] {
        let mut found = [None; N];
        for (key, value) in self.entries() {
            if let Some(at) = key.position_in(names) {
                found[at] = (!value.is_null()).then_some(value);
            }
        }
        found
    }

    /// The member of the given name, as in [`Raw::members`].
    #[must_use]
    pub fn member(self, name: &str) -> Option<Self> {
        self.members(&[name])[0]
    }

    /// The member of the given name, if it is a string.
    #[must_use]
    pub fn string(self, name: &str) -> Option<Str<'a>> {
        self.member(name)?.as_str()
    }
}

/// Iterator over an object's members. The text was validated, so the walk only finds the borders.
#[derive(Debug, Clone)]
pub struct Entries<'a> {
    rest: &'a str,
    long: &'a [Long],
}

impl<'a> Iterator for Entries<'a> {
    type Item = (Str<'a>, Raw<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let bytes = self.rest.as_bytes();
        let start = bytes.iter().position(|&b| b == b'"' || b == b'}')?;
        if bytes[start] == b'}' {
            self.rest = "";
            return None;
        }
        let (key_end, escaped) = string_end(bytes, start + 1)?;
        let key = Str {
            body: &self.rest[start + 1..key_end],
            escaped,
        };
        let colon = key_end + 1 + bytes[key_end + 1..].iter().position(|&b| b == b':')?;
        let value = skip_space(bytes, colon + 1);
        let (end, long) = known_end(self.rest, value, &mut self.long)?;
        let text = &self.rest[value..end];
        let raw = Raw { text, long };
        self.rest = &self.rest[end..];
        Some((key, raw))
    }
}

/// Iterator over an array's elements.
#[derive(Debug, Clone)]
pub struct Elements<'a> {
    rest: &'a str,
    long: &'a [Long],
}

impl<'a> Iterator for Elements<'a> {
    type Item = Raw<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        let bytes = self.rest.as_bytes();
        let mut start = skip_space(bytes, 0);
        if bytes.get(start) == Some(&b',') {
            start = skip_space(bytes, start + 1);
        }
        if matches!(bytes.get(start), None | Some(b']')) {
            self.rest = "";
            return None;
        }
        let (end, long) = known_end(self.rest, start, &mut self.long)?;
        let text = &self.rest[start..end];
        let raw = Raw { text, long };
        self.rest = &self.rest[end..];
        Some(raw)
    }
}

/// A token of a valid text. Names are strings too: in an object every other token at its level is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Token<'a> {
    /// `{`
    BeginObject,
    /// `[`
    BeginArray,
    /// `}` or `]`
    End,
    /// A string literal.
    String(Str<'a>),
    /// A number.
    Number(&'a str),
    /// `true` or `false`.
    Bool(bool),
    /// `null`
    Null,
}

/// Iterator over the tokens of a value. The text was validated, so the walk only finds the borders.
#[derive(Debug, Clone)]
pub struct Tokens<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        let bytes = self.rest.as_bytes();
        let start = bytes
            .iter()
            .position(|&b| !is_space(b) && b != b',' && b != b':')?;
        let (token, end) = match bytes[start] {
            b'{' => (Token::BeginObject, start + 1),
            b'[' => (Token::BeginArray, start + 1),
            b'}' | b']' => (Token::End, start + 1),
            b'"' => {
                let (end, escaped) = string_end(bytes, start + 1)?;
                let body = self.rest.get(start + 1..end)?;
                (Token::String(Str { body, escaped }), end + 1)
            }
            b't' => (Token::Bool(true), start + 4),
            b'f' => (Token::Bool(false), start + 5),
            b'n' => (Token::Null, start + 4),
            _ => {
                let end = value_end(bytes, start)?;
                (Token::Number(self.rest.get(start..end)?), end)
            }
        };
        self.rest = self.rest.get(end..)?;
        Some(token)
    }
}

fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(|&b| is_space(b)) {
        at += 1;
    }
    at
}

/// The first quote or backslash from `at` on. Most strings are short, so the first bytes are looked at
/// here; calling out for more only pays off for long ones.
#[inline]
pub(crate) fn quote_or_escape(bytes: &[u8], at: usize) -> Option<usize> {
    const NEAR: usize = 32;
    let mut here = at;
    while here < at + NEAR {
        let Some(chunk) = bytes.get(here..)?.first_chunk::<8>() else {
            break;
        };
        let word = u64::from_le_bytes(*chunk);
        let hit = bytes_like(word, b'"') | bytes_like(word, b'\\');
        if hit != 0 {
            return Some(here + (hit.trailing_zeros() / 8) as usize);
        }
        here += 8;
    }
    memchr2(b'"', b'\\', bytes.get(here..)?).map(|length| here + length)
}

/// The end of a string body that starts at `at`: the offset of its closing quote, and whether it holds
/// escapes. For texts that were validated.
#[inline]
fn string_end(bytes: &[u8], mut at: usize) -> Option<(usize, bool)> {
    let mut escaped = false;
    loop {
        at = quote_or_escape(bytes, at)?;
        if bytes[at] == b'"' {
            return Some((at, escaped));
        }
        escaped = true;
        at += 2;
    }
}

/// The offset behind the value that starts at `at`. For texts that were validated; of any other, where it
/// would end if it is one.
pub(crate) fn value_end(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at)? {
        b'"' => Some(string_end(bytes, at + 1)?.0 + 1),
        b'{' | b'[' => {
            let mut depth = 0_usize;
            let mut at = at;
            loop {
                match bytes.get(at)? {
                    b'"' => at = string_end(bytes, at + 1)?.0,
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' => {
                        depth -= 1;
                        if depth == 0 {
                            return Some(at + 1);
                        }
                    }
                    _ => {}
                }
                at += 1;
            }
        }
        _ => {
            let rest = &bytes[at..];
            let length = rest
                .iter()
                .position(|&b| matches!(b, b',' | b'}' | b']') || is_space(b));
            Some(at + length.unwrap_or(rest.len()))
        }
    }
}

impl<'a> Str<'a> {
    /// The empty string.
    pub(crate) const EMPTY: Self = Self {
        body: "",
        escaped: false,
    };

    /// A string whose body, between the quotes, is `body`.
    pub(crate) fn between(body: &'a str) -> Self {
        Self {
            body,
            escaped: memchr::memchr(b'\\', body.as_bytes()).is_some(),
        }
    }

    /// A string whose body is known to hold escapes or not.
    pub(crate) const fn with_flag(body: &'a str, escaped: bool) -> Self {
        Self { body, escaped }
    }

    /// What stands between the quotes, escapes and all.
    #[must_use]
    pub const fn body(self) -> &'a str {
        self.body
    }

    /// The text itself where the literal holds no escapes, so that nothing has to be undone.
    #[must_use]
    pub const fn plain(self) -> Option<&'a str> {
        if self.escaped { None } else { Some(self.body) }
    }

    /// Whether this is the empty string.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.body.is_empty()
    }

    fn position_in(self, names: &[&str]) -> Option<usize> {
        if self.escaped {
            let text = self.to_text();
            return names.iter().position(|name| *name == text);
        }
        names.iter().position(|name| *name == self.body)
    }

    /// Whether the string is `text`.
    #[must_use]
    pub fn is(self, text: &str) -> bool {
        if self.escaped {
            self.to_text() == text
        } else {
            self.body == text
        }
    }

    /// The text, lone surrogates as U+FFFD.
    #[must_use]
    pub fn to_text(self) -> String {
        /// From here on the escapes of a block at once are worth it.
        const LARGE: usize = 128;
        if self.escaped && self.body.len() >= LARGE {
            let mut out = Vec::new();
            if escapes::push_unescaped(self.body.as_bytes(), &mut out)
                && let Ok(text) = String::from_utf8(out)
            {
                return text;
            }
        }
        let mut out = String::with_capacity(self.body.len());
        let mut half = None;
        self.push_to(&mut out, &mut half);
        if half.is_some() {
            out.push(char::REPLACEMENT_CHARACTER);
        }
        out
    }

    /// Appends the text to `out` in UTF-8, lone surrogates as U+FFFD: for large texts and for texts dense
    /// with escapes.
    pub fn push_bytes(self, out: &mut Vec<u8>) {
        let begin = out.len();
        if !self.escaped {
            out.extend_from_slice(self.body.as_bytes());
        } else if !escapes::push_unescaped(self.body.as_bytes(), out) {
            out.truncate(begin);
            out.extend_from_slice(self.to_text().as_bytes());
        }
    }

    /// Whether undoing the escapes meets a surrogate without its partner.
    #[must_use]
    pub fn has_lone_surrogate(self) -> bool {
        if !self.escaped {
            return false;
        }
        let mut half = None;
        let lone = self.push_to(&mut String::new(), &mut half);
        lone > 0 || half.is_some()
    }

    /// Appends the text to `out`. A high surrogate that ends the string stays in `half`, so that the
    /// next piece of the same text can complete it; any other lone surrogate becomes U+FFFD. Returns how
    /// many did.
    pub fn push_to(self, out: &mut String, half: &mut Option<u16>) -> usize {
        let mut lone = 0;
        if self.body.is_empty() {
            return 0;
        }
        if !self.escaped {
            if half.take().is_some() {
                out.push(char::REPLACEMENT_CHARACTER);
                lone += 1;
            }
            out.push_str(self.body);
            return lone;
        }
        let mut rest = self.body;
        while !rest.is_empty() {
            let cut = memchr::memchr(b'\\', rest.as_bytes()).unwrap_or(rest.len());
            if cut > 0 {
                if half.take().is_some() {
                    out.push(char::REPLACEMENT_CHARACTER);
                    lone += 1;
                }
                out.push_str(&rest[..cut]);
                rest = &rest[cut..];
                continue;
            }
            let kind = rest.as_bytes().get(1).copied().unwrap_or(b'\\');
            if kind == b'u' {
                let unit = rest
                    .get(2..6)
                    .and_then(|hex| u16::from_str_radix(hex, 16).ok())
                    .unwrap_or(0xFFFD);
                rest = rest.get(6..).unwrap_or("");
                lone += push_unit(unit, out, half);
                continue;
            }
            if half.take().is_some() {
                out.push(char::REPLACEMENT_CHARACTER);
                lone += 1;
            }
            out.push(match kind {
                b'b' => '\u{8}',
                b'f' => '\u{c}',
                b'n' => '\n',
                b'r' => '\r',
                b't' => '\t',
                other => char::from(other),
            });
            rest = rest.get(2..).unwrap_or("");
        }
        lone
    }
}

/// Appends one UTF-16 code unit; returns how many lone surrogates became U+FFFD.
fn push_unit(unit: u16, out: &mut String, half: &mut Option<u16>) -> usize {
    let mut lone = 0;
    if let Some(high) = half.take() {
        if let Some(Ok(character)) = char::decode_utf16([high, unit]).next() {
            out.push(character);
            return 0;
        }
        out.push(char::REPLACEMENT_CHARACTER);
        lone = 1;
    }
    match unit {
        0xD800..=0xDBFF => *half = Some(unit),
        0xDC00..=0xDFFF => {
            out.push(char::REPLACEMENT_CHARACTER);
            lone += 1;
        }
        _ => out.push(char::from_u32(u32::from(unit)).unwrap_or(char::REPLACEMENT_CHARACTER)),
    }
    lone
}

/// Appends `text` to `out` as a JSON string literal: quotes, backslashes and control characters are
/// escaped, everything else stays.
pub fn push_literal(text: &str, out: &mut String) {
    use std::fmt::Write as _;
    out.push('"');
    let mut start = 0;
    for (at, byte) in text.bytes().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.push_str(&text[start..at]);
        start = at + 1;
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            0x8 => out.push_str("\\b"),
            0xC => out.push_str("\\f"),
            _ => {
                let _ = write!(out, "\\u{byte:04x}");
            }
        }
    }
    out.push_str(&text[start..]);
    out.push('"');
}

const ONES: u64 = u64::from_ne_bytes([1; 8]);
const HIGHS: u64 = u64::from_ne_bytes([0x80; 8]);

/// The high bit of each byte of `word` that is `byte`; exact up to the first such byte.
const fn bytes_like(word: u64, byte: u8) -> u64 {
    let differing = word ^ (ONES * byte as u64);
    differing.wrapping_sub(ONES) & !differing & HIGHS
}

pub(crate) fn check_number(bytes: &[u8], mut at: usize) -> Result<usize, JsonError> {
    let digits = |mut at: usize| -> Result<usize, JsonError> {
        let start = at;
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        match (at > start, at < bytes.len()) {
            (true, _) => Ok(at),
            (false, true) => Err(JsonError::Syntax(at)),
            (false, false) => Err(JsonError::UnexpectedEnd),
        }
    };
    if bytes[at] == b'-' {
        at += 1;
    }
    at = if bytes.get(at) == Some(&b'0') {
        at + 1
    } else {
        digits(at)?
    };
    if bytes.get(at) == Some(&b'.') {
        at = digits(at + 1)?;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        at += 1;
        if matches!(bytes.get(at), Some(b'+' | b'-')) {
            at += 1;
        }
        at = digits(at)?;
    }
    Ok(at)
}

pub(crate) fn check_word(bytes: &[u8], at: usize, word: &[u8]) -> Result<usize, JsonError> {
    for (offset, expected) in word.iter().enumerate() {
        match bytes.get(at + offset) {
            None => return Err(JsonError::UnexpectedEnd),
            Some(byte) if byte == expected => {}
            Some(_) => return Err(JsonError::Syntax(at + offset)),
        }
    }
    Ok(at + word.len())
}

/// One pass over the text, a bit a level for what is open: no recursion, so no stack to exhaust.
fn validate(bytes: &[u8], max_depth: usize) -> Result<(), JsonError> {
    validate_to(bytes, max_depth, &mut Vec::new())
}

/// Like [`validate`]; what is open where the text ends or fails stays in `open`, `true` for an object.
pub(crate) fn validate_to(
    bytes: &[u8],
    max_depth: usize,
    open: &mut Vec<bool>,
) -> Result<(), JsonError> {
    validate_into(bytes, max_depth, open, &mut ())
}

#[inline]
fn validate_into(
    bytes: &[u8],
    max_depth: usize,
    open: &mut Vec<bool>,
    record: &mut impl Record,
) -> Result<(), JsonError> {
    let mut at = 0;
    loop {
        // A value starts here.
        at = skip_space(bytes, at);
        match bytes.get(at) {
            None => return Err(JsonError::UnexpectedEnd),
            Some(b'"') => {
                let end = check_string(bytes, at + 1)?.end + 1;
                record.string(at, end);
                at = end;
            }
            Some(&byte @ (b'{' | b'[')) => {
                if open.len() >= max_depth {
                    return Err(JsonError::TooDeep(at));
                }
                let object = byte == b'{';
                open.push(object);
                record.begin(at);
                at = skip_space(bytes, at + 1);
                let end = if object { b'}' } else { b']' };
                if bytes.get(at) == Some(&end) {
                    open.pop();
                    at += 1;
                    record.end(at);
                } else if object {
                    at = check_key(bytes, at)?;
                    continue;
                } else {
                    continue;
                }
            }
            Some(b'-' | b'0'..=b'9') => at = check_number(bytes, at)?,
            Some(b't') => at = check_word(bytes, at, b"true")?,
            Some(b'f') => at = check_word(bytes, at, b"false")?,
            Some(b'n') => at = check_word(bytes, at, b"null")?,
            Some(_) => return Err(JsonError::Syntax(at)),
        }
        // A value ended here: close what ends with it, then go on to the next value.
        loop {
            at = skip_space(bytes, at);
            let Some(&object) = open.last() else {
                return if at == bytes.len() {
                    Ok(())
                } else {
                    Err(JsonError::Syntax(at))
                };
            };
            match (bytes.get(at), object) {
                (None, _) => return Err(JsonError::UnexpectedEnd),
                (Some(b','), true) => {
                    at = check_key(bytes, skip_space(bytes, at + 1))?;
                    break;
                }
                (Some(b','), false) => {
                    at += 1;
                    break;
                }
                (Some(b'}'), true) | (Some(b']'), false) => {
                    open.pop();
                    at += 1;
                    record.end(at);
                }
                (Some(_), _) => return Err(JsonError::Syntax(at)),
            }
        }
    }
}

/// Checks `"key" :` from `at`; gives the offset behind the colon.
fn check_key(bytes: &[u8], at: usize) -> Result<usize, JsonError> {
    match bytes.get(at) {
        None => return Err(JsonError::UnexpectedEnd),
        Some(b'"') => {}
        Some(_) => return Err(JsonError::Syntax(at)),
    }
    let colon = skip_space(bytes, check_string(bytes, at + 1)?.end + 1);
    match bytes.get(colon) {
        None => Err(JsonError::UnexpectedEnd),
        Some(b':') => Ok(colon + 1),
        Some(_) => Err(JsonError::Syntax(colon)),
    }
}

/// Where `part`, a slice of `whole`, stands in it.
pub(crate) fn range_in(whole: &str, part: &str) -> std::ops::Range<usize> {
    let start = part.as_ptr().addr() - whole.as_ptr().addr();
    start..start + part.len()
}
