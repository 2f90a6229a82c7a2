//! Whether calls and results of rows pair up, for the many transcripts in which they do.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyList, PyString, PyTuple};

type Object<'py> = Bound<'py, PyAny>;

/// Whether every call of these rows is answered once, right after it. False where it is not, and where a row
/// is not what it should be: then the Python side says what is at fault.
#[pyfunction]
pub(crate) fn rounds_are_whole(
    rows: &Bound<'_, PyList>,
    include_interrupted: bool,
) -> PyResult<bool> {
    let py = rows.py();
    let [interrupted, role, tool_calls, tool_call_id, id] = [
        intern!(py, "interrupted"),
        intern!(py, "role"),
        intern!(py, "tool_calls"),
        intern!(py, "tool_call_id"),
        intern!(py, "id"),
    ];
    let mut waiting: Vec<Object<'_>> = Vec::new();
    for row in rows {
        if !include_interrupted {
            match row.getattr(interrupted)?.cast::<PyBool>() {
                Ok(cut) if cut.is_true() => continue,
                Ok(_) => {}
                Err(_) => return Ok(false),
            }
        }
        let role = row.getattr(role)?;
        let Some(role) = text(&role) else {
            return Ok(false);
        };
        if role == "tool" {
            let answered = row.getattr(tool_call_id)?;
            let Some(answered) = text(&answered) else {
                return Ok(false);
            };
            let Some(at) = waiting.iter().position(|call| text(call) == Some(answered)) else {
                return Ok(false);
            };
            waiting.swap_remove(at);
            continue;
        }
        if !waiting.is_empty() {
            return Ok(false);
        }
        if role == "assistant" {
            let calls = row.getattr(tool_calls)?;
            let Ok(calls) = calls.cast::<PyTuple>() else {
                return Ok(false);
            };
            for call in calls {
                let declared = call.getattr(id)?;
                let is_new = text(&declared)
                    .filter(|declared| !declared.is_empty())
                    .is_some_and(|declared| {
                        waiting.iter().all(|call| text(call) != Some(declared))
                    });
                // A round of very many calls would be compared with itself over and over.
                if !is_new || waiting.len() >= 64 {
                    return Ok(false);
                }
                waiting.push(declared);
            }
        }
    }
    Ok(waiting.is_empty())
}

/// A string as text; None for anything else, and for halves of surrogate pairs.
fn text<'a>(value: &'a Object<'_>) -> Option<&'a str> {
    value.cast::<PyString>().ok()?.to_str().ok()
}
