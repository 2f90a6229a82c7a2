//! Columns of events.

use std::sync::{Arc, LazyLock};

use arrow_array::{ArrayRef, Int8Array, RecordBatch, UInt64Array};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use turntape_core::event::{Event, EventLog, StopReason, Terminal};

use super::named::{Names as Values, named, named_type, names};
use super::parts::{MOST_BYTES, Names, text_fields, write_counts};
use super::sparse::{Numbers, RareNames, RareTexts, Texts};

/// With so many rows a batch is full: it takes none of another log.
const FULL_ROWS: usize = 128 * 1024;

const TEXTS: Names<3> = [("text", true), ("id", true), ("name", true)];

// The types of events, as places in their list.
const MESSAGE_START: i8 = 0;
const TEXT_DELTA: i8 = 1;
const THINKING_DELTA: i8 = 2;
const SIGNATURE_DELTA: i8 = 3;
const REDACTED_THINKING: i8 = 4;
const TOOL_USE_START: i8 = 5;
const INPUT_JSON_DELTA: i8 = 6;
const CITATION: i8 = 7;
const EXTENSION: i8 = 8;
const CONTENT_BLOCK_STOP: i8 = 9;
const USAGE: i8 = 10;
const MESSAGE_STOP: i8 = 11;

static TYPES: Values = Values::new(|| {
    names(&[
        "message_start",
        "text_delta",
        "thinking_delta",
        "signature_delta",
        "redacted_thinking",
        "tool_use_start",
        "input_json_delta",
        "citation",
        "extension",
        "content_block_stop",
        "usage",
        "message_stop",
    ])
});
pub(super) static STOP_REASONS: Values =
    Values::new(|| names(&StopReason::ALL.map(StopReason::as_str)));
pub(super) static TERMINALS: Values = Values::new(|| names(&Terminal::ALL.map(Terminal::as_str)));

/// The schema of every batch.
pub(super) fn schema() -> &'static SchemaRef {
    static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(|| {
        let mut fields = vec![
            Field::new("body", DataType::UInt64, false),
            Field::new("event", DataType::UInt64, false),
            Field::new("type", named_type(), false),
            Field::new("index", DataType::UInt64, true),
        ];
        fields.extend(text_fields(&TEXTS));
        fields.push(Field::new("stop_reason", named_type(), true));
        fields.push(Field::new("terminal", named_type(), true));
        Arc::new(Schema::new(fields))
    });
    &SCHEMA
}

/// Events on their way into batches.
pub(super) struct EventColumns {
    batches: Vec<RecordBatch>,
    held: Held,
}

impl EventColumns {
    pub(super) fn new() -> Self {
        Self {
            batches: Vec::new(),
            held: Held::new(),
        }
    }

    /// Takes the events of a log, of which the first is the `first`-th of its body.
    pub(super) fn push(
        &mut self,
        body: usize,
        first: usize,
        log: &EventLog,
    ) -> Result<(), ArrowError> {
        if self.held.rows() >= FULL_ROWS || self.held.text.bytes() >= MOST_BYTES {
            let full = std::mem::replace(&mut self.held, Held::new());
            self.batches.push(full.finish()?);
        }
        for event in log.iter() {
            self.held.push(event);
        }
        self.held.body.resize(self.held.rows(), body as u64);
        let numbers = first as u64..(first + log.len()) as u64;
        self.held.event.extend(numbers);
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Vec<RecordBatch>, ArrowError> {
        if self.held.rows() > 0 {
            self.batches.push(self.held.finish()?);
        }
        Ok(self.batches)
    }
}

struct Held {
    body: Vec<u64>,
    event: Vec<u64>,
    kind: Vec<i8>,
    index: Numbers,
    text: Texts,
    id: RareTexts,
    name: RareTexts,
    stop_reason: RareNames,
    terminal: RareNames,
    /// Where the counters of a usage are written.
    scratch: String,
}

impl Held {
    fn new() -> Self {
        Self {
            body: Vec::new(),
            event: Vec::new(),
            kind: Vec::new(),
            index: Numbers::new(),
            text: Texts::new(),
            id: RareTexts::new(),
            name: RareTexts::new(),
            stop_reason: RareNames::new(&STOP_REASONS),
            terminal: RareNames::new(&TERMINALS),
            scratch: String::new(),
        }
    }

    fn rows(&self) -> usize {
        self.kind.len()
    }

    fn push(&mut self, event: Event<'_>) {
        match event {
            Event::TextDelta { index, text } => self.piece(TEXT_DELTA, index, text),
            Event::ThinkingDelta { index, text } => self.piece(THINKING_DELTA, index, text),
            Event::InputJsonDelta {
                index,
                partial_json,
            } => self.piece(INPUT_JSON_DELTA, index, partial_json),
            Event::SignatureDelta { index, signature } => {
                self.piece(SIGNATURE_DELTA, index, signature);
            }
            Event::RedactedThinking { index, data } => self.piece(REDACTED_THINKING, index, data),
            Event::Citation { index, json } => self.piece(CITATION, index, json),
            Event::MessageStart { id, model } => {
                self.id.put(self.rows(), id);
                self.name.put(self.rows(), model);
                self.row(MESSAGE_START, None, None);
            }
            Event::ToolUseStart {
                index,
                id,
                name,
                extra,
            } => {
                self.id.put(self.rows(), Some(id));
                self.name.put(self.rows(), Some(name));
                self.row(TOOL_USE_START, Some(index), extra);
            }
            Event::Extension { index, kind, json } => {
                self.name.put(self.rows(), Some(kind));
                self.row(EXTENSION, index, Some(json));
            }
            Event::ContentBlockStop { index } => self.row(CONTENT_BLOCK_STOP, Some(index), None),
            Event::Usage(usage) => {
                let mut counts = std::mem::take(&mut self.scratch);
                counts.clear();
                write_counts(usage, &mut counts);
                self.row(USAGE, None, Some(&counts));
                self.scratch = counts;
            }
            Event::MessageStop {
                stop_reason,
                raw_reason,
                terminal,
            } => {
                self.stop_reason.put(self.rows(), stop_reason as i8);
                self.terminal.put(self.rows(), terminal as i8);
                self.row(MESSAGE_STOP, None, raw_reason);
            }
        }
    }

    #[inline]
    fn piece(&mut self, kind: i8, index: usize, text: &str) {
        self.kind.push(kind);
        self.index.push(index);
        self.text.push(text);
    }

    fn row(&mut self, kind: i8, index: Option<usize>, text: Option<&str>) {
        self.kind.push(kind);
        self.index.push_option(index);
        self.text.push_option(text);
    }

    fn finish(self) -> Result<RecordBatch, ArrowError> {
        let rows = self.rows();
        let columns: Vec<ArrayRef> = vec![
            Arc::new(UInt64Array::from(self.body)),
            Arc::new(UInt64Array::from(self.event)),
            named(Int8Array::from(self.kind), &TYPES)?,
            self.index.finish(),
            self.text.finish()?,
            self.id.finish(rows)?,
            self.name.finish(rows)?,
            self.stop_reason.finish(rows)?,
            self.terminal.finish(rows)?,
        ];
        RecordBatch::try_new(Arc::clone(schema()), columns)
    }
}
