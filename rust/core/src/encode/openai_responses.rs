//! OpenAI Responses: an output of items, each announced, streamed and said once more when it is done; the
//! whole output at the end.

mod items;

use std::collections::{BTreeMap, HashSet};

use super::note::NoteCode;
use super::slots::Slots;
use super::text::{begin, end, is_typed, literal, number, plain, raw};
use super::turn::Turn;
use super::voice::{BlockKind, Opening, Stop, Voice, Whole};
use crate::assemble::{Block, Builder};
use crate::error::ErrorDocument;
use crate::event::{Event, StopReason};
use crate::json::Raw;
use crate::usage::Usage;
use crate::wire::openai_responses::{KNOWN_EVENTS, incomplete_reason};
use crate::wire::turn::fnv1a;
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
    Whole(Box<Builder>),
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

/// How the response ends: its status and why it is not complete.
struct End<'a> {
    is_incomplete: bool,
    reason: Option<&'a str>,
    /// The last text is a refusal.
    refuses: bool,
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
                let mut builder = Box::<Builder>::default();
                add(&mut builder, kind, json);
                Open::Whole(builder)
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
        if let Some(Open::Whole(builder)) = self.open.get_mut(index) {
            add(builder, kind, json);
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
            Some(Open::Whole(builder)) => self.say_whole(*builder, out),
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
        note_usage(turn, stop.usage);
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
        let end = self.end(turn, stop, refusal.is_some());
        note_usage(turn, message.usage);
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

/// Adds a piece of a provider's block.
fn add(builder: &mut Builder, kind: &str, json: Raw<'_>) {
    let index = Some(0);
    let json = json.text();
    let added = builder.apply(Event::Extension { index, kind, json });
    debug_assert_eq!(added, Ok(()), "the block is the only one");
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

    /// How the wire says the end. A refusal is said by the last text, where that is still to be done.
    fn end<'a>(&self, turn: &mut Turn, stop: Stop<'a>, can_refuse: bool) -> End<'a> {
        let raw = stop.raw.filter(|raw| !raw.is_empty());
        let kept = |reason| raw.filter(|raw| incomplete_reason(raw) == reason);
        let own = |reason| kept(reason).filter(|_| turn.is_own);
        let plain = |word| kept(incomplete_reason(word)).filter(|raw| turn.is_own || *raw == word);
        let is_waiting =
            |id: &Option<String>| id.as_ref().is_none_or(|id| !self.outputs.contains(id));
        let waits = turn.calls > 0 || self.host_items.iter().any(is_waiting);
        let refuses = can_refuse && stop.reason == StopReason::Refusal;
        let (is_incomplete, reason, read) = match stop.reason {
            StopReason::Refusal if refuses => {
                let is_known = |raw: &&str| incomplete_reason(raw) != StopReason::Other;
                let reason = raw.filter(|_| turn.is_own).filter(is_known);
                (reason.is_some(), reason, StopReason::Refusal)
            }
            StopReason::MaxTokens | StopReason::ContextWindow => {
                let word = "max_output_tokens";
                (true, plain(word).or(Some(word)), StopReason::MaxTokens)
            }
            StopReason::ContentFilter | StopReason::Refusal => {
                let word = "content_filter";
                (true, plain(word).or(Some(word)), StopReason::ContentFilter)
            }
            StopReason::Other | StopReason::PauseTurn => {
                let reason = own(StopReason::Other).filter(|raw| *raw != "incomplete");
                (true, reason, StopReason::Other)
            }
            _ if waits => (false, None, StopReason::ToolUse),
            _ => (false, None, StopReason::EndTurn),
        };
        if read != stop.reason {
            let word = reason.unwrap_or(if is_incomplete {
                "incomplete"
            } else {
                "completed"
            });
            let detail = format!(
                "the stop reason {} was said as {word}",
                stop.reason.as_str()
            );
            turn.note(NoteCode::ReasonMapped, None, detail);
        }
        End {
            is_incomplete,
            reason,
            refuses,
        }
    }
}

fn note_usage(turn: &mut Turn, usage: Option<Usage>) {
    if usage.is_some_and(|usage| usage.cache_write_tokens > 0) {
        let detail = "tokens written to a cache count as input";
        turn.note(NoteCode::UsageReduced, None, detail);
    }
}

fn write_usage(usage: &Usage, out: &mut Vec<u8>) {
    let written = usage.cache_write_tokens;
    let input = usage
        .input_tokens
        .saturating_add(usage.cache_read_tokens)
        .saturating_add(written);
    for (before, count) in [
        ("{\"input_tokens\":", input),
        (
            ",\"input_tokens_details\":{\"cached_tokens\":",
            usage.cache_read_tokens,
        ),
        (",\"cache_write_tokens\":", written),
        ("},\"output_tokens\":", usage.output_tokens),
        (
            ",\"output_tokens_details\":{\"reasoning_tokens\":",
            usage.reasoning_tokens,
        ),
        (
            "},\"total_tokens\":",
            input.saturating_add(usage.output_tokens),
        ),
    ] {
        plain(before, out);
        number(count, out);
    }
    plain("}", out);
}
