//! Neighbouring events of a stream are mostly the same bytes but for one string. The general path tells
//! which string that is; an event that matches around it needs neither framing nor parsing.
//!
//! This is exact, not a guess: the general path decided that a block of these bytes is one delta of one
//! block of the message, whatever the string holds; any other event goes the general path and makes the
//! template anew.

use std::ops::Range;

use crate::json::{Raw, range_in};
use crate::string_body::{check_string, short_string, unescape, word_at};
use crate::wire::turn::Hot;

/// How many free members a template follows.
const MAX_FREE: usize = 6;

/// A member of payloads whose value, a string or a number, has no effect once the message has started.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FreeMember {
    name: &'static str,
    /// It differs from payload to payload in every stream that has it.
    varies: bool,
    /// It is no value but the usage so far, an object whose numbers may differ: the last one counts.
    is_usage: bool,
}

impl FreeMember {
    pub(crate) const fn usage(name: &'static str) -> Self {
        Self {
            name,
            varies: true,
            is_usage: true,
        }
    }

    pub(crate) const fn always(name: &'static str) -> Self {
        Self {
            name,
            varies: true,
            is_usage: false,
        }
    }

    pub(crate) const fn sometimes(name: &'static str) -> Self {
        Self {
            name,
            varies: false,
            is_usage: false,
        }
    }
}

/// What may stand in a hole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hole {
    /// The string that is the delta.
    Delta,
    String,
    /// Digits.
    Number,
    /// Nothing: here the usage begins.
    UsageStart,
    /// Nothing: here the usage has ended.
    UsageEnd,
}

/// A string or number that may differ, and the bytes that come before it.
#[derive(Debug, Clone, Copy)]
struct Gap {
    kind: Hole,
    literal: Literal,
}

/// Bytes that have to be the same.
#[derive(Debug, Clone, Copy, Default)]
struct Literal {
    /// Where they stand in [`Template::literals`].
    start: usize,
    end: usize,
    /// A short one as a number, and the bits of it that count; no bits for a longer one.
    word: u128,
    mask: u128,
}

/// How many bytes are looked at together.
const WORD: usize = size_of::<u128>();

impl Literal {
    fn new(bytes: &[u8], start: usize) -> Self {
        let mut literal = Self {
            start,
            end: start + bytes.len(),
            ..Self::default()
        };
        if bytes.len() <= WORD {
            let (mut word, mut mask) = ([0; WORD], [0; WORD]);
            word[..bytes.len()].copy_from_slice(bytes);
            mask[..bytes.len()].fill(0xFF);
            literal.word = u128::from_le_bytes(word);
            literal.mask = u128::from_le_bytes(mask);
        }
        literal
    }

    /// Where it ends in `bytes`, if it stands there at `at`.
    #[inline]
    fn after(&self, literals: &[u8], bytes: &[u8], at: usize) -> Option<usize> {
        let end = at + (self.end - self.start);
        let is_there = if self.mask != 0
            && let Some(word) = word_at(bytes, at)
        {
            (word ^ self.word) & self.mask == 0 && end <= bytes.len()
        } else {
            bytes.get(at..end)? == literals.get(self.start..self.end)?
        };
        is_there.then_some(end)
    }
}

/// An event of a stream, with its framing and with holes for the strings that may differ.
#[derive(Debug, Default)]
pub(crate) struct Template {
    bytes: Vec<u8>,
    /// How many of its bytes are framing, and where its data begins.
    framing: usize,
    data_at: usize,
    block: usize,
    /// What may differ, in order.
    gaps: Vec<Gap>,
    /// What comes after the last gap.
    tail: Literal,
    /// The bytes that have to be the same, without what is between them.
    literals: Vec<u8>,
    /// The name of the event, where that is no part of its bytes.
    name: String,
    /// Where each free member's value stands, and whether it was seen to differ.
    free: [Option<(Range<usize>, Hole)>; MAX_FREE],
    varies: [bool; MAX_FREE],
    armed: bool,
    /// Whether it was before the payload that is being read.
    was_armed: bool,
}

/// An event as it came, where all of it is at hand.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Event<'b> {
    /// Its name, where that is no part of the bytes.
    name: &'b str,
    /// The event with its framing.
    bytes: &'b [u8],
    /// Where its data begins, for warnings: the data line, or the payload itself.
    data_at: usize,
    /// How many bytes are data.
    data_length: usize,
}

impl<'b> Event<'b> {
    /// A payload without framing around it.
    pub(crate) const fn bare(bytes: &'b [u8], name: &'b str) -> Self {
        Self {
            name,
            bytes,
            data_at: 0,
            data_length: bytes.len(),
        }
    }

    /// A server-sent event whose data, a slice of `block`, is that of one line.
    pub(crate) fn framed(block: &'b [u8], data: &str) -> Self {
        let value = data.as_ptr().addr() - block.as_ptr().addr();
        let before = &block[..value];
        let name = before
            .strip_suffix(b"data: ")
            .or_else(|| before.strip_suffix(b"data:"));
        Self {
            name: "",
            bytes: block,
            data_at: name.unwrap_or(before).len(),
            data_length: data.len(),
        }
    }
}

/// An event that matches a template: where its parts stand.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Match {
    /// The body of the delta, escapes and all.
    pub(crate) body: (usize, usize),
    /// What the delta says could not be told: half a surrogate pair is in it.
    pub(crate) is_halved: bool,
    /// The end of the event.
    pub(crate) end: usize,
    /// The usage that the event reports; empty for none.
    pub(crate) usage: (usize, usize),
}

impl Template {
    /// Lays the template aside for a payload that goes the general path.
    pub(crate) const fn disarm(&mut self) {
        self.was_armed = self.armed;
        self.armed = false;
    }

    pub(crate) const fn is_armed(&self) -> bool {
        self.armed
    }

    /// Takes the template up again after a payload that was nothing but one delta of `block`, if it was laid
    /// aside for that one: an earlier payload may have changed which block its bytes are about.
    pub(crate) const fn rearm(&mut self, block: usize) {
        self.armed = self.was_armed && self.block == block;
    }

    /// The name of the event, where that is no part of its bytes.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The block of the message that the deltas belong to.
    pub(crate) const fn block(&self) -> usize {
        self.block
    }

    /// Where the data of an event that matches begins.
    pub(crate) const fn data_at(&self) -> usize {
        self.data_at
    }

    /// How many bytes of an event are framing.
    pub(crate) const fn framing(&self) -> usize {
        self.framing
    }

    /// The event that begins at `at`, if it is the template with other strings in its holes. What its delta
    /// says is added to `said`, a part of it perhaps also if the event does not match.
    #[inline]
    pub(crate) fn matches(&self, bytes: &[u8], mut at: usize, said: &mut Vec<u8>) -> Option<Match> {
        let mut found = Match::default();
        for Gap { kind, literal } in &self.gaps {
            at = literal.after(&self.literals, bytes, at)?;
            match kind {
                Hole::Delta => {
                    let string = unescape(bytes, at, said)?;
                    // Nothing at all may mean something else, the next name for reasoning for instance.
                    if string.end == at {
                        return None;
                    }
                    found.body = (at, string.end);
                    found.is_halved = string.is_halved;
                    at = string.end;
                }
                Hole::String => at = free_string_end(bytes, at)?,
                Hole::Number => at = number_end(bytes, at)?,
                Hole::UsageStart => found.usage.0 = at,
                Hole::UsageEnd => found.usage.1 = at,
            }
        }
        found.end = self.tail.after(&self.literals, bytes, at)?;
        Some(found)
    }

    /// Learns from an event that the general path found to be nothing but one delta. `payload` is a slice
    /// of it.
    pub(crate) fn learn(
        &mut self,
        event: &Event<'_>,
        payload: Raw<'_>,
        hot: &Hot,
        free_members: &[FreeMember],
    ) {
        self.armed = false;
        let bytes = event.bytes;
        // A name that is not UTF-8 warns each time.
        if std::str::from_utf8(bytes).is_err() {
            return;
        }
        let text = payload.text();
        let start = text.as_ptr().addr() - bytes.as_ptr().addr();
        let shift = |range: Range<usize>| range.start + start..range.end + start;
        let mut free: [Option<(Range<usize>, Hole)>; MAX_FREE] = Default::default();
        let mut holes = vec![(shift(hot.hole.clone()), Hole::Delta)];
        for (key, value) in payload.entries() {
            let place = free_members
                .iter()
                .take(MAX_FREE)
                .position(|member| key.is(member.name));
            if place.is_some_and(|place| free_members[place].is_usage) {
                let object = shift(range_in(text, value.text()));
                // One that comes twice would be followed at the wrong place.
                if !value.is_object() || holes.iter().any(|(_, kind)| *kind == Hole::UsageStart) {
                    return;
                }
                holes.push((object.start..object.start, Hole::UsageStart));
                let numbers = value
                    .entries()
                    .filter(|(_, number)| number.as_u64().is_some());
                holes.extend(
                    numbers.map(|(_, number)| (shift(range_in(text, number.text())), Hole::Number)),
                );
                holes.push((object.end..object.end, Hole::UsageEnd));
                continue;
            }
            let hole = match value.as_str() {
                Some(string) => Some((range_in(text, string.body()), Hole::String)),
                None => value
                    .as_u64()
                    .map(|_| (range_in(text, value.text()), Hole::Number)),
            };
            if let (Some(place), Some((range, kind))) = (place, hole) {
                // A name that comes twice is not worth following.
                if free[place].is_some() {
                    return;
                }
                free[place] = Some((shift(range), kind));
                self.varies[place] |= free_members[place].varies;
            }
        }
        for ((old, new), varies) in self.free.iter().zip(&free).zip(&mut self.varies) {
            if let (Some((old, _)), Some((new, _))) = (old, new)
                && self.bytes.get(old.clone()) != bytes.get(new.clone())
            {
                *varies = true;
            }
        }
        let varying = free.iter().zip(self.varies).filter(|(_, varies)| *varies);
        holes.extend(varying.filter_map(|(hole, _)| hole.clone()));
        holes.sort_by_key(|(hole, _)| hole.start);
        self.gaps.clear();
        self.literals.clear();
        let mut copied = 0;
        for (hole, kind) in holes {
            let literal = self.literal(&bytes[copied..hole.start]);
            self.gaps.push(Gap { kind, literal });
            copied = hole.end;
        }
        self.tail = self.literal(&bytes[copied..]);
        self.block = hot.block;
        self.free = free;
        self.framing = bytes.len() - event.data_length;
        self.data_at = event.data_at;
        event.name.clone_into(&mut self.name);
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
        self.armed = true;
    }

    fn literal(&mut self, bytes: &[u8]) -> Literal {
        let start = self.literals.len();
        self.literals.extend_from_slice(bytes);
        Literal::new(bytes, start)
    }
}

/// The end of the string body at `at` that has no effect: the offset of its closing quote.
#[inline]
fn free_string_end(bytes: &[u8], at: usize) -> Option<usize> {
    if let Some((_, length)) = short_string(bytes, at) {
        return Some(at + length);
    }
    long_string_end(bytes, at)
}

#[inline(never)]
fn long_string_end(bytes: &[u8], at: usize) -> Option<usize> {
    let string = check_string(bytes, at).ok()?;
    // What is not UTF-8 goes the general path, which replaces it and warns.
    if string.wide {
        std::str::from_utf8(&bytes[at..string.end]).ok()?;
    }
    Some(string.end)
}

/// The end of the JSON integer without sign that begins at `at`.
#[inline]
fn number_end(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes.get(at..)?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    // One that goes on after its digits will not match what follows the hole.
    (digits > 0 && (digits == 1 || rest[0] != b'0')).then_some(at + digits)
}
