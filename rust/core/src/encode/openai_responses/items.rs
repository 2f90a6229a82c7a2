//! The items of a response's output, and the events that lead to them.

use super::{Held, Open, OpenAiResponses, Streamed, has_pieces};
use crate::assemble::{Block, Builder};
use crate::encode::note::NoteCode;
use crate::encode::text::{end, is_typed, literal, number, other_members, plain, raw};
use crate::encode::turn::Turn;
use crate::encode::voice::Voice as _;
use crate::json::{MAX_PAYLOAD_DEPTH, Raw, Str, ends_inside_value};
use crate::wire::openai_responses::HOST_ITEMS;
use crate::wire::value_str;

/// A message item.
#[derive(Debug, Default)]
pub(super) struct Message {
    /// Id and phase, as JSON.
    id: String,
    phase: Option<String>,
    pub(super) parts: Vec<Part>,
    open_parts: usize,
    /// No further part comes: it is done once its parts are.
    is_left: bool,
}

/// A text part.
#[derive(Debug, Default)]
pub(super) struct Part {
    /// What stands before each of its pieces, from the number of the event on.
    pub(super) middle: Vec<u8>,
    /// The text, escaped.
    pub(super) text: Vec<u8>,
    /// The annotations, with commas between them.
    annotations: Vec<u8>,
    pub(super) annotation_count: u64,
}

/// A reasoning item, its text one summary.
#[derive(Debug)]
pub(super) struct Reasoning {
    /// The id, as JSON.
    pub(super) id: String,
    /// The text, escaped.
    pub(super) text: Vec<u8>,
    /// As JSON.
    encrypted: Option<String>,
}

/// A call of the host's tools.
#[derive(Debug)]
pub(super) struct Call {
    /// The id of the item, as JSON.
    pub(super) id: String,
    /// What the item says of itself, up to its status: its members, each with a comma before it.
    members: Vec<u8>,
    /// A custom tool: what it gets is any text.
    pub(super) is_custom: bool,
    /// What it gets, escaped.
    pub(super) text: Vec<u8>,
}

/// `,"item_id":…,"output_index":…`.
pub(super) fn place_members(id: &str, place: usize, out: &mut Vec<u8>) {
    plain(",\"item_id\":", out);
    plain(id, out);
    plain(",\"output_index\":", out);
    number(place as u64, out);
}

/// Whether an extension is an item that goes out whole.
pub(super) fn is_item(kind: &str, json: Raw<'_>) -> bool {
    is_typed(json, kind) && !matches!(kind, "" | "message" | "reasoning")
}

impl Message {
    /// An item of which a text's `extra` tells.
    fn with(extra: Option<&str>, id: String) -> Self {
        let members = extra.map(|extra| Raw::assume(extra).members(&["id", "phase"]));
        let text =
            |value: Option<Raw<'_>>| value_str(value).and(value).map(|v| v.text().to_owned());
        let [own_id, phase] = members.unwrap_or_default().map(text);
        Self {
            id: own_id.unwrap_or(id),
            phase,
            ..Self::default()
        }
    }

    /// Adds a whole part.
    fn add(&mut self, text: &str, citations: &[String]) {
        let mut part = Part {
            text: escaped(text),
            ..Part::default()
        };
        for citation in citations {
            part.annotate(Raw::assume(citation));
        }
        self.parts.push(part);
    }

    /// `,"item_id":…,"output_index":…,"content_index":…`.
    pub(super) fn part_members(&self, place: usize, part: usize, out: &mut Vec<u8>) {
        place_members(&self.id, place, out);
        plain(",\"content_index\":", out);
        number(part as u64, out);
    }

    /// The item; `refuses` if its last part is a refusal.
    fn write(&self, is_done: bool, refuses: bool, out: &mut Vec<u8>) {
        plain("{\"id\":", out);
        plain(&self.id, out);
        plain(",\"type\":\"message\",\"status\":\"", out);
        plain(if is_done { "completed" } else { "in_progress" }, out);
        plain("\",\"role\":\"assistant\"", out);
        if let Some(phase) = &self.phase {
            plain(",\"phase\":", out);
            plain(phase, out);
        }
        plain(",\"content\":[", out);
        for (at, part) in self.parts.iter().enumerate() {
            plain(if at == 0 { "" } else { "," }, out);
            part.write(refuses && at + 1 == self.parts.len(), out);
        }
        plain("]}", out);
    }
}

impl Part {
    fn write(&self, is_refusal: bool, out: &mut Vec<u8>) {
        if is_refusal {
            plain("{\"type\":\"refusal\",\"refusal\":\"", out);
            out.extend_from_slice(&self.text);
            plain("\"}", out);
            return;
        }
        plain("{\"type\":\"output_text\",\"annotations\":[", out);
        out.extend_from_slice(&self.annotations);
        plain("],\"logprobs\":[],\"text\":\"", out);
        out.extend_from_slice(&self.text);
        plain("\"}", out);
    }

    pub(super) fn annotate(&mut self, json: Raw<'_>) {
        if self.annotation_count > 0 {
            plain(",", &mut self.annotations);
        }
        raw(json, &mut self.annotations);
        self.annotation_count += 1;
    }
}

impl Reasoning {
    fn write(&self, is_done: bool, out: &mut Vec<u8>) {
        plain("{\"id\":", out);
        plain(&self.id, out);
        plain(",\"type\":\"reasoning\",\"summary\":[", out);
        if is_done && !self.text.is_empty() {
            self.write_part(out);
        }
        plain("]", out);
        if let Some(encrypted) = self.encrypted.as_ref().filter(|_| is_done) {
            plain(",\"encrypted_content\":", out);
            plain(encrypted, out);
        }
        plain("}", out);
    }

    fn write_part(&self, out: &mut Vec<u8>) {
        plain("{\"type\":\"summary_text\",\"text\":\"", out);
        out.extend_from_slice(&self.text);
        plain("\"}", out);
    }
}

impl Call {
    fn new(id: String, call_id: &str, name: &str, extra: Option<Raw<'_>>) -> Self {
        let kind = extra.and_then(|extra| extra.string("type"));
        let is_custom = kind.is_some_and(|kind| kind.is("custom_tool_call"));
        let own_id = extra.and_then(|extra| extra.member("id"));
        let own_id = value_str(own_id).and(own_id).map(Raw::text);
        let mut members = Vec::new();
        if !is_custom {
            plain(",\"type\":\"function_call\"", &mut members);
        }
        if let Some(extra) = extra {
            const SAID: [&str; 6] = ["call_id", "name", "arguments", "input", "status", "type"];
            let said = if is_custom { &SAID[..5] } else { &SAID };
            other_members(extra, said, &mut members);
        }
        let id = own_id.map_or(id, str::to_owned);
        if own_id.is_none() {
            plain(",\"id\":", &mut members);
            plain(&id, &mut members);
        }
        plain(",\"call_id\":", &mut members);
        literal(call_id, &mut members);
        plain(",\"name\":", &mut members);
        literal(name, &mut members);
        Self {
            id,
            members,
            is_custom,
            text: Vec::new(),
        }
    }

    /// `,"arguments":…`, or `,"input":…`.
    pub(super) fn done_members(&self, out: &mut Vec<u8>) {
        plain(
            if self.is_custom {
                ",\"input\":\""
            } else {
                ",\"arguments\":\""
            },
            out,
        );
        out.extend_from_slice(&self.text);
        plain("\"", out);
    }

    pub(super) fn write(&self, is_done: bool, out: &mut Vec<u8>) {
        plain("{", out);
        out.extend_from_slice(&self.members[1..]);
        self.done_members(out);
        plain(",\"status\":\"", out);
        plain(
            match (is_done, self.is_cut()) {
                (false, _) => "in_progress",
                (true, true) => "incomplete",
                (true, false) => "completed",
            },
            out,
        );
        plain("\"}", out);
    }

    /// Whether the arguments end in the middle.
    fn is_cut(&self) -> bool {
        let escaped = std::str::from_utf8(&self.text).unwrap_or_default();
        !self.is_custom && ends_inside_value(&Str::between(escaped).to_text())
    }
}

impl OpenAiResponses {
    /// Announces the message item that the facts before are about.
    pub(super) fn say_facts(&mut self, out: &mut Vec<u8>) {
        let Some([id, phase]) = self.facts.take() else {
            return;
        };
        // Facts are said again before the first text of an item that others have come after.
        let known = id.as_ref().and_then(|id| self.empty.get(id)).copied();
        if self.current != known || known.is_none() {
            self.leave_message(out);
        }
        let place = match known {
            Some(place) => place,
            None => self.open_message(id, phase, out),
        };
        self.current = Some(place);
    }

    /// Another item than a message comes: the message before it is done, unless nothing was said in it.
    pub(super) fn make_way(&mut self, out: &mut Vec<u8>) {
        self.say_facts(out);
        let current = self.current.and_then(|place| self.messages.get_mut(place));
        if current.is_some_and(|message| !message.parts.is_empty()) {
            self.leave_message(out);
        }
    }

    fn leave_message(&mut self, out: &mut Vec<u8>) {
        if let Some(place) = self.current.take()
            && let Some(message) = self.messages.get_mut(place)
            && !message.parts.is_empty()
        {
            message.is_left = true;
            if message.open_parts == 0 {
                self.close_message(place, false, out);
            }
        }
    }

    fn open_message(
        &mut self,
        id: Option<String>,
        phase: Option<String>,
        out: &mut Vec<u8>,
    ) -> usize {
        let place = self.take_place();
        let is_known = id.is_some();
        let message = Message {
            id: id.unwrap_or_else(|| self.item_id("msg", place)),
            phase,
            ..Message::default()
        };
        let mut item = Vec::new();
        message.write(false, false, &mut item);
        self.item_event("response.output_item.added", place, &item, out);
        if is_known {
            self.empty.insert(message.id.clone(), place);
        }
        self.messages.put(place, message);
        place
    }

    /// Opens a text: the next part of the message item, or the only one of its own.
    pub(super) fn open_text(&mut self, out: &mut Vec<u8>) -> Open {
        self.say_facts(out);
        let place = match self.current {
            Some(place) => place,
            None => self.open_message(None, None, out),
        };
        if self.is_own {
            self.current = Some(place);
        }
        self.begin("response.content_part.added", out);
        let Some(message) = self.messages.get_mut(place) else {
            unreachable!("the item was opened, and is done only when it is left")
        };
        message.is_left = !self.is_own;
        let part = message.parts.len();
        if part == 0 {
            self.empty.remove(&message.id);
        }
        message.open_parts += 1;
        message.part_members(place, part, out);
        plain(",\"part\":", out);
        let mut opened = Part::default();
        opened.write(false, out);
        end(out);
        message.part_members(place, part, &mut opened.middle);
        plain(",\"delta\":", &mut opened.middle);
        message.parts.push(opened);
        Open::Text { place, part }
    }

    pub(super) fn close_text(&mut self, place: usize, at: usize, out: &mut Vec<u8>) {
        self.begin("response.output_text.done", out);
        let Some(message) = self.messages.get_mut(place) else {
            return;
        };
        message.part_members(place, at, out);
        plain(",\"text\":\"", out);
        out.extend_from_slice(&message.parts[at].text);
        plain("\",\"logprobs\":[]}\n\n", out);
        self.begin("response.content_part.done", out);
        let Some(message) = self.messages.get_mut(place) else {
            return;
        };
        message.part_members(place, at, out);
        plain(",\"part\":", out);
        message.parts[at].write(false, out);
        end(out);
        message.open_parts -= 1;
        if message.is_left && message.open_parts == 0 {
            self.close_message(place, false, out);
        }
    }

    /// Says the done form of a message item, if there is one at that place that is not done.
    pub(super) fn close_message(&mut self, place: usize, refuses: bool, out: &mut Vec<u8>) {
        if let Some(message) = self.messages.take(place) {
            let mut item = Vec::new();
            message.write(true, refuses, &mut item);
            self.item_done(place, item, out);
        }
    }

    /// Opens a reasoning item whose text is about to come.
    pub(super) fn open_reasoning(&mut self, out: &mut Vec<u8>) -> Streamed<Reasoning> {
        let place = self.take_place();
        let reasoning = Reasoning {
            id: self.item_id("rs", place),
            text: Vec::new(),
            encrypted: None,
        };
        self.announce_reasoning(place, reasoning, true, out)
    }

    fn announce_reasoning(
        &mut self,
        place: usize,
        item: Reasoning,
        has_text: bool,
        out: &mut Vec<u8>,
    ) -> Streamed<Reasoning> {
        let mut added = Vec::new();
        item.write(false, &mut added);
        self.item_event("response.output_item.added", place, &added, out);
        let mut middle = Vec::new();
        place_members(&item.id, place, &mut middle);
        plain(",\"summary_index\":0", &mut middle);
        if has_text {
            self.begin("response.reasoning_summary_part.added", out);
            out.extend_from_slice(&middle);
            plain(",\"part\":", out);
            item.write_part(out);
            end(out);
        }
        plain(",\"delta\":", &mut middle);
        Streamed {
            place,
            item,
            middle,
        }
    }

    pub(super) fn close_reasoning(&mut self, place: usize, item: &Reasoning, out: &mut Vec<u8>) {
        if !item.text.is_empty() {
            self.begin("response.reasoning_summary_text.done", out);
            place_members(&item.id, place, out);
            plain(",\"summary_index\":0,\"text\":\"", out);
            out.extend_from_slice(&item.text);
            plain("\"}\n\n", out);
            self.begin("response.reasoning_summary_part.done", out);
            place_members(&item.id, place, out);
            plain(",\"summary_index\":0,\"part\":", out);
            item.write_part(out);
            end(out);
        }
        let mut done = Vec::new();
        item.write(true, &mut done);
        self.item_done(place, done, out);
    }

    /// Says reasoning that was held back until its id was known.
    pub(super) fn say_held(
        &mut self,
        turn: &mut Turn,
        index: usize,
        said: &[Held],
        signature: &str,
        out: &mut Vec<u8>,
    ) {
        let [encrypted, id] = proof(turn, index, signature);
        let has_text = has_pieces(said);
        if encrypted.is_none() && !has_text {
            self.say_again(turn, index, said, out);
            return;
        }
        let place = self.take_place();
        let item = Reasoning {
            id: id.unwrap_or_else(|| self.item_id("rs", place)),
            text: Vec::new(),
            encrypted,
        };
        let streamed = self.announce_reasoning(place, item, has_text, out);
        self.open.put(index, Open::Thinking(streamed));
        self.say_again(turn, index, said, out);
        self.say_facts(out);
        if let Some(Open::Thinking(Streamed { item, .. })) = self.open.take(index) {
            self.close_reasoning(place, &item, out);
        }
    }

    /// Says what came while a block was held back.
    pub(super) fn say_again(
        &mut self,
        turn: &mut Turn,
        index: usize,
        said: &[Held],
        out: &mut Vec<u8>,
    ) {
        for said in said {
            match said {
                Held::Piece(piece) => self.piece(turn, index, piece, out),
                Held::Fact { kind, json } => self.fact(turn, kind, Raw::assume(json), out),
            }
        }
    }

    pub(super) fn open_call(
        &mut self,
        turn: &mut Turn,
        index: usize,
        (call_id, name, extra): (&str, &str, Option<Raw<'_>>),
        out: &mut Vec<u8>,
    ) -> Streamed<Call> {
        let place = self.take_place();
        let extra = known_kind(turn, index, extra);
        let call_id = turn.call_id(call_id, index, name);
        let item = Call::new(self.item_id("fc", place), &call_id, name, extra);
        let mut added = Vec::new();
        item.write(false, &mut added);
        self.item_event("response.output_item.added", place, &added, out);
        let mut middle = Vec::new();
        place_members(&item.id, place, &mut middle);
        plain(",\"delta\":", &mut middle);
        Streamed {
            place,
            item,
            middle,
        }
    }

    pub(super) fn close_call(&mut self, place: usize, item: &Call, out: &mut Vec<u8>) {
        let kind = if item.is_custom {
            "response.custom_tool_call_input.done"
        } else {
            "response.function_call_arguments.done"
        };
        self.begin(kind, out);
        place_members(&item.id, place, out);
        item.done_members(out);
        end(out);
        let mut done = Vec::new();
        item.write(true, &mut done);
        self.item_done(place, done, out);
    }

    /// Says an item that goes out whole.
    pub(super) fn say_whole(&mut self, builder: Builder, out: &mut Vec<u8>) {
        let content = builder.into_message(None).content;
        if let Some(Block::Provider { kind, json }) = content.into_iter().next() {
            let place = self.take_place();
            let item = self.whole_item(&kind, &json);
            self.item_event("response.output_item.added", place, &item, out);
            self.item_done(place, item, out);
        }
    }

    fn whole_item(&mut self, kind: &str, json: &str) -> Vec<u8> {
        let json = Raw::assume(json);
        let call_id = value_str(json.member("call_id")).map(Str::to_text);
        if kind.ends_with("_output") {
            self.outputs.extend(call_id);
        } else if HOST_ITEMS.contains(&kind) {
            self.host_items.push(call_id);
        }
        let mut item = Vec::new();
        raw(json, &mut item);
        item
    }

    /// Makes the output of a response that is not streamed; `refusal` is the text that is one.
    pub(super) fn say_items(&mut self, turn: &mut Turn, content: &[Block], refusal: Option<usize>) {
        let mut message: Option<Message> = None;
        for (index, block) in content.iter().enumerate() {
            if let Block::Text {
                text,
                citations,
                signature,
                extra,
            } = block
            {
                if signature.is_some() {
                    let detail = "only reasoning has a signature on this wire";
                    turn.note(NoteCode::SignatureDropped, Some(index), detail);
                }
                if extra.is_some() || !self.is_own {
                    self.finish_message(message.take(), refusal, index);
                }
                let place = self.output.len();
                message
                    .get_or_insert_with(|| {
                        Message::with(extra.as_deref(), self.item_id("msg", place))
                    })
                    .add(text, citations);
                continue;
            }
            self.finish_message(message.take(), refusal, index);
            let place = self.output.len();
            let mut item = Vec::new();
            match block {
                Block::Thinking { text, signature } => {
                    let [encrypted, id] =
                        proof(turn, index, signature.as_deref().unwrap_or_default());
                    if encrypted.is_some() || !text.is_empty() {
                        let reasoning = Reasoning {
                            id: id.unwrap_or_else(|| self.item_id("rs", place)),
                            text: escaped(text),
                            encrypted,
                        };
                        reasoning.write(true, &mut item);
                    }
                }
                Block::ToolUse {
                    id,
                    name,
                    arguments,
                    signature,
                    extra,
                    ..
                } => {
                    if signature.is_some() {
                        let detail = "only reasoning has a signature on this wire";
                        turn.note(NoteCode::SignatureDropped, Some(index), detail);
                    }
                    let extra = known_kind(turn, index, extra.as_deref().map(Raw::assume));
                    let id = turn.call_id(id, index, name);
                    let mut call = Call::new(self.item_id("fc", place), &id, name, extra);
                    call.text = escaped(arguments);
                    call.write(true, &mut item);
                }
                Block::Provider { kind, json } if is_item(kind, Raw::assume(json)) => {
                    item = self.whole_item(kind, json);
                }
                Block::Provider { kind, .. } => {
                    let detail = format!("an extension {kind:?} is no item of that type");
                    turn.note(NoteCode::ContentUnsupported, Some(index), detail);
                }
                _ => {
                    let detail = "this wire has no redacted thinking";
                    turn.note(NoteCode::ReasoningDropped, Some(index), detail);
                }
            }
            if !item.is_empty() {
                self.output.push(item);
            }
        }
        self.finish_message(message, refusal, content.len());
    }

    /// Adds a message item whose last text is the block before `end`.
    fn finish_message(&mut self, message: Option<Message>, refusal: Option<usize>, end: usize) {
        if let Some(message) = message {
            let mut item = Vec::new();
            let refuses = refusal.is_some_and(|refusal| refusal + 1 == end);
            message.write(true, refuses, &mut item);
            self.output.push(item);
        }
    }
}

/// What a signature of this wire holds, as JSON: what is encrypted, and the id of its item.
fn proof(turn: &mut Turn, index: usize, signature: &str) -> [Option<String>; 2] {
    let parsed = Raw::parse(signature, MAX_PAYLOAD_DEPTH).ok();
    let members = parsed.map(|parsed| parsed.members(&["encrypted_content", "id"]));
    let text = |value: Option<Raw<'_>>| value_str(value).and(value).map(|v| v.text().to_owned());
    let [encrypted, id] = members.unwrap_or_default().map(text);
    if encrypted.is_none() && !signature.is_empty() {
        let detail = "the signature is none of this wire";
        turn.note(NoteCode::SignatureDropped, Some(index), detail);
        return [None, None];
    }
    [encrypted, id]
}

/// The further members of a call, if its type is one that reads back as a call.
fn known_kind<'a>(turn: &mut Turn, index: usize, extra: Option<Raw<'a>>) -> Option<Raw<'a>> {
    let kind = extra.and_then(|extra| extra.member("type"));
    let is_known = kind.is_none_or(|kind| {
        let kind = kind.as_str();
        kind.is_some_and(|kind| kind.is("function_call") || kind.is("custom_tool_call"))
    });
    if !is_known {
        let detail = "the type of the call is none of this wire";
        turn.note(NoteCode::ContentUnsupported, Some(index), detail);
    }
    extra
}

fn escaped(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    literal(text, &mut out);
    out.pop();
    out.drain(..1);
    out
}
