//! The one place where failures of the core become Python exceptions.

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyType};
use turntape_core::encode::EncodeError;
use turntape_core::error::{Failure, FailureKind};
use turntape_core::redact::RuleError;

use crate::events::warning_to_python;

fn class<'py>(
    py: Python<'py>,
    lock: &PyOnceLock<Py<PyType>>,
    name: &str,
) -> PyResult<Bound<'py, PyType>> {
    lock.import(py, "turntape.errors", name).cloned()
}

/// The exception for a failure, as an object that can be raised or handed back.
pub(crate) fn stream_error<'py>(
    py: Python<'py>,
    failure: &Failure,
    partial: Option<Bound<'py, PyAny>>,
    events: &Bound<'py, PyList>,
) -> PyResult<Bound<'py, PyAny>> {
    static PROVIDER: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    static MALFORMED: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    static TRUNCATED: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    static TOO_LARGE: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    static STRICT: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let arguments = PyDict::new(py);
    arguments.set_item("partial", partial)?;
    arguments.set_item("offset", failure.offset)?;
    arguments.set_item("raw", failure.raw.as_deref())?;
    arguments.set_item("events", events)?;
    let class = match &failure.kind {
        FailureKind::Provider(fault) => {
            arguments.set_item("kind", &fault.kind)?;
            arguments.set_item("status", fault.status)?;
            arguments.set_item("retryable", fault.retryable)?;
            arguments.set_item("before_content", fault.before_content)?;
            class(py, &PROVIDER, "ProviderError")?
        }
        FailureKind::Malformed => class(py, &MALFORMED, "MalformedEvent")?,
        FailureKind::Truncated => class(py, &TRUNCATED, "TruncatedStream")?,
        FailureKind::TooLarge => class(py, &TOO_LARGE, "EventTooLarge")?,
        FailureKind::Strict(warning) => {
            arguments.set_item("warning", warning_to_python(py, warning)?)?;
            class(py, &STRICT, "StrictError")?
        }
    };
    class.call((&failure.message,), Some(&arguments))
}

pub(crate) fn unknown_dialect(py: Python<'_>) -> PyErr {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    match class(py, &CLASS, "UnknownDialect") {
        Ok(class) => PyErr::from_type(class, ("nothing in the body tells its dialect",)),
        Err(error) => error,
    }
}

/// What is wrong with a rule of a redactor.
pub(crate) fn rule(py: Python<'_>, error: &RuleError) -> PyErr {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let make = || -> PyResult<Bound<'_, PyAny>> {
        let keywords = PyDict::new(py);
        keywords.set_item("rule", &error.rule)?;
        let class = class(py, &CLASS, "RedactionRuleError")?;
        class.call((error.to_string(),), Some(&keywords))
    };
    match make() {
        Ok(error) => PyErr::from_value(error),
        Err(error) => error,
    }
}

/// Why an event or a dialect cannot be said.
pub(crate) fn encode_error(py: Python<'_>, error: &EncodeError) -> PyErr {
    static EVENT: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    static DIALECT: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let class = match error {
        EncodeError::Unsayable(_) => class(py, &DIALECT, "UnsayableDialect"),
        _ => class(py, &EVENT, "EncodeError"),
    };
    match class {
        Ok(class) => PyErr::from_type(class, (error.to_string(),)),
        Err(error) => error,
    }
}

pub(crate) fn encoder_in_use() -> PyErr {
    PyRuntimeError::new_err(
        "another thread is using this encoder: one encoder belongs to one thread at a time",
    )
}

pub(crate) fn in_use() -> PyErr {
    PyRuntimeError::new_err(
        "another thread is using this decoder: one decoder belongs to one thread at a time",
    )
}

pub(crate) fn finished() -> PyErr {
    PyValueError::new_err("the input was ended by finish(): make a new decoder")
}
