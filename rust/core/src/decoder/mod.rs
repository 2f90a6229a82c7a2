//! The stream decoder: framing, payloads, a wire, and what the whole adds up to.

mod state;
mod transport;

use std::collections::{HashMap, HashSet};

use crate::assemble::Message;
use crate::error::Failure;
use crate::event::{EventLog, Warning};
use crate::sse::EndOfInput;
use crate::usage::Usage;
use crate::wire::Dialect;
use state::State;
use transport::Transport;

/// What the host asks of a decoder.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Which choice of a Chat response, or which candidate of a Gemini response, to take.
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

/// Decodes one response, in pieces of any size.
#[derive(Debug)]
pub struct StreamDecoder {
    transport: Transport,
    state: State,
    finished: bool,
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
    #[must_use]
    pub fn new(dialect: Dialect, options: Options) -> Self {
        let transport = Transport::new(dialect, options.max_event_bytes);
        Self {
            transport,
            state: State::new(dialect, options),
            finished: false,
        }
    }

    /// Takes the next bytes. What they give is in [`StreamDecoder::events`] and
    /// [`StreamDecoder::failure`]; bytes after a failure are ignored.
    pub fn feed(&mut self, bytes: &[u8]) {
        if self.state.failure.is_none() && !self.finished {
            self.transport.feed(bytes, &mut self.state);
            self.state.end_run();
        }
    }

    /// Ends the input.
    pub fn finish(&mut self) {
        if !std::mem::replace(&mut self.finished, true) && self.state.failure.is_none() {
            self.transport.finish(&mut self.state);
        }
    }

    /// The events since they were last cleared.
    #[must_use]
    pub const fn events(&self) -> &EventLog {
        &self.state.turn.log
    }

    /// Forgets the events, which the caller has taken.
    pub fn clear_events(&mut self) {
        self.state.clear_events();
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
    pub fn usage(&self) -> Option<Usage> {
        self.state.usage()
    }

    /// What has come so far.
    #[must_use]
    pub fn snapshot(&self) -> Message {
        self.state.snapshot()
    }

    /// What came of the body, once it is finished.
    #[must_use]
    pub fn into_decoded(self) -> Decoded {
        self.state.into_decoded()
    }

    /// Reads the whole body of a response that was not streamed: the same message as its stream would
    /// have given.
    #[must_use]
    pub fn parse_response(dialect: Dialect, options: Options, body: &[u8]) -> Decoded {
        let mut state = State::new(dialect, options);
        state.whole_body(body);
        state.into_decoded()
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
        self.state.into_decoded()
    }
}
