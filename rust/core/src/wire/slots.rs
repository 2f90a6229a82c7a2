//! Blocks that a wire numbers itself and opens, fills and closes one by one, as Anthropic and Bedrock do.

use std::collections::BTreeMap;

use super::turn::{BlockKind, Turn};
use crate::event::Event;
use crate::json::Raw;

/// A block that is open on the wire.
#[derive(Debug)]
pub(crate) enum Slot {
    /// Opens at its first delta.
    Text(Option<usize>),
    /// Opens at its first delta.
    Thinking(Option<usize>),
    /// A call, and the input that its start held, which counts unless argument deltas come.
    Tool { block: usize, input: Option<String> },
    /// A block of the provider's own.
    Extension(usize),
    /// A whole block.
    Redacted(usize),
}

/// The open blocks by the wire's numbers.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    open: BTreeMap<i64, Slot>,
}

impl Slots {
    pub(crate) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    pub(crate) fn get_mut(&mut self, index: i64) -> Option<&mut Slot> {
        self.open.get_mut(&index)
    }

    /// Puts a block at a number; one that was open there closes.
    pub(crate) fn put(&mut self, turn: &mut Turn, index: i64, slot: Slot) -> &mut Slot {
        self.close(turn, index);
        self.open.entry(index).or_insert(slot)
    }

    /// Closes the block at a number; gives whether there was one.
    pub(crate) fn close(&mut self, turn: &mut Turn, index: i64) -> bool {
        let slot = self.open.remove(&index);
        let was_open = slot.is_some();
        if let Some(slot) = slot {
            slot.close(turn);
        }
        was_open
    }

    /// Closes what the wire left open, in the order in which it opened, whatever the wire's numbers.
    pub(crate) fn close_all(&mut self, turn: &mut Turn) {
        let mut open: Vec<Slot> = std::mem::take(&mut self.open).into_values().collect();
        open.sort_by_key(Slot::block);
        for slot in open {
            slot.close(turn);
        }
    }
}

impl Slot {
    const fn block(&self) -> Option<usize> {
        match *self {
            Self::Text(block) | Self::Thinking(block) => block,
            Self::Tool { block, .. } | Self::Extension(block) | Self::Redacted(block) => {
                Some(block)
            }
        }
    }

    /// A block of the provider's own, from its start.
    pub(crate) fn extension(turn: &mut Turn, kind: &str, start: Raw<'_>) -> Self {
        let index = turn.open(BlockKind::Extension);
        turn.log.push(Event::Extension {
            index: Some(index),
            kind,
            json: start.text(),
        });
        Self::Extension(index)
    }

    pub(crate) fn close(self, turn: &mut Turn) {
        if let Self::Tool {
            block,
            input: Some(input),
        } = &self
        {
            turn.raw_arguments(*block, input);
        }
        if let Some(block) = self.block() {
            turn.close(block);
        }
    }
}

/// The block of a slot, which its first content opens.
pub(crate) fn open_late(turn: &mut Turn, slot: &mut Option<usize>, kind: BlockKind) -> usize {
    *slot.get_or_insert_with(|| turn.open(kind))
}
