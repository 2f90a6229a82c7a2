//! Which dialect a recorded body is in.

use std::ops::ControlFlow;

use crate::aws_event_stream;
use crate::json::{MAX_PAYLOAD_DEPTH, Raw, Str, trim};
use crate::json_array::Splitter;
use crate::sse::{EndOfInput, Framer, Item};
use crate::wire::Dialect;

/// The dialect of a body, streamed or not, from its first payload that tells; none where no payload does.
#[must_use]
pub fn detect(body: &[u8]) -> Option<Dialect> {
    if aws_event_stream::prelude(body).is_some() {
        return of_aws(body);
    }
    let text = body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body);
    let told = text.iter().find(|byte| !byte.is_ascii_whitespace());
    if told == Some(&b'[') {
        return of_array(body);
    }
    // A body that was not streamed may have lines that server-sent events would take for their own.
    if told == Some(&b'{')
        && let Some(dialect) = std::str::from_utf8(text).ok().and_then(of_text)
    {
        return Some(dialect);
    }
    let mut found = None;
    let mut sink = |item: Item<'_>| {
        let text = match &item {
            Item::Frame(frame) => &frame.data,
            Item::Foreign { text, .. } | Item::ErrorField { text, .. } => text,
            Item::InvalidUtf8 { .. } | Item::Discarded { .. } => return ControlFlow::Continue(()),
        };
        found = of_text(text);
        if found.is_some() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let mut framer = Framer::new(None).with_foreign();
    let _ = framer.feed(body, &mut sink);
    if found.is_none() {
        let mut sink = |item: Item<'_>| {
            if let Item::Frame(frame) = &item {
                found = of_text(&frame.data);
            } else if let Item::Foreign { text, .. } = &item {
                found = of_text(text);
            }
            ControlFlow::Continue(())
        };
        let _ = framer.finish(EndOfInput::Flush, &mut sink);
    }
    found
}

/// `chunk` messages wrap what a model says in its own way, of which only Anthropic's is a dialect.
fn of_aws(body: &[u8]) -> Option<Dialect> {
    const CONVERSE: [&str; 6] = [
        "messageStart",
        "contentBlockStart",
        "contentBlockDelta",
        "contentBlockStop",
        "messageStop",
        "metadata",
    ];
    let mut found = None;
    let mut framer = aws_event_stream::Framer::new(None);
    // Broken framing ends the search; what came before it may have told.
    let _ = framer.feed(body, |message| {
        found = match message.kind {
            "chunk" => aws_event_stream::unwrap_chunk(message.payload)
                .and_then(|inner| of_text(std::str::from_utf8(&inner).ok()?))
                .filter(|dialect| *dialect == Dialect::Anthropic),
            kind if CONVERSE.contains(&kind) => Some(Dialect::BedrockConverse),
            _ => None,
        };
        if found.is_some() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    found
}

/// The first element of an array tells, also of one that is cut.
fn of_array(body: &[u8]) -> Option<Dialect> {
    let mut found = None;
    let mut splitter = Splitter::new(None);
    let _ = splitter.feed(body, &mut |element: &[u8], _| {
        found = std::str::from_utf8(element).ok().and_then(of_text);
        ControlFlow::Break(())
    });
    found
}

fn of_text(text: &str) -> Option<Dialect> {
    let text = trim(text);
    if !text.starts_with(['{', '[']) {
        return None;
    }
    let raw = Raw::parse(text, MAX_PAYLOAD_DEPTH).ok()?;
    of_payload(if raw.is_array() {
        raw.elements().next()?
    } else {
        raw
    })
}

fn of_payload(payload: Raw<'_>) -> Option<Dialect> {
    let text = |value: Option<Raw<'_>>| value.and_then(Raw::as_str).map(Str::to_text);
    let [kind, object] = payload.members(&["type", "object"]).map(text);
    if let Some(kind) = &kind
        && let Some(dialect) = of_type(kind, payload)
    {
        return Some(dialect);
    }
    let gemini = payload.members(&["candidates", "usageMetadata", "promptFeedback"]);
    if gemini.iter().any(Option::is_some) {
        return Some(Dialect::Gemini);
    }
    match object.as_deref() {
        Some(object) if object.starts_with("chat.completion") => return Some(Dialect::OpenAiChat),
        Some("response") => return Some(Dialect::OpenAiResponses),
        // The old completions: some hosts end them with a choice as Chat's.
        Some("text_completion") => return None,
        _ => {}
    }
    let [choices, output, error, rpc] = payload.members(&["choices", "output", "error", "jsonrpc"]);
    let is_chat = |choice: Raw<'_>| {
        choice
            .members(&["delta", "message"])
            .iter()
            .any(Option::is_some)
    };
    if choices.into_iter().flat_map(Raw::elements).any(is_chat) {
        return Some(Dialect::OpenAiChat);
    }
    if output.and_then(|output| output.member("message")).is_some() {
        return Some(Dialect::BedrockConverse);
    }
    match (kind, rpc) {
        (None, None) => of_error(error?),
        _ => None,
    }
}

/// What the type of an event or message tells.
fn of_type(kind: &str, payload: Raw<'_>) -> Option<Dialect> {
    match kind {
        kind if kind.starts_with("response.") => Some(Dialect::OpenAiResponses),
        // `ping` tells nothing: Anthropic's old completions and others have it too.
        "message_start"
        | "content_block_start"
        | "content_block_delta"
        | "content_block_stop"
        | "message_delta"
        | "message_stop" => Some(Dialect::Anthropic),
        // Rows of many kinds call themselves messages.
        "message" => payload
            .member("content")
            .is_some_and(Raw::is_array)
            .then_some(Dialect::Anthropic),
        "error" => {
            let [error, code, sequence] = payload.members(&["error", "code", "sequence_number"]);
            match error {
                // Responses puts beside the type what the others wrap, or numbers its events.
                None => code.or(sequence).map(|_| Dialect::OpenAiResponses),
                Some(_) if sequence.is_some() => Some(Dialect::OpenAiResponses),
                Some(error) if error.member("param").is_some() => Some(Dialect::OpenAiResponses),
                Some(error) => error.member("type").map(|_| Dialect::Anthropic),
            }
        }
        _ => None,
    }
}

/// The shapes of error objects without a type around them: Google gives a `status` in capitals.
fn of_error(error: Raw<'_>) -> Option<Dialect> {
    let is_capitals = |status: Str<'_>| {
        let mut bytes = status.body().bytes();
        bytes.all(|byte| byte.is_ascii_uppercase() || byte == b'_')
    };
    if error.string("status").is_some_and(is_capitals) {
        return Some(Dialect::Gemini);
    }
    error.is_object().then_some(Dialect::OpenAiChat)
}
