//! The canonical form of an envelope that is not canonical, and what is lost by it.

use super::MAX_ENVELOPE_DEPTH;
use std::collections::HashSet;

use super::encode::{CallText, encode_assistant, encode_tool};
use super::form::{into_text, push_form, text_of};
use super::number::{self, Number};
use super::parse::{assistant_of, read, tool_of};
use crate::json::Raw;

/// The canonical form of an envelope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mended {
    /// The canonical text; None where a number has no canonical form.
    pub text: Option<String>,
    /// What the text says and its canonical form does not, as paths in the order of the text, with the
    /// reason of each.
    pub lost: Vec<Loss>,
}

/// Something that the canonical form does not say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// Where it stands, as `tool_calls[0].extra_content.key`.
    pub path: String,
    /// What it is, in a few words.
    pub what: &'static str,
}

/// Gives the canonical form of an envelope; None for what is no envelope. Content that is null or missing,
/// and null reasoning or extra content, is not lost: no reader tells it from the empty text, or from none.
#[must_use]
pub fn mend(text: &str) -> Option<Mended> {
    let raw = read(text, MAX_ENVELOPE_DEPTH).ok()?;
    let mut lost = Losses::default();
    let text = if let Ok(turn) = assistant_of(raw) {
        lost.object(raw, "", &["content", "reasoning_content", "tool_calls"]);
        lost.content(raw);
        if let Some(reasoning) = raw.member("reasoning_content") {
            let is_text = reasoning.as_str().is_some();
            let what = if is_text {
                "reasoning"
            } else {
                "a member that envelopes do not have"
            };
            lost.add("reasoning_content", what);
        }
        let calls = raw.member("tool_calls").into_iter().flat_map(Raw::elements);
        for (at, call) in calls.enumerate() {
            let path = format!("tool_calls[{at}]");
            lost.object(call, &path, &["arguments", "extra_content", "id", "name"]);
            if let Some(extra) = call.member("extra_content") {
                lost.json(extra, &format!("{path}.extra_content"));
            }
        }
        let texts: Vec<_> = turn
            .calls
            .iter()
            .map(|call| {
                let extra = call.extra.map(|extra| {
                    let mut out = Vec::new();
                    push_form(extra, &mut out);
                    into_text(out)
                });
                let [id, name, arguments] = [call.id, call.name, call.arguments].map(text_of);
                (id, name, arguments, extra)
            })
            .collect();
        let calls: Vec<_> = texts
            .iter()
            .map(|(id, name, arguments, extra)| CallText {
                id,
                name,
                arguments,
                extra: extra.as_deref(),
            })
            .collect();
        let content = turn.content.map(text_of).unwrap_or_default();
        encode_assistant(Some(&content), &calls, None)
    } else {
        let result = tool_of(raw).ok()?;
        lost.object(raw, "", &["content", "tool_call_id"]);
        lost.content(raw);
        let content = result.content.map(text_of).unwrap_or_default();
        encode_tool(&text_of(result.tool_call_id), &content)
    };
    Some(Mended {
        text: (!lost.has_no_form).then_some(text),
        lost: lost.found,
    })
}

#[derive(Default)]
struct Losses {
    found: Vec<Loss>,
    /// Whether a number has no canonical form.
    has_no_form: bool,
}

impl Losses {
    fn add(&mut self, path: &str, what: &'static str) {
        self.found.push(Loss {
            path: path.to_owned(),
            what,
        });
    }

    fn unprintable(&mut self, path: &str, what: &'static str) {
        self.has_no_form = true;
        self.add(path, what);
    }

    fn content(&mut self, envelope: Raw<'_>) {
        if envelope
            .member("content")
            .is_some_and(|content| content.as_str().is_none())
        {
            self.add("content", "a value that is no text");
        }
    }

    /// What an object loses that keeps the members of these names.
    fn object(&mut self, object: Raw<'_>, path: &str, kept: &[&str]) {
        let mut unknown = HashSet::new();
        for (key, _) in object.entries() {
            let name = text_of(key);
            if !kept.contains(&name.as_ref()) && unknown.insert(name.clone()) {
                self.add(&join(path, &name), "a member that envelopes do not have");
            }
        }
        for name in kept {
            let values: Vec<_> = object
                .entries()
                .filter(|(key, _)| key.is(name))
                .map(|(_, value)| value)
                .collect();
            self.overruled(&values, &join(path, name));
        }
    }

    /// What goes with the values of one name before its last one.
    fn overruled(&mut self, values: &[Raw<'_>], path: &str) {
        if let Some((last, before)) = values.split_last()
            && before.iter().any(|value| form_of(*value) != form_of(*last))
        {
            self.add(path, "an earlier value of the same name");
        }
    }

    fn json(&mut self, raw: Raw<'_>, path: &str) {
        match raw.text().as_bytes().first() {
            Some(b'{') => {
                let mut members: Vec<_> = raw
                    .entries()
                    .map(|(key, value)| (text_of(key), value))
                    .collect();
                members.sort_by(|(one, _), (other, _)| one.cmp(other));
                for same in members.chunk_by(|(one, _), (other, _)| one == other) {
                    let path = join(path, &same[0].0);
                    let values: Vec<_> = same.iter().map(|(_, value)| *value).collect();
                    self.overruled(&values, &path);
                    if let Some(last) = values.last() {
                        self.json(*last, &path);
                    }
                }
            }
            Some(b'[') => {
                for (at, element) in raw.elements().enumerate() {
                    self.json(element, &format!("{path}[{at}]"));
                }
            }
            Some(b'-' | b'0'..=b'9') => {
                if let Number::Double(value) = Number::read(raw.text()) {
                    match number::double_text(value) {
                        Some(printed) if number::is_canonical_number(&printed) => {
                            if !number::same_decimal(raw.text(), &printed) {
                                self.add(path, "digits that no double holds");
                            }
                        }
                        Some(_) => {
                            self.unprintable(path, "a number that only an exponent can write");
                        }
                        None => self.unprintable(path, "a number beyond all doubles"),
                    }
                }
            }
            _ => {}
        }
    }
}

fn form_of(value: Raw<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    push_form(value, &mut out);
    out
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}
