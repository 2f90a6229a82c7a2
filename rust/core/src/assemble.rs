//! The message that a sequence of events adds up to. Decoders and `assemble` share it, so that the sum
//! law holds by construction.

use std::collections::HashMap;

use crate::event::{Event, StopReason, Terminal};
use crate::json::{MAX_ARGUMENT_DEPTH, Raw, Str, ends_inside_value, push_literal, range_in, trim};
use crate::usage::Usage;

/// A piece of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block {
    /// What the model says.
    Text {
        /// The text.
        text: String,
        /// Citations as JSON texts.
        citations: Vec<String>,
        /// The provider's proof for the text (Gemini).
        signature: Option<String>,
        /// A JSON object of what a replay needs beside it (Responses).
        extra: Option<String>,
    },
    /// Reasoning that the provider shows.
    Thinking {
        /// The text; may be empty where there is a signature.
        text: String,
        /// The provider's proof.
        signature: Option<String>,
    },
    /// Reasoning that only the provider can read.
    RedactedThinking {
        /// What the provider wants back.
        data: String,
    },
    /// A tool call.
    ToolUse {
        /// The call's id.
        id: String,
        /// The tool's name.
        name: String,
        /// Argument text, as the model wrote it.
        arguments: String,
        /// The provider's proof for the call.
        signature: Option<String>,
        /// A JSON object of the call's other members that a replay needs.
        extra: Option<String>,
        /// Whether the call may be run: see [`Builder::message`].
        complete: bool,
    },
    /// Anything else, as the provider has it.
    Provider {
        /// Its type.
        kind: String,
        /// JSON text.
        json: String,
    },
}

/// A turn, whole or as far as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The response's id.
    pub id: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The blocks in the order in which they opened.
    pub content: Vec<Block>,
    /// Why it stopped; unknown while it has not.
    pub stop_reason: StopReason,
    /// What the wire said.
    pub raw_reason: Option<String>,
    /// What ended it.
    pub terminal: Option<Terminal>,
    /// The tokens, where the wire gave them.
    pub usage: Option<Usage>,
    /// Whether the wire ended the turn.
    pub complete: bool,
    /// Under which name Chat Completions sent the reasoning.
    pub reasoning_field: Option<String>,
}

/// A provider's block, while its deltas come.
#[derive(Debug, Clone)]
struct ProviderParts {
    kind: String,
    start: String,
    /// `input_json_delta` text; `None` until the first.
    input: Option<String>,
    half: Option<u16>,
    members: Members,
    /// Whether the start is wrapped in a member named as the kind, as Bedrock's are, and what deltas
    /// gave for that.
    wraps: bool,
    wrapped: Members,
}

/// Members that deltas gave.
#[derive(Debug, Clone, Default)]
struct Members {
    order: Vec<(String, Member)>,
    by_name: HashMap<String, usize>,
}

#[derive(Debug, Clone)]
enum Member {
    /// Of strings the bodies, one after the other.
    Appended(String),
    /// Of lists the elements, with commas between them.
    Listed(String),
    /// Of anything else the last value.
    Replaced(String),
}

#[derive(Debug, Clone)]
enum Part {
    Text {
        text: String,
        citations: Vec<String>,
        signature: Option<String>,
        extra: Option<String>,
    },
    Thinking {
        text: String,
        signature: Option<String>,
    },
    Redacted {
        data: String,
    },
    Tool {
        id: String,
        name: String,
        arguments: String,
        signature: Option<String>,
        extra: Option<String>,
    },
    Provider(Box<ProviderParts>),
}

/// Adds events up to a message.
#[derive(Debug, Clone, Default)]
pub struct Builder {
    id: Option<String>,
    model: Option<String>,
    parts: Vec<(Part, bool)>,
    usage: Option<Usage>,
    stop: Option<(StopReason, Option<String>, Terminal)>,
    reasoning_field: Option<String>,
    /// Facts of a message item that belong to the next text block (Responses).
    item_facts: Vec<(String, String)>,
}

/// An event that cannot follow those before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misplaced {
    /// The index of the block that the event names.
    pub index: usize,
    /// How many blocks there are.
    pub blocks: usize,
}

impl std::fmt::Display for Misplaced {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { index, blocks } = self;
        write!(
            formatter,
            "an event for block {index} does not fit the {blocks} blocks before it"
        )
    }
}

impl Builder {
    /// Takes the next event.
    ///
    /// # Errors
    /// [`Misplaced`] if the event names a block that it cannot belong to. Decoders never make such events.
    pub fn apply(&mut self, event: Event<'_>) -> Result<(), Misplaced> {
        match event {
            Event::TextDelta { index, text } => match self.part(index, Self::new_text)? {
                Part::Text { text: all, .. } => all.push_str(text),
                _ => return self.misplaced(index),
            },
            Event::ThinkingDelta { index, text } => match self.part(index, Self::new_thinking)? {
                Part::Thinking { text: all, .. } => all.push_str(text),
                _ => return self.misplaced(index),
            },
            Event::InputJsonDelta {
                index,
                partial_json,
            } => match self.parts.get_mut(index) {
                Some((Part::Tool { arguments, .. }, false)) => arguments.push_str(partial_json),
                _ => return self.misplaced(index),
            },
            Event::SignatureDelta { index, signature } => {
                match self.part(index, Self::new_thinking)? {
                    Part::Text { signature: all, .. }
                    | Part::Thinking { signature: all, .. }
                    | Part::Tool { signature: all, .. } => {
                        all.get_or_insert_default().push_str(signature);
                    }
                    _ => return self.misplaced(index),
                }
            }
            Event::Citation { index, json } => match self.part(index, Self::new_text)? {
                Part::Text { citations, .. } => citations.push(json.to_owned()),
                _ => return self.misplaced(index),
            },
            Event::ContentBlockStop { index } => match self.parts.get_mut(index) {
                Some((_, closed)) if !*closed => *closed = true,
                _ => return self.misplaced(index),
            },
            Event::ToolUseStart {
                index,
                id,
                name,
                extra,
            } => self.open(
                index,
                Part::Tool {
                    id: id.to_owned(),
                    name: name.to_owned(),
                    arguments: String::new(),
                    signature: None,
                    extra: extra.map(str::to_owned),
                },
            )?,
            Event::RedactedThinking { index, data } => {
                self.open(
                    index,
                    Part::Redacted {
                        data: data.to_owned(),
                    },
                )?;
            }
            Event::Extension {
                index: Some(index),
                kind,
                json,
            } => self.extension_block(index, kind, json)?,
            Event::Extension {
                index: None,
                kind,
                json,
            } => self.fact(kind, json),
            Event::MessageStart { id, model } => {
                self.id = id.map(str::to_owned);
                self.model = model.map(str::to_owned);
            }
            Event::Usage(usage) => self.usage = Some(usage),
            Event::MessageStop {
                stop_reason,
                raw_reason,
                terminal,
            } => {
                self.stop = Some((stop_reason, raw_reason.map(str::to_owned), terminal));
            }
        }
        Ok(())
    }

    /// The text, thinking or argument text of a block so far; empty for a block that has none.
    pub(crate) fn main_text(&self, index: usize) -> &str {
        match self.parts.get(index) {
            Some((Part::Text { text, .. } | Part::Thinking { text, .. }, _)) => text,
            Some((Part::Tool { arguments, .. }, _)) => arguments,
            _ => "",
        }
    }

    /// Whether a text block has citations so far.
    pub(crate) fn has_citations(&self, index: usize) -> bool {
        matches!(self.parts.get(index), Some((Part::Text { citations, .. }, _)) if !citations.is_empty())
    }

    fn misplaced<T>(&self, index: usize) -> Result<T, Misplaced> {
        Err(Misplaced {
            index,
            blocks: self.parts.len(),
        })
    }

    /// The open block of that index, which `new` makes if it is the next one.
    fn part(&mut self, index: usize, new: fn(&mut Self) -> Part) -> Result<&mut Part, Misplaced> {
        if index == self.parts.len() {
            let part = new(self);
            self.parts.push((part, false));
        }
        let blocks = self.parts.len();
        match self.parts.get_mut(index) {
            Some((part, false)) => Ok(part),
            _ => Err(Misplaced { index, blocks }),
        }
    }

    fn open(&mut self, index: usize, part: Part) -> Result<(), Misplaced> {
        if index != self.parts.len() {
            return self.misplaced(index);
        }
        self.parts.push((part, false));
        Ok(())
    }

    fn new_text(&mut self) -> Part {
        let extra = (!self.item_facts.is_empty()).then(|| {
            let facts = std::mem::take(&mut self.item_facts);
            object(
                facts
                    .iter()
                    .map(|(name, json)| (name.as_str(), json.as_str())),
            )
        });
        Part::Text {
            text: String::new(),
            citations: Vec::new(),
            signature: None,
            extra,
        }
    }

    fn new_thinking(_: &mut Self) -> Part {
        Part::Thinking {
            text: String::new(),
            signature: None,
        }
    }

    /// Takes an extension that is no block: most are for the host alone.
    fn fact(&mut self, kind: &str, json: &str) {
        match kind {
            "reasoning_field" if self.reasoning_field.is_none() => {
                let field = Raw::parse(json, MAX_ARGUMENT_DEPTH)
                    .ok()
                    .and_then(Raw::as_str);
                self.reasoning_field = field.map(Str::to_text);
            }
            "item_id" | "phase" => {
                let name = if kind == "item_id" { "id" } else { kind };
                self.item_facts.retain(|(known, _)| known != name);
                self.item_facts.push((name.to_owned(), json.to_owned()));
            }
            _ => {}
        }
    }

    fn extension_block(&mut self, index: usize, kind: &str, json: &str) -> Result<(), Misplaced> {
        if index == self.parts.len() {
            let start = Raw::parse(json, usize::MAX).ok();
            let inner = start.filter(|start| start.is_object());
            let inner = inner.and_then(|start| start.member(kind));
            let parts = ProviderParts {
                kind: kind.to_owned(),
                start: json.to_owned(),
                input: None,
                half: None,
                members: Members::default(),
                wraps: inner.is_some_and(Raw::is_object),
                wrapped: Members::default(),
            };
            self.parts.push((Part::Provider(Box::new(parts)), false));
            return Ok(());
        }
        match self.parts.get_mut(index) {
            Some((Part::Provider(parts), false)) => {
                parts.delta(kind, json);
                Ok(())
            }
            _ => self.misplaced(index),
        }
    }

    /// The message so far. It is complete only if a [`Event::MessageStop`] came.
    ///
    /// A call in it is complete if it got its [`Event::ContentBlockStop`], its arguments do not end in the
    /// middle of a JSON value, and, where the turn was cut ([`StopReason::is_cut`]), they are a whole
    /// JSON object. `usage` is what the wire reported so far, for a turn that has no `Usage` event yet.
    #[must_use]
    pub fn message(&self, usage: Option<Usage>) -> Message {
        self.clone().into_message(usage)
    }

    /// The same as [`Builder::message`], without a copy.
    #[must_use]
    pub fn into_message(self, usage: Option<Usage>) -> Message {
        let stop_reason = self
            .stop
            .as_ref()
            .map_or(StopReason::Unknown, |stop| stop.0);
        let content = self
            .parts
            .into_iter()
            .map(|(part, closed)| finish(part, closed, stop_reason))
            .collect();
        let complete = self.stop.is_some();
        let (raw_reason, terminal) = self
            .stop
            .map_or((None, None), |stop| (stop.1, Some(stop.2)));
        Message {
            id: self.id,
            model: self.model,
            content,
            stop_reason,
            raw_reason,
            terminal,
            usage: self.usage.or(usage),
            complete,
            reasoning_field: self.reasoning_field,
        }
    }
}

fn finish(part: Part, closed: bool, stop_reason: StopReason) -> Block {
    match part {
        Part::Text {
            text,
            citations,
            signature,
            extra,
        } => Block::Text {
            text,
            citations,
            signature,
            extra,
        },
        Part::Thinking { text, signature } => Block::Thinking { text, signature },
        Part::Redacted { data } => Block::RedactedThinking { data },
        Part::Tool {
            id,
            name,
            arguments,
            signature,
            extra,
        } => {
            let complete = closed && call_is_complete(&arguments, stop_reason);
            Block::ToolUse {
                id,
                name,
                arguments,
                signature,
                extra,
                complete,
            }
        }
        Part::Provider(parts) => {
            let json = parts.json();
            Block::Provider {
                kind: parts.kind,
                json,
            }
        }
    }
}

fn call_is_complete(arguments: &str, stop_reason: StopReason) -> bool {
    if stop_reason.is_cut() {
        return matches!(Raw::parse(arguments, usize::MAX), Ok(raw) if raw.is_object());
    }
    !ends_inside_value(arguments)
}

/// A compact JSON object of raw values.
pub(crate) fn object<'a>(members: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut out = String::from("{");
    for (name, json) in members {
        if out.len() > 1 {
            out.push(',');
        }
        push_literal(name, &mut out);
        out.push(':');
        out.push_str(json);
    }
    out.push('}');
    out
}

impl ProviderParts {
    fn delta(&mut self, kind: &str, json: &str) {
        let Ok(raw) = Raw::parse(json, usize::MAX) else {
            return;
        };
        if kind == "input_json_delta" {
            let input = self.input.get_or_insert_default();
            if let Some(piece) = raw.string("partial_json") {
                piece.push_to(input, &mut self.half);
            }
            return;
        }
        // Bedrock wraps the same: the pieces are `input` of the start's `toolUse`.
        if let Some(piece) = raw.member("toolUse").and_then(|call| call.string("input")) {
            piece.push_to(self.input.get_or_insert_default(), &mut self.half);
            return;
        }
        for (key, value) in raw.entries() {
            if key.is("type") {
                continue;
            }
            let is_wrapped = self.wraps && key.is(&self.kind);
            if is_wrapped && value.is_array() {
                self.wrapped.list("content", value);
            } else if is_wrapped && value.is_object() {
                for (key, value) in value.entries() {
                    self.wrapped.take(key.to_text(), value);
                }
            } else {
                self.members.take(key.to_text(), value);
            }
        }
    }

    /// The start block with what the deltas gave; everything else byte for byte.
    fn json(&self) -> String {
        let input = self
            .input
            .as_ref()
            .filter(|input| !trim(input).is_empty())
            .map(|input| {
                let mut input = input.clone();
                if self.half.is_some() {
                    input.push(char::REPLACEMENT_CHARACTER);
                }
                if Raw::parse(&input, usize::MAX).is_ok() {
                    return input;
                }
                // A cut input would break the block: it becomes a string, whose text is what came.
                let mut literal = String::new();
                push_literal(&input, &mut literal);
                literal
            });
        let Ok(start) = Raw::parse(&self.start, usize::MAX) else {
            return self.start.clone();
        };
        if !start.is_object() {
            return self.start.clone();
        }
        if let (Some(call), Some(input)) = (start.member("toolUse"), &input) {
            return with_member(start, "toolUse", &with_member(call, "input", input));
        }
        let mut text = self.members.merged(start, input.as_deref());
        if !self.wrapped.order.is_empty()
            && let Ok(whole) = Raw::parse(&text, usize::MAX)
            && let Some(inner) = whole.member(&self.kind)
        {
            text = with_member(whole, &self.kind, &self.wrapped.merged(inner, None));
        }
        text
    }
}

impl Members {
    /// Takes a member of a delta.
    fn take(&mut self, name: String, value: Raw<'_>) {
        let at = *self.by_name.entry(name.clone()).or_insert(self.order.len());
        match (self.order.get_mut(at), value.as_str()) {
            (None, Some(piece)) => {
                let member = Member::Appended(piece.body().to_owned());
                self.order.push((name, member));
            }
            (None, None) => {
                let member = Member::Replaced(value.text().to_owned());
                self.order.push((name, member));
            }
            (Some((_, Member::Appended(body))), Some(piece)) => body.push_str(piece.body()),
            (Some((_, member)), _) => *member = Member::Replaced(value.text().to_owned()),
        }
    }

    /// Takes the elements of a list that comes in pieces.
    fn list(&mut self, name: &str, value: Raw<'_>) {
        let at = *self
            .by_name
            .entry(name.to_owned())
            .or_insert(self.order.len());
        if self.order.len() == at {
            self.order
                .push((name.to_owned(), Member::Listed(String::new())));
        }
        let (_, member) = &mut self.order[at];
        if !matches!(member, Member::Listed(_)) {
            *member = Member::Listed(String::new());
        }
        if let Member::Listed(body) = member {
            for element in value.elements() {
                push_element(body, element.text());
            }
        }
    }

    /// An object with these members and the `input` in it; everything else byte for byte.
    fn merged(&self, object: Raw<'_>, mut input: Option<&str>) -> String {
        let text = object.text();
        if input.is_none() && self.order.is_empty() {
            return text.to_owned();
        }
        let mut out = String::with_capacity(text.len() + 64);
        let mut copied = 0;
        let mut used = vec![false; self.order.len()];
        for (key, value) in object.entries() {
            let replacement = if key.is("input") && input.is_some() {
                input.take().map(str::to_owned)
            } else {
                self.by_name.get(&key.to_text()).map(|&at| {
                    used[at] = true;
                    self.order[at].1.json(Some(value))
                })
            };
            if let Some(replacement) = replacement {
                let range = range_in(text, value.text());
                out.push_str(&text[copied..range.start]);
                out.push_str(&replacement);
                copied = range.end;
            }
        }
        let body_end = text.len() - 1;
        out.push_str(&text[copied..body_end]);
        let mut first = object.is_empty();
        let mut append = |name: &str, json: &str| {
            if !std::mem::take(&mut first) {
                out.push(',');
            }
            push_literal(name, &mut out);
            out.push(':');
            out.push_str(json);
        };
        if let Some(input) = input {
            append("input", input);
        }
        for ((name, member), used) in self.order.iter().zip(used) {
            if !used {
                append(name, &member.json(None));
            }
        }
        out.push('}');
        out
    }
}

impl Member {
    /// The value, given the one that stood in the start.
    fn json(&self, old: Option<Raw<'_>>) -> String {
        match self {
            Self::Appended(body) => match old.and_then(Raw::as_str) {
                Some(old) => format!("\"{}{body}\"", old.body()),
                None => format!("\"{body}\""),
            },
            Self::Listed(body) => {
                let mut elements = String::new();
                for element in old.into_iter().flat_map(Raw::elements) {
                    push_element(&mut elements, element.text());
                }
                if !body.is_empty() {
                    push_element(&mut elements, body);
                }
                format!("[{elements}]")
            }
            Self::Replaced(json) => json.clone(),
        }
    }
}

fn push_element(elements: &mut String, element: &str) {
    if !elements.is_empty() {
        elements.push(',');
    }
    elements.push_str(element);
}

/// An object with one member set; everything else byte for byte.
fn with_member(object: Raw<'_>, name: &str, json: &str) -> String {
    let text = object.text();
    let old = object.entries().filter(|(key, _)| key.is(name)).last();
    if let Some((_, value)) = old {
        let range = range_in(text, value.text());
        return format!("{}{json}{}", &text[..range.start], &text[range.end..]);
    }
    let comma = if object.is_empty() { "" } else { "," };
    let mut out = text[..text.len() - 1].to_owned() + comma;
    push_literal(name, &mut out);
    out.push(':');
    out.push_str(json);
    out.push('}');
    out
}
