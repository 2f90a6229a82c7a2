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
    let _ = splitter.feed(body, |element, _| {
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
    let [
        kind,
        candidates,
        usage,
        feedback,
        object,
        choices,
        output,
        error,
        code,
    ] = payload.members(&[
        "type",
        "candidates",
        "usageMetadata",
        "promptFeedback",
        "object",
        "choices",
        "output",
        "error",
        "code",
    ]);
    let text = |value: Option<Raw<'_>>| value.and_then(Raw::as_str).map(Str::to_text);
    let (kind, object) = (text(kind), text(object));
    match kind.as_deref() {
        Some(kind) if kind.starts_with("response.") => return Some(Dialect::OpenAiResponses),
        Some(
            "message"
            | "message_start"
            | "content_block_start"
            | "content_block_delta"
            | "content_block_stop"
            | "message_delta"
            | "message_stop"
            | "ping",
        ) => return Some(Dialect::Anthropic),
        // Responses puts what the others wrap beside the type.
        Some("error") if code.is_some() && error.is_none() => {
            return Some(Dialect::OpenAiResponses);
        }
        _ => {}
    }
    if candidates.is_some() || usage.is_some() || feedback.is_some() {
        return Some(Dialect::Gemini);
    }
    let has_choice = choices
        .into_iter()
        .flat_map(Raw::elements)
        .any(|choice| choice.member("delta").is_some() || choice.member("message").is_some());
    match object.as_deref() {
        Some(object) if object.starts_with("chat.completion") => return Some(Dialect::OpenAiChat),
        Some("response") => return Some(Dialect::OpenAiResponses),
        _ if has_choice => return Some(Dialect::OpenAiChat),
        _ => {}
    }
    if output.and_then(|output| output.member("message")).is_some() {
        return Some(Dialect::BedrockConverse);
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
