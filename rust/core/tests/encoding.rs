//! Laws of the encoders: what they write, the decoders read back.

#[path = "support/speech.rs"]
mod speech;

use proptest::prelude::*;
use turntape_core::Dialect;
use turntape_core::assemble::{Block, Builder, Message};
use turntape_core::decoder::{Options, StreamDecoder};
use turntape_core::encode::{EncodeError, NoteCode, Settings, StreamEncoder, response};
use turntape_core::error::{ErrorDocument, FailureKind};
use turntape_core::event::{Event, EventLog, StopReason, Terminal};
use turntape_core::usage::Usage;

/// The dialects that are spoken.
const SPOKEN: [Dialect; 4] = [
    Dialect::Anthropic,
    Dialect::OpenAiChat,
    Dialect::OpenAiResponses,
    Dialect::Gemini,
];

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

/// What a generated turn consists of.
#[derive(Debug, Clone)]
enum Plan {
    Text(Vec<String>),
    Thinking(Vec<String>),
    Tool(String, Vec<String>),
}

fn plan() -> impl Strategy<Value = Plan> {
    let pieces = || prop::collection::vec("[a-z\"\\\\ \n\u{7f}é\u{1F600}]{1,8}", 1..4);
    let arguments = prop::collection::vec("[a-z\"{}:, 0-9]{1,6}", 0..4);
    prop_oneof![
        pieces().prop_map(Plan::Text),
        pieces().prop_map(Plan::Thinking),
        ("[a-z_]{1,6}", arguments).prop_map(|(name, pieces)| Plan::Tool(name, pieces)),
    ]
}

/// The events of a turn whose blocks open in order and mix as `picks` says.
fn events_of(
    plans: &[Plan],
    picks: &[usize],
    reason: StopReason,
    usage: Option<Usage>,
) -> EventLog {
    let mut log = log(&[Event::MessageStart {
        id: Some("msg_9"),
        model: Some("model"),
    }]);
    let mut steps: Vec<Vec<EventLog>> = Vec::new();
    for (index, plan) in plans.iter().enumerate() {
        let one = |event: Event<'_>| self::log(&[event]);
        let mut block = Vec::new();
        match plan {
            Plan::Text(pieces) => block.extend(
                pieces
                    .iter()
                    .map(|text| one(Event::TextDelta { index, text })),
            ),
            Plan::Thinking(pieces) => block.extend(
                pieces
                    .iter()
                    .map(|text| one(Event::ThinkingDelta { index, text })),
            ),
            Plan::Tool(name, pieces) => {
                let id = format!("call_{index}");
                block.push(one(Event::ToolUseStart {
                    index,
                    id: &id,
                    name,
                    extra: None,
                }));
                block.extend(pieces.iter().map(|partial_json| {
                    one(Event::InputJsonDelta {
                        index,
                        partial_json,
                    })
                }));
            }
        }
        block.push(one(Event::ContentBlockStop { index }));
        block.reverse();
        steps.push(block);
    }
    // Blocks open in order; which of the open ones goes on is picked.
    let mut opened = 0;
    let mut picks = picks.iter().cycle();
    while steps.iter().any(|block| !block.is_empty()) {
        let pick = picks.next().copied().unwrap_or(0);
        let ready: Vec<usize> = (0..steps.len())
            .filter(|&at| !steps[at].is_empty() && at <= opened)
            .collect();
        let at = ready[pick % ready.len()];
        if at == opened {
            opened += 1;
        }
        let Some(event) = steps[at].pop() else {
            continue;
        };
        for event in event.iter() {
            log.push(event);
        }
    }
    if let Some(usage) = usage {
        log.push(Event::Usage(usage));
    }
    log.push(Event::MessageStop {
        stop_reason: reason,
        raw_reason: None,
        terminal: Terminal::MessageStop,
    });
    log
}

fn message_of(events: &EventLog) -> Message {
    let mut builder = Builder::default();
    for event in events.iter() {
        builder.apply(event).expect("events in order");
    }
    builder.into_message(None)
}

/// The content as it reads where neighbours of one kind have no border.
fn without_borders(content: &[Block]) -> Vec<(char, String)> {
    let mut all: Vec<(char, String)> = Vec::new();
    for block in content {
        let (kind, said) = match block {
            Block::Text { text, .. } => ('t', text.clone()),
            Block::Thinking { text, .. } => ('h', text.clone()),
            Block::ToolUse {
                name, arguments, ..
            } => ('c', format!("{name}({arguments})")),
            other => panic!("a block that was not generated: {other:?}"),
        };
        match all.last_mut() {
            Some((last, before)) if *last == kind && kind != 'c' => before.push_str(&said),
            _ => all.push((kind, said)),
        }
    }
    all
}

/// The content with each block by itself.
fn apart(content: &[Block]) -> Vec<(char, String)> {
    content
        .iter()
        .flat_map(|block| without_borders(std::slice::from_ref(block)))
        .collect()
}

/// The same calls with arguments that every wire can say.
fn with_objects(plans: &[Plan]) -> Vec<Plan> {
    let object = |plan: &Plan| match plan {
        Plan::Tool(name, pieces) => {
            let pieces = ["{\"a\":".to_owned(), format!("{}}}", pieces.len())];
            Plan::Tool(name.clone(), pieces.to_vec())
        }
        other => other.clone(),
    };
    plans.iter().map(object).collect()
}

/// The tokens as a dialect counts them.
fn counted(dialect: Dialect, usage: Usage) -> Usage {
    match dialect {
        Dialect::Anthropic => usage,
        Dialect::OpenAiChat => Usage {
            cache_write_1h_tokens: 0,
            ..usage
        },
        _ => Usage {
            input_tokens: usage.input_tokens + usage.cache_write_tokens,
            cache_write_tokens: 0,
            cache_write_1h_tokens: 0,
            ..usage
        },
    }
}

fn tokens() -> impl Strategy<Value = Option<Usage>> {
    let counter = || 0_u64..1 << 40;
    prop::option::of(
        (
            counter(),
            counter(),
            counter(),
            counter(),
            0_u64..9,
            0_u64..9,
        )
            .prop_map(|(input, output, read, write, hour, reasoning)| Usage {
                input_tokens: input + 1,
                output_tokens: output + 10,
                cache_read_tokens: read,
                cache_write_tokens: write + 10,
                cache_write_1h_tokens: hour,
                reasoning_tokens: reasoning,
            }),
    )
}

proptest! {
    #[test]
    fn what_is_written_reads_back(
        plans in prop::collection::vec(plan(), 1..7),
        picks in prop::collection::vec(0_usize..5, 1..12),
        cut in any::<bool>(),
        usage in tokens(),
    ) {
        let calls = plans.iter().any(|plan| matches!(plan, Plan::Tool(..)));
        let reason = match (cut, calls) {
            (true, _) => StopReason::MaxTokens,
            (false, true) => StopReason::ToolUse,
            (false, false) => StopReason::EndTurn,
        };
        for dialect in SPOKEN {
            let plans = if dialect == Dialect::Gemini { with_objects(&plans) } else { plans.clone() };
            let events = events_of(&plans, &picks, reason, usage);
            let wanted = message_of(&events);
            for source in [None, Some(Dialect::Gemini)] {
                let settings = Settings { source, ..Settings::default() };
                let body = encode(dialect, settings, &events);
                let decoder = decode(dialect, &body);
                prop_assert_eq!(decoder.failure(), None, "{}", body);
                let got = decoder.snapshot();
                prop_assert!(got.complete);
                prop_assert_eq!(got.stop_reason, wanted.stop_reason, "{}", body);
                match dialect {
                    Dialect::OpenAiChat | Dialect::Gemini => prop_assert_eq!(
                        without_borders(&got.content),
                        without_borders(&wanted.content),
                        "{}", body
                    ),
                    // Its items have ids, which the events had not.
                    Dialect::OpenAiResponses => {
                        prop_assert_eq!(apart(&got.content), apart(&wanted.content), "{}", body);
                    }
                    _ => prop_assert_eq!(&got.content, &wanted.content, "{}", body),
                }
                if let Some(usage) = usage {
                    prop_assert_eq!(got.usage, Some(counted(dialect, usage)));
                }
            }
        }
    }

    #[test]
    fn a_body_that_is_not_streamed_reads_back(
        plans in prop::collection::vec(plan(), 1..7),
        usage in tokens(),
    ) {
        let calls = plans.iter().any(|plan| matches!(plan, Plan::Tool(..)));
        let reason = if calls { StopReason::ToolUse } else { StopReason::EndTurn };
        for dialect in SPOKEN {
            let plans = if dialect == Dialect::Gemini { with_objects(&plans) } else { plans.clone() };
            let events = events_of(&plans, &[0], reason, usage);
            let wanted = message_of(&events);
            let (body, _) = response(dialect, Settings::default(), events.iter()).expect("a whole turn");
            let whole = StreamDecoder::parse_response(dialect, Options::default(), &body);
            prop_assert_eq!(&whole.failure, &None, "{}", String::from_utf8_lossy(&body));
            let got = whole.message;
            prop_assert_eq!(got.stop_reason, wanted.stop_reason);
            let sorted = |content: &[Block]| {
                let mut all = without_borders(content);
                if dialect == Dialect::OpenAiChat {
                    let place = |kind: char| "htc".find(kind);
                    all.sort_by_key(|(kind, _)| place(*kind));
                }
                all
            };
            // One place for each kind of content, one string for each but the calls.
            let joined = |content: Vec<(char, String)>| {
                let mut all: Vec<(char, String)> = Vec::new();
                for (kind, said) in content {
                    match all.last_mut() {
                        Some((last, before)) if *last == kind && kind != 'c' => before.push_str(&said),
                        _ => all.push((kind, said)),
                    }
                }
                all
            };
            // Arguments that are no object cannot stand where an object is wanted.
            let objects = |content: Vec<(char, String)>| -> Vec<(char, String)> {
                content
                    .into_iter()
                    .map(|(kind, said)| match kind {
                        'c' if dialect == Dialect::Anthropic => (kind, said.split('(').next().unwrap_or_default().to_owned()),
                        _ => (kind, said),
                    })
                    .collect()
            };
            prop_assert_eq!(
                objects(joined(sorted(&got.content))),
                objects(joined(sorted(&wanted.content)))
            );
        }
    }

    #[test]
    fn any_events_are_refused_or_read_back(input in prop::collection::vec(any::<u8>(), 0..200)) {
        speech::check(&input);
    }

    /// The same with events that fit more often.
    #[test]
    fn events_that_nearly_fit_are_refused_or_read_back(
        steps in prop::collection::vec((0_u8..14, 0_u8..3, any::<u8>(), "[a-z{}\"]{0,4}"), 0..24),
    ) {
        let mut input = vec![0, 0, 1, b'r'];
        for (what, index, choice, said) in steps {
            let length = u8::try_from(said.len()).unwrap_or(0);
            input.extend([what, index, choice / 16 * 16 + length]);
            input.extend(said.bytes());
        }
        speech::check(&input);
    }

    #[test]
    fn a_cut_turn_has_no_end(
        plans in prop::collection::vec(plan(), 1..5),
        picks in prop::collection::vec(0_usize..5, 1..12),
        keep in 1_usize..20,
    ) {
        let events = events_of(&plans, &picks, StopReason::MaxTokens, None);
        let mut part = EventLog::default();
        for event in events.iter().take(keep.min(events.len() - 1)) {
            part.push(event);
        }
        for dialect in SPOKEN {
            let body = encode(dialect, Settings::default(), &part);
            let decoder = decode(dialect, &body);
            prop_assert!(matches!(
                decoder.failure().map(|failure| &failure.kind),
                Some(FailureKind::Truncated)
            ), "{}", body);
            let (got, wanted) = (decoder.snapshot(), message_of(&part));
            // Gemini says no call before its end.
            let said = |content: &[Block]| {
                let is_said = |block: &Block| {
                    dialect != Dialect::Gemini || !matches!(block, Block::ToolUse { .. })
                };
                let said: Vec<Block> = content.iter().filter(|block| is_said(block)).cloned().collect();
                without_borders(&said)
            };
            prop_assert_eq!(said(&got.content), said(&wanted.content), "{}", body);
        }
    }
}

fn feed(encoder: &mut StreamEncoder, events: &[Event<'_>]) -> Result<Vec<u8>, EncodeError> {
    let mut out = Vec::new();
    for event in events {
        encoder.feed(*event, &mut out)?;
    }
    Ok(out)
}

const START: Event<'_> = Event::MessageStart {
    id: Some("m"),
    model: Some("x"),
};
const STOP: Event<'_> = Event::MessageStop {
    stop_reason: StopReason::EndTurn,
    raw_reason: None,
    terminal: Terminal::MessageStop,
};
const SAID: Event<'_> = Event::TextDelta {
    index: 0,
    text: "hi",
};
const CLOSED: Event<'_> = Event::ContentBlockStop { index: 0 };

#[test]
fn events_out_of_order_are_refused_and_change_nothing() {
    let misplaced = |error: &EncodeError| matches!(error, EncodeError::Misplaced { .. });
    let cases: [(&[Event<'_>], Event<'_>); 8] = [
        (&[START], START),
        (&[START, STOP], SAID),
        (&[START, SAID], STOP),
        (&[START, SAID, CLOSED], SAID),
        (&[START], CLOSED),
        (
            &[START],
            Event::TextDelta {
                index: 1,
                text: "x",
            },
        ),
        (
            &[START, SAID],
            Event::ThinkingDelta {
                index: 0,
                text: "x",
            },
        ),
        (
            &[START],
            Event::InputJsonDelta {
                index: 0,
                partial_json: "{",
            },
        ),
    ];
    for dialect in SPOKEN {
        for (before, event) in cases {
            let mut encoder = StreamEncoder::new(dialect, Settings::default()).expect("spoken");
            feed(&mut encoder, before).expect("in order");
            let mut out = Vec::new();
            let error = encoder.feed(event, &mut out).expect_err("out of order");
            assert_eq!(out, []);
            match event {
                Event::MessageStart { .. } => assert_eq!(error, EncodeError::SecondStart),
                Event::MessageStop { .. } => assert_eq!(error, EncodeError::StillOpen(0)),
                _ if encoder.is_terminal() => assert_eq!(error, EncodeError::AfterStop),
                _ => assert!(misplaced(&error), "{error}"),
            }
        }
        let mut encoder = StreamEncoder::new(dialect, Settings::default()).expect("spoken");
        encoder.finish(&mut Vec::new());
        assert_eq!(feed(&mut encoder, &[START]), Err(EncodeError::AfterEnd));
    }
}

#[test]
fn a_text_that_begins_with_its_signature_is_a_text_in_a_body() {
    let events = log(&[
        Event::TextDelta { index: 0, text: "" },
        Event::SignatureDelta {
            index: 0,
            signature: "sig",
        },
        Event::TextDelta {
            index: 0,
            text: "Hi",
        },
        Event::ContentBlockStop { index: 0 },
        Event::MessageStop {
            stop_reason: StopReason::EndTurn,
            raw_reason: None,
            terminal: Terminal::FinishReason,
        },
    ]);
    let (body, _) = response(Dialect::Gemini, Settings::default(), events.iter()).expect("a turn");
    let body = String::from_utf8(body).expect("JSON");
    assert!(
        body.contains(r#"{"text":"Hi","thoughtSignature":"sig"}"#),
        "{body}"
    );
}

#[test]
fn what_has_to_be_json_is_checked() {
    for json in ["", "{", "[1,]", "nope"] {
        let mut encoder =
            StreamEncoder::new(Dialect::Anthropic, Settings::default()).expect("spoken");
        feed(&mut encoder, &[START]).expect("in order");
        let extension = Event::Extension {
            index: Some(0),
            kind: "web",
            json,
        };
        for event in [extension, Event::Citation { index: 0, json }] {
            let error = feed(&mut encoder, &[event]).expect_err("no JSON");
            assert!(matches!(error, EncodeError::NotJson { .. }), "{error}");
        }
    }
}

#[test]
fn a_fault_is_told_in_the_form_of_the_wire() {
    for dialect in SPOKEN {
        let mut encoder = StreamEncoder::new(dialect, Settings::default()).expect("spoken");
        let mut out = feed(&mut encoder, &[START, SAID]).expect("in order");
        let fault = ErrorDocument::named("overloaded_error", "too much");
        encoder.fail(&fault, &mut out).expect("a turn that goes on");
        assert_eq!(encoder.fail(&fault, &mut out), Err(EncodeError::AfterEnd));
        let decoder = decode(dialect, &String::from_utf8_lossy(&out));
        let failure = decoder.failure().expect("a fault");
        let FailureKind::Provider(told) = &failure.kind else {
            panic!("another failure: {failure:?}")
        };
        assert_eq!(told.kind, "overloaded_error");
        assert!(told.retryable);
        assert!(!told.before_content);
        assert_eq!(failure.message, "too much");
    }
}

#[test]
fn what_is_of_another_wire_is_left_out_and_noted() {
    let events = turn();
    let settings = Settings {
        source: Some(Dialect::BedrockConverse),
        ..Settings::default()
    };
    let mut encoder = StreamEncoder::new(Dialect::Anthropic, settings).expect("spoken");
    let mut out = Vec::new();
    for event in events.iter() {
        encoder.feed(event, &mut out).expect("in order");
    }
    let codes: Vec<NoteCode> = encoder.notes().iter().map(|note| note.code).collect();
    assert_eq!(codes, [NoteCode::SignatureDropped]);
    assert!(!String::from_utf8_lossy(&out).contains("c2ln"));
}

#[test]
fn bedrock_is_not_spoken() {
    let error =
        StreamEncoder::new(Dialect::BedrockConverse, Settings::default()).expect_err("read only");
    assert_eq!(error, EncodeError::Unsayable(Dialect::BedrockConverse));
    assert_eq!(
        error.to_string(),
        "bedrock-converse is read but not written"
    );
}
