//! Tables that are in memory, and how schemas and batches are handed out.

use std::sync::Arc;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array, RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, Schema, SchemaRef};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// What no input brings about, but a limit of Arrow's might.
#[expect(clippy::needless_pass_by_value, reason = "errors are mapped with it")]
pub(super) fn to_python(error: ArrowError) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

/// A schema in a capsule.
pub(super) fn schema_capsule<'py>(
    py: Python<'py>,
    schema: &Schema,
) -> PyResult<Bound<'py, PyCapsule>> {
    let exported = FFI_ArrowSchema::try_from(schema).map_err(to_python)?;
    PyCapsule::new_with_value(py, exported, c"arrow_schema")
}

/// A stream of batches in a capsule.
pub(super) fn stream_capsule(
    py: Python<'_>,
    reader: Box<dyn RecordBatchReader + Send>,
) -> PyResult<Bound<'_, PyCapsule>> {
    let exported = FFI_ArrowArrayStream::new(reader);
    PyCapsule::new_with_value(py, exported, c"arrow_array_stream")
}

/// Record batches in memory, for whatever reads the Arrow `PyCapsule` interface, and as often as it likes.
#[pyclass(frozen, module = "turntape._native")]
pub(crate) struct ArrowTable {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
    rows: usize,
}

impl ArrowTable {
    pub(super) fn new(schema: &SchemaRef, batches: Vec<RecordBatch>) -> Self {
        Self {
            schema: Arc::clone(schema),
            rows: batches.iter().map(RecordBatch::num_rows).sum(),
            batches,
        }
    }
}

#[pymethods]
impl ArrowTable {
    /// How many rows there are.
    #[getter]
    fn num_rows(&self) -> usize {
        self.rows
    }

    /// How many bytes the columns hold.
    #[getter]
    fn nbytes(&self) -> PyResult<usize> {
        let columns = self.batches.iter().flat_map(RecordBatch::columns);
        columns
            .map(|column| column.to_data().get_slice_memory_size())
            .sum::<Result<usize, _>>()
            .map_err(to_python)
    }

    /// The names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<&str> {
        let fields = self.schema.fields();
        fields.iter().map(|field| field.name().as_str()).collect()
    }

    fn __len__(&self) -> usize {
        self.rows
    }

    fn __repr__(&self) -> String {
        format!(
            "ArrowTable(num_rows={}, column_names={:?})",
            self.rows,
            self.column_names()
        )
    }

    /// The schema, as a capsule named `arrow_schema`.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.schema)
    }

    /// The batches, as a capsule named `arrow_array_stream`.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // Whoever wants other types casts to them.
        let _ = requested_schema;
        let batches = self.batches.clone().into_iter().map(Ok);
        let reader = RecordBatchIterator::new(batches, Arc::clone(&self.schema));
        stream_capsule(py, Box::new(reader))
    }
}
