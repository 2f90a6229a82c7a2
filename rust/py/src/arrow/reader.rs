//! What a consumer pulls batches from, on whichever thread.

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::PyIterator;

use super::RowColumns;

/// Pulls batches out of a Python iterator that fills columns: whenever it gives something they are full, and
/// at its end they hold the rest.
pub(super) struct Reader {
    schema: SchemaRef,
    /// None once it has ended or failed.
    source: Option<Source>,
    /// Why it failed, for whoever has taken the rows before.
    failure: Option<ArrowError>,
}

struct Source {
    columns: Py<RowColumns>,
    filling: Py<PyIterator>,
}

/// How a pull left the source.
enum State {
    More,
    End,
    Failed(ArrowError),
}

impl Reader {
    pub(super) fn new(schema: SchemaRef, columns: Py<RowColumns>, filling: Py<PyIterator>) -> Self {
        Self {
            schema,
            source: Some(Source { columns, filling }),
            failure: None,
        }
    }

    /// Lets go of the file that is being read, where there is one.
    fn close(&mut self) {
        if let Some(source) = self.source.take() {
            // Without an interpreter the references stay where they are.
            let _ = Python::try_attach(|_| drop(source));
        }
    }
}

impl Source {
    fn pull(&self, py: Python<'_>) -> (Option<Result<RecordBatch, ArrowError>>, State) {
        let state = match self.filling.bind(py).clone().next() {
            Some(Ok(_)) => State::More,
            None => State::End,
            Some(Err(error)) => State::Failed(to_arrow(&error)),
        };
        match self.columns.try_borrow_mut(py) {
            Ok(mut columns) => (columns.columns.take(), state),
            Err(error) => (None, State::Failed(to_arrow(&error.into()))),
        }
    }
}

/// The error in words: the consumer may be of any language.
fn to_arrow(error: &PyErr) -> ArrowError {
    ArrowError::ExternalError(error.to_string().into())
}

impl Iterator for Reader {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(failure) = self.failure.take() {
            return Some(Err(failure));
        }
        let source = self.source.as_ref()?;
        let (batch, state) = Python::try_attach(|py| source.pull(py)).unwrap_or_else(|| {
            let text = "the Python interpreter has ended";
            (None, State::Failed(ArrowError::ExternalError(text.into())))
        });
        match state {
            State::More => {}
            State::End => self.close(),
            State::Failed(error) => {
                self.close();
                if batch.is_none() {
                    return Some(Err(error));
                }
                self.failure = Some(error);
            }
        }
        batch
    }
}

impl RecordBatchReader for Reader {
    fn schema(&self) -> SchemaRef {
        SchemaRef::clone(&self.schema)
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.close();
    }
}
