//! OpenAI Responses: an output of items, each announced, streamed and said once more when it is done; the
//! whole output at the end.

mod body;
mod ending;
mod items;
mod steps;

use std::collections::{BTreeMap, HashSet};

use super::note::NoteCode;
use super::slots::Slots;
use super::text::{begin, end, is_typed, literal, number, plain, raw};
use super::turn::Turn;
use super::voice::{BlockKind, Opening, Stop, Voice, Whole};
use super::whole_block::WholeBlock;
use crate::assemble::Block;
use crate::error::ErrorDocument;
use crate::event::StopReason;
use crate::json::Raw;
use crate::usage::Usage;
use crate::wire::openai_responses::KNOWN_EVENTS;
use crate::wire::turn::fnv1a;
use ending::{End, write_usage};
use items::{Call, Message, Part, Reasoning};

/// A block that is open.
#[derive(Debug)]
enum Open {
    /// A part of the message item at that place.
    Text {
        place: usize,
        part: usize,
    },
    Thinking(Streamed<Reasoning>),
    /// Reasoning of this wire's own: its item's id comes with its signature, behind its text.
    Held {
        said: Vec<Held>,
        signature: String,
    },
    Call(Streamed<Call>),
    /// An item that goes out whole.
    Whole(Box<WholeBlock>),
}

/// What came while reasoning was held back.
#[derive(Debug)]
enum Held {
    Piece(String),
    Fact { kind: String, json: String },
}

/// An item that has its place in the output, and what stands before each of its pieces.
#[derive(Debug)]
struct Streamed<T> {
    place: usize,
    item: T,
    /// From the number of the event on.
    middle: Vec<u8>,
}

#[derive(Debug, Default)]
pub(crate) struct OpenAiResponses {
    is_own: bool,
    /// Id, model and time of the response as members.
    head: Vec<u8>,
    model: Vec<u8>,
    /// What ids that are made up begin with.
    seed: u64,
    /// The number of the next event.
    sequence: u64,
    open: Slots<Open>,
    /// The block that is held back.
    held: Option<usize>,
    /// The items of the output that are done; one that is not yet is empty.
    output: Vec<Vec<u8>>,
    /// The message items, by place, and which of them takes the next text that no fact gives an item of
    /// its own.
    messages: Slots<Message>,
    current: Option<usize>,
    /// Those that facts were said of and no text yet, by their ids.
    empty: BTreeMap<String, usize>,
    /// The id and phase of the message item that comes next, as JSON.
    facts: Option<[Option<String>; 2]>,
    /// Call ids of items that the host executes though they are no calls, and of outputs, which tell that
    /// the provider did.
    host_items: Vec<Option<String>>,
    outputs: HashSet<String>,
}

impl Voice for OpenAiResponses {
    fn is_exclusive(&self, kind: BlockKind) -> bool {
        // What is held back must not be overtaken.
        self.is_own && kind == BlockKind::Thinking
    }

    fn start(&mut self, turn: &mut Turn, id: Option<&str>, model: Option<&str>, out: &mut Vec<u8>) {
        self.label(turn, id, model);
        for kind in ["response.created", "response.in_progress"] {
            self.begin(kind, out);
            self.response("in_progress", None, None, out);
        }
    }

    fn open(&mut self, turn: &mut Turn, index: usize, opening: Opening<'_>, out: &mut Vec<u8>) {
        let block = match opening {
            Opening::Text => self.open_text(out),
            Opening::Thinking if self.is_own => {
                self.make_way(out);
                self.held = Some(index);
                Open::Held {
                    said: Vec::new(),
                    signature: String::new(),
                }
            }
            Opening::Thinking => Open::Thinking(self.open_reasoning(out)),
            Opening::Tool { id, name, extra } => {
                turn.calls += 1;
                self.make_way(out);
                Open::Call(self.open_call(turn, index, (id, name, extra), out))
            }
            Opening::Redacted { .. } => {
                let detail = "this wire has no redacted thinking";
                turn.note(NoteCode::ReasoningDropped, Some(index), detail);
                return;
            }
            Opening::Extension { kind, json } => {
                if !items::is_item(kind, json) {
                    let detail = format!("an extension {kind:?} is no item of that type");
                    turn.note(NoteCode::ContentUnsupported, Some(index), detail);
                    return;
                }
                self.make_way(out);
                Open::Whole(WholeBlock::new(kind, json))
            }
        };
        self.open.put(index, block);
    }

    #[inline]
    fn piece(&mut self, _: &mut Turn, index: usize, piece: &str, out: &mut Vec<u8>) {
        let (prefix, middle, body, suffix) = match self.open.get_mut(index) {
            Some(Open::Text { place, part }) => {
                let Some(message) = self.messages.get_mut(*place) else {
                    return;
                };
                let Part { middle, text, .. } = &mut message.parts[*part];
                (TEXT_DELTA, middle, text, ",\"logprobs\":[]}\n\n")
            }
            Some(Open::Thinking(Streamed { item, middle, .. })) => {
                (SUMMARY_DELTA, middle, &mut item.text, "}\n\n")
            }
            Some(Open::Call(Streamed { item, middle, .. })) => {
                let prefix = if item.is_custom {
                    INPUT_DELTA
                } else {
                    ARGUMENTS_DELTA
                };
                (prefix, middle, &mut item.text, "}\n\n")
            }
            Some(Open::Held { said, .. }) => {
                said.push(Held::Piece(piece.to_owned()));
                return;
            }
            _ => return,
        };
        plain(prefix, out);
        number(self.sequence, out);
        self.sequence += 1;
        out.extend_from_slice(middle);
        let start = out.len() + 1;
        literal(piece, out);
        body.extend_from_slice(&out[start..out.len() - 1]);
        plain(suffix, out);
    }

    fn signature(&mut self, turn: &mut Turn, index: usize, piece: &str, _: &mut Vec<u8>) {
        if let Some(Open::Held { signature, .. }) = self.open.get_mut(index) {
            signature.push_str(piece);
        } else {
            let detail = "only reasoning has a signature on this wire";
            turn.note(NoteCode::SignatureDropped, Some(index), detail);
        }
    }

    fn citation(&mut self, _: &mut Turn, index: usize, json: Raw<'_>, out: &mut Vec<u8>) {
        let Some(&mut Open::Text { place, part: at }) = self.open.get_mut(index) else {
            return;
        };
        self.begin("response.output_text.annotation.added", out);
        let Some(message) = self.messages.get_mut(place) else {
            return;
        };
        message.part_members(place, at, out);
        let part = &mut message.parts[at];
        plain(",\"annotation_index\":", out);
        number(part.annotation_count, out);
        plain(",\"annotation\":", out);
        raw(json, out);
        end(out);
        part.annotate(json);
    }

    fn extension(
        &mut self,
        _: &mut Turn,
        index: usize,
        kind: &str,
        json: Raw<'_>,
        _: &mut Vec<u8>,
    ) {
        if let Some(Open::Whole(block)) = self.open.get_mut(index) {
            block.add(kind, json);
        }
    }

    fn fact(&mut self, turn: &mut Turn, kind: &str, json: Raw<'_>, out: &mut Vec<u8>) {
        if let Some(index) = self.held
            && let Some(Open::Held { said, .. }) = self.open.get_mut(index)
        {
            said.push(Held::Fact {
                kind: kind.to_owned(),
                json: json.text().to_owned(),
            });
            return;
        }
        let is_string = json.as_str().is_some();
        match kind {
            "item_id" if is_string => {
                self.say_facts(out);
                self.facts = Some([Some(json.text().to_owned()), None]);
            }
            "phase" if is_string => {
                self.facts.get_or_insert_default()[1] = Some(json.text().to_owned());
            }
            // An event that turntape passes on: it goes out as it came.
            _ if is_typed(json, kind)
                && !KNOWN_EVENTS.contains(&kind)
                && ErrorDocument::read(json).is_none() =>
            {
                self.say_facts(out);
                if kind.bytes().all(|byte| byte >= b' ') {
                    plain("event: ", out);
                    plain(kind, out);
                    plain("\n", out);
                }
                plain("data: ", out);
                raw(json, out);
                plain("\n\n", out);
            }
            _ => {
                let detail = format!("an extension {kind:?} is no event of that type");
                turn.note(NoteCode::ContentUnsupported, None, detail);
            }
        }
    }

    fn close(&mut self, turn: &mut Turn, index: usize, out: &mut Vec<u8>) {
        self.say_facts(out);
        match self.open.take(index) {
            Some(Open::Text { place, part }) => self.close_text(place, part, out),
            Some(Open::Thinking(Streamed { place, item, .. })) => {
                self.close_reasoning(place, &item, out);
            }
            Some(Open::Held { said, signature }) => {
                self.held = None;
                self.say_held(turn, index, &said, &signature, out);
            }
            Some(Open::Call(Streamed { place, item, .. })) => self.close_call(place, &item, out),
            Some(Open::Whole(block)) => self.say_whole(*block, out),
            None => {}
        }
    }

    fn cut(&mut self, turn: &mut Turn, out: &mut Vec<u8>) {
        self.say_facts(out);
        // What was held back has come, though its end has not.
        if let Some(index) = self.held.take()
            && let Some(Open::Held { said, .. }) = self.open.take(index)
        {
            if has_pieces(&said) {
                let reasoning = self.open_reasoning(out);
                self.open.put(index, Open::Thinking(reasoning));
            }
            self.say_again(turn, index, &said, out);
        }
    }

    fn stop(&mut self, turn: &mut Turn, stop: Stop<'_>, out: &mut Vec<u8>) {
        self.say_facts(out);
        let last_text = self.current.and_then(|place| self.messages.get_mut(place));
        let has_text = last_text.is_some_and(|message| !message.parts.is_empty());
        let can_refuse = turn.is_own && has_text;
        let end = self.end(turn, stop, can_refuse);
        for place in 0..self.output.len() {
            let refuses = end.refuses && self.current == Some(place);
            self.close_message(place, refuses, out);
        }
        self.current = None;
        let (kind, status) = if end.is_incomplete {
            ("response.incomplete", "incomplete")
        } else {
            ("response.completed", "completed")
        };
        self.begin(kind, out);
        turn.count_writes_as_input(stop.usage);
        self.response(status, Some((&end, stop.usage)), None, out);
    }

    fn fail(&mut self, _: &mut Turn, fault: &ErrorDocument, out: &mut Vec<u8>) {
        self.begin("error", out);
        let members = |out: &mut Vec<u8>| {
            plain("\"code\":", out);
            literal(&fault.kind, out);
            plain(",\"message\":", out);
            literal(&fault.message, out);
        };
        plain(",", out);
        members(out);
        plain(",\"param\":null,\"error\":{\"type\":", out);
        literal(&fault.kind, out);
        plain(",", out);
        members(out);
        plain(",\"param\":null}}\n\n", out);
        if !self.head.is_empty() {
            self.begin("response.failed", out);
            self.response("failed", None, Some(fault), out);
        }
    }

    fn body(&mut self, turn: &mut Turn, whole: &Whole, out: &mut Vec<u8>) {
        let message = &whole.message;
        self.label(turn, message.id.as_deref(), message.model.as_deref());
        let is_text = |block: &Block| matches!(block, Block::Text { .. });
        let last_text = message.content.iter().rposition(is_text);
        let stop = whole.stop();
        // Here the end is known before the text is said.
        let refusal = last_text.filter(|_| stop.reason == StopReason::Refusal);
        self.say_items(turn, &message.content, refusal);
        for (kind, _) in &whole.facts {
            if !matches!(kind.as_str(), "item_id" | "phase") {
                let detail = format!("an extension {kind:?} has no place in a body");
                turn.note(NoteCode::ContentUnsupported, None, detail);
            }
        }
        let end = self.end(turn, stop, refusal.is_some());
        turn.count_writes_as_input(message.usage);
        let status = if end.is_incomplete {
            "incomplete"
        } else {
            "completed"
        };
        self.members(status, Some((&end, message.usage)), None, out);
    }
}

const TEXT_DELTA: &str = "event: response.output_text.delta\n\
    data: {\"type\":\"response.output_text.delta\",\"sequence_number\":";
const SUMMARY_DELTA: &str = "event: response.reasoning_summary_text.delta\n\
    data: {\"type\":\"response.reasoning_summary_text.delta\",\"sequence_number\":";
const ARGUMENTS_DELTA: &str = "event: response.function_call_arguments.delta\n\
    data: {\"type\":\"response.function_call_arguments.delta\",\"sequence_number\":";
const INPUT_DELTA: &str = "event: response.custom_tool_call_input.delta\n\
    data: {\"type\":\"response.custom_tool_call_input.delta\",\"sequence_number\":";

fn has_pieces(said: &[Held]) -> bool {
    said.iter().any(|said| matches!(said, Held::Piece(_)))
}

impl OpenAiResponses {
    /// Takes what the response says of itself.
    fn label(&mut self, turn: &mut Turn, id: Option<&str>, model: Option<&str>) {
        self.is_own = turn.is_own;
        let id = turn.response_id(id, model, "resp_");
        self.seed = fnv1a(id.as_bytes());
        plain("\"id\":", &mut self.head);
        literal(&id, &mut self.head);
        plain(",\"object\":\"response\",\"created_at\":", &mut self.head);
        number(turn.settings.created, &mut self.head);
        literal(&turn.model(model), &mut self.model);
    }

    /// Begins an event: its name, its type and its number.
    fn begin(&mut self, kind: &str, out: &mut Vec<u8>) {
        begin(kind, out);
        plain(",\"sequence_number\":", out);
        number(self.sequence, out);
        self.sequence += 1;
    }

    /// Ends an event with the response.
    fn response(
        &self,
        status: &str,
        ending: Option<(&End<'_>, Option<Usage>)>,
        fault: Option<&ErrorDocument>,
        out: &mut Vec<u8>,
    ) {
        plain(",\"response\":", out);
        self.members(status, ending, fault, out);
        end(out);
    }

    /// The response as far as it has come.
    fn members(
        &self,
        status: &str,
        ending: Option<(&End<'_>, Option<Usage>)>,
        fault: Option<&ErrorDocument>,
        out: &mut Vec<u8>,
    ) {
        plain("{", out);
        out.extend_from_slice(&self.head);
        plain(",\"status\":\"", out);
        plain(status, out);
        plain("\",\"error\":", out);
        match fault {
            Some(fault) => {
                plain("{\"code\":", out);
                literal(&fault.kind, out);
                plain(",\"message\":", out);
                literal(&fault.message, out);
                plain("}", out);
            }
            None => plain("null", out),
        }
        plain(",\"incomplete_details\":", out);
        match ending.and_then(|(end, _)| end.reason) {
            Some(reason) => {
                plain("{\"reason\":", out);
                literal(reason, out);
                plain("}", out);
            }
            None => plain("null", out),
        }
        plain(
            ",\"instructions\":null,\"metadata\":{},\"parallel_tool_calls\":true,\
             \"temperature\":null,\"tool_choice\":\"auto\",\"tools\":[],\"top_p\":null,\"model\":",
            out,
        );
        out.extend_from_slice(&self.model);
        plain(",\"output\":[", out);
        let done = self.output.iter().filter(|item| !item.is_empty());
        for (at, item) in done.enumerate() {
            plain(if at == 0 { "" } else { "," }, out);
            out.extend_from_slice(item);
        }
        plain("],\"usage\":", out);
        match ending.and_then(|(_, usage)| usage) {
            Some(usage) => write_usage(&usage, out),
            None => plain("null", out),
        }
        plain("}", out);
    }

    /// The next place of the output.
    fn take_place(&mut self) -> usize {
        self.output.push(Vec::new());
        self.output.len() - 1
    }

    /// An id for an item that has none: the same on every run.
    fn item_id(&self, prefix: &str, place: usize) -> String {
        format!("\"{prefix}_{:016x}{place:04}\"", self.seed)
    }

    fn item_done(&mut self, place: usize, item: Vec<u8>, out: &mut Vec<u8>) {
        self.item_event("response.output_item.done", place, &item, out);
        self.output[place] = item;
    }

    fn item_event(&mut self, kind: &str, place: usize, item: &[u8], out: &mut Vec<u8>) {
        self.begin(kind, out);
        plain(",\"output_index\":", out);
        number(place as u64, out);
        plain(",\"item\":", out);
        out.extend_from_slice(item);
        end(out);
    }
}
