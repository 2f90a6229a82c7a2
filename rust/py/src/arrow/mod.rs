//! Rows of a tape, events and messages as Arrow record batches, handed out through the Arrow `PyCapsule`
//! interface.

mod columns;
mod decode;
mod events;
mod messages;
mod named;
mod parts;
mod reader;
mod sparse;
mod table;

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyBytes, PyCapsule, PyIterator};
use turntape_core::tape_line;

use columns::{Call, Columns, Fields, schema};
pub(crate) use decode::decode_to_arrow;
use parts::{Counts, Text, counts};
use reader::Reader;
pub(crate) use table::ArrowTable;
use table::{schema_capsule, stream_capsule};

/// A row in Python's hands: its line, its texts in the order of [`columns::TEXTS`], its calls, its parts,
/// its cache breakpoints, whether it was cut, and its counters.
type PythonRow = (
    u64,
    [Option<PyBackedStr>; columns::TEXTS.len()],
    Vec<[Option<PyBackedStr>; 4]>,
    Option<Vec<[Option<PyBackedStr>; 5]>>,
    Vec<i64>,
    bool,
    Option<Counts>,
);

/// Columns that rows are added to until they make a batch.
#[pyclass(module = "turntape._native")]
pub(crate) struct RowColumns {
    columns: Columns,
}

#[pymethods]
impl RowColumns {
    #[new]
    #[pyo3(signature = (batch_rows, /))]
    fn new(batch_rows: usize) -> Self {
        Self {
            columns: Columns::new(batch_rows),
        }
    }

    /// Whether these rows are a batch.
    #[getter]
    fn full(&self) -> bool {
        self.columns.is_full()
    }

    /// Take lines of a block from `start` on, up to one that is not as a store writes it, or until full.
    #[pyo3(signature = (block, start, line, /))]
    fn add_lines(
        &mut self,
        block: &Bound<'_, PyBytes>,
        start: usize,
        line: u64,
    ) -> (u64, usize, usize) {
        let bytes = block.as_bytes();
        let columns = &mut self.columns;
        block
            .py()
            .detach(|| take_lines(columns, bytes, start, line))
    }

    /// Add a row by its fields.
    #[pyo3(signature = (row, /))]
    fn add_row(&mut self, row: PythonRow) {
        let (line, texts, calls, parts, cache_breakpoints, interrupted, usage) = row;
        let parts = parts
            .as_ref()
            .map(|parts| parts.iter().map(plain).collect());
        self.columns.push(&Fields {
            line,
            texts: plain(&texts),
            calls: calls.iter().map(plain).collect(),
            parts,
            cache_breakpoints: &cache_breakpoints,
            interrupted,
            usage,
        });
    }
}

fn plain<const COUNT: usize>(texts: &[Option<PyBackedStr>; COUNT]) -> [Option<Text<'_>>; COUNT] {
    texts
        .each_ref()
        .map(|text| text.as_deref().map(Text::Plain))
}

fn take_lines(
    columns: &mut Columns,
    block: &[u8],
    start: usize,
    mut line: u64,
) -> (u64, usize, usize) {
    let rest = block.get(start..).unwrap_or_default();
    for place in tape_line::lines(rest) {
        let (from, to) = (start + place.start, start + place.end);
        let row = std::str::from_utf8(&rest[place])
            .ok()
            .and_then(tape_line::read)
            .filter(has_canonical_values);
        let Some(row) = row.filter(|_| !columns.is_full()) else {
            return (line, from, to);
        };
        columns.push(&of_line(line, &row));
        line += 1;
    }
    (line, block.len(), block.len())
}

/// Whether the values of any kind in a row are in canonical form, as the columns show them.
fn has_canonical_values(row: &tape_line::Row<'_>) -> bool {
    row.is_canonical
        || row.extra_metadata.is_none()
            && row
                .tool_calls
                .iter()
                .all(|call| call.extra_content.is_none())
}

fn of_line<'a>(line: u64, row: &tape_line::Row<'a>) -> Fields<'a> {
    let call = |call: &tape_line::Call<'a>| -> Call<'a> {
        [
            Some(Text::Literal(call.id)),
            Some(Text::Literal(call.name)),
            Some(Text::Literal(call.arguments)),
            call.extra_content.map(|raw| Text::Plain(raw.text())),
        ]
    };
    Fields {
        line,
        texts: [
            Some(Text::Literal(row.role)),
            Some(Text::Literal(row.content)),
            row.id.map(Text::Literal),
            row.tool_call_id.map(Text::Literal),
            row.extra_metadata.map(|raw| Text::Plain(raw.text())),
            row.request_id.map(Text::Literal),
            row.tool_failure.map(Text::Literal),
            row.model.map(Text::Literal),
            row.stop_reason.map(Text::Literal),
            row.created_at.map(Text::Literal),
            None,
        ],
        calls: row.tool_calls.iter().map(call).collect(),
        parts: None,
        cache_breakpoints: &[],
        interrupted: row.interrupted,
        usage: row.usage.map(counts),
    }
}

/// The schema of the batches, in a capsule.
#[pyfunction]
pub(crate) fn arrow_schema(py: Python<'_>) -> PyResult<Bound<'_, PyCapsule>> {
    schema_capsule(py, schema())
}

/// A stream of batches, in a capsule.
#[pyfunction]
#[pyo3(signature = (columns, filling, /))]
pub(crate) fn arrow_stream<'py>(
    columns: Bound<'py, RowColumns>,
    filling: Bound<'py, PyIterator>,
) -> PyResult<Bound<'py, PyCapsule>> {
    let py = columns.py();
    let reader = Reader::new(Arc::clone(schema()), columns.unbind(), filling.unbind());
    stream_capsule(py, Box::new(reader))
}
