//! Messages, from the core to Python's dataclasses.

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use turntape_core::Dialect;
use turntape_core::assemble::{Block, Message};
use turntape_core::event::{Terminal, Warning};

use crate::classes::{Classes, classes};
use crate::data::dialect_to_python;
use crate::events::{optional_text, optional_usage, text, warnings_to_python};

/// An `AssistantMessage`.
pub(crate) fn to_python<'py>(
    py: Python<'py>,
    message: &Message,
    dialect: Option<Dialect>,
    vendor: Option<&str>,
    warnings: &[Warning],
) -> PyResult<Bound<'py, PyAny>> {
    let classes = classes(py)?;
    let blocks = message
        .content
        .iter()
        .map(|block| block_to_python(py, classes, block))
        .collect::<PyResult<Vec<_>>>()?;
    let dialect = match dialect {
        Some(dialect) => dialect_to_python(py, dialect)?,
        None => py.None().into_bound(py),
    };
    classes.assistant_message.make(
        py,
        [
            optional_text(py, message.id.as_deref()),
            optional_text(py, message.model.as_deref()),
            PyTuple::new(py, blocks)?.into_any(),
            text(py, message.stop_reason.as_str()),
            optional_text(py, message.raw_reason.as_deref()),
            optional_text(py, message.terminal.map(Terminal::as_str)),
            optional_usage(py, message.usage)?,
            message.complete.into_bound_py_any(py)?,
            optional_text(py, message.reasoning_field.as_deref()),
            dialect,
            optional_text(py, vendor),
            warnings_to_python(py, warnings)?.into_any(),
        ],
    )
}

fn block_to_python<'py>(
    py: Python<'py>,
    classes: &Classes,
    block: &Block,
) -> PyResult<Bound<'py, PyAny>> {
    match block {
        Block::Text {
            text: said,
            citations,
            signature,
            extra,
        } => {
            let class = &classes.text;
            class.class.make(
                py,
                [
                    class.tag.bind(py).clone().into_any(),
                    text(py, said),
                    PyTuple::new(py, citations)?.into_any(),
                    optional_text(py, signature.as_deref()),
                    optional_text(py, extra.as_deref()),
                ],
            )
        }
        Block::Thinking {
            text: thought,
            signature,
        } => {
            let class = &classes.thinking;
            let tag = class.tag.bind(py).clone().into_any();
            class.class.make(
                py,
                [
                    tag,
                    text(py, thought),
                    optional_text(py, signature.as_deref()),
                ],
            )
        }
        Block::RedactedThinking { data } => {
            let class = &classes.redacted_thinking_block;
            class
                .class
                .make(py, [class.tag.bind(py).clone().into_any(), text(py, data)])
        }
        Block::ToolUse {
            id,
            name,
            arguments,
            signature,
            extra,
            complete,
        } => {
            let class = &classes.tool_use;
            class.class.make(
                py,
                [
                    class.tag.bind(py).clone().into_any(),
                    text(py, id),
                    text(py, name),
                    text(py, arguments),
                    optional_text(py, signature.as_deref()),
                    optional_text(py, extra.as_deref()),
                    complete.into_bound_py_any(py)?,
                ],
            )
        }
        Block::Provider { kind, json } => {
            let class = &classes.provider_block;
            class.class.make(
                py,
                [
                    class.tag.bind(py).clone().into_any(),
                    text(py, kind),
                    text(py, json),
                ],
            )
        }
    }
}
