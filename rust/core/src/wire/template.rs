//! Neighbouring payloads of a stream are mostly the same bytes but for one string. The general path
//! tells which string that is; a payload that matches around it needs no parsing.
//!
//! This is exact, not a guess: the general path decided that a payload of these bytes is one delta of one
//! block, whatever the string holds, and any other payload goes the general path and makes the template
//! anew.

use std::ops::Range;

use crate::json::{Raw, Str, check_string};
use crate::wire::turn::Hot;

/// How many free members a template follows.
const MAX_FREE: usize = 6;

#[derive(Debug, Default)]
pub(crate) struct Template {
    payload: Vec<u8>,
    block: usize,
    /// The strings that may differ, in order; `true` for the delta.
    holes: Vec<(Range<usize>, bool)>,
    /// Where each free member's string stands, and whether it was seen to differ.
    free: [Option<Range<usize>>; MAX_FREE],
    varies: [bool; MAX_FREE],
    armed: bool,
}

impl Template {
    pub(crate) const fn disarm(&mut self) {
        self.armed = false;
    }

    /// The block and the delta, if the payload is the template with other strings in its holes.
    pub(crate) fn matches<'p>(&self, payload: &'p str) -> Option<(usize, Str<'p>)> {
        if !self.armed {
            return None;
        }
        let bytes = payload.as_bytes();
        let (mut at, mut copied) = (0, 0);
        let mut delta = None;
        for (hole, is_delta) in &self.holes {
            let literal = &self.payload[copied..hole.start];
            if !bytes.get(at..)?.starts_with(literal) {
                return None;
            }
            at += literal.len();
            let (end, escaped) = check_string(bytes, at).ok()?;
            if *is_delta {
                delta = Some(Str::with_flag(&payload[at..end], escaped));
            }
            at = end;
            copied = hole.end;
        }
        (bytes.get(at..)? == &self.payload[copied..]).then_some((self.block, delta?))
    }

    /// Learns from a payload that the general path found to be nothing but one delta.
    pub(crate) fn learn(&mut self, payload: Raw<'_>, hot: Hot, free_members: &[&str]) {
        let text = payload.text();
        let mut free: [Option<Range<usize>>; MAX_FREE] = Default::default();
        for (key, value) in payload.entries() {
            let place = free_members
                .iter()
                .take(MAX_FREE)
                .position(|name| key.is(name));
            if let (Some(place), Some(string)) = (place, value.as_str()) {
                // A name that comes twice is not worth following.
                if free[place].is_some() {
                    self.armed = false;
                    return;
                }
                free[place] = Some(range_in(text, string.body()));
            }
        }
        if self.holes.is_empty() {
            self.varies = [false; MAX_FREE];
        }
        for ((old, new), varies) in self.free.iter().zip(&free).zip(&mut self.varies) {
            if let (Some(old), Some(new)) = (old, new)
                && self.payload.get(old.clone()) != text.as_bytes().get(new.clone())
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
        self.holes.push((hot.hole, true));
        self.holes.sort_by_key(|(hole, _)| hole.start);
        self.block = hot.block;
        self.free = free;
        self.payload.clear();
        self.payload.extend_from_slice(text.as_bytes());
        self.armed = true;
    }
}

/// Where `part`, a slice of `whole`, stands in it.
pub(crate) fn range_in(whole: &str, part: &str) -> Range<usize> {
    let start = part.as_ptr().addr() - whole.as_ptr().addr();
    start..start + part.len()
}
