//! What all wires share while a turn is said: settings, notes, ids, reasons.

use super::Settings;
use super::note::{NoteCode, Notes};
use crate::event::StopReason;
use crate::usage::Usage;
use crate::wire::Dialect;
use crate::wire::turn::fnv1a;

/// The turn so far, for the wire that says it.
#[derive(Debug)]
pub(crate) struct Turn {
    pub(crate) dialect: Dialect,
    pub(crate) settings: Settings,
    pub(crate) notes: Notes,
    /// Whether the events are of the target's own wire.
    pub(crate) is_own: bool,
    /// Calls that were said and are the host's to run.
    pub(crate) calls: usize,
    /// The id that was said.
    id: String,
}

impl Turn {
    pub(crate) fn new(dialect: Dialect, settings: Settings) -> Self {
        let is_own = settings.source.is_none_or(|source| source == dialect);
        Self {
            dialect,
            settings,
            notes: Notes::default(),
            is_own,
            calls: 0,
            id: String::new(),
        }
    }

    pub(crate) fn note(&mut self, code: NoteCode, index: Option<usize>, detail: impl Into<String>) {
        self.notes.add(code, index, detail);
    }

    /// The id of the response: its own, else the host's, else one that is made up, the same on every run.
    pub(crate) fn response_id(
        &mut self,
        id: Option<&str>,
        model: Option<&str>,
        prefix: &str,
    ) -> String {
        self.id = if let Some(id) = id.or(self.settings.id.as_deref()) {
            id.to_owned()
        } else {
            let seed = fnv1a(model.unwrap_or_default().as_bytes()) ^ self.settings.created;
            let id = format!("{prefix}{seed:016x}");
            let detail = format!("the response has no id: {id} was made up");
            self.note(NoteCode::IdMapped, None, detail);
            id
        };
        self.id.clone()
    }

    /// The id of a call: its own, else one that is made up as decoders do it.
    pub(crate) fn call_id(&mut self, id: &str, index: usize, name: &str) -> String {
        if !id.is_empty() {
            return id.to_owned();
        }
        let made_up = if self.id.is_empty() {
            format!("call_{:016x}_{index}", fnv1a(name.as_bytes()))
        } else {
            format!("call_{}_{index}", self.id)
        };
        let detail = format!("the call has no id: {made_up} was made up");
        self.note(NoteCode::IdMapped, Some(index), detail);
        made_up
    }

    /// The model: the turn's own, else the host's, else none, which the caller writes as the wire wants it.
    pub(crate) fn model(&mut self, model: Option<&str>) -> String {
        if let Some(model) = model.or(self.settings.model.as_deref()) {
            return model.to_owned();
        }
        self.note(
            NoteCode::IdMapped,
            None,
            "the response names no model: the empty name was said",
        );
        String::new()
    }

    /// Notes tokens written to a cache, on a wire that has no place for them but the input.
    pub(crate) fn count_writes_as_input(&mut self, usage: Option<Usage>) {
        if usage.is_some_and(|usage| usage.cache_write_tokens > 0) {
            let detail = "tokens written to a cache count as input";
            self.note(NoteCode::UsageReduced, None, detail);
        }
    }

    /// Notes a stop reason that was said as another one.
    pub(crate) fn note_reason(&mut self, reason: StopReason, word: &str) {
        let detail = format!("the stop reason {} was said as {word}", reason.as_str());
        self.note(NoteCode::ReasonMapped, None, detail);
    }

    /// The wire's word for a stop: the turn's own where the wire reads it as the same reason, else the
    /// plain one. None where the wire says nothing.
    ///
    /// `reads` is what the wire takes a word for, `plain` the table back; what it gives for reasons that
    /// the wire has no word of its own for is the nearest word, which is noted.
    pub(crate) fn stop_word<'a>(
        &mut self,
        reason: StopReason,
        raw: Option<&'a str>,
        reads: fn(&str) -> StopReason,
        plain: fn(StopReason) -> &'static str,
    ) -> Option<&'a str> {
        let has_calls = self.calls > 0;
        // As decoders do: a plain end with calls waits for them, and without calls nothing does.
        let settled = |reason| match reason {
            StopReason::EndTurn if has_calls => StopReason::ToolUse,
            StopReason::ToolUse if !has_calls => StopReason::EndTurn,
            reason => reason,
        };
        if let Some(raw) = raw.filter(|raw| !raw.is_empty()) {
            let read = reads(raw);
            let same = read == reason || (self.is_own && settled(read) == reason);
            if same && (self.is_own || read != StopReason::ToolUse || has_calls) {
                return Some(raw);
            }
        }
        if reason == StopReason::Unknown {
            return None;
        }
        let word = plain(settled(reason));
        if settled(reads(word)) != reason {
            self.note_reason(reason, word);
        }
        Some(word)
    }
}
