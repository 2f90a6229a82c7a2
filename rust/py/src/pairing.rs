//! Whether calls and results pair up, for the many transcripts and histories in which they do.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyList, PyString, PyTuple};

use crate::classes;
use crate::instance::Class;
use crate::tape_lines;

type Object<'py> = Bound<'py, PyAny>;

/// Whether every call of these rows is answered once, right after it. False where it is not, and where a row
/// is not what it should be: then the Python side says what is at fault.
#[pyfunction]
pub(crate) fn rounds_are_whole(
    rows: &Bound<'_, PyList>,
    include_interrupted: bool,
) -> PyResult<bool> {
    let py = rows.py();
    let classes = tape_lines::classes(py)?;
    let id = intern!(py, "id");
    let mut waiting: Vec<Object<'_>> = Vec::new();
    for row in rows {
        let fields = classes.row.pick(&row, tape_lines::PAIRED);
        let Some([Some(role), Some(calls), Some(call_id), Some(interrupted)]) = fields else {
            return Ok(false);
        };
        if !include_interrupted {
            match interrupted.cast::<PyBool>() {
                Ok(cut) if cut.is_true() => continue,
                Ok(_) => {}
                Err(_) => return Ok(false),
            }
        }
        let Some(role) = text(&role) else {
            return Ok(false);
        };
        if role == "tool" {
            let Some(answered) = text(&call_id) else {
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
                if !is_new || waiting.len() >= MOST_CALLS {
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

/// How many calls of one turn are told apart by looking at each: more would take quadratic time.
pub(crate) const MOST_CALLS: usize = 64;

/// The classes of `turntape.conversation`.
pub(crate) struct Conversation {
    pub(crate) message: Class<6>,
    pub(crate) result: Class<4>,
}

pub(crate) fn conversation(py: Python<'_>) -> PyResult<&'static Conversation> {
    static CLASSES: PyOnceLock<Conversation> = PyOnceLock::new();
    CLASSES.get_or_try_init(py, || {
        let module = py.import("turntape.conversation")?;
        Ok(Conversation {
            message: Class::new(
                module.getattr("Message")?.cast()?,
                ["role", "content", "vendor", "model", "dialect", "extra"],
            )?,
            result: Class::new(
                module.getattr("ToolResult")?.cast()?,
                ["tool_use_id", "content", "is_error", "extra"],
            )?,
        })
    })
}

/// Whether every call of these messages is answered once, right after it. False where it is not, and where a
/// message is unusual: then the Python side says what is at fault.
#[pyfunction]
pub(crate) fn calls_are_answered(messages: &Bound<'_, PyList>) -> PyResult<bool> {
    let py = messages.py();
    let (own, others) = (conversation(py)?, classes::classes(py)?);
    let mut waiting: Vec<Object<'_>> = Vec::new();
    // Whether something else than results has come since the calls.
    let mut is_broken = false;
    for message in messages {
        let Some([Some(role), Some(content), ..]) = own.message.read(&message) else {
            return Ok(false);
        };
        let (Some(role), Ok(content)) = (text(&role), content.cast_exact::<PyTuple>()) else {
            return Ok(false);
        };
        match role {
            "assistant" => {
                if !waiting.is_empty() {
                    return Ok(false);
                }
                is_broken = false;
                for block in content {
                    if let Some([_, Some(id), ..]) = others.tool_use.class.read(&block) {
                        if waiting.len() >= MOST_CALLS {
                            return Ok(false);
                        }
                        waiting.push(id);
                    } else if !others.text.class.is_exact(&block) && !is_another(&block) {
                        return Ok(false);
                    }
                }
            }
            "user" => {
                let mut breaks = false;
                for block in content {
                    if let Some([Some(answered), ..]) = own.result.read(&block) {
                        let Some(answered) = text(&answered) else {
                            return Ok(false);
                        };
                        let call = waiting.iter().position(|call| text(call) == Some(answered));
                        let (Some(call), false) = (call, is_broken) else {
                            return Ok(false);
                        };
                        waiting.remove(call);
                    } else if let Some([_, Some(said), ..]) = others.text.class.read(&block) {
                        let Ok(said) = said.cast_exact::<PyString>() else {
                            return Ok(false);
                        };
                        breaks |= said.len()? > 0;
                    } else if is_another(&block) {
                        breaks = true;
                    } else {
                        return Ok(false);
                    }
                }
                is_broken |= breaks;
            }
            _ => is_broken = true,
        }
    }
    Ok(waiting.is_empty())
}

/// Whether a block says that it is neither a text nor a call nor a result.
fn is_another(block: &Object<'_>) -> bool {
    let Ok(kind) = block.getattr(intern!(block.py(), "type")) else {
        return false;
    };
    text(&kind).is_some_and(|kind| !matches!(kind, "text" | "tool_use" | "tool_result"))
}
