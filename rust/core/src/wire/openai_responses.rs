//! OpenAI Responses, as in OpenAI's streaming reference and as its imitators speak it.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::template::FreeMember;
use super::turn::{BlockKind, Hot, Turn};
use super::{Payload, Wire, other_members, value_str};
use crate::assemble::{Builder, object};
use crate::error::ErrorDocument;
use crate::event::{StopReason, Terminal, WarningCode};
use crate::json::{Raw, Str, range_in};
use crate::usage;

/// What an item of the output is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Message,
    Reasoning,
    /// A call of the host's tools, plain or custom.
    Call,
    /// An item that goes out whole, as it is: built-in tools, calls that the provider runs, unknown ones.
    Whole,
}

/// A text part of a message, or a part of reasoning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum PartKey {
    Content(i64),
    Summary(i64),
}

#[derive(Debug, Clone, Copy)]
struct Part {
    block: usize,
    /// Where the part's text begins in its block's, and where the next one's does.
    start: usize,
    end: Option<usize>,
}

#[derive(Debug, Default)]
struct ItemState {
    kind: Option<Kind>,
    /// The item's type on the wire.
    kind_name: String,
    /// The id and phase of a message item, as JSON.
    facts: Vec<(&'static str, String)>,
    parts: BTreeMap<PartKey, Part>,
    /// The part that the last delta belonged to.
    last_part: Option<PartKey>,
    /// The block of a call or of reasoning.
    block: Option<usize>,
    is_done: bool,
    /// The id and the call id of a done item.
    done_ids: [Option<String>; 2],
}

/// The members of an event that tell what it is about, looked up together.
#[derive(Debug, Clone, Copy)]
struct About<'p> {
    raw: Raw<'p>,
    output_index: Option<Raw<'p>>,
    item_id: Option<Raw<'p>>,
    item: Option<Raw<'p>>,
    content_index: Option<Raw<'p>>,
    summary_index: Option<Raw<'p>>,
    delta: Option<Raw<'p>>,
    part: Option<Raw<'p>>,
    text: Option<Raw<'p>>,
    refusal: Option<Raw<'p>>,
}

impl ItemState {
    /// Whether the block of a call or of reasoning has closed.
    fn is_closed(&self, turn: &Turn) -> bool {
        self.block.is_some_and(|block| !turn.is_open(block))
    }
}

#[derive(Debug, Default)]
pub(crate) struct OpenAiResponses {
    items: Vec<ItemState>,
    by_index: HashMap<i64, usize>,
    by_id: HashMap<String, usize>,
    /// The message item whose facts went out last.
    facts_of: Option<usize>,
    /// What this payload added to each block, which the message so far does not hold.
    added: HashMap<usize, usize>,
    /// The last done form that said just what its block says.
    agreed: Agreed,
    /// Call ids of items that the host must execute, and of outputs, which tell that the provider did.
    host_items: Vec<Option<String>>,
    outputs: HashSet<String>,
}

/// A done form that said just what its block says: the same one mostly comes again with the part, with the item
/// and with the response.
#[derive(Debug, Default)]
struct Agreed {
    block: usize,
    /// How long the block's text was.
    length: usize,
    /// The done form with its escapes.
    body: String,
}

/// Items that the host executes although they are no function calls.
pub(crate) const HOST_ITEMS: [&str; 5] = [
    "computer_call",
    "local_shell_call",
    "shell_call",
    "apply_patch_call",
    "mcp_approval_request",
];

/// The events that the decoder reads; it passes others on as they are.
pub(crate) const KNOWN_EVENTS: [&str; 30] = [
    "response.created",
    "response.queued",
    "response.in_progress",
    "response.content_part.added",
    "response.reasoning_summary_part.added",
    "response.reasoning_summary_part.done",
    "keepalive",
    "ping",
    "error",
    "response.output_item.added",
    "response.output_item.done",
    "response.output_text.delta",
    "response.refusal.delta",
    "response.reasoning_summary_text.delta",
    "response.reasoning_text.delta",
    "response.function_call_arguments.delta",
    "response.custom_tool_call_input.delta",
    "response.output_text.done",
    "response.refusal.done",
    "response.content_part.done",
    "response.reasoning_summary_text.done",
    "response.reasoning_text.done",
    "response.function_call_arguments.done",
    "response.custom_tool_call_input.done",
    "response.output_text.annotation.added",
    "response.completed",
    "response.incomplete",
    "response.done",
    "response.failed",
    "response.cancelled",
];

impl Wire for OpenAiResponses {
    fn free_members(&self) -> &'static [FreeMember] {
        const MEMBERS: [FreeMember; 2] = [
            FreeMember::always("sequence_number"),
            FreeMember::always("obfuscation"),
        ];
        &MEMBERS
    }

    fn looks_back(&self) -> bool {
        true
    }

    fn payload(
        &mut self,
        turn: &mut Turn,
        said: &Builder,
        Payload { raw, faulty, .. }: Payload<'_>,
    ) -> Result<(), ErrorDocument> {
        // Not cleared: a large map would cost its size for every payload after it.
        self.added = HashMap::new();
        let [
            kind,
            response,
            output_index,
            item_id,
            item,
            content_index,
            summary_index,
            delta,
            part,
            text,
            refusal,
        ] = raw.members(&[
            "type",
            "response",
            "output_index",
            "item_id",
            "item",
            "content_index",
            "summary_index",
            "delta",
            "part",
            "text",
            "refusal",
        ]);
        let about = About {
            raw,
            output_index,
            item_id,
            item,
            content_index,
            summary_index,
            delta,
            part,
            text,
            refusal,
        };
        if let Some(response) = response.filter(|response| response.is_object()) {
            let [id, model, usage] = response.members(&["id", "model", "usage"]);
            turn.start(id.and_then(Raw::as_str), model.and_then(Raw::as_str));
            if let Some(usage) = usage.and_then(usage::responses) {
                turn.usage = Some(usage);
            }
        }
        let kind = kind
            .and_then(Raw::as_str)
            .map(Str::to_text)
            .unwrap_or_default();
        match kind.as_str() {
            "response.created"
            | "response.queued"
            | "response.in_progress"
            | "response.content_part.added"
            | "response.reasoning_summary_part.added"
            | "response.reasoning_summary_part.done"
            | "keepalive"
            | "ping"
            | "error" => {}
            "response.output_item.added" => self.item_added(turn, &about),
            "response.output_item.done" => self.item_done(turn, said, &about),
            "response.output_text.delta" | "response.refusal.delta" => {
                self.text_delta(turn, &about, &kind);
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.reasoning_delta(turn, said, &about, &kind);
            }
            "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta" => {
                self.call_delta(turn, &about);
            }
            "response.output_text.done"
            | "response.refusal.done"
            | "response.content_part.done" => {
                self.text_done(turn, said, &about, &kind);
            }
            "response.reasoning_summary_text.done" | "response.reasoning_text.done" => {
                let item = self.item_of(turn, &about, Kind::Reasoning);
                let key = part_key(&about, &kind);
                let text = value_str(text);
                if let (Some(item), Some(key), Some(text)) = (item, key, text) {
                    self.complete_reasoning(turn, said, item, key, text);
                }
            }
            "response.function_call_arguments.done" | "response.custom_tool_call_input.done" => {
                let text = raw.member("arguments").or_else(|| raw.member("input"));
                if let Some(item) = self.item_of(turn, &about, Kind::Call) {
                    self.complete_call(turn, said, item, value_str(text));
                }
            }
            "response.output_text.annotation.added" => self.annotation(turn, &about),
            "response.completed"
            | "response.incomplete"
            | "response.done"
            | "response.failed"
            | "response.cancelled" => return self.end(turn, said, &kind, response.unwrap_or(raw)),
            _ if faulty => {}
            other => {
                if !other.starts_with("response.") {
                    turn.warn(WarningCode::UnknownEvent);
                }
                turn.start(None, None);
                turn.fact(other, raw.text());
            }
        }
        Ok(())
    }

    fn whole(&mut self, turn: &mut Turn, body: Raw<'_>) -> Result<(), ErrorDocument> {
        let [id, model, usage, status, output, object] =
            body.members(&["id", "model", "usage", "status", "output", "object"]);
        // Imitators may leave either out, and the status too; without both it is something else.
        let is_named = object
            .and_then(Raw::as_str)
            .is_some_and(|name| name.is("response"));
        if !is_named && !output.is_some_and(Raw::is_array) {
            return Ok(());
        }
        turn.start(id.and_then(Raw::as_str), model.and_then(Raw::as_str));
        turn.usage = usage.and_then(usage::responses);
        // A response that is still being made has no end yet.
        let is_going_on = |status: Str<'_>| status.is("queued") || status.is("in_progress");
        if status.and_then(Raw::as_str).is_some_and(is_going_on) {
            return Ok(());
        }
        self.end(turn, &Builder::default(), "response.completed", body)
    }

    fn has_content(&self, Payload { raw, .. }: Payload<'_>) -> bool {
        let [kind, delta] = raw.members(&["type", "delta"]);
        let kind = kind
            .and_then(Raw::as_str)
            .map(Str::to_text)
            .unwrap_or_default();
        match kind.as_str() {
            "response.output_item.done" => true,
            kind if kind.rsplit('.').next() == Some("delta") => {
                delta.is_some_and(|delta| !delta.is_empty())
            }
            _ => false,
        }
    }

    fn ended(&self) -> bool {
        false
    }

    fn finish(&mut self, turn: &mut Turn) -> Result<(), String> {
        Err(if turn.started {
            "neither response.completed nor response.incomplete came".to_owned()
        } else {
            "no response.created came".to_owned()
        })
    }
}

/// The part that an event is about.
fn part_key(about: &About<'_>, kind: &str) -> Option<PartKey> {
    let index = |index: Option<Raw<'_>>| index.map_or(Some(0), Raw::as_i64);
    if kind.contains("summary") {
        index(about.summary_index).map(PartKey::Summary)
    } else {
        index(about.content_index).map(PartKey::Content)
    }
}

/// Which part each part of a done item answers: the n-th that of index n; where such an index does not
/// exist, parts answer in ascending order.
fn answers(seen: &[i64], count: usize) -> Vec<i64> {
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    if seen.iter().all(|&index| (0..count).contains(&index)) {
        return (0..count).collect();
    }
    let last = seen.last().copied().unwrap_or(-1);
    let further = (1..=count).map(|step| last.saturating_add(step));
    seen.iter()
        .copied()
        .chain(further)
        .take(usize::try_from(count).unwrap_or(0))
        .collect()
}

/// The id and the call id of an item.
fn ids_of(item: Raw<'_>) -> [Option<String>; 2] {
    item.members(&["id", "call_id"])
        .map(|id| value_str(id).map(Str::to_text))
}

impl OpenAiResponses {
    /// The item that an event is about: by its place where it names one, else by its id.
    fn item(&mut self, about: &About<'_>, kind: Kind) -> usize {
        let About { item_id, item, .. } = *about;
        let place = about.output_index.and_then(Raw::as_i64);
        let id = value_str(item_id.or_else(|| item.and_then(|item| item.member("id"))))
            .map(Str::to_text);
        let known = match (place, &id) {
            (Some(place), _) => self.by_index.get(&place),
            (None, Some(id)) => self.by_id.get(id),
            // Neither: the item that opened last.
            (None, None) => None,
        };
        let is_new = known.is_none();
        let at = match known {
            Some(&at) => at,
            None if place.is_none() && id.is_none() && item.is_none() && !self.items.is_empty() => {
                self.items.len() - 1
            }
            None => {
                self.items.push(ItemState::default());
                self.items.len() - 1
            }
        };
        if let Some(place) = place {
            self.by_index.entry(place).or_insert(at);
        }
        // Ids may rotate with every delta: only those that tell items apart are kept.
        if let Some(id) = id.filter(|_| place.is_none() || item.is_some() || is_new) {
            self.by_id.entry(id).or_insert(at);
        }
        self.items[at].kind.get_or_insert(kind);
        at
    }

    /// The item that an event is about, if it is of the kind that can take the event.
    fn item_of(&mut self, turn: &mut Turn, about: &About<'_>, kind: Kind) -> Option<usize> {
        let at = self.item(about, kind);
        match self.items[at].kind {
            Some(known) if known == kind => Some(at),
            // What goes out whole has no pieces.
            Some(Kind::Whole) => None,
            _ => {
                turn.warn(WarningCode::DroppedFragment);
                None
            }
        }
    }

    /// Takes a place from an item that is done, where another one comes at it: some imitators say the
    /// same place of every item.
    fn make_room(&mut self, about: &About<'_>, item: Raw<'_>) {
        let Some(place) = about.output_index.and_then(Raw::as_i64) else {
            return;
        };
        let Some(&at) = self.by_index.get(&place) else {
            return;
        };
        let known = &self.items[at];
        let [id, call_id] = ids_of(item);
        let [known_id, known_call_id] = &known.done_ids;
        // Ids may rotate; call ids do not, because results name them.
        let is_new = match (call_id, known_call_id) {
            (Some(new), Some(old)) => new != *old,
            _ => id
                .zip(known_id.as_ref())
                .is_some_and(|(new, old)| new != *old),
        };
        if known.is_done && is_new {
            self.by_index.remove(&place);
        }
    }

    fn item_added(&mut self, turn: &mut Turn, about: &About<'_>) {
        let Some(item) = about.item else {
            return;
        };
        turn.start(None, None);
        self.make_room(about, item);
        let kind = Self::kind_of(turn, item);
        let at = self.item(about, kind);
        self.introduce(turn, at, item);
        if kind == Kind::Call {
            self.open_call(turn, at, item);
        }
    }

    /// What an item is.
    fn kind_of(turn: &Turn, item: Raw<'_>) -> Kind {
        let [kind, name] = item.members(&["type", "name"]);
        match kind.and_then(Raw::as_str).map(Str::to_text).as_deref() {
            Some("message") => Kind::Message,
            Some("reasoning") => Kind::Reasoning,
            Some("function_call" | "custom_tool_call") => {
                let name = value_str(name).map(Str::to_text).unwrap_or_default();
                if turn.options.server_tools.contains(&name) {
                    Kind::Whole
                } else {
                    Kind::Call
                }
            }
            _ => Kind::Whole,
        }
    }

    /// Takes what an item says of itself where it first appears.
    fn introduce(&mut self, turn: &mut Turn, at: usize, item: Raw<'_>) {
        let [kind, id, phase] = item.members(&["type", "id", "phase"]);
        let state = &mut self.items[at];
        if state.kind_name.is_empty() {
            state.kind_name = kind
                .and_then(Raw::as_str)
                .map(Str::to_text)
                .unwrap_or_default();
        }
        if state.kind == Some(Kind::Message) && state.facts.is_empty() {
            let facts = [("item_id", id), ("phase", phase)];
            let facts = facts
                .into_iter()
                .filter_map(|(name, value)| Some((name, value_str(value).and(value)?)));
            state.facts = facts
                .map(|(name, value)| (name, value.text().to_owned()))
                .collect();
            self.say_facts(turn, at);
        }
    }

    /// The facts of a message item belong to the next text block that opens.
    fn say_facts(&mut self, turn: &mut Turn, at: usize) {
        for (name, json) in &self.items[at].facts {
            turn.fact(name, json);
        }
        self.facts_of = Some(at);
    }

    fn open_call(&mut self, turn: &mut Turn, at: usize, item: Raw<'_>) -> usize {
        if let Some(block) = self.items[at].block {
            return block;
        }
        let [id, name] = item.members(&["call_id", "name"]);
        let id = value_str(id).map(|id| turn.text(id));
        let name = value_str(name)
            .map(|name| turn.text(name))
            .unwrap_or_default();
        let mut known = vec!["call_id", "name", "arguments", "input", "status"];
        // The type of a plain call goes without saying.
        if item
            .string("type")
            .is_some_and(|kind| kind.is("function_call"))
        {
            known.push("type");
        }
        let extra = other_members(item, &known);
        let block = turn.open(BlockKind::Tool);
        turn.tool_start(block, id.as_deref(), &name, extra.as_deref());
        self.items[at].block = Some(block);
        block
    }

    /// How long a block's text is by now.
    fn length(&self, said: &Builder, block: usize) -> usize {
        said.main_text(block).len() + self.added.get(&block).copied().unwrap_or(0)
    }

    fn add(&mut self, turn: &mut Turn, block: usize, text: &str) {
        let length = turn.text_delta(block, text);
        *self.added.entry(block).or_default() += length;
    }

    /// The block of a text part, opened if it is not there.
    fn text_part(&mut self, turn: &mut Turn, at: usize, key: PartKey) -> usize {
        if let Some(part) = self.items[at].parts.get(&key) {
            return part.block;
        }
        turn.start(None, None);
        if self.facts_of != Some(at)
            && !self.items[at].facts.is_empty()
            && self.items[at].parts.is_empty()
        {
            // Another item has come between.
            self.say_facts(turn, at);
        }
        let block = turn.open(BlockKind::Text);
        self.items[at].parts.insert(
            key,
            Part {
                block,
                start: 0,
                end: None,
            },
        );
        block
    }

    fn text_delta(&mut self, turn: &mut Turn, about: &About<'_>, kind: &str) {
        turn.start(None, None);
        let (Some(key), Some(piece)) = (part_key(about, kind), value_str(about.delta)) else {
            return;
        };
        let Some(at) = self.item_of(turn, about, Kind::Message) else {
            return;
        };
        if kind == "response.refusal.delta" {
            turn.mark_refusal();
        }
        let block = self.text_part(turn, at, key);
        if !turn.is_open(block) {
            turn.warn(WarningCode::DroppedFragment);
            return;
        }
        turn.delta(block, piece);
        turn.hot = Some(Hot {
            hole: range_in(about.raw.text(), piece.body()),
            block,
        });
    }

    /// The done form of a text part; `content_part.done` also closes it.
    fn text_done(&mut self, turn: &mut Turn, said: &Builder, about: &About<'_>, kind: &str) {
        let part = about.part;
        let is_reasoning = part
            .and_then(|part| part.string("type"))
            .is_some_and(|kind| kind.is("reasoning_text"));
        let item_kind = if is_reasoning {
            Kind::Reasoning
        } else {
            Kind::Message
        };
        let (Some(at), Some(key)) = (self.item_of(turn, about, item_kind), part_key(about, kind))
        else {
            return;
        };
        let [text, refusal] = match part {
            Some(part) => part.members(&["text", "refusal"]),
            None => [about.text, about.refusal],
        };
        if is_reasoning {
            if let Some(text) = value_str(text) {
                self.complete_reasoning(turn, said, at, key, text);
            }
            return;
        }
        self.complete_text(turn, said, at, key, [text, refusal]);
        if part.is_some()
            && let Some(part) = self.items[at].parts.get(&key)
        {
            turn.close(part.block);
        }
    }

    /// Completes a text part by its done form, the members `text` and `refusal`.
    fn complete_text(
        &mut self,
        turn: &mut Turn,
        said: &Builder,
        at: usize,
        key: PartKey,
        [text, refusal]: [Option<Raw<'_>>; 2],
    ) {
        let Some(done) = value_str(text.or(refusal)) else {
            return;
        };
        if text.is_none() {
            turn.mark_refusal();
        }
        let block = self.text_part(turn, at, key);
        self.complete(
            turn,
            said,
            Part {
                block,
                start: 0,
                end: None,
            },
            done,
        );
    }

    /// Emits what a done form says beyond the deltas; a contradiction leaves the deltas standing.
    fn complete(&mut self, turn: &mut Turn, said: &Builder, part: Part, done: Str<'_>) {
        let Part { block, start, end } = part;
        // What this payload itself added is the done form of the same part, said twice.
        if self.added.contains_key(&block) && end.is_none() {
            return;
        }
        let text = said.main_text(block);
        let agreed = &mut self.agreed;
        let is_whole = start == 0 && end.is_none();
        if is_whole
            && (agreed.block, agreed.length) == (block, text.len())
            && agreed.body == done.body()
        {
            return;
        }
        let text = text.get(start..end.unwrap_or(text.len())).unwrap_or("");
        let whole = done.to_text();
        match whole.strip_prefix(text) {
            Some("") if is_whole => {
                agreed.block = block;
                agreed.length = text.len();
                agreed.body.clear();
                agreed.body.push_str(done.body());
            }
            Some("") => {}
            Some(rest) if turn.is_open(block) && end.is_none() => {
                let waits = turn.has_half(block) && rest.starts_with(char::REPLACEMENT_CHARACTER);
                let mut late = rest.chars().skip(usize::from(waits));
                if done.has_lone_surrogate() && late.any(|c| c == char::REPLACEMENT_CHARACTER) {
                    turn.warn(WarningCode::LoneSurrogate);
                }
                self.add(turn, block, rest);
            }
            _ => turn.warn(WarningCode::DoneMismatch),
        }
    }

    /// The block of a reasoning item, opened if it is not there.
    fn reasoning_block(&mut self, turn: &mut Turn, at: usize) -> usize {
        if let Some(block) = self.items[at].block {
            return block;
        }
        turn.start(None, None);
        let block = turn.open(BlockKind::Thinking);
        self.items[at].block = Some(block);
        block
    }

    /// The part of a reasoning item that text is added to; a new part is set off by a blank line.
    fn reasoning_part(&mut self, turn: &mut Turn, said: &Builder, at: usize, key: PartKey) -> Part {
        let block = self.reasoning_block(turn, at);
        if self.items[at].last_part == Some(key)
            && let Some(part) = self.items[at].parts.get(&key)
        {
            return *part;
        }
        let length = self.length(said, block);
        if let Some(last) = self.items[at].last_part.replace(key)
            && let Some(part) = self.items[at].parts.get_mut(&last)
        {
            part.end = Some(length);
        }
        if length > 0 {
            self.add(turn, block, "\n\n");
        }
        let part = Part {
            block,
            start: self.length(said, block),
            end: None,
        };
        self.items[at].parts.insert(key, part);
        part
    }

    fn reasoning_delta(&mut self, turn: &mut Turn, said: &Builder, about: &About<'_>, kind: &str) {
        turn.start(None, None);
        let (Some(key), Some(piece)) = (part_key(about, kind), value_str(about.delta)) else {
            return;
        };
        let Some(at) = self.item_of(turn, about, Kind::Reasoning) else {
            return;
        };
        if self.items[at].is_closed(turn) {
            turn.warn(WarningCode::DroppedFragment);
            return;
        }
        let is_new = self.items[at].last_part != Some(key);
        let block = self.reasoning_part(turn, said, at, key).block;
        turn.delta(block, piece);
        if !is_new {
            turn.hot = Some(Hot {
                hole: range_in(about.raw.text(), piece.body()),
                block,
            });
        }
    }

    fn complete_reasoning(
        &mut self,
        turn: &mut Turn,
        said: &Builder,
        at: usize,
        key: PartKey,
        done: Str<'_>,
    ) {
        if let Some(&part) = self.items[at].parts.get(&key) {
            self.complete(turn, said, part, done);
        } else if self.items[at].is_closed(turn) {
            turn.warn(WarningCode::DoneMismatch);
        } else {
            let done = turn.text(done);
            let block = self.reasoning_part(turn, said, at, key).block;
            self.add(turn, block, &done);
        }
    }

    fn call_delta(&mut self, turn: &mut Turn, about: &About<'_>) {
        let Some(piece) = value_str(about.delta) else {
            return;
        };
        let Some(at) = self.item_of(turn, about, Kind::Call) else {
            return;
        };
        match self.items[at].block {
            Some(block) if turn.is_open(block) => {
                turn.delta(block, piece);
                turn.hot = Some(Hot {
                    hole: range_in(about.raw.text(), piece.body()),
                    block,
                });
            }
            _ => turn.warn(WarningCode::DroppedFragment),
        }
    }

    fn complete_call(&mut self, turn: &mut Turn, said: &Builder, at: usize, done: Option<Str<'_>>) {
        if let (Some(block), Some(done)) = (self.items[at].block, done) {
            self.complete(
                turn,
                said,
                Part {
                    block,
                    start: 0,
                    end: None,
                },
                done,
            );
        }
    }

    fn annotation(&mut self, turn: &mut Turn, about: &About<'_>) {
        let Some(annotation) = about.raw.member("annotation") else {
            return;
        };
        turn.start(None, None);
        let (Some(at), Some(key)) = (
            self.item_of(turn, about, Kind::Message),
            part_key(about, ""),
        ) else {
            return;
        };
        let block = self.text_part(turn, at, key);
        if turn.is_open(block) {
            turn.citation(block, annotation.text());
        } else {
            turn.warn(WarningCode::DroppedFragment);
        }
    }

    fn item_done(&mut self, turn: &mut Turn, said: &Builder, about: &About<'_>) {
        let Some(item) = about.item else {
            return;
        };
        turn.start(None, None);
        self.make_room(about, item);
        let kind = Self::kind_of(turn, item);
        let at = self.item(about, kind);
        self.done(turn, said, at, item);
    }

    /// Takes the done form of an item and closes it.
    fn done(&mut self, turn: &mut Turn, said: &Builder, at: usize, item: Raw<'_>) {
        if std::mem::replace(&mut self.items[at].is_done, true) {
            return;
        }
        self.items[at].done_ids = ids_of(item);
        self.introduce(turn, at, item);
        match self.items[at].kind {
            Some(Kind::Message) => {
                let parts: Vec<Raw<'_>> = item
                    .member("content")
                    .into_iter()
                    .flat_map(Raw::elements)
                    .collect();
                self.each_part(at, &parts, PartKey::Content, |this, key, part| {
                    let done = part.members(&["text", "refusal"]);
                    this.complete_text(turn, said, at, key, done);
                    // Annotations that no event brought.
                    this.late_citations(turn, said, at, key, part);
                });
                let blocks: Vec<usize> = self.items[at]
                    .parts
                    .values()
                    .map(|part| part.block)
                    .collect();
                for block in blocks {
                    turn.close(block);
                }
            }
            Some(Kind::Reasoning) => self.reasoning_done(turn, said, at, item),
            Some(Kind::Call) => {
                let block = self.open_call(turn, at, item);
                let [arguments, input] = item.members(&["arguments", "input"]);
                self.complete_call(turn, said, at, value_str(arguments.or(input)));
                turn.close(block);
            }
            Some(Kind::Whole) | None => {
                let [kind, call_id] = item.members(&["type", "call_id"]);
                let kind = kind
                    .and_then(Raw::as_str)
                    .map(Str::to_text)
                    .unwrap_or_default();
                let call_id = value_str(call_id).map(Str::to_text);
                if kind.ends_with("_output") {
                    self.outputs.extend(call_id.clone());
                } else if HOST_ITEMS.contains(&kind.as_str()) {
                    self.host_items.push(call_id);
                }
                turn.extension(&kind, item.text());
            }
        }
    }

    /// Calls `take` for each part of a done item, with the part that it answers.
    fn each_part<'p>(
        &mut self,
        at: usize,
        parts: &[Raw<'p>],
        key: fn(i64) -> PartKey,
        mut take: impl FnMut(&mut Self, PartKey, Raw<'p>),
    ) {
        let seen: Vec<i64> = self.items[at]
            .parts
            .keys()
            .filter_map(|known| match *known {
                PartKey::Content(index) | PartKey::Summary(index) => {
                    (key(index) == *known).then_some(index)
                }
            })
            .collect();
        for (index, part) in answers(&seen, parts.len()).into_iter().zip(parts) {
            take(self, key(index), *part);
        }
    }

    /// Citations of a done part whose text came without any.
    fn late_citations(
        &mut self,
        turn: &mut Turn,
        said: &Builder,
        at: usize,
        key: PartKey,
        part: Raw<'_>,
    ) {
        let Some(block) = self.items[at].parts.get(&key).map(|part| part.block) else {
            return;
        };
        if said.has_citations(block) || !turn.is_open(block) {
            return;
        }
        for annotation in part
            .member("annotations")
            .into_iter()
            .flat_map(Raw::elements)
        {
            turn.citation(block, annotation.text());
        }
    }

    fn reasoning_done(&mut self, turn: &mut Turn, said: &Builder, at: usize, item: Raw<'_>) {
        let [summary, content, encrypted, id] =
            item.members(&["summary", "content", "encrypted_content", "id"]);
        for (list, key) in [
            (summary, PartKey::Summary as fn(i64) -> PartKey),
            (content, PartKey::Content),
        ] {
            let parts: Vec<Raw<'_>> = list.into_iter().flat_map(Raw::elements).collect();
            self.each_part(at, &parts, key, |this, key, part| {
                if let Some(text) = value_str(part.member("text")) {
                    this.complete_reasoning(turn, said, at, key, text);
                }
            });
        }
        if value_str(encrypted).is_some() {
            let block = self.reasoning_block(turn, at);
            let members = [("encrypted_content", encrypted), ("id", id)];
            let members = members
                .iter()
                .filter_map(|(name, value)| Some((*name, value.as_ref()?.text())));
            turn.raw_signature(block, &object(members));
        }
        if let Some(block) = self.items[at].block {
            turn.close(block);
        }
    }

    /// The terminal events. The response's output is a done form for items that had none.
    fn end(
        &mut self,
        turn: &mut Turn,
        said: &Builder,
        kind: &str,
        response: Raw<'_>,
    ) -> Result<(), ErrorDocument> {
        let [status, output, details, error] =
            response.members(&["status", "output", "incomplete_details", "error"]);
        let status = value_str(status).map(|status| turn.text(status));
        let status = status.unwrap_or_else(|| kind.trim_start_matches("response.").to_owned());
        if kind == "response.failed"
            || status == "failed"
            || kind == "response.cancelled"
            || status == "cancelled"
        {
            return Err(match error {
                Some(error) => ErrorDocument::of(response, Some(error)),
                None => ErrorDocument::named(&status, &format!("the response was {status}")),
            });
        }
        let is_first = self.items.is_empty();
        for (place, item) in output.into_iter().flat_map(Raw::elements).enumerate() {
            let known = self.known_item(place, item);
            let at = match known {
                Some(at) => at,
                None if is_first => {
                    let kind = Self::kind_of(turn, item);
                    self.item_at(place, item, kind)
                }
                None => continue,
            };
            self.added = HashMap::new();
            self.done(turn, said, at, item);
        }
        let outputs = &self.outputs;
        for call_id in std::mem::take(&mut self.host_items) {
            if call_id.is_none_or(|id| !outputs.contains(&id)) {
                turn.mark_host_call();
            }
        }
        let reason =
            value_str(details.and_then(|details| details.member("reason"))).map(Str::to_text);
        let is_incomplete = kind == "response.incomplete" || status == "incomplete";
        let (stop, raw) = match (is_incomplete, reason) {
            (true, Some(reason)) => (incomplete_reason(&reason), reason),
            (true, None) => (StopReason::Other, status),
            (false, _) => (StopReason::EndTurn, status),
        };
        turn.stop(stop, Some(&raw), Terminal::MessageStop);
        Ok(())
    }

    /// The item that an element of the final output is: by its id, else by its place and type.
    fn known_item(&self, place: usize, item: Raw<'_>) -> Option<usize> {
        let id = item.string("id").map(Str::to_text);
        if let Some(&at) = id.and_then(|id| self.by_id.get(&id)) {
            return Some(at);
        }
        let at = *self.by_index.get(&i64::try_from(place).ok()?)?;
        let is_same = item
            .string("type")
            .is_some_and(|kind| kind.is(&self.items[at].kind_name));
        is_same.then_some(at)
    }

    fn item_at(&mut self, place: usize, item: Raw<'_>, kind: Kind) -> usize {
        self.items.push(ItemState {
            kind: Some(kind),
            ..ItemState::default()
        });
        let at = self.items.len() - 1;
        if let Ok(place) = i64::try_from(place) {
            self.by_index.insert(place, at);
        }
        if let Some(id) = item.string("id") {
            self.by_id.insert(id.to_text(), at);
        }
        at
    }
}

pub(crate) fn incomplete_reason(raw: &str) -> StopReason {
    match raw {
        "max_output_tokens" | "max_tokens" => StopReason::MaxTokens,
        "content_filter" => StopReason::ContentFilter,
        _ => StopReason::Other,
    }
}
