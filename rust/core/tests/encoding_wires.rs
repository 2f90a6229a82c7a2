//! What the encoders of Responses and Gemini write, to the byte, and what their own turns come back as.

use std::fmt::Write as _;

use turntape_core::Dialect;
use turntape_core::decoder::{Options, StreamDecoder};
use turntape_core::encode::{NoteCode, Settings, StreamEncoder, response};
use turntape_core::event::{Event, EventLog, StopReason, Terminal};
use turntape_core::usage::Usage;

const START: Event<'_> = Event::MessageStart {
    id: Some("resp_1"),
    model: Some("quill"),
};

fn stop(stop_reason: StopReason) -> Event<'static> {
    Event::MessageStop {
        stop_reason,
        raw_reason: None,
        terminal: Terminal::MessageStop,
    }
}

fn text(index: usize, text: &str) -> Event<'_> {
    Event::TextDelta { index, text }
}

fn thinking(index: usize, text: &str) -> Event<'_> {
    Event::ThinkingDelta { index, text }
}

const fn call(index: usize, id: &'static str) -> Event<'static> {
    Event::ToolUseStart {
        index,
        id,
        name: "get",
        extra: None,
    }
}

fn arguments(index: usize, partial_json: &str) -> Event<'_> {
    Event::InputJsonDelta {
        index,
        partial_json,
    }
}

const fn closed(index: usize) -> Event<'static> {
    Event::ContentBlockStop { index }
}

/// What an encoder wrote: the stream and the codes of its notes.
fn say(dialect: Dialect, source: Option<Dialect>, events: &[Event<'_>]) -> (String, Vec<NoteCode>) {
    let settings = Settings {
        source,
        ..Settings::default()
    };
    let mut encoder = StreamEncoder::new(dialect, settings).expect("a dialect that is spoken");
    let mut out = Vec::new();
    for event in events {
        encoder.feed(*event, &mut out).expect("events in order");
    }
    encoder.finish(&mut out);
    let codes = encoder.notes().iter().map(|note| note.code).collect();
    (String::from_utf8(out).expect("UTF-8"), codes)
}

/// The payloads of a stream, one a line.
fn payloads(stream: &str) -> Vec<&str> {
    let lines = stream.lines();
    lines
        .filter_map(|line| line.strip_prefix("data: "))
        .collect()
}

fn read(dialect: Dialect, body: &str) -> StreamDecoder {
    let mut decoder = StreamDecoder::new(dialect, Options::default());
    decoder.feed(body.as_bytes());
    decoder.finish();
    assert_eq!(decoder.warnings(), [], "{body}");
    decoder
}

fn events_of(body: &str, dialect: Dialect) -> EventLog {
    let decoder = read(dialect, body);
    assert_eq!(decoder.failure(), None, "{body}");
    let mut log = EventLog::default();
    for event in decoder.events().iter() {
        log.push(event);
    }
    log
}

/// Decodes a stream, says it again on its own wire and checks that nothing has changed.
fn comes_back(dialect: Dialect, body: &str) -> String {
    let first = events_of(body, dialect);
    let events: Vec<Event<'_>> = first.iter().collect();
    let (said, notes) = say(dialect, Some(dialect), &events);
    assert_eq!(notes, [], "{said}");
    let second = events_of(&said, dialect);
    assert_eq!(second.iter().collect::<Vec<_>>(), events, "{said}");
    said
}

fn stream(payloads: &[&str]) -> String {
    let event = |payload: &&str| format!("data: {payload}\n\n");
    payloads.iter().map(event).collect()
}

const TOKENS: Event<'_> = Event::Usage(Usage {
    input_tokens: 5,
    output_tokens: 7,
    cache_read_tokens: 1,
    cache_write_tokens: 0,
    cache_write_1h_tokens: 0,
    reasoning_tokens: 2,
});

#[test]
fn a_response_lives_its_whole_life() {
    let turn = [
        START,
        thinking(0, "hm"),
        closed(0),
        text(1, "a \"b\""),
        text(1, "c"),
        closed(1),
        call(2, "call_1"),
        arguments(2, "{\"a\":"),
        arguments(2, "1}"),
        closed(2),
        TOKENS,
        stop(StopReason::ToolUse),
    ];
    let (said, notes) = say(Dialect::OpenAiResponses, Some(Dialect::Anthropic), &turn);
    assert_eq!(notes, []);
    let ids = ["rs_", "msg_", "fc_"].map(|prefix| {
        let start = said.find(&format!("\"id\":\"{prefix}")).expect("an id") + 6;
        let end = start + said[start..].find('"').expect("its end");
        said[start..end].to_owned()
    });
    let [rs, msg, fc] = &ids;
    let head = "\"id\":\"resp_1\",\"object\":\"response\",\"created_at\":0";
    let rest = "\"instructions\":null,\"metadata\":{},\"parallel_tool_calls\":true,\
                \"temperature\":null,\"tool_choice\":\"auto\",\"tools\":[],\"top_p\":null,\
                \"model\":\"quill\"";
    let begun = format!(
        "\"response\":{{{head},\"status\":\"in_progress\",\"error\":null,\"incomplete_details\":null,\
         {rest},\"output\":[],\"usage\":null}}"
    );
    let reasoning = format!(
        "{{\"id\":\"{rs}\",\"type\":\"reasoning\",\"summary\":[{{\"type\":\"summary_text\",\
         \"text\":\"hm\"}}]}}"
    );
    let part =
        "{\"type\":\"output_text\",\"annotations\":[],\"logprobs\":[],\"text\":\"a \\\"b\\\"c\"}";
    let message = format!(
        "{{\"id\":\"{msg}\",\"type\":\"message\",\"status\":\"completed\",\"role\":\"assistant\",\
         \"content\":[{part}]}}"
    );
    let asked = format!(
        "{{\"type\":\"function_call\",\"id\":\"{fc}\",\"call_id\":\"call_1\",\"name\":\"get\",\
         \"arguments\":\"{{\\\"a\\\":1}}\",\"status\":\"completed\"}}"
    );
    let of_rs = format!("\"item_id\":\"{rs}\",\"output_index\":0,\"summary_index\":0");
    let of_msg = format!("\"item_id\":\"{msg}\",\"output_index\":1,\"content_index\":0");
    let of_fc = format!("\"item_id\":\"{fc}\",\"output_index\":2");
    let output = format!("{reasoning},{message},{asked}");
    let steps: Vec<(&str, String)> = vec![
        ("response.created", begun.clone()),
        ("response.in_progress", begun),
        (
            "response.output_item.added",
            format!(
                "\"output_index\":0,\"item\":{{\"id\":\"{rs}\",\"type\":\"reasoning\",\"summary\":[]}}"
            ),
        ),
        (
            "response.reasoning_summary_part.added",
            format!("{of_rs},\"part\":{{\"type\":\"summary_text\",\"text\":\"\"}}"),
        ),
        (
            "response.reasoning_summary_text.delta",
            format!("{of_rs},\"delta\":\"hm\""),
        ),
        (
            "response.reasoning_summary_text.done",
            format!("{of_rs},\"text\":\"hm\""),
        ),
        (
            "response.reasoning_summary_part.done",
            format!("{of_rs},\"part\":{{\"type\":\"summary_text\",\"text\":\"hm\"}}"),
        ),
        (
            "response.output_item.done",
            format!("\"output_index\":0,\"item\":{reasoning}"),
        ),
        (
            "response.output_item.added",
            format!(
                "\"output_index\":1,\"item\":{{\"id\":\"{msg}\",\"type\":\"message\",\
                 \"status\":\"in_progress\",\"role\":\"assistant\",\"content\":[]}}"
            ),
        ),
        (
            "response.content_part.added",
            format!(
                "{of_msg},\"part\":{{\"type\":\"output_text\",\"annotations\":[],\"logprobs\":[],\
                 \"text\":\"\"}}"
            ),
        ),
        (
            "response.output_text.delta",
            format!("{of_msg},\"delta\":\"a \\\"b\\\"\",\"logprobs\":[]"),
        ),
        (
            "response.output_text.delta",
            format!("{of_msg},\"delta\":\"c\",\"logprobs\":[]"),
        ),
        (
            "response.output_text.done",
            format!("{of_msg},\"text\":\"a \\\"b\\\"c\",\"logprobs\":[]"),
        ),
        (
            "response.content_part.done",
            format!("{of_msg},\"part\":{part}"),
        ),
        (
            "response.output_item.done",
            format!("\"output_index\":1,\"item\":{message}"),
        ),
        (
            "response.output_item.added",
            format!(
                "\"output_index\":2,\"item\":{{\"type\":\"function_call\",\"id\":\"{fc}\",\
                 \"call_id\":\"call_1\",\"name\":\"get\",\"arguments\":\"\",\
                 \"status\":\"in_progress\"}}"
            ),
        ),
        (
            "response.function_call_arguments.delta",
            format!("{of_fc},\"delta\":\"{{\\\"a\\\":\""),
        ),
        (
            "response.function_call_arguments.delta",
            format!("{of_fc},\"delta\":\"1}}\""),
        ),
        (
            "response.function_call_arguments.done",
            format!("{of_fc},\"arguments\":\"{{\\\"a\\\":1}}\""),
        ),
        (
            "response.output_item.done",
            format!("\"output_index\":2,\"item\":{asked}"),
        ),
        (
            "response.completed",
            format!(
                "\"response\":{{{head},\"status\":\"completed\",\"error\":null,\
                 \"incomplete_details\":null,{rest},\"output\":[{output}],\
                 \"usage\":{{\"input_tokens\":6,\"input_tokens_details\":{{\"cached_tokens\":1,\
                 \"cache_write_tokens\":0}},\"output_tokens\":7,\
                 \"output_tokens_details\":{{\"reasoning_tokens\":2}},\"total_tokens\":13}}}}"
            ),
        ),
    ];
    let mut wanted = String::new();
    for (number, (kind, members)) in steps.iter().enumerate() {
        let _ = write!(
            wanted,
            "event: {kind}\ndata: {{\"type\":\"{kind}\",\"sequence_number\":{number},{members}}}\n\n"
        );
    }
    assert_eq!(said, wanted);

    let settings = Settings {
        source: Some(Dialect::Anthropic),
        ..Settings::default()
    };
    let (body, _) = response(Dialect::OpenAiResponses, settings, turn).expect("a whole turn");
    let body = String::from_utf8(body).expect("UTF-8");
    let last = payloads(&said).pop().expect("an end");
    assert!(last.ends_with(&format!("{body}}}")), "{body}\n{last}");
}

#[test]
fn gemini_says_parts_and_then_the_end() {
    let turn = [
        START,
        thinking(0, "hm"),
        closed(0),
        text(1, "a"),
        closed(1),
        call(2, "call_1"),
        // The arguments mix with a later block, which waits.
        arguments(2, "{\"a\": "),
        text(3, "b"),
        arguments(2, "1}"),
        closed(3),
        closed(2),
        TOKENS,
        stop(StopReason::ToolUse),
    ];
    let (said, notes) = say(Dialect::Gemini, Some(Dialect::Anthropic), &turn);
    assert_eq!(notes, []);
    let tail = "\"modelVersion\":\"quill\",\"responseId\":\"resp_1\"}";
    let parts = [
        "{\"text\":\"hm\",\"thought\":true}",
        "{\"text\":\"a\"}",
        "{\"functionCall\":{\"name\":\"get\",\"id\":\"call_1\",\"args\":{\"a\": 1}}}",
        "{\"text\":\"b\"}",
    ];
    let mut wanted: Vec<String> = parts
        .iter()
        .map(|part| {
            format!(
                "{{\"candidates\":[{{\"content\":{{\"parts\":[{part}],\"role\":\"model\"}},\
                 \"index\":0}}],{tail}"
            )
        })
        .collect();
    let usage = "\"usageMetadata\":{\"promptTokenCount\":6,\"cachedContentTokenCount\":1,\
                 \"candidatesTokenCount\":5,\"thoughtsTokenCount\":2,\"totalTokenCount\":13}";
    wanted.push(format!(
        "{{\"candidates\":[{{\"content\":{{\"parts\":[{{\"text\":\"\"}}],\"role\":\"model\"}},\
         \"finishReason\":\"STOP\",\"index\":0}}],{usage},{tail}"
    ));
    assert_eq!(payloads(&said), wanted);

    let settings = Settings {
        source: Some(Dialect::Anthropic),
        ..Settings::default()
    };
    let (body, _) = response(Dialect::Gemini, settings, turn).expect("a whole turn");
    assert_eq!(
        String::from_utf8(body).expect("UTF-8"),
        format!(
            "{{\"candidates\":[{{\"content\":{{\"parts\":[{}],\"role\":\"model\"}},\
             \"finishReason\":\"STOP\",\"index\":0}}],{usage},{tail}",
            parts.join(",")
        )
    );
}

#[test]
fn a_turn_of_responses_comes_back_whole() {
    let said = comes_back(
        Dialect::OpenAiResponses,
        &stream(&[
            r#"{"type":"response.created","response":{"id":"resp_1","model":"quill"}}"#,
            r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning","id":"rs_a","summary":[]}}"#,
            r#"{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":0,"delta":"one"}"#,
            r#"{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":1,"delta":"two"}"#,
            r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"rs_a","encrypted_content":"gA=","summary":[]}}"#,
            r#"{"type":"response.output_item.done","output_index":1,"item":{"type":"web_search_call","id":"ws_a","status":"completed","action":{"type":"search"}}}"#,
            r#"{"type":"response.web_search_call.completed","output_index":1,"item_id":"ws_a"}"#,
            r#"{"type":"response.output_item.added","output_index":2,"item":{"type":"message","id":"msg_a","phase":"commentary","content":[]}}"#,
            r#"{"type":"response.output_text.delta","output_index":2,"content_index":0,"delta":"first"}"#,
            r#"{"type":"response.output_text.annotation.added","output_index":2,"content_index":0,"annotation":{"type":"url_citation","url":"u"}}"#,
            r#"{"type":"response.content_part.done","output_index":2,"content_index":0,"part":{"type":"output_text","text":"first"}}"#,
            r#"{"type":"response.output_text.delta","output_index":2,"content_index":1,"delta":"second"}"#,
            r#"{"type":"response.output_item.done","output_index":2,"item":{"type":"message","id":"msg_a","content":[]}}"#,
            r#"{"type":"response.output_item.added","output_index":3,"item":{"id":"ct_a","type":"custom_tool_call","call_id":"call_1","name":"sql","input":"","namespace":"db"}}"#,
            r#"{"type":"response.custom_tool_call_input.delta","output_index":3,"delta":"SELECT"}"#,
            r#"{"type":"response.output_item.done","output_index":3,"item":{"id":"ct_a","type":"custom_tool_call","call_id":"call_1","name":"sql","input":"SELECT"}}"#,
            r#"{"type":"response.output_item.added","output_index":4,"item":{"type":"message","id":"msg_b","content":[]}}"#,
            r#"{"type":"response.incomplete","response":{"id":"resp_1","status":"incomplete","incomplete_details":{"reason":"max_tokens"},"usage":{"input_tokens":9,"output_tokens":3}}}"#,
        ]),
    );
    // The items have their own ids from their first event on, as the client's helper demands.
    for id in ["rs_a", "ws_a", "msg_a", "ct_a", "msg_b"] {
        let added = payloads(&said)
            .into_iter()
            .filter(|payload| payload.contains("response.output_item.added"))
            .filter(|payload| payload.contains(&format!("\"id\":\"{id}\"")));
        assert_eq!(added.count(), 1, "{said}");
    }
    // Two parts of one message, with its annotation in the done forms too.
    assert!(
        said.contains("\"content_index\":1,\"delta\":\"second\""),
        "{said}"
    );
    assert_eq!(
        said.matches("{\"type\":\"url_citation\",\"url\":\"u\"}")
            .count(),
        4,
        "{said}"
    );
    assert!(
        said.contains("\"incomplete_details\":{\"reason\":\"max_tokens\"}"),
        "{said}"
    );
}

#[test]
fn a_refusal_of_responses_is_one_again() {
    let said = comes_back(
        Dialect::OpenAiResponses,
        &stream(&[
            r#"{"type":"response.created","response":{"id":"resp_1","model":"quill"}}"#,
            r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"msg_a"}}"#,
            r#"{"type":"response.refusal.delta","output_index":0,"content_index":0,"delta":"No."}"#,
            r#"{"type":"response.completed","response":{"id":"resp_1","status":"completed","output":[]}}"#,
        ]),
    );
    assert!(
        said.contains("\"content\":[{\"type\":\"refusal\",\"refusal\":\"No.\"}]"),
        "{said}"
    );
}

#[test]
fn a_turn_of_gemini_comes_back_whole() {
    let said = comes_back(
        Dialect::Gemini,
        &stream(&[
            r#"{"candidates":[{"content":{"parts":[{"text":"hm","thought":true},{"text":"","thoughtSignature":"c2ln"}]}}],"responseId":"r1","modelVersion":"plover"}"#,
            r#"{"candidates":[{"content":{"parts":[{"text":"a","thoughtSignature":"dGV4dA=="}]}}]}"#,
            r#"{"candidates":[{"content":{"parts":[{"executableCode":{"language":"PYTHON","code":"1"}},{"inlineData":{"mimeType":"image/png","data":"AA=="},"thoughtSignature":"aW1n"}]}}]}"#,
            r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"get","args":{"a": 1}},"thoughtSignature":"Y2FsbA=="},{"functionCall":{"name":"go","id":"c2"}}]}}]}"#,
            r#"{"candidates":[{"content":{"parts":[]},"groundingMetadata":{"q":["x"]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":2,"thoughtsTokenCount":1}}"#,
        ]),
    );
    for raw in [
        r#"{"executableCode":{"language":"PYTHON","code":"1"}}"#,
        r#"{"inlineData":{"mimeType":"image/png","data":"AA=="},"thoughtSignature":"aW1n"}"#,
        r#""groundingMetadata":{"q":["x"]}"#,
    ] {
        assert!(said.contains(raw), "{said}");
    }
}

#[test]
fn a_blocked_prompt_of_gemini_is_one_again() {
    let said = comes_back(
        Dialect::Gemini,
        &stream(&[r#"{"promptFeedback":{"blockReason":"BLOCKLIST"},"responseId":"r1"}"#]),
    );
    let wanted = "{\"promptFeedback\":{\"blockReason\":\"BLOCKLIST\"},\"responseId\":\"r1\"}";
    assert_eq!(payloads(&said), [wanted]);
}

#[test]
fn a_call_that_gemini_cannot_say_is_left_out_and_ends_the_turn_as_malformed() {
    for broken in ["{\"a\":", "[1]", "nothing", "\"x\"", "{\"a\":NaN}"] {
        let turn = [
            START,
            call(0, "call_1"),
            arguments(0, "{}"),
            closed(0),
            call(1, "call_2"),
            arguments(1, broken),
            closed(1),
            stop(StopReason::ToolUse),
        ];
        let (said, notes) = say(Dialect::Gemini, Some(Dialect::OpenAiChat), &turn);
        assert_eq!(
            notes,
            [NoteCode::ContentUnsupported, NoteCode::ReasonMapped]
        );
        assert!(
            said.contains("call_1") && !said.contains("call_2"),
            "{said}"
        );
        assert!(
            said.contains("\"finishReason\":\"MALFORMED_FUNCTION_CALL\""),
            "{said}"
        );
    }
    // Blank arguments are none.
    for blank in ["", " ", "\r\n"] {
        let piece = arguments(0, if blank.is_empty() { " " } else { blank });
        let turn = [
            START,
            call(0, "c"),
            piece,
            closed(0),
            stop(StopReason::ToolUse),
        ];
        let (said, notes) = say(Dialect::Gemini, Some(Dialect::OpenAiChat), &turn);
        assert_eq!(notes, []);
        assert!(
            said.contains("{\"functionCall\":{\"name\":\"get\",\"id\":\"c\"}}"),
            "{said}"
        );
    }
}

#[test]
fn a_turn_that_is_cut_has_no_end_and_loses_nothing_that_can_be_said() {
    let turn = [
        START,
        thinking(0, "hm"),
        text(1, "said beside it"),
        call(2, "call_1"),
        arguments(2, "{"),
    ];
    for dialect in [Dialect::OpenAiResponses, Dialect::Gemini] {
        for source in [None, Some(Dialect::Anthropic)] {
            let (said, notes) = say(dialect, source, &turn);
            let decoder = read(dialect, &said);
            let failure = decoder.failure().expect("a cut stream");
            assert_eq!(failure.kind, turntape_core::error::FailureKind::Truncated);
            assert!(
                said.contains("\"hm\"") && said.contains("\"said beside it\""),
                "{said}"
            );
            let lost = [NoteCode::ContentUnsupported];
            let is_gemini = dialect == Dialect::Gemini;
            assert_eq!(notes, if is_gemini { &lost[..] } else { &[] });
        }
    }
}

#[test]
fn what_would_read_back_as_something_else_is_not_said() {
    let extension = |index, kind, json| Event::Extension { index, kind, json };
    let cases = [
        // An item, a part, an event of another type than it says, or of one that means something.
        (
            Dialect::OpenAiResponses,
            extension(Some(0), "a", "{\"type\":\"b\"}"),
        ),
        (
            Dialect::OpenAiResponses,
            extension(Some(0), "message", "{\"type\":\"message\"}"),
        ),
        (Dialect::OpenAiResponses, extension(Some(0), "", "{}")),
        (Dialect::OpenAiResponses, extension(None, "a", "[]")),
        (
            Dialect::OpenAiResponses,
            extension(
                None,
                "response.completed",
                "{\"type\":\"response.completed\"}",
            ),
        ),
        (
            Dialect::OpenAiResponses,
            extension(
                None,
                "response.x",
                "{\"type\":\"response.x\",\"error\":\"no\"}",
            ),
        ),
        (Dialect::Gemini, extension(Some(0), "a", "{\"b\":1}")),
        (
            Dialect::Gemini,
            extension(Some(0), "a", "{\"a\":1,\"text\":\"t\"}"),
        ),
        (
            Dialect::Gemini,
            extension(Some(0), "a", "{\"a\":1,\"functionCall\":{}}"),
        ),
        (Dialect::Gemini, extension(None, "", "{\"candidates\":[]}")),
        (Dialect::Gemini, extension(None, "", "{\"error\":\"no\"}")),
        (Dialect::Gemini, extension(None, "safetyRatings", "[]")),
    ];
    for (dialect, event) in cases {
        let mut turn = vec![START, event];
        if matches!(event, Event::Extension { index: Some(_), .. }) {
            turn.push(closed(0));
        }
        turn.push(stop(StopReason::EndTurn));
        let (said, notes) = say(dialect, None, &turn);
        assert_eq!(notes, [NoteCode::ContentUnsupported], "{said}");
        let kinds: Vec<_> = events_of(&said, dialect)
            .iter()
            .filter(|event| matches!(event, Event::Extension { .. }))
            .map(|event| format!("{event:?}"))
            .collect();
        assert_eq!(kinds, Vec::<String>::new(), "{said}");
        let (body, notes) = response(dialect, Settings::default(), turn).expect("a whole turn");
        let codes: Vec<NoteCode> = notes.iter().map(|note| note.code).collect();
        assert_eq!(codes, [NoteCode::ContentUnsupported]);
        let parsed = StreamDecoder::parse_response(dialect, Options::default(), &body);
        assert_eq!(parsed.failure, None);
        assert_eq!(parsed.message.content, []);
    }
}
