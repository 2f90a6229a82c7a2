//! The columns of a batch of rows, and their schema.

use std::sync::{Arc, LazyLock};

use arrow_array::builder::BooleanBuilder;
use arrow_array::{ArrayRef, Int64Array, LargeListArray, RecordBatch, UInt64Array};
use arrow_buffer::{NullBufferBuilder, OffsetBufferBuilder};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Schema, SchemaRef};

use super::parts::{
    Counters, Counts, Lists, MOST_BYTES, Text, TextColumns, item, list, usage_type,
};

/// The columns that are texts, in the order of [`Fields::texts`], and whether they may be null.
pub(super) const TEXTS: [(&str, bool); 11] = [
    ("role", false),
    ("content", false),
    ("id", true),
    ("tool_call_id", true),
    ("extra_metadata", true),
    ("request_id", true),
    ("tool_failure", true),
    ("model", true),
    ("stop_reason", true),
    ("created_at", true),
    ("extra", true),
];
const CALL: [(&str, bool); 4] = [
    ("id", false),
    ("name", false),
    ("arguments", false),
    ("extra_content", true),
];
const PART: [(&str, bool); 5] = [
    ("type", false),
    ("text", true),
    ("url", true),
    ("path", true),
    ("mime_type", true),
];
/// The columns in their order, which is that of a row's fields.
const COLUMNS: [&str; 17] = [
    "line",
    "role",
    "content",
    "id",
    "tool_calls",
    "tool_call_id",
    "parts",
    "extra_metadata",
    "cache_breakpoints",
    "request_id",
    "interrupted",
    "tool_failure",
    "usage",
    "model",
    "stop_reason",
    "created_at",
    "extra",
];

/// The schema of every batch.
pub(super) fn schema() -> &'static SchemaRef {
    static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(|| {
        let field = |name: &str| match name {
            "line" => Field::new(name, DataType::UInt64, false),
            "tool_calls" => Field::new(name, list(&TYPES.call), false),
            "parts" => Field::new(name, list(&TYPES.part), true),
            "cache_breakpoints" => Field::new(name, list(&TYPES.place), false),
            "interrupted" => Field::new(name, DataType::Boolean, false),
            "usage" => Field::new(name, usage_type(), true),
            _ => Field::new(
                name,
                DataType::LargeUtf8,
                !matches!(name, "role" | "content"),
            ),
        };
        Arc::new(Schema::new(COLUMNS.map(field).to_vec()))
    });
    &SCHEMA
}

/// What stands inside columns.
struct Types {
    call: FieldRef,
    part: FieldRef,
    place: FieldRef,
}

static TYPES: LazyLock<Types> = LazyLock::new(|| Types {
    call: item(&CALL, Vec::new()),
    part: item(&PART, Vec::new()),
    place: Arc::new(Field::new("item", DataType::Int64, false)),
});

/// The texts of a call: id, name, arguments, extra content.
pub(super) type Call<'a> = [Option<Text<'a>>; CALL.len()];
/// The texts of a part: type, text, URL, path, MIME type.
pub(super) type Part<'a> = [Option<Text<'a>>; PART.len()];

/// A row.
pub(super) struct Fields<'a> {
    pub(super) line: u64,
    pub(super) texts: [Option<Text<'a>>; TEXTS.len()],
    pub(super) calls: Vec<Call<'a>>,
    pub(super) parts: Option<Vec<Part<'a>>>,
    pub(super) cache_breakpoints: &'a [i64],
    pub(super) interrupted: bool,
    pub(super) usage: Option<Counts>,
}

/// The rows of a batch that is being made.
pub(super) struct Columns {
    batch_rows: usize,
    held: Held,
}

impl Columns {
    pub(super) fn new(batch_rows: usize) -> Self {
        Self {
            batch_rows,
            held: Held::new(),
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.held.line.len() >= self.batch_rows || self.held.bytes() >= MOST_BYTES
    }

    pub(super) fn push(&mut self, row: &Fields<'_>) {
        self.held.push(row);
    }

    /// Makes a batch of the rows, of which none are left; None where there are none.
    pub(super) fn take(&mut self) -> Option<Result<RecordBatch, ArrowError>> {
        if self.held.line.is_empty() {
            return None;
        }
        Some(std::mem::replace(&mut self.held, Held::new()).finish())
    }
}

struct Held {
    line: Vec<u64>,
    texts: TextColumns<{ TEXTS.len() }>,
    calls: Lists<{ CALL.len() }>,
    parts: Lists<{ PART.len() }>,
    has_parts: NullBufferBuilder,
    places: Vec<i64>,
    place_ends: OffsetBufferBuilder<i64>,
    interrupted: BooleanBuilder,
    usage: Counters,
}

impl Held {
    fn new() -> Self {
        Self {
            line: Vec::new(),
            texts: TextColumns::new(),
            calls: Lists::new(),
            parts: Lists::new(),
            has_parts: NullBufferBuilder::new(0),
            places: Vec::new(),
            place_ends: OffsetBufferBuilder::new(0),
            interrupted: BooleanBuilder::new(),
            usage: Counters::new(),
        }
    }

    fn bytes(&self) -> usize {
        self.texts.bytes() + self.calls.texts.bytes() + self.parts.texts.bytes()
    }

    fn push(&mut self, row: &Fields<'_>) {
        self.line.push(row.line);
        self.texts.push(&row.texts);
        self.calls.push(row.calls.iter().copied());
        let parts = row.parts.as_deref().unwrap_or_default();
        self.parts.push(parts.iter().copied());
        self.has_parts.append(row.parts.is_some());
        self.places.extend_from_slice(row.cache_breakpoints);
        self.place_ends.push_length(row.cache_breakpoints.len());
        self.interrupted.append_value(row.interrupted);
        self.usage.push(row.usage);
    }

    fn finish(mut self) -> Result<RecordBatch, ArrowError> {
        let [
            role,
            content,
            id,
            tool_call_id,
            extra_metadata,
            request_id,
            tool_failure,
            model,
            stop_reason,
            created_at,
            extra,
        ] = self.texts.finish();
        let calls = self.calls.finish(&TYPES.call, Vec::new(), None)?;
        let present = self.has_parts.finish();
        let parts = self.parts.finish(&TYPES.part, Vec::new(), present)?;
        let places = LargeListArray::try_new(
            Arc::clone(&TYPES.place),
            self.place_ends.finish(),
            Arc::new(Int64Array::from(self.places)),
            None,
        )?;
        let columns: [ArrayRef; COLUMNS.len()] = [
            Arc::new(UInt64Array::from(self.line)),
            role,
            content,
            id,
            calls,
            tool_call_id,
            parts,
            extra_metadata,
            Arc::new(places),
            request_id,
            Arc::new(self.interrupted.finish()),
            tool_failure,
            self.usage.finish()?,
            model,
            stop_reason,
            created_at,
            extra,
        ];
        RecordBatch::try_new(Arc::clone(schema()), columns.to_vec())
    }
}
