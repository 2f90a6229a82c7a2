//! What columns are made of: texts side by side, lists of objects, counters.

use std::sync::{Arc, LazyLock};

use arrow_array::builder::LargeStringBuilder;
use arrow_array::types::UInt64Type;
use arrow_array::{Array, ArrayRef, LargeListArray, PrimitiveArray, StructArray};
use arrow_buffer::{NullBuffer, NullBufferBuilder, OffsetBufferBuilder};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields};
use turntape_core::json::Str;
use turntape_core::usage::Usage;

/// A batch with this much text in it, in bytes, is full however few rows it has.
pub(super) const MOST_BYTES: usize = 32 * 1024 * 1024;

/// Names of columns of texts, and whether they may be null.
pub(super) type Names<const COUNT: usize> = [(&'static str, bool); COUNT];

/// Columns of texts. All offsets are of 64 bits, so that nothing is too large for a column.
pub(super) fn text_fields<const COUNT: usize>(names: &Names<COUNT>) -> Vec<Field> {
    names
        .iter()
        .map(|(name, nullable)| Field::new(*name, DataType::LargeUtf8, *nullable))
        .collect()
}

/// The items of a list of objects, whose members are texts and then what else there is.
pub(super) fn item<const COUNT: usize>(names: &Names<COUNT>, others: Vec<Field>) -> FieldRef {
    let mut members = text_fields(names);
    members.extend(others);
    Arc::new(Field::new("item", DataType::Struct(members.into()), false))
}

/// A list of such items.
pub(super) fn list(item: &FieldRef) -> DataType {
    DataType::LargeList(Arc::clone(item))
}

const COUNTERS: [&str; 6] = [
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "cache_write_1h_tokens",
    "reasoning_tokens",
];

/// The counters of a turn in their order.
pub(super) type Counts = [u64; COUNTERS.len()];

/// The members of a column of usage.
static USAGE: LazyLock<Fields> = LazyLock::new(|| {
    COUNTERS
        .map(|name| Field::new(name, DataType::UInt64, false))
        .to_vec()
        .into()
});

/// The type of a column of usage.
pub(super) fn usage_type() -> DataType {
    DataType::Struct(USAGE.clone())
}

/// The counters of a usage.
pub(super) fn counts(usage: Usage) -> Counts {
    [
        usage.input_tokens,
        usage.output_tokens,
        usage.cache_read_tokens,
        usage.cache_write_tokens,
        usage.cache_write_1h_tokens,
        usage.reasoning_tokens,
    ]
}

/// The counters by their names, as a JSON object.
pub(super) fn write_counts(usage: Usage, out: &mut String) {
    for (name, (count, start)) in COUNTERS
        .iter()
        .zip(counts(usage).iter().zip("{,,,,,".chars()))
    {
        out.push(start);
        out.push('"');
        out.push_str(name);
        out.push_str("\":");
        out.push_str(&count.to_string());
    }
    out.push('}');
}

/// A column of usage.
pub(super) struct Counters {
    columns: [Vec<u64>; COUNTERS.len()],
    present: NullBufferBuilder,
}

impl Counters {
    pub(super) fn new() -> Self {
        Self {
            columns: [const { Vec::new() }; COUNTERS.len()],
            present: NullBufferBuilder::new(0),
        }
    }

    pub(super) fn push(&mut self, counts: Option<Counts>) {
        for (column, count) in self.columns.iter_mut().zip(counts.unwrap_or_default()) {
            column.push(count);
        }
        self.present.append(counts.is_some());
    }

    pub(super) fn finish(mut self) -> Result<ArrayRef, ArrowError> {
        let columns = self
            .columns
            .map(|counts| -> ArrayRef { Arc::new(PrimitiveArray::<UInt64Type>::from(counts)) });
        let usage = StructArray::try_new(USAGE.clone(), columns.to_vec(), self.present.finish())?;
        Ok(Arc::new(usage))
    }
}

/// A text on its way into a column.
#[derive(Clone, Copy)]
pub(super) enum Text<'a> {
    /// As a string literal says it; one without half of a surrogate pair.
    Literal(Str<'a>),
    Plain(&'a str),
}

/// Columns of texts side by side.
pub(super) struct TextColumns<const COUNT: usize> {
    columns: [LargeStringBuilder; COUNT],
    /// Where texts are put together that are written with escapes.
    scratch: Vec<u8>,
}

impl<const COUNT: usize> TextColumns<COUNT> {
    pub(super) fn new() -> Self {
        Self {
            columns: std::array::from_fn(|_| LargeStringBuilder::new()),
            scratch: Vec::new(),
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.columns
            .iter()
            .map(|column| column.values_slice().len())
            .sum()
    }

    pub(super) fn push(&mut self, texts: &[Option<Text<'_>>; COUNT]) {
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

    pub(super) fn finish(&mut self) -> [ArrayRef; COUNT] {
        self.columns
            .each_mut()
            .map(|column| -> ArrayRef { Arc::new(column.finish()) })
    }
}

/// A column of lists of objects, of which the members that are texts are held here.
pub(super) struct Lists<const COUNT: usize> {
    ends: OffsetBufferBuilder<i64>,
    pub(super) texts: TextColumns<COUNT>,
}

impl<const COUNT: usize> Lists<COUNT> {
    pub(super) fn new() -> Self {
        Self {
            ends: OffsetBufferBuilder::new(0),
            texts: TextColumns::new(),
        }
    }

    pub(super) fn push<'a>(
        &mut self,
        items: impl ExactSizeIterator<Item = [Option<Text<'a>>; COUNT]>,
    ) {
        self.ends.push_length(items.len());
        for item in items {
            self.texts.push(&item);
        }
    }

    pub(super) fn finish(
        mut self,
        item: &FieldRef,
        others: Vec<ArrayRef>,
        present: Option<NullBuffer>,
    ) -> Result<ArrayRef, ArrowError> {
        let DataType::Struct(members) = item.data_type() else {
            return Err(ArrowError::SchemaError("the items are objects".to_owned()));
        };
        let mut columns = self.texts.finish().to_vec();
        columns.extend(others);
        let items = StructArray::try_new(members.clone(), columns, None)?;
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
