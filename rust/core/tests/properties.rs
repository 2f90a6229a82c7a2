//! The laws, and the parsers against others: `serde_json`, and the steps of the WHATWG standard written out.

mod support;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Value;
use serde_json::error::Category;
use turntape_core::Dialect;
use turntape_core::arguments;
use turntape_core::decoder::Options;
use turntape_core::json::{JsonError, Raw, ends_inside_value, push_literal, trim};
use turntape_core::sse::{self, EndOfInput};

use support::{check_split, cut, decode, frame};

/// A failing input becomes a vector or a test of its own, not a line in a file of seeds.
fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 600,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

// JSON ---------------------------------------------------------------------------------------------

/// JSON text in all its spellings: white space, escapes, numbers, keys that come twice.
fn json_text() -> impl Strategy<Value = String> {
    let space = || select(&["", "", "", " ", "\t", "\n", "\r", " \n "][..]);
    let string = || {
        let piece = prop_oneof![
            "[ -!#-\\[\\]-~]{0,4}",
            "\\PC{0,3}".prop_map(|text| text.replace(['"', '\\'], "")),
            select(&["\\n", "\\\"", "\\\\", "\\/", "\\b", "\\f", "\\r", "\\t"][..])
                .prop_map(str::to_owned),
            select(&["\\u0041", "\\u00e9", "\\uD83D\\udc0d", "\\u0000", "\\u2028"][..])
                .prop_map(str::to_owned),
        ];
        vec(piece, 0..4).prop_map(|pieces| format!("\"{}\"", pieces.concat()))
    };
    let number = select(
        &[
            "0",
            "-0",
            "1",
            "-12",
            "0.5",
            "1e5",
            "1E+5",
            "-1.25e-3",
            "18446744073709551615",
            "18446744073709551616",
            "123456789012345678901234567890",
        ][..],
    );
    let leaf = prop_oneof![
        select(&["null", "true", "false"][..]).prop_map(str::to_owned),
        number.prop_map(str::to_owned),
        string(),
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        let key = prop_oneof![
            select(&["\"a\"", "\"b\"", "\"\\u0061\"", "\"\""][..]).prop_map(str::to_owned),
            string(),
        ];
        let member = (space(), key, space(), space(), inner.clone(), space())
            .prop_map(|(a, key, b, c, value, d)| format!("{a}{key}{b}:{c}{value}{d}"));
        let element = (space(), inner, space()).prop_map(|(a, value, b)| format!("{a}{value}{b}"));
        prop_oneof![
            (vec(member, 0..4), space()).prop_map(|(members, space)| if members.is_empty() {
                format!("{{{space}}}")
            } else {
                format!("{{{}}}", members.join(","))
            }),
            (vec(element, 0..4), space()).prop_map(|(elements, space)| if elements.is_empty() {
                format!("[{space}]")
            } else {
                format!("[{}]", elements.join(","))
            }),
        ]
    })
}

/// JSON text with a piece taken out, put in or cut off.
fn broken_json() -> impl Strategy<Value = String> {
    let token = select(
        &[
            "{", "}", "[", "]", ",", ":", "\"", "\\", "\\u", "\\ud83d", "\\udc0d", "0", "-", ".",
            "e", "+", "nul", "true", " ", "\u{b}", "\u{a0}", "\u{1}", "\u{7f}", "\u{feff}",
            "1e999", "é",
        ][..],
    );
    (
        json_text(),
        any::<prop::sample::Index>(),
        any::<prop::sample::Index>(),
        token,
        0..4_u8,
    )
        .prop_map(|(text, from, to, token, kind)| {
            let borders: Vec<usize> = text
                .char_indices()
                .map(|(at, _)| at)
                .chain([text.len()])
                .collect();
            let (a, b) = (
                borders[from.index(borders.len())],
                borders[to.index(borders.len())],
            );
            let (a, b) = (a.min(b), a.max(b));
            match kind {
                0 => text[..a].to_owned(),
                1 => format!("{}{}", &text[..a], &text[b..]),
                2 => format!("{}{token}{}", &text[..a], &text[a..]),
                _ => format!("{}{token}{}", &text[..a], &text[b..]),
            }
        })
}

/// Why `serde_json` may say something else, if it may.
fn permitted(text: &str, error: &serde_json::Error) -> Option<&'static str> {
    let words = error.to_string();
    let folded = text.to_ascii_lowercase();
    if words.contains("recursion limit") {
        return Some("its limit of 128 levels is fixed, ours is a parameter");
    }
    if words.contains("number out of range") {
        return Some("it reads numbers into 64 bits or a double, we leave them as text");
    }
    if folded.contains("\\ud") {
        return Some("it refuses lone surrogates, we leave them to whoever uses the string");
    }
    None
}

fn check_json(text: &str) {
    let ours = Raw::parse(text, usize::MAX);
    match (serde_json::from_str::<Value>(text), ours) {
        (Ok(value), Ok(raw)) => {
            assert_eq!(raw.text(), trim(text));
            check_value(raw, &value);
        }
        (Ok(_), Err(error)) => panic!("{text:?}: {error}, but serde_json reads it"),
        (Err(error), Ok(_)) => {
            assert!(
                permitted(text, &error).is_some(),
                "{text:?}: only serde_json says {error}"
            );
        }
        (Err(theirs), Err(ours)) => {
            // It looks for four bytes behind \u before it looks at them: a wrong digit in an escape that the
            // end cuts short is the end for it and wrong for us.
            let tail = &text.as_bytes()[text.len().saturating_sub(6)..];
            let short_escape = tail.windows(2).any(|pair| pair == b"\\u");
            if permitted(text, &theirs).is_none() && !short_escape {
                let at_end = theirs.classify() == Category::Eof;
                assert_eq!(
                    ours == JsonError::UnexpectedEnd,
                    at_end,
                    "{text:?}: {ours:?}, {theirs}"
                );
            }
        }
    }
}

/// Compares a raw value with the tree of it, all the way down.
fn check_value(raw: Raw<'_>, value: &Value) {
    assert_eq!(raw.is_null(), value.is_null());
    assert_eq!(raw.is_object(), value.is_object());
    assert_eq!(raw.is_array(), value.is_array());
    match value {
        Value::Object(members) => {
            assert_eq!(raw.is_empty(), members.is_empty());
            for (key, value) in members {
                let found = raw.member(key);
                assert_eq!(found.is_none(), value.is_null(), "null is absent");
                if let Some(found) = found {
                    check_value(found, value);
                }
                let [first, again] = raw.members(&["no such member", key.as_str()]);
                assert_eq!((first, again), (None, found));
            }
            for (key, _) in raw.entries() {
                assert!(members.contains_key(&key.to_text()));
            }
        }
        Value::Array(elements) => {
            assert_eq!(raw.is_empty(), elements.is_empty());
            assert_eq!(raw.elements().count(), elements.len());
            for (raw, value) in raw.elements().zip(elements) {
                check_value(raw, value);
            }
        }
        Value::String(text) => {
            let string = raw.as_str().expect("a string");
            assert_eq!(&string.to_text(), text);
            assert!(string.is(text));
            assert_eq!(string.is_empty(), text.is_empty());
            assert!(!string.has_lone_surrogate());
            assert_eq!(raw.is_empty(), text.is_empty());
        }
        Value::Number(number) => {
            // -0 is an integer for us and a double for it; both have no sign to speak of.
            assert_eq!(raw.as_u64(), number.as_u64());
            assert_eq!(
                raw.as_i64().filter(|&n| n != 0),
                number.as_i64().filter(|&n| n != 0)
            );
        }
        Value::Null | Value::Bool(_) => {
            assert!(raw.as_u64().is_none() && raw.as_str().is_none());
            assert_eq!(raw.entries().count() + raw.elements().count(), 0);
        }
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn valid_json_is_read_as_serde_json_reads_it(text in json_text()) {
        prop_assert!(Raw::parse(&text, usize::MAX).is_ok());
        check_json(&text);
    }

    #[test]
    fn broken_json_is_refused_as_serde_json_refuses_it(text in broken_json()) {
        check_json(&text);
    }

    #[test]
    fn any_text_is_judged_as_serde_json_judges_it(text in "[\\[\\]{}\",:\\\\u0-9a-f.eE+ \n-]{0,20}|\\PC{0,20}") {
        check_json(&text);
    }

    #[test]
    fn every_prefix_ends_inside_the_value(text in json_text()) {
        if text.starts_with(['{', '[', '"']) {
            for (at, _) in text.char_indices().skip(1) {
                prop_assert!(Raw::parse(&text[..at], usize::MAX) == Err(JsonError::UnexpectedEnd));
                prop_assert!(ends_inside_value(&text[..at]));
            }
        }
        prop_assert!(!ends_inside_value(&text));
    }

    #[test]
    fn depth_is_counted(depth in 1..40_usize, limit in 0..40_usize, object in any::<bool>()) {
        let (open, close) = if object { ("{\"a\":", "}") } else { ("[", "]") };
        let text = format!("{}0{}", open.repeat(depth), close.repeat(depth));
        let expected = if depth <= limit { Ok(()) } else { Err(JsonError::TooDeep(open.len() * limit)) };
        prop_assert_eq!(Raw::parse(&text, limit).map(|_| ()), expected);
    }

    #[test]
    fn literals_are_those_of_serde_json(text in any::<String>()) {
        let mut literal = String::new();
        push_literal(&text, &mut literal);
        prop_assert_eq!(&literal, &serde_json::to_string(&text).expect("a string"));
        let string = Raw::parse(&literal, 0).expect("JSON").as_str().expect("a string");
        prop_assert_eq!(string.to_text(), text);
    }

    #[test]
    fn a_text_in_pieces_is_the_text(units in vec(prop_oneof![0xD7F0..0xE010_u16, 0x20..0x7F_u16], 0..8), at in 0..9_usize) {
        // Each unit as an escape, the text cut between two of them.
        let escapes: Vec<String> = units.iter().map(|unit| format!("\\u{unit:04x}")).collect();
        let body = escapes.concat();
        let whole = format!("\"{body}\"");
        let (left, right) = body.split_at(6 * at.min(units.len()));
        let (left, right) = (format!("\"{left}\""), format!("\"{right}\""));
        let string = |text: &str| Raw::parse(text, 0).expect("JSON").as_str().expect("a string").to_text();
        let (mut joined, mut half, mut lone) = (String::new(), None, 0);
        for piece in [&left, &right] {
            lone += Raw::parse(piece, 0).expect("JSON").as_str().expect("a string").push_to(&mut joined, &mut half);
        }
        if half.is_some() {
            joined.push('\u{FFFD}');
            lone += 1;
        }
        prop_assert_eq!(&joined, &String::from_utf16_lossy(&units));
        prop_assert_eq!(&joined, &string(&whole));
        prop_assert_eq!(lone, joined.chars().filter(|&c| c == '\u{FFFD}').count());
    }

    #[test]
    fn unfinished_arguments_can_be_shown(text in prop_oneof![json_text(), broken_json()], at in any::<prop::sample::Index>()) {
        let borders: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let cut = &text[..borders[at.index(borders.len())]];
        let shown = arguments::complete(cut);
        prop_assert!(Raw::parse(&shown, usize::MAX).is_ok(), "{cut:?} gives {shown:?}");
        if Raw::parse(&text, arguments_depth()).is_ok() {
            prop_assert_eq!(arguments::complete(&text), trim(&text));
        }
        prop_assert_eq!(
            arguments::check(&text).is_ok(),
            trim(&text).is_empty() || Raw::parse(&text, arguments_depth()).is_ok_and(Raw::is_object)
        );
    }
}

const fn arguments_depth() -> usize {
    turntape_core::json::MAX_ARGUMENT_DEPTH
}

// Framing ------------------------------------------------------------------------------------------

const SSE_TOKENS: &[&[u8]] = &[
    b"\n",
    b"\n\n",
    b"\r",
    b"\r\n",
    b"\r\n\r\n",
    b":",
    b": c",
    b" ",
    b"data",
    b"data:",
    b"data: ",
    b"data: x\n\n",
    b"event: e\n",
    b"event:",
    b"id: 7\n",
    b"id",
    b"id: \0\n",
    b"retry: 12\n",
    b"retry: -1",
    b"retry: 99999999999999999999\n",
    b"error: e\n",
    b"unknown: u\n",
    b"{}",
    b"\xEF\xBB\xBF",
    b"\xEF",
    b"\xBB",
    b"\xFF",
    b"\xE2\x80\xA8",
    b"\xE2\x80",
    b"\xED\xA0\xBD",
    b"\x0B",
    b"\xC2\x85",
    b"dat",
    b"a: b",
];

fn sse_soup() -> impl Strategy<Value = Vec<u8>> {
    let token = select(SSE_TOKENS);
    let piece = prop_oneof![8 => token.prop_map(<[u8]>::to_vec), 1 => vec(any::<u8>(), 0..3)];
    vec(piece, 0..20).prop_map(|pieces| pieces.concat())
}

/// WHATWG HTML 9.2.6, step by step, over the whole body at once; with what the pages here add: offsets, the
/// flush at the end, one report of invalid UTF-8 a field value.
fn interpret(body: &[u8], policy: EndOfInput) -> Vec<String> {
    let start = if body.starts_with(b"\xEF\xBB\xBF") {
        3
    } else {
        0
    };
    let mut lines: Vec<(usize, &[u8])> = Vec::new();
    let (mut at, mut from) = (start, start);
    while at < body.len() {
        let width = match (body[at], body.get(at + 1)) {
            (b'\r', Some(b'\n')) => 2,
            (b'\r' | b'\n', _) => 1,
            _ => {
                at += 1;
                continue;
            }
        };
        lines.push((from, &body[from..at]));
        at += width;
        from = at;
    }
    // An unfinished last line counts as a line.
    if from < body.len() {
        lines.push((from, &body[from..]));
    }
    let mut items = Vec::new();
    let (mut event, mut id, mut retry) = (String::new(), None, None);
    let mut data: Option<(usize, Vec<(String, bool)>)> = None;
    for (offset, line) in lines {
        if line.is_empty() {
            finish_block(&mut items, data.take(), &event, id.as_ref(), retry, false);
            event.clear();
            retry = None;
            continue;
        }
        let colon = line.iter().position(|&byte| byte == b':');
        let (name, value) = colon.map_or((line, &b""[..]), |colon| {
            (&line[..colon], &line[colon + 1..])
        });
        let value = value.strip_prefix(b" ").unwrap_or(value);
        let text = String::from_utf8_lossy(value).into_owned();
        let invalid = std::str::from_utf8(value).is_err();
        if invalid && matches!(name, b"event" | b"id" | b"retry") {
            items.push(format!("InvalidUtf8 {{ offset: {offset} }}"));
        }
        match name {
            b"data" => data
                .get_or_insert((offset, Vec::new()))
                .1
                .push((text, invalid)),
            b"event" => event = text,
            b"id" if !value.contains(&0) => id = Some(text),
            b"retry" if value.iter().all(u8::is_ascii_digit) => retry = text.parse().ok().or(retry),
            _ => {}
        }
    }
    match (data, policy) {
        (Some((offset, _)), EndOfInput::Discard) => {
            items.push(format!("Discarded {{ offset: {offset} }}"));
        }
        (data, _) => finish_block(&mut items, data, &event, id.as_ref(), retry, true),
    }
    items
}

fn finish_block(
    items: &mut Vec<String>,
    data: Option<(usize, Vec<(String, bool)>)>,
    event: &str,
    id: Option<&String>,
    retry: Option<u64>,
    flushed: bool,
) {
    let Some((offset, lines)) = data else { return };
    for _ in lines.iter().filter(|(_, invalid)| *invalid) {
        items.push(format!("InvalidUtf8 {{ offset: {offset} }}"));
    }
    let data = lines
        .into_iter()
        .map(|(text, _)| text)
        .collect::<Vec<_>>()
        .join("\n");
    items.push(format!(
        "{event:?} {data:?} {id:?} {retry:?} {offset} {flushed}"
    ));
}

fn policy() -> impl Strategy<Value = EndOfInput> {
    select(&[EndOfInput::Flush, EndOfInput::Discard][..])
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn framing_is_what_the_standard_says(
        body in sse_soup(), places in vec(any::<usize>(), 0..8), policy in policy(),
    ) {
        let expected = (interpret(&body, policy), None);
        prop_assert_eq!(frame(None, false, policy, [&body[..]]), expected.clone());
        prop_assert_eq!(frame(None, false, policy, body.chunks(1)), expected.clone());
        prop_assert_eq!(frame(None, false, policy, cut(&body, &places)), expected);
    }

    #[test]
    fn framing_does_not_depend_on_the_cuts(
        body in sse_soup(), places in vec(any::<usize>(), 0..8), policy in policy(),
        limit in prop::option::of(0..30_usize), foreign in any::<bool>(),
    ) {
        let whole = frame(limit, foreign, policy, [&body[..]]);
        prop_assert_eq!(&frame(limit, foreign, policy, body.chunks(1)), &whole);
        prop_assert_eq!(&frame(limit, foreign, policy, cut(&body, &places)), &whole);
    }

    #[test]
    fn what_is_written_is_read_back(
        event in "[^\r\n]{0,6}", data in "[a\r\n\u{2028}\u{85}: ]{0,10}|\\PC{0,10}",
        id in prop::option::of("[^\r\n\0]{0,6}"), retry in any::<Option<u64>>(), escape in any::<bool>(),
    ) {
        let text = sse::encode(&event, &data, id.as_deref(), retry, escape).expect("it can be written");
        let mut read = data.replace("\r\n", "\n").replace('\r', "\n");
        if escape {
            read = read.replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029");
        }
        let event = if event == "message" { "" } else { &event };
        let expected = format!("{event:?} {read:?} {id:?} {retry:?} ");
        let (items, _) = frame(None, false, EndOfInput::Discard, [text.as_bytes()]);
        prop_assert_eq!(items.len(), 1);
        prop_assert!(items[0].starts_with(&expected), "{} is not {}", items[0], expected);
    }
}

// Decoders -----------------------------------------------------------------------------------------

/// Pieces of both wires and of what lies between, in any order.
fn wire_soup() -> impl Strategy<Value = Vec<u8>> {
    let token = select(
        &[
            r#"data: {"choices":[{"delta":{"content":"a"}}]}"#,
            "\n\n",
            "\n\n",
            "\n\n",
            "\n",
            "\r\n\r\n",
            r#"data: {"id":"i","model":"m","choices":[{"delta":{"content":"b\ud83d"}}]}"#,
            r#"data: {"choices":[{"delta":{"content":"\udc0dc"}}]}"#,
            r#"data: {"choices":[{"delta":{"reasoning_content":"r","reasoning":"q"}}]}"#,
            r#"data: {"choices":[{"delta":{"reasoning_content":"","reasoning":"q"}}]}"#,
            r#"data: {"choices":[{"delta":{"reasoning_details":[{"id":"c","data":"d"},{"text":"t","signature":"s"}]}}]}"#,
            r#"data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"f"}}]}}]}"#,
            r#"data: {"choices":[{"delta":{"tool_calls":[{"id":"d","function":{"name":"s","arguments":"{"}}]}}]}"#,
            r#"data: {"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"}"}},{"index":5}]}}]}"#,
            r#"data: {"choices":[{"delta":{"tool_calls":[{"function":{"name":"g","arguments":{"a":1}}}]}}]}"#,
            r#"data: {"choices":[{"delta":{"function_call":{"name":"f","arguments":"1"}}}]}"#,
            r#"data: {"choices":[{"delta":{"content":[{"type":"text","text":"t"},{"type":"x"}],"refusal":"no"}}]}"#,
            r#"data: {"choices":[{"delta":{"images":[{}],"annotations":[1],"audio":{"a":1}},"logprobs":[]}]}"#,
            r#"data: {"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":3}}"#,
            r#"data: {"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#,
            r#"data: {"choices":[{"delta":{"content":"z"},"finish_reason":"error"}]}"#,
            "data: [DONE]",
            r#"data: {"type":"message_start","message":{"id":"m","content":[{"type":"text","text":"t"}]}}"#,
            r#"data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"\ud83d"}}"#,
            r#"data: {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","name":"s","input":{"a":1}}}"#,
            r#"data: {"type":"content_block_start","index":2,"content_block":{"type":"odd_tool_use","n":"v"}}"#,
            r#"data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","signature":"s"}}"#,
            r#"data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"u"}}"#,
            r#"data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"u"}}"#,
            r#"data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\ud83d"}}"#,
            r#"data: {"type":"content_block_delta","index":2,"delta":{"type":"odd_delta","n":"w","m":[1]}}"#,
            r#"data: {"type":"content_block_stop","index":0}"#,
            r#"data: {"type":"content_block_stop","index":1}"#,
            r#"data: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":1}}"#,
            r#"data: {"type":"message_stop"}"#,
            r#"data: {"type":"odd"}"#,
            "event: error\n",
            "event: e\n",
            "error: {\"message\":\"m\"}\n",
            r#"{"error":{"code":429}}"#,
            "data: ping",
            "data: {",
            "data: [",
            ": c",
            "}",
            "  ",
        ][..],
    );
    let piece = prop_oneof![
        12 => token.prop_map(|text| text.as_bytes().to_vec()),
        8 => Just(b"\n\n".to_vec()),
        1 => vec(any::<u8>(), 0..3),
    ];
    (vec(piece, 0..24), any::<bool>()).prop_map(|(pieces, twice)| {
        let body = pieces.concat();
        if twice {
            [&body[..], &body[..]].concat()
        } else {
            body
        }
    })
}

fn options() -> impl Strategy<Value = Options> {
    (
        0..2_u64,
        policy(),
        prop::option::of(0..150_usize),
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(|(choice, eof, max_event_bytes, strict, served)| Options {
            choice,
            eof,
            max_event_bytes,
            strict,
            server_tools: served.then(|| "s".to_owned()).into_iter().collect(),
            name_map: [("f".to_owned(), "mapped".to_owned())].into(),
        })
}

/// Events of a stream that differ in one string.
fn repeated() -> impl Strategy<Value = (Dialect, Vec<String>, Vec<String>)> {
    let chat = [
        r#"{"choices":[{"delta":{"content":"%"}}]}"#,
        r#"{"id":"@","choices":[{"index":0,"delta":{"content":"%"},"finish_reason":null}],"obfuscation":"@"}"#,
        r#"{"choices":[{"delta":{"reasoning":"%","content":""}}]}"#,
        r#"{"choices":[{"delta":{"reasoning_content":"%","reasoning":"b"}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"%"}}]}}]}"#,
    ];
    let anthropic = [
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"%"}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"%"},"p":"@"}"#,
    ];
    let event = prop_oneof![
        select(chat.to_vec()).prop_map(|event| (Dialect::OpenAiChat, event)),
        select(anthropic.to_vec()).prop_map(|event| (Dialect::Anthropic, event)),
    ];
    let hole = select(
        &[
            "",
            "a",
            "bc",
            "\\n",
            "\\ud83d",
            "\\udc0d",
            "\\ud83d\\udc0d",
            "é",
            "x\\ud83d",
            "\\\"",
        ][..],
    );
    let label = select(&["", "p", "q", "\\ud83d"][..]);
    (event, vec((hole, label), 1..10)).prop_map(|((dialect, event), strings)| {
        let fill = |(hole, label): &(&str, &str)| event.replace('%', hole).replace('@', label);
        let prologue = match dialect {
            Dialect::Anthropic => [
                r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
                r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"i","name":"n"}}"#,
            ],
            _ => [
                r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"i","function":{"name":"n"}}]}}]}"#,
                r#"{"choices":[]}"#,
            ],
        };
        (dialect, prologue.map(str::to_owned).to_vec(), strings.iter().map(fill).collect())
    })
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn decoding_does_not_depend_on_the_cuts(
        body in wire_soup(), places in vec(any::<usize>(), 0..8), options in options(),
    ) {
        for dialect in [Dialect::Anthropic, Dialect::OpenAiChat] {
            let whole = check_split(dialect, &options, &body, &places);
            prop_assert_eq!(whole.message.complete, whole.failure.is_none());
        }
    }

    #[test]
    fn repeated_events_are_read_as_single_ones(case in repeated(), strict in any::<bool>()) {
        let (dialect, prologue, events) = case;
        let options = Options { strict, ..Options::default() };
        let body = |perturb: bool| -> String {
            let event = |(at, payload): (usize, &String)| {
                // White space that differs from event to event keeps any of them from being like the last.
                let space = if perturb { " ".repeat(at % 2) } else { String::new() };
                format!("data: {}{space}}}\n\n", &payload[..payload.len() - 1])
            };
            prologue.iter().chain(&events).enumerate().map(event).collect()
        };
        let (plain, perturbed) = (body(false), body(true));
        let quick = check_split(dialect, &options, plain.as_bytes(), &[plain.len() / 2]);
        let slow = decode(dialect, &options, [perturbed.as_bytes()]);
        prop_assert_eq!(quick.events, slow.events);
        prop_assert_eq!(quick.message, slow.message);
        let codes = |warnings: &[turntape_core::event::Warning]| -> Vec<_> {
            warnings.iter().map(|warning| warning.code).collect()
        };
        prop_assert_eq!(codes(&quick.warnings), codes(&slow.warnings));
    }
}
