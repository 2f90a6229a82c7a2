//! Laws of the encoders: what they write, the decoders read back.

use turntape_core::Dialect;
use turntape_core::decoder::{Options, StreamDecoder};
use turntape_core::encode::{Settings, StreamEncoder, response};
use turntape_core::event::{Event, EventLog, StopReason, Terminal};
use turntape_core::usage::Usage;

fn log(events: &[Event<'_>]) -> EventLog {
    let mut log = EventLog::default();
    for event in events {
        log.push(*event);
    }
    log
}

fn encode(dialect: Dialect, settings: Settings, events: &EventLog) -> String {
    let mut encoder = StreamEncoder::new(dialect, settings).expect("a dialect that is spoken");
    let mut out = Vec::new();
    for event in events.iter() {
        encoder.feed(event, &mut out).expect("events in order");
    }
    encoder.finish(&mut out);
    String::from_utf8(out).expect("UTF-8")
}

fn decode(dialect: Dialect, body: &str) -> StreamDecoder {
    let mut decoder = StreamDecoder::new(dialect, Options::default());
    decoder.feed(body.as_bytes());
    decoder.finish();
    decoder
}

fn turn() -> EventLog {
    log(&[
        Event::MessageStart {
            id: Some("msg_1"),
            model: Some("claude"),
        },
        Event::ThinkingDelta {
            index: 0,
            text: "hm",
        },
        Event::SignatureDelta {
            index: 0,
            signature: "c2ln",
        },
        Event::ContentBlockStop { index: 0 },
        Event::TextDelta {
            index: 1,
            text: "a \"quoted\"\nline",
        },
        Event::TextDelta {
            index: 1,
            text: "more",
        },
        Event::ContentBlockStop { index: 1 },
        Event::ToolUseStart {
            index: 2,
            id: "toolu_1",
            name: "get",
            extra: None,
        },
        Event::InputJsonDelta {
            index: 2,
            partial_json: "{\"a\": ",
        },
        Event::InputJsonDelta {
            index: 2,
            partial_json: "1}",
        },
        Event::ContentBlockStop { index: 2 },
        Event::Usage(Usage {
            input_tokens: 5,
            output_tokens: 7,
            cache_read_tokens: 1,
            cache_write_tokens: 9,
            cache_write_1h_tokens: 4,
            reasoning_tokens: 2,
        }),
        Event::MessageStop {
            stop_reason: StopReason::ToolUse,
            raw_reason: Some("tool_use"),
            terminal: Terminal::MessageStop,
        },
    ])
}

#[test]
fn a_turn_comes_back_from_its_own_wire() {
    let events = turn();
    let body = encode(Dialect::Anthropic, Settings::default(), &events);
    let decoder = decode(Dialect::Anthropic, &body);
    assert_eq!(decoder.failure(), None, "{body}");
    assert_eq!(
        decoder.events().iter().collect::<Vec<_>>(),
        events.iter().collect::<Vec<_>>(),
        "{body}"
    );
    assert_eq!(decoder.warnings(), []);
}

#[test]
fn a_body_that_is_not_streamed_tells_the_same() {
    let events = turn();
    let (body, notes) = response(Dialect::Anthropic, Settings::default(), events.iter())
        .expect("a turn that has stopped");
    assert_eq!(notes, []);
    let whole = StreamDecoder::parse_response(Dialect::Anthropic, Options::default(), &body);
    let streamed = decode(
        Dialect::Anthropic,
        &encode(Dialect::Anthropic, Settings::default(), &events),
    );
    assert_eq!(whole.failure, None);
    assert_eq!(whole.message, streamed.snapshot());
}
