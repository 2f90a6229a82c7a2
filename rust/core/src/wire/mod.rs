//! The providers' wires: one module each, over the bookkeeping of [`turn`].

pub(crate) mod anthropic;
pub(crate) mod openai_chat;
pub(crate) mod template;
pub(crate) mod turn;

use crate::error::ErrorDocument;
use crate::json::Raw;
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

    /// A decoder for one response, if this version can decode the dialect.
    pub(crate) fn wire(self, choice: u64) -> Option<Box<dyn Wire>> {
        match self {
            Self::Anthropic => Some(Box::<anthropic::Anthropic>::default()),
            Self::OpenAiChat => Some(Box::new(openai_chat::OpenAiChat::new(choice))),
            Self::OpenAiResponses | Self::Gemini | Self::BedrockConverse => None,
        }
    }
}

/// One provider's state machine: payloads in, calls on the [`Turn`] out.
pub(crate) trait Wire: std::fmt::Debug + Send {
    /// Members of a payload whose value does not matter once the message has started: their strings may
    /// differ between payloads that are otherwise the same; `true` for those that do so in every stream.
    fn free_members(&self) -> &'static [(&'static str, bool)] {
        &[]
    }

    /// Takes a payload, a JSON object, before the turn has stopped. `faulty` tells that it is also an
    /// error document: then only its content and usage count.
    ///
    /// # Errors
    /// What the provider reports as a fault in a way of its own.
    fn payload(
        &mut self,
        turn: &mut Turn,
        payload: Raw<'_>,
        faulty: bool,
    ) -> Result<(), ErrorDocument>;

    /// Takes the payload `[DONE]`.
    fn done(&mut self, _turn: &mut Turn) {}

    /// Whether a payload that came after the stop would have given an event.
    fn has_content(&self, payload: Raw<'_>) -> bool;

    /// Whether the turn would be complete if the input stopped here.
    fn ended(&self) -> bool;

    /// Ends the input: stops the turn if it had ended.
    ///
    /// # Errors
    /// What is missing.
    fn finish(&mut self, turn: &mut Turn) -> Result<(), String>;

    /// Lets go out what waits, before a failure is raised.
    fn fail(&mut self, _turn: &mut Turn) {}
}
