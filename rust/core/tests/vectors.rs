//! The vectors of `tests/vectors`, which the Python tests read as well: one right answer each.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::Path;

use serde_json::{Value, json};
use turntape_core::Dialect;
use turntape_core::arguments;
use turntape_core::assemble::{Block, Message};
use turntape_core::decoder::{Options, StreamDecoder};
use turntape_core::detect::detect;
use turntape_core::error::FailureKind;
use turntape_core::event::{Event, Terminal};
use turntape_core::sse::{self, EndOfInput, Framer, Item};
use turntape_core::usage::Usage;

fn cases(file: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/vectors")
        .join(file);
    let text = std::fs::read_to_string(&path).expect("the vector file is there");
    let value: Value = serde_json::from_str(&text).expect("the vector file is JSON");
    value["cases"].as_array().expect("cases is a list").clone()
}

fn text_of(value: &Value) -> String {
    let Some(parts) = value.get("parts") else {
        return value.as_str().expect("a text").to_owned();
    };
    let piece = |part: &Value| match part.as_str() {
        Some(text) => text.to_owned(),
        None => part["repeat"]
            .as_str()
            .expect("repeat")
            .repeat(usize::try_from(part["times"].as_u64().expect("times")).expect("small")),
    };
    parts
        .as_array()
        .expect("parts is a list")
        .iter()
        .map(piece)
        .collect()
}

fn unhex(hex: &str) -> Vec<u8> {
    (0..hex.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hex"))
        .collect()
}

/// Whether `actual` is what the vector expects, its placeholders resolved. `made_up` remembers synthetic
/// values, which must agree within a case.
fn agrees(expected: &Value, actual: &Value, made_up: &mut Vec<(u64, String)>) -> bool {
    if let Some(number) = expected.get("synthetic").and_then(Value::as_u64) {
        let Some(text) = actual.as_str() else {
            return false;
        };
        let fits = !text.is_empty()
            && text.len() <= 40
            && text
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
        let known = made_up
            .iter()
            .find(|(known, _)| *known == number)
            .map(|(_, text)| text.clone());
        let other = made_up
            .iter()
            .any(|(known, value)| *known != number && value == text);
        made_up.push((number, text.to_owned()));
        return fits && !other && known.is_none_or(|known| known == text);
    }
    if let Some(needles) = expected.get("contains").and_then(Value::as_array) {
        return actual.as_str().is_some_and(|text| {
            needles
                .iter()
                .all(|n| text.contains(n.as_str().expect("text")))
        });
    }
    if expected.get("parts").is_some() {
        return actual.as_str() == Some(&text_of(expected));
    }
    match (expected, actual) {
        (Value::Object(members), Value::Object(_)) => members.iter().all(|(name, value)| {
            if name == "extra" && value.is_string() {
                let parse = |v: &Value| {
                    v.as_str()
                        .and_then(|t| serde_json::from_str::<Value>(t).ok())
                };
                return parse(value).is_some() && parse(value) == parse(&actual[name]);
            }
            agrees(value, actual.get(name).unwrap_or(&Value::Null), made_up)
        }),
        (Value::Array(wanted), Value::Array(got)) => {
            wanted.len() == got.len() && wanted.iter().zip(got).all(|(w, g)| agrees(w, g, made_up))
        }
        _ => expected == actual,
    }
}

fn usage_value(usage: Usage) -> Value {
    json!({
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cache_read_tokens": usage.cache_read_tokens,
        "cache_write_tokens": usage.cache_write_tokens,
        "cache_write_1h_tokens": usage.cache_write_1h_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
    })
}

fn event_value(event: Event<'_>) -> Value {
    match event {
        Event::MessageStart { id, model } => {
            json!({"type": "message_start", "id": id, "model": model})
        }
        Event::TextDelta { index, text } => {
            json!({"type": "text_delta", "index": index, "text": text})
        }
        Event::ThinkingDelta { index, text } => {
            json!({"type": "thinking_delta", "index": index, "text": text})
        }
        Event::SignatureDelta { index, signature } => {
            json!({"type": "signature_delta", "index": index, "signature": signature})
        }
        Event::RedactedThinking { index, data } => {
            json!({"type": "redacted_thinking", "index": index, "data": data})
        }
        Event::ToolUseStart {
            index,
            id,
            name,
            extra,
        } => {
            json!({"type": "tool_use_start", "index": index, "id": id, "name": name, "extra": extra})
        }
        Event::InputJsonDelta {
            index,
            partial_json,
        } => {
            json!({"type": "input_json_delta", "index": index, "partial_json": partial_json})
        }
        Event::Citation { index, json } => {
            json!({"type": "citation", "index": index, "json": json})
        }
        Event::Extension { index, kind, json } => {
            json!({"type": "extension", "index": index, "kind": kind, "json": json})
        }
        Event::ContentBlockStop { index } => json!({"type": "content_block_stop", "index": index}),
        Event::Usage(usage) => {
            let mut value = usage_value(usage);
            value["type"] = "usage".into();
            value
        }
        Event::MessageStop {
            stop_reason,
            raw_reason,
            terminal,
        } => json!({
            "type": "message_stop",
            "stop_reason": stop_reason.as_str(),
            "raw_reason": raw_reason,
            "terminal": terminal.as_str(),
        }),
    }
}

fn block_value(block: &Block) -> Value {
    match block {
        Block::Text {
            text,
            citations,
            signature,
            ..
        } => {
            json!({"type": "text", "text": text, "citations": citations, "signature": signature})
        }
        Block::Thinking { text, signature } => {
            json!({"type": "thinking", "text": text, "signature": signature})
        }
        Block::RedactedThinking { data } => json!({"type": "redacted_thinking", "data": data}),
        Block::ToolUse {
            id,
            name,
            arguments,
            signature,
            extra,
            complete,
        } => json!({
            "type": "tool_use", "id": id, "name": name, "arguments": arguments,
            "signature": signature, "extra": extra, "complete": complete,
        }),
        Block::Provider { kind, json } => {
            json!({"type": "provider_block", "kind": kind, "json": json})
        }
    }
}

fn message_value(message: &Message) -> Value {
    json!({
        "id": message.id,
        "model": message.model,
        "content": message.content.iter().map(block_value).collect::<Vec<_>>(),
        "stop_reason": message.stop_reason.as_str(),
        "raw_reason": message.raw_reason,
        "terminal": message.terminal.map(Terminal::as_str),
        "usage": message.usage.map(usage_value),
        "complete": message.complete,
        "reasoning_field": message.reasoning_field,
    })
}

fn options_of(case: &Value) -> Options {
    let given = &case["options"];
    Options {
        choice: given["choice"].as_u64().unwrap_or(0),
        eof: if given["eof"] == "discard" {
            EndOfInput::Discard
        } else {
            EndOfInput::Flush
        },
        max_event_bytes: given["max_event_bytes"]
            .as_u64()
            .map(|n| usize::try_from(n).expect("small")),
        strict: given["strict"].as_bool().unwrap_or(false),
        server_tools: given["server_tools"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|name| name.as_str().expect("a name").to_owned())
            .collect(),
        ..Options::default()
    }
}

fn merged(events: &[Value]) -> Vec<Value> {
    let mut out: Vec<Value> = Vec::new();
    for event in events {
        let member = match event["type"].as_str().unwrap_or("") {
            "text_delta" | "thinking_delta" => "text",
            "signature_delta" => "signature",
            "input_json_delta" => "partial_json",
            _ => "",
        };
        match out.last_mut() {
            Some(last)
                if !member.is_empty()
                    && last["type"] == event["type"]
                    && last["index"] == event["index"] =>
            {
                let joined = format!(
                    "{}{}",
                    last[member].as_str().unwrap_or(""),
                    event[member].as_str().unwrap_or("")
                );
                last[member] = joined.into();
            }
            _ => out.push(event.clone()),
        }
    }
    out
}

fn run_stream(dialect: Dialect, case: &Value, chunk: usize) -> Vec<String> {
    let body = match case["body_hex"].as_str() {
        Some(hex) => unhex(hex),
        None => text_of(&case["body"]).into_bytes(),
    };
    let dialect = case["dialect"]
        .as_str()
        .and_then(Dialect::from_name)
        .unwrap_or(dialect);
    let expected = &case["expected"];
    let mut decoder = StreamDecoder::new(dialect, options_of(case));
    let mut events = Vec::new();
    for piece in body.chunks(chunk) {
        decoder.feed(piece);
        events.extend(decoder.events().iter().map(event_value));
        decoder.clear_events();
    }
    decoder.finish();
    events.extend(decoder.events().iter().map(event_value));
    let mut faults = Vec::new();
    let mut made_up = Vec::new();
    let ignored: Vec<&Value> = expected["ignore_events"]
        .as_array()
        .into_iter()
        .flatten()
        .collect();
    let more = expected["more_extensions"] == true;
    let mut shown: Vec<Value> = events
        .iter()
        .filter(|event| !ignored.contains(&&event["type"]))
        .cloned()
        .collect();
    let mut wanted: Vec<Value> = expected["events"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|event| !ignored.contains(&&event["type"]))
        .cloned()
        .collect();
    if more {
        shown.retain(|event| {
            event["type"] != "extension" || !event["index"].is_null() || wanted.contains(event)
        });
    }
    if expected["merge_deltas"] == true {
        (shown, wanted) = (merged(&shown), merged(&wanted));
    }
    if expected.get("events").is_some() && !agrees(&json!(wanted), &json!(shown), &mut made_up) {
        faults.push(format!(
            "events: wanted {}\n  got {}",
            json!(wanted),
            json!(shown)
        ));
    }
    let message = message_value(&decoder.snapshot());
    if let Some(wanted) = expected.get("message")
        && !agrees(wanted, &message, &mut made_up)
    {
        faults.push(format!("message: wanted {wanted}\n  got {message}"));
    }
    let codes: BTreeSet<&str> = decoder.warnings().iter().map(|w| w.code.as_str()).collect();
    if let Some(wanted) = expected.get("warnings")
        && *wanted != json!(codes)
    {
        faults.push(format!("warnings: wanted {wanted} got {codes:?}"));
    }
    let failure = decoder.failure();
    let kind = failure.map(|failure| match failure.kind {
        FailureKind::Provider(_) => "provider_error",
        FailureKind::Malformed => "malformed_event",
        FailureKind::Truncated => "truncated_stream",
        FailureKind::TooLarge => "event_too_large",
        FailureKind::Strict(_) => "strict_error",
    });
    match (expected.get("error"), kind) {
        (None, None) => {}
        (Some(wanted), Some(kind)) => {
            let fits = match wanted.get("kind_in").and_then(Value::as_array) {
                Some(kinds) => kinds.contains(&json!(kind)),
                None => wanted["kind"] == kind,
            };
            let mut got = json!({"kind": kind, "message": failure.map(|f| f.message.clone())});
            if let Some(FailureKind::Provider(fault)) = failure.map(|f| &f.kind) {
                got["error_kind"] = json!(fault.kind);
                got["status"] = json!(fault.status);
                got["retryable"] = json!(fault.retryable);
                got["before_content"] = json!(fault.before_content);
            }
            let mut rest = wanted.clone();
            if let Some(members) = rest.as_object_mut() {
                members.remove("kind_in");
            }
            if !fits || !agrees(&rest, &got, &mut made_up) {
                faults.push(format!("error: wanted {wanted} got {got}"));
            }
        }
        (wanted, kind) => faults.push(format!(
            "error: wanted {wanted:?} got {kind:?}: {failure:?}"
        )),
    }
    faults
}

fn check_streams(file: &str, dialect: Dialect) {
    let mut report = String::new();
    for case in cases(file) {
        for chunk in [usize::MAX, 1, 7] {
            let faults = run_stream(dialect, &case, chunk);
            for fault in &faults {
                let _ = writeln!(report, "{} (chunks of {chunk}): {fault}", case["name"]);
            }
            if !faults.is_empty() {
                break;
            }
        }
    }
    assert!(report.is_empty(), "\n{report}");
}

#[test]
fn chat_streams() {
    check_streams("chat_streams.json", Dialect::OpenAiChat);
}

#[test]
fn responses_streams() {
    check_streams("responses_streams.json", Dialect::OpenAiResponses);
}

#[test]
fn gemini_streams() {
    check_streams("gemini_streams.json", Dialect::Gemini);
}

#[test]
fn bedrock_streams() {
    check_streams("bedrock_streams.json", Dialect::BedrockConverse);
}

#[test]
fn anthropic_streams() {
    check_streams("anthropic_streams.json", Dialect::Anthropic);
}

fn sse_events(
    chunks: &[Vec<u8>],
    policy: EndOfInput,
    limit: Option<usize>,
) -> (Vec<Value>, BTreeSet<&'static str>, bool) {
    let mut events = Vec::new();
    let mut warnings = BTreeSet::new();
    let mut framer = Framer::new(limit);
    let mut take = |item: Item<'_>| {
        match item {
            Item::Frame(frame) => {
                if frame.flushed {
                    warnings.insert("eof_flush");
                }
                let event = if frame.event.is_empty() {
                    "message"
                } else {
                    frame.event
                };
                events.push(json!({"event": event, "data": frame.data, "id": frame.id, "retry": frame.retry}));
            }
            Item::InvalidUtf8 { .. } => {
                warnings.insert("invalid_utf8");
            }
            Item::Discarded { .. } => {
                warnings.insert("eof_discard");
            }
            Item::Foreign { .. } | Item::ErrorField { .. } => unreachable!("not asked for"),
        }
        ControlFlow::Continue(())
    };
    let mut result = Ok(());
    for chunk in chunks {
        result = result.and_then(|()| framer.feed(chunk, &mut take));
    }
    result = result.and_then(|()| framer.finish(policy, &mut take));
    (events, warnings, result.is_err())
}

#[test]
fn sse_framing() {
    for case in cases("sse_framing.json") {
        let expected = &case["expected"];
        let name = &case["name"];
        if case["op"] == "encode" {
            let event = &case["event"];
            let text = sse::encode(
                event["event"].as_str().expect("event"),
                event["data"].as_str().expect("data"),
                event["id"].as_str(),
                event["retry"].as_u64(),
                case["options"]["ascii_line_separators"] == true,
            );
            if expected["error"] == "value_error" {
                assert!(text.is_err(), "{name}");
                continue;
            }
            let text = text.expect("it can be written");
            if let Some(wanted) = expected["text"].as_str() {
                assert_eq!(text, wanted, "{name}");
            }
            let (events, _, _) = sse_events(&[text.into_bytes()], EndOfInput::Discard, None);
            assert_eq!(json!(events), expected["decodes_to"], "{name}");
            continue;
        }
        let chunks: Vec<Vec<u8>> = case["chunks"]
            .as_array()
            .expect("chunks")
            .iter()
            .flat_map(|chunk| match chunk.get("repeat") {
                None => vec![unhex(chunk.as_str().expect("hex"))],
                Some(repeat) => {
                    let number = |name: &str| {
                        usize::try_from(repeat[name].as_u64().expect("a number")).expect("small")
                    };
                    let all = unhex(repeat["hex"].as_str().expect("hex")).repeat(number("times"));
                    all.chunks(number("chunk_bytes"))
                        .map(<[u8]>::to_vec)
                        .collect()
                }
            })
            .collect();
        let policy = if case["eof"] == "discard" {
            EndOfInput::Discard
        } else {
            EndOfInput::Flush
        };
        let limit = case["max_event_bytes"]
            .as_u64()
            .or(case["options"]["max_event_bytes"].as_u64());
        let limit = limit.map(|n| usize::try_from(n).expect("small"));
        let whole = vec![chunks.concat()];
        let single: Vec<Vec<u8>> = if whole[0].len() < 100_000 {
            whole[0].iter().map(|byte| vec![*byte]).collect()
        } else {
            chunks.clone()
        };
        for cut in [&chunks, &whole, &single] {
            let (events, warnings, too_large) = sse_events(cut, policy, limit);
            assert!(
                agrees(&expected["events"], &json!(events), &mut Vec::new()),
                "{name}: {events:?}"
            );
            if let Some(wanted) = expected.get("warnings") {
                assert_eq!(json!(warnings), *wanted, "{name}");
            }
            assert_eq!(too_large, expected["error"] == "event_too_large", "{name}");
        }
    }
}

#[test]
fn tool_arguments() {
    for case in cases("tool_arguments.json") {
        let expected = &case["expected"];
        let text = text_of(&case["arguments"]);
        let checked = arguments::check(&text);
        let valid = checked.is_ok() && case["complete"] == true;
        assert_eq!(
            valid,
            expected.get("error").is_none(),
            "{}: {checked:?}",
            case["name"]
        );
        if let (Some(wanted), Err(invalid)) = (expected["invalid"].as_str(), checked) {
            assert_eq!(invalid.as_str(), wanted, "{}", case["name"]);
        }
        if let Some(wanted) = expected.get("partial_input") {
            let shown: Value =
                serde_json::from_str(&arguments::complete(&text)).expect("it is JSON");
            assert_eq!(shown, *wanted, "{}", case["name"]);
        }
    }
}

#[test]
fn detection() {
    for case in cases("dialects.json")
        .iter()
        .filter(|case| case["op"] == "detect_dialect")
    {
        let body = match case["body_hex"].as_str() {
            Some(hex) => unhex(hex),
            None => text_of(&case["body"]).into_bytes(),
        };
        let found = detect(&body).map(Dialect::as_str);
        let wanted = case["expected"]["dialect"].as_str();
        assert_eq!(found, wanted, "{}", case["name"]);
    }
}

#[test]
fn parse_response() {
    for case in cases("dialects.json")
        .iter()
        .filter(|case| case["op"] == "parse_response")
    {
        let dialect = case["dialect"]
            .as_str()
            .and_then(Dialect::from_name)
            .expect("a dialect");
        let body = text_of(&case["body"]).into_bytes();
        let decoded = StreamDecoder::parse_response(dialect, Options::default(), &body);
        assert_eq!(decoded.failure, None, "{}", case["name"]);
        let message = message_value(&decoded.message);
        let wanted = &case["expected"]["message"];
        assert!(
            agrees(wanted, &message, &mut Vec::new()),
            "{}: {message}",
            case["name"]
        );
        let codes: BTreeSet<&str> = decoded.warnings.iter().map(|w| w.code.as_str()).collect();
        assert_eq!(
            json!(codes),
            case["expected"]["warnings"],
            "{}",
            case["name"]
        );
    }
}
