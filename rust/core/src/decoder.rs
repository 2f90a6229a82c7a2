//! The stream decoder: framing, payloads, a wire, and what the whole adds up to.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use crate::assemble::{Builder, Message};
use crate::error::{ErrorDocument, Failure, FailureKind};
use crate::event::{Event, EventLog, Warning, WarningCode};
use crate::json::{JsonError, MAX_PAYLOAD_DEPTH, Raw, trim};
use crate::sse::{EndOfInput, FOREIGN_LIMIT, Frame, Framer, Handler, Item, TooLarge};
use crate::usage::Usage;
use crate::wire::Dialect;
use crate::wire::Wire;
use crate::wire::template::Template;
use crate::wire::turn::{Turn, TurnOptions};

/// What the host asks of a decoder.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Which choice of a Chat stream to take.
    pub choice: u64,
    /// What happens to a last event without its blank line.
    pub eof: EndOfInput,
    /// How much data an event may have.
    pub max_event_bytes: Option<usize>,
    /// The first warning fails the stream.
    pub strict: bool,
    /// Tools that the provider runs itself although the wire shows them as calls.
    pub server_tools: HashSet<String>,
    /// From tool names on the wire to the host's names.
    pub name_map: HashMap<String, String>,
}

/// The dialect is known, but this version cannot decode it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unsupported(pub Dialect);

/// Decodes one response, in pieces of any size.
#[derive(Debug)]
pub struct StreamDecoder {
    framer: Framer,
    state: State,
    finished: bool,
}

#[derive(Debug)]
struct State {
    wire: Box<dyn Wire>,
    turn: Turn,
    template: Template,
    builder: Builder,
    eof: EndOfInput,
    max_event_bytes: Option<usize>,
    strict: bool,
    /// Whether the caller wants the events, not only the message.
    keeps_events: bool,
    /// Events in the log that the builder has taken.
    applied: usize,
    failure: Option<Failure>,
    frames: u64,
    /// Text that is no SSE, as long as no event came: it may be one error document.
    foreign: String,
}

/// How far the turn was before an item.
struct Mark {
    warnings: usize,
    events: usize,
    blocks: usize,
}

/// A whole body, decoded.
#[derive(Debug)]
pub struct Decoded {
    /// The message, whole or up to the failure.
    pub message: Message,
    /// What was odd.
    pub warnings: Vec<Warning>,
    /// Why it is not whole.
    pub failure: Option<Failure>,
}

impl StreamDecoder {
    /// A decoder at the start of a response.
    ///
    /// # Errors
    /// [`Unsupported`] if this version cannot decode the dialect.
    pub fn new(dialect: Dialect, options: Options) -> Result<Self, Unsupported> {
        let wire = dialect.wire(options.choice).ok_or(Unsupported(dialect))?;
        let turn = Turn::new(TurnOptions {
            server_tools: options.server_tools,
            name_map: options.name_map,
        });
        Ok(Self {
            framer: Framer::new(options.max_event_bytes).with_foreign(),
            state: State {
                wire,
                turn,
                template: Template::default(),
                builder: Builder::default(),
                eof: options.eof,
                max_event_bytes: options.max_event_bytes,
                strict: options.strict,
                keeps_events: true,
                applied: 0,
                failure: None,
                frames: 0,
                foreign: String::new(),
            },
            finished: false,
        })
    }

    /// Takes the next bytes. What they give is in [`StreamDecoder::events`] and
    /// [`StreamDecoder::failure`]; bytes after a failure are ignored.
    pub fn feed(&mut self, bytes: &[u8]) {
        let state = &mut self.state;
        if state.failure.is_some() || self.finished {
            return;
        }
        let result = self.framer.feed(bytes, state);
        state.check(result);
    }

    /// Ends the input.
    pub fn finish(&mut self) {
        let state = &mut self.state;
        if std::mem::replace(&mut self.finished, true) || state.failure.is_some() {
            return;
        }
        let result = self.framer.finish(state.eof, state);
        state.check(result);
        state.end(self.framer.consumed());
    }

    /// The events since they were last cleared.
    #[must_use]
    pub const fn events(&self) -> &EventLog {
        &self.state.turn.log
    }

    /// Forgets the events, which the caller has taken.
    pub fn clear_events(&mut self) {
        self.state.turn.log.clear();
        self.state.applied = 0;
    }

    /// Why the stream failed, if it did.
    #[must_use]
    pub const fn failure(&self) -> Option<&Failure> {
        self.state.failure.as_ref()
    }

    /// Whether [`StreamDecoder::finish`] was called.
    #[must_use]
    pub const fn is_finished(&self) -> bool {
        self.finished
    }

    /// Whether the turn has stopped.
    #[must_use]
    pub const fn is_terminal(&self) -> bool {
        self.state.turn.stopped
    }

    /// What was odd so far.
    #[must_use]
    pub fn warnings(&self) -> &[Warning] {
        &self.state.turn.warnings
    }

    /// The tokens that the wire reported so far.
    #[must_use]
    pub const fn usage(&self) -> Option<Usage> {
        self.state.turn.usage
    }

    /// What has come so far.
    #[must_use]
    pub fn snapshot(&self) -> Message {
        self.state.builder.message(self.state.turn.usage)
    }

    /// Decodes a whole body without keeping its events.
    #[must_use]
    pub fn decode_message(mut self, body: &[u8]) -> Decoded {
        self.state.keeps_events = false;
        // In pieces, so that the events of one piece stay in the cache while they are assembled.
        for piece in body.chunks(64 * 1024) {
            self.feed(piece);
            self.clear_events();
            if self.failure().is_some() {
                break;
            }
        }
        self.finish();
        let State {
            builder,
            turn,
            failure,
            ..
        } = self.state;
        Decoded {
            message: builder.into_message(turn.usage),
            warnings: turn.warnings,
            failure,
        }
    }
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
        let mut at = 0;
        while let Some(found) = self.template.matches(&bytes[at..]) {
            // What may warn goes the general path where a warning fails the stream.
            let is_plain = found.piece.plain().is_some();
            if (self.strict && !is_plain)
                || self
                    .max_event_bytes
                    .is_some_and(|limit| found.data_length > limit)
            {
                break;
            }
            self.frames += 1;
            self.turn.offset = offset + (at + self.template.data_line()) as u64;
            if let Some(event) = self.turn.plain_delta(found.block, found.piece) {
                if self.keeps_events {
                    self.turn.log.push(event);
                    self.applied += 1;
                }
                let applied = self.builder.apply(event);
                debug_assert!(applied.is_ok(), "{applied:?}");
            } else {
                self.turn.delta(found.block, found.piece);
                self.commit();
            }
            at += found.length;
        }
        at
    }
}

impl State {
    fn mark(&self) -> Mark {
        Mark {
            warnings: self.turn.warnings.len(),
            events: self.turn.log.len(),
            blocks: self.turn.blocks(),
        }
    }

    fn has_ended(&self) -> bool {
        self.turn.stopped || self.wire.ended()
    }

    /// Ends what one item gave: a warning may fail the stream, else its events join the message.
    fn settle(&mut self, mark: &Mark) -> ControlFlow<()> {
        if self.strict && self.turn.warnings.len() > mark.warnings {
            self.fail_strictly(mark);
        }
        self.commit();
        if self.failure.is_some() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

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
        let given = self.turn.log.len();
        self.wire.fail(&mut self.turn);
        self.turn.fail();
        let mut waited = EventLog::default();
        for (at, event) in self.turn.log.from(mark.events).enumerate() {
            let is_late = mark.events + at >= given;
            let goes_out = match event {
                Event::ToolUseStart { index, .. } => index < mark.blocks,
                Event::TextDelta { index, .. }
                | Event::ThinkingDelta { index, .. }
                | Event::InputJsonDelta { index, .. }
                | Event::SignatureDelta { index, .. } => is_late && index < mark.blocks,
                _ => false,
            };
            if goes_out {
                waited.push(event);
            }
        }
        self.turn.log.truncate(mark.events);
        for event in waited.iter() {
            self.turn.log.push(event);
        }
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

    fn check(&mut self, result: Result<(), TooLarge>) {
        if let Err(TooLarge { offset }) = result
            && self.failure.is_none()
        {
            let message = "an event has more data than max_event_bytes allows".to_owned();
            self.fail(Failure {
                kind: FailureKind::TooLarge,
                message,
                offset,
                raw: None,
            });
            self.commit();
        }
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
        self.template.disarm();
        self.data(frame);
        if frame.flushed && !ended && !self.has_ended() {
            self.turn.warn(WarningCode::EofFlush);
        }
    }

    fn data(&mut self, frame: &Frame<'_>) {
        let data = trim(&frame.data);
        if data.is_empty() {
            return;
        }
        if self.turn.stopped {
            self.after_stop(data);
            return;
        }
        if frame.event == "error" {
            self.fail_document(ErrorDocument::read_any(data), data);
            return;
        }
        if data == "[DONE]" {
            self.wire.done(&mut self.turn);
            return;
        }
        if !data.starts_with(['{', '[']) {
            self.turn.warn_with(
                WarningCode::NotJson,
                format!("passed over: {}", excerpt(data)),
            );
            return;
        }
        match Raw::parse(data, MAX_PAYLOAD_DEPTH) {
            Ok(payload) => self.payload(payload, frame.block),
            Err(_) if self.wire.ended() => {
                self.turn.warn_with(
                    WarningCode::NotJson,
                    format!("passed over: {}", excerpt(data)),
                );
            }
            Err(error) => {
                let cut = error == JsonError::UnexpectedEnd || "[DONE]".starts_with(data);
                let (kind, message) = if frame.flushed && cut {
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
                let offset = frame.offset;
                self.fail(Failure {
                    kind,
                    message,
                    offset,
                    raw: Some(data.to_owned()),
                });
            }
        }
    }

    fn payload(&mut self, payload: Raw<'_>, block: Option<&[u8]>) {
        if payload.is_array() {
            match payload.elements().next().and_then(ErrorDocument::read) {
                Some(document) => self.fail_document(document, payload.text()),
                None => self.turn.warn(WarningCode::UnknownEvent),
            }
            return;
        }
        let document = ErrorDocument::read(payload);
        let result = self
            .wire
            .payload(&mut self.turn, payload, document.is_some());
        let hot = self.turn.hot.take();
        match document.or(result.err()) {
            Some(document) => self.fail_document(document, payload.text()),
            None => {
                if let (Some(hot), Some(block)) = (hot, block) {
                    self.template
                        .learn(block, payload, &hot, self.wire.free_members());
                }
            }
        }
    }

    /// After the stop every payload is ignored, but what is odd is said.
    fn after_stop(&mut self, data: &str) {
        if data == "[DONE]" {
            return;
        }
        match Raw::parse(data, MAX_PAYLOAD_DEPTH) {
            Ok(payload) if payload.is_object() => {
                if self.wire.has_content(payload) {
                    self.turn.after_stop();
                }
            }
            Ok(_) => {}
            Err(_) => self.turn.warn_with(
                WarningCode::NotJson,
                format!("passed over: {}", excerpt(data)),
            ),
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

    fn end(&mut self, consumed: u64) {
        if self.failure.is_some() || self.turn.stopped {
            return;
        }
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
