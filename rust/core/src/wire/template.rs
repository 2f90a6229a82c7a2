//! Neighbouring events of a stream are mostly the same bytes but for one string. The general path tells
//! which string that is; an event that matches around it needs neither framing nor parsing.
//!
//! This is exact, not a guess: the general path decided that a block of these bytes is one delta of one
//! block of the message, whatever the string holds; any other event goes the general path and makes the
//! template anew.

use std::ops::Range;

use crate::json::{Raw, Str, check_string};
use crate::wire::turn::Hot;

/// How many free members a template follows.
const MAX_FREE: usize = 6;

/// An event of a stream, with its framing and with holes for the strings that may differ.
#[derive(Debug, Default)]
pub(crate) struct Template {
    bytes: Vec<u8>,
    /// Where the payload stands in `bytes`.
    payload: Range<usize>,
    block: usize,
    /// The strings that may differ, in order; `true` for the delta.
    holes: Vec<(Range<usize>, bool)>,
    /// Where each free member's string stands, and whether it was seen to differ.
    free: [Option<Range<usize>>; MAX_FREE],
    varies: [bool; MAX_FREE],
    armed: bool,
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
}

impl Template {
    pub(crate) const fn disarm(&mut self) {
        self.armed = false;
    }

    /// Where the data line begins in an event that matches.
    pub(crate) const fn data_line(&self) -> usize {
        self.payload.start.saturating_sub("data: ".len())
    }

    /// The event at the front of `bytes`, if it is the template with other strings in its holes.
    #[inline]
    pub(crate) fn matches<'b>(&self, bytes: &'b [u8]) -> Option<Match<'b>> {
        if !self.armed {
            return None;
        }
        let (mut at, mut copied) = (0, 0);
        let mut delta = None;
        for (hole, is_delta) in &self.holes {
            let literal = &self.bytes[copied..hole.start];
            if !bytes.get(at..)?.starts_with(literal) {
                return None;
            }
            at += literal.len();
            let (end, escaped) = check_string(bytes, at).ok()?;
            // What is not UTF-8 goes the general path, which replaces it and warns.
            let text = std::str::from_utf8(&bytes[at..end]).ok()?;
            if *is_delta {
                delta = Some(Str::with_flag(text, escaped));
            }
            at = end;
            copied = hole.end;
        }
        let tail = &self.bytes[copied..];
        if !bytes.get(at..)?.starts_with(tail) {
            return None;
        }
        let length = at + tail.len();
        let data_length = length - (self.bytes.len() - self.payload.len());
        Some(Match {
            block: self.block,
            piece: delta?,
            length,
            data_length,
        })
    }

    /// Learns from an event that the general path found to be nothing but one delta. `bytes` is the event
    /// with its framing, `payload` a slice of it.
    pub(crate) fn learn(
        &mut self,
        bytes: &[u8],
        payload: Raw<'_>,
        hot: &Hot,
        free_members: &[(&str, bool)],
    ) {
        self.armed = false;
        let text = payload.text();
        let start = text.as_ptr().addr() - bytes.as_ptr().addr();
        let shift = |range: Range<usize>| range.start + start..range.end + start;
        let mut free: [Option<Range<usize>>; MAX_FREE] = Default::default();
        for (key, value) in payload.entries() {
            let place = free_members
                .iter()
                .take(MAX_FREE)
                .position(|(name, _)| key.is(name));
            if let (Some(place), Some(string)) = (place, value.as_str()) {
                // A name that comes twice is not worth following.
                if free[place].is_some() {
                    return;
                }
                free[place] = Some(shift(range_in(text, string.body())));
                self.varies[place] |= free_members[place].1;
            }
        }
        for ((old, new), varies) in self.free.iter().zip(&free).zip(&mut self.varies) {
            if let (Some(old), Some(new)) = (old, new)
                && self.bytes.get(old.clone()) != bytes.get(new.clone())
            {
                *varies = true;
            }
        }
        self.holes.clear();
        for (range, varies) in free.iter().zip(self.varies) {
            if let (Some(range), true) = (range, varies) {
                self.holes.push((range.clone(), false));
            }
        }
        self.holes.push((shift(hot.hole.clone()), true));
        self.holes.sort_by_key(|(hole, _)| hole.start);
        self.block = hot.block;
        self.free = free;
        self.payload = start..start + text.len();
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
        self.armed = true;
    }
}

/// Where `part`, a slice of `whole`, stands in it.
pub(crate) fn range_in(whole: &str, part: &str) -> Range<usize> {
    let start = part.as_ptr().addr() - whole.as_ptr().addr();
    start..start + part.len()
}
