//! What Python hands in: bytes or text, dialects, options.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView, PyString};
use turntape_core::Dialect;
use turntape_core::decoder::{Options, StreamDecoder};
use turntape_core::sse::EndOfInput;

use crate::classes::classes;

/// From this size on the interpreter is released while bytes are read; below, that costs more than it
/// gives.
pub(crate) const RELEASE_AT: usize = 64 * 1024;

/// The bytes of `bytes`, `bytearray`, `memoryview` or `str`, borrowed where nothing can change them.
pub(crate) fn bytes_of<'a>(data: &'a Bound<'_, PyAny>) -> PyResult<Cow<'a, [u8]>> {
    if let Ok(bytes) = data.cast::<PyBytes>() {
        return Ok(Cow::Borrowed(bytes.as_bytes()));
    }
    if let Ok(text) = data.cast::<PyString>() {
        if let Ok(text) = text.to_str() {
            return Ok(Cow::Borrowed(text.as_bytes()));
        }
        // Lone surrogates: as the three bytes that UTF-8 decoders refuse.
        let bytes = text.call_method1("encode", ("utf-8", "surrogatepass"))?;
        return Ok(Cow::Owned(bytes.cast::<PyBytes>()?.as_bytes().to_vec()));
    }
    if let Ok(buffer) = PyBuffer::<u8>::get(data) {
        // A copy: other threads may write to the buffer meanwhile.
        return Ok(Cow::Owned(buffer.to_vec(data.py())?));
    }
    if let Ok(view) = data.cast::<PyMemoryView>() {
        // Items of another size or sign: their bytes are meant all the same.
        let bytes = view.call_method0("tobytes")?;
        return Ok(Cow::Owned(bytes.cast::<PyBytes>()?.as_bytes().to_vec()));
    }
    let kind = data.get_type().name()?;
    Err(PyTypeError::new_err(format!(
        "expected bytes, bytearray, memoryview or str, not {kind}"
    )))
}

/// The dialect of a `Dialect` or of its string value.
pub(crate) fn dialect_of(dialect: &Bound<'_, PyAny>) -> PyResult<Dialect> {
    let name = dialect
        .cast::<PyString>()
        .map_err(|_| PyTypeError::new_err("dialect is a Dialect or its string value"))?;
    let name = name.to_string_lossy();
    Dialect::from_name(&name).ok_or_else(|| {
        let known: Vec<&str> = Dialect::ALL
            .iter()
            .map(|dialect| dialect.as_str())
            .collect();
        PyValueError::new_err(format!(
            "{name:?} is no dialect: one of {}",
            known.join(", ")
        ))
    })
}

/// The Python `Dialect`.
pub(crate) fn dialect_to_python(py: Python<'_>, dialect: Dialect) -> PyResult<Bound<'_, PyAny>> {
    let members = &classes(py)?.dialects;
    let at = Dialect::ALL.iter().position(|known| *known == dialect);
    Ok(members[at.unwrap_or_default()].bind(py).clone())
}

/// An option that is a number: what does not fit is a wrong value, not an overflow.
pub(crate) fn number<'py, T>(value: &Bound<'py, PyAny>) -> PyResult<T>
where
    T: for<'a> FromPyObject<'a, 'py, Error = PyErr>,
{
    value.extract::<T>().map_err(|error| {
        if error.is_instance_of::<PyOverflowError>(value.py()) {
            PyValueError::new_err(format!("the number {value} is out of range"))
        } else {
            error
        }
    })
}

pub(crate) fn end_of_input(eof: &str) -> PyResult<EndOfInput> {
    match eof {
        "flush" => Ok(EndOfInput::Flush),
        "discard" => Ok(EndOfInput::Discard),
        other => Err(PyValueError::new_err(format!(
            "eof is \"flush\" or \"discard\", not {other:?}"
        ))),
    }
}

/// The options that all decoding functions take, and what the messages carry of them.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) dialect: Dialect,
    pub(crate) vendor: Option<String>,
    pub(crate) options: Options,
}

#[expect(
    clippy::too_many_arguments,
    reason = "the keyword arguments of one Python signature"
)]
impl Settings {
    pub(crate) fn new(
        dialect: &Bound<'_, PyAny>,
        choice: u64,
        eof: &str,
        max_event_bytes: Option<usize>,
        strict: bool,
        server_tools: Option<&Bound<'_, PyAny>>,
        name_map: Option<HashMap<String, String>>,
        vendor: Option<String>,
    ) -> PyResult<Self> {
        let dialect = dialect_of(dialect)?;
        let mut names = HashSet::new();
        if let Some(server_tools) = server_tools {
            if server_tools.cast::<PyString>().is_ok() {
                return Err(PyTypeError::new_err(
                    "server_tools is a collection of names, not one string",
                ));
            }
            for name in server_tools.try_iter()? {
                names.insert(name?.extract()?);
            }
        }
        let options = Options {
            choice,
            eof: end_of_input(eof)?,
            max_event_bytes,
            strict,
            server_tools: names,
            name_map: name_map.unwrap_or_default(),
        };
        Ok(Self {
            dialect,
            vendor,
            options,
        })
    }

    pub(crate) fn decoder(&self) -> StreamDecoder {
        StreamDecoder::new(self.dialect, self.options.clone())
    }
}
