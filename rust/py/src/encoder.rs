//! `StreamEncoder`, and what is made with it.

use std::sync::{Mutex, MutexGuard};

use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyString, PyTuple, PyType};
use turntape_core::encode::{self as core, EncodeError, Note, Settings};
use turntape_core::error::ErrorDocument;

use crate::data::{dialect_of, number};
use crate::errors;
use crate::events::from_python;
use crate::scratch::with_bytes;

/// What all encoders are told, from Python's keyword arguments.
pub(crate) fn settings(
    source: Option<&Bound<'_, PyAny>>,
    created: u64,
    include_usage: bool,
    reasoning_field: &str,
    id: Option<String>,
    model: Option<String>,
) -> PyResult<Settings> {
    Ok(Settings {
        source: source.map(dialect_of).transpose()?,
        created,
        include_usage,
        reasoning_field: reasoning_field.to_owned(),
        id,
        model,
    })
}

/// Notes as `ReplayNote`s.
pub(crate) fn notes_to_python<'py>(
    py: Python<'py>,
    notes: &[Note],
) -> PyResult<Bound<'py, PyTuple>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let class = CLASS.import(py, "turntape.notes", "ReplayNote")?;
    let items = notes
        .iter()
        .map(|note| class.call1((note.code.as_str(), note.index, note.detail.as_str())))
        .collect::<PyResult<Vec<_>>>()?;
    PyTuple::new(py, items)
}

/// What an exception, or a text, says of a fault.
pub(crate) fn fault_of(error: &Bound<'_, PyAny>) -> PyResult<ErrorDocument> {
    let is_text = error.is_instance_of::<PyString>();
    if !is_text && !error.is_instance_of::<pyo3::exceptions::PyBaseException>() {
        return Err(PyTypeError::new_err(
            "the fault of a stream is an exception or a text",
        ));
    }
    let mut fault = ErrorDocument::named("", &error.str()?.to_string_lossy());
    if is_text {
        return Ok(fault);
    }
    let py = error.py();
    // A `ProviderError` shows its kind and status before the provider's words, which have places of their own.
    if let Some(message) = error.getattr_opt(intern!(py, "message"))?
        && let Ok(message) = message.extract::<String>()
    {
        fault.message = message;
    }
    if let Some(kind) = error.getattr_opt(intern!(py, "kind"))?
        && let Ok(kind) = kind.extract::<String>()
    {
        fault.kind = kind;
    }
    if let Some(status) = error.getattr_opt(intern!(py, "status"))? {
        fault.status = status.extract().ok();
    }
    if let Some(retryable) = error.getattr_opt(intern!(py, "retryable"))? {
        fault.retryable = retryable.extract().unwrap_or(false);
    }
    Ok(fault)
}

/// Takes each event of an iterable.
fn feed_all(
    events: &Bound<'_, PyAny>,
    mut feed: impl FnMut(turntape_core::event::Event<'_>) -> Result<(), EncodeError>,
) -> PyResult<()> {
    let py = events.py();
    for event in events.try_iter()? {
        from_python(&event?, &mut feed)?.map_err(|error| errors::encode_error(py, &error))?;
    }
    Ok(())
}

/// Says one turn as a provider's stream, event by event.
#[pyclass(frozen, module = "turntape._native")]
#[derive(Debug)]
pub(crate) struct StreamEncoder {
    inner: Mutex<core::StreamEncoder>,
}

#[pymethods]
impl StreamEncoder {
    #[new]
    #[pyo3(signature = (dialect, *, source = None, created = 0, include_usage = true, reasoning_field = "reasoning_content", response_id = None, model = None))]
    fn new(
        dialect: &Bound<'_, PyAny>,
        source: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = number)] created: u64,
        include_usage: bool,
        reasoning_field: &str,
        response_id: Option<String>,
        model: Option<String>,
    ) -> PyResult<Self> {
        let settings = settings(
            source,
            created,
            include_usage,
            reasoning_field,
            response_id,
            model,
        )?;
        let inner = core::StreamEncoder::new(dialect_of(dialect)?, settings)
            .map_err(|error| errors::encode_error(dialect.py(), &error))?;
        Ok(Self {
            inner: Mutex::new(inner),
        })
    }

    /// Take the next event; return what the wire says for it, which may be nothing yet.
    #[pyo3(signature = (event, /))]
    fn feed<'py>(&self, event: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let py = event.py();
        let mut encoder = self.lock()?;
        with_bytes(|out| {
            from_python(event, |event| encoder.feed(event, out))?
                .map_err(|error| errors::encode_error(py, &error))?;
            Ok(PyBytes::new(py, out))
        })
    }

    /// End the events; return what is left to say. A turn that has not stopped gets no end.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut encoder = self.lock()?;
        with_bytes(|out| {
            encoder.finish(out);
            Ok(PyBytes::new(py, out))
        })
    }

    /// End the stream with a fault, in the provider's own form.
    #[pyo3(signature = (error, /))]
    fn fail<'py>(&self, error: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let py = error.py();
        let fault = fault_of(error)?;
        let mut encoder = self.lock()?;
        with_bytes(|out| {
            encoder
                .fail(&fault, out)
                .map_err(|error| errors::encode_error(py, &error))?;
            Ok(PyBytes::new(py, out))
        })
    }

    /// What could not be said as it was so far.
    #[getter]
    fn notes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        notes_to_python(py, self.lock()?.notes())
    }

    /// Whether the turn has stopped: `MessageStop` was said.
    #[getter]
    fn is_terminal(&self) -> PyResult<bool> {
        Ok(self.lock()?.is_terminal())
    }
}

impl StreamEncoder {
    fn lock(&self) -> PyResult<MutexGuard<'_, core::StreamEncoder>> {
        self.inner.try_lock().map_err(|_| errors::encoder_in_use())
    }
}

/// Say a whole turn as a provider's stream.
#[pyfunction]
#[pyo3(signature = (events, dialect, *, source = None, created = 0, include_usage = true, reasoning_field = "reasoning_content", response_id = None, model = None, notes = None))]
#[expect(
    clippy::too_many_arguments,
    reason = "the keyword arguments of one Python signature"
)]
pub(crate) fn encode<'py>(
    events: &Bound<'py, PyAny>,
    dialect: &Bound<'py, PyAny>,
    source: Option<&Bound<'py, PyAny>>,
    #[pyo3(from_py_with = number)] created: u64,
    include_usage: bool,
    reasoning_field: &str,
    response_id: Option<String>,
    model: Option<String>,
    notes: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let py = events.py();
    let settings = settings(
        source,
        created,
        include_usage,
        reasoning_field,
        response_id,
        model,
    )?;
    let mut encoder = core::StreamEncoder::new(dialect_of(dialect)?, settings)
        .map_err(|error| errors::encode_error(py, &error))?;
    with_bytes(|out| {
        feed_all(events, |event| encoder.feed(event, out))?;
        encoder.finish(out);
        hand_over(encoder.notes(), notes, py)?;
        Ok(PyBytes::new(py, out))
    })
}

/// Say a whole turn as the body of a response that is not streamed.
#[pyfunction]
#[pyo3(signature = (events, dialect, *, source = None, created = 0, include_usage = true, reasoning_field = "reasoning_content", response_id = None, model = None, notes = None))]
#[expect(
    clippy::too_many_arguments,
    reason = "the keyword arguments of one Python signature"
)]
pub(crate) fn encode_response<'py>(
    events: &Bound<'py, PyAny>,
    dialect: &Bound<'py, PyAny>,
    source: Option<&Bound<'py, PyAny>>,
    #[pyo3(from_py_with = number)] created: u64,
    include_usage: bool,
    reasoning_field: &str,
    response_id: Option<String>,
    model: Option<String>,
    notes: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let py = events.py();
    let failed = |error: EncodeError| errors::encode_error(py, &error);
    let settings = settings(
        source,
        created,
        include_usage,
        reasoning_field,
        response_id,
        model,
    )?;
    let mut encoder = core::ResponseEncoder::new(dialect_of(dialect)?, settings).map_err(failed)?;
    feed_all(events, |event| encoder.feed(event))?;
    with_bytes(|out| {
        let told = encoder.finish(out).map_err(failed)?;
        hand_over(&told, notes, py)?;
        Ok(PyBytes::new(py, out))
    })
}

/// Adds notes to the caller's list.
fn hand_over(told: &[Note], notes: Option<&Bound<'_, PyAny>>, py: Python<'_>) -> PyResult<()> {
    if let Some(notes) = notes {
        for note in notes_to_python(py, told)? {
            notes.call_method1(intern!(py, "append"), (note,))?;
        }
    }
    Ok(())
}
