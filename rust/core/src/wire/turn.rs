//! The bookkeeping that every wire shares: blocks in the order in which they open, deltas, half
//! surrogates, warnings, and the closing of the turn.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt::Write as _;
use std::ops::Range;

use crate::event::{Event, EventLog, StopReason, Terminal, Warning, WarningCode};
use crate::json::Str;
use crate::usage::Usage;

/// What a block holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BlockKind {
    Text,
    Thinking,
    Redacted,
    Tool,
    Extension,
}

/// The texts of a block that come in pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Field {
    /// Text, thinking or argument text.
    Main,
    Signature,
}

#[derive(Debug, Clone)]
struct Block {
    kind: BlockKind,
    /// High surrogates that wait for the next piece of their field.
    half_main: Option<u16>,
    half_signature: Option<u16>,
    /// A piece of it has gone out.
    is_said: bool,
}

/// What the host wants done with the turn, the same for every wire.
#[derive(Debug, Clone, Default)]
pub(crate) struct TurnOptions {
    /// Tools that the provider runs itself although the wire shows them as calls.
    pub(crate) server_tools: HashSet<String>,
    /// From the name on the wire to the host's name.
    pub(crate) name_map: HashMap<String, String>,
}

/// A payload that differs from the next only in one string: where that string stands and where it goes.
#[derive(Debug, Clone)]
pub(crate) struct Hot {
    /// The string's body, in bytes of the payload.
    pub(crate) hole: Range<usize>,
    /// The block that takes it.
    pub(crate) block: usize,
}

/// A turn while it comes.
#[derive(Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an independent fact of the turn"
)]
pub(crate) struct Turn {
    pub(crate) options: TurnOptions,
    pub(crate) log: EventLog,
    pub(crate) warnings: Vec<Warning>,
    pub(crate) usage: Option<Usage>,
    /// Where the event being read begins.
    pub(crate) offset: u64,
    /// Set by a wire whose payload was nothing but one delta; the decoder takes it.
    pub(crate) hot: Option<Hot>,
    pub(crate) started: bool,
    pub(crate) stopped: bool,
    response_id: Option<String>,
    blocks: Vec<Block>,
    open: BTreeSet<usize>,
    /// Blocks in which half a surrogate pair waits.
    halved: BTreeSet<usize>,
    tool_ids: HashSet<String>,
    host_calls: usize,
    server_call: bool,
    refused: bool,
    warned_after_stop: bool,
    scratch: String,
}

impl Turn {
    pub(crate) fn new(options: TurnOptions) -> Self {
        Self {
            options,
            ..Self::default()
        }
    }

    pub(crate) fn warn(&mut self, code: WarningCode) {
        self.warn_with(code, code.explain().to_owned());
    }

    pub(crate) fn warn_with(&mut self, code: WarningCode, detail: String) {
        self.warnings.push(Warning {
            code,
            detail,
            offset: self.offset,
        });
    }

    /// Content came that the end of the turn makes void. Warned of once a stream.
    pub(crate) fn after_stop(&mut self) {
        if !std::mem::replace(&mut self.warned_after_stop, true) {
            self.warn(WarningCode::ContentAfterStop);
        }
    }

    /// Starts the message, unless it has started; the first values stay.
    pub(crate) fn start(&mut self, id: Option<Str<'_>>, model: Option<Str<'_>>) {
        if self.started {
            return;
        }
        self.started = true;
        let id = id.filter(|id| !id.is_empty()).map(|id| self.text(id));
        let model = model
            .filter(|model| !model.is_empty())
            .map(|model| self.text(model));
        self.log.push(Event::MessageStart {
            id: id.as_deref(),
            model: model.as_deref(),
        });
        self.response_id = id;
    }

    /// A whole string that the turn uses.
    pub(crate) fn text(&mut self, string: Str<'_>) -> String {
        if string.has_lone_surrogate() {
            self.warn(WarningCode::LoneSurrogate);
        }
        string.to_text()
    }

    /// How many blocks have opened.
    pub(crate) const fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// Opens a block and gives its index.
    pub(crate) fn open(&mut self, kind: BlockKind) -> usize {
        // A block of which nothing but half a surrogate came would open after this one, under a lower
        // index: the half goes out.
        if let Some(last) = self.blocks.len().checked_sub(1)
            && !self.blocks[last].is_said
        {
            self.release(last);
        }
        let index = self.blocks.len();
        self.blocks.push(Block {
            kind,
            half_main: None,
            half_signature: None,
            is_said: false,
        });
        self.open.insert(index);
        index
    }

    pub(crate) fn is_open(&self, index: usize) -> bool {
        self.open.contains(&index)
    }

    /// Adds a piece of text to a block: text, thinking or argument text by the block's kind.
    pub(crate) fn delta(&mut self, index: usize, piece: Str<'_>) {
        self.piece(index, Field::Main, piece);
    }

    /// Adds a piece of a block's signature.
    pub(crate) fn signature(&mut self, index: usize, piece: Str<'_>) {
        self.piece(index, Field::Signature, piece);
    }

    /// A piece of a block that is text already, the whole of which a half character that waits may
    /// begin. Gives how many bytes the block got.
    pub(crate) fn text_delta(&mut self, index: usize, text: &str) -> usize {
        let Some(half) = self.blocks[index].half_main else {
            self.push_piece(index, Field::Main, text);
            return text.len();
        };
        let begins = |first: char| first.encode_utf16(&mut [0; 2])[0] == half;
        if text.chars().next().is_some_and(begins) {
            self.blocks[index].half_main = None;
            if self.blocks[index].half_signature.is_none() {
                self.halved.remove(&index);
            }
            self.push_piece(index, Field::Main, text);
            return text.len();
        }
        self.release(index);
        // The whole form has the half as U+FFFD as well.
        let rest = text
            .strip_prefix(char::REPLACEMENT_CHARACTER)
            .unwrap_or(text);
        self.push_piece(index, Field::Main, rest);
        char::REPLACEMENT_CHARACTER.len_utf8() + rest.len()
    }

    /// A citation of a text block, as raw JSON text; it may be the first of the block.
    pub(crate) fn citation(&mut self, index: usize, json: &str) {
        self.blocks[index].is_said = true;
        self.log.push(Event::Citation { index, json });
    }

    /// A signature that is raw JSON text.
    pub(crate) fn raw_signature(&mut self, index: usize, signature: &str) {
        self.blocks[index].is_said = true;
        self.log.push(Event::SignatureDelta { index, signature });
    }

    /// Argument text that the wire gives as JSON instead of as a string.
    pub(crate) fn raw_arguments(&mut self, index: usize, partial_json: &str) {
        self.log.push(Event::InputJsonDelta {
            index,
            partial_json,
        });
    }

    fn half(&mut self, index: usize, field: Field) -> &mut Option<u16> {
        let block = &mut self.blocks[index];
        match field {
            Field::Main => &mut block.half_main,
            Field::Signature => &mut block.half_signature,
        }
    }

    fn piece(&mut self, index: usize, field: Field, piece: Str<'_>) {
        let half = *self.half(index, field);
        if let (Some(text), None) = (piece.plain(), half) {
            self.push_piece(index, field, text);
            return;
        }
        let mut text = std::mem::take(&mut self.scratch);
        text.clear();
        let lone = piece.push_to(&mut text, self.half(index, field));
        let block = &self.blocks[index];
        if block.half_main.is_some() || block.half_signature.is_some() {
            self.halved.insert(index);
        } else {
            self.halved.remove(&index);
        }
        for _ in 0..lone {
            self.warn(WarningCode::LoneSurrogate);
        }
        self.push_piece(index, field, &text);
        self.scratch = text;
    }

    /// Adds plain text to a block in which no half waits. The log gets a delta for each of `ends`, the places
    /// where they end in the text. Gives all of it as one event.
    pub(crate) fn deltas<'t>(&mut self, index: usize, text: &'t str, ends: &[usize]) -> Event<'t> {
        self.blocks[index].is_said = true;
        let event = self.event_of(index, Field::Main, text);
        self.log.push_in_pieces(event, ends);
        event
    }

    fn push_piece(&mut self, index: usize, field: Field, text: &str) {
        if !text.is_empty() {
            self.blocks[index].is_said = true;
            let event = self.event_of(index, field, text);
            self.log.push(event);
        }
    }

    fn event_of<'t>(&self, index: usize, field: Field, text: &'t str) -> Event<'t> {
        match (field, self.blocks[index].kind) {
            (Field::Signature, _) => Event::SignatureDelta {
                index,
                signature: text,
            },
            (Field::Main, BlockKind::Thinking) => Event::ThinkingDelta { index, text },
            (Field::Main, BlockKind::Tool) => Event::InputJsonDelta {
                index,
                partial_json: text,
            },
            (Field::Main, _) => Event::TextDelta { index, text },
        }
    }

    /// Lets a half surrogate that waited in vain go out as U+FFFD.
    fn release(&mut self, index: usize) {
        if !self.halved.remove(&index) {
            return;
        }
        for field in [Field::Main, Field::Signature] {
            if self.half(index, field).take().is_some() {
                self.warn(WarningCode::LoneSurrogate);
                self.replacement(index, field);
            }
        }
    }

    /// Whether half a character waits for the next piece of a block's text.
    pub(crate) fn has_half(&self, index: usize) -> bool {
        self.blocks[index].half_main.is_some()
    }

    /// U+FFFD in the place of half a surrogate pair.
    pub(crate) fn replacement(&mut self, index: usize, field: Field) {
        self.push_piece(index, field, "\u{FFFD}");
    }

    /// Where half a surrogate pair waits.
    pub(crate) fn halves(&self) -> Vec<(usize, Field)> {
        let fields = |&index: &usize| {
            let block = &self.blocks[index];
            let main = block.half_main.map(|_| (index, Field::Main));
            let signature = block.half_signature.map(|_| (index, Field::Signature));
            [main, signature].into_iter().flatten()
        };
        self.halved.iter().flat_map(fields).collect()
    }

    /// Announces a call, whose block is open. Without an id it gets one.
    pub(crate) fn tool_start(
        &mut self,
        index: usize,
        id: Option<&str>,
        name: &str,
        extra: Option<&str>,
    ) {
        let made_up;
        let id = if let Some(id) = id {
            id
        } else {
            made_up = self.synthetic_id(index, name);
            &made_up
        };
        if !self.tool_ids.insert(id.to_owned()) {
            self.warn(WarningCode::DuplicateToolId);
        }
        self.host_calls += 1;
        self.blocks[index].is_said = true;
        let name = self.options.name_map.get(name).map_or(name, String::as_str);
        self.log.push(Event::ToolUseStart {
            index,
            id,
            name,
            extra,
        });
    }

    /// An id for a call that came without one: the same on every run, different within the turn.
    pub(crate) fn synthetic_id(&mut self, index: usize, name: &str) -> String {
        self.warn(WarningCode::SyntheticToolId);
        self.quiet_id(index, name)
    }

    /// The same for a wire on which a missing id is normal.
    pub(crate) fn quiet_id(&self, index: usize, name: &str) -> String {
        let mut id = String::from("call_");
        match &self.response_id {
            Some(response) => id.push_str(response),
            None => {
                let _ = write!(id, "{:016x}", fnv1a(name.as_bytes()));
            }
        }
        let _ = write!(id, "_{index}");
        id
    }

    /// An item that the host must execute, though it is no call (computer use, a shell).
    pub(crate) const fn mark_host_call(&mut self) {
        self.host_calls += 1;
    }

    /// A call that the wire itself says the provider runs.
    pub(crate) const fn mark_server_call(&mut self) {
        self.server_call = true;
    }

    pub(crate) const fn mark_refusal(&mut self) {
        self.refused = true;
    }

    pub(crate) const fn has_host_calls(&self) -> bool {
        self.host_calls > 0
    }

    /// Closes a block, if it is open.
    pub(crate) fn close(&mut self, index: usize) {
        if self.open.remove(&index) {
            self.release(index);
            self.log.push(Event::ContentBlockStop { index });
        }
    }

    /// Closes what is open, in index order.
    pub(crate) fn close_all(&mut self) {
        while let Some(&index) = self.open.first() {
            self.close(index);
        }
    }

    /// A fact of the turn that is no part of its content.
    pub(crate) fn fact(&mut self, kind: &str, json: &str) {
        self.log.push(Event::Extension {
            index: None,
            kind,
            json,
        });
    }

    /// A block of the provider's own that comes whole.
    pub(crate) fn extension(&mut self, kind: &str, json: &str) {
        let index = self.open(BlockKind::Extension);
        self.log.push(Event::Extension {
            index: Some(index),
            kind,
            json,
        });
        self.close(index);
    }

    /// Ends the turn: the reason as the turn's content makes it, usage, stop.
    pub(crate) fn stop(
        &mut self,
        reason: StopReason,
        raw_reason: Option<&str>,
        terminal: Terminal,
    ) {
        self.start(None, None);
        self.close_all();
        let stop_reason = match reason {
            _ if self.refused => StopReason::Refusal,
            StopReason::EndTurn if self.has_host_calls() => StopReason::ToolUse,
            StopReason::ToolUse if !self.has_host_calls() => {
                if !self.server_call {
                    self.warn(WarningCode::ToolStopWithoutCalls);
                }
                StopReason::EndTurn
            }
            reason => reason,
        };
        if let Some(usage) = self.usage {
            self.log.push(Event::Usage(usage));
        }
        self.log.push(Event::MessageStop {
            stop_reason,
            raw_reason,
            terminal,
        });
        self.stopped = true;
    }

    /// Lets go out what waits, before a failure is raised; blocks stay open.
    pub(crate) fn fail(&mut self) {
        while let Some(&index) = self.halved.first() {
            self.release(index);
        }
    }
}

/// The 64-bit FNV-1a hash.
pub(crate) fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
