//! Neighbouring events of a stream are mostly the same bytes but for one string. The general path tells
//! which string that is; an event that matches around it needs neither framing nor parsing.
//!
//! This is exact, not a guess: the general path decided that a block of these bytes is one delta of one
//! block of the message, whatever the string holds; any other event goes the general path and makes the
//! template anew.

use std::ops::Range;

use crate::json::{Raw, Str, check_string, range_in};
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

/// An event of a stream, with its framing and with holes for the strings that may differ.
#[derive(Debug, Default)]
pub(crate) struct Template {
    bytes: Vec<u8>,
    /// How many of its bytes are framing, and where its data begins.
    framing: usize,
    data_at: usize,
    block: usize,
    /// What may differ, in order, each with the bytes that come before it.
    holes: Vec<(Box<[u8]>, Hole)>,
    /// What comes after the last hole.
    tail: Box<[u8]>,
    /// The name of the event, where that is no part of its bytes.
    name: String,
    /// Where each free member's value stands, and whether it was seen to differ.
    free: [Option<(Range<usize>, Hole)>; MAX_FREE],
    varies: [bool; MAX_FREE],
    armed: bool,
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

/// An event that matches a template.
#[derive(Debug)]
pub(crate) struct Match<'b> {
    /// The block of the message.
    pub(crate) block: usize,
    /// The delta.
    pub(crate) piece: Str<'b>,
    /// How many bytes the event takes, framing and all.
    pub(crate) length: usize,
    /// How many of these are data.
    pub(crate) data_length: usize,
    /// The usage that the event reports.
    pub(crate) usage: Option<&'b [u8]>,
}

impl Template {
    pub(crate) const fn disarm(&mut self) {
        self.armed = false;
    }

    /// Takes the template up again after a payload that was nothing but one delta of `block`.
    pub(crate) fn rearm(&mut self, block: usize) {
        self.armed = self.block == block && !self.bytes.is_empty();
    }

    /// The payload of an event of that name, if it is the template's as a whole.
    pub(crate) fn matches_payload<'b>(&self, bytes: &'b [u8], name: &str) -> Option<Match<'b>> {
        if !self.armed || self.name != name {
            return None;
        }
        self.matches(bytes)
            .filter(|found| found.length == bytes.len())
    }

    /// Where the data of an event that matches begins.
    pub(crate) const fn data_at(&self) -> usize {
        self.data_at
    }

    /// The event at the front of `bytes`, if it is the template with other strings in its holes.
    #[inline]
    pub(crate) fn matches<'b>(&self, bytes: &'b [u8]) -> Option<Match<'b>> {
        if !self.armed {
            return None;
        }
        let mut rest = bytes;
        let mut delta = None;
        let mut usage = 0..0;
        for (literal, kind) in &self.holes {
            rest = rest.strip_prefix(&**literal)?;
            let here = bytes.len() - rest.len();
            match kind {
                Hole::Number => rest = &rest[number_length(rest)?..],
                Hole::UsageStart => usage.start = here,
                Hole::UsageEnd => usage.end = here,
                Hole::String | Hole::Delta => {
                    let scanned = check_string(rest, 0).ok()?;
                    let (hole, after) = rest.split_at(scanned.end);
                    rest = after;
                    // What is not UTF-8 goes the general path, which replaces it and warns; and nothing at
                    // all may mean something else, the next name for reasoning for instance.
                    if *kind == Hole::Delta {
                        let text = std::str::from_utf8(hole)
                            .ok()
                            .filter(|text| !text.is_empty())?;
                        delta = Some(Str::with_flag(text, scanned.escaped));
                    } else if scanned.wide {
                        std::str::from_utf8(hole).ok()?;
                    }
                }
            }
        }
        rest = rest.strip_prefix(&*self.tail)?;
        let length = bytes.len() - rest.len();
        let data_length = length - self.framing;
        Some(Match {
            block: self.block,
            piece: delta?,
            length,
            data_length,
            usage: (!usage.is_empty()).then(|| &bytes[usage]),
        })
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
        self.holes.clear();
        let mut copied = 0;
        for (hole, kind) in holes {
            self.holes.push((bytes[copied..hole.start].into(), kind));
            copied = hole.end;
        }
        self.tail = bytes[copied..].into();
        self.block = hot.block;
        self.free = free;
        self.framing = bytes.len() - event.data_length;
        self.data_at = event.data_at;
        event.name.clone_into(&mut self.name);
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
        self.armed = true;
    }
}

/// How many digits a JSON integer at the front of `bytes` has.
fn number_length(bytes: &[u8]) -> Option<usize> {
    let digits = bytes
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    // One that goes on after its digits will not match what follows the hole.
    (digits > 0 && (digits == 1 || bytes[0] != b'0')).then_some(digits)
}
