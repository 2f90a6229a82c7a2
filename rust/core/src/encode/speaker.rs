//! The bookkeeping of a turn that is said: which events may come, which have to wait, what only another
//! wire can carry.

use std::collections::BTreeMap;

use super::note::{Note, NoteCode};
use super::turn::Turn;
use super::voice::{BlockKind, Opening, Stop, Voice};
use super::{EncodeError, Settings, WRAPPING};
use crate::error::ErrorDocument;
use crate::event::{Event, EventLog};
use crate::json::{MAX_PAYLOAD_DEPTH, Raw};
use crate::usage::Usage;
use crate::wire::Dialect;

#[derive(Debug)]
struct Block {
    kind: BlockKind,
    /// Its stop has not come.
    is_open: bool,
    /// The voice knows of it.
    is_said: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Waiting,
    Started,
    Stopped,
    /// Finished before its stop, or failed.
    Ended,
}

/// Checks the events of one turn, puts them in an order that the wire can say, and tells its voice.
#[derive(Debug)]
pub(crate) struct Speaker<V: Voice + ?Sized> {
    turn: Turn,
    phase: Phase,
    blocks: Vec<Block>,
    /// How many have not had their stop.
    open: usize,
    /// The block that no other may be said beside or before, for now.
    alone: Option<usize>,
    /// What waits for that block to close, by block. There is none unless `alone` is set.
    held: BTreeMap<usize, EventLog>,
    /// Extensions that came before the start.
    early: EventLog,
    usage: Option<Usage>,
    voice: Box<V>,
}

impl<V: Voice + ?Sized> Speaker<V> {
    pub(crate) fn new(dialect: Dialect, settings: Settings, voice: Box<V>) -> Self {
        Self {
            turn: Turn::new(dialect, settings),
            phase: Phase::Waiting,
            blocks: Vec::new(),
            open: 0,
            alone: None,
            held: BTreeMap::new(),
            early: EventLog::default(),
            usage: None,
            voice,
        }
    }

    pub(crate) const fn is_stopped(&self) -> bool {
        matches!(self.phase, Phase::Stopped)
    }

    pub(crate) fn notes(&self) -> &[Note] {
        self.turn.notes.as_slice()
    }

    pub(crate) fn into_parts(self) -> (Turn, Box<V>) {
        (self.turn, self.voice)
    }

    /// Takes an event; nothing has changed if it is refused.
    #[inline]
    pub(crate) fn feed(&mut self, event: Event<'_>, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        // Nearly every event is a piece of the block that is being said.
        if let Event::TextDelta { index, text: piece }
        | Event::ThinkingDelta { index, text: piece }
        | Event::InputJsonDelta {
            index,
            partial_json: piece,
        } = event
            && self.phase == Phase::Started
            && let Some(block) = self.blocks.get(index)
            && block.is_open
            && block.is_said
            && Some(block.kind) == kind_of(&event)
            && self.alone.is_none_or(|alone| alone == index)
        {
            if !piece.is_empty() {
                self.voice.piece(&mut self.turn, index, piece, out);
            }
            return Ok(());
        }
        self.check(&event)?;
        self.take(event, out);
        Ok(())
    }

    /// Ends the events; a turn that has not stopped gets no end.
    pub(crate) fn finish(&mut self, out: &mut Vec<u8>) {
        if matches!(self.phase, Phase::Waiting | Phase::Started) {
            self.release_all(out);
            self.voice.cut(&mut self.turn, out);
            self.phase = Phase::Ended;
        }
    }

    /// Ends the stream with a fault.
    pub(crate) fn fail(
        &mut self,
        fault: &ErrorDocument,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        match self.phase {
            Phase::Stopped => return Err(EncodeError::AfterStop),
            Phase::Ended => return Err(EncodeError::AfterEnd),
            Phase::Waiting | Phase::Started => {}
        }
        self.release_all(out);
        self.voice.cut(&mut self.turn, out);
        self.phase = Phase::Ended;
        if fault.kind.is_empty() {
            // A fault that nobody named is the server's.
            let named = ErrorDocument {
                kind: server_fault(self.turn.dialect).to_owned(),
                ..fault.clone()
            };
            self.voice.fail(&mut self.turn, &named, out);
        } else {
            self.voice.fail(&mut self.turn, fault, out);
        }
        Ok(())
    }

    /// Whether the event can follow those before it.
    fn check(&self, event: &Event<'_>) -> Result<(), EncodeError> {
        match self.phase {
            Phase::Stopped => return Err(EncodeError::AfterStop),
            Phase::Ended => return Err(EncodeError::AfterEnd),
            Phase::Waiting | Phase::Started => {}
        }
        match *event {
            Event::MessageStart { .. } if self.phase == Phase::Started => {
                Err(EncodeError::SecondStart)
            }
            Event::MessageStart { .. } | Event::Usage(_) => Ok(()),
            Event::TextDelta { index, .. } => self.check_block("TextDelta", index, event, true),
            Event::ThinkingDelta { index, .. } => {
                self.check_block("ThinkingDelta", index, event, true)
            }
            Event::InputJsonDelta { index, .. } => {
                self.check_block("InputJsonDelta", index, event, false)
            }
            Event::SignatureDelta { index, .. } => {
                self.check_block("SignatureDelta", index, event, true)
            }
            Event::ContentBlockStop { index } => {
                self.check_block("ContentBlockStop", index, event, false)
            }
            Event::RedactedThinking { index, .. } => self.check_new("RedactedThinking", index),
            Event::ToolUseStart { index, extra, .. } => {
                self.check_new("ToolUseStart", index)?;
                match extra {
                    Some(extra) if !check_json("the extra of a call", extra)?.is_object() => {
                        Err(EncodeError::NotAnObject("the extra of a call"))
                    }
                    _ => Ok(()),
                }
            }
            Event::Citation { index, json } => {
                self.check_block("Citation", index, event, true)?;
                check_json("a citation", json).map(drop)
            }
            Event::Extension { index, json, .. } => {
                if let Some(index) = index {
                    self.check_block("Extension", index, event, true)?;
                }
                check_json("an extension", json).map(drop)
            }
            Event::MessageStop { .. } => match self.blocks.iter().position(|block| block.is_open) {
                Some(index) if self.open > 0 => Err(EncodeError::StillOpen(index)),
                _ => Ok(()),
            },
        }
    }

    /// Whether a block is open and takes the event, or is the next one, which the event may open.
    fn check_block(
        &self,
        name: &'static str,
        index: usize,
        event: &Event<'_>,
        opens: bool,
    ) -> Result<(), EncodeError> {
        let why = match self.blocks.get(index) {
            Some(block) if !block.is_open => "it has had its stop",
            Some(block) if !takes(block.kind, event) => "it is of another kind",
            Some(_) => return Ok(()),
            None if opens && index == self.blocks.len() => return Ok(()),
            None if opens => "blocks open in the order of their indices",
            None => "it was never opened",
        };
        Err(self.misplaced(name, index, why))
    }

    fn check_new(&self, name: &'static str, index: usize) -> Result<(), EncodeError> {
        if index == self.blocks.len() {
            return Ok(());
        }
        let why = if index < self.blocks.len() {
            "that block has opened before"
        } else {
            "blocks open in the order of their indices"
        };
        Err(self.misplaced(name, index, why))
    }

    fn misplaced(&self, event: &'static str, index: usize, why: &'static str) -> EncodeError {
        EncodeError::Misplaced {
            event,
            index,
            blocks: self.blocks.len(),
            why,
        }
    }

    /// Says an event that was checked, or holds it.
    fn take(&mut self, event: Event<'_>, out: &mut Vec<u8>) {
        let index = index_of(&event);
        if self.phase == Phase::Waiting {
            match event {
                Event::MessageStart { id, model } => {
                    self.start(id, model, out);
                    return;
                }
                Event::Extension { index: None, .. } => {
                    self.early.push(event);
                    return;
                }
                Event::Usage(_) => {}
                // A turn that begins with its content has neither id nor model.
                _ => self.start(None, None, out),
            }
        }
        if let Some(index) = index {
            if index == self.blocks.len() {
                let kind = kind_of(&event).unwrap_or(BlockKind::Thinking);
                self.blocks.push(Block {
                    kind,
                    is_open: true,
                    is_said: false,
                });
                self.open += 1;
                if self.alone.is_none() {
                    self.enter(index, kind);
                }
            } else if matches!(event, Event::ContentBlockStop { .. }) {
                self.blocks[index].is_open = false;
                self.open -= 1;
            }
            if self.alone.is_some_and(|alone| alone != index) {
                self.held.entry(index).or_default().push(event);
                return;
            }
        } else if let Some(mut last) = self.held.last_entry()
            && matches!(event, Event::Extension { .. })
        {
            // It may belong to the block that opens next.
            last.get_mut().push(event);
            return;
        }
        self.say(event, out);
        if self.alone.is_none() {
            self.release(out);
        }
    }

    fn start(&mut self, id: Option<&str>, model: Option<&str>, out: &mut Vec<u8>) {
        self.phase = Phase::Started;
        let label = |label: &&str| !label.is_empty();
        self.voice
            .start(&mut self.turn, id.filter(label), model.filter(label), out);
        let early = std::mem::take(&mut self.early);
        for event in early.iter() {
            self.say(event, out);
        }
    }

    /// Says what waited, in the order of the blocks, up to the next one that has to be alone.
    fn release(&mut self, out: &mut Vec<u8>) {
        while self.alone.is_none()
            && let Some((index, log)) = self.held.pop_first()
        {
            self.enter(index, self.blocks[index].kind);
            for event in log.iter() {
                self.say(event, out);
            }
        }
    }

    /// Says what waited, whether or not the blocks before it have closed: nothing more comes.
    fn release_all(&mut self, out: &mut Vec<u8>) {
        if self.phase == Phase::Waiting && !self.early.is_empty() {
            self.start(None, None, out);
        }
        while !self.held.is_empty() {
            // The block that they waited for has no end, but nothing more of it comes.
            self.voice.cut(&mut self.turn, out);
            self.alone = None;
            self.release(out);
        }
    }

    /// Tells the voice of an event whose turn has come.
    fn say(&mut self, event: Event<'_>, out: &mut Vec<u8>) {
        match event {
            // Taken before.
            Event::MessageStart { .. } => {}
            Event::TextDelta { index, text } => self.piece(index, Opening::Text, text, out),
            Event::ThinkingDelta { index, text } => self.piece(index, Opening::Thinking, text, out),
            Event::InputJsonDelta {
                index,
                partial_json,
            } => {
                if !partial_json.is_empty() {
                    self.voice.piece(&mut self.turn, index, partial_json, out);
                }
            }
            Event::SignatureDelta { index, signature } => {
                if !self.turn.is_own {
                    let detail = "a signature is of use to its own wire alone";
                    self.turn
                        .note(NoteCode::SignatureDropped, Some(index), detail);
                } else if !signature.is_empty() {
                    self.open_late(index, out);
                    self.voice.signature(&mut self.turn, index, signature, out);
                }
            }
            Event::RedactedThinking { index, data } => {
                if self.turn.is_own {
                    self.open_block(index, Opening::Redacted { data }, out);
                } else {
                    let detail = "redacted thinking is of use to its own wire alone";
                    self.turn
                        .note(NoteCode::ReasoningDropped, Some(index), detail);
                }
            }
            Event::ToolUseStart {
                index,
                id,
                name,
                extra,
            } => {
                if extra.is_some() && !self.turn.is_own {
                    let detail = "further members of a call are of use to their own wire alone";
                    self.turn
                        .note(NoteCode::ContentUnsupported, Some(index), detail);
                }
                let extra = extra.filter(|_| self.turn.is_own).map(checked);
                self.open_block(index, Opening::Tool { id, name, extra }, out);
            }
            Event::Citation { index, json } => {
                if self.turn.is_own {
                    self.open_late(index, out);
                    self.voice
                        .citation(&mut self.turn, index, checked(json), out);
                } else {
                    let detail = "a citation is of use to its own wire alone";
                    self.turn
                        .note(NoteCode::ContentUnsupported, Some(index), detail);
                }
            }
            Event::Extension { index, kind, json } => self.extension(index, kind, json, out),
            Event::ContentBlockStop { index } => {
                if self.blocks[index].is_said {
                    self.voice.close(&mut self.turn, index, out);
                }
                if self.alone == Some(index) {
                    self.alone = None;
                }
            }
            Event::Usage(usage) => self.usage = Some(usage),
            Event::MessageStop {
                stop_reason,
                raw_reason,
                ..
            } => {
                self.phase = Phase::Stopped;
                let stop = Stop {
                    reason: stop_reason,
                    raw: raw_reason,
                    usage: self.usage,
                };
                self.voice.stop(&mut self.turn, stop, out);
            }
        }
    }

    fn piece(&mut self, index: usize, opening: Opening<'_>, piece: &str, out: &mut Vec<u8>) {
        // An empty piece says nothing, not even that there is a block.
        if piece.is_empty() {
            return;
        }
        if !self.blocks[index].is_said {
            self.open_block(index, opening, out);
        }
        self.voice.piece(&mut self.turn, index, piece, out);
    }

    fn extension(&mut self, index: Option<usize>, kind: &str, json: &str, out: &mut Vec<u8>) {
        if !self.turn.is_own {
            let detail = format!("{kind} is of use to its own wire alone");
            self.turn.note(NoteCode::ContentUnsupported, index, detail);
            return;
        }
        let json = checked(json);
        match index {
            None => self.voice.fact(&mut self.turn, kind, json, out),
            Some(index) if self.blocks[index].is_said => {
                self.voice.extension(&mut self.turn, index, kind, json, out);
            }
            Some(index) => self.open_block(index, Opening::Extension { kind, json }, out),
        }
    }

    /// Opens a text or thinking block that begins with something else than its text.
    fn open_late(&mut self, index: usize, out: &mut Vec<u8>) {
        if !self.blocks[index].is_said {
            let opening = match self.blocks[index].kind {
                BlockKind::Text => Opening::Text,
                _ => Opening::Thinking,
            };
            self.open_block(index, opening, out);
        }
    }

    /// Makes a block the one that others wait for: to its end where it has to be alone, else until it is
    /// said, because a text or thinking block may begin with what is left out.
    fn enter(&mut self, index: usize, kind: BlockKind) {
        let opens_late = matches!(kind, BlockKind::Text | BlockKind::Thinking);
        if opens_late || self.voice.is_exclusive(kind) {
            self.alone = Some(index);
        }
    }

    fn open_block(&mut self, index: usize, opening: Opening<'_>, out: &mut Vec<u8>) {
        self.blocks[index].is_said = true;
        if self.alone == Some(index) && !self.voice.is_exclusive(opening.kind()) {
            self.alone = None;
        }
        self.voice.open(&mut self.turn, index, opening, out);
    }
}

/// What a provider calls a fault of its servers.
const fn server_fault(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Anthropic => "api_error",
        Dialect::OpenAiChat | Dialect::OpenAiResponses => "server_error",
        Dialect::Gemini => "INTERNAL",
        Dialect::BedrockConverse => "internalServerException",
    }
}

/// JSON text that [`check_json`] has seen.
fn checked(json: &str) -> Raw<'_> {
    Raw::assume(crate::json::trim(json))
}

fn check_json<'a>(what: &'static str, json: &'a str) -> Result<Raw<'a>, EncodeError> {
    Raw::parse(json, MAX_PAYLOAD_DEPTH - WRAPPING)
        .map_err(|error| EncodeError::NotJson { what, error })
}

const fn index_of(event: &Event<'_>) -> Option<usize> {
    match *event {
        Event::TextDelta { index, .. }
        | Event::ThinkingDelta { index, .. }
        | Event::SignatureDelta { index, .. }
        | Event::RedactedThinking { index, .. }
        | Event::ToolUseStart { index, .. }
        | Event::InputJsonDelta { index, .. }
        | Event::Citation { index, .. }
        | Event::ContentBlockStop { index } => Some(index),
        Event::Extension { index, .. } => index,
        Event::MessageStart { .. } | Event::Usage(_) | Event::MessageStop { .. } => None,
    }
}

/// The kind of the block that an event is of, where it tells.
const fn kind_of(event: &Event<'_>) -> Option<BlockKind> {
    match event {
        Event::TextDelta { .. } | Event::Citation { .. } => Some(BlockKind::Text),
        Event::ThinkingDelta { .. } => Some(BlockKind::Thinking),
        Event::ToolUseStart { .. } | Event::InputJsonDelta { .. } => Some(BlockKind::Tool),
        Event::RedactedThinking { .. } => Some(BlockKind::Redacted),
        Event::Extension { index: Some(_), .. } => Some(BlockKind::Extension),
        _ => None,
    }
}

/// Whether an open block takes an event that is not its first.
fn takes(kind: BlockKind, event: &Event<'_>) -> bool {
    match event {
        Event::ContentBlockStop { .. } => true,
        Event::SignatureDelta { .. } => matches!(
            kind,
            BlockKind::Text | BlockKind::Thinking | BlockKind::Tool
        ),
        _ => kind_of(event) == Some(kind),
    }
}
