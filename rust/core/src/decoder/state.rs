//! What a decoder knows of its turn, and how payloads, whatever framed them, change it.

use std::borrow::Cow;
use std::ops::ControlFlow;

use super::{Decoded, Options};
use crate::assemble::{Builder, Message};
use crate::aws_event_stream::{self, FrameError};
use crate::error::{ErrorDocument, Failure, FailureKind};
use crate::event::{Event, EventLog, WarningCode};
use crate::index::Index;
use crate::json::{JsonError, MAX_PAYLOAD_DEPTH, Raw, Str, trim};
use crate::json_array::{self, ArrayError};
use crate::sse::{EndOfInput, FOREIGN_LIMIT, Frame, Handler, Item};
use crate::usage::Usage;
use crate::wire::template::{self, Template};
use crate::wire::turn::{Field, Turn, TurnOptions};
use crate::wire::{Dialect, Payload, Wire};

#[derive(Debug)]
pub(super) struct State {
    wire: Box<dyn Wire>,
    pub(super) turn: Turn,
    template: Template,
    run: Run,
    index: Index,
    pub(super) builder: Builder,
    pub(super) eof: EndOfInput,
    max_event_bytes: Option<usize>,
    strict: bool,
    /// Whether the caller wants the events, not only the message.
    pub(super) keeps_events: bool,
    /// Events in the log that the builder has taken.
    applied: usize,
    pub(super) failure: Option<Failure>,
    /// The framing has failed: there is nothing more to read, though after the stop that is no failure.
    pub(super) deaf: bool,
    frames: u64,
    /// The last usage report that a template took, not read yet: only the last one counts.
    pending_usage: Vec<u8>,
    /// Text that is no SSE, as long as no event came: it may be one error document.
    foreign: String,
}

/// Deltas of one block that came one after the other.
#[derive(Debug, Default)]
struct Run {
    /// What they say.
    said: Vec<u8>,
    /// Where in it each ends, if the caller wants the events.
    ends: Vec<usize>,
    block: usize,
}

/// How far the turn was before an item.
struct Mark {
    warnings: usize,
    events: usize,
    stopped: bool,
    /// Whether the start of a call waited.
    waits: bool,
    /// In strict mode, where half a surrogate pair waited.
    halves: Vec<(usize, Field)>,
}

impl Handler for State {
    fn item(&mut self, item: Item<'_>) -> ControlFlow<()> {
        let mark = self.mark();
        match item {
            Item::Frame(frame) => self.frame(&frame),
            Item::InvalidUtf8 { offset } => {
                self.turn.offset = offset;
                self.turn.warn(WarningCode::InvalidUtf8);
            }
            Item::Discarded { offset } => {
                self.turn.offset = offset;
                if !self.has_ended() {
                    self.turn.warn(WarningCode::EofDiscard);
                }
            }
            Item::Foreign { text, offset } => self.foreign(&text, offset, "\n\n"),
            Item::ErrorField { text, offset } => self.foreign(&text, offset, "\n"),
        }
        self.settle(&mark)
    }

    fn shortcut(&mut self, bytes: &[u8], offset: u64) -> usize {
        self.take_run(bytes, offset, false)
    }
}

impl json_array::Handler for State {
    fn element(&mut self, element: &[u8], offset: u64) -> ControlFlow<()> {
        self.payload_bytes(element, "", offset)
    }

    fn shortcut(&mut self, bytes: &[u8], offset: u64) -> usize {
        self.take_run(bytes, offset, false)
    }
}

impl State {
    pub(super) fn new(dialect: Dialect, options: Options) -> Self {
        let turn = TurnOptions {
            server_tools: options.server_tools,
            name_map: options.name_map,
        };
        Self {
            wire: dialect.wire(options.choice),
            turn: Turn::new(turn),
            template: Template::default(),
            run: Run::default(),
            index: Index::default(),
            builder: Builder::default(),
            eof: options.eof,
            max_event_bytes: options.max_event_bytes,
            strict: options.strict,
            keeps_events: true,
            applied: 0,
            failure: None,
            deaf: false,
            frames: 0,
            pending_usage: Vec::new(),
            foreign: String::new(),
        }
    }

    pub(super) fn clear_events(&mut self) {
        self.end_run();
        self.commit();
        self.turn.log.clear();
        self.applied = 0;
    }

    /// Takes the events at the front of `bytes`, which begins at `offset`, that match the template, and gives
    /// how many bytes they are. A payload matches as a whole or not at all. What they say waits in the run.
    fn take_run(&mut self, bytes: &[u8], offset: u64, is_payload: bool) -> usize {
        let Self {
            template,
            run,
            turn,
            ..
        } = self;
        if !template.is_armed() || turn.has_half(template.block()) {
            return 0;
        }
        run.block = template.block();
        let longest = self
            .max_event_bytes
            .map_or(usize::MAX, |limit| limit.saturating_add(template.framing()));
        let mut at = 0;
        let mut frames = 0;
        let mut last = 0;
        let mut usage = (0, 0);
        let mut halved = None;
        while halved.is_none() && at < bytes.len() {
            let before = run.said.len();
            let found = template.matches(bytes, at, &mut run.said).filter(|found| {
                // What may warn goes the general path where a warning fails the stream.
                found.end - at <= longest
                    && !(self.strict && found.is_halved)
                    && !(is_payload && found.end != bytes.len())
            });
            let Some(found) = found else {
                run.said.truncate(before);
                break;
            };
            if found.is_halved {
                run.said.truncate(before);
                halved = Some(found.body.0..found.body.1);
            } else if self.keeps_events {
                run.ends.push(run.said.len());
            }
            if found.usage.1 > 0 {
                usage = found.usage;
            }
            frames += 1;
            last = at;
            at = found.end;
        }
        if frames == 0 {
            return 0;
        }
        self.frames += frames;
        turn.offset = offset + (last + template.data_at()) as u64;
        if usage.1 > 0 {
            self.pending_usage.clear();
            self.pending_usage
                .extend_from_slice(&bytes[usage.0..usage.1]);
        }
        if let Some(body) = halved.and_then(|body| std::str::from_utf8(&bytes[body]).ok()) {
            let block = run.block;
            self.end_run();
            self.turn.delta(block, Str::with_flag(body, true));
        }
        at
    }

    /// Adds what the run says to the message and, where the caller wants them, to the events.
    pub(super) fn end_run(&mut self) {
        if self.run.said.is_empty() {
            return;
        }
        self.commit();
        let Run { said, ends, block } = &mut self.run;
        match simdutf8::basic::from_utf8(said) {
            Ok(said) => {
                let event = self.turn.deltas(*block, said, ends);
                let applied = self.builder.apply(event);
                debug_assert!(applied.is_ok(), "{applied:?}");
            }
            Err(_) => debug_assert!(false, "what is not UTF-8 does not match"),
        }
        said.clear();
        ends.clear();
        self.applied = self.turn.log.len();
    }

    /// Marks how far the turn is before something other than a run comes.
    fn mark(&mut self) -> Mark {
        self.end_run();
        Mark {
            warnings: self.turn.warnings.len(),
            events: self.turn.log.len(),
            stopped: self.turn.stopped,
            waits: self.wire.waits(),
            halves: if self.strict {
                self.turn.halves()
            } else {
                Vec::new()
            },
        }
    }

    fn has_ended(&self) -> bool {
        self.turn.stopped || self.wire.ended()
    }

    /// Ends what one item gave: a warning may fail the stream, else its events join the message.
    fn settle(&mut self, mark: &Mark) -> ControlFlow<()> {
        // After the stop the turn is whole, whatever comes.
        if self.strict && !mark.stopped && self.turn.warnings.len() > mark.warnings {
            self.fail_strictly(mark);
        }
        if self.failure.is_some() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    /// The tokens that the wire reported so far.
    pub(super) fn usage(&self) -> Option<Usage> {
        if self.pending_usage.is_empty() {
            return self.turn.usage;
        }
        let text = std::str::from_utf8(&self.pending_usage).ok();
        let report = text.and_then(|text| Raw::parse(text, MAX_PAYLOAD_DEPTH).ok());
        report
            .and_then(|report| self.wire.usage(report))
            .or(self.turn.usage)
    }

    fn settle_usage(&mut self) {
        if !self.pending_usage.is_empty() {
            self.turn.usage = self.usage();
            self.pending_usage.clear();
        }
    }

    /// Adds the events that it has not seen to the message: only when the message is asked for, or the
    /// events are about to go.
    fn commit(&mut self) {
        for event in self.turn.log.from(self.applied) {
            // A wire's events fit by construction; the property tests hold it to that.
            let applied = self.builder.apply(event);
            debug_assert!(applied.is_ok(), "{applied:?}");
        }
        self.applied = self.turn.log.len();
    }

    /// A warning comes before the events of its payload, so these never come; only what waited since an
    /// earlier payload goes out, as before any failure.
    fn fail_strictly(&mut self, mark: &Mark) {
        let warning = self.turn.warnings[mark.warnings].clone();
        self.wire.fail(&mut self.turn);
        // A start that waited is the first thing to go out, whatever came after it.
        let mut waited = EventLog::default();
        let is_start = |event: &Event<'_>| matches!(event, Event::ToolUseStart { .. });
        if mark.waits
            && let Some(start) = self.turn.log.from(mark.events).find(is_start)
        {
            waited.push(start);
        }
        self.turn.log.truncate(mark.events);
        for event in waited.iter() {
            self.turn.log.push(event);
        }
        for &(block, field) in &mark.halves {
            self.turn.replacement(block, field);
        }
        self.turn.stopped = mark.stopped;
        self.turn.warnings.truncate(mark.warnings + 1);
        let message = format!("{}: {}", warning.code.as_str(), warning.detail);
        let offset = warning.offset;
        self.failure = Some(Failure {
            kind: FailureKind::Strict(warning),
            message,
            offset,
            raw: None,
        });
    }

    pub(super) fn fail_too_large(&mut self, offset: u64) {
        self.deaf = true;
        if self.turn.stopped || self.failure.is_some() {
            return;
        }
        self.end_run();
        let message = "an event has more data than max_event_bytes allows".to_owned();
        self.fail(Failure {
            kind: FailureKind::TooLarge,
            message,
            offset,
            raw: None,
        });
        self.commit();
    }

    /// AWS framing that is broken: nothing after it can be trusted.
    pub(super) fn fail_aws(&mut self, error: FrameError) {
        match error {
            FrameError::TooLarge { offset } => self.fail_too_large(offset),
            FrameError::Malformed { what, offset } => self.fail_framing(what, offset),
        }
    }

    pub(super) fn fail_array(&mut self, error: ArrayError) {
        match error {
            ArrayError::TooLarge { offset } => self.fail_too_large(offset),
            ArrayError::Malformed { offset } => {
                self.fail_framing("a bracket stands between the elements of the array", offset);
            }
        }
    }

    fn fail_framing(&mut self, what: &str, offset: u64) {
        self.deaf = true;
        self.turn.offset = offset;
        if self.turn.stopped {
            return;
        }
        let mark = self.mark();
        if self.wire.ended() {
            self.turn.warn_with(WarningCode::NotJson, what.to_owned());
            // Nothing more can come, wherever the input is cut.
            let _ = self.settle(&mark);
            self.end(offset);
            return;
        }
        self.fail(Failure {
            kind: FailureKind::Malformed,
            message: what.to_owned(),
            offset,
            raw: None,
        });
        let _ = self.settle(&mark);
    }

    fn fail(&mut self, failure: Failure) {
        self.wire.fail(&mut self.turn);
        self.turn.fail();
        self.failure = Some(failure);
    }

    fn fail_document(&mut self, document: ErrorDocument, raw: &str) {
        let failure = document.failure(self.turn.offset, Some(raw), self.turn.blocks() == 0);
        self.fail(failure);
    }

    fn frame(&mut self, frame: &Frame<'_>) {
        self.frames += 1;
        self.turn.offset = frame.offset;
        let ended = self.has_ended();
        let event = frame
            .block
            .map(|block| template::Event::framed(block, &frame.data));
        self.data(&frame.data, frame.event, frame.flushed, event);
        if frame.flushed && !ended && !self.has_ended() {
            self.turn.warn(WarningCode::EofFlush);
        }
    }

    /// Takes one message of the AWS framing.
    pub(super) fn aws_message(
        &mut self,
        message: &aws_event_stream::Message<'_>,
    ) -> ControlFlow<()> {
        if message.message_type != "event" {
            return self.aws_fault(message);
        }
        // Anthropic on Bedrock: each message wraps an event.
        let unwrapped;
        let (payload, name) = if message.kind == "chunk" {
            unwrapped = aws_event_stream::unwrap_chunk(message.payload);
            (unwrapped.as_deref().unwrap_or(message.payload), "")
        } else {
            (message.payload, message.kind)
        };
        self.payload_bytes(payload, name, message.offset)
    }

    /// An exception or error of the AWS framing.
    fn aws_fault(&mut self, message: &aws_event_stream::Message<'_>) -> ControlFlow<()> {
        let mark = self.mark();
        self.frames += 1;
        self.turn.offset = message.offset;
        if !self.turn.stopped {
            let text = String::from_utf8_lossy(message.payload);
            let mut document = ErrorDocument::read_any(&text);
            if !message.kind.is_empty() {
                document = document.with_kind(message.kind);
            }
            if let Some(words) = message.error_message {
                words.clone_into(&mut document.message);
            }
            self.fail_document(document, &text);
        }
        self.settle(&mark)
    }

    /// Takes a payload that some framing other than server-sent events delivers whole.
    fn payload_bytes(&mut self, bytes: &[u8], name: &str, offset: u64) -> ControlFlow<()> {
        if self.template.name() == name && self.take_run(bytes, offset, true) > 0 {
            return ControlFlow::Continue(());
        }
        let mark = self.mark();
        self.frames += 1;
        self.turn.offset = offset;
        let text = String::from_utf8_lossy(bytes);
        if matches!(text, Cow::Owned(_)) {
            self.turn.warn(WarningCode::InvalidUtf8);
        }
        let event = matches!(text, Cow::Borrowed(_)).then(|| template::Event::bare(bytes, name));
        self.data(&text, name, false, event);
        self.settle(&mark)
    }

    /// The input ended inside a message or element that begins at `offset`.
    pub(super) fn cut_inside(&mut self, offset: u64, element: Option<&[u8]>) {
        self.turn.offset = offset;
        if self.turn.stopped {
            return;
        }
        let mark = self.mark();
        let raw = element.map(|element| String::from_utf8_lossy(element).into_owned());
        if self.wire.ended() {
            self.turn.warn_with(
                WarningCode::NotJson,
                "the input ended inside a payload".to_owned(),
            );
        } else {
            let message = "the input ended inside a payload".to_owned();
            self.fail(Failure {
                kind: FailureKind::Truncated,
                message,
                offset,
                raw,
            });
        }
        let _ = self.settle(&mark);
    }

    /// A whole body that should be messages and is text.
    pub(super) fn text_body(&mut self, text: &str) {
        let document = ErrorDocument::read_text(text)
            .unwrap_or_else(|| ErrorDocument::named("error", &excerpt(trim(text))));
        self.fail_document(document, text);
        self.commit();
    }

    /// Takes the whole body of a response that was not streamed.
    pub(super) fn whole_body(&mut self, body: &[u8]) {
        let mark = self.mark();
        let text = String::from_utf8_lossy(body);
        if matches!(text, Cow::Owned(_)) {
            self.turn.warn(WarningCode::InvalidUtf8);
        }
        let text = trim(text.trim_start_matches('\u{FEFF}'));
        match Raw::parse(text, MAX_PAYLOAD_DEPTH) {
            Ok(raw) if raw.is_object() => {
                let fault = ErrorDocument::read(raw)
                    .map_or_else(|| self.wire.whole(&mut self.turn, raw), Err);
                if let Err(document) = fault {
                    self.fail_document(document, text);
                }
            }
            Ok(_) => self.fail_body(FailureKind::Malformed, "the body is no JSON object", text),
            Err(JsonError::UnexpectedEnd) => {
                let message = if text.is_empty() {
                    "the body is empty"
                } else {
                    "the body is cut short"
                };
                self.fail_body(FailureKind::Truncated, message, text);
            }
            Err(error) => self.fail_body(
                FailureKind::Malformed,
                &format!("the body is no JSON: {error}"),
                text,
            ),
        }
        if self.failure.is_none() && !self.turn.stopped {
            self.fail_body(
                FailureKind::Truncated,
                "the body holds no turn that has ended",
                text,
            );
        }
        let _ = self.settle(&mark);
    }

    fn fail_body(&mut self, kind: FailureKind, message: &str, text: &str) {
        let raw = (!text.is_empty()).then(|| text.to_owned());
        self.fail(Failure {
            kind,
            message: message.to_owned(),
            offset: 0,
            raw,
        });
    }

    /// What has come so far.
    pub(super) fn snapshot(&self) -> Message {
        let mut builder = self.builder.clone();
        for event in self.turn.log.from(self.applied) {
            let applied = builder.apply(event);
            debug_assert!(applied.is_ok(), "{applied:?}");
        }
        builder.into_message(self.usage())
    }

    pub(super) fn into_decoded(mut self) -> Decoded {
        self.end_run();
        self.commit();
        self.settle_usage();
        let Self {
            builder,
            turn,
            failure,
            ..
        } = self;
        Decoded {
            message: builder.into_message(turn.usage),
            warnings: turn.warnings,
            failure,
        }
    }

    fn data(&mut self, data: &str, name: &str, flushed: bool, event: Option<template::Event<'_>>) {
        self.template.disarm();
        self.settle_usage();
        let data = trim(data);
        if data.is_empty() {
            return;
        }
        if self.turn.stopped {
            self.after_stop(data, name);
            return;
        }
        if name == "error" {
            self.fail_document(ErrorDocument::read_any(data), data);
            return;
        }
        if data == "[DONE]" {
            self.wire.done(&mut self.turn);
            return;
        }
        if !data.starts_with(['{', '[']) {
            self.pass_over(data);
            return;
        }
        let mut index = std::mem::take(&mut self.index);
        match Raw::parse_with(data, MAX_PAYLOAD_DEPTH, &mut index) {
            Ok(payload) => self.payload(payload, name, event),
            Err(_) if self.wire.ended() => self.pass_over(data),
            Err(error) => {
                let cut = error == JsonError::UnexpectedEnd || "[DONE]".starts_with(data);
                let (kind, message) = if flushed && cut {
                    (
                        FailureKind::Truncated,
                        "the input ended inside a payload".to_owned(),
                    )
                } else {
                    (
                        FailureKind::Malformed,
                        format!("a payload is malformed: {error}"),
                    )
                };
                let offset = self.turn.offset;
                self.fail(Failure {
                    kind,
                    message,
                    offset,
                    raw: Some(data.to_owned()),
                });
            }
        }
        self.index = index;
    }

    fn pass_over(&mut self, data: &str) {
        self.turn.warn_with(
            WarningCode::NotJson,
            format!("passed over: {}", excerpt(data)),
        );
    }

    fn payload(&mut self, payload: Raw<'_>, name: &str, event: Option<template::Event<'_>>) {
        if payload.is_array() {
            match payload.elements().next().and_then(ErrorDocument::read) {
                Some(document) => self.fail_document(document, payload.text()),
                None => self.turn.warn(WarningCode::UnknownEvent),
            }
            return;
        }
        let warned = self.turn.warnings.len();
        let document = ErrorDocument::read(payload);
        if self.wire.looks_back() {
            self.commit();
        }
        let wired = Payload {
            raw: payload,
            name,
            faulty: document.is_some(),
        };
        let result = self.wire.payload(&mut self.turn, &self.builder, wired);
        let hot = self.turn.hot.take();
        match document.or(result.err()) {
            Some(document) => self.fail_document(document, payload.text()),
            None => {
                // A payload that warns has more to it than its delta.
                if let Some(hot) = hot
                    && self.turn.warnings.len() == warned
                {
                    match event {
                        Some(event) => {
                            let free = self.wire.free_members();
                            self.template.learn(&event, payload, &hot, free);
                        }
                        // An event that came in pieces: it changed nothing that the template stands on.
                        None => self.template.rearm(hot.block),
                    }
                }
            }
        }
    }

    /// After the stop every payload is ignored, but what is odd is said.
    fn after_stop(&mut self, data: &str, name: &str) {
        if data == "[DONE]" {
            return;
        }
        match Raw::parse(data, MAX_PAYLOAD_DEPTH) {
            Ok(raw) if raw.is_object() => {
                if self.wire.has_content(Payload {
                    raw,
                    name,
                    faulty: false,
                }) {
                    self.turn.after_stop();
                }
            }
            Ok(_) => {}
            Err(_) => self.pass_over(data),
        }
    }

    /// Text outside of SSE: an error document fails the stream, anything else is kept for the message of
    /// a truncated one.
    fn foreign(&mut self, text: &str, offset: u64, separator: &str) {
        self.turn.offset = offset;
        if self.turn.stopped {
            return;
        }
        if let Some(document) = ErrorDocument::read_text(text) {
            self.fail_document(document, text);
        } else if self.foreign.len() < FOREIGN_LIMIT {
            if !self.foreign.is_empty() {
                self.foreign.push_str(separator);
            }
            self.foreign.push_str(text);
        }
    }

    pub(super) fn end(&mut self, consumed: u64) {
        if self.failure.is_some() || self.turn.stopped {
            return;
        }
        self.settle_usage();
        let mark = self.mark();
        self.turn.offset = consumed;
        if self.frames == 0
            && let Some(document) = ErrorDocument::read_text(&self.foreign)
        {
            let text = std::mem::take(&mut self.foreign);
            self.fail_document(document, &text);
        } else if let Err(missing) = self.wire.finish(&mut self.turn) {
            let message = self.what_came(consumed, &missing);
            let raw = (!self.foreign.is_empty()).then(|| std::mem::take(&mut self.foreign));
            self.fail(Failure {
                kind: FailureKind::Truncated,
                message,
                offset: consumed,
                raw,
            });
        }
        let _ = self.settle(&mark);
    }

    fn what_came(&self, consumed: u64, missing: &str) -> String {
        let foreign = if self.foreign.is_empty() {
            String::new()
        } else {
            format!("; text that is no event stream: {}", excerpt(&self.foreign))
        };
        match (consumed, self.frames) {
            (0, _) => "the body is empty".to_owned(),
            (_, 0) if foreign.is_empty() => {
                "no event came, only comments or blank lines".to_owned()
            }
            (_, 0) => format!("no event came{foreign}"),
            (_, frames) => format!(
                "the input ended after {frames} events before the turn did: {missing}{foreign}"
            ),
        }
    }
}

/// The beginning of a text, on one line, for messages.
fn excerpt(text: &str) -> String {
    const LONGEST: usize = 120;
    let mut out: String = text
        .chars()
        .take(LONGEST)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if out.len() < text.len() && text.chars().nth(LONGEST).is_some() {
        out.push('…');
    }
    out
}
