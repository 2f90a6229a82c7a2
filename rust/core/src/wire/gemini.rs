//! Gemini `streamGenerateContent`, as in Google's API reference and as its versions have spoken it.

use super::template::FreeMember;
use super::turn::{BlockKind, Hot, Turn};
use super::{Payload, Wire, value_str};
use crate::assemble::Builder;
use crate::error::ErrorDocument;
use crate::event::{StopReason, Terminal, WarningCode};
use crate::json::{Raw, Str, range_in};
use crate::usage::{self, Usage};

mod partial_arguments;

use partial_arguments::PartialArguments;

#[derive(Debug, Default)]
pub(crate) struct Gemini {
    candidate: u64,
    candidate_seen: bool,
    text: Option<usize>,
    thinking: Option<usize>,
    /// A call whose arguments come in pieces.
    call: Option<OpenCall>,
    reason: Option<String>,
    /// Why the prompt was blocked.
    blocked: Option<String>,
    /// Content came after a finish reason, so that the end cannot be told from a cut.
    content_after_reason: bool,
}

#[derive(Debug)]
struct OpenCall {
    block: usize,
    arguments: PartialArguments,
}

pub(crate) fn stop_reason(raw: &str) -> StopReason {
    match raw {
        "STOP" | "1" => StopReason::EndTurn,
        "MAX_TOKENS" | "2" => StopReason::MaxTokens,
        "SAFETY"
        | "RECITATION"
        | "BLOCKLIST"
        | "PROHIBITED_CONTENT"
        | "SPII"
        | "IMAGE_SAFETY"
        | "IMAGE_PROHIBITED_CONTENT"
        | "IMAGE_RECITATION"
        | "3"
        | "4" => StopReason::ContentFilter,
        _ => StopReason::Other,
    }
}

/// A reason as its name or its number; the unspecified one is none.
fn reason_text(turn: &mut Turn, reason: Raw<'_>) -> Option<String> {
    if let Some(number) = reason.as_u64() {
        return (number > 0).then(|| number.to_string());
    }
    let name = value_str(Some(reason)).filter(|name| !name.is("FINISH_REASON_UNSPECIFIED"));
    name.map(|name| turn.text(name))
}

/// The members of a payload that are read; one without any of them is passed on.
pub(crate) const KNOWN_MEMBERS: [&str; 5] = [
    "candidates",
    "usageMetadata",
    "promptFeedback",
    "responseId",
    "modelVersion",
];

/// Facts of the turn beside its content.
pub(crate) const FACTS: [&str; 3] = [
    "groundingMetadata",
    "citationMetadata",
    "urlContextMetadata",
];

impl Wire for Gemini {
    fn free_members(&self) -> &'static [FreeMember] {
        const MEMBERS: [FreeMember; 1] = [FreeMember::usage("usageMetadata")];
        &MEMBERS
    }

    fn usage(&self, report: Raw<'_>) -> Option<Usage> {
        usage::gemini(report)
    }

    fn payload(
        &mut self,
        turn: &mut Turn,
        _said: &Builder,
        Payload { raw, faulty, .. }: Payload<'_>,
    ) -> Result<(), ErrorDocument> {
        let [candidates, usage, feedback, id, model] = raw.members(&KNOWN_MEMBERS);
        let known = [candidates, usage, feedback, id, model];
        if known.iter().all(Option::is_none) {
            if !faulty {
                turn.warn(WarningCode::UnknownEvent);
                turn.start(None, None);
                turn.fact("", raw.text());
            }
            return Ok(());
        }
        turn.start(id.and_then(Raw::as_str), model.and_then(Raw::as_str));
        if let Some(usage) = usage.and_then(usage::gemini) {
            turn.usage = Some(usage);
        }
        let ended = self.reason.is_some();
        let mut said = None;
        let mut count = 0;
        for candidate in candidates.into_iter().flat_map(Raw::elements) {
            count += 1;
            let [index, content, reason] = candidate.members(&["index", "content", "finishReason"]);
            if index.map_or(Some(0), Raw::as_u64) != Some(self.candidate) {
                continue;
            }
            self.candidate_seen = true;
            let parts = content.and_then(|content| content.member("parts"));
            for part in parts.into_iter().flat_map(Raw::elements) {
                count += 1;
                said = self.part(turn, part);
            }
            for (kind, fact) in FACTS.iter().zip(candidate.members(&FACTS)) {
                if let Some(fact) = fact.filter(|fact| !fact.is_empty()) {
                    count += 1;
                    turn.fact(kind, fact.text());
                }
            }
            if let Some(reason) = reason.and_then(|reason| reason_text(turn, reason)) {
                self.reason = Some(reason);
            }
        }
        if let Some(reason) = feedback.and_then(|feedback| feedback.member("blockReason")) {
            self.blocked = reason_text(turn, reason);
        }
        // One candidate with one part that is a text, and nothing that ends or follows an end.
        if let Some((block, piece)) = said
            && count == 2
            && !ended
            && self.reason.is_none()
            && feedback.is_none()
        {
            turn.hot = Some(Hot {
                hole: range_in(raw.text(), piece.body()),
                block,
            });
        }
        Ok(())
    }

    fn whole(&mut self, turn: &mut Turn, body: Raw<'_>) -> Result<(), ErrorDocument> {
        let payload = Payload {
            raw: body,
            name: "",
            faulty: false,
        };
        self.payload(turn, &Builder::default(), payload)?;
        // What is missing then is said by the caller: the turn has not stopped.
        let _ = self.finish(turn);
        Ok(())
    }

    fn has_content(&self, Payload { raw, .. }: Payload<'_>) -> bool {
        raw.member("candidates")
            .into_iter()
            .flat_map(Raw::elements)
            .any(|candidate| {
                let parts = candidate
                    .member("content")
                    .and_then(|content| content.member("parts"));
                parts.is_some_and(|parts| !parts.is_empty())
            })
    }

    fn ended(&self) -> bool {
        self.reason.is_some() || (self.blocked.is_some() && !self.candidate_seen)
    }

    fn finish(&mut self, turn: &mut Turn) -> Result<(), String> {
        if !self.ended() {
            return Err(if turn.started && !self.candidate_seen {
                format!("candidate {} never appeared", self.candidate)
            } else {
                "no finish reason came".to_owned()
            });
        }
        if self.content_after_reason {
            turn.warn(WarningCode::MissingTerminal);
        }
        self.end_call(turn);
        match &self.reason {
            Some(raw) => turn.stop(stop_reason(raw), Some(raw), Terminal::FinishReason),
            None => turn.stop(
                StopReason::Refusal,
                self.blocked.as_deref(),
                Terminal::FinishReason,
            ),
        }
        Ok(())
    }
}

impl Gemini {
    pub(crate) fn new(candidate: u64) -> Self {
        Self {
            candidate,
            ..Self::default()
        }
    }

    /// Takes a part. Gives the block and the text if it was nothing but a piece of text or thinking.
    fn part<'p>(&mut self, turn: &mut Turn, part: Raw<'p>) -> Option<(usize, Str<'p>)> {
        let [text, thought, call, signature] =
            part.members(&["text", "thought", "functionCall", "thoughtSignature"]);
        let signature = value_str(signature);
        if let Some(call) = call {
            self.content();
            self.function_call(turn, call, part, signature);
            return None;
        }
        if let Some(text) = text.and_then(Raw::as_str) {
            let is_thought = thought.is_some_and(|thought| thought.text() == "true");
            let block = self.text_part(turn, text, is_thought, signature)?;
            return signature.is_none().then_some((block, text));
        }
        let kind = part.entries().map(|(key, _)| key.to_text());
        let kind = kind
            .into_iter()
            .find(|key| key != "thought" && key != "thoughtSignature");
        match (kind, signature) {
            (Some(kind), _) => {
                self.content();
                self.end_call(turn);
                self.close_speech(turn);
                turn.extension(&kind, part.text());
            }
            (None, Some(signature)) => self.sign(turn, signature),
            (None, None) => {}
        }
        None
    }

    /// Content comes: after a finish reason that makes the end doubtful.
    const fn content(&mut self) {
        self.content_after_reason |= self.reason.is_some();
    }

    /// Takes a text part; gives the block that it belongs to, if it has any text.
    fn text_part(
        &mut self,
        turn: &mut Turn,
        text: Str<'_>,
        is_thought: bool,
        signature: Option<Str<'_>>,
    ) -> Option<usize> {
        if text.is_empty() {
            if let Some(signature) = signature {
                self.sign(turn, signature);
            }
            return None;
        }
        self.content();
        self.end_call(turn);
        let kind = if is_thought {
            BlockKind::Thinking
        } else {
            BlockKind::Text
        };
        let block = self.speech(turn, kind);
        turn.delta(block, text);
        if let Some(signature) = signature {
            turn.signature(block, signature);
        }
        Some(block)
    }

    /// A signature on an empty part signs the open text; without one it opens a thinking block.
    fn sign(&mut self, turn: &mut Turn, signature: Str<'_>) {
        let block = if let Some(block) = self.text {
            block
        } else {
            self.end_call(turn);
            self.speech(turn, BlockKind::Thinking)
        };
        turn.signature(block, signature);
    }

    /// The open text or thinking block; the other closes.
    fn speech(&mut self, turn: &mut Turn, kind: BlockKind) -> usize {
        let (wanted, other) = if kind == BlockKind::Text {
            (&mut self.text, &mut self.thinking)
        } else {
            (&mut self.thinking, &mut self.text)
        };
        if let Some(block) = other.take() {
            turn.close(block);
        }
        *wanted.get_or_insert_with(|| turn.open(kind))
    }

    fn close_speech(&mut self, turn: &mut Turn) {
        for block in [self.text.take(), self.thinking.take()]
            .into_iter()
            .flatten()
        {
            turn.close(block);
        }
    }

    fn function_call(
        &mut self,
        turn: &mut Turn,
        call: Raw<'_>,
        part: Raw<'_>,
        signature: Option<Str<'_>>,
    ) {
        let [name, id, args, pieces, goes_on] =
            call.members(&["name", "id", "args", "partialArgs", "willContinue"]);
        let goes_on = goes_on.is_some_and(|value| value.text() == "true");
        let name = value_str(name);
        if name.is_some() {
            self.end_call(turn);
        }
        match (name, &mut self.call) {
            (Some(name), _) => {
                let name = turn.text(name);
                self.close_speech(turn);
                if turn.options.server_tools.contains(&name) {
                    turn.extension("functionCall", part.text());
                    return;
                }
                let id = value_str(id).map(|id| turn.text(id));
                let block = turn.open(BlockKind::Tool);
                // A missing id is normal on this wire.
                let id = id.unwrap_or_else(|| turn.quiet_id(block, &name));
                turn.tool_start(block, Some(&id), &name, None);
                self.call = Some(OpenCall {
                    block,
                    arguments: PartialArguments::default(),
                });
            }
            (None, Some(_)) => {}
            (None, None) => {
                turn.warn(WarningCode::DroppedFragment);
                return;
            }
        }
        let Some(open) = &mut self.call else { return };
        if let Some(args) = args {
            turn.raw_arguments(open.block, args.text());
        }
        let mut lone = 0;
        for piece in pieces.into_iter().flat_map(Raw::elements) {
            lone += open.arguments.add(piece);
        }
        for _ in 0..lone {
            turn.warn(WarningCode::LoneSurrogate);
        }
        if let Some(signature) = signature {
            let block = open.block;
            turn.signature(block, signature);
        }
        if !goes_on {
            self.end_call(turn);
        }
    }

    /// Ends the call that is open: the arguments that came in pieces go out as one text.
    fn end_call(&mut self, turn: &mut Turn) {
        if let Some(OpenCall { block, arguments }) = self.call.take() {
            if let Some(json) = arguments.into_json() {
                turn.raw_arguments(block, &json);
            }
            turn.close(block);
        }
    }
}
