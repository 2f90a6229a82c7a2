//! Runs of plain messages, written for a wire on which the roles alternate.
//!
//! A message is plain where no rule says anything about it but how its blocks are spelled: texts, calls with
//! arguments that are an object, results that are texts, thinking with a signature that counts. How each is
//! spelled is not known here: the rules write one of each kind once, and are told apart around what changes.
//! Whatever is not plain ends a run, and the rules write it.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyList, PySet, PyString, PyTuple};
use turntape_core::arguments;
use turntape_core::json::push_literal_bytes;

use crate::classes::{self, Classes};
use crate::pairing::{MOST_CALLS, conversation};
use crate::scratch;

type Object<'py> = Bound<'py, PyAny>;

/// The pieces of text around the values of a form.
type Pieces<const VALUES: usize> = (Vec<u8>, [Vec<u8>; VALUES]);

/// The longest id that every wire takes.
const LONGEST_ID: usize = 64;

/// How many messages make a run: fewer are written as fast by the rules.
const LEAST: usize = 2;

/// How the blocks of a wire are spelled.
#[pyclass(frozen, module = "turntape._native")]
pub(crate) struct PlainForms {
    user: Vec<u8>,
    assistant: Vec<u8>,
    close: Vec<u8>,
    text: Pieces<1>,
    call: Pieces<3>,
    result: Pieces<2>,
    failure: Pieces<2>,
    thinking: Pieces<2>,
}

#[pymethods]
impl PlainForms {
    /// Take forms apart: each is JSON text with `values` in the places of what changes.
    #[new]
    #[expect(clippy::too_many_arguments, reason = "one for each form")]
    fn new(
        values: (&str, &str, &str),
        user: &[u8],
        assistant: &[u8],
        close: &[u8],
        text: &[u8],
        call: &[u8],
        result: &[u8],
        failure: &[u8],
        thinking: &[u8],
    ) -> PyResult<Self> {
        let (first, second, third) = values;
        Ok(Self {
            user: user.to_vec(),
            assistant: assistant.to_vec(),
            close: close.to_vec(),
            text: pieces(text, [first])?,
            call: pieces(call, [first, second, third])?,
            result: pieces(result, [first, second])?,
            failure: pieces(failure, [first, second])?,
            thinking: pieces(thinking, [first, second])?,
        })
    }
}

/// What goes before each value, and what goes behind the last one.
fn pieces<const VALUES: usize>(form: &[u8], values: [&str; VALUES]) -> PyResult<Pieces<VALUES>> {
    let mut rest = form;
    let mut before = [const { Vec::new() }; VALUES];
    for (piece, value) in before.iter_mut().zip(values) {
        let value = value.as_bytes();
        let place = rest
            .windows(value.len())
            .position(|window| window == value)
            .ok_or_else(|| pyo3::exceptions::PyValueError::new_err("a form lacks a value"))?;
        piece.extend_from_slice(&rest[..place]);
        rest = &rest[place + value.len()..];
    }
    Ok((rest.to_vec(), before))
}

/// Write the plain messages from a place on, as far as there are any; None where it is not worth it. The
/// message behind a run is one that is plain and not in it, so that what follows may be joined to it.
#[pyfunction]
#[pyo3(signature = (forms, messages, places, start, stop, role, given, sent_ids, sent_names, called, origins, /))]
#[expect(clippy::too_many_arguments, reason = "the state of a writer")]
pub(crate) fn write_plain_run<'py>(
    forms: &PlainForms,
    messages: &Bound<'py, PyList>,
    places: &Bound<'py, PyList>,
    start: usize,
    stop: usize,
    role: &str,
    given: &Bound<'py, PySet>,
    sent_ids: &Bound<'py, PyDict>,
    sent_names: &Bound<'py, PyDict>,
    called: &Bound<'py, PyDict>,
    origins: &Bound<'py, PyDict>,
) -> PyResult<Option<(Bound<'py, PyBytes>, Vec<usize>)>> {
    let py = messages.py();
    scratch::with_bytes(|out| {
        let mut run = Run {
            forms,
            classes: classes::classes(py)?,
            given,
            sent_names,
            origins,
            signed_for: None,
            waiting: Vec::new(),
            ids: Vec::new(),
            out,
        };
        let mut is_users = role != "user";
        // Behind each message: the end of its text, and how many ids were taken up to there.
        let mut ends: Vec<(usize, usize)> = Vec::new();
        for message in messages.iter().take(stop).skip(start) {
            if run.message(&message, is_users).is_none() {
                break;
            }
            ends.push((run.out.len(), run.ids.len()));
            is_users = !is_users;
        }
        // The last one is left to the rules, and so is all of a short run.
        let count = ends.len().saturating_sub(1);
        let count = if count < LEAST { 0 } else { count };
        let (end, taken) = match count.checked_sub(1) {
            Some(last) => ends[last],
            None => (0, 0),
        };
        let Run { ids, out, .. } = run;
        for (id, _) in ids.iter().skip(taken) {
            given.discard(id)?;
        }
        if count == 0 {
            return Ok(None);
        }
        let mut number = 0;
        for (at, (id, name)) in ids.iter().enumerate().take(taken) {
            sent_ids.set_item(id, PyList::new(py, [id])?)?;
            while ends[number].1 <= at {
                number += 1;
            }
            if !called.contains(name)? {
                called.set_item(name, places.get_item(start + number)?)?;
            }
        }
        let ends = ends.iter().take(count).map(|(end, _)| *end).collect();
        Ok(Some((PyBytes::new(py, &out[..end]), ends)))
    })
}

struct Run<'a, 'py> {
    forms: &'a PlainForms,
    classes: &'a Classes,
    given: &'a Bound<'py, PySet>,
    sent_names: &'a Bound<'py, PyDict>,
    origins: &'a Bound<'py, PyDict>,
    /// Whether signatures count that come from this vendor, model and wire, the last that was asked about.
    signed_for: Option<([Object<'py>; 3], bool)>,
    /// The calls of the last turn without results so far.
    waiting: Vec<Bound<'py, PyString>>,
    /// The id and the name of each call.
    ids: Vec<(Bound<'py, PyString>, Bound<'py, PyString>)>,
    out: &'a mut Vec<u8>,
}

// Whatever is None below is not plain. What was written of such a message is cut off again.
impl<'py> Run<'_, 'py> {
    fn message(&mut self, message: &Object<'py>, is_users: bool) -> Option<()> {
        let (content, source) = read_message(message, if is_users { "user" } else { "assistant" })?;
        if content.is_empty() {
            return None;
        }
        let start = self.out.len();
        let open = if is_users {
            &self.forms.user
        } else {
            &self.forms.assistant
        };
        if start > 0 {
            self.out.push(b',');
        }
        self.out.extend_from_slice(open);
        let first = self.out.len();
        if is_users {
            self.user(&content, first)?;
        } else {
            self.assistant(&content, first, &source)?;
        }
        self.out.extend_from_slice(&self.forms.close);
        Some(())
    }

    fn user(&mut self, content: &Bound<'py, PyTuple>, first: usize) -> Option<()> {
        // Results go before everything else.
        let mut others = false;
        for block in content.iter_borrowed() {
            match conversation(block.py()).ok()?.result.read(&block) {
                Some(fields) => self.result(fields, first)?,
                None => others = true,
            }
        }
        if !self.waiting.is_empty() {
            return None;
        }
        if others {
            let result = &conversation(content.py()).ok()?.result;
            for block in content.iter_borrowed() {
                if !result.is_exact(&block) {
                    self.text(&block, first)?;
                }
            }
        }
        Some(())
    }

    fn assistant(
        &mut self,
        content: &Bound<'py, PyTuple>,
        first: usize,
        source: &[Object<'py>; 3],
    ) -> Option<()> {
        if !self.waiting.is_empty() {
            return None;
        }
        for block in content.iter_borrowed() {
            if self.classes.tool_use.class.is_exact(&block) {
                self.call(&block, first)?;
            } else if self.classes.thinking.class.is_exact(&block) {
                self.thinking(&block, first, source)?;
            } else {
                self.text(&block, first)?;
            }
        }
        Some(())
    }

    fn text(&mut self, block: &Object<'py>, first: usize) -> Option<()> {
        let [_, text, citations, signature, extra] = self.classes.text.class.read(block)?;
        let is_bare = citations?.cast_exact::<PyTuple>().ok()?.is_empty()
            && signature?.is_none()
            && extra?.is_none();
        let text = string(text?)?;
        let said = said(&text)?;
        if !is_bare {
            return None;
        }
        self.block(first);
        let (end, [before]) = &self.forms.text;
        self.out.extend_from_slice(before);
        push_literal_bytes(said, self.out);
        self.out.extend_from_slice(end);
        Some(())
    }

    fn call(&mut self, block: &Object<'py>, first: usize) -> Option<()> {
        if self.waiting.len() >= MOST_CALLS {
            return None;
        }
        let [_, id, name, arguments, signature, extra, _] =
            self.classes.tool_use.class.read(block)?;
        if !signature?.is_none() || !extra?.is_none() {
            return None;
        }
        let (id, name, arguments) = (string(id?)?, string(name?)?, string(arguments?)?);
        let text = id.to_str().ok()?;
        let is_valid = (1..=LONGEST_ID).contains(&text.len())
            && text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
        if !is_valid || self.given.contains(&id).ok()? {
            return None;
        }
        // A name that comes for the first time is for the rules to judge.
        let sent = self.sent_names.get_item(&name).ok()??;
        if !sent.is(&name)
            && sent.cast_exact::<PyString>().ok()?.to_str().ok()? != name.to_str().ok()?
        {
            return None;
        }
        let given = arguments.to_str().ok()?;
        if given.trim_ascii().is_empty() || may_hold_half(given) {
            return None;
        }
        arguments::check(given).ok()?;
        self.block(first);
        let (end, [before_id, before_name, before_arguments]) = &self.forms.call;
        self.out.extend_from_slice(before_id);
        push_literal_bytes(text, self.out);
        self.out.extend_from_slice(before_name);
        push_literal_bytes(name.to_str().ok()?, self.out);
        self.out.extend_from_slice(before_arguments);
        self.out.extend_from_slice(given.as_bytes());
        self.out.extend_from_slice(end);
        self.given.add(&id).ok()?;
        self.waiting.push(id.clone());
        self.ids.push((id, name));
        Some(())
    }

    fn thinking(
        &mut self,
        block: &Object<'py>,
        first: usize,
        source: &[Object<'py>; 3],
    ) -> Option<()> {
        let [_, text, signature] = self.classes.thinking.class.read(block)?;
        let (text, signature) = (string(text?)?, string(signature?)?);
        let proof = signature.to_str().ok()?;
        // One that begins so is an entry of another wire's, with the proof in it.
        if proof.starts_with('{') || !self.counts(source)? {
            return None;
        }
        self.block(first);
        let (end, [before_text, before_signature]) = &self.forms.thinking;
        self.out.extend_from_slice(before_text);
        push_literal_bytes(text.to_str().ok()?, self.out);
        self.out.extend_from_slice(before_signature);
        push_literal_bytes(proof, self.out);
        self.out.extend_from_slice(end);
        Some(())
    }

    /// Whether signatures of a source count.
    fn counts(&mut self, source: &[Object<'py>; 3]) -> Option<bool> {
        if let Some((asked, counts)) = &self.signed_for
            && asked.iter().zip(source).all(|(one, other)| one.is(other))
        {
            return Some(*counts);
        }
        let py = self.origins.py();
        let key = PyTuple::new(py, source).ok()?;
        // Not of a plain dict: what is asked for the first time is found out.
        let origin = self.origins.as_any().get_item(key).ok()?;
        let counts = origin.getattr(intern!(py, "is_signed_for")).ok()?;
        let counts = counts.cast_exact::<PyBool>().ok()?.is_true();
        self.signed_for = Some((source.clone(), counts));
        Some(counts)
    }

    fn result(&mut self, fields: [Option<Object<'py>>; 4], first: usize) -> Option<()> {
        let [id, content, failed, extra] = fields;
        let (id, content) = (string(id?)?, string(content?)?);
        if !extra?.is_none() {
            return None;
        }
        let text = id.to_str().ok()?;
        let place = self
            .waiting
            .iter()
            .position(|call| call.is(&id) || call.to_str().is_ok_and(|call| call == text))?;
        self.waiting.remove(place);
        let said = said(&content)?;
        self.block(first);
        let form = if failed?.cast_exact::<PyBool>().ok()?.is_true() {
            &self.forms.failure
        } else {
            &self.forms.result
        };
        let (end, [before_id, before_text]) = form;
        self.out.extend_from_slice(before_id);
        push_literal_bytes(text, self.out);
        self.out.extend_from_slice(before_text);
        push_literal_bytes(said, self.out);
        self.out.extend_from_slice(end);
        Some(())
    }

    /// Begins a block of the message whose first block begins there.
    fn block(&mut self, first: usize) {
        if self.out.len() > first {
            self.out.push(b',');
        }
    }
}

/// The content of a plain message of this role, and its vendor, model and wire.
fn read_message<'py>(
    message: &Object<'py>,
    role: &str,
) -> Option<(Bound<'py, PyTuple>, [Object<'py>; 3])> {
    let [said_by, content, vendor, model, dialect, extra] =
        conversation(message.py()).ok()?.message.read(message)?;
    let is_plain = extra?.is_none() && string(said_by?)?.to_str().ok()? == role;
    let content = content?.cast_into_exact().ok()?;
    is_plain.then_some((content, [vendor?, model?, dialect?]))
}

/// A string of exactly that type.
fn string(value: Object<'_>) -> Option<Bound<'_, PyString>> {
    value.cast_into_exact().ok()
}

/// What a text says, if it says anything: white space alone does not, whoever's notion of it counts.
fn said<'a>(text: &'a Bound<'_, PyString>) -> Option<&'a str> {
    let text = text.to_str().ok()?;
    text.chars()
        .any(|character| !character.is_whitespace() && !character.is_control())
        .then_some(text)
}

/// Whether there is an escape that may be half of a surrogate pair.
fn may_hold_half(json: &str) -> bool {
    let bytes = json.as_bytes();
    bytes
        .windows(3)
        .any(|window| matches!(window, [b'\\', b'u', b'd' | b'D']))
}
