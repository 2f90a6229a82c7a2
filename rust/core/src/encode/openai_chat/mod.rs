//! OpenAI Chat Completions: chunks of one choice, without borders between blocks.

mod spoken;

use super::note::NoteCode;
use super::slots::Slots;
use super::text::{fault_document, literal, number, optional, other_members, plain, raw};
use super::turn::Turn;
use super::voice::{BlockKind, Opening, Stop, Voice, Whole};
use crate::error::ErrorDocument;
use crate::event::StopReason;
use crate::json::{MAX_PAYLOAD_DEPTH, Raw};
use crate::usage::Usage;
use crate::wire::Dialect;
use crate::wire::openai_chat::{REASONING_FIELDS, is_fault, stop_reason};
use spoken::Spoken;

/// The member of reasoning that is a list of entries.
const DETAILS: &str = "reasoning_details";

/// A block that is open on the wire.
#[derive(Debug)]
struct Open {
    kind: BlockKind,
    /// What stands before and after each of its pieces.
    prefix: Vec<u8>,
    suffix: &'static str,
}

#[derive(Debug, Default)]
pub(crate) struct OpenAiChat {
    /// How every chunk of the choice begins, up to the delta.
    head: Vec<u8>,
    /// How a chunk without choices begins, up to the choices.
    envelope: Vec<u8>,
    open: Slots<Open>,
    /// The kind of the block that opened last: text after text reads as one.
    last: Option<BlockKind>,
    calls: u64,
    reasoning_field: Option<&'static str>,
    /// Members of the last chunk.
    citations: Option<String>,
    search_results: Option<String>,
}

/// What ends a chunk whose delta is open.
const DELTA_END: &str = "},\"finish_reason\":null}]}\n\n";
/// What ends a chunk of a call's arguments.
const CALL_END: &str = "}}]},\"finish_reason\":null}]}\n\n";
/// What ends a chunk of an entry of reasoning.
const ENTRY_END: &str = "}]},\"finish_reason\":null}]}\n\n";

/// The types of content parts that are no extension.
const PARTS: [&str; 5] = ["text", "output_text", "refusal", "thinking", "reasoning"];

/// The word for a stop.
const fn word(reason: StopReason) -> &'static str {
    match reason {
        StopReason::EndTurn
        | StopReason::StopSequence
        | StopReason::PauseTurn
        | StopReason::Unknown => "stop",
        StopReason::ToolUse => "tool_calls",
        StopReason::MaxTokens | StopReason::ContextWindow => "length",
        StopReason::Refusal | StopReason::ContentFilter => "content_filter",
        StopReason::Other => "other",
    }
}

/// What a word is taken for; one that fails the turn is none for a stop.
fn reads(word: &str) -> StopReason {
    if is_fault(word) {
        StopReason::Unknown
    } else {
        stop_reason(word)
    }
}

/// The name of a reasoning member that decoders know.
pub(crate) fn reasoning_field(name: &str) -> Option<&'static str> {
    REASONING_FIELDS.into_iter().find(|known| *known == name)
}

/// An entry of `reasoning_details` that proves something: such entries are signatures on this wire.
fn proof(signature: &str) -> Option<Raw<'_>> {
    let entry = Raw::parse(signature, MAX_PAYLOAD_DEPTH - super::WRAPPING).ok()?;
    let says = |name| entry.string(name).is_some_and(|text| !text.is_empty());
    (entry.is_object() && (says("signature") || says("data"))).then_some(entry)
}

fn says_text(entry: Raw<'_>) -> bool {
    ["text", "summary"]
        .into_iter()
        .any(|name| entry.string(name).is_some_and(|text| !text.is_empty()))
}

impl OpenAiChat {
    /// The member that reasoning goes into.
    fn field(&self, turn: &Turn) -> &'static str {
        self.reasoning_field
            .or_else(|| reasoning_field(&turn.settings.reasoning_field))
            .unwrap_or(REASONING_FIELDS[0])
    }

    /// A chunk whose delta is one member.
    fn member(&self, name: &str, value: impl FnOnce(&mut Vec<u8>), out: &mut Vec<u8>) {
        out.extend_from_slice(&self.head);
        plain("{\"", out);
        plain(name, out);
        plain("\":", out);
        value(out);
        plain(DELTA_END, out);
    }

    /// A chunk that adds one element to a list of the delta.
    fn element(&self, name: &str, json: Raw<'_>, out: &mut Vec<u8>) {
        let list = |out: &mut Vec<u8>| {
            plain("[", out);
            raw(json, out);
            plain("]", out);
        };
        self.member(name, list, out);
    }

    /// A neighbour of the same kind has no border on this wire.
    fn open_speech(&mut self, turn: &mut Turn, index: usize, kind: BlockKind) {
        if self.last == Some(kind) {
            let detail = "the wire has no border between neighbours of one kind: they read as one";
            turn.note(NoteCode::BlocksMerged, Some(index), detail);
        }
    }

    /// Says a block of the wire's own; gives whether it is one.
    fn open_extension(&mut self, kind: &str, json: Raw<'_>, out: &mut Vec<u8>) -> bool {
        match extension_home(kind, json) {
            Some(Home::Call) => {
                let at = self.calls;
                self.calls += 1;
                let call = |out: &mut Vec<u8>| {
                    plain("[{\"index\":", out);
                    number(at, out);
                    other_members(json, &["index"], out);
                    plain("}]", out);
                };
                self.member("tool_calls", call, out);
            }
            Some(Home::Images) => self.element("images", json, out),
            Some(Home::Content) => self.element("content", json, out),
            None => return false,
        }
        true
    }
}

/// Where an extension block stands on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Home {
    /// A call that the provider ran.
    Call,
    Images,
    Content,
}

fn extension_home(kind: &str, json: Raw<'_>) -> Option<Home> {
    let name = json.string("type");
    if !json.is_object() || !name.map_or(kind.is_empty() || kind == "image", |name| name.is(kind)) {
        return None;
    }
    match kind {
        "function" => json.member("function").map(|_| Home::Call),
        "image" | "image_url" => Some(Home::Images),
        "" if json.member("text").is_some() => None,
        _ if PARTS.contains(&kind) => None,
        _ => Some(Home::Content),
    }
}

impl Voice for OpenAiChat {
    fn is_exclusive(&self, kind: BlockKind) -> bool {
        // Only calls are numbered, so that their pieces may mix.
        matches!(kind, BlockKind::Text | BlockKind::Thinking)
    }

    fn start(&mut self, turn: &mut Turn, id: Option<&str>, model: Option<&str>, out: &mut Vec<u8>) {
        let mut head = b"data: {".to_vec();
        labels(turn, id, model, "chat.completion.chunk", &mut head);
        plain(",\"choices\":[", &mut head);
        self.envelope.clone_from(&head);
        plain("{\"index\":0,\"delta\":", &mut head);
        self.head = head;
        out.extend_from_slice(&self.head);
        plain("{\"role\":\"assistant\",\"content\":\"\"", out);
        plain(DELTA_END, out);
    }

    fn open(&mut self, turn: &mut Turn, index: usize, opening: Opening<'_>, out: &mut Vec<u8>) {
        let kind = opening.kind();
        let mut prefix = self.head.clone();
        let mut suffix = DELTA_END;
        match opening {
            Opening::Text => {
                self.open_speech(turn, index, kind);
                plain("{\"content\":", &mut prefix);
            }
            Opening::Thinking => {
                self.open_speech(turn, index, kind);
                let field = self.field(turn);
                plain("{\"", &mut prefix);
                plain(field, &mut prefix);
                plain("\":", &mut prefix);
                if field == DETAILS {
                    plain(DETAIL, &mut prefix);
                    suffix = ENTRY_END;
                }
            }
            Opening::Tool { id, name, extra } => {
                turn.calls += 1;
                let id = turn.call_id(id, index, name);
                plain("{\"tool_calls\":[{\"index\":", &mut prefix);
                number(self.calls, &mut prefix);
                self.calls += 1;
                out.extend_from_slice(&prefix);
                plain(",", out);
                call(&id, name, "", extra, out);
                plain("]", out);
                plain(DELTA_END, out);
                plain(",\"function\":{\"arguments\":", &mut prefix);
                suffix = CALL_END;
            }
            Opening::Redacted { .. } => {
                let detail = "the wire has no redacted thinking";
                turn.note(NoteCode::ReasoningDropped, Some(index), detail);
                return;
            }
            Opening::Extension { kind, json } => {
                if !self.open_extension(kind, json, out) {
                    turn.note(
                        NoteCode::ContentUnsupported,
                        Some(index),
                        format!("the wire has no block {kind:?}"),
                    );
                    return;
                }
            }
        }
        self.last = Some(kind);
        self.open.put(
            index,
            Open {
                kind,
                prefix,
                suffix,
            },
        );
    }

    #[inline]
    fn piece(&mut self, _: &mut Turn, index: usize, piece: &str, out: &mut Vec<u8>) {
        if let Some(block) = self.open.get_mut(index) {
            out.extend_from_slice(&block.prefix);
            literal(piece, out);
            plain(block.suffix, out);
            if block.kind == BlockKind::Tool {
                // Arguments close a text that came before them: the next text is none of its pieces.
                self.last = Some(BlockKind::Tool);
            }
        }
    }

    fn signature(&mut self, turn: &mut Turn, index: usize, signature: &str, out: &mut Vec<u8>) {
        let Some(kind) = self.open.get_mut(index).map(|block| block.kind) else {
            return;
        };
        match (proof(signature), kind) {
            (Some(entry), BlockKind::Thinking | BlockKind::Tool) => {
                if says_text(entry) {
                    // Its text has been said: with it the entry would say it again.
                    let detail =
                        "the text of a signed entry went out before it, and is left out of it";
                    turn.note(NoteCode::SignatureDropped, Some(index), detail);
                    let entry = without_text(entry);
                    self.element(DETAILS, Raw::assume(&entry), out);
                } else {
                    self.element(DETAILS, entry, out);
                }
            }
            (None, BlockKind::Thinking) => {
                let part = |out: &mut Vec<u8>| {
                    plain(
                        "[{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":",
                        out,
                    );
                    literal(signature, out);
                    plain("}]", out);
                };
                self.member("content", part, out);
            }
            _ => drop_signature(turn, index),
        }
    }

    fn citation(&mut self, _: &mut Turn, index: usize, json: Raw<'_>, out: &mut Vec<u8>) {
        if self.open.get_mut(index).is_some() {
            self.element("annotations", json, out);
        }
    }

    fn extension(
        &mut self,
        turn: &mut Turn,
        index: usize,
        kind: &str,
        _: Raw<'_>,
        _: &mut Vec<u8>,
    ) {
        let detail = format!("a block of this wire has no delta {kind:?}");
        turn.note(NoteCode::ContentUnsupported, Some(index), detail);
    }

    fn fact(&mut self, turn: &mut Turn, kind: &str, json: Raw<'_>, out: &mut Vec<u8>) {
        match kind {
            "reasoning_field" => {
                let name = json.as_str().map(crate::json::Str::to_text);
                self.reasoning_field = name.as_deref().and_then(reasoning_field);
            }
            "logprobs" => {
                out.extend_from_slice(&self.head);
                plain("{},\"logprobs\":", out);
                raw(json, out);
                plain(",\"finish_reason\":null}]}\n\n", out);
            }
            "audio" => self.member("audio", |out| raw(json, out), out),
            "executed_tools" => self.element("executed_tools", json, out),
            "citations" => self.citations = Some(json.text().to_owned()),
            "search_results" => self.search_results = Some(json.text().to_owned()),
            _ => turn.note(
                NoteCode::ContentUnsupported,
                None,
                format!("the wire has no member {kind:?}"),
            ),
        }
    }

    fn close(&mut self, _: &mut Turn, index: usize, _: &mut Vec<u8>) {
        self.open.take(index);
    }

    fn stop(&mut self, turn: &mut Turn, stop: Stop<'_>, out: &mut Vec<u8>) {
        let said = turn.stop_word(stop.reason, stop.raw, reads, word);
        let results = [
            ("citations", self.citations.take()),
            ("search_results", self.search_results.take()),
        ];
        if said.is_some() || results.iter().any(|(_, json)| json.is_some()) {
            out.extend_from_slice(&self.head);
            plain("{},\"finish_reason\":", out);
            optional(said, out);
            plain("}]", out);
            for (name, json) in &results {
                optional_member(name, json.as_deref().map(Raw::assume), out);
            }
            plain("}\n\n", out);
        }
        if let Some(tokens) = stop.usage.filter(|_| turn.settings.include_usage) {
            out.extend_from_slice(&self.envelope);
            plain("],\"usage\":", out);
            usage(turn, tokens, out);
            plain("}\n\n", out);
        }
        plain("data: [DONE]\n\n", out);
    }

    fn fail(&mut self, _: &mut Turn, fault: &ErrorDocument, out: &mut Vec<u8>) {
        plain("data: ", out);
        fault_document(Dialect::OpenAiChat, fault, out);
        plain("\n\n", out);
    }

    fn body(&mut self, turn: &mut Turn, whole: &Whole, out: &mut Vec<u8>) {
        let message = &whole.message;
        plain("{", out);
        let (id, model) = (message.id.as_deref(), message.model.as_deref());
        labels(turn, id, model, "chat.completion", out);
        plain(",\"choices\":[{\"index\":0,\"message\":", out);
        let named = message.reasoning_field.as_deref();
        self.reasoning_field = named.and_then(reasoning_field);
        let spoken = Spoken::of(self.field(turn), turn, whole);
        spoken.push(whole, out);
        plain(",\"logprobs\":", out);
        logprobs(whole, out);
        plain(",\"finish_reason\":", out);
        let mut stop = whole.stop();
        if spoken.is_refusal {
            // The member says so; the word is that of a plain end.
            stop.reason = match turn.calls {
                0 => StopReason::EndTurn,
                _ => StopReason::ToolUse,
            };
        }
        optional(turn.stop_word(stop.reason, stop.raw, reads, word), out);
        plain("}]", out);
        for name in ["citations", "search_results"] {
            optional_member(name, whole.fact(name), out);
        }
        if let Some(tokens) = message.usage {
            plain(",\"usage\":", out);
            usage(turn, tokens, out);
        }
        plain("}", out);
    }
}

const DETAIL: &str = "[{\"index\":0,\"type\":\"reasoning.text\",\"text\":";

fn drop_signature(turn: &mut Turn, index: usize) {
    let detail = "the wire has no signature of this kind for such a block";
    turn.note(NoteCode::SignatureDropped, Some(index), detail);
}

fn labels(turn: &mut Turn, id: Option<&str>, model: Option<&str>, object: &str, out: &mut Vec<u8>) {
    plain("\"id\":", out);
    literal(&turn.response_id(id, model, "chatcmpl-"), out);
    plain(",\"object\":\"", out);
    plain(object, out);
    plain("\",\"created\":", out);
    number(turn.settings.created, out);
    plain(",\"model\":", out);
    literal(&turn.model(model), out);
}

/// The members of a call and its closing brace.
fn call(id: &str, name: &str, arguments: &str, extra: Option<Raw<'_>>, out: &mut Vec<u8>) {
    plain("\"id\":", out);
    literal(id, out);
    plain(",\"type\":\"function\",\"function\":{\"name\":", out);
    literal(name, out);
    plain(",\"arguments\":", out);
    literal(arguments, out);
    plain("}", out);
    if let Some(extra) = extra {
        other_members(extra, &["index", "id", "type", "function"], out);
    }
    plain("}", out);
}

fn optional_member(name: &str, value: Option<Raw<'_>>, out: &mut Vec<u8>) {
    if let Some(value) = value {
        plain(",\"", out);
        plain(name, out);
        plain("\":", out);
        raw(value, out);
    }
}

/// An entry without what it says.
fn without_text(entry: Raw<'_>) -> String {
    let members: Vec<(String, &str)> = entry
        .entries()
        .filter(|(key, _)| !key.is("text") && !key.is("summary"))
        .map(|(key, value)| (key.to_text(), value.text()))
        .collect();
    let members = members.iter().map(|(name, json)| (name.as_str(), *json));
    crate::assemble::object(members)
}

fn usage(turn: &mut Turn, usage: Usage, out: &mut Vec<u8>) {
    if usage.cache_write_1h_tokens > 0 {
        let detail = "the wire does not tell which tokens are cached for an hour";
        turn.note(NoteCode::UsageReduced, None, detail);
    }
    let prompt = usage
        .input_tokens
        .saturating_add(usage.cache_read_tokens)
        .saturating_add(usage.cache_write_tokens);
    plain("{\"prompt_tokens\":", out);
    number(prompt, out);
    plain(",\"completion_tokens\":", out);
    number(usage.output_tokens, out);
    plain(",\"total_tokens\":", out);
    number(prompt.saturating_add(usage.output_tokens), out);
    plain(",\"prompt_tokens_details\":{\"cached_tokens\":", out);
    number(usage.cache_read_tokens, out);
    if usage.cache_write_tokens > 0 {
        plain(",\"cache_write_tokens\":", out);
        number(usage.cache_write_tokens, out);
    }
    plain(
        "},\"completion_tokens_details\":{\"reasoning_tokens\":",
        out,
    );
    number(usage.reasoning_tokens, out);
    plain("}}", out);
}

/// The log probabilities of all pieces as one.
fn logprobs(whole: &Whole, out: &mut Vec<u8>) {
    let all: Vec<Raw<'_>> = whole
        .facts
        .iter()
        .filter(|(kind, _)| kind == "logprobs")
        .map(|(_, json)| Raw::assume(json))
        .collect();
    match all[..] {
        [] => plain("null", out),
        [one] => raw(one, out),
        _ => {
            for (at, name) in ["content", "refusal"].into_iter().enumerate() {
                plain(if at == 0 { "{\"" } else { ",\"" }, out);
                plain(name, out);
                plain("\":", out);
                let lists = || all.iter().filter_map(|value| value.member(name));
                if lists().next().is_none() {
                    plain("null", out);
                    continue;
                }
                plain("[", out);
                for (at, element) in lists().flat_map(Raw::elements).enumerate() {
                    if at > 0 {
                        plain(",", out);
                    }
                    raw(element, out);
                }
                plain("]", out);
            }
            plain("}", out);
        }
    }
}
