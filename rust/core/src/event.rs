//! The event vocabulary that every wire is decoded into, and the log that carries it.

use crate::usage::Usage;

/// Why a turn stopped, in one vocabulary for all providers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StopReason {
    /// The model had said what it wanted to say.
    EndTurn,
    /// The model waits for the results of its tool calls.
    ToolUse,
    /// The token limit of the request.
    MaxTokens,
    /// A stop sequence of the request.
    StopSequence,
    /// The model, or a policy in its name, declined.
    Refusal,
    /// A filter of the provider cut the turn.
    ContentFilter,
    /// A long turn was paused; sending it back goes on with it.
    PauseTurn,
    /// The model's context window is full.
    ContextWindow,
    /// A reason that has no name here; the raw one is kept.
    Other,
    /// The wire gave none.
    Unknown,
}

impl StopReason {
    /// Every reason.
    pub const ALL: [Self; 10] = [
        Self::EndTurn,
        Self::ToolUse,
        Self::MaxTokens,
        Self::StopSequence,
        Self::Refusal,
        Self::ContentFilter,
        Self::PauseTurn,
        Self::ContextWindow,
        Self::Other,
        Self::Unknown,
    ];

    /// The reason's name in `snake_case`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::EndTurn => "end_turn",
            Self::ToolUse => "tool_use",
            Self::MaxTokens => "max_tokens",
            Self::StopSequence => "stop_sequence",
            Self::Refusal => "refusal",
            Self::ContentFilter => "content_filter",
            Self::PauseTurn => "pause_turn",
            Self::ContextWindow => "context_window",
            Self::Other => "other",
            Self::Unknown => "unknown",
        }
    }

    /// The reason of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.as_str() == name)
    }

    /// Whether the turn was cut, so that the last call may be in pieces: its arguments then have to be a
    /// whole JSON object for the call to count as complete.
    #[must_use]
    pub const fn is_cut(self) -> bool {
        matches!(
            self,
            Self::MaxTokens
                | Self::ContextWindow
                | Self::ContentFilter
                | Self::Refusal
                | Self::Other
        )
    }
}

/// What on the wire ended the turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Terminal {
    /// The wire's own closing event.
    MessageStop,
    /// The payload `[DONE]`.
    Done,
    /// The end of input after a finish reason.
    FinishReason,
}

impl Terminal {
    /// Every terminal.
    pub const ALL: [Self; 3] = [Self::MessageStop, Self::Done, Self::FinishReason];

    /// The terminal's name in `snake_case`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::MessageStop => "message_stop",
            Self::Done => "done",
            Self::FinishReason => "finish_reason",
        }
    }

    /// The terminal of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|terminal| terminal.as_str() == name)
    }
}

/// Something odd that did not fail the stream.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Warning {
    /// What kind of oddity.
    pub code: WarningCode,
    /// One sentence for people.
    pub detail: String,
    /// Where the event that it belongs to begins, in bytes from the start of the stream.
    pub offset: u64,
}

/// The kinds of [`Warning`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each is explained by `explain`")]
pub enum WarningCode {
    InvalidUtf8,
    LoneSurrogate,
    EofFlush,
    EofDiscard,
    NotJson,
    ContentAfterStop,
    MissingTerminal,
    ToolStopWithoutCalls,
    SyntheticToolId,
    DroppedFragment,
    UnknownEvent,
    DuplicateToolId,
    DoneMismatch,
}

impl WarningCode {
    /// Every code.
    pub const ALL: [Self; 13] = [
        Self::InvalidUtf8,
        Self::LoneSurrogate,
        Self::EofFlush,
        Self::EofDiscard,
        Self::NotJson,
        Self::ContentAfterStop,
        Self::MissingTerminal,
        Self::ToolStopWithoutCalls,
        Self::SyntheticToolId,
        Self::DroppedFragment,
        Self::UnknownEvent,
        Self::DuplicateToolId,
        Self::DoneMismatch,
    ];

    /// The code in `snake_case`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidUtf8 => "invalid_utf8",
            Self::LoneSurrogate => "lone_surrogate",
            Self::EofFlush => "eof_flush",
            Self::EofDiscard => "eof_discard",
            Self::NotJson => "not_json",
            Self::ContentAfterStop => "content_after_stop",
            Self::MissingTerminal => "missing_terminal",
            Self::ToolStopWithoutCalls => "tool_stop_without_calls",
            Self::SyntheticToolId => "synthetic_tool_id",
            Self::DroppedFragment => "dropped_fragment",
            Self::UnknownEvent => "unknown_event",
            Self::DuplicateToolId => "duplicate_tool_id",
            Self::DoneMismatch => "done_mismatch",
        }
    }

    /// What the code means, in one sentence.
    #[must_use]
    pub const fn explain(self) -> &'static str {
        match self {
            Self::InvalidUtf8 => "a field value is not UTF-8; U+FFFD stands for each invalid part",
            Self::LoneSurrogate => "a surrogate escape without its partner became U+FFFD",
            Self::EofFlush => {
                "the input ended without the blank line of its last event, which was taken"
            }
            Self::EofDiscard => {
                "the input ended without the blank line of its last event, which was dropped"
            }
            Self::NotJson => "a payload that is no JSON was passed over",
            Self::ContentAfterStop => "content after the end of the turn was ignored",
            Self::MissingTerminal => {
                "the input ended after the stop reason but without the wire's closing event"
            }
            Self::ToolStopWithoutCalls => {
                "the wire stopped for tool use, but there is no call for the host to run"
            }
            Self::SyntheticToolId => "a tool call came without an id and was given one",
            Self::DroppedFragment => "a fragment that belongs to no open block was dropped",
            Self::UnknownEvent => "an event or delta of an unknown type was kept as an extension",
            Self::DuplicateToolId => "two tool calls of the turn have the same id",
            Self::DoneMismatch => {
                "a closing form contradicts the deltas before it, which were kept"
            }
        }
    }
}

/// One event, borrowed from the log or the message that holds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'a> {
    /// First, once: the response's id and model, where the wire gave them.
    MessageStart {
        /// The response's id.
        id: Option<&'a str>,
        /// The model.
        model: Option<&'a str>,
    },
    /// Text; never empty.
    TextDelta {
        /// The block.
        index: usize,
        /// The piece.
        text: &'a str,
    },
    /// Reasoning that the provider shows; never empty.
    ThinkingDelta {
        /// The block.
        index: usize,
        /// The piece.
        text: &'a str,
    },
    /// Proof that belongs to a thinking block, a text block or a call.
    SignatureDelta {
        /// The block.
        index: usize,
        /// The piece.
        signature: &'a str,
    },
    /// A whole block of reasoning that only the provider can read.
    RedactedThinking {
        /// The block.
        index: usize,
        /// What the provider wants back.
        data: &'a str,
    },
    /// A tool call opens: its id and whole name are known.
    ToolUseStart {
        /// The block.
        index: usize,
        /// The call's id.
        id: &'a str,
        /// The tool's name.
        name: &'a str,
        /// A JSON object of the call's other members that a replay needs.
        extra: Option<&'a str>,
    },
    /// Argument text, as the model wrote it; never empty.
    InputJsonDelta {
        /// The block.
        index: usize,
        /// The piece.
        partial_json: &'a str,
    },
    /// One citation of a text block, as JSON text.
    Citation {
        /// The block.
        index: usize,
        /// JSON text.
        json: &'a str,
    },
    /// What has no place above, as JSON text; with an index, a block or a delta of it.
    Extension {
        /// The block, if it is one.
        index: Option<usize>,
        /// The type.
        kind: &'a str,
        /// JSON text.
        json: &'a str,
    },
    /// A block is whole.
    ContentBlockStop {
        /// The block.
        index: usize,
    },
    /// The turn's tokens, right before the stop.
    Usage(Usage),
    /// Last, once, only where the wire ended the turn.
    MessageStop {
        /// Why it stopped.
        stop_reason: StopReason,
        /// What the wire said.
        raw_reason: Option<&'a str>,
        /// What ended it.
        terminal: Terminal,
    },
}

/// A piece of the log's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Span {
    start: usize,
    end: usize,
}

#[derive(Debug, Clone, Copy)]
enum Entry {
    MessageStart {
        id: Option<Span>,
        model: Option<Span>,
    },
    TextDelta {
        index: usize,
        text: Span,
    },
    ThinkingDelta {
        index: usize,
        text: Span,
    },
    SignatureDelta {
        index: usize,
        signature: Span,
    },
    RedactedThinking {
        index: usize,
        data: Span,
    },
    ToolUseStart {
        index: usize,
        id: Span,
        name: Span,
        extra: Option<Span>,
    },
    InputJsonDelta {
        index: usize,
        partial_json: Span,
    },
    Citation {
        index: usize,
        json: Span,
    },
    Extension {
        index: Option<usize>,
        kind: Span,
        json: Span,
    },
    ContentBlockStop {
        index: usize,
    },
    Usage(Usage),
    MessageStop {
        stop_reason: StopReason,
        raw_reason: Option<Span>,
        terminal: Terminal,
    },
}

/// Events in order, their texts in one buffer: a decoder that is fed a chunk at a time fills and empties
/// it without an allocation an event.
#[derive(Debug, Default)]
pub struct EventLog {
    text: String,
    entries: Vec<Entry>,
}

impl EventLog {
    /// How many events it holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether it holds none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Forgets the events; keeps the memory.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.text.clear();
    }

    /// Forgets the events from the `length`-th on.
    pub fn truncate(&mut self, length: usize) {
        self.entries.truncate(length);
    }

    /// The events in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Event<'_>> {
        self.from(0)
    }

    /// The events from the `start`-th on.
    pub fn from(&self, start: usize) -> impl ExactSizeIterator<Item = Event<'_>> {
        self.entries[start.min(self.entries.len())..]
            .iter()
            .map(|entry| self.view(*entry))
    }

    /// Adds an event.
    pub fn push(&mut self, event: Event<'_>) {
        let entry = match event {
            Event::MessageStart { id, model } => Entry::MessageStart {
                id: id.map(|t| self.keep(t)),
                model: model.map(|t| self.keep(t)),
            },
            Event::TextDelta { index, text } => Entry::TextDelta {
                index,
                text: self.keep(text),
            },
            Event::ThinkingDelta { index, text } => Entry::ThinkingDelta {
                index,
                text: self.keep(text),
            },
            Event::SignatureDelta { index, signature } => Entry::SignatureDelta {
                index,
                signature: self.keep(signature),
            },
            Event::RedactedThinking { index, data } => Entry::RedactedThinking {
                index,
                data: self.keep(data),
            },
            Event::ToolUseStart {
                index,
                id,
                name,
                extra,
            } => Entry::ToolUseStart {
                index,
                id: self.keep(id),
                name: self.keep(name),
                extra: extra.map(|t| self.keep(t)),
            },
            Event::InputJsonDelta {
                index,
                partial_json,
            } => Entry::InputJsonDelta {
                index,
                partial_json: self.keep(partial_json),
            },
            Event::Citation { index, json } => Entry::Citation {
                index,
                json: self.keep(json),
            },
            Event::Extension { index, kind, json } => Entry::Extension {
                index,
                kind: self.keep(kind),
                json: self.keep(json),
            },
            Event::ContentBlockStop { index } => Entry::ContentBlockStop { index },
            Event::Usage(usage) => Entry::Usage(usage),
            Event::MessageStop {
                stop_reason,
                raw_reason,
                terminal,
            } => Entry::MessageStop {
                stop_reason,
                raw_reason: raw_reason.map(|t| self.keep(t)),
                terminal,
            },
        };
        self.entries.push(entry);
    }

    /// Adds a delta of text, thinking or arguments in pieces: `ends` are the places where they end, none for
    /// no event at all.
    pub(crate) fn push_in_pieces(&mut self, event: Event<'_>, ends: &[usize]) {
        match ends {
            [] => return,
            [_] => return self.push(event),
            _ => {}
        }
        match event {
            Event::TextDelta { index, text } => {
                self.push_entries(text, ends, |text| Entry::TextDelta { index, text });
            }
            Event::ThinkingDelta { index, text } => {
                self.push_entries(text, ends, |text| Entry::ThinkingDelta { index, text });
            }
            Event::InputJsonDelta {
                index,
                partial_json,
            } => self.push_entries(partial_json, ends, |partial_json| Entry::InputJsonDelta {
                index,
                partial_json,
            }),
            whole => self.push(whole),
        }
    }

    fn push_entries(&mut self, text: &str, ends: &[usize], entry: impl Fn(Span) -> Entry) {
        let Span { start: base, .. } = self.keep(text);
        let mut start = base;
        self.entries.extend(ends.iter().map(|piece| {
            let end = base + piece;
            entry(Span {
                start: std::mem::replace(&mut start, end),
                end,
            })
        }));
    }

    fn keep(&mut self, text: &str) -> Span {
        let start = self.text.len();
        self.text.push_str(text);
        Span {
            start,
            end: self.text.len(),
        }
    }

    fn view(&self, entry: Entry) -> Event<'_> {
        let text = |span: Span| &self.text[span.start..span.end];
        match entry {
            Entry::MessageStart { id, model } => Event::MessageStart {
                id: id.map(text),
                model: model.map(text),
            },
            Entry::TextDelta { index, text: span } => Event::TextDelta {
                index,
                text: text(span),
            },
            Entry::ThinkingDelta { index, text: span } => Event::ThinkingDelta {
                index,
                text: text(span),
            },
            Entry::SignatureDelta { index, signature } => Event::SignatureDelta {
                index,
                signature: text(signature),
            },
            Entry::RedactedThinking { index, data } => Event::RedactedThinking {
                index,
                data: text(data),
            },
            Entry::ToolUseStart {
                index,
                id,
                name,
                extra,
            } => Event::ToolUseStart {
                index,
                id: text(id),
                name: text(name),
                extra: extra.map(text),
            },
            Entry::InputJsonDelta {
                index,
                partial_json,
            } => Event::InputJsonDelta {
                index,
                partial_json: text(partial_json),
            },
            Entry::Citation { index, json } => Event::Citation {
                index,
                json: text(json),
            },
            Entry::Extension { index, kind, json } => Event::Extension {
                index,
                kind: text(kind),
                json: text(json),
            },
            Entry::ContentBlockStop { index } => Event::ContentBlockStop { index },
            Entry::Usage(usage) => Event::Usage(usage),
            Entry::MessageStop {
                stop_reason,
                raw_reason,
                terminal,
            } => Event::MessageStop {
                stop_reason,
                raw_reason: raw_reason.map(text),
                terminal,
            },
        }
    }
}
