//! Which dialect a recorded body is in.

use std::ops::ControlFlow;

use crate::json::{MAX_PAYLOAD_DEPTH, Raw, Str, trim};
use crate::sse::{EndOfInput, Framer, Item};
use crate::wire::Dialect;

/// The dialect of a body, from its first payload that tells; none where no payload does.
#[must_use]
pub fn detect(body: &[u8]) -> Option<Dialect> {
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
    let [kind, candidates, usage, feedback, object, choices, error] = payload.members(&[
        "type",
        "candidates",
        "usageMetadata",
        "promptFeedback",
        "object",
        "choices",
        "error",
    ]);
    let kind = kind.and_then(Raw::as_str).map(Str::to_text);
    match kind.as_deref() {
        Some(kind) if kind.starts_with("response.") => return Some(Dialect::OpenAiResponses),
        Some(
            "message_start"
            | "content_block_start"
            | "content_block_delta"
            | "content_block_stop"
            | "message_delta"
            | "message_stop"
            | "ping",
        ) => return Some(Dialect::Anthropic),
        _ => {}
    }
    if candidates.is_some() || usage.is_some() || feedback.is_some() {
        return Some(Dialect::Gemini);
    }
    let is_chat = object
        .and_then(Raw::as_str)
        .is_some_and(|o| o.to_text().starts_with("chat.completion"));
    let has_choice = choices
        .into_iter()
        .flat_map(Raw::elements)
        .any(|choice| choice.member("delta").is_some() || choice.member("message").is_some());
    if is_chat || has_choice {
        return Some(Dialect::OpenAiChat);
    }
    of_error(kind.as_deref(), error?)
}

/// The shapes of error objects: Anthropic wraps one in `type: error`, Google gives a `status` in capitals.
fn of_error(kind: Option<&str>, error: Raw<'_>) -> Option<Dialect> {
    let [inner, status, sequence] = error.members(&["type", "status", "param"]);
    let google = status.and_then(Raw::as_str).is_some_and(|s| {
        s.body()
            .bytes()
            .all(|b| b.is_ascii_uppercase() || b == b'_')
    });
    match kind {
        Some("error") if inner.is_some() && sequence.is_none() => Some(Dialect::Anthropic),
        None if google => Some(Dialect::Gemini),
        None if error.is_object() => Some(Dialect::OpenAiChat),
        Some(_) | None => None,
    }
}
