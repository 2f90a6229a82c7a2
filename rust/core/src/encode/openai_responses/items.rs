//! The items of a response's output, and the events that lead to them.

use crate::encode::note::NoteCode;
use crate::encode::text::{is_typed, literal, number, other_members, plain, raw};
use crate::encode::turn::Turn;
use crate::json::{MAX_PAYLOAD_DEPTH, Raw, Str, ends_inside_value};
use crate::wire::value_str;

/// A message item.
#[derive(Debug, Default)]
pub(super) struct Message {
    /// Id and phase, as JSON.
    pub(super) id: String,
    pub(super) phase: Option<String>,
    pub(super) parts: Vec<Part>,
    pub(super) open_parts: usize,
    /// No further part comes: it is done once its parts are.
    pub(super) is_left: bool,
}

/// A text part.
#[derive(Debug, Default)]
pub(super) struct Part {
    /// What stands before each of its pieces, from the number of the event on.
    pub(super) middle: Vec<u8>,
    /// The text, escaped.
    pub(super) text: Vec<u8>,
    /// The annotations, with commas between them.
    pub(super) annotations: Vec<u8>,
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
    pub(super) encrypted: Option<String>,
}

/// A call of the host's tools.
#[derive(Debug)]
pub(super) struct Call {
    /// The id of the item, as JSON.
    pub(super) id: String,
    /// What the item says of itself, up to its status: its members, each with a comma before it.
    pub(super) members: Vec<u8>,
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
    pub(super) fn with(extra: Option<&str>, id: String) -> Self {
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
    pub(super) fn add(&mut self, text: &str, citations: &[String]) {
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
    pub(super) fn write(&self, is_done: bool, refuses: bool, out: &mut Vec<u8>) {
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
    pub(super) fn write(&self, is_refusal: bool, out: &mut Vec<u8>) {
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
    pub(super) fn write(&self, is_done: bool, out: &mut Vec<u8>) {
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

    pub(super) fn write_part(&self, out: &mut Vec<u8>) {
        plain("{\"type\":\"summary_text\",\"text\":\"", out);
        out.extend_from_slice(&self.text);
        plain("\"}", out);
    }
}

impl Call {
    pub(super) fn new(id: String, call_id: &str, name: &str, extra: Option<Raw<'_>>) -> Self {
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

/// What a signature of this wire holds, as JSON: what is encrypted, and the id of its item.
pub(super) fn proof(turn: &mut Turn, index: usize, signature: &str) -> [Option<String>; 2] {
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
pub(super) fn known_kind<'a>(
    turn: &mut Turn,
    index: usize,
    extra: Option<Raw<'a>>,
) -> Option<Raw<'a>> {
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

pub(super) fn escaped(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    literal(text, &mut out);
    out.pop();
    out.drain(..1);
    out
}
