//! A regex walked by hand, a byte at a time: all attempts at once, each remembering where it began.
//!
//! The engines of `regex` say where a match is; they do not say that one may still come. A stream must know
//! just that: from where on an attempt is open that the text so far neither completes nor refutes. The walk
//! is Pike's: threads in the order of preference, one for each state, so that it is linear.

use std::ops::Range;

use regex_automata::nfa::thompson::{NFA, State};
use regex_automata::util::primitives::StateID;

#[derive(Debug, Clone, Copy)]
struct Thread {
    state: StateID,
    start: usize,
}

/// Where attempts may begin: at most `before` bytes ahead of each place, in order.
#[derive(Debug, Clone, Copy)]
pub(super) struct Starts<'a> {
    pub(super) places: &'a [usize],
    pub(super) before: usize,
}

impl Starts<'_> {
    /// No further attempts.
    pub(super) const NONE: Self = Self {
        places: &[],
        before: 0,
    };

    /// The first place that an attempt from there on, or later, could begin for.
    fn skip(&self, at: usize) -> usize {
        self.places.partition_point(|place| *place < at)
    }

    /// Where the next attempt may begin, from there on.
    fn next(&self, index: &mut usize, at: usize) -> Option<usize> {
        while self.places.get(*index).is_some_and(|place| *place < at) {
            *index += 1;
        }
        let place = self.places.get(*index)?;
        Some(place.saturating_sub(self.before).max(at))
    }
}

/// The walk, up to one place of the text.
pub(super) struct Machine {
    threads: Vec<Thread>,
    next: Vec<Thread>,
    stack: Vec<StateID>,
    /// In which round each state was entered last.
    entered: Vec<u64>,
    round: u64,
    at: usize,
    /// The match that stands unless a preferred attempt makes another.
    best: Option<Range<usize>>,
}

impl Machine {
    /// A walk from there on.
    pub(super) fn new(nfa: &NFA, at: usize) -> Self {
        Self {
            threads: Vec::new(),
            next: Vec::new(),
            stack: Vec::new(),
            entered: vec![0; nfa.states().len()],
            round: 0,
            at,
            best: None,
        }
    }

    /// A walk of the one attempt that begins there.
    pub(super) fn anchored(nfa: &NFA, hay: &[u8], at: usize) -> Self {
        let mut machine = Self::new(nfa, at);
        machine.begin(nfa, hay);
        machine
    }

    /// Where the walk is.
    pub(super) const fn at(&self) -> usize {
        self.at
    }

    /// Where the oldest attempt began that is open.
    pub(super) fn oldest(&self) -> Option<usize> {
        self.threads.first().map(|thread| thread.start)
    }

    /// The match so far: the last word where nothing is open.
    pub(super) fn best(&self) -> Option<Range<usize>> {
        self.best.clone()
    }

    /// The text moved: what stood at `shift` stands at 0 now.
    pub(super) fn shift(&mut self, shift: usize) {
        for thread in &mut self.threads {
            thread.start = thread.start.saturating_sub(shift);
        }
        if let Some(best) = &mut self.best {
            *best = best.start.saturating_sub(shift)..best.end.saturating_sub(shift);
        }
        self.at = self.at.saturating_sub(shift);
    }

    /// Walks up to `limit`, or until a match is certain. The byte at `limit` must be there, unless the text
    /// ends with it: what looks ahead looks at it.
    pub(super) fn run(&mut self, nfa: &NFA, hay: &[u8], limit: usize, starts: Starts<'_>) {
        let mut index = starts.skip(self.at);
        loop {
            if self.threads.is_empty() {
                if self.best.is_some() {
                    return;
                }
                let Some(next) = starts
                    .next(&mut index, self.at)
                    .filter(|next| *next <= limit)
                else {
                    self.at = self.at.max(limit);
                    return;
                };
                self.at = next;
                self.begin(nfa, hay);
            } else if self.best.is_none()
                && starts.next(&mut index, self.at) == Some(self.at)
                && self.threads.last().is_none_or(|last| last.start < self.at)
            {
                self.begin(nfa, hay);
            }
            if self.at >= limit {
                return;
            }
            self.step(nfa, hay);
        }
    }

    /// Walks on as long as an attempt is open that began before `floor`; tells whether one is still.
    pub(super) fn follow(
        &mut self,
        nfa: &NFA,
        hay: &[u8],
        limit: usize,
        starts: Starts<'_>,
        floor: usize,
    ) -> bool {
        let mut index = starts.skip(self.at);
        loop {
            if self.oldest().is_none_or(|oldest| oldest >= floor) {
                return false;
            }
            if self.best.is_none()
                && starts.next(&mut index, self.at) == Some(self.at)
                && self.threads.last().is_some_and(|last| last.start < self.at)
            {
                self.begin(nfa, hay);
            }
            if self.at >= limit {
                return true;
            }
            self.step(nfa, hay);
        }
    }

    /// Takes what the end of the text completes, once the walk has come there.
    pub(super) fn end(&mut self, nfa: &NFA) {
        let accepting = |thread: &Thread| matches!(nfa.state(thread.state), State::Match { .. });
        if let Some(thread) = self.threads.iter().find(|thread| accepting(thread)) {
            self.best = Some(thread.start..self.at);
        }
    }

    /// Opens an attempt here, behind all others.
    fn begin(&mut self, nfa: &NFA, hay: &[u8]) {
        self.round += 1;
        for thread in &self.threads {
            self.entered[thread.state.as_usize()] = self.round;
        }
        let mut threads = std::mem::take(&mut self.threads);
        self.enter(
            nfa,
            hay,
            nfa.start_anchored(),
            self.at,
            self.at,
            &mut threads,
        );
        self.threads = threads;
    }

    /// Takes one byte.
    fn step(&mut self, nfa: &NFA, hay: &[u8]) {
        let byte = hay[self.at];
        self.round += 1;
        let threads = std::mem::take(&mut self.threads);
        let mut next = std::mem::take(&mut self.next);
        next.clear();
        for thread in &threads {
            let target = match nfa.state(thread.state) {
                State::ByteRange { trans } => trans.matches_byte(byte).then_some(trans.next),
                State::Sparse(sparse) => sparse.matches_byte(byte),
                State::Dense(dense) => dense.matches_byte(byte),
                State::Match { .. } => {
                    self.best = Some(thread.start..self.at);
                    // What is preferred less is out of the race.
                    break;
                }
                _ => None,
            };
            if let Some(target) = target {
                self.enter(nfa, hay, target, thread.start, self.at + 1, &mut next);
            }
        }
        self.threads = next;
        self.next = threads;
        self.at += 1;
    }

    /// Enters a state and all that it leads to without a byte, the preferred first.
    fn enter(
        &mut self,
        nfa: &NFA,
        hay: &[u8],
        state: StateID,
        start: usize,
        at: usize,
        threads: &mut Vec<Thread>,
    ) {
        self.stack.push(state);
        while let Some(state) = self.stack.pop() {
            let entered = &mut self.entered[state.as_usize()];
            if *entered == self.round {
                continue;
            }
            *entered = self.round;
            match nfa.state(state) {
                State::ByteRange { .. }
                | State::Sparse(_)
                | State::Dense(_)
                | State::Match { .. } => threads.push(Thread { state, start }),
                State::Look { look, next } => {
                    if nfa.look_matcher().matches(*look, hay, at) {
                        self.stack.push(*next);
                    }
                }
                State::Union { alternates } => {
                    self.stack.extend(alternates.iter().rev().copied());
                }
                State::BinaryUnion { alt1, alt2 } => {
                    self.stack.push(*alt2);
                    self.stack.push(*alt1);
                }
                State::Capture { next, .. } => self.stack.push(*next),
                State::Fail => {}
            }
        }
    }
}
