//! Speaking a dialect: events in, the bytes of a provider's stream or response out.
//!
//! Data flows one way: [`Event`]s, the bookkeeping of [`speaker`], a wire's [`voice::Voice`], bytes.

mod anthropic;
mod collect;
mod gemini;
mod note;
mod openai_chat;
mod openai_responses;
mod slots;
mod speaker;
mod text;
mod turn;
mod voice;
mod whole_block;

pub use note::{Note, NoteCode};

use crate::error::ErrorDocument;
use crate::event::Event;
use crate::json::JsonError;
use crate::wire::Dialect;
use collect::Collector;
use speaker::Speaker;
use voice::Voice;

/// How many levels a wire may put around JSON that it is given.
const WRAPPING: usize = 8;

/// What the host asks of an encoder.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The wire that the events came from; none if they are the target's own. What only that wire can carry
    /// is left out on another one, and noted.
    pub source: Option<Dialect>,
    /// When the response was created, in seconds since 1970, for wires that tell.
    pub created: u64,
    /// Whether Chat Completions gives the usage, as it does where the request asked for it.
    pub include_usage: bool,
    /// The member in which Chat Completions gives the reasoning, unless the events tell.
    pub reasoning_field: String,
    /// The id of a response that has none.
    pub id: Option<String>,
    /// The model of a response that names none.
    pub model: Option<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            source: None,
            created: 0,
            include_usage: true,
            reasoning_field: "reasoning_content".to_owned(),
            id: None,
            model: None,
        }
    }
}

/// Why an event was refused. The encoder is as it was before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EncodeError {
    /// The dialect is one that is only read.
    Unsayable(Dialect),
    /// The event names a block that it cannot belong to.
    Misplaced {
        /// What the event is.
        event: &'static str,
        /// The block that it names.
        index: usize,
        /// How many blocks there are.
        blocks: usize,
        /// Why not.
        why: &'static str,
    },
    /// A second start of the turn.
    SecondStart,
    /// A stop while blocks are open; the first of them.
    StillOpen(usize),
    /// An event after the stop.
    AfterStop,
    /// An event after the encoder was told to finish or to fail.
    AfterEnd,
    /// What has to be JSON and is none, or is nested too deep.
    NotJson {
        /// What it is.
        what: &'static str,
        /// What is wrong with it.
        error: JsonError,
    },
    /// What has to be a JSON object and is none.
    NotAnObject(&'static str),
    /// Chat Completions has no reasoning in a member of that name.
    ReasoningField(String),
    /// The turn has not stopped: there is no body that tells of such a turn.
    Unfinished,
}

impl std::fmt::Display for EncodeError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unsayable(dialect) => {
                write!(formatter, "{} is read but not written", dialect.as_str())
            }
            Self::Misplaced {
                event,
                index,
                blocks,
                why,
            } => write!(
                formatter,
                "{event} for block {index} does not fit the {blocks} blocks before it: {why}"
            ),
            Self::SecondStart => formatter.write_str("the turn has started already"),
            Self::StillOpen(index) => {
                write!(
                    formatter,
                    "the turn cannot stop while block {index} is open"
                )
            }
            Self::AfterStop => formatter.write_str("the turn has stopped: nothing can follow"),
            Self::AfterEnd => formatter
                .write_str("the stream was ended by finish() or fail(): make a new encoder"),
            Self::NotJson { what, error } => write!(formatter, "{what} is not JSON: {error}"),
            Self::NotAnObject(what) => write!(formatter, "{what} is no JSON object"),
            Self::ReasoningField(name) => {
                write!(formatter, "{name:?} is no member that holds reasoning")
            }
            Self::Unfinished => formatter.write_str(
                "the turn has not stopped: no response that is not streamed tells of it",
            ),
        }
    }
}

impl std::error::Error for EncodeError {}

/// The wire's way of saying a turn.
fn voice(dialect: Dialect, settings: &Settings) -> Result<Box<dyn Voice>, EncodeError> {
    if openai_chat::reasoning_field(&settings.reasoning_field).is_none() {
        return Err(EncodeError::ReasoningField(
            settings.reasoning_field.clone(),
        ));
    }
    match dialect {
        Dialect::Anthropic => Ok(Box::<anthropic::Anthropic>::default()),
        Dialect::OpenAiResponses => Ok(Box::<openai_responses::OpenAiResponses>::default()),
        Dialect::Gemini => Ok(Box::<gemini::Gemini>::default()),
        Dialect::OpenAiChat => Ok(Box::<openai_chat::OpenAiChat>::default()),
        Dialect::BedrockConverse => Err(EncodeError::Unsayable(dialect)),
    }
}

/// Says one turn as a provider's stream, event by event.
#[derive(Debug)]
pub struct StreamEncoder {
    speaker: Speaker<dyn Voice>,
}

impl StreamEncoder {
    /// An encoder at the start of a response.
    ///
    /// # Errors
    /// [`EncodeError::Unsayable`] for a dialect that is only read; [`EncodeError::ReasoningField`].
    pub fn new(dialect: Dialect, settings: Settings) -> Result<Self, EncodeError> {
        let voice = voice(dialect, &settings)?;
        Ok(Self {
            speaker: Speaker::new(dialect, settings, voice),
        })
    }

    /// Takes the next event and appends what the wire says for it, which may be nothing yet.
    ///
    /// # Errors
    /// What is wrong with the event; nothing is appended then.
    #[inline]
    pub fn feed(&mut self, event: Event<'_>, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        self.speaker.feed(event, out)
    }

    /// Ends the events. A turn that has not stopped stays without an end, so that the other side sees a
    /// stream that was cut; what waited for its place is said.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        self.speaker.finish(out);
    }

    /// Ends the stream with a fault, in the provider's own form.
    ///
    /// # Errors
    /// [`EncodeError::AfterStop`] and [`EncodeError::AfterEnd`].
    pub fn fail(&mut self, fault: &ErrorDocument, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        self.speaker.fail(fault, out)
    }

    /// Whether the turn has stopped.
    #[must_use]
    pub const fn is_terminal(&self) -> bool {
        self.speaker.is_stopped()
    }

    /// What could not be said as it was so far.
    #[must_use]
    pub fn notes(&self) -> &[Note] {
        self.speaker.notes()
    }
}

/// Says one turn as the body of a response that is not streamed.
#[derive(Debug)]
pub struct ResponseEncoder {
    speaker: Speaker<Collector>,
    /// What will say the turn that the speaker collects.
    voice: Box<dyn Voice>,
}

impl ResponseEncoder {
    /// An encoder at the start of a response.
    ///
    /// # Errors
    /// [`EncodeError::Unsayable`] for a dialect that is only read; [`EncodeError::ReasoningField`].
    pub fn new(dialect: Dialect, settings: Settings) -> Result<Self, EncodeError> {
        let voice = voice(dialect, &settings)?;
        Ok(Self {
            speaker: Speaker::new(dialect, settings, Box::default()),
            voice,
        })
    }

    /// Takes the next event.
    ///
    /// # Errors
    /// What is wrong with the event.
    pub fn feed(&mut self, event: Event<'_>) -> Result<(), EncodeError> {
        self.speaker.feed(event, &mut Vec::new())
    }

    /// Appends the body; gives what could not be said as it was.
    ///
    /// # Errors
    /// [`EncodeError::Unfinished`] where the turn has not stopped.
    pub fn finish(mut self, out: &mut Vec<u8>) -> Result<Vec<Note>, EncodeError> {
        if !self.speaker.is_stopped() {
            return Err(EncodeError::Unfinished);
        }
        let (mut turn, collector) = self.speaker.into_parts();
        self.voice.body(&mut turn, &collector.whole(), out);
        Ok(turn.notes.into_vec())
    }
}

/// The body of a response that is not streamed, and what could not be said as it was.
///
/// # Errors
/// What is wrong with an event; [`EncodeError::Unfinished`] where the turn has not stopped.
pub fn response<'a>(
    dialect: Dialect,
    settings: Settings,
    events: impl IntoIterator<Item = Event<'a>>,
) -> Result<(Vec<u8>, Vec<Note>), EncodeError> {
    let mut encoder = ResponseEncoder::new(dialect, settings)?;
    for event in events {
        encoder.feed(event)?;
    }
    let mut body = Vec::new();
    let notes = encoder.finish(&mut body)?;
    Ok((body, notes))
}
