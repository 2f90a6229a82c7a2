//! Replay envelopes.

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyString, PyTuple, PyType};
use turntape_core::envelope::{
    self, Assistant, Call, CallText, DEPTH_AROUND_EXTRA, MAX_ENVELOPE_DEPTH, Reason, Tool,
};
use turntape_core::json::{MAX_PAYLOAD_DEPTH, Raw, Str, escaped_characters, push_literal_bytes};

use crate::data::RELEASE_AT;
use crate::instance::Class;
use crate::scratch;
use crate::values::{self, Refusal};

type Object<'py> = Bound<'py, PyAny>;

/// How deep the extra content of a call may nest.
pub(crate) const EXTRA_DEPTH: usize = MAX_ENVELOPE_DEPTH - DEPTH_AROUND_EXTRA;

/// The classes of `turntape.replay.envelopes`.
struct Classes {
    call: Class<5>,
    assistant: Class<3>,
    tool: Class<2>,
    non_canonical: Class<2>,
}

fn classes(py: Python<'_>) -> PyResult<&'static Classes> {
    static CLASSES: PyOnceLock<Classes> = PyOnceLock::new();
    CLASSES.get_or_try_init(py, || {
        let module = py.import("turntape.replay.envelopes")?;
        let class = |name: &str| -> PyResult<Bound<'_, PyType>> {
            Ok(module.getattr(name)?.cast_into::<PyType>()?)
        };
        Ok(Classes {
            call: Class::new(
                &class("NativeToolCall")?,
                ["id", "name", "arguments", "extra_content", "_extra_text"],
            )?,
            assistant: Class::new(
                &class("AssistantEnvelope")?,
                ["content", "tool_calls", "reasoning_content"],
            )?,
            tool: Class::new(&class("ToolEnvelope")?, ["tool_call_id", "content"])?,
            non_canonical: Class::new(&class("NonCanonical")?, ["code", "offset"])?,
        })
    })
}

/// A `NativeToolCall` of these fields.
pub(crate) fn native_call<'py>(
    py: Python<'py>,
    [id, name, arguments]: [Str<'_>; 3],
    extra_content: Option<Raw<'_>>,
) -> PyResult<Object<'py>> {
    let none = || py.None().into_bound(py);
    let extra = match extra_content {
        None => none(),
        Some(raw) => values::to_python(py, raw)?,
    };
    let text = |text| values::string(py, text).map(Bound::into_any);
    classes(py)?.call.make(
        py,
        [text(id)?, text(name)?, text(arguments)?, extra, none()],
    )
}

/// Runs `work` on a text, the interpreter released where the text is large.
pub(crate) fn released<'a, T: Send>(
    py: Python<'_>,
    text: &'a str,
    work: impl FnOnce(&'a str) -> T + Send,
) -> T {
    if text.len() >= RELEASE_AT {
        py.detach(|| work(text))
    } else {
        work(text)
    }
}

// Writing -----------------------------------------------------------------------------------------

fn refuse(py: Python<'_>, field: &str, what: &str) -> PyErr {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let error = || -> PyResult<Object<'_>> {
        let keywords = PyDict::new(py);
        keywords.set_item("field", field)?;
        let class = CLASS.import(py, "turntape.errors", "EnvelopeError")?;
        class.call((format!("{field}: {what}"),), Some(&keywords))
    };
    match error() {
        Ok(error) => PyErr::from_value(error),
        Err(error) => error,
    }
}

/// The text of a field, which must be one that UTF-8 can hold.
fn text_field<'a>(value: &'a Object<'_>, field: impl Fn() -> String) -> PyResult<&'a str> {
    let py = value.py();
    let Ok(text) = value.cast::<PyString>() else {
        let kind = value.get_type().name()?;
        return Err(refuse(py, &field(), &format!("{kind}, not str")));
    };
    text.to_str()
        .map_err(|error| refuse(py, &field(), &values::lone_surrogate(py, &error)))
}

fn optional_field<'a>(value: &'a Object<'_>, field: &str) -> PyResult<Option<&'a str>> {
    if value.is_none() {
        return Ok(None);
    }
    text_field(value, || field.to_owned()).map(Some)
}

/// A call's fields, held so that their texts can be borrowed.
pub(crate) struct Held<'py> {
    id: Object<'py>,
    name: Object<'py>,
    arguments: Object<'py>,
    extra: Extra<'py>,
}

enum Extra<'py> {
    None,
    /// The text that it was read from.
    Kept(Bound<'py, PyString>),
    Written(String),
}

impl<'py> Held<'py> {
    fn new(call: &Object<'py>, at: usize) -> PyResult<Self> {
        let py = call.py();
        let class = &classes(py)?.call;
        if !class.is_exact(call) && !call.is_instance(class.class(py))? {
            let kind = call.get_type().name()?;
            let what = format!("{kind}, not NativeToolCall");
            return Err(refuse(py, &format!("tool_calls[{at}]"), &what));
        }
        let extra = call.getattr(intern!(py, "extra_content"))?;
        Ok(Self {
            id: call.getattr(intern!(py, "id"))?,
            name: call.getattr(intern!(py, "name"))?,
            arguments: call.getattr(intern!(py, "arguments"))?,
            extra: if extra.is_none() {
                Extra::None
            } else {
                let kept = call.getattr(intern!(py, "_extra_text"))?;
                Self::extra(&extra, kept, at)?
            },
        })
    }

    /// The fields of a `NativeToolCall` that can be written as they are; None for any other object.
    pub(crate) fn plain(call: &Object<'py>) -> Option<Self> {
        let fields = classes(call.py()).ok()?.call.read(call)?;
        let [Some(id), Some(name), Some(arguments), Some(extra), kept] = fields else {
            return None;
        };
        let extra = if extra.is_none() {
            Extra::None
        } else {
            let kept = kept.unwrap_or_else(|| call.py().None().into_bound(call.py()));
            Self::extra(&extra, kept, 0).ok()?
        };
        Some(Self {
            id,
            name,
            arguments,
            extra,
        })
    }

    /// The exact text that the value was read from, as long as it still says the same: the value may be a
    /// dict, which can change.
    fn extra(value: &Object<'py>, kept: Object<'py>, at: usize) -> PyResult<Extra<'py>> {
        if let Ok(kept) = kept.cast_into::<PyString>() {
            let raw = values::utf8(&kept)?.and_then(envelope::canonical_value);
            if raw.is_some_and(|raw| values::says(raw, value)) {
                return Ok(Extra::Kept(kept));
            }
        }
        let mut out = Vec::new();
        match values::write(value, EXTRA_DEPTH, &mut out) {
            Ok(()) => {
                Ok(Extra::Written(String::from_utf8(out).map_err(|error| {
                    PyTypeError::new_err(error.to_string())
                })?))
            }
            Err(Refusal::Value { path, what }) => {
                let field = format!("tool_calls[{at}].extra_content{path}");
                Err(refuse(value.py(), &field, &what))
            }
            Err(Refusal::Python(error)) => Err(error),
        }
    }

    fn extra_text(&self) -> PyResult<Option<&str>> {
        Ok(match &self.extra {
            Extra::None => None,
            Extra::Kept(text) => Some(text.to_str()?),
            Extra::Written(text) => Some(text),
        })
    }

    pub(crate) fn texts(&self, at: usize) -> PyResult<CallText<'_>> {
        let field = |name: &'static str| move || format!("tool_calls[{at}].{name}");
        Ok(CallText {
            arguments: text_field(&self.arguments, field("arguments"))?,
            extra: self.extra_text()?,
            id: text_field(&self.id, field("id"))?,
            name: text_field(&self.name, field("name"))?,
        })
    }
}

/// Runs `push` into bytes and makes them a string, the interpreter released meanwhile where the text that
/// goes in is large.
fn written(
    py: Python<'_>,
    length: usize,
    push: impl FnOnce(&mut Vec<u8>) + Send,
) -> PyResult<Bound<'_, PyString>> {
    scratch::with_bytes(|out| {
        if length >= RELEASE_AT {
            py.detach(|| push(out));
        } else {
            push(out);
        }
        PyString::from_bytes(py, out)
    })
}

/// How long a text beyond ASCII is at least that is handed over in its own form: Python's way from UTF-8
/// looks at each of its characters, a copy does not.
const WIDE_AT: usize = 256;

const fn is_wide(text: &str) -> bool {
    text.len() >= WIDE_AT && !text.is_ascii()
}

/// The body of a string literal in the text's own form, where that is quicker than by UTF-8: where the text
/// is wide and little of it is escaped.
fn wide_body<'py>(text: &Object<'py>, source: &str) -> PyResult<Option<Object<'py>>> {
    const ONE_IN: usize = 64;
    const MOST: usize = 3;
    if !is_wide(source) {
        return Ok(None);
    }
    let Some(escaped) = escaped_characters(source, ONE_IN).filter(|each| each.len() <= MOST) else {
        return Ok(None);
    };
    let py = text.py();
    let mut body = text.clone();
    for character in escaped {
        let mut literal = Vec::new();
        let mut itself = [0; 4];
        let itself = &*character.encode_utf8(&mut itself);
        push_literal_bytes(itself, &mut literal);
        let escape = PyString::from_bytes(py, &literal[1..literal.len() - 1])?;
        // The method of `str` itself: a subclass may do what it likes.
        let replace = intern!(py, "replace");
        let class = py.get_type::<PyString>();
        body = class.call_method1(replace, (body, PyString::new(py, itself), escape))?;
    }
    Ok(Some(body))
}

/// [`written`], with a wide content put where an empty one was written, which comes first.
fn written_around<'py>(
    py: Python<'py>,
    content: &Object<'py>,
    length: usize,
    push: impl FnOnce(&mut Vec<u8>) + Send,
) -> PyResult<Bound<'py, PyString>> {
    const HEAD: &[u8] = b"{\"content\":\"";
    let tail = written(py, length, |out| {
        push(out);
        out.drain(..HEAD.len());
    })?;
    let parts = (PyString::from_bytes(py, HEAD)?, content, tail);
    let joined = intern!(py, "").call_method1(intern!(py, "join"), (parts,))?;
    Ok(joined.cast_into::<PyString>()?)
}

/// Write the envelope of an assistant turn.
#[pyfunction]
#[pyo3(signature = (text, tool_calls, reasoning_content = None))]
pub(crate) fn encode_assistant_envelope<'py>(
    py: Python<'py>,
    text: &Object<'py>,
    tool_calls: &Object<'py>,
    reasoning_content: Option<&Object<'py>>,
) -> PyResult<Bound<'py, PyString>> {
    let content = optional_field(text, "text")?;
    let mut held = Vec::new();
    for (at, call) in tool_calls.try_iter()?.enumerate() {
        held.push(Held::new(&call?, at)?);
    }
    let reasoning = match reasoning_content {
        Some(reasoning) => optional_field(reasoning, "reasoning_content")?,
        None => None,
    };
    let calls = held
        .iter()
        .enumerate()
        .map(|(at, call)| call.texts(at))
        .collect::<PyResult<Vec<_>>>()?;
    let called: usize = calls
        .iter()
        .map(|call| call.arguments.len() + call.extra.map_or(0, str::len))
        .sum();
    let length = called + reasoning.map_or(0, str::len);
    if let Some(content) = content
        && let Some(body) = wide_body(text, content)?
    {
        return written_around(py, &body, length, |out| {
            envelope::push_assistant(Some(""), &calls, reasoning, out);
        });
    }
    let length = length + content.map_or(0, str::len);
    written(py, length, |out| {
        envelope::push_assistant(content, &calls, reasoning, out);
    })
}

/// Write the envelope of a tool's result.
#[pyfunction]
pub(crate) fn encode_tool_envelope<'py>(
    py: Python<'py>,
    tool_call_id: &Object<'py>,
    content: &Object<'py>,
) -> PyResult<Bound<'py, PyString>> {
    let tool_call_id = text_field(tool_call_id, || "tool_call_id".to_owned())?;
    let held = content;
    let content = text_field(content, || "content".to_owned())?;
    if let Some(body) = wide_body(held, content)? {
        return written_around(py, &body, 0, |out| {
            envelope::push_tool(tool_call_id, "", out);
        });
    }
    written(py, content.len(), |out| {
        envelope::push_tool(tool_call_id, content, out);
    })
}

// Reading -----------------------------------------------------------------------------------------

/// Makes the strings of an envelope, in the order of its text.
struct Strings<'a, 'py, T> {
    py: Python<'py>,
    /// The text, and the same in UTF-8.
    whole: (&'a Bound<'py, PyString>, &'a str),
    /// What those say that hold escapes, as far as it was found out already.
    said: T,
}

impl<'s, 'py, T: Iterator<Item = &'s [u8]>> Strings<'_, 'py, T> {
    fn make(&mut self, text: Str<'_>) -> PyResult<Object<'py>> {
        let said = match text.plain() {
            Some(plain) if is_wide(plain) => return self.slice(plain),
            Some(_) => None,
            None => self.said.next(),
        };
        Ok(match said {
            Some(said) => PyString::from_bytes(self.py, said)?,
            None => values::string(self.py, text)?,
        }
        .into_any())
    }

    /// A part of the text, in the text's own form.
    fn slice(&self, part: &str) -> PyResult<Object<'py>> {
        let (whole, source) = self.whole;
        // Of what is not part of the source a new string is made.
        let from = part.as_ptr().addr().checked_sub(source.as_ptr().addr());
        match from.and_then(|from| source.split_at_checked(from)) {
            Some((before, rest)) if rest.starts_with(part) => {
                let start = before.chars().count();
                values::slice(whole, start..start + part.chars().count())
            }
            _ => Ok(PyString::new(self.py, part).into_any()),
        }
    }

    fn content(&mut self, content: Option<Str<'_>>) -> PyResult<Object<'py>> {
        match content {
            Some(content) => self.make(content),
            None => Ok(intern!(self.py, "").clone().into_any()),
        }
    }

    fn call(&mut self, call: &Call<'_>, canonical: bool) -> PyResult<Object<'py>> {
        let py = self.py;
        let none = || py.None().into_bound(py);
        let arguments = self.make(call.arguments)?;
        let (extra, kept) = match call.extra {
            None => (none(), none()),
            Some(raw) => {
                let kept = canonical.then(|| PyString::new(py, raw.text()).into_any());
                (values::to_python(py, raw)?, kept.unwrap_or_else(none))
            }
        };
        let id = self.make(call.id)?;
        let name = self.make(call.name)?;
        let class = &classes(py)?.call;
        class.make(py, [id, name, arguments, extra, kept])
    }

    fn assistant(&mut self, envelope: &Assistant<'_>) -> PyResult<Object<'py>> {
        let py = self.py;
        let content = self.content(envelope.content)?;
        let mut make = |call| self.call(call, envelope.canonical);
        let calls = match envelope.calls.as_slice() {
            [call] => PyTuple::new(py, [make(call)?])?,
            [one, other] => PyTuple::new(py, [make(one)?, make(other)?])?,
            calls => PyTuple::new(py, calls.iter().map(make).collect::<PyResult<Vec<_>>>()?)?,
        };
        let reasoning = match envelope.reasoning {
            Some(reasoning) => self.make(reasoning)?,
            None => py.None().into_bound(py),
        };
        let class = &classes(py)?.assistant;
        class.make(py, [content, calls.into_any(), reasoning])
    }

    fn tool(&mut self, envelope: &Tool<'_>) -> PyResult<Object<'py>> {
        let content = self.content(envelope.content)?;
        let id = self.make(envelope.tool_call_id)?;
        classes(self.py)?.tool.make(self.py, [id, content])
    }
}

type Parsed<'py> = PyResult<Option<Object<'py>>>;

/// Parses a text; one with lone surrogates is no JSON.
fn parse<'a, 'py, T: Send>(
    text: &'a Bound<'py, PyString>,
    parse: impl FnOnce(&'a str) -> Option<T> + Send,
    make: impl FnOnce(Python<'py>, &T) -> PyResult<Object<'py>>,
) -> Parsed<'py> {
    let py = text.py();
    let Some(source) = values::utf8(text)? else {
        return Ok(None);
    };
    released(py, source, parse)
        .map(|envelope| make(py, &envelope))
        .transpose()
}

/// Parses a text strictly, and if that fails and it is asked for, leniently.
fn assistant<'py>(text: &Bound<'py, PyString>, lenient: bool) -> Parsed<'py> {
    let py = text.py();
    let Some(source) = values::utf8(text)? else {
        return Ok(None);
    };
    let whole = (text, source);
    scratch::with_said(|said| {
        let strict = released(py, source, |source| {
            envelope::parse_canonical_assistant_said(source, said)
        });
        if let Some(envelope) = strict {
            let said = said.texts();
            return Strings { py, whole, said }.assistant(&envelope).map(Some);
        }
        if !lenient {
            return Ok(None);
        }
        let said = std::iter::empty();
        released(py, source, envelope::parse_assistant)
            .map(|envelope| Strings { py, whole, said }.assistant(&envelope))
            .transpose()
    })
}

/// As [`assistant`].
fn tool<'py>(text: &Bound<'py, PyString>, lenient: bool) -> Parsed<'py> {
    let py = text.py();
    let Some(source) = values::utf8(text)? else {
        return Ok(None);
    };
    let whole = (text, source);
    scratch::with_said(|said| {
        let strict = released(py, source, |source| {
            envelope::parse_canonical_tool_said(source, said)
        });
        if let Some(envelope) = strict {
            let said = said.texts();
            return Strings { py, whole, said }.tool(&envelope).map(Some);
        }
        if !lenient {
            return Ok(None);
        }
        let said = std::iter::empty();
        released(py, source, envelope::parse_tool)
            .map(|envelope| Strings { py, whole, said }.tool(&envelope))
            .transpose()
    })
}

/// Read the envelope of an assistant turn from history, None where the text is none.
#[pyfunction]
#[pyo3(signature = (text, /))]
pub(crate) fn parse_assistant_envelope<'py>(text: &Bound<'py, PyString>) -> Parsed<'py> {
    assistant(text, true)
}

/// Read the envelope of a tool's result from history, None where the text is none.
#[pyfunction]
#[pyo3(signature = (text, /))]
pub(crate) fn parse_tool_envelope<'py>(text: &Bound<'py, PyString>) -> Parsed<'py> {
    tool(text, true)
}

/// Read the envelope of an assistant turn if writing it again gives the same bytes.
#[pyfunction]
#[pyo3(signature = (text, /))]
pub(crate) fn parse_canonical_assistant_envelope<'py>(text: &Bound<'py, PyString>) -> Parsed<'py> {
    assistant(text, false)
}

/// Read the envelope of a tool's result if writing it again gives the same bytes.
#[pyfunction]
#[pyo3(signature = (text, /))]
pub(crate) fn parse_canonical_tool_envelope<'py>(text: &Bound<'py, PyString>) -> Parsed<'py> {
    tool(text, false)
}

/// Say why a text is not a canonical envelope, None where it is one.
#[pyfunction]
#[pyo3(signature = (text, /))]
pub(crate) fn explain_not_canonical<'py>(text: &Bound<'py, PyString>) -> Parsed<'py> {
    let py = text.py();
    let explained = if let Some(source) = values::utf8(text)? {
        released(py, source, envelope::explain_not_canonical)
    } else {
        // Lone surrogates are no JSON, if nothing before them is at fault already.
        let bytes = text.call_method1("encode", ("utf-8", "surrogatepass"))?;
        let bytes = bytes.extract::<&[u8]>()?;
        let valid = bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid());
        let mut explained = released(py, valid, envelope::explain_not_canonical);
        let offset = match explained {
            Some(why) if why.reason == Reason::NotJson => why.offset.min(valid.len()),
            _ => valid.len(),
        };
        explained = Some(envelope::NonCanonical {
            reason: Reason::NotJson,
            offset,
        });
        explained
    };
    let Some(explained) = explained else {
        return Ok(None);
    };
    let code = PyString::intern(py, explained.reason.as_str()).into_any();
    let offset = explained.offset.into_bound_py_any(py)?;
    let class = &classes(py)?.non_canonical;
    class.make(py, [code, offset]).map(Some)
}

/// Write the extra content of a call in canonical form, None where it has none.
#[pyfunction]
#[pyo3(signature = (call, /))]
pub(crate) fn extra_content_text(call: &Object<'_>) -> PyResult<Option<String>> {
    let held = Held::new(call, 0)?;
    Ok(held.extra_text()?.map(str::to_owned))
}

/// Read the `extra_content` of a `ToolUse.extra`: the value and its canonical text.
#[pyfunction]
#[pyo3(signature = (extra, /))]
pub(crate) fn read_extra_content<'py>(extra: &Bound<'py, PyString>) -> Parsed<'py> {
    let py = extra.py();
    let refused = || refuse(py, "extra", "not JSON that an envelope can hold");
    let text = values::utf8(extra)?.ok_or_else(refused)?;
    let raw = Raw::parse(text, MAX_PAYLOAD_DEPTH).map_err(|_| refused())?;
    let Some(member) = raw.member("extra_content") else {
        return Ok(None);
    };
    let text = envelope::canonical_json(member.text()).ok_or_else(refused)?;
    let raw = envelope::canonical_value(&text).map(|raw| values::to_python(py, raw));
    let value = match raw {
        Some(value) => value?,
        // A number with an exponent has no canonical text; the value is printed anew.
        None => {
            return (values::to_python(py, member)?, py.None())
                .into_bound_py_any(py)
                .map(Some);
        }
    };
    (value, text).into_bound_py_any(py).map(Some)
}

/// Give an envelope's canonical form, if it has one, and what that would lose.
#[pyfunction]
#[pyo3(signature = (text, /))]
pub(crate) fn mend_envelope<'py>(text: &Bound<'py, PyString>) -> Parsed<'py> {
    parse(text, envelope::mend, |py, mended| {
        let lost = mended.lost.iter().map(|loss| (&loss.path, loss.what));
        let lost = PyList::new(py, lost)?;
        (mended.text.as_deref(), lost).into_bound_py_any(py)
    })
}

/// Find the content of a chat row: its role, what it says, and where its literal stands, in bytes.
#[pyfunction]
#[pyo3(signature = (row, /))]
pub(crate) fn row_content<'py>(row: &Bound<'py, PyString>) -> Parsed<'py> {
    parse(row, envelope::row_content, |py, row| {
        let texts = (row.role.to_text(), values::string(py, row.content)?);
        (texts.0, texts.1, row.place.start, row.place.end).into_bound_py_any(py)
    })
}
