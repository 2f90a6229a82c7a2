//! AWS messages against a writer of their own, and the JSON array against `serde_json`.

#[path = "support/aws.rs"]
mod aws;
#[expect(dead_code, reason = "the other tests use more of it")]
mod support;

use std::ops::ControlFlow;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::Value;
use serde_json::value::RawValue;
use turntape_core::Dialect;
use turntape_core::aws_event_stream::{FrameError, unwrap_chunk};
use turntape_core::decoder::Options;
use turntape_core::event::Warning;
use turntape_core::json_array::{ArrayError, Splitter};
use turntape_core::sse::EndOfInput;

use support::{check_split, cut, decode};

fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 400,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

// AWS messages -------------------------------------------------------------------------------------

/// A message of any headers, and what reading it must give.
fn aws_message() -> impl Strategy<Value = (Vec<u8>, String, Vec<u8>)> {
    let name = select(
        &[
            ":event-type",
            ":exception-type",
            ":error-code",
            ":message-type",
        ][..],
    );
    let other = (0..10_u8, vec(any::<u8>(), 16)).prop_map(|(kind, value)| {
        let length = [0, 0, 1, 2, 4, 8, 0, 0, 8, 16][usize::from(kind)];
        let mut header = vec![1, b'x', kind];
        match kind {
            6 => header.extend([0, 3, 0xFF, 0, 1]),
            7 => header.extend([0, 0]),
            _ => header.extend(&value[..length]),
        }
        (header, None)
    });
    let text = (name, "\\PC{0,6}").prop_map(|(name, value)| {
        let header = aws::header(name, &value);
        (header, Some((name, value)))
    });
    let payload = prop_oneof![9 => vec(any::<u8>(), 0..20), 1 => vec(any::<u8>(), 300..400)];
    (vec(prop_oneof![other, text], 0..4), payload).prop_map(|(headers, payload)| {
        let (mut message_type, mut kind) = ("event", "");
        for (name, value) in headers.iter().filter_map(|(_, said)| said.as_ref()) {
            if *name == ":message-type" {
                message_type = value;
            } else {
                kind = value;
            }
        }
        let read = format!("message_type: {message_type:?}, kind: {kind:?}, error_message: None");
        let bytes: Vec<u8> = headers
            .iter()
            .flat_map(|(bytes, _)| bytes)
            .copied()
            .collect();
        (aws::message(&bytes, &payload), read, payload)
    })
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn messages_are_read_as_they_were_written(
        messages in vec(aws_message(), 0..5), places in vec(any::<usize>(), 0..8),
    ) {
        let body: Vec<u8> = messages.iter().flat_map(|(bytes, ..)| bytes).copied().collect();
        let mut offset = 0;
        let mut expected = Vec::new();
        for (bytes, read, payload) in &messages {
            expected.push(format!("Message {{ {read}, payload: {payload:?}, offset: {offset} }}"));
            offset += bytes.len();
        }
        let expected = (expected, None);
        prop_assert_eq!(&aws::frame(None, [&body[..]]), &expected);
        prop_assert_eq!(&aws::frame(None, body.chunks(1)), &expected);
        prop_assert_eq!(&aws::frame(None, cut(&body, &places)), &expected);
    }

    #[test]
    fn a_wrong_byte_is_never_read(
        messages in vec(aws_message(), 1..4), places in vec(any::<usize>(), 0..6),
        at in any::<Index>(), flip in 1..=255_u8,
    ) {
        let mut body: Vec<u8> = messages.iter().flat_map(|(bytes, ..)| bytes).copied().collect();
        let (whole, _) = aws::frame(None, [&body[..]]);
        let at = at.index(body.len());
        body[at] ^= flip;
        let mut start = 0;
        let before = messages.iter().take_while(|(bytes, ..)| {
            let is_before = start + bytes.len() <= at;
            start += if is_before { bytes.len() } else { 0 };
            is_before
        }).count();
        let (read, error) = aws::frame(None, [&body[..]]);
        prop_assert_eq!(&read, &whole[..before]);
        let offset = match error {
            Some(FrameError::Malformed { offset, .. }) => Some(offset),
            _ => None,
        };
        prop_assert_eq!(offset, Some(start as u64));
        prop_assert_eq!(&aws::frame(None, body.chunks(1)), &(read.clone(), error));
        prop_assert_eq!(&aws::frame(None, cut(&body, &places)), &(read, error));
    }

    #[test]
    fn any_bytes_and_any_limit_are_read_alike(
        parts in vec(prop_oneof![
            aws_message().prop_map(|(bytes, ..)| bytes),
            vec(any::<u8>(), 0..24),
            // Headers that contradict themselves, under right checksums.
            (vec(any::<u8>(), 0..12), vec(any::<u8>(), 0..4)).prop_map(|(headers, payload)| aws::message(&headers, &payload)),
        ], 0..4),
        places in vec(any::<usize>(), 0..6), limit in prop::option::of(0..80_usize),
    ) {
        let body = parts.concat();
        let whole = aws::frame(limit, [&body[..]]);
        prop_assert_eq!(&aws::frame(limit, body.chunks(1)), &whole);
        prop_assert_eq!(&aws::frame(limit, cut(&body, &places)), &whole);
    }

    #[test]
    fn a_chunk_is_unwrapped(payload in vec(any::<u8>(), 0..40)) {
        let chunk = aws::chunk(&payload);
        let start = chunk.windows(8).position(|part| part == b"{\"bytes\"").expect("a payload");
        prop_assert_eq!(unwrap_chunk(&chunk[start..chunk.len() - 4]), Some(payload));
    }
}

// JSON arrays --------------------------------------------------------------------------------------

/// JSON of all kinds, compact or spread over lines.
fn json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[\\[\\]{},:\"\\\\ \na\u{e9}\u{1f40d}]{0,6}".prop_map(Value::from),
    ];
    let tree = leaf.prop_recursive(4, 16, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec(("[a\"\\\\{]{0,2}", inner), 0..4)
                .prop_map(|members| members.into_iter().collect::<Value>()),
        ]
    });
    (tree, any::<bool>()).prop_map(|(tree, pretty)| {
        if pretty {
            serde_json::to_string_pretty(&tree).expect("JSON")
        } else {
            tree.to_string()
        }
    })
}

type Split = (
    Vec<(Vec<u8>, u64)>,
    Option<(Vec<u8>, u64)>,
    Option<ArrayError>,
);

fn split<'c>(limit: Option<usize>, chunks: impl IntoIterator<Item = &'c [u8]>) -> Split {
    let mut splitter = Splitter::new(limit);
    let mut elements = Vec::new();
    let mut fed = 0;
    for chunk in chunks {
        fed += chunk.len() as u64;
        let result = splitter.feed(chunk, &mut |element: &[u8], offset| {
            elements.push((element.to_vec(), offset));
            ControlFlow::Continue(())
        });
        assert_eq!(splitter.consumed(), fed);
        if let Err(error) = result {
            return (elements, None, Some(error));
        }
    }
    let unfinished = splitter.unfinished();
    let unfinished = unfinished.map(|(element, offset)| (element.to_vec(), offset));
    (elements, unfinished, None)
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn elements_are_those_of_serde_json(
        elements in vec(json(), 0..6), space in select(&["", " ", "\r\n", "\n\n\t"][..]),
        places in vec(any::<usize>(), 0..8), end in any::<Index>(),
    ) {
        let joined = elements.join(&format!("{space},{space}"));
        let body = format!("{space}[{space}{joined}{space}]{space}");
        let expected: Vec<Box<RawValue>> = serde_json::from_str(&body).expect("an array");
        let texts: Vec<&str> = expected.iter().map(|element| element.get()).collect();
        let whole = split(None, [body.as_bytes()]);
        let found: Vec<&str> = whole.0.iter().map(|(element, _)| std::str::from_utf8(element).expect("text")).collect();
        prop_assert_eq!(found, texts);
        for (element, offset) in &whole.0 {
            prop_assert!(body.as_bytes()[usize::try_from(*offset).expect("an offset")..].starts_with(element));
        }
        prop_assert_eq!((&whole.1, &whole.2), (&None, &None));
        prop_assert_eq!(&split(None, body.as_bytes().chunks(1)), &whole);
        prop_assert_eq!(&split(None, cut(body.as_bytes(), &places)), &whole);
        // A cut array gives the elements that are whole, and the beginning of the next.
        let body = &body.as_bytes()[..end.index(body.len() + 1)];
        let (found, unfinished, error) = split(None, [body]);
        prop_assert_eq!(&found, &whole.0[..found.len()]);
        prop_assert_eq!(error, None);
        if let Some((element, offset)) = unfinished {
            prop_assert_eq!(&body[usize::try_from(offset).expect("an offset")..], &element[..]);
        }
    }

    #[test]
    fn any_text_and_any_limit_are_split_alike(
        text in "[\\[\\]{},:\"\\\\ a1\u{e9}]{0,40}", places in vec(any::<usize>(), 0..8),
        limit in prop::option::of(0..12_usize),
    ) {
        let whole = split(limit, [text.as_bytes()]);
        prop_assert_eq!(&split(limit, text.as_bytes().chunks(1)), &whole);
        prop_assert_eq!(&split(limit, cut(text.as_bytes(), &places)), &whole);
        if let Ok(elements) = serde_json::from_str::<Vec<&RawValue>>(&text) {
            // The limit is the element's length, neither more nor less.
            let is_over = |element: &&RawValue| limit.is_some_and(|limit| element.get().len() > limit);
            prop_assert_eq!(whole.2.is_some(), elements.iter().any(is_over));
        }
    }
}

// Decoders -----------------------------------------------------------------------------------------

fn options() -> impl Strategy<Value = Options> {
    let limit = prop::option::of(0..200_usize);
    (0..2_u64, any::<bool>(), limit, any::<bool>(), any::<bool>()).prop_map(
        |(choice, discard, max_event_bytes, strict, served)| Options {
            choice,
            eof: if discard {
                EndOfInput::Discard
            } else {
                EndOfInput::Flush
            },
            max_event_bytes,
            strict,
            server_tools: served.then(|| "s".to_owned()).into_iter().collect(),
            name_map: [("f".to_owned(), "mapped".to_owned())].into(),
        },
    )
}

const CONVERSE: &[(&str, &str)] = &[
    ("initial-response", "{}"),
    ("messageStart", r#"{"role":"assistant","p":"ab"}"#),
    (
        "contentBlockDelta",
        r#"{"contentBlockIndex":0,"delta":{"text":"a"},"p":"abc"}"#,
    ),
    (
        "contentBlockDelta",
        r#"{"contentBlockIndex":0,"delta":{"text":"b\ud83d"},"p":"a"}"#,
    ),
    (
        "contentBlockDelta",
        r#"{"contentBlockIndex":0,"delta":{"text":"\udc0dc"},"p":"abcd"}"#,
    ),
    (
        "contentBlockStart",
        r#"{"contentBlockIndex":0,"delta":{"text":"c"},"p":"abc"}"#,
    ),
    (
        "odd",
        r#"{"contentBlockIndex":0,"delta":{"text":"d"},"p":"abc"}"#,
    ),
    (
        "error",
        r#"{"contentBlockIndex":0,"delta":{"text":"d"},"p":"abc"}"#,
    ),
    (
        "contentBlockDelta",
        r#"{"contentBlockIndex":1,"delta":{"reasoningContent":{"text":"r"}}}"#,
    ),
    (
        "contentBlockDelta",
        r#"{"contentBlockIndex":1,"delta":{"reasoningContent":{"signature":"s\ud83d"}}}"#,
    ),
    (
        "contentBlockDelta",
        r#"{"contentBlockIndex":1,"delta":{"reasoningContent":{"redactedContent":"eA=="}}}"#,
    ),
    (
        "contentBlockDelta",
        r#"{"contentBlockIndex":0,"delta":{"citation":{"title":"t"}}}"#,
    ),
    (
        "contentBlockStart",
        r#"{"contentBlockIndex":2,"start":{"toolUse":{"toolUseId":"i","name":"f"}}}"#,
    ),
    (
        "contentBlockStart",
        r#"{"contentBlockIndex":2,"start":{"toolUse":{"toolUseId":"j","name":"s"}}}"#,
    ),
    (
        "contentBlockStart",
        r#"{"contentBlockIndex":0,"start":{"toolUse":{"name":"q","type":"server_tool_use"}}}"#,
    ),
    (
        "contentBlockStart",
        r#"{"contentBlockIndex":1,"start":{"image":{"format":"png"}}}"#,
    ),
    (
        "contentBlockDelta",
        r#"{"contentBlockIndex":2,"delta":{"toolUse":{"input":"{\"a"}}}"#,
    ),
    (
        "contentBlockDelta",
        r#"{"contentBlockIndex":2,"delta":{"toolUse":{"input":"\":1}"}}}"#,
    ),
    (
        "contentBlockDelta",
        r#"{"contentBlockIndex":1,"delta":{"image":{"source":{"bytes":"eA=="}}}}"#,
    ),
    ("contentBlockStop", r#"{"contentBlockIndex":0}"#),
    ("contentBlockStop", r#"{"contentBlockIndex":1}"#),
    ("contentBlockStop", r#"{"contentBlockIndex":2}"#),
    ("messageStop", r#"{"stopReason":"end_turn"}"#),
    (
        "messageStop",
        r#"{"stopReason":"tool_use","additionalModelResponseFields":{"a":1}}"#,
    ),
    (
        "metadata",
        r#"{"usage":{"inputTokens":3,"outputTokens":4},"trace":{"t":1}}"#,
    ),
    ("contentBlockDelta", "{"),
    ("contentBlockDelta", "odd"),
    ("modelStreamErrorException", r#"{"message":"m"}"#),
];

const CHUNKS: &[&str] = &[
    r#"{"type":"message_start","message":{"id":"m","usage":{"input_tokens":3}}}"#,
    r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
    r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"i","name":"f","input":{}}}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"c\ud83d"}}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"\udc0db"}}"#,
    r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{}"}}"#,
    r#"{"type":"content_block_stop","index":0}"#,
    r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}"#,
    r#"{"type":"message_stop","amazon-bedrock-invocationMetrics":{"inputTokenCount":3}}"#,
];

/// Messages of both kinds in any order, some with a byte wrong.
fn aws_soup() -> impl Strategy<Value = Vec<u8>> {
    let fault = aws::message(
        &[
            aws::header(":exception-type", "throttlingException"),
            aws::header(":message-type", "exception"),
        ]
        .concat(),
        br#"{"message":"slow"}"#,
    );
    let piece = prop_oneof![
        16 => select(CONVERSE).prop_map(|(kind, payload)| aws::event(kind, payload.as_bytes())),
        8 => select(CHUNKS).prop_map(|payload| aws::chunk(payload.as_bytes())),
        1 => (select(CONVERSE), any::<Index>(), any::<u8>()).prop_map(|((kind, payload), at, byte)| {
            let mut bytes = aws::event(kind, payload.as_bytes());
            let at = at.index(bytes.len());
            bytes[at] ^= byte;
            bytes
        }),
        1 => Just(fault),
        1 => vec(any::<u8>(), 0..4),
    ];
    vec(piece, 0..20).prop_map(|pieces| pieces.concat())
}

const GEMINI: &[&str] = &[
    r#"{"candidates":[{"content":{"parts":[{"text":"a"}]}}],"usageMetadata":{"promptTokenCount":3}}"#,
    r#"{"candidates":[{"content":{"parts":[{"text":"b\ud83d"}]}}],"responseId":"r"}"#,
    r#"{"candidates":[{"content":{"parts":[{"text":"\udc0dc"},{"text":"t","thought":true}]}}]}"#,
    r#"{"candidates":[{"content":{"parts":[{"text":"","thoughtSignature":"s"}]}}]}"#,
    r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{"a":1}}}]}}]}"#,
    r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"s","id":"i"}}]}}]}"#,
    r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","willContinue":true}}]}}]}"#,
    r#"{"candidates":[{"content":{"parts":[{"functionCall":{"willContinue":true,"partialArgs":[{"jsonPath":"$.a[1].b","stringValue":"x\ud83d"}]}}]}}]}"#,
    r#"{"candidates":[{"content":{"parts":[{"functionCall":{"partialArgs":[{"jsonPath":"$.a[1].b","stringValue":"\udc0d"},{"jsonPath":"$['c']","numberValue":1}]}}]}}]}"#,
    r#"{"candidates":[{"content":{"parts":[{"inlineData":{"data":"eA=="}},{"thoughtSignature":"s"}]}}]}"#,
    r#"{"candidates":[{"index":1,"content":{"parts":[{"text":"o"}]},"finishReason":"STOP"}]}"#,
    r#"{"candidates":[{"finishReason":"STOP","groundingMetadata":{"a":1}}]}"#,
    r#"{"candidates":[{"content":{"parts":[{"text":"z"}]},"finishReason":2}]}"#,
    r#"{"promptFeedback":{"blockReason":"SAFETY"}}"#,
    r#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED"}}"#,
    r#"{"odd":1}"#,
    "[1]",
    "7",
    "\"text\"",
    "{",
    "}",
];

fn array_soup() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        8 => select(GEMINI).prop_map(|text| text.as_bytes().to_vec()),
        8 => Just(b",\r\n".to_vec()),
        1 => Just(b"]".to_vec()),
        1 => vec(any::<u8>(), 0..3),
    ];
    let start = select(&["[", "[", " \n[", "\u{feff}[", "", "data: "][..]);
    (start, vec(piece, 0..16))
        .prop_map(|(start, pieces)| [start.as_bytes(), &pieces.concat()].concat())
}

const RESPONSES: &[&str] = &[
    r#"{"type":"response.created","response":{"id":"r","model":"m"}}"#,
    r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"a","phase":"p"}}"#,
    r#"{"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","id":"b","call_id":"c","name":"f"}}"#,
    r#"{"type":"response.output_item.added","output_index":2,"item":{"type":"reasoning","id":"d"}}"#,
    r#"{"type":"response.output_item.added","item":{"type":"custom_tool_call","id":"e","call_id":"e","name":"s"}}"#,
    r#"{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"a","obfuscation":"x"}"#,
    r#"{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"b\ud83d","obfuscation":"y"}"#,
    r#"{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"\udc0d","obfuscation":"z"}"#,
    r#"{"type":"response.output_text.delta","output_index":2,"content_index":1,"delta":"b"}"#,
    r#"{"type":"response.output_text.delta","item_id":"a","content_index":1,"delta":"c"}"#,
    r#"{"type":"response.refusal.delta","output_index":0,"content_index":2,"delta":"no"}"#,
    r#"{"type":"response.output_text.annotation.added","output_index":0,"content_index":0,"annotation":{"a":1}}"#,
    r#"{"type":"response.output_text.done","output_index":0,"content_index":0,"text":"ab"}"#,
    r#"{"type":"response.output_text.done","output_index":0,"content_index":0,"text":"a\ud83d"}"#,
    r#"{"type":"response.content_part.done","output_index":0,"content_index":0,"part":{"type":"output_text","text":"a"}}"#,
    r#"{"type":"response.reasoning_summary_text.delta","output_index":2,"summary_index":0,"delta":"r"}"#,
    r#"{"type":"response.reasoning_summary_text.delta","output_index":1,"summary_index":1,"delta":"q\ud83d"}"#,
    r#"{"type":"response.reasoning_summary_text.done","output_index":2,"summary_index":1,"text":"rs"}"#,
    r#"{"type":"response.reasoning_text.delta","output_index":2,"content_index":0,"delta":"t"}"#,
    r#"{"type":"response.function_call_arguments.delta","output_index":1,"delta":"{"}"#,
    r#"{"type":"response.function_call_arguments.delta","output_index":2,"delta":"{"}"#,
    r#"{"type":"response.function_call_arguments.delta","delta":"}"}"#,
    r#"{"type":"response.function_call_arguments.done","output_index":1,"arguments":"{}"}"#,
    r#"{"type":"response.function_call_arguments.done","output_index":2,"arguments":"{}"}"#,
    r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"message","id":"a","content":[{"type":"output_text","text":"ab","annotations":[1]}]}}"#,
    r#"{"type":"response.output_item.done","output_index":1,"item":{"type":"function_call","id":"b","call_id":"c","name":"f","arguments":"{}"}}"#,
    r#"{"type":"response.output_item.done","output_index":2,"item":{"type":"reasoning","id":"d","summary":[{"text":"r"}],"encrypted_content":"e"}}"#,
    r#"{"type":"response.output_item.done","output_index":3,"item":{"type":"web_search_call","id":"w"}}"#,
    r#"{"type":"response.completed","response":{"status":"completed","output":[{"type":"message","id":"a","content":[{"text":"abc"}]},{"type":"function_call","call_id":"c","name":"f"}],"usage":{"input_tokens":1}}}"#,
    r#"{"type":"response.incomplete","response":{"incomplete_details":{"reason":"max_output_tokens"}}}"#,
    r#"{"type":"response.failed","response":{"error":{"code":"server_error","message":"m"}}}"#,
    r#"{"type":"response.odd"}"#,
    r#"{"type":"odd"}"#,
    "[DONE]",
    "{",
];

fn event_soup(payloads: &'static [&'static str]) -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        16 => select(payloads).prop_map(|payload| format!("data: {payload}\n\n").into_bytes()),
        1 => vec(any::<u8>(), 0..4),
    ];
    vec(piece, 0..20).prop_map(|pieces| pieces.concat())
}

/// Events that differ in a string or two, and now and then in what a template must not overlook.
fn repeated() -> impl Strategy<Value = (Dialect, Vec<(&'static str, String)>)> {
    let wire = select(
        &[
            (
                Dialect::BedrockConverse,
                "contentBlockDelta",
                r#"{"contentBlockIndex":0,"delta":{"text":"%"},"p":"@"}"#,
            ),
            (
                Dialect::BedrockConverse,
                "contentBlockDelta",
                r#"{"contentBlockIndex":2,"delta":{"toolUse":{"input":"%"}}}"#,
            ),
            (
                Dialect::BedrockConverse,
                "contentBlockDelta",
                r#"{"contentBlockIndex":1,"delta":{"reasoningContent":{"text":"%","signature":"@"}},"p":"@"}"#,
            ),
            (
                Dialect::OpenAiResponses,
                "",
                r#"{"type":"response.output_text.delta","sequence_number":7,"output_index":0,"content_index":0,"delta":"%","obfuscation":"@"}"#,
            ),
            (
                Dialect::OpenAiResponses,
                "",
                r#"{"type":"response.function_call_arguments.delta","sequence_number":@,"output_index":1,"delta":"%"}"#,
            ),
            (
                Dialect::OpenAiResponses,
                "",
                r#"{"type":"response.reasoning_summary_text.delta","output_index":2,"summary_index":0,"delta":"%","item_id":"@"}"#,
            ),
            (
                Dialect::Gemini,
                "",
                r#"{"candidates":[{"content":{"parts":[{"text":"%"}]}}],"usageMetadata":{"promptTokenCount":@}}"#,
            ),
            (
                Dialect::Gemini,
                "",
                r#"{"candidates":[{"content":{"parts":[{"text":"%","thought":true}]}}],"responseId":"@"}"#,
            ),
        ][..],
    );
    let holes = [
        "",
        "a",
        "bc",
        "\\n",
        "\\ud83d",
        "\\udc0d",
        "\\ud83d\\udc0d",
        "é",
        "\\\"",
    ];
    let hole = select(holes.to_vec());
    let label = select(&["", "p", "q", "1", "12", "01", "1.5"][..]);
    // Another type under the same payload.
    let name = prop_oneof![8 => Just(""), 1 => select(&["odd", "contentBlockStart", "messageStop", "error"][..])];
    (wire, vec((hole, label, name), 1..10)).prop_map(|((dialect, kind, event), strings)| {
        let prologue: &[(&str, &str)] = match dialect {
            Dialect::BedrockConverse => &[("contentBlockStart", r#"{"contentBlockIndex":2,"start":{"toolUse":{"toolUseId":"i","name":"f"}}}"#)],
            Dialect::OpenAiResponses => &[("", r#"{"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","call_id":"c","name":"f"}}"#)],
            _ => &[],
        };
        let prologue = prologue.iter().map(|(kind, payload)| (*kind, (*payload).to_owned()));
        let fill = |(hole, label, name): (&str, &str, &'static str)| {
            (if name.is_empty() { kind } else { name }, event.replace('%', hole).replace('@', label))
        };
        (dialect, prologue.chain(strings.into_iter().map(fill)).collect())
    })
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn aws_messages_do_not_depend_on_the_cuts(
        body in aws_soup(), places in vec(any::<usize>(), 0..8), options in options(),
    ) {
        for dialect in [Dialect::BedrockConverse, Dialect::Anthropic] {
            check_split(dialect, &options, &body, &places);
        }
    }

    #[test]
    fn arrays_do_not_depend_on_the_cuts(
        body in array_soup(), places in vec(any::<usize>(), 0..8), options in options(),
    ) {
        check_split(Dialect::Gemini, &options, &body, &places);
    }

    #[test]
    fn events_do_not_depend_on_the_cuts(
        gemini in event_soup(GEMINI), responses in event_soup(RESPONSES),
        places in vec(any::<usize>(), 0..8), options in options(),
    ) {
        check_split(Dialect::Gemini, &options, &gemini, &places);
        check_split(Dialect::OpenAiResponses, &options, &responses, &places);
    }

    #[test]
    fn repeated_events_are_read_as_single_ones(case in repeated(), strict in any::<bool>()) {
        let (dialect, events) = case;
        let options = Options { strict, ..Options::default() };
        let body = |perturb: bool| -> Vec<u8> {
            let event = |(at, (kind, payload)): (usize, &(&str, String))| {
                // White space that differs from event to event keeps any of them from being like the last.
                let space = if perturb { " ".repeat(at % 2) } else { String::new() };
                let payload = format!("{payload}{space}");
                match dialect {
                    Dialect::BedrockConverse => aws::event(kind, payload.as_bytes()),
                    _ => format!("event: {kind}\ndata: {payload}\n\n").into_bytes(),
                }
            };
            events.iter().enumerate().flat_map(event).collect()
        };
        let (plain, perturbed) = (body(false), body(true));
        let quick = check_split(dialect, &options, &plain, &[plain.len() / 2]);
        let slow = decode(dialect, &options, [&perturbed[..]]);
        prop_assert_eq!(quick.events, slow.events);
        prop_assert_eq!(quick.message, slow.message);
        let codes = |warnings: &[Warning]| -> Vec<_> { warnings.iter().map(|warning| warning.code).collect() };
        prop_assert_eq!(codes(&quick.warnings), codes(&slow.warnings));
    }
}
