//! OpenAI Chat Completions, and its many imitators with their habits.

use std::collections::{HashMap, HashSet};

use super::template::FreeMember;
use super::turn::{BlockKind, Hot, Turn};
use super::{Payload, Wire, value_str};
use crate::assemble::{Builder, object};
use crate::error::ErrorDocument;
use crate::event::{Event, StopReason, Terminal, WarningCode};
use crate::json::{Raw, Str, push_literal, range_in};
use crate::usage;

/// A tool call that the wire builds from fragments.
#[derive(Debug)]
struct Call {
    /// Opens when the call is announced; a tool that the provider runs has none till it is whole.
    block: Option<usize>,
    is_open: bool,
    id: Option<String>,
    name: String,
    extra: Option<String>,
    /// Announced: id and name stay as they are.
    started: bool,
    has_arguments: bool,
    /// For a tool that the provider runs: the arguments, and the surrogate half that waits.
    served: Option<(String, Option<u16>)>,
}

#[derive(Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an independent fact of the stream"
)]
pub(crate) struct OpenAiChat {
    choice: u64,
    /// The body is no stream: choices hold a message, not deltas.
    is_whole: bool,
    chunks: bool,
    choice_seen: bool,
    done: bool,
    text: Option<usize>,
    thinking: Option<usize>,
    thinking_signed: bool,
    reasoning_field: bool,
    /// `reasoning_details` entries with an id that wait for the block that they sign.
    entries: HashMap<String, Vec<(usize, String)>>,
    /// How many entries have waited, which numbers them.
    entry_count: usize,
    calls: Vec<Call>,
    by_index: HashMap<i64, usize>,
    by_id: HashMap<String, usize>,
    legacy: Option<usize>,
    /// Calls that are open, in order; the last is the latest.
    open_calls: Vec<usize>,
    /// The call whose start has not gone out.
    waiting: Option<usize>,
    reason: Option<String>,
    citations: Option<String>,
    search_results: Option<String>,
}

pub(crate) fn stop_reason(raw: &str) -> StopReason {
    match raw {
        "stop" | "end" | "eos" => StopReason::EndTurn,
        "tool_calls" | "function_call" => StopReason::ToolUse,
        "length" | "max_tokens" | "model_length" => StopReason::MaxTokens,
        "content_filter" | "sensitive" => StopReason::ContentFilter,
        _ => StopReason::Other,
    }
}

/// An id or a name; `""` and `"null"` are none.
fn label(value: Option<Raw<'_>>) -> Option<Str<'_>> {
    value_str(value).filter(|label| !label.is("null"))
}

/// The members that reasoning comes in.
pub(crate) const REASONING_FIELDS: [&str; 4] = [
    "reasoning_content",
    "reasoning",
    "reasoning_text",
    "reasoning_details",
];

impl Wire for OpenAiChat {
    fn free_members(&self) -> &'static [FreeMember] {
        const MEMBERS: [FreeMember; 5] = [
            FreeMember::sometimes("id"),
            FreeMember::sometimes("model"),
            FreeMember::always("obfuscation"),
            FreeMember::sometimes("system_fingerprint"),
            FreeMember::sometimes("service_tier"),
        ];
        &MEMBERS
    }

    fn payload(
        &mut self,
        turn: &mut Turn,
        _said: &Builder,
        Payload {
            raw: payload,
            faulty,
            ..
        }: Payload<'_>,
    ) -> Result<(), ErrorDocument> {
        let [
            id,
            model,
            choices,
            top_usage,
            groq,
            citations,
            search_results,
        ] = payload.members(&[
            "id",
            "model",
            "choices",
            "usage",
            "x_groq",
            "citations",
            "search_results",
        ]);
        self.chunks |= !faulty;
        let (id, model) = (value_str(id), value_str(model));
        let has_choices = choices.is_some_and(|choices| choices.is_array() && !choices.is_empty());
        if id.is_some() || model.is_some() || has_choices {
            turn.start(id, model);
        }
        let mut fault = Ok(());
        let plain_chunk = [top_usage, groq, citations, search_results]
            .iter()
            .all(Option::is_none);
        Self::usage(turn, top_usage);
        for choice in choices.into_iter().flat_map(Raw::elements) {
            let delta = if self.is_whole { "message" } else { "delta" };
            let [index, delta, reason, logprobs, usage, error] = choice.members(&[
                "index",
                delta,
                "finish_reason",
                "logprobs",
                "usage",
                "error",
            ]);
            if index.map_or(Some(0), Raw::as_u64) != Some(self.choice) {
                continue;
            }
            self.choice_seen = true;
            Self::usage(turn, usage);
            let before = turn.log.len();
            let piece = delta.and_then(|delta| self.delta(turn, delta));
            let single = turn.log.len() == before + 1 && reason.is_none() && logprobs.is_none();
            if let (Some((block, piece)), true, true) =
                (piece, single, plain_chunk && usage.is_none())
            {
                turn.hot = Some(Hot {
                    hole: range_in(payload.text(), piece.body()),
                    block,
                });
            }
            if let Some(logprobs) = logprobs {
                turn.fact("logprobs", logprobs.text());
            }
            if let Some(error) =
                error.filter(|e| (e.is_object() || e.as_str().is_some()) && !e.is_empty())
            {
                fault = Err(ErrorDocument::of(choice, Some(error)));
            }
            if let Some(reason) = value_str(reason) {
                let reason = turn.text(reason);
                if fault.is_ok() && is_fault(&reason) {
                    fault = Err(ErrorDocument::named(
                        &reason,
                        &format!("the turn ended with finish reason {reason}"),
                    ));
                }
                if fault.is_ok() && !faulty {
                    self.finish_reason(turn, reason);
                }
            }
        }
        // The hole is the delta's only if nothing else in the chunk could have an effect.
        if choices.is_some_and(|choices| choices.elements().nth(1).is_some()) {
            turn.hot = None;
        }
        Self::usage(turn, groq.and_then(|groq| groq.member("usage")));
        for (kept, value) in [
            (&mut self.citations, citations),
            (&mut self.search_results, search_results),
        ] {
            if let Some(value) = value.filter(|value| !value.is_empty()) {
                *kept = Some(value.text().to_owned());
            }
        }
        fault
    }

    fn whole(&mut self, turn: &mut Turn, body: Raw<'_>) -> Result<(), ErrorDocument> {
        self.is_whole = true;
        let payload = Payload {
            raw: body,
            name: "",
            faulty: false,
        };
        self.payload(turn, &Builder::default(), payload)?;
        self.done(turn);
        Ok(())
    }

    fn done(&mut self, turn: &mut Turn) {
        self.done = true;
        if !self.choice_seen {
            return;
        }
        self.close_calls(turn);
        self.stop(turn, Terminal::Done);
    }

    fn has_content(&self, Payload { raw: payload, .. }: Payload<'_>) -> bool {
        const CONTENT: [&str; 13] = [
            "content",
            "reasoning_content",
            "reasoning",
            "reasoning_text",
            "reasoning_details",
            "refusal",
            "tool_calls",
            "function_call",
            "annotations",
            "images",
            "audio",
            "executed_tools",
            "logprobs",
        ];
        let choices = payload
            .member("choices")
            .into_iter()
            .flat_map(Raw::elements);
        choices.into_iter().any(|choice| {
            let [index, delta] = choice.members(&["index", "delta"]);
            index.map_or(Some(0), Raw::as_u64) == Some(self.choice)
                && delta.is_some_and(|delta| {
                    delta
                        .members(&CONTENT)
                        .into_iter()
                        .flatten()
                        .any(|value| !value.is_empty())
                })
        })
    }

    fn ended(&self) -> bool {
        self.reason.is_some() && self.open_calls.is_empty()
    }

    fn finish(&mut self, turn: &mut Turn) -> Result<(), String> {
        if self.ended() {
            self.stop(turn, Terminal::FinishReason);
            return Ok(());
        }
        Err(if !self.choice_seen && self.chunks {
            format!("choice {} never appeared", self.choice)
        } else if self.done && !self.chunks {
            "[DONE] came alone".to_owned()
        } else {
            "neither a finish reason nor [DONE] came".to_owned()
        })
    }

    fn waits(&self) -> bool {
        self.waiting.is_some()
    }

    fn fail(&mut self, turn: &mut Turn) {
        self.announce(turn);
        for at in std::mem::take(&mut self.open_calls) {
            if let Some((index, json)) = self.served_call(turn, at) {
                turn.open(BlockKind::Extension);
                turn.log.push(Event::Extension {
                    index: Some(index),
                    kind: "function",
                    json: &json,
                });
            }
        }
    }
}

/// Finish reasons that are faults of the server.
pub(crate) fn is_fault(reason: &str) -> bool {
    matches!(
        reason,
        "error" | "network_error" | "insufficient_system_resource"
    )
}

impl OpenAiChat {
    pub(crate) fn new(choice: u64) -> Self {
        Self {
            choice,
            ..Self::default()
        }
    }

    fn usage(turn: &mut Turn, report: Option<Raw<'_>>) {
        if let Some(usage) = report
            .filter(|report| report.is_object())
            .and_then(usage::chat)
        {
            turn.usage = Some(usage);
        }
    }

    fn stop(&mut self, turn: &mut Turn, terminal: Terminal) {
        self.settle_entries(turn, &HashSet::new());
        turn.close_all();
        for (kind, value) in [
            ("citations", &self.citations),
            ("search_results", &self.search_results),
        ] {
            if let Some(value) = value {
                turn.fact(kind, value);
            }
        }
        let stop = match &self.reason {
            Some(reason) => stop_reason(reason),
            None if turn.has_host_calls() => StopReason::ToolUse,
            None => StopReason::Unknown,
        };
        turn.stop(stop, self.reason.as_deref(), terminal);
    }

    /// The first finish reason counts; a later one closes calls that opened after it.
    fn finish_reason(&mut self, turn: &mut Turn, reason: String) {
        if self.reason.is_none() {
            self.settle_entries(turn, &HashSet::new());
            self.reason = Some(reason);
            self.text = None;
            self.thinking = None;
        }
        self.close_calls(turn);
    }

    /// Takes a delta. Gives the block and the string if it was nothing but one piece of a block.
    fn delta<'p>(&mut self, turn: &mut Turn, delta: Raw<'p>) -> Option<(usize, Str<'p>)> {
        let [
            content,
            refusal,
            tool_calls,
            function_call,
            annotations,
            images,
            audio,
            executed,
            details,
        ] = delta.members(&[
            "content",
            "refusal",
            "tool_calls",
            "function_call",
            "annotations",
            "images",
            "audio",
            "executed_tools",
            "reasoning_details",
        ]);
        let mut piece = self.reasoning(turn, delta, details);
        if let Some(refusal) = value_str(refusal) {
            if self.say(turn, BlockKind::Text, refusal).is_some() {
                turn.mark_refusal();
            }
            piece = None;
        }
        match content {
            Some(content) if content.is_array() => {
                for part in content.elements() {
                    self.content_part(turn, part);
                }
            }
            content => {
                if let Some(text) = value_str(content) {
                    piece = self
                        .say(turn, BlockKind::Text, text)
                        .map(|block| (block, text));
                }
            }
        }
        if let Some(call) = function_call {
            self.legacy_call(turn, call);
        }
        let mut array = CallArray {
            fragments: tool_calls,
            ..CallArray::default()
        };
        for fragment in tool_calls.into_iter().flat_map(Raw::elements) {
            piece = None;
            let (call, arguments) = self.fragment(turn, fragment, &mut array);
            if let (Some(call), Some(arguments)) = (call, arguments)
                && self.calls[call].served.is_none()
                && tool_calls.is_some_and(|calls| calls.elements().nth(1).is_none())
                && label(fragment.member("id")).is_none()
                && label(fragment.member("function").and_then(|f| f.member("name"))).is_none()
                && fragment.member("index").is_some()
            {
                piece = self.calls[call].block.map(|block| (block, arguments));
            }
        }
        if self.reason.is_some() {
            if [annotations, images, audio, executed]
                .into_iter()
                .flatten()
                .any(|extra| !extra.is_empty())
            {
                turn.after_stop();
            }
            return None;
        }
        if [annotations, images, audio, executed]
            .iter()
            .any(Option::is_some)
        {
            piece = None;
        }
        for annotation in annotations.into_iter().flat_map(Raw::elements) {
            let index = self.block(turn, BlockKind::Text);
            turn.citation(index, annotation.text());
        }
        for image in images.into_iter().flat_map(Raw::elements) {
            self.extension_block(turn, image, "image");
        }
        if let Some(audio) = audio.filter(|audio| !audio.is_empty()) {
            turn.fact("audio", audio.text());
        }
        for tool in executed.into_iter().flat_map(Raw::elements) {
            turn.fact("executed_tools", tool.text());
        }
        piece
    }

    /// Reasoning under any of its names; the first that is not empty counts.
    fn reasoning<'p>(
        &mut self,
        turn: &mut Turn,
        delta: Raw<'p>,
        details: Option<Raw<'p>>,
    ) -> Option<(usize, Str<'p>)> {
        let mut said = None;
        let fields = delta.members(&REASONING_FIELDS);
        let named = REASONING_FIELDS
            .iter()
            .zip(fields)
            .find_map(|(name, value)| Some((*name, value_str(value)?)));
        if let Some((name, text)) = named {
            said = self
                .think(turn, Some(name), text)
                .map(|block| (block, text));
        } else {
            for entry in details.into_iter().flat_map(Raw::elements) {
                let [text, summary] = entry.members(&["text", "summary"]);
                if let Some(text) = value_str(text).or_else(|| value_str(summary)) {
                    self.think(turn, Some("reasoning_details"), text);
                }
            }
        }
        for entry in details.into_iter().flat_map(Raw::elements) {
            let [signature, data, id] = entry.members(&["signature", "data", "id"]);
            if value_str(signature).is_none() && value_str(data).is_none() {
                continue;
            }
            said = None;
            if self.reason.is_some() {
                turn.after_stop();
                continue;
            }
            let id = label(id).map(Str::to_text);
            let call = id.as_ref().and_then(|id| self.by_id.get(id)).copied();
            match (id, call) {
                (_, Some(call))
                    if self.calls[call].is_open && self.calls[call].served.is_none() =>
                {
                    self.announce(turn);
                    if let Some(block) = self.calls[call].block {
                        turn.raw_signature(block, entry.text());
                    }
                }
                (Some(id), _) => {
                    self.entry_count += 1;
                    let waiting = self.entries.entry(id).or_default();
                    waiting.push((self.entry_count, entry.text().to_owned()));
                }
                (None, _) => self.sign_thinking(turn, entry.text()),
            }
        }
        said
    }

    /// A piece of reasoning; `field` is the member that it came in, for the replay.
    fn think(&mut self, turn: &mut Turn, field: Option<&str>, text: Str<'_>) -> Option<usize> {
        if self.reason.is_some() {
            turn.after_stop();
            return None;
        }
        if let Some(field) = field
            && !std::mem::replace(&mut self.reasoning_field, true)
        {
            let mut json = String::new();
            push_literal(field, &mut json);
            turn.fact("reasoning_field", &json);
        }
        self.say(turn, BlockKind::Thinking, text)
    }

    /// A piece of text or thinking. Gives its block, unless the turn has ended.
    fn say(&mut self, turn: &mut Turn, kind: BlockKind, piece: Str<'_>) -> Option<usize> {
        if self.reason.is_some() {
            turn.after_stop();
            return None;
        }
        let block = self.block(turn, kind);
        turn.delta(block, piece);
        Some(block)
    }

    /// The open text or thinking block, opened if there is none.
    fn block(&mut self, turn: &mut Turn, kind: BlockKind) -> usize {
        let open = if kind == BlockKind::Text {
            self.text
        } else {
            self.thinking
        };
        if let Some(block) = open {
            return block;
        }
        if kind == BlockKind::Thinking {
            // Entries that wait may belong to this very block.
            self.announce(turn);
            self.close_speech(turn);
        } else {
            self.next_block(turn);
        }
        let block = turn.open(kind);
        if kind == BlockKind::Text {
            self.text = Some(block);
        } else {
            self.thinking = Some(block);
            self.thinking_signed = false;
        }
        block
    }

    /// Another block is about to open: what waits goes out, text and thinking close.
    fn next_block(&mut self, turn: &mut Turn) {
        self.announce(turn);
        self.settle_entries(turn, &HashSet::new());
        self.close_speech(turn);
    }

    fn close_speech(&mut self, turn: &mut Turn) {
        for block in [self.text.take(), self.thinking.take()]
            .into_iter()
            .flatten()
        {
            turn.close(block);
        }
    }

    /// Signs the open thinking block; one signature a block, so a second opens the next.
    fn sign_thinking(&mut self, turn: &mut Turn, entry: &str) {
        if self.thinking_signed
            && let Some(block) = self.thinking.take()
        {
            turn.close(block);
        }
        let block = self.block(turn, BlockKind::Thinking);
        turn.raw_signature(block, entry);
        self.thinking_signed = true;
    }

    /// Gives `reasoning_details` entries that waited to thinking, but those for calls that are coming.
    fn settle_entries(&mut self, turn: &mut Turn, coming_ids: &HashSet<String>) {
        if self.entries.is_empty() {
            return;
        }
        let (later, now): (HashMap<_, _>, HashMap<_, _>) = std::mem::take(&mut self.entries)
            .into_iter()
            .partition(|(id, _)| coming_ids.contains(id));
        self.entries = later;
        let mut now: Vec<(usize, String)> = now.into_values().flatten().collect();
        now.sort_unstable();
        for (_, entry) in now {
            self.sign_thinking(turn, &entry);
        }
    }

    fn content_part(&mut self, turn: &mut Turn, part: Raw<'_>) {
        let [kind, text, thinking, summary, refusal, signature] = part.members(&[
            "type",
            "text",
            "thinking",
            "summary",
            "refusal",
            "signature",
        ]);
        let kind = kind.and_then(Raw::as_str).map(Str::to_text);
        match kind.as_deref() {
            Some("text" | "output_text") | None if text.is_some() => {
                if let Some(text) = value_str(text) {
                    self.say(turn, BlockKind::Text, text);
                }
            }
            Some("refusal") => {
                if let Some(refusal) = value_str(refusal)
                    && self.say(turn, BlockKind::Text, refusal).is_some()
                {
                    turn.mark_refusal();
                }
            }
            Some("thinking" | "reasoning") => {
                // Mistral: a string or a list of text parts; Databricks: summaries, each with its proof.
                let source = thinking.or(summary).or(text);
                if let Some(text) = value_str(source) {
                    self.think(turn, None, text);
                }
                for piece in source.into_iter().flat_map(Raw::elements) {
                    if let Some(text) = value_str(piece.member("text")) {
                        self.think(turn, None, text);
                    }
                    self.part_signature(turn, piece.member("signature"));
                }
                self.part_signature(turn, signature);
            }
            _ if self.reason.is_some() => turn.after_stop(),
            _ => self.extension_block(turn, part, ""),
        }
    }

    fn part_signature(&mut self, turn: &mut Turn, signature: Option<Raw<'_>>) {
        if let Some(signature) = value_str(signature) {
            if self.reason.is_some() {
                turn.after_stop();
                return;
            }
            let block = self.block(turn, BlockKind::Thinking);
            turn.signature(block, signature);
        }
    }

    fn extension_block(&mut self, turn: &mut Turn, raw: Raw<'_>, default_kind: &str) {
        self.next_block(turn);
        let kind = raw
            .string("type")
            .map_or_else(|| default_kind.to_owned(), Str::to_text);
        turn.extension(&kind, raw.text());
    }

    /// Takes a fragment of a tool call. Gives the call and the argument string that it added.
    fn fragment<'p>(
        &mut self,
        turn: &mut Turn,
        fragment: Raw<'p>,
        array: &mut CallArray<'_>,
    ) -> (Option<usize>, Option<Str<'p>>) {
        let [index, id, function, extra] =
            fragment.members(&["index", "id", "function", "extra_content"]);
        let [name, arguments] = match function {
            Some(function) => function.members(&["name", "arguments"]),
            None => [None; 2],
        };
        let index = index.and_then(Raw::as_i64);
        let id = label(id).map(|id| turn.text(id));
        let name = label(name).map(|name| turn.text(name));
        let target = self.target(index, id.as_deref(), name.as_deref(), array.taken);
        let call = match target {
            Target::Call(call) if self.calls[call].is_open => call,
            Target::Call(_) => {
                // A closed call that is repeated must not run twice.
                turn.after_stop();
                return (None, None);
            }
            Target::None => {
                turn.warn(WarningCode::DroppedFragment);
                return (None, None);
            }
            Target::New => {
                let unseen = index.is_some_and(|index| !self.by_index.contains_key(&index))
                    && id.as_ref().is_some_and(|id| !self.by_id.contains_key(id));
                if self.reason.is_some() && !unseen {
                    turn.after_stop();
                    return (None, None);
                }
                self.open_call(turn, index, id.as_deref(), array)
            }
        };
        array.taken = true;
        self.label_call(call, id, name, extra);
        (Some(call), self.add_arguments(turn, call, arguments))
    }

    /// The call that a fragment belongs to.
    fn target(
        &self,
        index: Option<i64>,
        id: Option<&str>,
        name: Option<&str>,
        same_array: bool,
    ) -> Target {
        let other_id = |call: usize| {
            id.is_some_and(|id| {
                self.calls[call]
                    .id
                    .as_deref()
                    .is_some_and(|known| known != id)
            })
        };
        if let Some(index) = index {
            return match self.by_index.get(&index) {
                Some(&call) if name.is_some() && other_id(call) => Target::New,
                Some(&call) => Target::Call(call),
                None if name.is_some() || id.is_some() => Target::New,
                None => Target::None,
            };
        }
        if let Some(&call) = id.and_then(|id| self.by_id.get(id)) {
            return Target::Call(call);
        }
        let latest = self.open_calls.last().copied();
        match (id, name, latest) {
            (Some(_), Some(_), _) | (_, Some(_), None) | (Some(_), None, None) => Target::New,
            (None, None, None) => Target::None,
            (_, None, Some(latest)) => Target::Call(latest),
            (None, Some(name), Some(latest)) => {
                let call = &self.calls[latest];
                if same_array || (call.has_arguments && call.name != name) {
                    Target::New
                } else {
                    Target::Call(latest)
                }
            }
        }
    }

    fn open_call(
        &mut self,
        turn: &mut Turn,
        index: Option<i64>,
        id: Option<&str>,
        array: &mut CallArray<'_>,
    ) -> usize {
        self.announce(turn);
        if !std::mem::replace(&mut array.settled, true) && !self.entries.is_empty() {
            let calls = array.fragments.into_iter().flat_map(Raw::elements);
            let ids = calls.filter_map(|call| Some(label(call.member("id"))?.to_text()));
            self.settle_entries(turn, &ids.collect());
        }
        self.close_speech(turn);
        let call = self.calls.len();
        self.calls.push(Call {
            block: None,
            is_open: true,
            id: None,
            name: String::new(),
            extra: None,
            started: false,
            has_arguments: false,
            served: None,
        });
        if let Some(index) = index {
            self.by_index.insert(index, call);
        }
        if let Some(id) = id {
            self.by_id.insert(id.to_owned(), call);
        }
        self.open_calls.push(call);
        self.waiting = Some(call);
        call
    }

    /// Sets what a fragment tells of its call: id and name once, a name in pieces while no argument came.
    fn label_call(
        &mut self,
        at: usize,
        id: Option<String>,
        name: Option<String>,
        extra: Option<Raw<'_>>,
    ) {
        let call = &mut self.calls[at];
        if call.started {
            return;
        }
        if let (None, Some(id)) = (&call.id, id) {
            self.by_id.entry(id.clone()).or_insert(at);
            call.id = Some(id);
        }
        if let Some(name) = name
            && call.name != name
        {
            call.name.push_str(&name);
        }
        if let Some(extra) = extra {
            call.extra = Some(object([("extra_content", extra.text())].into_iter()));
        }
    }

    fn add_arguments<'p>(
        &mut self,
        turn: &mut Turn,
        at: usize,
        arguments: Option<Raw<'p>>,
    ) -> Option<Str<'p>> {
        let arguments =
            arguments.filter(|arguments| arguments.as_str().is_none_or(|text| !text.is_empty()))?;
        self.announce(turn);
        self.close_speech(turn);
        let call = &mut self.calls[at];
        call.has_arguments = true;
        match (arguments.as_str(), call.block, &mut call.served) {
            (Some(piece), Some(block), _) => {
                turn.delta(block, piece);
                return Some(piece);
            }
            (None, Some(block), _) => turn.raw_arguments(block, arguments.text()),
            (Some(piece), None, Some((all, half))) => {
                let lone = piece.push_to(all, half);
                for _ in 0..lone {
                    turn.warn(WarningCode::LoneSurrogate);
                }
            }
            (None, None, Some((all, _))) => all.push_str(arguments.text()),
            // An open call is announced by now: it has a block or is run by the provider.
            (_, None, None) => {}
        }
        None
    }

    /// The call of the legacy `function_call` member.
    fn legacy_call(&mut self, turn: &mut Turn, fragment: Raw<'_>) {
        let [name, arguments] = fragment.members(&["name", "arguments"]);
        let name = label(name).map(|name| turn.text(name));
        let open = self.legacy.filter(|&call| self.calls[call].is_open);
        let call = match open {
            Some(call) => call,
            None if self.reason.is_some() => {
                turn.after_stop();
                return;
            }
            None if name.is_none() => {
                turn.warn(WarningCode::DroppedFragment);
                return;
            }
            None => self.open_call(turn, None, None, &mut CallArray::default()),
        };
        self.legacy = Some(call);
        self.label_call(call, None, name, None);
        self.add_arguments(turn, call, arguments);
    }

    /// Lets the start of the latest call go out, if it still waits.
    fn announce(&mut self, turn: &mut Turn) {
        let Some(at) = self.waiting.take() else {
            return;
        };
        let call = &mut self.calls[at];
        call.started = true;
        if turn.options.server_tools.contains(&call.name) {
            call.served = Some((String::new(), None));
            return;
        }
        let block = turn.open(BlockKind::Tool);
        call.block = Some(block);
        turn.tool_start(block, call.id.as_deref(), &call.name, call.extra.as_deref());
        let entries = call.id.as_ref().and_then(|id| self.entries.remove(id));
        for (_, entry) in entries.into_iter().flatten() {
            turn.raw_signature(block, &entry);
        }
    }

    /// Closes the calls that are open, then those that the provider ran go out.
    fn close_calls(&mut self, turn: &mut Turn) {
        self.announce(turn);
        turn.close_all();
        for at in std::mem::take(&mut self.open_calls) {
            self.calls[at].is_open = false;
            if let Some((_, json)) = self.served_call(turn, at) {
                turn.extension("function", &json);
            }
        }
    }

    /// A call that the provider ran, as its wire has it, and the index of the block that it opens.
    fn served_call(&mut self, turn: &mut Turn, at: usize) -> Option<(usize, String)> {
        let (mut arguments, half) = self.calls[at].served.take()?;
        if half.is_some() {
            turn.warn(WarningCode::LoneSurrogate);
            arguments.push(char::REPLACEMENT_CHARACTER);
        }
        let index = turn.blocks();
        let call = &self.calls[at];
        let id = match &call.id {
            Some(id) => id.clone(),
            None => turn.synthetic_id(index, &call.name),
        };
        let mut json = String::from("{\"id\":");
        push_literal(&id, &mut json);
        json.push_str(",\"type\":\"function\",\"function\":{\"name\":");
        push_literal(&call.name, &mut json);
        json.push_str(",\"arguments\":");
        push_literal(&arguments, &mut json);
        json.push_str("}}");
        Some((index, json))
    }
}

/// The `tool_calls` of one delta, while its fragments are taken.
#[derive(Debug, Default)]
struct CallArray<'p> {
    fragments: Option<Raw<'p>>,
    /// A fragment of it has found its call.
    taken: bool,
    /// Entries that no call of it will take have gone to thinking.
    settled: bool,
}

enum Target {
    Call(usize),
    New,
    None,
}
