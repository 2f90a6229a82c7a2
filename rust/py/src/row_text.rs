//! Lines of a tape made from rows.

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyInt, PyString, PyTuple};
use turntape_core::tape_line::RowText;
use turntape_core::usage::Usage;

use crate::classes;
use crate::data::RELEASE_AT;
use crate::envelopes::{self, Held};
use crate::scratch;
use crate::tape_lines;
use crate::values;

type Object<'py> = Bound<'py, PyAny>;

/// Write a row as a line, without the line's end; None where the rules have to be asked.
#[pyfunction]
#[pyo3(signature = (row, /))]
pub(crate) fn write_line<'py>(row: &Object<'py>) -> Option<Bound<'py, PyBytes>> {
    let py = row.py();
    with_text(row, |text| {
        scratch::with_bytes(|out| {
            if text.length() >= RELEASE_AT {
                py.detach(|| text.push(out));
            } else {
                text.push(out);
            }
            PyBytes::new(py, out)
        })
    })
}

/// Hands the texts of a row to `work`, if it is of a kind that is written without a detour: its fields are of
/// exactly the types that a row's own are, it remembers no text that it was read from, it has neither parts
/// nor members that are unknown, and its content is not to be lifted.
pub(crate) fn with_text<T>(row: &Object<'_>, work: impl FnOnce(&RowText<'_>) -> T) -> Option<T> {
    let py = row.py();
    let classes = tape_lines::classes(py).ok()?;
    let [
        role,
        content,
        id,
        tool_calls,
        tool_call_id,
        parts,
        extra_metadata,
        cache_breakpoints,
        request_id,
        interrupted,
        tool_failure,
        usage,
        model,
        stop_reason,
        created_at,
        extra,
        legacy,
        line,
    ] = classes.row.read(row)?;
    // What is unset is a memory that was never made.
    let remembers = |memory: Option<Object<'_>>| memory.is_some_and(|memory| !memory.is_none());
    if remembers(legacy) || remembers(line) || !parts?.is_none() {
        return None;
    }
    let extra = extra?;
    let is_plain = extra.is(&classes.no_extra)
        || extra
            .cast_exact::<PyDict>()
            .is_ok_and(PyDictMethods::is_empty);
    if !is_plain || !cache_breakpoints?.cast_exact::<PyTuple>().ok()?.is_empty() {
        return None;
    }
    let (role, content) = (string(role?)?, string(content?)?);
    let [id, tool_call_id, request_id] = [
        optional(id?)?,
        optional(tool_call_id?)?,
        optional(request_id?)?,
    ];
    let [model, stop_reason, created_at] = [
        optional(model?)?,
        optional(stop_reason?)?,
        optional(created_at?)?,
    ];
    let failure = tool_failure?;
    let detail = if failure.is_none() {
        None
    } else {
        let [detail] = classes.failure.read(&failure)?;
        Some(string(detail?)?)
    };
    let metadata = extra_metadata?;
    let metadata = if metadata.is_none() {
        None
    } else {
        let mut out = Vec::new();
        metadata.cast_exact::<PyDict>().ok()?;
        values::write(&metadata, envelopes::EXTRA_DEPTH, &mut out).ok()?;
        Some(String::from_utf8(out).ok()?)
    };
    let tool_calls = tool_calls?;
    let calls = tool_calls.cast_exact::<PyTuple>().ok()?.iter();
    let calls: Vec<_> = calls
        .map(|call| Held::plain(&call))
        .collect::<Option<_>>()?;
    let row = RowText {
        role: utf8(&role)?,
        content: utf8(&content)?,
        tool_calls: calls
            .iter()
            .map(|call| call.texts(0).ok())
            .collect::<Option<_>>()?,
        tool_call_id: optional_utf8(tool_call_id.as_ref())?,
        id: optional_utf8(id.as_ref())?,
        request_id: optional_utf8(request_id.as_ref())?,
        model: optional_utf8(model.as_ref())?,
        created_at: optional_utf8(created_at.as_ref())?,
        stop_reason: optional_utf8(stop_reason.as_ref())?,
        usage: optional_usage(&usage?)?,
        interrupted: interrupted?.cast_exact::<PyBool>().ok()?.is_true(),
        tool_failure: optional_utf8(detail.as_ref())?,
        extra_metadata: metadata.as_deref(),
    };
    (!row.may_lift()).then(|| work(&row))
}

/// A string of exactly that type: one of a subclass may say what it likes when it is compared.
fn string(value: Object<'_>) -> Option<Bound<'_, PyString>> {
    value.cast_into_exact().ok()
}

/// None where it is something else; `Some(None)` where there is none.
#[expect(clippy::option_option, reason = "two questions are answered at once")]
fn optional(value: Object<'_>) -> Option<Option<Bound<'_, PyString>>> {
    if value.is_none() {
        return Some(None);
    }
    string(value).map(Some)
}

/// The text; None where it holds half of a surrogate pair.
fn utf8<'a>(text: &'a Bound<'_, PyString>) -> Option<&'a str> {
    text.to_str().ok()
}

#[expect(clippy::option_option, reason = "two questions are answered at once")]
fn optional_utf8<'a>(text: Option<&'a Bound<'_, PyString>>) -> Option<Option<&'a str>> {
    match text {
        Some(text) => utf8(text).map(Some),
        None => Some(None),
    }
}

#[expect(clippy::option_option, reason = "two questions are answered at once")]
fn optional_usage(value: &Object<'_>) -> Option<Option<Usage>> {
    if value.is_none() {
        return Some(None);
    }
    let class = &classes::classes(value.py()).ok()?.usage.class;
    let [
        _,
        input,
        output,
        cache_read,
        cache_write,
        cache_write_1h,
        reasoning,
    ] = class.read(value)?;
    // bool is a kind of int.
    let count = |count: Option<Object<'_>>| {
        let count = count?;
        count.cast_exact::<PyInt>().ok()?.extract::<u64>().ok()
    };
    Some(Some(Usage {
        input_tokens: count(input)?,
        output_tokens: count(output)?,
        cache_read_tokens: count(cache_read)?,
        cache_write_tokens: count(cache_write)?,
        cache_write_1h_tokens: count(cache_write_1h)?,
        reasoning_tokens: count(reasoning)?,
    }))
}
