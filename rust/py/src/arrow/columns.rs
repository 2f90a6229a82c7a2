//! The columns of a batch, and their schema.

use std::sync::{Arc, LazyLock};

use arrow_array::builder::{BooleanBuilder, LargeStringBuilder};
use arrow_array::types::UInt64Type;
use arrow_array::{
    Array, ArrayRef, Int64Array, LargeListArray, PrimitiveArray, RecordBatch, StructArray,
    UInt64Array,
};
use arrow_buffer::{NullBufferBuilder, OffsetBufferBuilder};
use arrow_schema::{
    ArrowError, DataType, Field, FieldRef, Fields as ArrowFields, Schema, SchemaRef,
};
use turntape_core::json::Str;

/// A batch with this much text in it, in bytes, is full however few rows it has.
const MOST_BYTES: usize = 32 * 1024 * 1024;

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
const COUNTERS: [&str; 6] = [
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "cache_write_1h_tokens",
    "reasoning_tokens",
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
        let field = |name: &str| {
            let list = |item: &FieldRef| DataType::LargeList(Arc::clone(item));
            match name {
                "line" => Field::new(name, DataType::UInt64, false),
                "tool_calls" => Field::new(name, list(&TYPES.call), false),
                "parts" => Field::new(name, list(&TYPES.part), true),
                "cache_breakpoints" => Field::new(name, list(&TYPES.place), false),
                "interrupted" => Field::new(name, DataType::Boolean, false),
                "usage" => Field::new(name, DataType::Struct(TYPES.usage.clone()), true),
                _ => Field::new(
                    name,
                    DataType::LargeUtf8,
                    !matches!(name, "role" | "content"),
                ),
            }
        };
        Arc::new(Schema::new(COLUMNS.map(field).to_vec()))
    });
    &SCHEMA
}

/// What stands inside columns. All offsets are of 64 bits, so that no tape is too large for a column.
struct Types {
    call: FieldRef,
    part: FieldRef,
    place: FieldRef,
    usage: ArrowFields,
}

static TYPES: LazyLock<Types> = LazyLock::new(|| {
    let texts = |texts: &[(&str, bool)]| {
        let field =
            |(name, nullable): &(&str, bool)| Field::new(*name, DataType::LargeUtf8, *nullable);
        let members = texts.iter().map(field).collect();
        Arc::new(Field::new("item", DataType::Struct(members), false))
    };
    Types {
        call: texts(&CALL),
        part: texts(&PART),
        place: Arc::new(Field::new("item", DataType::Int64, false)),
        usage: COUNTERS
            .map(|name| Field::new(name, DataType::UInt64, false))
            .to_vec()
            .into(),
    }
});

/// A text of a row.
#[derive(Clone, Copy)]
pub(super) enum Text<'a> {
    /// As a string literal says it; one without half of a surrogate pair.
    Literal(Str<'a>),
    Plain(&'a str),
}

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
    pub(super) usage: Option<[u64; COUNTERS.len()]>,
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
    usage: [Vec<u64>; COUNTERS.len()],
    has_usage: NullBufferBuilder,
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
            usage: [const { Vec::new() }; COUNTERS.len()],
            has_usage: NullBufferBuilder::new(0),
        }
    }

    fn bytes(&self) -> usize {
        self.texts.bytes() + self.calls.texts.bytes() + self.parts.texts.bytes()
    }

    fn push(&mut self, row: &Fields<'_>) {
        self.line.push(row.line);
        self.texts.push(&row.texts);
        self.calls.push(&row.calls);
        self.parts.push(row.parts.as_deref().unwrap_or_default());
        self.has_parts.append(row.parts.is_some());
        self.places.extend_from_slice(row.cache_breakpoints);
        self.place_ends.push_length(row.cache_breakpoints.len());
        self.interrupted.append_value(row.interrupted);
        for (column, count) in self.usage.iter_mut().zip(row.usage.unwrap_or_default()) {
            column.push(count);
        }
        self.has_usage.append(row.usage.is_some());
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
        let calls = self.calls.finish(&TYPES.call, None)?;
        let parts = self.parts.finish(&TYPES.part, self.has_parts.finish())?;
        let places = LargeListArray::try_new(
            Arc::clone(&TYPES.place),
            self.place_ends.finish(),
            Arc::new(Int64Array::from(self.places)),
            None,
        )?;
        let counters = self
            .usage
            .map(|counts| -> ArrayRef { Arc::new(PrimitiveArray::<UInt64Type>::from(counts)) });
        let usage = StructArray::try_new(
            TYPES.usage.clone(),
            counters.to_vec(),
            self.has_usage.finish(),
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
            Arc::new(usage),
            model,
            stop_reason,
            created_at,
            extra,
        ];
        RecordBatch::try_new(Arc::clone(schema()), columns.to_vec())
    }
}

/// Columns of texts side by side.
struct TextColumns<const COUNT: usize> {
    columns: [LargeStringBuilder; COUNT],
    /// Where texts are put together that are written with escapes.
    scratch: Vec<u8>,
}

impl<const COUNT: usize> TextColumns<COUNT> {
    fn new() -> Self {
        Self {
            columns: std::array::from_fn(|_| LargeStringBuilder::new()),
            scratch: Vec::new(),
        }
    }

    fn bytes(&self) -> usize {
        self.columns
            .iter()
            .map(|column| column.values_slice().len())
            .sum()
    }

    fn push(&mut self, texts: &[Option<Text<'_>>; COUNT]) {
        for (column, text) in self.columns.iter_mut().zip(texts) {
            match text {
                None => column.append_null(),
                Some(Text::Plain(text)) => column.append_value(text),
                Some(Text::Literal(literal)) => {
                    if let Some(text) = literal.plain() {
                        column.append_value(text);
                        continue;
                    }
                    self.scratch.clear();
                    literal.push_bytes(&mut self.scratch);
                    match std::str::from_utf8(&self.scratch) {
                        Ok(text) => column.append_value(text),
                        Err(_) => column.append_value(literal.to_text()),
                    }
                }
            }
        }
    }

    fn finish(&mut self) -> [ArrayRef; COUNT] {
        self.columns
            .each_mut()
            .map(|column| -> ArrayRef { Arc::new(column.finish()) })
    }
}

/// A column of lists of objects that are texts.
struct Lists<const COUNT: usize> {
    ends: OffsetBufferBuilder<i64>,
    texts: TextColumns<COUNT>,
}

impl<const COUNT: usize> Lists<COUNT> {
    fn new() -> Self {
        Self {
            ends: OffsetBufferBuilder::new(0),
            texts: TextColumns::new(),
        }
    }

    fn push(&mut self, items: &[[Option<Text<'_>>; COUNT]]) {
        for item in items {
            self.texts.push(item);
        }
        self.ends.push_length(items.len());
    }

    fn finish(
        mut self,
        item: &FieldRef,
        present: Option<arrow_buffer::NullBuffer>,
    ) -> Result<ArrayRef, ArrowError> {
        let DataType::Struct(members) = item.data_type() else {
            return Err(ArrowError::SchemaError("the items are objects".to_owned()));
        };
        let items = StructArray::try_new(members.clone(), self.texts.finish().to_vec(), None)?;
        debug_assert_eq!(items.null_count(), 0);
        let list = LargeListArray::try_new(
            Arc::clone(item),
            self.ends.finish(),
            Arc::new(items),
            present,
        )?;
        Ok(Arc::new(list))
    }
}
