//! Rows made from the lines of a tape.

use pyo3::IntoPyObjectExt;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyList, PyTuple, PyType};
use turntape_core::json::Str;
use turntape_core::tape_line::{self, Row};

use crate::envelopes::native_call;
use crate::events::optional_usage;
use crate::instance::Class;
use crate::values;

type Object<'py> = Bound<'py, PyAny>;

pub(crate) struct Classes {
    pub(crate) row: Class<18>,
    pub(crate) failure: Class<1>,
    /// What rows have that hold nothing unknown; it cannot be changed.
    pub(crate) no_extra: Py<PyAny>,
}

/// What pairing looks at: the role, the calls, the call that a result answers, and whether the turn was cut.
pub(crate) const PAIRED: [usize; 4] = [0, 3, 4, 9];

pub(crate) fn classes(py: Python<'_>) -> PyResult<&'static Classes> {
    static CLASSES: PyOnceLock<Classes> = PyOnceLock::new();
    CLASSES.get_or_try_init(py, || {
        let module = py.import("turntape.transcript.rows")?;
        let class = |name: &str| -> PyResult<Bound<'_, PyType>> {
            Ok(module.getattr(name)?.cast_into::<PyType>()?)
        };
        Ok(Classes {
            row: Class::new(
                &class("TranscriptMessage")?,
                [
                    "role",
                    "content",
                    "id",
                    "tool_calls",
                    "tool_call_id",
                    "parts",
                    "extra_metadata",
                    "cache_breakpoints",
                    "request_id",
                    "interrupted",
                    "tool_failure",
                    "usage",
                    "model",
                    "stop_reason",
                    "created_at",
                    "extra",
                    "_legacy",
                    "_line",
                ],
            )?,
            failure: Class::new(&class("ToolFailure")?, ["detail"])?,
            no_extra: py
                .import("turntape.transcript.members")?
                .getattr("NO_MEMBERS")?
                .unbind(),
        })
    })
}

/// Take the lines of a block, each ended by LF but perhaps the last, and make rows of those that are as a
/// store writes them; of every other give where it stands.
#[pyfunction]
#[pyo3(signature = (block, /))]
pub(crate) fn read_lines<'py>(block: &Bound<'py, PyBytes>) -> PyResult<Bound<'py, PyList>> {
    let py = block.py();
    let bytes = block.as_bytes();
    let found = PyList::empty(py);
    for place in tape_line::lines(bytes) {
        let line = &bytes[place.clone()];
        let row = std::str::from_utf8(line).ok().and_then(tape_line::read);
        match row {
            Some(row) => found.append(to_python(py, &row, line)?)?,
            None => found.append((place.start, place.end))?,
        }
    }
    Ok(found)
}

fn to_python<'py>(py: Python<'py>, row: &Row<'_>, line: &[u8]) -> PyResult<Object<'py>> {
    let classes = classes(py)?;
    let none = || py.None().into_bound(py);
    let text = |text: Option<Str<'_>>| match text {
        Some(text) => values::string(py, text).map(Bound::into_any),
        None => Ok(none()),
    };
    let calls = match row.tool_calls.as_slice() {
        [] => PyTuple::empty(py),
        calls => {
            let make = |call: &tape_line::Call<'_>| {
                native_call(py, [call.id, call.name, call.arguments], call.extra_content)
            };
            PyTuple::new(py, calls.iter().map(make).collect::<PyResult<Vec<_>>>()?)?
        }
    };
    let metadata = match row.extra_metadata {
        Some(raw) => values::to_python(py, raw)?,
        None => none(),
    };
    let failure = match row.tool_failure {
        Some(detail) => classes.failure.make(py, [text(Some(detail))?])?,
        None => none(),
    };
    classes.row.make(
        py,
        [
            role(py, row.role)?,
            text(Some(row.content))?,
            text(row.id)?,
            calls.into_any(),
            text(row.tool_call_id)?,
            none(),
            metadata,
            PyTuple::empty(py).into_any(),
            text(row.request_id)?,
            row.interrupted.into_bound_py_any(py)?,
            failure,
            optional_usage(py, row.usage)?,
            text(row.model)?,
            text(row.stop_reason)?,
            text(row.created_at)?,
            classes.no_extra.bind(py).clone(),
            none(),
            if row.is_canonical {
                none()
            } else {
                PyBytes::new(py, line).into_any()
            },
        ],
    )
}

/// The role's string, one for all rows of it.
fn role<'py>(py: Python<'py>, role: Str<'_>) -> PyResult<Object<'py>> {
    let known = match role.plain() {
        Some("user") => intern!(py, "user"),
        Some("assistant") => intern!(py, "assistant"),
        Some("tool") => intern!(py, "tool"),
        Some("system") => intern!(py, "system"),
        _ => return values::string(py, role).map(Bound::into_any),
    };
    Ok(known.clone().into_any())
}
