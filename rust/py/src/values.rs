//! JSON values, between Python's objects and canonical text.

use std::fmt::Write as _;

use pyo3::IntoPyObjectExt;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PySlice, PyString, PyTuple};
use turntape_core::envelope::{Number, double_text};

use crate::scratch;
use turntape_core::json::{Raw, Str, Token, Tokens, push_literal_bytes};

type Object<'py> = Bound<'py, PyAny>;

/// The text in UTF-8; None where it holds lone surrogates.
pub(crate) fn utf8<'a>(text: &'a Bound<'_, PyString>) -> PyResult<Option<&'a str>> {
    match text.to_str() {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.is_instance_of::<pyo3::exceptions::PyUnicodeError>(text.py()) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Some characters of a text, which need not go through UTF-8 for that.
pub(crate) fn slice<'py>(
    text: &Bound<'py, PyString>,
    characters: std::ops::Range<usize>,
) -> PyResult<Object<'py>> {
    let bound = |at: usize| isize::try_from(at).unwrap_or(isize::MAX);
    let slice = PySlice::new(text.py(), bound(characters.start), bound(characters.end), 1);
    if text.is_exact_instance_of::<PyString>() {
        return text.get_item(slice);
    }
    // The method of `str` itself: a subclass may do what it likes.
    let class = text.py().get_type::<PyString>();
    class.call_method1(intern!(text.py(), "__getitem__"), (text, slice))
}

/// Says of a `UnicodeEncodeError` what is wrong with the text.
pub(crate) fn lone_surrogate(py: Python<'_>, error: &PyErr) -> String {
    match error.value(py).getattr("start") {
        Ok(start) => format!("a lone surrogate at character {start}"),
        Err(_) => error.to_string(),
    }
}

// From text ---------------------------------------------------------------------------------------

/// What a string literal says.
pub(crate) fn string<'py>(py: Python<'py>, text: Str<'_>) -> PyResult<Bound<'py, PyString>> {
    if let Some(plain) = text.plain() {
        return Ok(PyString::new(py, plain));
    }
    scratch::with_bytes(|out| {
        text.push_bytes(out);
        PyString::from_bytes(py, out)
    })
}

/// A value that was found valid, as Python has it: integers from -2^63 to 2^64-1 are `int`, other numbers
/// `float`; of members with one name the last one counts.
pub(crate) fn to_python<'py>(py: Python<'py>, raw: Raw<'_>) -> PyResult<Object<'py>> {
    let mut tokens = raw.tokens();
    let first = tokens.next();
    value(py, first, &mut tokens)
}

fn value<'py>(
    py: Python<'py>,
    token: Option<Token<'_>>,
    tokens: &mut Tokens<'_>,
) -> PyResult<Object<'py>> {
    match token {
        Some(Token::String(text)) => Ok(string(py, text)?.into_any()),
        Some(Token::Number(text)) => match Number::read(text) {
            Number::Negative(value) => value.into_bound_py_any(py),
            Number::Natural(value) => value.into_bound_py_any(py),
            Number::Double(value) => value.into_bound_py_any(py),
        },
        Some(Token::Bool(value)) => value.into_bound_py_any(py),
        Some(Token::Null | Token::End) | None => Ok(py.None().into_bound(py)),
        Some(Token::BeginArray) => {
            let list = PyList::empty(py);
            while let Some(token) = tokens.next().filter(|token| *token != Token::End) {
                list.append(value(py, Some(token), tokens)?)?;
            }
            Ok(list.into_any())
        }
        Some(Token::BeginObject) => {
            let dict = PyDict::new(py);
            while let Some(Token::String(key)) = tokens.next() {
                let key = string(py, key)?;
                let next = tokens.next();
                dict.set_item(key, value(py, next, tokens)?)?;
            }
            Ok(dict.into_any())
        }
    }
}

/// Whether a value is exactly what a canonical text says, types included.
pub(crate) fn says(raw: Raw<'_>, object: &Object<'_>) -> bool {
    let mut tokens = raw.tokens();
    let first = tokens.next();
    matches(first, &mut tokens, object) == Some(true)
}

/// None where something in the way of looking went wrong, which is no match either.
fn matches(token: Option<Token<'_>>, tokens: &mut Tokens<'_>, object: &Object<'_>) -> Option<bool> {
    let same = match token? {
        Token::String(text) => {
            let object = object.cast::<PyString>().ok()?;
            text.is(object.to_str().ok()?)
        }
        Token::Number(text) => match Number::read(text) {
            Number::Negative(value) => whole(object)?.extract::<i64>().ok()? == value,
            Number::Natural(value) => whole(object)?.extract::<u64>().ok()? == value,
            Number::Double(value) => {
                object.cast::<PyFloat>().ok()?.value().to_bits() == value.to_bits()
            }
        },
        Token::Bool(value) => object.cast::<PyBool>().ok()?.is_true() == value,
        Token::Null => object.is_none(),
        Token::End => false,
        Token::BeginArray => {
            let list = object.cast::<PyList>().ok()?;
            let mut items = list.iter();
            loop {
                let token = tokens.next()?;
                match items.next() {
                    None => break token == Token::End,
                    Some(_) if token == Token::End => break false,
                    Some(item) if matches(Some(token), tokens, &item)? => {}
                    Some(_) => break false,
                }
            }
        }
        Token::BeginObject => {
            let dict = object.cast::<PyDict>().ok()?;
            let mut members = 0;
            while let Token::String(key) = tokens.next()? {
                let key = string(object.py(), key).ok()?;
                let item = dict.get_item(key).ok()??;
                let token = tokens.next();
                if !matches(token, tokens, &item)? {
                    return Some(false);
                }
                members += 1;
            }
            dict.len() == members
        }
    };
    Some(same)
}

fn whole<'a, 'py>(object: &'a Object<'py>) -> Option<&'a Bound<'py, PyInt>> {
    // bool is a kind of int.
    (!object.is_instance_of::<PyBool>())
        .then(|| object.cast::<PyInt>().ok())
        .flatten()
}

// To text -----------------------------------------------------------------------------------------

/// Why a value cannot be written.
pub(crate) enum Refusal {
    /// Something in it has no JSON text; `path` leads to it from the value, as Python would spell it.
    Value { path: String, what: String },
    /// Looking at it failed.
    Python(PyErr),
}

impl From<PyErr> for Refusal {
    fn from(error: PyErr) -> Self {
        Self::Python(error)
    }
}

impl Refusal {
    pub(crate) fn value(what: impl Into<String>) -> Self {
        Self::Value {
            path: String::new(),
            what: what.into(),
        }
    }

    /// Puts a step before the path; of a long path the beginning stays.
    pub(crate) fn below(self, step: &str) -> Self {
        match self {
            Self::Value { path, what } => {
                let path = format!("{step}{path}");
                let path = match path.char_indices().nth(MAX_PATH) {
                    Some((end, _)) => format!("{}…", &path[..end]),
                    None => path,
                };
                Self::Value { path, what }
            }
            Self::Python(_) => self,
        }
    }
}

/// How many characters of a path are shown.
const MAX_PATH: usize = 200;

/// Appends a value in canonical form: `None`, `bool`, `int`, `float`, `str`, lists, tuples and dicts with
/// `str` keys, and instances of their subclasses, at most `depth` of the last three in each other.
pub(crate) fn write(object: &Object<'_>, depth: usize, out: &mut Vec<u8>) -> Result<(), Refusal> {
    if let Ok(text) = object.cast::<PyString>() {
        let literal = text
            .to_str()
            .map_err(|error| Refusal::value(lone_surrogate(text.py(), &error)))?;
        push_literal_bytes(literal, out);
    } else if object.is_none() {
        out.extend_from_slice(b"null");
    } else if let Ok(value) = object.cast::<PyBool>() {
        out.extend_from_slice(if value.is_true() { b"true" } else { b"false" });
    } else if let Ok(value) = object.cast::<PyInt>() {
        let text = match (value.extract::<i64>(), value.extract::<u64>()) {
            (Ok(value), _) => value.to_string(),
            (_, Ok(value)) => value.to_string(),
            _ => return Err(Refusal::value("an integer outside -2**63 to 2**64-1")),
        };
        out.extend_from_slice(text.as_bytes());
    } else if let Ok(value) = object.cast::<PyFloat>() {
        let value = value.value();
        let text = double_text(value).ok_or_else(|| {
            let name = if value.is_nan() { "NaN" } else { "an infinity" };
            Refusal::value(format!("{name}, which JSON cannot say"))
        })?;
        out.extend_from_slice(text.as_bytes());
    } else if let Ok(dict) = object.cast::<PyDict>() {
        write_dict(dict, deeper(depth)?, out)?;
    } else if let Ok(list) = object.cast::<PyList>() {
        let depth = deeper(depth)?;
        write_items(list.iter(), depth, out)?;
    } else if let Ok(tuple) = object.cast::<PyTuple>() {
        let depth = deeper(depth)?;
        write_items(tuple.iter(), depth, out)?;
    } else {
        let kind = object.get_type().name()?;
        return Err(Refusal::value(format!("{kind}, which JSON cannot say")));
    }
    Ok(())
}

fn deeper(depth: usize) -> Result<usize, Refusal> {
    depth
        .checked_sub(1)
        .ok_or_else(|| Refusal::value("more than 127 nested containers, the envelope's included"))
}

fn write_items<'py>(
    items: impl Iterator<Item = Object<'py>>,
    depth: usize,
    out: &mut Vec<u8>,
) -> Result<(), Refusal> {
    out.push(b'[');
    for (at, item) in items.enumerate() {
        if at > 0 {
            out.push(b',');
        }
        write(&item, depth, out).map_err(|refusal| refusal.below(&format!("[{at}]")))?;
    }
    out.push(b']');
    Ok(())
}

fn write_dict(dict: &Bound<'_, PyDict>, depth: usize, out: &mut Vec<u8>) -> Result<(), Refusal> {
    // A list of its own, so that nothing can change it meanwhile.
    let items = dict.items();
    let mut held = Vec::with_capacity(items.len());
    for item in items {
        let (key, value) = item.extract::<(Object<'_>, Object<'_>)>()?;
        match key.cast_into::<PyString>() {
            Ok(key) => held.push((key, value)),
            Err(error) => {
                let key = error.into_inner();
                let kind = key.get_type().name()?;
                let shown = key.repr()?.to_string_lossy().into_owned();
                let refusal = Refusal::value(format!("a key that is {kind}, not str"));
                return Err(refusal.below(&format!("[{shown}]")));
            }
        }
    }
    let mut members = Vec::with_capacity(held.len());
    for (key, value) in &held {
        let text = key.to_str().map_err(|error| {
            let what = format!("a key with {}", lone_surrogate(key.py(), &error));
            Refusal::value(what).below(&step(&key.to_string_lossy()))
        })?;
        members.push((text, value));
    }
    members.sort_by_key(|(key, _)| *key);
    out.push(b'{');
    for (at, (key, value)) in members.iter().enumerate() {
        if at > 0 {
            // Strings of a subclass may be equal and yet be two keys.
            if members[at - 1].0 == *key {
                return Err(Refusal::value("a key that comes twice").below(&step(key)));
            }
            out.push(b',');
        }
        push_literal_bytes(key, out);
        out.push(b':');
        write(value, depth, out).map_err(|refusal| refusal.below(&step(key)))?;
    }
    out.push(b'}');
    Ok(())
}

/// A step of a path to a member.
pub(crate) fn step(key: &str) -> String {
    let is_name = !key.starts_with(|first: char| first.is_ascii_digit())
        && !key.is_empty()
        && key.len() <= MAX_PATH
        && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let mut out = String::new();
    if is_name {
        let _ = write!(out, ".{key}");
    } else {
        let shown: String = key.chars().take(MAX_PATH).collect();
        let _ = write!(out, "[{shown:?}]");
    }
    out
}
