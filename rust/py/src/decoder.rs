//! `StreamDecoder`.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};

use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use turntape_core::decoder as core;

use crate::data::{RELEASE_AT, Settings, bytes_of, number};
use crate::{errors, events, messages};

/// Decodes one response, in pieces of any size: the cuts never change what comes out.
#[pyclass(frozen, module = "turntape._native")]
#[derive(Debug)]
pub(crate) struct StreamDecoder {
    settings: Settings,
    inner: Mutex<core::StreamDecoder>,
}

#[pymethods]
impl StreamDecoder {
    #[new]
    #[pyo3(signature = (dialect, *, choice = 0, eof = "flush", max_event_bytes = None, strict = false, server_tools = None, name_map = None, vendor = None))]
    #[expect(
        clippy::too_many_arguments,
        reason = "the keyword arguments of one Python signature"
    )]
    fn new(
        dialect: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = number)] choice: u64,
        eof: &str,
        #[pyo3(from_py_with = number)] max_event_bytes: Option<usize>,
        strict: bool,
        server_tools: Option<&Bound<'_, PyAny>>,
        name_map: Option<HashMap<String, String>>,
        vendor: Option<String>,
    ) -> PyResult<Self> {
        let settings = Settings::new(
            dialect,
            choice,
            eof,
            max_event_bytes,
            strict,
            server_tools,
            name_map,
            vendor,
        )?;
        let inner = Mutex::new(settings.decoder());
        Ok(Self { settings, inner })
    }

    /// Take the next piece of the body; return the events that it completes.
    #[pyo3(signature = (data, /))]
    fn feed<'py>(&self, py: Python<'py>, data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let bytes = bytes_of(data)?;
        let mut guard = self.lock()?;
        let decoder = &mut *guard;
        if decoder.is_finished() {
            return Err(errors::finished());
        }
        if decoder.failure().is_none() {
            if bytes.len() >= RELEASE_AT {
                let bytes: &[u8] = &bytes;
                py.detach(|| decoder.feed(bytes));
            } else {
                decoder.feed(&bytes);
            }
        }
        if decoder.failure().is_some() && decoder.events().is_empty() {
            return Err(self.error(py, decoder)?);
        }
        take(py, decoder)
    }

    /// End the input; return the last events.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let mut guard = self.lock()?;
        let decoder = &mut *guard;
        decoder.finish();
        if decoder.failure().is_some() {
            return Err(self.error(py, decoder)?);
        }
        take(py, decoder)
    }

    /// Return what has come so far, at any time, as a message that is not complete until it is.
    fn snapshot<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.message(py, &*self.lock()?)
    }

    /// The tokens that the wire has reported so far.
    #[getter]
    fn usage<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        events::optional_usage(py, self.lock()?.usage())
    }

    /// What was odd so far.
    #[getter]
    fn warnings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        events::warnings_to_python(py, self.lock()?.warnings())
    }

    /// Whether the turn has stopped: `MessageStop` was given.
    #[getter]
    fn is_terminal(&self) -> PyResult<bool> {
        Ok(self.lock()?.is_terminal())
    }
}

impl StreamDecoder {
    fn lock(&self) -> PyResult<MutexGuard<'_, core::StreamDecoder>> {
        self.inner.try_lock().map_err(|_| errors::in_use())
    }

    fn message<'py>(
        &self,
        py: Python<'py>,
        decoder: &core::StreamDecoder,
    ) -> PyResult<Bound<'py, PyAny>> {
        let vendor = self.settings.vendor.as_deref();
        messages::to_python(
            py,
            &decoder.snapshot(),
            Some(self.settings.dialect),
            vendor,
            decoder.warnings(),
        )
    }

    /// The failure as an exception, with the events that were not handed over.
    fn error(&self, py: Python<'_>, decoder: &mut core::StreamDecoder) -> PyResult<PyErr> {
        let events = take(py, decoder)?;
        let partial = self.message(py, decoder)?;
        let Some(failure) = decoder.failure() else {
            return Err(errors::in_use());
        };
        Ok(PyErr::from_value(errors::stream_error(
            py,
            failure,
            Some(partial),
            &events,
        )?))
    }
}

fn take<'py>(py: Python<'py>, decoder: &mut core::StreamDecoder) -> PyResult<Bound<'py, PyList>> {
    let list = events::to_list(py, decoder.events())?;
    decoder.clear_events();
    Ok(list)
}
