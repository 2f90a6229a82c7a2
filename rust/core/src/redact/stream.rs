//! Redaction of a text that comes in pieces.
//!
//! What is decided when depends on the text alone, not on how it is cut: the text is taken up to certain
//! places, each a step behind the last, and at each of them everything is decided that begins a window
//! before it. A match that is not longer than the window is found as it is in the whole text. An attempt
//! that has been open for longer than that is covered from where it began to where it ends.

use std::fmt;
use std::sync::Arc;

use super::search::{Progress, RuleSet, Scan, Secret, View, order};

/// The smallest window.
pub const LEAST_WINDOW: usize = 64;

/// Replaces the secrets of a text that comes in pieces.
pub struct StreamRedactor {
    rules: Arc<RuleSet>,
    window: usize,
    step: usize,
    /// What is not given out yet, and some before it, for what looks behind.
    held: Vec<u8>,
    /// Up to where all is decided.
    decided: usize,
    /// Up to where the text is given out or replaced.
    out: usize,
    scan: Scan,
    progress: Vec<Progress>,
    /// Secrets that begin after what is decided.
    pending: Vec<Secret>,
}

impl fmt::Debug for StreamRedactor {
    // Not what it holds: that is what must not be seen.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamRedactor")
            .field("rules", &self.rules)
            .field("window", &self.window)
            .finish_non_exhaustive()
    }
}

impl StreamRedactor {
    /// A redactor that finds matches of up to `window` bytes, at least [`LEAST_WINDOW`].
    #[must_use]
    pub fn new(rules: Arc<RuleSet>, window: usize) -> Self {
        let window = window.max(LEAST_WINDOW);
        Self {
            progress: rules.start(),
            rules,
            window,
            step: window / 4,
            held: Vec::new(),
            decided: 0,
            out: 0,
            scan: Scan::START,
            pending: Vec::new(),
        }
    }

    /// Takes the next piece of the text; appends to `out` what has been decided.
    pub fn feed(&mut self, mut piece: &[u8], out: &mut Vec<u8>) {
        loop {
            let wanted = self.decided + self.window + self.step - self.held.len();
            let (now, rest) = piece.split_at(wanted.min(piece.len()));
            self.held.extend_from_slice(now);
            if now.len() < wanted {
                return;
            }
            piece = rest;
            self.decide(out);
        }
    }

    /// Ends the text; appends the rest to `out`.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        self.rules
            .scan(&self.held, &mut self.scan, &mut self.progress);
        let end = self.held.len();
        self.advance(end, true, out);
        // Nothing of it stays.
        *self = Self::new(Arc::clone(&self.rules), self.window);
    }

    /// Decides what begins a window before the end of what has come.
    fn decide(&mut self, out: &mut Vec<u8>) {
        self.rules
            .scan(&self.held, &mut self.scan, &mut self.progress);
        let commit = self.held.len() - self.window;
        // Back to where a character begins, if one does within its length.
        let begins = |at: &usize| self.held[*at] & 0xC0 != 0x80;
        let commit = (commit - 3..=commit).rev().find(begins).unwrap_or(commit);
        self.advance(commit, false, out);
        self.drop_behind();
    }

    fn advance(&mut self, commit: usize, end: bool, out: &mut Vec<u8>) {
        let view = View {
            hay: &self.held,
            commit,
            window: Some(self.window),
            end,
        };
        self.rules
            .decide(view, &mut self.progress, &mut self.pending);
        self.pending.sort_unstable_by_key(order);
        let now = if end {
            self.pending.len()
        } else {
            self.pending
                .partition_point(|secret| secret.range.start < commit)
        };
        for secret in self.pending.drain(..now) {
            if secret.range.start >= self.out {
                out.extend_from_slice(&self.held[self.out..secret.range.start]);
                out.extend_from_slice(&self.rules.rules[secret.rule].placeholder);
            }
            self.out = self.out.max(secret.range.end);
        }
        if self.progress.iter().any(Progress::covers) {
            self.out = self.out.max(commit);
        }
        if self.out < commit {
            out.extend_from_slice(&self.held[self.out..commit]);
            self.out = commit;
        }
        self.decided = commit;
    }

    /// Drops what nothing looks at any more, now and then, so that each byte is moved once.
    fn drop_behind(&mut self) {
        let shift = self.decided.saturating_sub(self.window);
        if shift < 4 * self.window {
            return;
        }
        self.held.drain(..shift);
        self.decided -= shift;
        self.out -= shift;
        self.scan.at -= shift;
        for progress in &mut self.progress {
            progress.shift(shift);
        }
        for secret in &mut self.pending {
            secret.range.start -= shift;
            secret.range.end -= shift;
        }
    }
}
