//! JSON in raw slices.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};
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

/// The members of an object that are not `null`, by their names; None for a text that is no object, and where a
/// name is written with an escape or comes twice.
#[pyfunction]
#[pyo3(signature = (text, /))]
pub(crate) fn split_members<'py>(
    py: Python<'py>,
    text: &str,
) -> PyResult<Option<Bound<'py, PyDict>>> {
    let raw = Raw::of_valid(text);
    if !raw.is_object() {
        return Ok(None);
    }
    let members = PyDict::new(py);
    let mut nulls = Vec::new();
    for (name, value) in raw.entries() {
        let Some(name) = name.plain() else {
            return Ok(None);
        };
        let name = PyString::new(py, name);
        if members.contains(&name)? {
            return Ok(None);
        }
        if value.is_null() {
            nulls.push(name.clone());
        }
        members.set_item(name, value.text())?;
    }
    for name in nulls {
        members.del_item(name)?;
    }
    Ok(Some(members))
}

/// The elements of an array; none for anything else.
#[pyfunction]
#[pyo3(signature = (text, /))]
pub(crate) fn split_elements<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyList>> {
    let elements = Raw::of_valid(text).elements().map(Raw::text);
    PyList::new(py, elements.collect::<Vec<_>>())
}
