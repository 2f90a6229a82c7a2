//! `SseDecoder` and `encode_sse`.

use std::ops::ControlFlow;
use std::sync::{Mutex, MutexGuard};

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use turntape_core::error::{Failure, FailureKind};
use turntape_core::event::{Warning, WarningCode};
use turntape_core::sse::{self, EndOfInput, Frame, Framer, Item, TooLarge};

use crate::classes::classes;
use crate::data::{bytes_of, end_of_input, number};
use crate::{errors, events};

/// Server-sent-event framing over bytes (WHATWG HTML, section 9.2), fed in pieces of any size.
#[pyclass(frozen, module = "turntape._native")]
#[derive(Debug)]
pub(crate) struct SseDecoder {
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    framer: Framer,
    eof: EndOfInput,
    warnings: Vec<Warning>,
    too_large: Option<TooLarge>,
    finished: bool,
}

#[pymethods]
impl SseDecoder {
    #[new]
    #[pyo3(signature = (*, eof = "flush", max_event_bytes = None))]
    fn new(
        eof: &str,
        #[pyo3(from_py_with = number)] max_event_bytes: Option<usize>,
    ) -> PyResult<Self> {
        let inner = Inner {
            framer: Framer::new(max_event_bytes),
            eof: end_of_input(eof)?,
            warnings: Vec::new(),
            too_large: None,
            finished: false,
        };
        Ok(Self {
            inner: Mutex::new(inner),
        })
    }

    /// Take the next piece; return the events that it completes.
    #[pyo3(signature = (data, /))]
    fn feed<'py>(&self, py: Python<'py>, data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let bytes = bytes_of(data)?;
        let mut inner = self.lock()?;
        if inner.finished {
            return Err(errors::finished());
        }
        let list = inner.run(py, |framer, mut sink| framer.feed(&bytes, &mut sink))?;
        if list.is_empty() {
            inner.raise(py).map(|()| list)
        } else {
            Ok(list)
        }
    }

    /// End the input; return the last event if there is one.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let mut inner = self.lock()?;
        let list = if std::mem::replace(&mut inner.finished, true) {
            PyList::empty(py)
        } else {
            let eof = inner.eof;
            inner.run(py, |framer, mut sink| framer.finish(eof, &mut sink))?
        };
        inner.raise(py).map(|()| list)
    }

    /// What was odd so far.
    #[getter]
    fn warnings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        events::warnings_to_python(py, &self.lock()?.warnings)
    }
}

impl SseDecoder {
    fn lock(&self) -> PyResult<MutexGuard<'_, Inner>> {
        self.inner.try_lock().map_err(|_| errors::in_use())
    }
}

type Sink<'s> = &'s mut dyn FnMut(Item<'_>) -> ControlFlow<()>;

impl Inner {
    fn run<'py>(
        &mut self,
        py: Python<'py>,
        step: impl FnOnce(&mut Framer, Sink<'_>) -> Result<(), TooLarge>,
    ) -> PyResult<Bound<'py, PyList>> {
        let mut list = Vec::new();
        let mut fault = None;
        if self.too_large.is_none() {
            let warnings = &mut self.warnings;
            let mut warn = |code: WarningCode, offset: u64| {
                warnings.push(Warning {
                    code,
                    detail: code.explain().to_owned(),
                    offset,
                });
            };
            let mut sink = |item: Item<'_>| {
                match item {
                    Item::Frame(frame) => {
                        if frame.flushed {
                            warn(WarningCode::EofFlush, frame.offset);
                        }
                        match frame_to_python(py, &frame) {
                            Ok(event) => list.push(event),
                            Err(error) => {
                                fault = Some(error);
                                return ControlFlow::Break(());
                            }
                        }
                    }
                    Item::InvalidUtf8 { offset } => warn(WarningCode::InvalidUtf8, offset),
                    Item::Discarded { offset } => warn(WarningCode::EofDiscard, offset),
                    // Only reported where it is asked for.
                    Item::Foreign { .. } | Item::ErrorField { .. } => {}
                }
                ControlFlow::Continue(())
            };
            self.too_large = step(&mut self.framer, &mut sink).err();
        }
        match fault {
            Some(error) => Err(error),
            None => PyList::new(py, list),
        }
    }

    fn raise(&self, py: Python<'_>) -> PyResult<()> {
        let Some(TooLarge { offset }) = self.too_large else {
            return Ok(());
        };
        let message = "an event has more data than max_event_bytes allows".to_owned();
        let failure = Failure {
            kind: FailureKind::TooLarge,
            message,
            offset,
            raw: None,
        };
        Err(PyErr::from_value(errors::stream_error(
            py,
            &failure,
            None,
            &PyList::empty(py),
        )?))
    }
}

fn frame_to_python<'py>(py: Python<'py>, frame: &Frame<'_>) -> PyResult<Bound<'py, PyAny>> {
    let event = if frame.event.is_empty() {
        "message"
    } else {
        frame.event
    };
    classes(py)?.sse_event.make(
        py,
        [
            events::text(py, event),
            events::text(py, &frame.data),
            events::optional_text(py, frame.id),
            frame.retry.into_bound_py_any(py)?,
        ],
    )
}

/// Write one server-sent event, its blank line included.
#[pyfunction]
#[pyo3(signature = (event, /, *, ascii_line_separators = false))]
pub(crate) fn encode_sse(
    event: &Bound<'_, PyAny>,
    ascii_line_separators: bool,
) -> PyResult<String> {
    let name: String = event.getattr("event")?.extract()?;
    let data: String = event.getattr("data")?.extract()?;
    let id: Option<String> = event.getattr("id")?.extract()?;
    let retry: Option<u64> = event.getattr("retry")?.extract()?;
    sse::encode(&name, &data, id.as_deref(), retry, ascii_line_separators)
        .map_err(|error| PyValueError::new_err(error.to_string()))
}
