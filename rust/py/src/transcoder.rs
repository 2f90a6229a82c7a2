//! `Transcoder`: a decoder and an encoder joined, without a Python object an event.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};
use turntape_core::decoder::StreamDecoder;
use turntape_core::encode::{EncodeError, StreamEncoder};

use crate::data::{RELEASE_AT, Settings, bytes_of, dialect_of, number};
use crate::{encoder, errors, events, messages};

/// Rewrites one response from one provider's stream to another's, in pieces of any size.
#[pyclass(frozen, module = "turntape._native")]
#[derive(Debug)]
pub(crate) struct Transcoder {
    settings: Settings,
    inner: Mutex<Joint>,
}

#[derive(Debug)]
struct Joint {
    decoder: StreamDecoder,
    encoder: StreamEncoder,
    /// An event that the target refused.
    refused: Option<EncodeError>,
    /// What has been said but not handed over.
    out: Vec<u8>,
}

impl Joint {
    /// Says the events that the decoder has given.
    fn say(&mut self) {
        for event in self.decoder.events().iter() {
            if self.refused.is_some() {
                break;
            }
            self.refused = self.encoder.feed(event, &mut self.out).err();
        }
        self.decoder.clear_events();
    }

    const fn has_failed(&self) -> bool {
        self.decoder.failure().is_some() || self.refused.is_some()
    }

    /// Hands over what has been said.
    fn take<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let bytes = PyBytes::new(py, &self.out);
        self.out.clear();
        bytes
    }
}

#[pymethods]
impl Transcoder {
    #[new]
    #[pyo3(signature = (source, target, *, choice = 0, eof = "flush", max_event_bytes = None, strict = false, server_tools = None, name_map = None, vendor = None, created = 0, include_usage = true, reasoning_field = "reasoning_content", response_id = None, model = None))]
    #[expect(
        clippy::too_many_arguments,
        reason = "the keyword arguments of one Python signature"
    )]
    fn new(
        source: &Bound<'_, PyAny>,
        target: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = number)] choice: u64,
        eof: &str,
        #[pyo3(from_py_with = number)] max_event_bytes: Option<usize>,
        strict: bool,
        server_tools: Option<&Bound<'_, PyAny>>,
        name_map: Option<HashMap<String, String>>,
        vendor: Option<String>,
        #[pyo3(from_py_with = number)] created: u64,
        include_usage: bool,
        reasoning_field: &str,
        response_id: Option<String>,
        model: Option<String>,
    ) -> PyResult<Self> {
        let settings = Settings::new(
            source,
            choice,
            eof,
            max_event_bytes,
            strict,
            server_tools,
            name_map,
            vendor,
        )?;
        let speaking = encoder::settings(
            Some(source),
            created,
            include_usage,
            reasoning_field,
            response_id,
            model,
        )?;
        let encoder = StreamEncoder::new(dialect_of(target)?, speaking)
            .map_err(|error| errors::encode_error(source.py(), &error))?;
        let inner = Mutex::new(Joint {
            decoder: settings.decoder(),
            encoder,
            refused: None,
            out: Vec::new(),
        });
        Ok(Self { settings, inner })
    }

    /// Take the next piece of the source's body; return what the target says for it.
    #[pyo3(signature = (data, /))]
    fn feed<'py>(
        &self,
        py: Python<'py>,
        data: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = bytes_of(data)?;
        let mut guard = self.lock()?;
        let joint = &mut *guard;
        if joint.decoder.is_finished() {
            return Err(errors::finished());
        }
        if !joint.has_failed() {
            let mut run = || {
                joint.decoder.feed(&bytes);
                joint.say();
            };
            if bytes.len() >= RELEASE_AT {
                py.detach(run);
            } else {
                run();
            }
        }
        if joint.has_failed() && joint.out.is_empty() {
            return Err(self.error(py, joint)?);
        }
        Ok(joint.take(py))
    }

    /// End the input; return what is left to say.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut guard = self.lock()?;
        let joint = &mut *guard;
        if !joint.has_failed() {
            joint.decoder.finish();
            joint.say();
        }
        if joint.has_failed() {
            return Err(self.error(py, joint)?);
        }
        let Joint { encoder, out, .. } = joint;
        encoder.finish(out);
        Ok(joint.take(py))
    }

    /// End the target's stream with a fault, in the target's own form.
    #[pyo3(signature = (error, /))]
    fn fail<'py>(&self, error: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let py = error.py();
        let fault = encoder::fault_of(error)?;
        let mut guard = self.lock()?;
        let Joint { encoder, out, .. } = &mut *guard;
        encoder
            .fail(&fault, out)
            .map_err(|error| errors::encode_error(py, &error))?;
        Ok(guard.take(py))
    }

    /// End the target's stream as one that broke off; return what is left to say.
    fn cut<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut guard = self.lock()?;
        let Joint { encoder, out, .. } = &mut *guard;
        encoder.finish(out);
        Ok(guard.take(py))
    }

    /// Return what has come so far, at any time, as a message that is not complete until it is.
    fn snapshot<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.message(py, &self.lock()?.decoder)
    }

    /// The tokens that the source has reported so far.
    #[getter]
    fn usage<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        events::optional_usage(py, self.lock()?.decoder.usage())
    }

    /// What was odd in the source so far.
    #[getter]
    fn warnings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        events::warnings_to_python(py, self.lock()?.decoder.warnings())
    }

    /// What could not be said as it was so far.
    #[getter]
    fn notes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        encoder::notes_to_python(py, self.lock()?.encoder.notes())
    }

    /// Whether the turn has stopped, and that was said.
    #[getter]
    fn is_terminal(&self) -> PyResult<bool> {
        Ok(self.lock()?.encoder.is_terminal())
    }
}

impl Transcoder {
    fn lock(&self) -> PyResult<MutexGuard<'_, Joint>> {
        self.inner.try_lock().map_err(|_| errors::encoder_in_use())
    }

    fn message<'py>(
        &self,
        py: Python<'py>,
        decoder: &StreamDecoder,
    ) -> PyResult<Bound<'py, PyAny>> {
        messages::to_python(
            py,
            &decoder.snapshot(),
            Some(self.settings.dialect),
            self.settings.vendor.as_deref(),
            decoder.warnings(),
        )
    }

    /// Why there is no more to say, as an exception.
    fn error(&self, py: Python<'_>, joint: &Joint) -> PyResult<PyErr> {
        if let Some(refused) = &joint.refused {
            return Ok(errors::encode_error(py, refused));
        }
        let Some(failure) = joint.decoder.failure() else {
            return Ok(errors::encoder_in_use());
        };
        let partial = self.message(py, &joint.decoder)?;
        let events = PyList::empty(py);
        Ok(PyErr::from_value(errors::stream_error(
            py,
            failure,
            Some(partial),
            &events,
        )?))
    }
}
