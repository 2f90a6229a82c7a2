//! Lines of a tape that are as a store writes them, read without a detour.
//!
//! A line is a row in many more ways than these; [`read`] knows those that a store's own lines take, and says
//! nothing of any other, so that a caller with the whole of the rules decides. [`RowText`] writes them.

mod text;

use std::ops::Range;

use crate::envelope::canonical_value;
use crate::image_marker;
use crate::json::{Raw, Str, Token, value_end};
use crate::string_body::check_string;
use crate::usage::Usage;

pub use text::RowText;

/// How deep a line may nest. One that is deeper is nobody's work here.
const MAX_DEPTH: usize = 200;

/// A row, in slices of its line.
#[derive(Debug, Clone)]
pub struct Row<'a> {
    /// Who says it.
    pub role: Str<'a>,
    /// What is said.
    pub content: Str<'a>,
    /// The calls of an assistant row.
    pub tool_calls: Vec<Call<'a>>,
    /// The call that a result answers.
    pub tool_call_id: Option<Str<'a>>,
    /// The row's identity.
    pub id: Option<Str<'a>>,
    /// The request that the row came from.
    pub request_id: Option<Str<'a>>,
    /// The model that answered.
    pub model: Option<Str<'a>>,
    /// When.
    pub created_at: Option<Str<'a>>,
    /// Why the turn stopped.
    pub stop_reason: Option<Str<'a>>,
    /// The tokens of the turn.
    pub usage: Option<Usage>,
    /// Whether the turn was cut.
    pub interrupted: bool,
    /// Why the tool failed, where it did.
    pub tool_failure: Option<Str<'a>>,
    /// The host's metadata, an object.
    pub extra_metadata: Option<Raw<'a>>,
    /// Whether writing the row gives this very line.
    pub is_canonical: bool,
}

/// A call of a row.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// Its id.
    pub id: Str<'a>,
    /// The tool's name.
    pub name: Str<'a>,
    /// The argument text.
    pub arguments: Str<'a>,
    /// What the provider wants back on it.
    pub extra_content: Option<Raw<'a>>,
}

/// Where the lines of a block stand, each ended by LF, the last one perhaps not.
pub fn lines(block: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let rest = block.get(start..).filter(|rest| !rest.is_empty())?;
        let end = memchr::memchr(b'\n', rest).map_or(block.len(), |at| start + at);
        let line = start..end;
        start = end + 1;
        Some(line)
    })
}

/// Reads a line that is as a store writes it: its members in their order, without spaces between them. None
/// where it is anything else, a string to be lifted into fields included.
#[must_use]
pub fn read(line: &str) -> Option<Row<'_>> {
    let mut rest = Rest {
        line,
        at: 0,
        is_canonical: true,
    };
    let mut row = Row {
        role: rest.text_after("{\"role\":\"")?,
        content: rest.text_after(",\"content\":\"")?,
        tool_calls: Vec::new(),
        tool_call_id: None,
        id: None,
        request_id: None,
        model: None,
        created_at: None,
        stop_reason: None,
        usage: None,
        interrupted: false,
        tool_failure: None,
        extra_metadata: None,
        is_canonical: false,
    };
    if rest.takes(",\"tool_calls\":[") {
        row.tool_calls = rest.calls()?;
    }
    let is_typed = rest.takes(",\"v\":2,\"shape\":\"");
    let needs_id = is_typed && !rest.takes("assistant_calls\"");
    if needs_id && !rest.takes("tool_result\"") || is_typed && needs_id != row.tool_calls.is_empty()
    {
        return None;
    }
    rest.optional(",\"tool_call_id\":\"", &mut row.tool_call_id)?;
    if !is_typed && (!row.tool_calls.is_empty() || row.tool_call_id.is_some()) {
        return None;
    }
    if needs_id && row.tool_call_id.is_none() || !is_typed && may_lift(row.role, row.content) {
        return None;
    }
    rest.optional(",\"id\":\"", &mut row.id)?;
    rest.optional(",\"request_id\":\"", &mut row.request_id)?;
    rest.optional(",\"model\":\"", &mut row.model)?;
    rest.optional(",\"created_at\":\"", &mut row.created_at)?;
    rest.optional(",\"stop_reason\":\"", &mut row.stop_reason)?;
    if rest.takes(",\"usage\":") {
        let (counters, is_canonical) = usage(rest.value()?)?;
        row.usage = Some(counters);
        rest.is_canonical = rest.is_canonical && is_canonical;
    }
    row.interrupted = rest.takes(",\"interrupted\":true");
    if rest.takes(",\"tool_failure\":{\"detail\":\"") {
        row.tool_failure = Some(rest.text()?);
        rest.must_take("}")?;
    }
    if rest.takes(",\"extra_metadata\":") {
        row.extra_metadata = Some(rest.value().filter(|value| value.is_object())?);
    }
    rest.must_take("}")?;
    row.is_canonical = rest.is_canonical;
    (rest.at == line.len()).then_some(row)
}

/// A line, and up to where it was read.
struct Rest<'a> {
    line: &'a str,
    at: usize,
    /// Whether all of it so far is spelt as a store does.
    is_canonical: bool,
}

impl<'a> Rest<'a> {
    /// Goes past these characters if they are next.
    #[inline]
    fn takes(&mut self, next: &str) -> bool {
        let is_next = self.line.as_bytes()[self.at..].starts_with(next.as_bytes());
        if is_next {
            self.at += next.len();
        }
        is_next
    }

    #[inline]
    fn must_take(&mut self, next: &str) -> Option<()> {
        self.takes(next).then_some(())
    }

    /// The text whose body is next, and its closing quote. One with half of a surrogate pair is none: a text
    /// of a row must not lose it.
    #[inline]
    fn text(&mut self) -> Option<Str<'a>> {
        let scanned = check_string(self.line.as_bytes(), self.at).ok()?;
        let text = Str::with_flag(&self.line[self.at..scanned.end], scanned.escaped);
        self.at = scanned.end + 1;
        if !scanned.escaped {
            return Some(text);
        }
        // Those escapes say nothing but control characters, and no surrogates.
        if has_canonical_escapes(text.body().as_bytes()) {
            return Some(text);
        }
        self.is_canonical = false;
        Some(text).filter(|text| !text.has_lone_surrogate())
    }

    #[inline]
    fn text_after(&mut self, next: &str) -> Option<Str<'a>> {
        self.must_take(next)?;
        self.text()
    }

    /// Reads a text that may be left out; None where it is there and is none.
    #[inline]
    fn optional(&mut self, next: &str, text: &mut Option<Str<'a>>) -> Option<()> {
        if self.takes(next) {
            *text = Some(self.text()?);
        }
        Some(())
    }

    /// Any value that comes out the same however it is read.
    fn value(&mut self) -> Option<Raw<'a>> {
        let end = value_end(self.line.as_bytes(), self.at)?;
        let raw = Raw::parse(self.line.get(self.at..end)?, MAX_DEPTH).ok()?;
        self.at = end;
        self.is_canonical = self.is_canonical && canonical_value(raw.text()).is_some();
        Some(raw).filter(|raw| is_exact(*raw))
    }

    /// The calls of a list that has begun, one at least.
    fn calls(&mut self) -> Option<Vec<Call<'a>>> {
        let mut calls = Vec::with_capacity(1);
        loop {
            let mut call = Call {
                id: self.text_after("{\"id\":\"")?,
                name: self.text_after(",\"name\":\"")?,
                arguments: self.text_after(",\"arguments\":\"")?,
                extra_content: None,
            };
            if self.takes(",\"extra_content\":") {
                call.extra_content = Some(self.value()?).filter(|value| !value.is_null());
                self.is_canonical = self.is_canonical && call.extra_content.is_some();
            }
            calls.push(call);
            self.must_take("}")?;
            if self.takes("]") {
                return Some(calls);
            }
            self.must_take(",")?;
        }
    }
}

/// The counters of a row, each an integer that is not negative, and whether none is a needless zero.
fn usage(value: Raw<'_>) -> Option<(Usage, bool)> {
    let mut usage = Usage::default();
    let mut seen = 0_u32;
    let mut is_canonical = true;
    for (name, value) in Some(value).filter(|value| value.is_object())?.entries() {
        let (counter, bit) = match name.plain()? {
            "input_tokens" => (&mut usage.input_tokens, 1),
            "output_tokens" => (&mut usage.output_tokens, 2),
            "cache_read_tokens" => (&mut usage.cache_read_tokens, 4),
            "cache_write_tokens" => (&mut usage.cache_write_tokens, 8),
            "cache_write_1h_tokens" => (&mut usage.cache_write_1h_tokens, 16),
            "reasoning_tokens" => (&mut usage.reasoning_tokens, 32),
            _ => return None,
        };
        if seen & bit != 0 || !value.text().bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        seen |= bit;
        *counter = value.as_u64()?;
        is_canonical = is_canonical && *counter > 0;
    }
    Some((usage, is_canonical))
}

/// Whether the escapes of a valid string body are those of canonical form v1: two characters where there are
/// two, `\u` in lower case for other control characters, and nothing else.
fn has_canonical_escapes(body: &[u8]) -> bool {
    let mut at = 0;
    while let Some(length) = memchr::memchr(b'\\', &body[at..]) {
        at += length + 2;
        match body[at - 1] {
            b'"' | b'\\' | b'n' | b'r' | b't' | b'b' | b'f' => {}
            b'u' => {
                let [b'0', b'0', high @ (b'0' | b'1'), low] = body[at..at + 4] else {
                    return false;
                };
                if low.is_ascii_uppercase() || high == b'0' && b"89acd".contains(&low) {
                    return false;
                }
                at += 4;
            }
            _ => return false,
        }
    }
    true
}

/// Whether a value comes out the same however it is read: no integer beyond 64 bits, no half of a pair.
fn is_exact(value: Raw<'_>) -> bool {
    value.tokens().all(|token| match token {
        Token::String(text) => !text.has_lone_surrogate(),
        Token::Number(text) => {
            text.contains(['.', 'e', 'E'])
                || (text != "-0" && (text.parse::<u64>().is_ok() || text.parse::<i64>().is_ok()))
        }
        _ => true,
    })
}

/// Whether the string of a flat history might be more than a text.
fn may_lift(role: Str<'_>, content: Str<'_>) -> bool {
    if role.is("user") {
        return match content.plain() {
            Some(text) => image_marker::has_image_parts(text),
            // Written with escapes, it may say a marker.
            None => image_marker::has_image_parts(&content.to_text()),
        };
    }
    // An envelope is an object, perhaps behind white space, which may be written with escapes.
    (role.is("assistant") || role.is("tool"))
        && content
            .body()
            .trim_start_matches(' ')
            .starts_with(['{', '\\'])
}
