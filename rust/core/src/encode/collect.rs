//! A voice that says nothing but keeps the turn, for the body of a response that is not streamed.

use std::collections::HashMap;

use super::turn::Turn;
use super::voice::{BlockKind, Opening, Stop, Voice, Whole};
use crate::assemble::Builder;
use crate::error::ErrorDocument;
use crate::event::{Event, Terminal};
use crate::json::Raw;

/// Adds up what a wire would have been told.
#[derive(Debug, Default)]
pub(crate) struct Collector {
    builder: Builder,
    /// The kinds of the blocks that were kept, and where each stands among them.
    kinds: Vec<BlockKind>,
    places: HashMap<usize, usize>,
    facts: Vec<(String, String)>,
}

impl Collector {
    /// The turn that was kept.
    pub(crate) fn whole(self) -> Whole {
        Whole {
            message: self.builder.into_message(None),
            facts: self.facts,
        }
    }

    fn place(&self, index: usize) -> usize {
        self.places.get(&index).copied().unwrap_or(index)
    }

    fn apply(&mut self, event: Event<'_>) {
        // The speaker has checked the order.
        let applied = self.builder.apply(event);
        debug_assert_eq!(applied, Ok(()), "an event out of order");
    }
}

impl Voice for Collector {
    fn start(&mut self, _: &mut Turn, id: Option<&str>, model: Option<&str>, _: &mut Vec<u8>) {
        self.apply(Event::MessageStart { id, model });
    }

    fn open(&mut self, turn: &mut Turn, index: usize, opening: Opening<'_>, _: &mut Vec<u8>) {
        let place = self.kinds.len();
        self.kinds.push(opening.kind());
        self.places.insert(index, place);
        match opening {
            // Whatever they begin with, a signature or a citation, they are what they were opened as.
            Opening::Text => self.apply(Event::TextDelta {
                index: place,
                text: "",
            }),
            Opening::Thinking => self.apply(Event::ThinkingDelta {
                index: place,
                text: "",
            }),
            Opening::Tool { id, name, extra } => {
                turn.calls += 1;
                self.apply(Event::ToolUseStart {
                    index: place,
                    id,
                    name,
                    extra: extra.map(Raw::text),
                });
            }
            Opening::Redacted { data } => {
                self.apply(Event::RedactedThinking { index: place, data });
            }
            Opening::Extension { kind, json } => self.apply(Event::Extension {
                index: Some(place),
                kind,
                json: json.text(),
            }),
        }
    }

    fn piece(&mut self, _: &mut Turn, index: usize, piece: &str, _: &mut Vec<u8>) {
        let index = self.place(index);
        let event = match self.kinds[index] {
            BlockKind::Thinking => Event::ThinkingDelta { index, text: piece },
            BlockKind::Tool => Event::InputJsonDelta {
                index,
                partial_json: piece,
            },
            _ => Event::TextDelta { index, text: piece },
        };
        self.apply(event);
    }

    fn signature(&mut self, _: &mut Turn, index: usize, signature: &str, _: &mut Vec<u8>) {
        let index = self.place(index);
        self.apply(Event::SignatureDelta { index, signature });
    }

    fn citation(&mut self, _: &mut Turn, index: usize, json: Raw<'_>, _: &mut Vec<u8>) {
        let index = self.place(index);
        self.apply(Event::Citation {
            index,
            json: json.text(),
        });
    }

    fn extension(
        &mut self,
        _: &mut Turn,
        index: usize,
        kind: &str,
        json: Raw<'_>,
        _: &mut Vec<u8>,
    ) {
        let index = Some(self.place(index));
        self.apply(Event::Extension {
            index,
            kind,
            json: json.text(),
        });
    }

    fn fact(&mut self, _: &mut Turn, kind: &str, json: Raw<'_>, _: &mut Vec<u8>) {
        // Some belong to the block that comes next.
        self.apply(Event::Extension {
            index: None,
            kind,
            json: json.text(),
        });
        self.facts.push((kind.to_owned(), json.text().to_owned()));
    }

    fn close(&mut self, _: &mut Turn, index: usize, _: &mut Vec<u8>) {
        let index = self.place(index);
        self.apply(Event::ContentBlockStop { index });
    }

    fn stop(&mut self, _: &mut Turn, stop: Stop<'_>, _: &mut Vec<u8>) {
        if let Some(usage) = stop.usage {
            self.apply(Event::Usage(usage));
        }
        self.apply(Event::MessageStop {
            stop_reason: stop.reason,
            raw_reason: stop.raw,
            // What ended it is the wire's to say.
            terminal: Terminal::MessageStop,
        });
    }

    fn fail(&mut self, _: &mut Turn, _: &ErrorDocument, _: &mut Vec<u8>) {}

    fn body(&mut self, _: &mut Turn, _: &Whole, _: &mut Vec<u8>) {}
}
