//! Columns of messages: a row a body, whether it was whole or not.

use std::sync::{Arc, LazyLock};

use arrow_array::builder::{BooleanBuilder, LargeListBuilder, LargeStringBuilder, UInt16Builder};
use arrow_array::{ArrayRef, RecordBatch, StructArray, UInt64Array};
use arrow_buffer::NullBufferBuilder;
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use turntape_core::Dialect;
use turntape_core::assemble::Block;
use turntape_core::decoder::Decoded;
use turntape_core::error::{Failure, FailureKind};
use turntape_core::event::Warning;

use super::events::{STOP_REASONS, TERMINALS};
use super::named::{NamedColumn, Names as Values, named_type, names};
use super::parts::{
    Counters, Lists, MOST_BYTES, Names, Text, TextColumns, counts, item, list, text_fields,
    usage_type,
};

const TEXTS: Names<5> = [
    ("id", true),
    ("model", true),
    ("raw_reason", true),
    ("reasoning_field", true),
    ("vendor", true),
];
const BLOCK: Names<10> = [
    ("type", false),
    ("text", true),
    ("id", true),
    ("name", true),
    ("arguments", true),
    ("data", true),
    ("kind", true),
    ("json", true),
    ("signature", true),
    ("extra", true),
];
const WARNING: Names<2> = [("code", false), ("detail", false)];
const ERROR: Names<4> = [
    ("type", false),
    ("kind", true),
    ("message", false),
    ("raw", true),
];

static DIALECTS: Values = Values::new(|| names(&Dialect::ALL.map(Dialect::as_str)));

/// What stands inside columns.
struct Types {
    block: FieldRef,
    citation: FieldRef,
    warning: FieldRef,
    error: Fields,
}

static TYPES: LazyLock<Types> = LazyLock::new(|| {
    let citation = Arc::new(Field::new("item", DataType::LargeUtf8, false));
    let mut error = text_fields(&ERROR);
    error.extend([
        Field::new("status", DataType::UInt16, true),
        Field::new("retryable", DataType::Boolean, true),
        Field::new("before_content", DataType::Boolean, true),
        Field::new("offset", DataType::UInt64, false),
    ]);
    Types {
        block: item(
            &BLOCK,
            vec![
                Field::new("citations", list(&citation), false),
                Field::new("complete", DataType::Boolean, true),
            ],
        ),
        citation,
        warning: item(
            &WARNING,
            vec![Field::new("offset", DataType::UInt64, false)],
        ),
        error: error.into(),
    }
});

/// The schema of every batch.
pub(super) fn schema() -> &'static SchemaRef {
    static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(|| {
        Arc::new(Schema::new(vec![
            Field::new("body", DataType::UInt64, false),
            Field::new("id", DataType::LargeUtf8, true),
            Field::new("model", DataType::LargeUtf8, true),
            Field::new("content", list(&TYPES.block), false),
            Field::new("stop_reason", named_type(), false),
            Field::new("raw_reason", DataType::LargeUtf8, true),
            Field::new("terminal", named_type(), true),
            Field::new("usage", usage_type(), true),
            Field::new("complete", DataType::Boolean, false),
            Field::new("reasoning_field", DataType::LargeUtf8, true),
            Field::new("dialect", named_type(), false),
            Field::new("vendor", DataType::LargeUtf8, true),
            Field::new("warnings", list(&TYPES.warning), false),
            Field::new("error", DataType::Struct(TYPES.error.clone()), true),
        ]))
    });
    &SCHEMA
}

/// Messages on their way into batches.
pub(super) struct MessageColumns<'a> {
    dialect: Dialect,
    vendor: Option<&'a str>,
    batches: Vec<RecordBatch>,
    held: Held,
}

impl<'a> MessageColumns<'a> {
    pub(super) fn new(dialect: Dialect, vendor: Option<&'a str>) -> Self {
        Self {
            dialect,
            vendor,
            batches: Vec::new(),
            held: Held::new(),
        }
    }

    pub(super) fn push(&mut self, body: usize, decoded: &Decoded) -> Result<(), ArrowError> {
        if self.held.bytes() >= MOST_BYTES {
            let full = std::mem::replace(&mut self.held, Held::new());
            self.batches.push(full.finish()?);
        }
        self.held.push(body, decoded, self.dialect, self.vendor);
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
    texts: TextColumns<{ TEXTS.len() }>,
    blocks: Lists<{ BLOCK.len() }>,
    citations: LargeListBuilder<LargeStringBuilder>,
    block_complete: BooleanBuilder,
    stop_reason: NamedColumn,
    terminal: NamedColumn,
    usage: Counters,
    complete: BooleanBuilder,
    dialect: NamedColumn,
    warnings: Lists<{ WARNING.len() }>,
    warning_offset: Vec<u64>,
    errors: Errors,
}

impl Held {
    fn new() -> Self {
        Self {
            body: Vec::new(),
            texts: TextColumns::new(),
            blocks: Lists::new(),
            citations: LargeListBuilder::new(LargeStringBuilder::new())
                .with_field(Arc::clone(&TYPES.citation)),
            block_complete: BooleanBuilder::new(),
            stop_reason: NamedColumn::new(&STOP_REASONS),
            terminal: NamedColumn::new(&TERMINALS),
            usage: Counters::new(),
            complete: BooleanBuilder::new(),
            dialect: NamedColumn::new(&DIALECTS),
            warnings: Lists::new(),
            warning_offset: Vec::new(),
            errors: Errors::new(),
        }
    }

    fn bytes(&self) -> usize {
        self.texts.bytes()
            + self.blocks.texts.bytes()
            + self.warnings.texts.bytes()
            + self.errors.texts.bytes()
    }

    fn push(&mut self, body: usize, decoded: &Decoded, dialect: Dialect, vendor: Option<&str>) {
        let message = &decoded.message;
        self.body.push(body as u64);
        self.texts.push(&[
            plain(message.id.as_deref()),
            plain(message.model.as_deref()),
            plain(message.raw_reason.as_deref()),
            plain(message.reasoning_field.as_deref()),
            plain(vendor),
        ]);
        for block in &message.content {
            if let Block::Text { citations, .. } = block {
                for citation in citations {
                    self.citations.values().append_value(citation);
                }
            }
            self.citations.append(true);
            self.block_complete.append_option(match block {
                Block::ToolUse { complete, .. } => Some(*complete),
                _ => None,
            });
        }
        self.blocks.push(message.content.iter().map(texts_of));
        self.stop_reason.push(Some(message.stop_reason as i8));
        self.terminal
            .push(message.terminal.map(|terminal| terminal as i8));
        self.usage.push(message.usage.map(counts));
        self.complete.append_value(message.complete);
        self.dialect.push(Some(dialect as i8));
        self.warnings.push(decoded.warnings.iter().map(words_of));
        let offsets = decoded.warnings.iter().map(|warning| warning.offset);
        self.warning_offset.extend(offsets);
        self.errors.push(decoded.failure.as_ref());
    }

    fn finish(mut self) -> Result<RecordBatch, ArrowError> {
        let [id, model, raw_reason, reasoning_field, vendor] = self.texts.finish();
        let of_blocks: Vec<ArrayRef> = vec![
            Arc::new(self.citations.finish()),
            Arc::new(self.block_complete.finish()),
        ];
        let of_warnings: Vec<ArrayRef> = vec![Arc::new(UInt64Array::from(self.warning_offset))];
        let columns: Vec<ArrayRef> = vec![
            Arc::new(UInt64Array::from(self.body)),
            id,
            model,
            self.blocks.finish(&TYPES.block, of_blocks, None)?,
            self.stop_reason.finish()?,
            raw_reason,
            self.terminal.finish()?,
            self.usage.finish()?,
            Arc::new(self.complete.finish()),
            reasoning_field,
            self.dialect.finish()?,
            vendor,
            self.warnings.finish(&TYPES.warning, of_warnings, None)?,
            self.errors.finish()?,
        ];
        RecordBatch::try_new(Arc::clone(schema()), columns)
    }
}

fn plain(text: Option<&str>) -> Option<Text<'_>> {
    text.map(Text::Plain)
}

/// The texts of a block, in the order of [`BLOCK`].
fn texts_of(block: &Block) -> [Option<Text<'_>>; BLOCK.len()] {
    let some = |text| Some(Text::Plain(text));
    match block {
        Block::Text {
            text,
            signature,
            extra,
            ..
        } => {
            let (signature, extra) = (plain(signature.as_deref()), plain(extra.as_deref()));
            [
                some("text"),
                some(text),
                None,
                None,
                None,
                None,
                None,
                None,
                signature,
                extra,
            ]
        }
        Block::Thinking { text, signature } => {
            let signature = plain(signature.as_deref());
            [
                some("thinking"),
                some(text),
                None,
                None,
                None,
                None,
                None,
                None,
                signature,
                None,
            ]
        }
        Block::RedactedThinking { data } => [
            some("redacted_thinking"),
            None,
            None,
            None,
            None,
            some(data),
            None,
            None,
            None,
            None,
        ],
        Block::ToolUse {
            id,
            name,
            arguments,
            signature,
            extra,
            ..
        } => {
            let (signature, extra) = (plain(signature.as_deref()), plain(extra.as_deref()));
            [
                some("tool_use"),
                None,
                some(id),
                some(name),
                some(arguments),
                None,
                None,
                None,
                signature,
                extra,
            ]
        }
        Block::Provider { kind, json } => [
            some("provider_block"),
            None,
            None,
            None,
            None,
            None,
            some(kind),
            some(json),
            None,
            None,
        ],
    }
}

/// The texts of a warning, in the order of [`WARNING`].
fn words_of(warning: &Warning) -> [Option<Text<'_>>; WARNING.len()] {
    [
        Some(Text::Plain(warning.code.as_str())),
        Some(Text::Plain(&warning.detail)),
    ]
}

/// The column of errors: null for a body that held a whole turn.
struct Errors {
    texts: TextColumns<{ ERROR.len() }>,
    status: UInt16Builder,
    retryable: BooleanBuilder,
    before_content: BooleanBuilder,
    offset: Vec<u64>,
    present: NullBufferBuilder,
}

impl Errors {
    fn new() -> Self {
        Self {
            texts: TextColumns::new(),
            status: UInt16Builder::new(),
            retryable: BooleanBuilder::new(),
            before_content: BooleanBuilder::new(),
            offset: Vec::new(),
            present: NullBufferBuilder::new(0),
        }
    }

    fn push(&mut self, failure: Option<&Failure>) {
        let fault = match failure.map(|failure| &failure.kind) {
            Some(FailureKind::Provider(fault)) => Some(fault),
            _ => None,
        };
        self.texts.push(&match failure {
            None => [None; ERROR.len()],
            Some(failure) => [
                Some(Text::Plain(class_of(&failure.kind))),
                fault.map(|fault| Text::Plain(&fault.kind)),
                Some(Text::Plain(&failure.message)),
                plain(failure.raw.as_deref()),
            ],
        });
        self.status
            .append_option(fault.and_then(|fault| fault.status));
        self.retryable
            .append_option(fault.map(|fault| fault.retryable));
        self.before_content
            .append_option(fault.map(|fault| fault.before_content));
        self.offset
            .push(failure.map_or(0, |failure| failure.offset));
        self.present.append(failure.is_some());
    }

    fn finish(mut self) -> Result<ArrayRef, ArrowError> {
        let mut columns = self.texts.finish().to_vec();
        columns.push(Arc::new(self.status.finish()));
        columns.push(Arc::new(self.retryable.finish()));
        columns.push(Arc::new(self.before_content.finish()));
        columns.push(Arc::new(UInt64Array::from(self.offset)));
        let errors = StructArray::try_new(TYPES.error.clone(), columns, self.present.finish())?;
        Ok(Arc::new(errors))
    }
}

/// The name of the exception that a failure would be.
fn class_of(kind: &FailureKind) -> &'static str {
    match kind {
        FailureKind::Provider(_) => "ProviderError",
        FailureKind::Malformed => "MalformedEvent",
        FailureKind::Truncated => "TruncatedStream",
        FailureKind::TooLarge => "EventTooLarge",
        FailureKind::Strict(_) => "StrictError",
    }
}
