//! Any bytes as the events of a turn, in an order or in none, and what the encoders have to hold to whatever
//! they are. The fuzz target uses it as well.

use turntape_core::Dialect;
use turntape_core::assemble::{Block, Builder, Message};
use turntape_core::decoder::{Options, StreamDecoder};
use turntape_core::encode::{ResponseEncoder, Settings, StreamEncoder};
use turntape_core::event::{Event, EventLog, StopReason, Terminal};
use turntape_core::usage::Usage;

/// The dialects that are spoken.
const SPOKEN: [Dialect; 4] = [
    Dialect::Anthropic,
    Dialect::OpenAiChat,
    Dialect::OpenAiResponses,
    Dialect::Gemini,
];

/// Kinds of extensions, some of which pass for something else, and signatures and JSON of the wires' own.
const KINDS: [&str; 12] = [
    "text",
    "function",
    "image_url",
    "logprobs",
    "reasoning_field",
    "stop_sequence",
    "message_stop",
    "web_search_call",
    "inlineData",
    "groundingMetadata",
    "item_id",
    "error",
];
const JSON: [&str; 10] = [
    "{\"type\":\"text\",\"text\":\"x\"}",
    "{\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}",
    "{\"type\":\"image_url\",\"image_url\":{\"url\":\"u\"}}",
    "\"reasoning_details\"",
    "{\"type\":\"reasoning.text\",\"text\":\"x\",\"signature\":\"s\"}",
    "{\"type\":\"web_search_call\",\"id\":\"ws\",\"status\":\"completed\"}",
    "{\"inlineData\":{\"mimeType\":\"image/png\",\"data\":\"AA==\"}}",
    "{\"encrypted_content\":\"e\",\"id\":\"rs\"}",
    "{\"type\":\"error\",\"error\":{\"message\":\"no\"}}",
    "[1,\n{\"a\":null}]",
];

/// Reads events off the input, a few bytes each.
pub(crate) fn events(mut input: &[u8]) -> EventLog {
    let mut log = EventLog::default();
    while let [what, index, choice, rest @ ..] = input {
        let length = usize::from(choice % 16).min(rest.len());
        let said = String::from_utf8_lossy(&rest[..length]);
        let said: &str = &said;
        input = &rest[length..];
        let index = usize::from(index % 5);
        let kind = KINDS[usize::from(*choice) % KINDS.len()];
        // Mostly well-known JSON, now and then what the input holds.
        let json = match usize::from(choice / 16) {
            at @ 0..10 => JSON[at],
            _ => said,
        };
        let optional = |text| (choice % 3 > 0).then_some(text);
        log.push(match what % 14 {
            0 => Event::MessageStart {
                id: optional(said),
                model: optional("model"),
            },
            1 | 2 => Event::TextDelta { index, text: said },
            3 => Event::ThinkingDelta { index, text: said },
            4 => Event::SignatureDelta {
                index,
                signature: json,
            },
            5 => Event::RedactedThinking { index, data: said },
            6 => Event::ToolUseStart {
                index,
                id: said,
                name: "tool",
                extra: optional(json),
            },
            7 | 8 => Event::InputJsonDelta {
                index,
                partial_json: said,
            },
            9 => Event::Citation { index, json },
            10 => Event::Extension {
                index: (choice % 2 > 0).then_some(index),
                kind,
                json,
            },
            11 => Event::ContentBlockStop { index },
            12 => Event::Usage(Usage {
                input_tokens: u64::from(*choice),
                cache_read_tokens: u64::MAX,
                ..Usage::default()
            }),
            _ => Event::MessageStop {
                stop_reason: StopReason::ALL[usize::from(*choice) % StopReason::ALL.len()],
                raw_reason: optional(said),
                terminal: Terminal::MessageStop,
            },
        });
    }
    log
}

/// What a message says and thinks.
fn said(message: &Message) -> [String; 2] {
    let mut all = [String::new(), String::new()];
    for block in &message.content {
        match block {
            Block::Text { text, .. } => all[0].push_str(text),
            Block::Thinking { text, .. } => all[1].push_str(text),
            _ => {}
        }
    }
    all
}

/// Says the events in every dialect: what is refused changes nothing, and what is not reads back.
pub(crate) fn check(input: &[u8]) {
    let log = events(input);
    for dialect in SPOKEN {
        for source in [None, Some(Dialect::BedrockConverse)] {
            check_one(dialect, source, &log);
        }
    }
}

fn check_one(dialect: Dialect, source: Option<Dialect>, log: &EventLog) {
    let settings = Settings {
        source,
        ..Settings::default()
    };
    let mut encoder = StreamEncoder::new(dialect, settings.clone()).expect("a spoken dialect");
    let mut whole = ResponseEncoder::new(dialect, settings).expect("a spoken dialect");
    let mut builder = Builder::default();
    let mut out = Vec::new();
    for event in log.iter() {
        let length = out.len();
        let taken = encoder.feed(event, &mut out);
        assert_eq!(whole.feed(event), taken, "bodies and streams take the same");
        match taken {
            Ok(()) => builder.apply(event).expect("an event in order"),
            Err(error) => assert_eq!(out.len(), length, "{error} left something behind"),
        }
    }
    let stopped = encoder.is_terminal();
    encoder.finish(&mut out);
    let text = std::str::from_utf8(&out).expect("UTF-8");
    let mut decoder = StreamDecoder::new(dialect, Options::default());
    decoder.feed(&out);
    decoder.finish();
    assert_eq!(
        decoder.is_terminal(),
        stopped,
        "{dialect:?} {source:?}\n{text}"
    );
    assert_eq!(
        decoder.failure().is_none(),
        stopped,
        "{:?}\n{text}",
        decoder.failure()
    );
    let wanted = builder.into_message(None);
    assert_eq!(
        said(&decoder.snapshot()),
        said(&wanted),
        "{dialect:?} {source:?}\n{text}"
    );
    let mut body = Vec::new();
    match whole.finish(&mut body) {
        Ok(_) => {
            let read = StreamDecoder::parse_response(dialect, Options::default(), &body);
            let text = String::from_utf8_lossy(&body);
            assert_eq!(read.failure, None, "{dialect:?} {source:?}\n{text}");
            assert_eq!(
                said(&read.message),
                said(&wanted),
                "{dialect:?} {source:?}\n{text}"
            );
        }
        Err(_) => assert!(!stopped),
    }
}
