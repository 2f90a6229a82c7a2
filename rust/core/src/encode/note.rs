//! What an encoder could not say as it was.

use std::collections::HashSet;

/// One thing that the wire cannot say, so that it was left out, said otherwise or made up.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Note {
    /// What kind of change.
    pub code: NoteCode,
    /// The block that it concerns; none where it concerns the turn.
    pub index: Option<usize>,
    /// One sentence for people. It quotes kinds, ids and reasons, never content.
    pub detail: String,
}

/// The kinds of [`Note`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each is explained by `explain`")]
pub enum NoteCode {
    ArgumentsReplaced,
    BlocksMerged,
    ContentUnsupported,
    IdMapped,
    ReasonMapped,
    ReasoningDropped,
    SignatureDropped,
    UsageReduced,
}

impl NoteCode {
    /// Every code.
    pub const ALL: [Self; 8] = [
        Self::ArgumentsReplaced,
        Self::BlocksMerged,
        Self::ContentUnsupported,
        Self::IdMapped,
        Self::ReasonMapped,
        Self::ReasoningDropped,
        Self::SignatureDropped,
        Self::UsageReduced,
    ];

    /// The code in `snake_case`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ArgumentsReplaced => "arguments_replaced",
            Self::BlocksMerged => "blocks_merged",
            Self::ContentUnsupported => "content_unsupported",
            Self::IdMapped => "id_mapped",
            Self::ReasonMapped => "reason_mapped",
            Self::ReasoningDropped => "reasoning_dropped",
            Self::SignatureDropped => "signature_dropped",
            Self::UsageReduced => "usage_reduced",
        }
    }

    /// What the code means, in one sentence.
    #[must_use]
    pub const fn explain(self) -> &'static str {
        match self {
            Self::ArgumentsReplaced => "arguments that are no JSON stand as a string",
            Self::BlocksMerged => {
                "the wire has no border between two blocks of this kind: they read as one"
            }
            Self::ContentUnsupported => "the wire cannot say this: it was left out",
            Self::IdMapped => "an id or a model that the wire demands was made up",
            Self::ReasonMapped => "the wire has no word for the stop reason: the nearest was said",
            Self::ReasoningDropped => "reasoning that only its own wire can carry was left out",
            Self::SignatureDropped => "a signature that only its own wire can carry was left out",
            Self::UsageReduced => {
                "token counters that the wire does not have were left out or made up"
            }
        }
    }
}

/// The notes of a turn, each once.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    list: Vec<Note>,
    known: HashSet<Note>,
}

impl Notes {
    pub(crate) fn add(&mut self, code: NoteCode, index: Option<usize>, detail: impl Into<String>) {
        let note = Note {
            code,
            index,
            detail: detail.into(),
        };
        if self.known.insert(note.clone()) {
            self.list.push(note);
        }
    }

    pub(crate) fn as_slice(&self) -> &[Note] {
        &self.list
    }

    pub(crate) fn into_vec(self) -> Vec<Note> {
        self.list
    }
}
