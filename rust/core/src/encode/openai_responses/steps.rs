//! The events that lead to each item of the output.

use super::items::{Call, Message, Part, Reasoning, known_kind, place_members, proof};
use super::{Held, Open, OpenAiResponses, Streamed, has_pieces};
use crate::encode::text::{end, plain, raw};
use crate::encode::turn::Turn;
use crate::encode::voice::Voice as _;
use crate::encode::whole_block::WholeBlock;
use crate::json::{Raw, Str};
use crate::wire::openai_responses::HOST_ITEMS;
use crate::wire::value_str;

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
    pub(super) fn say_whole(&mut self, block: WholeBlock, out: &mut Vec<u8>) {
        if let Some((kind, json)) = block.finish() {
            let place = self.take_place();
            let item = self.whole_item(&kind, &json);
            self.item_event("response.output_item.added", place, &item, out);
            self.item_done(place, item, out);
        }
    }

    pub(super) fn whole_item(&mut self, kind: &str, json: &str) -> Vec<u8> {
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
}
