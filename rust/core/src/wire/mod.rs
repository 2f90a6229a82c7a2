//! The providers' wires: one module each, over the bookkeeping of [`turn`].

pub(crate) mod anthropic;
mod bedrock;
pub(crate) mod gemini;
pub(crate) mod openai_chat;
pub(crate) mod openai_responses;
mod slots;
pub(crate) mod template;
pub(crate) mod turn;

use crate::assemble::{Builder, object};
use crate::error::ErrorDocument;
use crate::json::{Raw, Str};
use crate::usage::Usage;
use template::FreeMember;
use turn::Turn;

/// How a provider speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI Chat Completions and its imitators.
    OpenAiChat,
    /// OpenAI Responses.
    OpenAiResponses,
    /// Gemini `streamGenerateContent`.
    Gemini,
    /// Bedrock `ConverseStream`.
    BedrockConverse,
}

impl Dialect {
    /// Every dialect.
    pub const ALL: [Self; 5] = [
        Self::Anthropic,
        Self::OpenAiChat,
        Self::OpenAiResponses,
        Self::Gemini,
        Self::BedrockConverse,
    ];

    /// The dialect's name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAiChat => "openai-chat",
            Self::OpenAiResponses => "openai-responses",
            Self::Gemini => "gemini",
            Self::BedrockConverse => "bedrock-converse",
        }
    }

    /// The dialect of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|dialect| dialect.as_str() == name)
    }

    /// A state machine for one response.
    pub(crate) fn wire(self, choice: u64) -> Box<dyn Wire> {
        match self {
            Self::Anthropic => Box::<anthropic::Anthropic>::default(),
            Self::OpenAiChat => Box::new(openai_chat::OpenAiChat::new(choice)),
            Self::OpenAiResponses => Box::<openai_responses::OpenAiResponses>::default(),
            Self::Gemini => Box::new(gemini::Gemini::new(choice)),
            Self::BedrockConverse => Box::<bedrock::Bedrock>::default(),
        }
    }
}

/// A payload of the wire: a JSON object.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Payload<'p> {
    pub(crate) raw: Raw<'p>,
    /// The name of the event that it came in: the SSE event, or the type of the AWS message.
    pub(crate) name: &'p str,
    /// It is also an error document: then only its content and usage count.
    pub(crate) faulty: bool,
}

/// A string that is there and not empty.
pub(crate) fn value_str(value: Option<Raw<'_>>) -> Option<Str<'_>> {
    value
        .and_then(Raw::as_str)
        .filter(|string| !string.is_empty())
}

/// A raw JSON object of the members that are not null and not among `known`, if there are any.
pub(crate) fn other_members(holder: Raw<'_>, known: &[&str]) -> Option<String> {
    let others: Vec<(String, &str)> = holder
        .entries()
        .filter(|(key, value)| !value.is_null() && !known.iter().any(|name| key.is(name)))
        .map(|(key, value)| (key.to_text(), value.text()))
        .collect();
    let members = others.iter().map(|(name, json)| (name.as_str(), *json));
    (!others.is_empty()).then(|| object(members))
}

/// One provider's state machine: payloads in, calls on the [`Turn`] out.
pub(crate) trait Wire: std::fmt::Debug + Send {
    /// Members of a payload whose value does not matter once the message has started.
    fn free_members(&self) -> &'static [FreeMember] {
        &[]
    }

    /// Reads a usage report that a template took in passing.
    fn usage(&self, _report: Raw<'_>) -> Option<Usage> {
        None
    }

    /// Whether the wire compares payloads with what was said before them, so that `said` has to be whole.
    fn looks_back(&self) -> bool {
        false
    }

    /// Takes a payload before the turn has stopped. `said` is what the payloads before it gave.
    ///
    /// # Errors
    /// What the provider reports as a fault in a way of its own.
    fn payload(
        &mut self,
        turn: &mut Turn,
        said: &Builder,
        payload: Payload<'_>,
    ) -> Result<(), ErrorDocument>;

    /// Takes the whole body of a response that was not streamed, and stops the turn.
    ///
    /// # Errors
    /// What the provider reports as a fault in a way of its own.
    fn whole(&mut self, turn: &mut Turn, body: Raw<'_>) -> Result<(), ErrorDocument>;

    /// Takes the payload `[DONE]`.
    fn done(&mut self, _turn: &mut Turn) {}

    /// Whether a payload that came after the stop would have given an event.
    fn has_content(&self, payload: Payload<'_>) -> bool;

    /// Whether the turn would be complete if the input stopped here.
    fn ended(&self) -> bool;

    /// Ends the input: stops the turn if it had ended.
    ///
    /// # Errors
    /// What is missing.
    fn finish(&mut self, turn: &mut Turn) -> Result<(), String>;

    /// Whether the start of a call waits to go out.
    fn waits(&self) -> bool {
        false
    }

    /// Lets go out what waits, before a failure is raised.
    fn fail(&mut self, _turn: &mut Turn) {}
}
