//! JSON in raw slices.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use turntape_core::json::{MAX_PAYLOAD_DEPTH, Raw};

/// Take one level of a JSON text apart, and leave what is below as it is written.
#[pyfunction]
#[pyo3(signature = (text, /))]
pub(crate) fn split_json<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    let raw = Raw::parse(text, MAX_PAYLOAD_DEPTH)
        .map_err(|error| PyValueError::new_err(error.to_string()))?;
    if raw.is_object() {
        // The names stay literals: only so is a name with half a surrogate pair still itself.
        let pairs = raw
            .entries()
            .map(|(name, value)| (name.body(), value.text()));
        Ok(PyTuple::new(py, pairs.collect::<Vec<_>>())?.into_any())
    } else if raw.is_array() {
        let elements = raw.elements().map(Raw::text);
        Ok(PyList::new(py, elements.collect::<Vec<_>>())?.into_any())
    } else {
        Ok(raw.text().into_pyobject(py)?.into_any())
    }
}
