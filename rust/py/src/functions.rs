//! The functions over whole bodies.

use std::collections::HashMap;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use turntape_core::Dialect;
use turntape_core::assemble::Builder;
use turntape_core::decoder::{Decoded, StreamDecoder};
use turntape_core::detect::detect;
use turntape_core::fault;

use crate::data::{RELEASE_AT, Settings, bytes_of, dialect_of, dialect_to_python, number};
use crate::{errors, events, messages};

/// Decode a whole body into its events.
#[pyfunction]
#[pyo3(signature = (body, dialect, *, choice = 0, eof = "flush", max_event_bytes = None, strict = false, server_tools = None, name_map = None, vendor = None))]
#[expect(
    clippy::too_many_arguments,
    reason = "the keyword arguments of one Python signature"
)]
pub(crate) fn decode<'py>(
    py: Python<'py>,
    body: &Bound<'py, PyAny>,
    dialect: &Bound<'py, PyAny>,
    #[pyo3(from_py_with = number)] choice: u64,
    eof: &str,
    #[pyo3(from_py_with = number)] max_event_bytes: Option<usize>,
    strict: bool,
    server_tools: Option<&Bound<'py, PyAny>>,
    name_map: Option<HashMap<String, String>>,
    vendor: Option<String>,
) -> PyResult<Bound<'py, PyList>> {
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
    let mut decoder = settings.decoder();
    let bytes = bytes_of(body)?;
    let bytes: &[u8] = &bytes;
    let mut run = || {
        decoder.feed(bytes);
        decoder.finish();
    };
    if bytes.len() >= RELEASE_AT {
        py.detach(run);
    } else {
        run();
    }
    let list = events::to_list(py, decoder.events())?;
    let Some(failure) = decoder.failure() else {
        return Ok(list);
    };
    let partial = messages::to_python(
        py,
        &decoder.snapshot(),
        Some(settings.dialect),
        settings.vendor.as_deref(),
        decoder.warnings(),
    )?;
    Err(PyErr::from_value(errors::stream_error(
        py,
        failure,
        Some(partial),
        &list,
    )?))
}

/// Decode a whole body into its message, without making events.
#[pyfunction]
#[pyo3(signature = (body, dialect, *, choice = 0, eof = "flush", max_event_bytes = None, strict = false, server_tools = None, name_map = None, vendor = None))]
#[expect(
    clippy::too_many_arguments,
    reason = "the keyword arguments of one Python signature"
)]
pub(crate) fn decode_message<'py>(
    py: Python<'py>,
    body: &Bound<'py, PyAny>,
    dialect: &Bound<'py, PyAny>,
    #[pyo3(from_py_with = number)] choice: u64,
    eof: &str,
    #[pyo3(from_py_with = number)] max_event_bytes: Option<usize>,
    strict: bool,
    server_tools: Option<&Bound<'py, PyAny>>,
    name_map: Option<HashMap<String, String>>,
    vendor: Option<String>,
) -> PyResult<Bound<'py, PyAny>> {
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
    let decoder = settings.decoder();
    let bytes = bytes_of(body)?;
    let bytes: &[u8] = &bytes;
    let result = if bytes.len() >= RELEASE_AT {
        py.detach(|| decoder.decode_message(bytes))
    } else {
        decoder.decode_message(bytes)
    };
    match outcome(py, &settings, &result)? {
        Outcome::Message(message) => Ok(message),
        Outcome::Error(error) => Err(PyErr::from_value(error)),
    }
}

/// A message, or the error in its place.
pub(crate) enum Outcome<'py> {
    Message(Bound<'py, PyAny>),
    Error(Bound<'py, PyAny>),
}

/// What came of a body.
pub(crate) fn outcome<'py>(
    py: Python<'py>,
    settings: &Settings,
    decoded: &Decoded,
) -> PyResult<Outcome<'py>> {
    let vendor = settings.vendor.as_deref();
    let message = messages::to_python(
        py,
        &decoded.message,
        Some(settings.dialect),
        vendor,
        &decoded.warnings,
    )?;
    Ok(match &decoded.failure {
        None => Outcome::Message(message),
        Some(failure) => Outcome::Error(errors::stream_error(
            py,
            failure,
            Some(message),
            &PyList::empty(py),
        )?),
    })
}

/// Read the whole body of a response that was not streamed.
#[pyfunction]
#[pyo3(signature = (body, dialect, *, choice = 0, strict = false, server_tools = None, name_map = None, vendor = None))]
#[expect(
    clippy::too_many_arguments,
    reason = "the keyword arguments of one Python signature"
)]
pub(crate) fn parse_response<'py>(
    py: Python<'py>,
    body: &Bound<'py, PyAny>,
    dialect: &Bound<'py, PyAny>,
    #[pyo3(from_py_with = number)] choice: u64,
    strict: bool,
    server_tools: Option<&Bound<'py, PyAny>>,
    name_map: Option<HashMap<String, String>>,
    vendor: Option<String>,
) -> PyResult<Bound<'py, PyAny>> {
    let settings = Settings::new(
        dialect,
        choice,
        "flush",
        None,
        strict,
        server_tools,
        name_map,
        vendor,
    )?;
    let bytes = bytes_of(body)?;
    let bytes: &[u8] = &bytes;
    let read = || StreamDecoder::parse_response(settings.dialect, settings.options.clone(), bytes);
    let result = if bytes.len() >= RELEASE_AT {
        py.detach(read)
    } else {
        read()
    };
    match outcome(py, &settings, &result)? {
        Outcome::Message(message) => Ok(message),
        Outcome::Error(error) => Err(PyErr::from_value(error)),
    }
}

/// Add events up to the message that they tell of.
#[pyfunction]
#[pyo3(signature = (events, *, dialect = None, vendor = None))]
pub(crate) fn assemble<'py>(
    events: &Bound<'py, PyAny>,
    dialect: Option<&Bound<'py, PyAny>>,
    vendor: Option<&str>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut builder = Builder::default();
    for event in events.try_iter()? {
        events::from_python(&event?, |event| builder.apply(event))?
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
    }
    let dialect: Option<Dialect> = dialect.map(dialect_of).transpose()?;
    messages::to_python(
        events.py(),
        &builder.into_message(None),
        dialect,
        vendor,
        &[],
    )
}

/// The HTTP status and the document of a fault, in the shape of the dialect's provider.
#[pyfunction]
#[pyo3(signature = (dialect, kind, message, status))]
pub(crate) fn error_document<'py>(
    py: Python<'py>,
    dialect: &Bound<'py, PyAny>,
    kind: &str,
    message: &str,
    status: Option<u16>,
) -> PyResult<(u16, Bound<'py, PyBytes>)> {
    let dialect = dialect_of(dialect)?;
    let mut document = String::new();
    fault::write_document(dialect, kind, message, status, &mut document);
    let status = fault::response_status(dialect, kind, status);
    Ok((status, PyBytes::new(py, document.as_bytes())))
}

/// Tell the dialect of a recorded body from the body alone.
#[pyfunction]
#[pyo3(signature = (body, /))]
pub(crate) fn detect_dialect<'py>(
    py: Python<'py>,
    body: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let bytes = bytes_of(body)?;
    match detect(&bytes) {
        Some(dialect) => dialect_to_python(py, dialect),
        None => Err(errors::unknown_dialect(py)),
    }
}
