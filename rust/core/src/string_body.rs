//! Bodies of JSON strings that were not validated yet, sixteen bytes at a time.

use crate::json::JsonError;

/// A string body that was scanned.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scanned {
    /// The offset of its closing quote.
    pub(crate) end: usize,
    pub(crate) escaped: bool,
    /// It holds bytes of more than seven bits.
    pub(crate) wide: bool,
}

/// Scans a string body that was not validated yet, from `at`.
#[inline]
pub(crate) fn check_string(bytes: &[u8], mut at: usize) -> Result<Scanned, JsonError> {
    let (mut escaped, mut wide) = (false, false);
    loop {
        let run = plain_run(bytes, at);
        at += run.length;
        wide |= run.wide;
        match bytes.get(at) {
            None => return Err(JsonError::UnexpectedEnd),
            Some(b'"') => {
                return Ok(Scanned {
                    end: at,
                    escaped,
                    wide,
                });
            }
            Some(b'\\') => {
                escaped = true;
                at = check_escape(bytes, at)?;
            }
            Some(_) => return Err(JsonError::Syntax(at)),
        }
    }
}

/// A string body that was scanned and undone.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unescaped {
    /// The offset of its closing quote.
    pub(crate) end: usize,
    /// It holds a surrogate without its partner, so that what was appended is of no use.
    pub(crate) is_halved: bool,
}

/// Scans a string body that was not validated yet, from `at`, and appends what it says to `out`. None for
/// what is no JSON string or no UTF-8; a part of it may have been appended then.
#[inline]
pub(crate) fn unescape(bytes: &[u8], at: usize, out: &mut Vec<u8>) -> Option<Unescaped> {
    // Most deltas are short and plain: then a whole word is copied, and cut to length.
    if let Some((word, length)) = short_string(bytes, at) {
        let begin = out.len();
        out.extend_from_slice(&word.to_le_bytes());
        out.truncate(begin + length);
        return Some(Unescaped {
            end: at + length,
            is_halved: false,
        });
    }
    unescape_any(bytes, at, out)
}

/// A string body that begins at `at` and is short and plain, no escapes, ASCII alone: the word that it begins,
/// and its length.
#[inline]
pub(crate) fn short_string(bytes: &[u8], at: usize) -> Option<(u128, usize)> {
    let word = word_at(bytes, at)?;
    let special = Special::of(word);
    let length = special.length();
    (!special.wide_before && bytes.get(at + length) == Some(&b'"')).then_some((word, length))
}

/// Sixteen bytes from `at` on, first byte lowest, with zeros behind the end. None where there are fewer in all.
#[inline]
pub(crate) fn word_at(bytes: &[u8], at: usize) -> Option<u128> {
    if let Some(word) = bytes.get(at..)?.first_chunk() {
        return Some(u128::from_le_bytes(*word));
    }
    last_word(bytes, at)
}

#[inline(never)]
fn last_word(bytes: &[u8], at: usize) -> Option<u128> {
    let last = u128::from_le_bytes(*bytes.last_chunk()?);
    let missing = at + 16 - bytes.len();
    Some(if missing < 16 {
        last >> (8 * missing)
    } else {
        0
    })
}

#[inline(never)]
fn unescape_any(bytes: &[u8], mut at: usize, out: &mut Vec<u8>) -> Option<Unescaped> {
    let mut is_halved = false;
    loop {
        let run = plain_run(bytes, at);
        let plain = bytes.get(at..at + run.length)?;
        if run.wide {
            simdutf8::basic::from_utf8(plain).ok()?;
        }
        out.extend_from_slice(plain);
        at += run.length;
        match bytes.get(at)? {
            b'"' => return Some(Unescaped { end: at, is_halved }),
            b'\\' => {}
            _ => return None,
        }
        let letter = *bytes.get(at + 1)?;
        at += 2;
        out.push(match letter {
            b'"' | b'\\' | b'/' => letter,
            b'b' => 0x8,
            b'f' => 0xC,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => {
                let unit = code_unit(bytes, at)?;
                at += 4;
                let mut decoded = char::decode_utf16([unit]).next()?.ok();
                if decoded.is_none()
                    && bytes.get(at..at + 2) == Some(b"\\u")
                    && let Some(low) = code_unit(bytes, at + 2)
                {
                    decoded = char::decode_utf16([unit, low]).next()?.ok();
                    at += if decoded.is_some() { 6 } else { 0 };
                }
                is_halved |= decoded.is_none();
                let character = decoded.unwrap_or(char::REPLACEMENT_CHARACTER);
                out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                continue;
            }
            _ => return None,
        });
    }
}

/// The code unit that four hexadecimal digits write.
fn code_unit(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..at + 4)?.iter().try_fold(0, |unit, &digit| {
        let value = char::from(digit).to_digit(16)?;
        Some(unit << 4 | u16::try_from(value).ok()?)
    })
}

/// Checks the escape that begins at `at`; gives the offset behind it.
fn check_escape(bytes: &[u8], at: usize) -> Result<usize, JsonError> {
    match bytes.get(at + 1) {
        None => Err(JsonError::UnexpectedEnd),
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 2),
        Some(b'u') => {
            for digit in at + 2..at + 6 {
                match bytes.get(digit) {
                    None => return Err(JsonError::UnexpectedEnd),
                    Some(byte) if byte.is_ascii_hexdigit() => {}
                    Some(_) => return Err(JsonError::Syntax(digit)),
                }
            }
            Ok(at + 6)
        }
        Some(_) => Err(JsonError::Syntax(at + 1)),
    }
}

/// The bytes of a string body among sixteen.
struct Special {
    /// The high bit of each quote, backslash or control character, exact up to the first.
    hit: u128,
    /// Whether a byte before the first of them has more than seven bits.
    wide_before: bool,
}

impl Special {
    #[inline]
    const fn of(word: u128) -> Self {
        const ONES: u128 = u128::from_ne_bytes([1; 16]);
        const HIGHS: u128 = u128::from_ne_bytes([0x80; 16]);
        let quote = word ^ (ONES * b'"' as u128);
        let slash = word ^ (ONES * b'\\' as u128);
        let hit = (quote.wrapping_sub(ONES) & !quote)
            | (slash.wrapping_sub(ONES) & !slash)
            | (word.wrapping_sub(ONES * 0x20) & !word);
        let hit = hit & HIGHS;
        // The bits below the first one.
        let before = hit.wrapping_sub(1) & !hit;
        Self {
            hit,
            wide_before: word & before & HIGHS != 0,
        }
    }

    /// How many bytes come before the first special one.
    #[inline]
    const fn length(&self) -> usize {
        (self.hit.trailing_zeros() / 8) as usize
    }
}

/// The bytes of a string body that need no attention.
struct Run {
    length: usize,
    wide: bool,
}

/// The bytes before the first quote, backslash or control character.
#[inline]
fn plain_run(bytes: &[u8], start: usize) -> Run {
    let mut at = start;
    let mut wide = false;
    while let Some(word) = word_at(bytes, at) {
        let special = Special::of(word);
        wide |= special.wide_before;
        if special.hit != 0 {
            let length = at + special.length() - start;
            return Run { length, wide };
        }
        at += 16;
    }
    // A text of a few bytes, with quotes behind them.
    let rest = bytes.get(start..).unwrap_or_default();
    let mut last = [b'"'; 16];
    if let Some(room) = last.get_mut(..rest.len()) {
        room.copy_from_slice(rest);
    }
    let special = Special::of(u128::from_le_bytes(last));
    Run {
        length: special.length().min(rest.len()),
        wide: special.wide_before,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{check_string, unescape};
    use crate::json::Raw;

    proptest! {
        /// A body is undone as the general path undoes it, and refused where that refuses it.
        #[test]
        fn bodies_are_undone(
            pieces in proptest::collection::vec(
                prop_oneof![
                    4 => "[a-z ]{0,20}",
                    2 => "\\PC{0,4}",
                    2 => r#"\\(["\\/bfnrtxu]|u[0-9a-fA-F]{4}|u00e9)"#,
                    1 => r"\\ud83d\\ude42|\\ud83d|\\ude42|[\x00-\x1f]",
                ],
                0..6,
            ),
            after in "[,}\n ]{0,20}",
        ) {
            let text = format!("\"{}\"", pieces.concat());
            let stream = format!("{text}{after}");
            let mut said = b"before".to_vec();
            let found = unescape(stream.as_bytes(), 1, &mut said);
            let Some(end) = check_string(stream.as_bytes(), 1).ok().map(|string| string.end) else {
                prop_assert!(found.is_none());
                return Ok(());
            };
            let found = found.expect("a string");
            prop_assert_eq!(found.end, end);
            let string = Raw::parse(&stream[..=end], 1).ok().and_then(Raw::as_str).expect("a string");
            prop_assert_eq!(found.is_halved, string.has_lone_surrogate());
            if !found.is_halved {
                let text = string.to_text();
                prop_assert_eq!(&said[b"before".len()..], text.as_bytes());
            }
        }

        #[test]
        fn bytes_that_are_no_text_are_refused(start in "[a-z]{0,20}", byte in 0x80..=0xFF_u8) {
            let mut body = start.into_bytes();
            body.extend([byte, b'"', b'}', b'\n', b'\n']);
            prop_assert!(unescape(&body, 0, &mut Vec::new()).is_none());
        }
    }
}
