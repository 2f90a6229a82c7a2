//! Columns of events.

use std::sync::{Arc, LazyLock};

use arrow_array::builder::UInt64Builder;
use arrow_array::{ArrayRef, RecordBatch, UInt64Array};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use turntape_core::event::{Event, EventLog, StopReason, Terminal};

use super::named::{NamedColumn, Names as Values, named_type, names};
use super::parts::{MOST_BYTES, Names, Text, TextColumns, text_fields, write_counts};

/// How many rows a batch has at most.
const MOST_ROWS: usize = 128 * 1024;

const TEXTS: Names<3> = [("text", true), ("id", true), ("name", true)];

/// The types of events, each at the place that [`facts`] gives it.
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
        for (at, event) in log.iter().enumerate() {
            if self.held.body.len() >= MOST_ROWS || self.held.texts.bytes() >= MOST_BYTES {
                let full = std::mem::replace(&mut self.held, Held::new());
                self.batches.push(full.finish()?);
            }
            self.held.push(body, first + at, event);
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Vec<RecordBatch>, ArrowError> {
        if !self.held.body.is_empty() {
            self.batches.push(self.held.finish()?);
        }
        Ok(self.batches)
    }
}

struct Held {
    body: Vec<u64>,
    event: Vec<u64>,
    kind: NamedColumn,
    index: UInt64Builder,
    texts: TextColumns<{ TEXTS.len() }>,
    stop_reason: NamedColumn,
    terminal: NamedColumn,
    /// Where the counters of a usage are written.
    scratch: String,
}

impl Held {
    fn new() -> Self {
        Self {
            body: Vec::new(),
            event: Vec::new(),
            kind: NamedColumn::new(&TYPES),
            index: UInt64Builder::new(),
            texts: TextColumns::new(),
            stop_reason: NamedColumn::new(&STOP_REASONS),
            terminal: NamedColumn::new(&TERMINALS),
            scratch: String::new(),
        }
    }

    fn push(&mut self, body: usize, at: usize, event: Event<'_>) {
        self.scratch.clear();
        let facts = facts(event, &mut self.scratch);
        self.body.push(body as u64);
        self.event.push(at as u64);
        self.kind.push(Some(facts.kind));
        self.index
            .append_option(facts.index.map(|index| index as u64));
        self.texts
            .push(&facts.texts.map(|text| text.map(Text::Plain)));
        self.stop_reason
            .push(facts.stop.map(|(reason, _)| reason as usize));
        self.terminal
            .push(facts.stop.map(|(_, terminal)| terminal as usize));
    }

    fn finish(mut self) -> Result<RecordBatch, ArrowError> {
        let [text, id, name] = self.texts.finish();
        let columns: Vec<ArrayRef> = vec![
            Arc::new(UInt64Array::from(self.body)),
            Arc::new(UInt64Array::from(self.event)),
            self.kind.finish()?,
            Arc::new(self.index.finish()),
            text,
            id,
            name,
            self.stop_reason.finish()?,
            self.terminal.finish()?,
        ];
        RecordBatch::try_new(Arc::clone(schema()), columns)
    }
}

/// What a row tells of an event.
struct Facts<'a> {
    /// Its place in [`TYPES`].
    kind: usize,
    index: Option<usize>,
    texts: [Option<&'a str>; TEXTS.len()],
    stop: Option<(StopReason, Terminal)>,
}

fn facts<'a>(event: Event<'a>, scratch: &'a mut String) -> Facts<'a> {
    let (kind, index, texts) = match event {
        Event::MessageStart { id, model } => (0, None, [None, id, model]),
        Event::TextDelta { index, text } => (1, Some(index), [Some(text), None, None]),
        Event::ThinkingDelta { index, text } => (2, Some(index), [Some(text), None, None]),
        Event::SignatureDelta { index, signature } => {
            (3, Some(index), [Some(signature), None, None])
        }
        Event::RedactedThinking { index, data } => (4, Some(index), [Some(data), None, None]),
        Event::ToolUseStart {
            index,
            id,
            name,
            extra,
        } => (5, Some(index), [extra, Some(id), Some(name)]),
        Event::InputJsonDelta {
            index,
            partial_json,
        } => (6, Some(index), [Some(partial_json), None, None]),
        Event::Citation { index, json } => (7, Some(index), [Some(json), None, None]),
        Event::Extension { index, kind, json } => (8, index, [Some(json), None, Some(kind)]),
        Event::ContentBlockStop { index } => (9, Some(index), [None; 3]),
        Event::Usage(usage) => {
            write_counts(usage, scratch);
            (10, None, [Some(scratch.as_str()), None, None])
        }
        Event::MessageStop { raw_reason, .. } => (11, None, [raw_reason, None, None]),
    };
    let stop = match event {
        Event::MessageStop {
            stop_reason,
            terminal,
            ..
        } => Some((stop_reason, terminal)),
        _ => None,
    };
    Facts {
        kind,
        index,
        texts,
        stop,
    }
}
