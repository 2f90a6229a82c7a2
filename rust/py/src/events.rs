//! Events and warnings, from the core's log to Python's dataclasses and back.

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyAttributeError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple};
use turntape_core::event::{Event, EventLog, StopReason, Terminal, Warning};
use turntape_core::usage::Usage;

use crate::classes::{Classes, Tagged, classes};
use crate::data::number;
use crate::strings;

type Object<'py> = Bound<'py, PyAny>;

pub(crate) fn text<'py>(py: Python<'py>, text: &str) -> Object<'py> {
    PyString::new(py, text).into_any()
}

pub(crate) fn optional_text<'py>(py: Python<'py>, value: Option<&str>) -> Object<'py> {
    match value {
        Some(value) => text(py, value),
        None => py.None().into_bound(py),
    }
}

fn tag<'py, const N: usize>(py: Python<'py>, class: &Tagged<N>) -> Object<'py> {
    class.tag.bind(py).clone().into_any()
}

/// The events of a log as a list.
pub(crate) fn to_list<'py>(py: Python<'py>, log: &EventLog) -> PyResult<Bound<'py, PyList>> {
    if log.is_empty() {
        return Ok(PyList::empty(py));
    }
    let classes = classes(py)?;
    PyList::new(py, log.iter().map(|event| Pending { classes, event }))
}

/// An event on its way into a list, which makes the object in its place.
struct Pending<'a> {
    classes: &'a Classes,
    event: Event<'a>,
}

impl<'py> IntoPyObject<'py> for Pending<'_> {
    type Target = PyAny;
    type Output = Object<'py>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Object<'py>> {
        to_python(py, self.classes, self.event)
    }
}

fn to_python<'py>(py: Python<'py>, classes: &Classes, event: Event<'_>) -> PyResult<Object<'py>> {
    let delta = |class: &Tagged<3>, index: usize, value: &str| {
        class.class.make(
            py,
            [
                tag(py, class),
                index.into_bound_py_any(py)?,
                strings::of(py, value).into_any(),
            ],
        )
    };
    match event {
        Event::TextDelta { index, text } => delta(&classes.text_delta, index, text),
        Event::ThinkingDelta { index, text } => delta(&classes.thinking_delta, index, text),
        Event::InputJsonDelta {
            index,
            partial_json,
        } => delta(&classes.input_json_delta, index, partial_json),
        Event::SignatureDelta { index, signature } => {
            delta(&classes.signature_delta, index, signature)
        }
        Event::RedactedThinking { index, data } => delta(&classes.redacted_thinking, index, data),
        Event::Citation { index, json } => delta(&classes.citation, index, json),
        Event::MessageStart { id, model } => {
            let class = &classes.message_start;
            class.class.make(
                py,
                [
                    tag(py, class),
                    optional_text(py, id),
                    optional_text(py, model),
                ],
            )
        }
        Event::ToolUseStart {
            index,
            id,
            name,
            extra,
        } => {
            let class = &classes.tool_use_start;
            let index = index.into_bound_py_any(py)?;
            class.class.make(
                py,
                [
                    tag(py, class),
                    index,
                    text(py, id),
                    text(py, name),
                    optional_text(py, extra),
                ],
            )
        }
        Event::Extension { index, kind, json } => {
            let class = &classes.extension;
            class.class.make(
                py,
                [
                    tag(py, class),
                    index.into_bound_py_any(py)?,
                    text(py, kind),
                    text(py, json),
                ],
            )
        }
        Event::ContentBlockStop { index } => {
            let class = &classes.content_block_stop;
            class
                .class
                .make(py, [tag(py, class), index.into_bound_py_any(py)?])
        }
        Event::Usage(usage) => usage_to_python(py, usage),
        Event::MessageStop {
            stop_reason,
            raw_reason,
            terminal,
        } => {
            let class = &classes.message_stop;
            let reason = text(py, stop_reason.as_str());
            let terminal = text(py, terminal.as_str());
            class.class.make(
                py,
                [
                    tag(py, class),
                    reason,
                    optional_text(py, raw_reason),
                    terminal,
                ],
            )
        }
    }
}

pub(crate) fn usage_to_python(py: Python<'_>, usage: Usage) -> PyResult<Object<'_>> {
    let class = &classes(py)?.usage;
    class.class.make(
        py,
        [
            tag(py, class),
            usage.input_tokens.into_bound_py_any(py)?,
            usage.output_tokens.into_bound_py_any(py)?,
            usage.cache_read_tokens.into_bound_py_any(py)?,
            usage.cache_write_tokens.into_bound_py_any(py)?,
            usage.cache_write_1h_tokens.into_bound_py_any(py)?,
            usage.reasoning_tokens.into_bound_py_any(py)?,
        ],
    )
}

pub(crate) fn optional_usage(py: Python<'_>, usage: Option<Usage>) -> PyResult<Object<'_>> {
    match usage {
        Some(usage) => usage_to_python(py, usage),
        None => Ok(py.None().into_bound(py)),
    }
}

pub(crate) fn warning_to_python<'py>(py: Python<'py>, warning: &Warning) -> PyResult<Object<'py>> {
    let code = PyString::intern(py, warning.code.as_str()).into_any();
    let offset = warning.offset.into_bound_py_any(py)?;
    classes(py)?
        .decode_warning
        .make(py, [code, text(py, &warning.detail), offset])
}

pub(crate) fn warnings_to_python<'py>(
    py: Python<'py>,
    warnings: &[Warning],
) -> PyResult<Bound<'py, PyTuple>> {
    let items = warnings
        .iter()
        .map(|warning| warning_to_python(py, warning))
        .collect::<PyResult<Vec<_>>>()?;
    PyTuple::new(py, items)
}

fn set<'a, 'py>(field: Option<&'a Object<'py>>) -> PyResult<&'a Object<'py>> {
    field.ok_or_else(|| PyAttributeError::new_err("a field of the event was never set"))
}

/// The index and the text of an event, borrowed from it.
#[inline]
fn delta<'a>(
    index: Option<&Object<'_>>,
    text: Option<&'a Object<'_>>,
) -> PyResult<(usize, &'a str)> {
    let text = set(text)?.cast::<PyString>()?.to_str()?;
    Ok((number(set(index)?)?, text))
}

/// Reads a Python event and hands it to `take`.
pub(crate) fn from_python<T>(
    object: &Object<'_>,
    take: impl FnOnce(Event<'_>) -> T,
) -> PyResult<T> {
    let py = object.py();
    let classes = classes(py)?;
    let string = |name: &Bound<'_, PyString>| object.getattr(name)?.extract::<String>();
    let optional = |name: &Bound<'_, PyString>| object.getattr(name)?.extract::<Option<String>>();
    let index = || number::<usize>(&object.getattr(intern!(py, "index"))?);
    let counter = |name: &Bound<'_, PyString>| number::<u64>(&object.getattr(name)?);
    if let Some([_, index, text]) = classes.text_delta.class.read(object) {
        let (index, text) = delta(index.as_ref(), text.as_ref())?;
        return Ok(take(Event::TextDelta { index, text }));
    }
    if let Some([_, index, text]) = classes.thinking_delta.class.read(object) {
        let (index, text) = delta(index.as_ref(), text.as_ref())?;
        return Ok(take(Event::ThinkingDelta { index, text }));
    }
    if let Some([_, index, text]) = classes.input_json_delta.class.read(object) {
        let (index, partial_json) = delta(index.as_ref(), text.as_ref())?;
        return Ok(take(Event::InputJsonDelta {
            index,
            partial_json,
        }));
    }
    if let Some([_, index]) = classes.content_block_stop.class.read(object) {
        let index = number(set(index.as_ref())?)?;
        return Ok(take(Event::ContentBlockStop { index }));
    }
    if classes.tool_use_start.class.is_exact(object) {
        let (id, name) = (string(intern!(py, "id"))?, string(intern!(py, "name"))?);
        let extra = optional(intern!(py, "extra"))?;
        return Ok(take(Event::ToolUseStart {
            index: index()?,
            id: &id,
            name: &name,
            extra: extra.as_deref(),
        }));
    }
    if classes.message_start.class.is_exact(object) {
        let (id, model) = (
            optional(intern!(py, "id"))?,
            optional(intern!(py, "model"))?,
        );
        return Ok(take(Event::MessageStart {
            id: id.as_deref(),
            model: model.as_deref(),
        }));
    }
    if classes.signature_delta.class.is_exact(object) {
        let signature = string(intern!(py, "signature"))?;
        return Ok(take(Event::SignatureDelta {
            index: index()?,
            signature: &signature,
        }));
    }
    if classes.redacted_thinking.class.is_exact(object) {
        let data = string(intern!(py, "data"))?;
        return Ok(take(Event::RedactedThinking {
            index: index()?,
            data: &data,
        }));
    }
    if classes.citation.class.is_exact(object) {
        let json = string(intern!(py, "json"))?;
        return Ok(take(Event::Citation {
            index: index()?,
            json: &json,
        }));
    }
    if classes.extension.class.is_exact(object) {
        let (kind, json) = (string(intern!(py, "kind"))?, string(intern!(py, "json"))?);
        let index = number::<Option<usize>>(&object.getattr(intern!(py, "index"))?)?;
        return Ok(take(Event::Extension {
            index,
            kind: &kind,
            json: &json,
        }));
    }
    if classes.usage.class.is_exact(object) {
        return Ok(take(Event::Usage(Usage {
            input_tokens: counter(intern!(py, "input_tokens"))?,
            output_tokens: counter(intern!(py, "output_tokens"))?,
            cache_read_tokens: counter(intern!(py, "cache_read_tokens"))?,
            cache_write_tokens: counter(intern!(py, "cache_write_tokens"))?,
            cache_write_1h_tokens: counter(intern!(py, "cache_write_1h_tokens"))?,
            reasoning_tokens: counter(intern!(py, "reasoning_tokens"))?,
        })));
    }
    if classes.message_stop.class.is_exact(object) {
        let reason = string(intern!(py, "stop_reason"))?;
        let raw_reason = optional(intern!(py, "raw_reason"))?;
        let terminal = string(intern!(py, "terminal"))?;
        let named =
            |what: &str, name: &str| PyValueError::new_err(format!("{name:?} is no {what}"));
        return Ok(take(Event::MessageStop {
            stop_reason: StopReason::from_name(&reason)
                .ok_or_else(|| named("stop reason", &reason))?,
            raw_reason: raw_reason.as_deref(),
            terminal: Terminal::from_name(&terminal).ok_or_else(|| named("terminal", &terminal))?,
        }));
    }
    let kind = object.get_type().name()?.to_string();
    Err(PyTypeError::new_err(format!(
        "expected a stream event, not {kind}"
    )))
}
