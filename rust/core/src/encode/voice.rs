//! What a wire has to know to say a turn.

use std::fmt::Debug;

use super::turn::Turn;
use crate::assemble::Message;
use crate::error::ErrorDocument;
use crate::event::StopReason;
use crate::json::Raw;
use crate::usage::Usage;

/// What kind of block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BlockKind {
    Text,
    Thinking,
    Tool,
    Redacted,
    Extension,
}

/// How a block begins. A text or thinking block has its first piece, signature or citation right after;
/// a redacted one is whole, but for its close.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Opening<'a> {
    Text,
    Thinking,
    Tool {
        id: &'a str,
        name: &'a str,
        /// A JSON object, of the target's own wire.
        extra: Option<Raw<'a>>,
    },
    Redacted {
        data: &'a str,
    },
    Extension {
        kind: &'a str,
        json: Raw<'a>,
    },
}

impl Opening<'_> {
    pub(crate) const fn kind(self) -> BlockKind {
        match self {
            Self::Text => BlockKind::Text,
            Self::Thinking => BlockKind::Thinking,
            Self::Tool { .. } => BlockKind::Tool,
            Self::Redacted { .. } => BlockKind::Redacted,
            Self::Extension { .. } => BlockKind::Extension,
        }
    }
}

/// How the turn ends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stop<'a> {
    pub(crate) reason: StopReason,
    pub(crate) raw: Option<&'a str>,
    pub(crate) usage: Option<Usage>,
}

/// A whole turn, for the body of a response that is not streamed. It holds what the wire is allowed to
/// say: what only another wire can carry has been left out and noted.
#[derive(Debug)]
pub(crate) struct Whole {
    /// Its stop is in [`Stop`] form by [`Whole::stop`].
    pub(crate) message: Message,
    /// Extensions without a block, in order: kind and JSON text.
    pub(crate) facts: Vec<(String, String)>,
}

impl Whole {
    pub(crate) fn stop(&self) -> Stop<'_> {
        Stop {
            reason: self.message.stop_reason,
            raw: self.message.raw_reason.as_deref(),
            usage: self.message.usage,
        }
    }

    /// The last fact of that kind.
    pub(crate) fn fact(&self, kind: &str) -> Option<Raw<'_>> {
        let fact = self.facts.iter().rev().find(|(known, _)| known == kind);
        fact.map(|(_, json)| Raw::assume(json))
    }
}

/// One wire's way of saying a turn. The framework calls it with events that are in order: the start first,
/// each block opened once before anything of it, closed once, nothing after the stop. What only another wire
/// can carry (signatures, redacted thinking, extensions, citations, extra members) never comes.
///
/// Blocks that are left out have no call at all, so that the indices may have gaps.
pub(crate) trait Voice: Debug + Send {
    /// Whether a block of this kind cannot be open beside others on the wire: while one is open, events of
    /// other blocks wait until it is closed, and come then in the order of their blocks.
    fn is_exclusive(&self, _kind: BlockKind) -> bool {
        false
    }

    /// The turn starts. Empty or missing labels are none.
    fn start(&mut self, turn: &mut Turn, id: Option<&str>, model: Option<&str>, out: &mut Vec<u8>);

    /// A block opens.
    fn open(&mut self, turn: &mut Turn, index: usize, opening: Opening<'_>, out: &mut Vec<u8>);

    /// A piece of an open block: text, thinking or arguments by the block's kind; never empty.
    fn piece(&mut self, turn: &mut Turn, index: usize, piece: &str, out: &mut Vec<u8>);

    /// A piece of the signature of an open text, thinking or tool block.
    fn signature(&mut self, turn: &mut Turn, index: usize, signature: &str, out: &mut Vec<u8>);

    /// A citation of an open text block.
    fn citation(&mut self, turn: &mut Turn, index: usize, json: Raw<'_>, out: &mut Vec<u8>);

    /// A delta of an open extension block.
    fn extension(
        &mut self,
        turn: &mut Turn,
        index: usize,
        kind: &str,
        json: Raw<'_>,
        out: &mut Vec<u8>,
    );

    /// An extension that is no block.
    fn fact(&mut self, turn: &mut Turn, kind: &str, json: Raw<'_>, out: &mut Vec<u8>);

    /// An open block closes.
    fn close(&mut self, turn: &mut Turn, index: usize, out: &mut Vec<u8>);

    /// The events end before the turn has stopped, or it is about to fail: what the voice still holds of
    /// it is said.
    fn cut(&mut self, _turn: &mut Turn, _out: &mut Vec<u8>) {}

    /// The turn ends; all blocks are closed.
    fn stop(&mut self, turn: &mut Turn, stop: Stop<'_>, out: &mut Vec<u8>);

    /// The turn fails, in the middle or before it started.
    fn fail(&mut self, turn: &mut Turn, fault: &ErrorDocument, out: &mut Vec<u8>);

    /// The body of the response that is not streamed; nothing was called before.
    fn body(&mut self, turn: &mut Turn, whole: &Whole, out: &mut Vec<u8>);
}
