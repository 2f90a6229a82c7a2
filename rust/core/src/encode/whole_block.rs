//! A block of the provider's own that goes out whole, while its deltas come.

use crate::assemble::{Block, Builder};
use crate::event::Event;
use crate::json::Raw;

/// The start of such a block and what its deltas gave, as a message would hold it.
#[derive(Debug, Default)]
pub(crate) struct WholeBlock {
    builder: Builder,
}

impl WholeBlock {
    pub(crate) fn new(kind: &str, json: Raw<'_>) -> Box<Self> {
        let mut block = Box::<Self>::default();
        block.add(kind, json);
        block
    }

    /// Takes a delta, or the start where there is none yet.
    pub(crate) fn add(&mut self, kind: &str, json: Raw<'_>) {
        let index = Some(0);
        let json = json.text();
        let added = self.builder.apply(Event::Extension { index, kind, json });
        debug_assert_eq!(added, Ok(()), "the block is the only one");
    }

    /// The block's kind and JSON.
    pub(crate) fn finish(self) -> Option<(String, String)> {
        match self.builder.into_message(None).content.into_iter().next() {
            Some(Block::Provider { kind, json }) => Some((kind, json)),
            _ => None,
        }
    }
}
