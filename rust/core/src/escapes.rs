//! Escapes of string literals, written, checked and undone without a branch a byte.
//!
//! Tool arguments are JSON inside JSON: every few bytes a quote is escaped, at places that no branch can
//! predict. So blocks of bytes become masks of a bit a byte, and what is done to a byte is computed.

/// How many bytes are looked at together: a bit of a mask each.
const BLOCK: usize = 64;
/// How many are copied at once.
const RUN: usize = 16;
/// The bits of even places.
const EVEN: u64 = 0x5555_5555_5555_5555;
const ONES: u64 = u64::from_ne_bytes([1; 8]);
const HIGHS: u64 = u64::from_ne_bytes([0x80; 8]);

/// The quotes, backslashes and control characters among eight bytes, first byte lowest: the high bit of
/// each, exact up to the lowest one that is set.
#[inline]
const fn special_bytes(word: u64) -> u64 {
    let quote = word ^ (ONES * b'"' as u64);
    let slash = word ^ (ONES * b'\\' as u64);
    let hit = (quote.wrapping_sub(ONES) & !quote)
        | (slash.wrapping_sub(ONES) & !slash)
        | (word.wrapping_sub(ONES * 0x20) & !word);
    hit & HIGHS
}

/// How many bytes come before the first quote, backslash or control character.
#[inline]
pub(crate) fn plain_length(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(chunk) = bytes[at..].first_chunk::<8>() {
        let hit = special_bytes(u64::from_le_bytes(*chunk));
        if hit != 0 {
            return at + (hit.trailing_zeros() / 8) as usize;
        }
        at += 8;
        if at == BLOCK {
            at += plain_runs(&bytes[at..]);
        }
    }
    while bytes
        .get(at)
        .is_some_and(|&b| b >= 0x20 && b != b'"' && b != b'\\')
    {
        at += 1;
    }
    at
}

/// How many bytes lie in whole runs without a special one: for long texts, several times as quick.
fn plain_runs(bytes: &[u8]) -> usize {
    let (runs, _) = bytes.as_chunks::<{ 2 * RUN }>();
    let special =
        |byte: u8| u8::from(byte < 0x20) | u8::from(byte == b'"') | u8::from(byte == b'\\');
    let is_plain = |run: &&[u8; 2 * RUN]| run.iter().fold(0, |any, &byte| any | special(byte)) == 0;
    runs.iter().take_while(is_plain).count() * 2 * RUN
}

/// The characters of a text that a literal escapes, each once, the backslash first; None where there are
/// more than one in so many bytes.
#[must_use]
pub fn escaped_characters(text: &str, one_in: usize) -> Option<Vec<char>> {
    let mut found = Vec::new();
    let (mut rest, mut left) = (text.as_bytes(), text.len() / one_in.max(1));
    loop {
        let plain = plain_length(rest);
        let Some((byte, behind)) = rest.get(plain..).and_then(<[u8]>::split_first) else {
            break;
        };
        left = left.checked_sub(1)?;
        let escaped = char::from(*byte);
        if !found.contains(&escaped) {
            found.push(escaped);
        }
        rest = behind;
    }
    found.sort_unstable_by_key(|escaped| *escaped != '\\');
    Some(found)
}

/// Which of eight bytes are zero: a bit each.
#[inline]
const fn zero_bytes(word: u64) -> u64 {
    // The high bit of each byte that is zero, exact because nothing carries from one byte into the next.
    let zeros = !(((word & !HIGHS) + !HIGHS) | word | !HIGHS);
    // Gathered into the highest byte.
    (zeros >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// What stands where in a block.
struct Masks {
    quotes: u64,
    backslashes: u64,
    /// Whether there is a control character.
    control: bool,
}

impl Masks {
    #[inline]
    fn of(block: &[u8; BLOCK + RUN]) -> Self {
        let mut masks = Self {
            quotes: 0,
            backslashes: 0,
            control: false,
        };
        let mut low = 0;
        for (place, word) in block[..BLOCK].as_chunks::<8>().0.iter().enumerate() {
            let word = u64::from_le_bytes(*word);
            masks.quotes |= zero_bytes(word ^ (ONES * u64::from(b'"'))) << (place * 8);
            masks.backslashes |= zero_bytes(word ^ (ONES * u64::from(b'\\'))) << (place * 8);
            // Exact as to whether there is any, because a borrow begins at one.
            low |= word.wrapping_sub(ONES * 0x20) & !word;
        }
        masks.control = low & HIGHS != 0;
        masks
    }

    /// The backslashes that begin an escape. `inside` says whether the byte before the block did, and is
    /// brought up to date for the next one.
    #[inline]
    const fn escapes(&self, inside: &mut bool) -> u64 {
        let backslashes = self.backslashes & !(*inside as u64);
        // Of backslashes in a row every other one begins an escape, from the first on. Adding its first bit
        // to a run carries it away, which tells the runs that begin at an even place.
        let begins = backslashes & !(backslashes << 1);
        let even_runs = backslashes & !backslashes.wrapping_add(begins & EVEN);
        let escapes = (even_runs & EVEN) | (backslashes & !even_runs & !EVEN);
        *inside = escapes >> (BLOCK - 1) == 1;
        escapes
    }
}

/// The next block with spaces behind it, and how many of its bytes are there.
#[inline]
fn block_of(bytes: &[u8]) -> ([u8; BLOCK + RUN], usize) {
    if let Some(block) = bytes.first_chunk() {
        return (*block, BLOCK);
    }
    let mut block = [b' '; BLOCK + RUN];
    let length = bytes.len().min(BLOCK);
    block[..length].copy_from_slice(&bytes[..length]);
    (block, length)
}

/// The bits below a place.
#[inline]
const fn below(place: usize) -> u64 {
    if place < BLOCK {
        (1 << place) - 1
    } else {
        u64::MAX
    }
}

/// The end of a string body in its one spelling, which begins before `at` and has no open escape there: the
/// offset of its closing quote. None where the body has no end, or holds an escape that the encoder would
/// not write, or a control character follows it closely, which no canonical text holds.
///
/// What the body says from `at` on goes to `said`, unless it holds escapes of four digits, which comes back
/// as false. Of a body that is refused a part may be there.
pub(crate) fn canonical_end(
    bytes: &[u8],
    mut at: usize,
    mut said: Option<&mut Vec<u8>>,
) -> Option<(usize, bool)> {
    let mut inside = false;
    let mut short = true;
    loop {
        let (block, length) = block_of(bytes.get(at..)?);
        let masks = Masks::of(&block);
        if masks.control {
            return None;
        }
        let mut letters = u64::from(inside);
        let dropped = masks.escapes(&mut inside);
        letters |= dropped << 1;
        let ends = masks.quotes & !letters;
        let end = (ends.trailing_zeros() as usize).min(length);
        // Escaped quotes and backslashes are right as they are.
        letters &= below(end) & !(masks.quotes | masks.backslashes);
        if letters != 0 {
            short &= all_canonical(bytes, at, letters)?;
        }
        if let Some(said) = &mut said {
            push_said(&block, end, dropped & below(end), letters, said);
        }
        if ends != 0 {
            return Some((at + end, short));
        }
        if length < BLOCK {
            return None;
        }
        at += BLOCK;
    }
}

/// Appends what a valid string body says. Gives false, and appends what is of no use, where it has an
/// escape of four digits.
pub(crate) fn push_unescaped(mut body: &[u8], out: &mut Vec<u8>) -> bool {
    let mut inside = false;
    out.reserve(body.len() + BLOCK + RUN);
    while !body.is_empty() {
        let (block, length) = block_of(body);
        body = &body[length..];
        let masks = Masks::of(&block);
        let mut letters = u64::from(inside);
        let dropped = masks.escapes(&mut inside);
        letters |= dropped << 1;
        letters &= below(length) & !(masks.quotes | masks.backslashes);
        if push_said(&block, length, dropped, letters, out) {
            return false;
        }
    }
    true
}

/// Checks that the escapes with these letters are those that the encoder writes; whether all are of one
/// letter.
#[inline]
fn all_canonical(bytes: &[u8], at: usize, mut letters: u64) -> Option<bool> {
    let mut short = true;
    while letters != 0 {
        let place = at + letters.trailing_zeros() as usize;
        letters &= letters - 1;
        match bytes.get(place..)? {
            [b'b' | b'f' | b'n' | b'r' | b't', ..] => {}
            // The control characters that have a shorter escape have the long one no more.
            [b'u', b'0', b'0', b'0', b'0'..=b'7' | b'b' | b'e' | b'f', ..]
            | [b'u', b'0', b'0', b'1', b'0'..=b'9' | b'a'..=b'f', ..] => short = false,
            _ => return None,
        }
    }
    Some(short)
}

/// Appends what the first `length` bytes of a block say: without the backslashes that are dropped, and with
/// the characters in place of the letters of their escapes. Gives true where one of these has four digits.
#[inline]
fn push_said(
    block: &[u8; BLOCK + RUN],
    length: usize,
    dropped: u64,
    mut letters: u64,
    out: &mut Vec<u8>,
) -> bool {
    let begin = out.len();
    // More than is kept is written, at a length that is known when this is compiled, and then cut off.
    out.extend_from_slice(block);
    let mut kept = length;
    let room = out
        .get_mut(begin..)
        .and_then(<[u8]>::first_chunk_mut::<{ BLOCK + RUN }>);
    if dropped != 0
        && let Some(room) = room
    {
        // What lies between two dropped bytes is mostly short: sixteen bytes are copied, needed or not.
        // All numbers are at most `BLOCK`, so that nothing wraps.
        let copy = |room: &mut [u8; BLOCK + RUN], from: usize, to: usize| {
            let run = block[from & (BLOCK - 1)..].first_chunk::<RUN>();
            let place = room[to & (BLOCK - 1)..].first_chunk_mut::<RUN>();
            if let (Some(run), Some(place)) = (run, place) {
                *place = *run;
            }
        };
        // What is behind the block ends it like a dropped byte.
        let mut bits = dropped | u64::from(length < BLOCK) << (length & (BLOCK - 1));
        let mut from = 0_usize;
        kept = 0;
        loop {
            let to = bits.trailing_zeros() as usize;
            let run = to.wrapping_sub(from);
            copy(room, from, kept);
            if run > RUN {
                for more in (RUN..run).step_by(RUN) {
                    copy(room, from.wrapping_add(more), kept.wrapping_add(more));
                }
            }
            kept = kept.wrapping_add(run);
            if to >= length {
                break;
            }
            from = to.wrapping_add(1);
            bits &= bits.wrapping_sub(1);
        }
    }
    out.truncate(begin + kept);
    let mut long = false;
    while letters != 0 {
        let place = letters.trailing_zeros() as usize;
        letters &= letters - 1;
        let at = begin + place - (dropped & below(place)).count_ones() as usize;
        out[at] = match out[at] {
            b'b' => 0x8,
            b'f' => 0xC,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            other => other,
        };
        long |= out[at] == b'u';
    }
    long
}

/// What becomes of each byte inside a literal: two bytes, the second zero where the byte stays as it is.
/// [`LONG_ESCAPE`] marks those whose escape is longer.
const ESCAPES: [[u8; 2]; 256] = {
    let mut escapes = [[0; 2]; 256];
    let mut byte = 0;
    while byte < 256 {
        #[expect(clippy::cast_possible_truncation, reason = "it counts to 255")]
        let itself = byte as u8;
        escapes[byte] = match itself {
            b'"' | b'\\' => [b'\\', itself],
            b'\n' => [b'\\', b'n'],
            b'\r' => [b'\\', b'r'],
            b'\t' => [b'\\', b't'],
            0x8 => [b'\\', b'b'],
            0xC => [b'\\', b'f'],
            0..0x20 => [b'\\', LONG_ESCAPE],
            _ => [itself, 0],
        };
        byte += 1;
    }
    escapes
};
const LONG_ESCAPE: u8 = 0xFF;
/// How many bytes of [`ESCAPES`] are kept; much more than any text of a word takes for a longer escape.
const KEPT: [usize; 256] = {
    let mut kept = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        kept[byte] = match ESCAPES[byte][1] {
            0 => 1,
            LONG_ESCAPE => TOO_LONG,
            _ => 2,
        };
        byte += 1;
    }
    kept
};
const TOO_LONG: usize = 1 << 16;

/// Appends `text` to `out` like [`push_literal`], in bytes: for large texts and for texts dense with
/// quotes.
///
/// Eight bytes without a special one are copied at once. Others are written two bytes each, whether the
/// second is needed or not, because in JSON inside JSON no branch can be predicted; control characters
/// without a short escape are rare, so that they are found out afterwards, and the eight bytes written
/// anew. Copying run by run took twice as long there, and a table alone three times as long on prose.
pub fn push_literal_bytes(text: &str, out: &mut Vec<u8>) {
    const BLOCK: usize = 128;
    // Six bytes for each of a block, and what is written beyond the last.
    const MASK: usize = 1023;
    // Names and ids: making the buffer would cost more than they do.
    const SHORT: usize = 48;
    out.reserve(text.len() + 2);
    out.push(b'"');
    if text.len() <= SHORT && plain_length(text.as_bytes()) == text.len() {
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
        return;
    }
    let mut buffer = [0_u8; MASK + 1];
    for block in text.as_bytes().chunks(BLOCK) {
        let mut end = 0;
        let mut words = block.chunks_exact(8);
        for word in &mut words {
            if let (Some(word), Some(place)) = (
                word.first_chunk::<8>(),
                buffer[end & MASK..].first_chunk_mut::<8>(),
            ) && special_bytes(u64::from_le_bytes(*word)) == 0
            {
                *place = *word;
                end += 8;
            } else {
                end = write_word(word, &mut buffer, end);
            }
        }
        end = write_escaped(words.remainder(), &mut buffer, end);
        out.extend_from_slice(&buffer[..end & MASK]);
    }
    out.push(b'"');
}

/// Writes eight bytes into a buffer with much room behind `end`; gives the new end.
#[inline]
fn write_word(word: &[u8], buffer: &mut [u8; 1024], end: usize) -> usize {
    const MASK: usize = 31;
    if let (Some(word), Some(room)) = (
        word.first_chunk::<8>(),
        buffer[end & 1023..].first_chunk_mut::<{ MASK + 2 }>(),
    ) {
        let mut written = 0_usize;
        for &byte in word {
            if let Some(place) = room[written & MASK..].first_chunk_mut::<2>() {
                *place = ESCAPES[usize::from(byte)];
            }
            written = written.wrapping_add(KEPT[usize::from(byte)]);
        }
        if written < TOO_LONG {
            return end + written;
        }
    }
    write_escaped(word, buffer, end)
}

/// Writes a few bytes into a buffer with much room behind `end`; gives the new end.
#[inline]
fn write_escaped(bytes: &[u8], buffer: &mut [u8; 1024], mut end: usize) -> usize {
    for &byte in bytes {
        let escape = ESCAPES[usize::from(byte)];
        if let Some(place) = buffer[end & 1023..].first_chunk_mut::<2>() {
            *place = escape;
        }
        end += 1 + usize::from(escape[1] != 0);
        if escape[1] == LONG_ESCAPE
            && let Some(place) = buffer[(end - 1) & 1023..].first_chunk_mut::<5>()
        {
            let low = b"0123456789abcdef"[usize::from(byte & 0xF)];
            *place = [b'u', b'0', b'0', b'0' + (byte >> 4), low];
            end += 4;
        }
    }
    end
}

#[cfg(test)]
mod tests {
    use super::{escaped_characters, plain_length};

    #[test]
    fn a_special_byte_is_found_wherever_it_stands() {
        for special in ["\"", "\\", "\n", "\u{0}", "\u{1f}"] {
            for at in 0..200 {
                let text =
                    "漢x".repeat(50)[..at / 4 * 4].to_owned() + &"~"[..usize::from(at % 4 > 1)];
                let whole = format!("{text}{special}{}", "y".repeat(100));
                assert_eq!(
                    plain_length(whole.as_bytes()),
                    text.len(),
                    "{special:?} {at}"
                );
                assert_eq!(plain_length(text.as_bytes()), text.len());
            }
        }
    }

    #[test]
    fn what_is_escaped_comes_with_the_backslash_first() {
        let text = format!("a\n{0}b\"{0}\\{0}\n", "漢".repeat(40));
        assert_eq!(escaped_characters(&text, 64), Some(vec!['\\', '\n', '"']));
        assert_eq!(escaped_characters(&text, 128), None);
        assert_eq!(escaped_characters("", 64), Some(vec![]));
        assert_eq!(escaped_characters("\"", 64), None);
    }
}
