//! Values and ready-made JSON text to one JSON text: what requests are written with.

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{
    PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple, PyType,
};
use turntape_core::json::{MAX_PAYLOAD_DEPTH, push_literal_bytes};

use crate::scratch;
use crate::values::{Refusal, step};

type Object<'py> = Bound<'py, PyAny>;
type Written = Result<(), Refusal>;

/// Write a value as compact JSON in UTF-8.
#[pyfunction]
#[pyo3(signature = (value, /))]
pub(crate) fn write_json<'py>(value: &Object<'py>) -> PyResult<(Bound<'py, PyBytes>, usize)> {
    static RAW_JSON: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    static RAW_ITEMS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    static SHARED: PyOnceLock<bool> = PyOnceLock::new();
    let py = value.py();
    let raw_json = RAW_JSON.import(py, "turntape.wire.raw_json", "RawJson")?;
    let raw_items = RAW_ITEMS.import(py, "turntape.wire.raw_json", "RawItems")?;
    scratch::with_bytes(|out| {
        let mut writer = Writer {
            out,
            raw_json,
            raw_items,
            shared: *SHARED.get_or_try_init(py, || runs_without_lock(py))?,
            replaced: 0,
        };
        match writer.write(value, MAX_PAYLOAD_DEPTH) {
            Ok(()) => {
                let replaced = writer.replaced;
                Ok((PyBytes::new(py, out), replaced))
            }
            Err(Refusal::Value { path, what }) => {
                let place = path.strip_prefix('.').unwrap_or(&path);
                let place = if place.is_empty() { "the value" } else { place };
                Err(PyValueError::new_err(format!("{place}: {what}")))
            }
            Err(Refusal::Python(error)) => Err(error),
        }
    })
}

/// Whether other threads may run between any two steps.
fn runs_without_lock(py: Python<'_>) -> PyResult<bool> {
    match py.import("sys")?.getattr_opt("_is_gil_enabled")? {
        Some(is_enabled) => Ok(!is_enabled.call0()?.is_truthy()?),
        None => Ok(false),
    }
}

struct Writer<'a, 'py> {
    out: &'a mut Vec<u8>,
    raw_json: &'a Bound<'py, PyType>,
    raw_items: &'a Bound<'py, PyType>,
    /// Whether values may change between any two steps.
    shared: bool,
    /// How many lone surrogates became U+FFFD.
    replaced: usize,
}

impl<'py> Writer<'_, 'py> {
    fn write(&mut self, object: &Object<'py>, depth: usize) -> Written {
        if let Ok(text) = object.cast::<PyString>() {
            self.string(text)?;
        } else if let Ok(dict) = object.cast::<PyDict>() {
            self.dict(dict, deeper(depth)?)?;
        } else if let Ok(list) = object.cast::<PyList>() {
            self.items(list.iter(), deeper(depth)?)?;
        } else if object.is_none() {
            self.out.extend_from_slice(b"null");
        } else if let Ok(value) = object.cast::<PyBool>() {
            let text: &[u8] = if value.is_true() { b"true" } else { b"false" };
            self.out.extend_from_slice(text);
        } else if let Ok(value) = object.cast::<PyInt>() {
            self.int(value)?;
        } else if let Ok(value) = object.cast::<PyFloat>() {
            self.float(value)?;
        } else if object.get_type().is(self.raw_json) {
            let text = object.getattr(intern!(object.py(), "text"))?;
            let text = text.cast::<PyString>().map_err(PyErr::from)?;
            self.raw(text)?;
        } else if let Ok(tuple) = object.cast::<PyTuple>() {
            self.items(tuple.iter(), deeper(depth)?)?;
        } else if let Ok(mapping) = object.cast::<PyMapping>() {
            let depth = deeper(depth)?;
            self.out.push(b'{');
            for (at, key) in mapping.keys()?.iter().enumerate() {
                self.member(at, &key, &mapping.get_item(&key)?, depth)?;
            }
            self.out.push(b'}');
        } else {
            let kind = object.get_type().name()?;
            return Err(Refusal::value(format!("{kind}, which JSON cannot say")));
        }
        Ok(())
    }

    fn items(&mut self, items: impl Iterator<Item = Object<'py>>, depth: usize) -> Written {
        self.out.push(b'[');
        for (at, item) in items.enumerate() {
            if at > 0 {
                self.out.push(b',');
            }
            if item.get_type().is(self.raw_items) {
                let items = item.getattr(intern!(item.py(), "data"))?;
                let items = items.cast::<PyBytes>().map_err(PyErr::from)?;
                self.out.extend_from_slice(items.as_bytes());
                continue;
            }
            self.write(&item, depth)
                .map_err(|refusal| refusal.below(&format!("[{at}]")))?;
        }
        self.out.push(b']');
        Ok(())
    }

    fn dict(&mut self, dict: &Bound<'py, PyDict>, depth: usize) -> Written {
        // Iterating panics where the dict changes meanwhile. With the interpreter's lock, which nothing
        // here gives up but Python code of a mapping's, looking at its length before each step is enough.
        // Without the lock it is copied first, which costs a quarter more.
        let own = if self.shared {
            Some(dict.copy()?)
        } else {
            None
        };
        let dict = own.as_ref().unwrap_or(dict);
        let length = dict.len();
        let mut members = dict.iter();
        self.out.push(b'{');
        for at in 0..length {
            let member = (dict.len() == length).then(|| members.next()).flatten();
            let Some((key, value)) = member else {
                let changed = PyRuntimeError::new_err("a dict changed while it was written");
                return Err(Refusal::Python(changed));
            };
            self.member(at, &key, &value, depth)?;
        }
        self.out.push(b'}');
        Ok(())
    }

    fn member(
        &mut self,
        at: usize,
        key: &Object<'py>,
        value: &Object<'py>,
        depth: usize,
    ) -> Written {
        if at > 0 {
            self.out.push(b',');
        }
        let Ok(key) = key.cast::<PyString>() else {
            let kind = key.get_type().name()?;
            let shown = key.repr()?.to_string_lossy().into_owned();
            let refusal = Refusal::value(format!("a key that is {kind}, not str"));
            return Err(refusal.below(&format!("[{shown}]")));
        };
        self.string(key)?;
        self.out.push(b':');
        self.write(value, depth)
            .map_err(|refusal| refusal.below(&step(&key.to_string_lossy())))
    }

    fn string(&mut self, text: &Bound<'py, PyString>) -> PyResult<()> {
        match text.to_str() {
            Ok(text) => push_literal_bytes(text, self.out),
            Err(error) => push_literal_bytes(&self.whole(text, error)?, self.out),
        }
        Ok(())
    }

    /// The text of a value that was found to be JSON.
    fn raw(&mut self, text: &Bound<'py, PyString>) -> PyResult<()> {
        match text.to_str() {
            Ok(text) => self.out.extend_from_slice(text.as_bytes()),
            Err(error) => {
                let text = self.whole(text, error)?;
                self.out.extend_from_slice(text.as_bytes());
            }
        }
        Ok(())
    }

    /// A text without lone surrogates. Two halves that belong together become their character.
    fn whole(&mut self, text: &Bound<'py, PyString>, error: PyErr) -> PyResult<String> {
        if !error.is_instance_of::<pyo3::exceptions::PyUnicodeError>(text.py()) {
            return Err(error);
        }
        let units = text.call_method1("encode", ("utf-16-le", "surrogatepass"))?;
        let units = units.cast::<PyBytes>()?.as_bytes();
        let units = units.as_chunks::<2>().0.iter().copied();
        let characters = char::decode_utf16(units.map(u16::from_le_bytes));
        Ok(characters
            .map(|character| {
                character.unwrap_or_else(|_| {
                    self.replaced += 1;
                    char::REPLACEMENT_CHARACTER
                })
            })
            .collect())
    }

    fn int(&mut self, value: &Bound<'py, PyInt>) -> PyResult<()> {
        static DECIMAL_TEXT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        if let Ok(value) = value.extract::<i64>() {
            if value < 0 {
                self.out.push(b'-');
            }
            push_digits(value.unsigned_abs(), self.out);
            return Ok(());
        }
        let py = value.py();
        let decimal_text = DECIMAL_TEXT.import(py, "turntape.wire.raw_json", "decimal_text")?;
        let text = decimal_text.call1((value,))?;
        let text = text.cast::<PyString>()?.to_str()?;
        self.out.extend_from_slice(text.as_bytes());
        Ok(())
    }

    fn float(&mut self, value: &Bound<'py, PyFloat>) -> Written {
        let number = value.value();
        if !number.is_finite() {
            let name = if number.is_nan() {
                "NaN"
            } else {
                "an infinity"
            };
            return Err(Refusal::value(format!("{name}, which JSON cannot say")));
        }
        // A subclass may show itself otherwise.
        let text = if value.is_exact_instance_of::<PyFloat>() {
            value.repr()?
        } else {
            PyFloat::new(value.py(), number).repr()?
        };
        self.out.extend_from_slice(text.to_str()?.as_bytes());
        Ok(())
    }
}

fn deeper(depth: usize) -> Result<usize, Refusal> {
    depth.checked_sub(1).ok_or_else(|| {
        Refusal::value(format!(
            "more than {MAX_PAYLOAD_DEPTH} containers in each other"
        ))
    })
}

/// Appends a number's digits. The formatting machinery takes three times as long for small ones.
fn push_digits(mut value: u64, out: &mut Vec<u8>) {
    let mut digits = [0; 20];
    let mut first = digits.len();
    for place in (0..digits.len()).rev() {
        digits[place] = b'0' + u8::try_from(value % 10).unwrap_or(0);
        first = place;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[first..]);
}
