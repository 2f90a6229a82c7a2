//! Columns in which most rows are alike: what costs a row is only what differs.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int8Array, LargeStringArray, UInt64Array};
use arrow_buffer::{BooleanBufferBuilder, NullBuffer, OffsetBuffer};
use arrow_schema::ArrowError;

use super::named::{Names, named};

/// Which of so many rows are null, given the few that are not like the others.
fn nulls(rows: usize, others: &[usize], others_are_null: bool) -> Option<NullBuffer> {
    if others.is_empty() && others_are_null {
        return None;
    }
    let mut bits = BooleanBufferBuilder::new(rows);
    bits.append_n(rows, others_are_null);
    for &row in others {
        bits.set_bit(row, !others_are_null);
    }
    Some(NullBuffer::new(bits.finish()))
}

/// Where a text ends that is the last one of these bytes.
#[expect(
    clippy::cast_possible_wrap,
    reason = "nothing in memory is longer than isize::MAX"
)]
fn end_of(bytes: &[u8]) -> i64 {
    bytes.len() as i64
}

/// Texts, of which few are null.
pub(super) struct Texts {
    bytes: Vec<u8>,
    ends: Vec<i64>,
    null: Vec<usize>,
}

impl Texts {
    pub(super) fn new() -> Self {
        Self {
            bytes: Vec::new(),
            ends: vec![0],
            null: Vec::new(),
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes.len()
    }

    #[inline]
    pub(super) fn push(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
        self.ends.push(end_of(&self.bytes));
    }

    pub(super) fn push_option(&mut self, text: Option<&str>) {
        if text.is_none() {
            self.null.push(self.ends.len() - 1);
        }
        self.push(text.unwrap_or_default());
    }

    pub(super) fn finish(self) -> Result<ArrayRef, ArrowError> {
        let nulls = nulls(self.ends.len() - 1, &self.null, true);
        texts(self.ends, self.bytes, nulls)
    }
}

fn texts(
    ends: Vec<i64>,
    bytes: Vec<u8>,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef, ArrowError> {
    let ends = OffsetBuffer::new(ends.into());
    Ok(Arc::new(LargeStringArray::try_new(
        ends,
        bytes.into(),
        nulls,
    )?))
}

/// Texts, of which most are null.
pub(super) struct RareTexts {
    bytes: Vec<u8>,
    /// The rows that have one, and where each begins.
    present: Vec<usize>,
    starts: Vec<i64>,
}

impl RareTexts {
    pub(super) fn new() -> Self {
        Self {
            bytes: Vec::new(),
            present: Vec::new(),
            starts: Vec::new(),
        }
    }

    pub(super) fn put(&mut self, row: usize, text: Option<&str>) {
        if let Some(text) = text {
            self.present.push(row);
            self.starts.push(end_of(&self.bytes));
            self.bytes.extend_from_slice(text.as_bytes());
        }
    }

    pub(super) fn finish(self, rows: usize) -> Result<ArrayRef, ArrowError> {
        let mut ends = Vec::with_capacity(rows + 1);
        for (&row, &start) in self.present.iter().zip(&self.starts) {
            ends.resize(row + 1, start);
        }
        ends.resize(rows + 1, end_of(&self.bytes));
        texts(ends, self.bytes, nulls(rows, &self.present, false))
    }
}

/// Numbers, of which few are null.
pub(super) struct Numbers {
    values: Vec<u64>,
    null: Vec<usize>,
}

impl Numbers {
    pub(super) fn new() -> Self {
        Self {
            values: Vec::new(),
            null: Vec::new(),
        }
    }

    #[inline]
    pub(super) fn push(&mut self, number: usize) {
        self.values.push(number as u64);
    }

    pub(super) fn push_option(&mut self, number: Option<usize>) {
        if number.is_none() {
            self.null.push(self.values.len());
        }
        self.push(number.unwrap_or_default());
    }

    pub(super) fn finish(self) -> ArrayRef {
        let nulls = nulls(self.values.len(), &self.null, true);
        Arc::new(UInt64Array::new(self.values.into(), nulls))
    }
}

/// Names from a list, of which most are null.
pub(super) struct RareNames {
    names: &'static Names,
    present: Vec<usize>,
    keys: Vec<i8>,
}

impl RareNames {
    pub(super) fn new(names: &'static Names) -> Self {
        Self {
            names,
            present: Vec::new(),
            keys: Vec::new(),
        }
    }

    /// Puts the name at that place of the list into a row.
    pub(super) fn put(&mut self, row: usize, place: i8) {
        self.present.push(row);
        self.keys.push(place);
    }

    pub(super) fn finish(self, rows: usize) -> Result<ArrayRef, ArrowError> {
        let mut keys = vec![0; rows];
        for (&row, &key) in self.present.iter().zip(&self.keys) {
            keys[row] = key;
        }
        let nulls = nulls(rows, &self.present, false);
        named(Int8Array::new(keys.into(), nulls), self.names)
    }
}
