//! Server-sent-event framing over bytes: the event-stream interpretation of the WHATWG HTML standard
//! (section 9.2.6), fed in pieces of any size.

use std::borrow::Cow;
use std::ops::ControlFlow;

use memchr::{memchr, memchr_iter, memchr2};

/// What happens at the end of input to a block that has data but no blank line behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EndOfInput {
    /// It is dispatched; [`Frame::flushed`] tells.
    #[default]
    Flush,
    /// It is dropped; [`Item::Discarded`] tells.
    Discard,
}

/// One dispatched event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The event's name; empty where none was given, which the standard calls `message`.
    pub event: &'a str,
    /// The data lines, joined by LF; each maximal invalid UTF-8 subpart is one U+FFFD.
    pub data: Cow<'a, str>,
    /// The last event id that is in force.
    pub id: Option<&'a str>,
    /// The reconnection time in milliseconds, where this block gave one.
    pub retry: Option<u64>,
    /// Where the first data line of the event begins, in bytes from the start of the stream.
    pub offset: u64,
    /// The end of input dispatched it, no blank line.
    pub flushed: bool,
    /// The whole block as it came, its blank line included, if `data` is a slice of it.
    pub block: Option<&'a [u8]>,
}

/// What the framer finds, in stream order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item<'a> {
    /// A dispatched event.
    Frame(Frame<'a>),
    /// A field value that is not UTF-8; comes before the event that holds it.
    InvalidUtf8 {
        /// Where the event's data (for other fields, the line) begins.
        offset: u64,
    },
    /// A block with data that the end of input left unfinished and [`EndOfInput::Discard`] dropped.
    Discarded {
        /// Where its data begins.
        offset: u64,
    },
    /// A block without data that is no SSE: its lines, joined by LF. Only with [`Framer::with_foreign`].
    Foreign {
        /// The text, its beginning where it is longer than [`FOREIGN_LIMIT`] bytes.
        text: Cow<'a, str>,
        /// Where it begins.
        offset: u64,
    },
    /// The value of a field named `error`. Only with [`Framer::with_foreign`].
    ErrorField {
        /// The field's value.
        text: Cow<'a, str>,
        /// Where the line begins.
        offset: u64,
    },
}

/// How much of a block that is no SSE is kept, in bytes.
pub const FOREIGN_LIMIT: usize = 256 * 1024;

/// An event has more data than allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLarge {
    /// Where the event's data begins.
    pub offset: u64,
}

const BOM: &[u8; 3] = b"\xEF\xBB\xBF";

/// What an unfinished line is, as far as its bytes tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    /// No byte yet.
    None,
    /// Too short to tell.
    Open,
    /// A data line, whose value goes into the block's data as it comes.
    Data,
    /// A field that is kept.
    Kept,
    /// Text that is no SSE, kept up to [`FOREIGN_LIMIT`].
    Foreign,
    /// A comment or an unknown field: nothing is kept.
    Skipped,
}

/// Bytes that came in pieces, as text: each maximal invalid subpart is one U+FFFD, wherever the cuts are.
#[derive(Debug)]
struct Decoded {
    text: String,
    /// A sequence that may go on with the next piece.
    cut: Vec<u8>,
    /// How many bytes came, whatever became of them.
    length: usize,
    is_invalid: bool,
    /// How many values were not UTF-8.
    invalid_values: usize,
}

impl Decoded {
    const fn new() -> Self {
        Self {
            text: String::new(),
            cut: Vec::new(),
            length: 0,
            is_invalid: false,
            invalid_values: 0,
        }
    }

    fn clear(&mut self) {
        self.text.clear();
        self.cut.clear();
        self.length = 0;
        self.is_invalid = false;
        self.invalid_values = 0;
    }

    fn push(&mut self, bytes: &[u8]) {
        self.length += bytes.len();
        let mut rest = bytes;
        while !self.cut.is_empty() && !rest.is_empty() {
            self.cut.push(rest[0]);
            match std::str::from_utf8(&self.cut) {
                Ok(character) => self.text.push_str(character),
                Err(error) if error.error_len().is_none() => {
                    rest = &rest[1..];
                    continue;
                }
                // The byte does not go on with it: it stands for itself.
                Err(_) => {
                    self.replace();
                    self.cut.clear();
                    continue;
                }
            }
            self.cut.clear();
            rest = &rest[1..];
        }
        if let Ok(text) = simdutf8::basic::from_utf8(rest) {
            self.text.push_str(text);
            return;
        }
        let is_cut =
            |bytes| std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none());
        let mut chunks = rest.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            self.text.push_str(chunk.valid());
            if chunks.peek().is_none() && is_cut(chunk.invalid()) {
                self.cut.extend_from_slice(chunk.invalid());
            } else if !chunk.invalid().is_empty() {
                self.replace();
            }
        }
    }

    fn replace(&mut self) {
        self.text.push(char::REPLACEMENT_CHARACTER);
        self.is_invalid = true;
    }

    /// A value ends: what was cut stays cut.
    fn end_value(&mut self) {
        if !self.cut.is_empty() {
            self.cut.clear();
            self.replace();
        }
        self.invalid_values += usize::from(std::mem::take(&mut self.is_invalid));
    }
}

/// The incremental parser. It keeps at most the bytes of one unfinished event.
#[derive(Debug)]
pub struct Framer {
    max_event_bytes: Option<usize>,
    foreign: bool,
    /// Bytes of the byte order mark seen so far; 3 or more: the question is settled.
    bom: usize,
    after_cr: bool,
    consumed: u64,
    line: Vec<u8>,
    line_kind: Line,
    line_offset: u64,
    /// The data of the block so far, decoded.
    data: Decoded,
    data_lines: usize,
    data_offset: u64,
    /// The last event name that came, which is that of the block only if `has_event`.
    event: String,
    has_event: bool,
    id: Option<String>,
    retry: Option<u64>,
    alien: Vec<u8>,
    alien_offset: Option<u64>,
}

impl Default for Framer {
    fn default() -> Self {
        Self::new(None)
    }
}

/// Who is told what the framer finds.
pub trait Handler {
    /// Takes the next item, and may break off.
    fn item(&mut self, item: Item<'_>) -> ControlFlow<()>;

    /// Takes whole blocks off the front of `bytes` that it can read without framing, and gives how many
    /// bytes they are: 0 for none. Such blocks may hold nothing but `event` and `data` lines and end with
    /// LF. `offset` is where `bytes` begins.
    fn shortcut(&mut self, bytes: &[u8], offset: u64) -> usize {
        let _ = (bytes, offset);
        0
    }
}

impl<F: FnMut(Item<'_>) -> ControlFlow<()>> Handler for F {
    fn item(&mut self, item: Item<'_>) -> ControlFlow<()> {
        self(item)
    }
}

enum Stop {
    Handler,
    TooLarge(TooLarge),
}

impl Framer {
    /// A framer at the start of a stream. An event with more than `max_event_bytes` bytes of data fails.
    #[must_use]
    pub const fn new(max_event_bytes: Option<usize>) -> Self {
        Self {
            max_event_bytes,
            foreign: false,
            bom: 0,
            after_cr: false,
            consumed: 0,
            line: Vec::new(),
            line_kind: Line::None,
            line_offset: 0,
            data: Decoded::new(),
            data_lines: 0,
            data_offset: 0,
            event: String::new(),
            has_event: false,
            id: None,
            retry: None,
            alien: Vec::new(),
            alien_offset: None,
        }
    }

    /// Also reports text that is no SSE: whole error documents and `error:` lines, as proxies and some
    /// servers send them.
    #[must_use]
    pub const fn with_foreign(mut self) -> Self {
        self.foreign = true;
        self
    }

    /// How many bytes came so far.
    #[must_use]
    pub const fn consumed(&self) -> u64 {
        self.consumed
    }

    /// Takes the next bytes and gives what they complete to `handler`, which may break off.
    ///
    /// # Errors
    /// [`TooLarge`] as soon as an event is known to be larger than allowed; nothing may be fed after it.
    pub fn feed(&mut self, chunk: &[u8], handler: &mut impl Handler) -> Result<(), TooLarge> {
        let base = self.consumed;
        self.consumed += chunk.len() as u64;
        match self.run(chunk, base, handler) {
            Ok(()) | Err(Stop::Handler) => Ok(()),
            Err(Stop::TooLarge(error)) => Err(error),
        }
    }

    /// Ends the input: an unfinished line counts as a line, a pending block goes by `policy`.
    ///
    /// # Errors
    /// [`TooLarge`] as for [`Framer::feed`].
    pub fn finish(
        &mut self,
        policy: EndOfInput,
        handler: &mut impl Handler,
    ) -> Result<(), TooLarge> {
        match self.end(policy, handler) {
            Ok(()) | Err(Stop::Handler) => Ok(()),
            Err(Stop::TooLarge(error)) => Err(error),
        }
    }

    fn run(&mut self, chunk: &[u8], base: u64, handler: &mut impl Handler) -> Result<(), Stop> {
        let mut at = if self.bom < BOM.len() {
            self.skip_bom(chunk)
        } else {
            0
        };
        if self.after_cr && at < chunk.len() {
            self.after_cr = false;
            at += usize::from(chunk[at] == b'\n');
        }
        // The data of the block as a slice of this chunk, while it is a single line: no copy.
        let mut held: Option<&[u8]> = None;
        // Where the block began, if it did so in this chunk.
        let mut block = None;
        if self.is_between_blocks() {
            at += handler.shortcut(&chunk[at..], base + at as u64);
            block = Some(at);
        }
        if at == chunk.len() {
            return Ok(());
        }
        // Few streams have a CR, and looking for LF alone is quicker.
        let has_cr = memchr(b'\r', &chunk[at..]).is_some();
        while at < chunk.len() {
            let rest = &chunk[at..];
            if rest[0] == b'\n' && self.line_kind == Line::None {
                at += 1;
                let whole = block.map(|start| &chunk[start..at]);
                self.dispatch(held.take(), whole, false, handler)?;
                at += handler.shortcut(&chunk[at..], base + at as u64);
                block = Some(at);
                continue;
            }
            let end = if has_cr {
                memchr2(b'\n', b'\r', rest)
            } else {
                memchr(b'\n', rest)
            };
            let Some(length) = end else {
                self.keep(&mut held);
                self.partial(rest, base + at as u64)?;
                break;
            };
            let offset = base + at as u64;
            let line = &rest[..length];
            at += length + 1;
            if rest[length] == b'\r' {
                match chunk.get(at) {
                    Some(b'\n') => at += 1,
                    Some(_) => {}
                    None => self.after_cr = true,
                }
            }
            if self.line_kind != Line::None {
                self.partial(line, offset)?;
                self.end_partial_line(handler)?;
            } else if line.is_empty() {
                self.dispatch(held.take(), None, false, handler)?;
                block = None;
            } else if let Some(value) = line.strip_prefix(b"data:") {
                let value = value.strip_prefix(b" ").unwrap_or(value);
                if self.data_lines == 0 {
                    self.data_offset = offset;
                    self.check_size(value.len())?;
                    held = Some(value);
                } else {
                    self.keep(&mut held);
                    self.begin_value();
                    self.check_size(value.len())?;
                    self.data.push(value);
                    self.data.end_value();
                }
                self.data_lines += 1;
            } else if self.repeats_event(line) {
                self.has_event = true;
            } else {
                if !line.starts_with(b"event:") {
                    block = None;
                }
                self.keep(&mut held);
                self.other_line(line, offset, handler)?;
            }
        }
        self.keep(&mut held);
        Ok(())
    }

    /// Whether the line names the event as the one before was named.
    fn repeats_event(&self, line: &[u8]) -> bool {
        let name = line.strip_prefix(b"event:");
        let name = name.map(|name| name.strip_prefix(b" ").unwrap_or(name));
        name == Some(self.event.as_bytes()) && self.alien_offset.is_none()
    }

    /// Whether the next byte begins a block: no line of one has come.
    fn is_between_blocks(&self) -> bool {
        self.bom == BOM.len()
            && !self.after_cr
            && self.line_kind == Line::None
            && self.data_lines == 0
            && !self.has_event
            && self.retry.is_none()
            && self.alien_offset.is_none()
    }

    /// Drops a byte order mark at the very start; gives how many bytes of the chunk are done with.
    fn skip_bom(&mut self, chunk: &[u8]) -> usize {
        for (at, &byte) in chunk.iter().enumerate() {
            if byte == BOM[self.bom] {
                self.bom += 1;
                if self.bom == BOM.len() {
                    return at + 1;
                }
            } else {
                self.no_bom();
                return at;
            }
        }
        chunk.len()
    }

    fn no_bom(&mut self) {
        if self.bom > 0 {
            self.line.extend_from_slice(&BOM[..self.bom]);
            self.line_kind = Line::Open;
            self.line_offset = 0;
        }
        self.bom = BOM.len();
    }

    /// Moves data that is held as a slice of the chunk into the buffer.
    fn keep(&mut self, held: &mut Option<&[u8]>) {
        if let Some(value) = held.take() {
            self.data.clear();
            self.data.push(value);
            self.data.end_value();
        }
    }

    /// Sets a further data value off from those before it.
    fn begin_value(&mut self) {
        if self.data_lines == 0 {
            self.data.clear();
        } else {
            self.data.push(b"\n");
        }
    }

    /// Checks the size of the event with `added` more bytes of data.
    fn check_size(&self, added: usize) -> Result<(), Stop> {
        let before = if self.data_lines == 0 {
            0
        } else {
            self.data.length
        };
        self.check_total(before + added)
    }

    fn check_total(&self, total: usize) -> Result<(), Stop> {
        match self.max_event_bytes {
            Some(limit) if total > limit => Err(Stop::TooLarge(TooLarge {
                offset: self.data_offset,
            })),
            _ => Ok(()),
        }
    }

    /// Takes a piece of a line whose end has not come yet.
    fn partial(&mut self, bytes: &[u8], offset: u64) -> Result<(), Stop> {
        if bytes.is_empty() {
            return Ok(());
        }
        if self.line_kind == Line::None {
            self.line_kind = Line::Open;
            self.line_offset = offset;
        }
        match self.line_kind {
            Line::Skipped => {}
            Line::Data => {
                self.data.push(bytes);
                self.check_total(self.data.length)?;
            }
            Line::Foreign => {
                let room = FOREIGN_LIMIT.saturating_sub(self.line.len());
                self.line.extend_from_slice(&bytes[..bytes.len().min(room)]);
            }
            Line::Kept => self.line.extend_from_slice(bytes),
            Line::None | Line::Open => {
                self.line.extend_from_slice(bytes);
                self.line_kind = self.classify();
                match self.line_kind {
                    Line::Data => {
                        let value = &self.line["data:".len()..];
                        let start =
                            self.line.len() - value.strip_prefix(b" ").unwrap_or(value).len();
                        if self.data_lines == 0 {
                            self.data_offset = self.line_offset;
                        }
                        self.begin_value();
                        self.data.push(&self.line[start..]);
                        self.line.clear();
                        self.check_total(self.data.length)?;
                    }
                    Line::Skipped => self.line.clear(),
                    Line::Foreign => self.line.truncate(FOREIGN_LIMIT),
                    Line::None | Line::Open | Line::Kept => {}
                }
            }
        }
        Ok(())
    }

    /// Tells what the unfinished line in `self.line` is, as soon as it can be told.
    fn classify(&self) -> Line {
        // One byte more than the longest name that is known, so that its colon is in sight.
        const LOOK: usize = 6;
        let head = &self.line[..self.line.len().min(LOOK)];
        let Some(colon) = memchr(b':', head) else {
            return match (self.line.len() < LOOK, self.foreign) {
                (true, _) => Line::Open,
                (false, true) => Line::Foreign,
                (false, false) => Line::Skipped,
            };
        };
        match &head[..colon] {
            b"" if self.alien_offset.is_none() => Line::Skipped,
            // The space that may follow the colon is not part of the value.
            b"data" if self.line.len() == colon + 1 => Line::Open,
            b"data" => Line::Data,
            b"event" | b"id" | b"retry" => Line::Kept,
            _ if self.foreign => Line::Foreign,
            _ => Line::Skipped,
        }
    }

    fn end_partial_line(&mut self, handler: &mut impl Handler) -> Result<(), Stop> {
        match std::mem::replace(&mut self.line_kind, Line::None) {
            Line::Skipped | Line::None => {}
            Line::Data => {
                self.data.end_value();
                self.data_lines += 1;
            }
            Line::Open | Line::Kept | Line::Foreign => {
                let line = std::mem::take(&mut self.line);
                let result = self.other_line(&line, self.line_offset, handler);
                self.line = line;
                self.line.clear();
                result?;
            }
        }
        Ok(())
    }

    /// Any line but a blank one and `data:` with its colon.
    fn other_line(
        &mut self,
        line: &[u8],
        offset: u64,
        handler: &mut impl Handler,
    ) -> Result<(), Stop> {
        let (name, value) = match memchr(b':', line) {
            // In text that is no SSE a line may begin with a colon.
            Some(0) if self.alien_offset.is_none() => return Ok(()),
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &b""[..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"data" => {
                // Without a value: an unfinished line too short to tell, or no colon at all.
                if self.data_lines == 0 {
                    self.data_offset = offset;
                }
                self.begin_value();
                self.check_size(value.len())?;
                self.data.push(value);
                self.data.end_value();
                self.data_lines += 1;
                return Ok(());
            }
            b"event" => {
                self.has_event = true;
                // Mostly the name of the event before.
                if value != self.event.as_bytes() {
                    let text = decode_field(value, offset, handler)?;
                    self.event.clear();
                    self.event.push_str(&text);
                }
            }
            b"id" => {
                let text = decode_field(value, offset, handler)?;
                if memchr(0, value).is_none() {
                    self.id = Some(text.into_owned());
                }
            }
            b"retry" => {
                let text = decode_field(value, offset, handler)?;
                if text.bytes().all(|byte| byte.is_ascii_digit())
                    && let Ok(number) = text.parse()
                {
                    self.retry = Some(number);
                }
            }
            b"error" if self.foreign => {
                // The same part of a long line, whether it came in pieces or not.
                let value = &value[..value.len().min(FOREIGN_LIMIT - (line.len() - value.len()))];
                emit(
                    handler,
                    Item::ErrorField {
                        text: String::from_utf8_lossy(value),
                        offset,
                    },
                )?;
            }
            _ if self.foreign && self.alien_offset.is_none() && self.data_lines == 0 => {
                self.alien_offset = Some(offset);
            }
            _ => {}
        }
        // From its first unknown line on, a block may be no SSE at all: then every line belongs to it.
        if self.alien_offset.is_some() && self.data_lines == 0 {
            if !self.alien.is_empty() {
                self.alien.push(b'\n');
            }
            let room = FOREIGN_LIMIT.saturating_sub(self.alien.len());
            self.alien.extend_from_slice(&line[..line.len().min(room)]);
        }
        Ok(())
    }

    /// A blank line, or the end of input: gives out what is pending and starts a new block.
    fn dispatch(
        &mut self,
        held: Option<&[u8]>,
        block: Option<&[u8]>,
        flushed: bool,
        handler: &mut impl Handler,
    ) -> Result<(), Stop> {
        let mut result = Ok(());
        if self.data_lines > 0 {
            let (data, invalid) = match held {
                Some(value) => match simdutf8::basic::from_utf8(value) {
                    Ok(text) => (Cow::Borrowed(text), 0),
                    Err(_) => (String::from_utf8_lossy(value), 1),
                },
                None => (
                    Cow::Borrowed(self.data.text.as_str()),
                    self.data.invalid_values,
                ),
            };
            for _ in 0..invalid {
                emit(
                    handler,
                    Item::InvalidUtf8 {
                        offset: self.data_offset,
                    },
                )?;
            }
            let frame = Frame {
                event: if self.has_event { &self.event } else { "" },
                block: block.filter(|_| held.is_some() && matches!(data, Cow::Borrowed(_))),
                data,
                id: self.id.as_deref(),
                retry: self.retry,
                offset: self.data_offset,
                flushed,
            };
            result = emit(handler, Item::Frame(frame));
        } else if let Some(offset) = self.alien_offset {
            result = emit(
                handler,
                Item::Foreign {
                    text: String::from_utf8_lossy(&self.alien),
                    offset,
                },
            );
        }
        self.data_lines = 0;
        self.has_event = false;
        self.retry = None;
        if self.alien_offset.take().is_some() {
            self.alien.clear();
        }
        result
    }

    fn end(&mut self, policy: EndOfInput, handler: &mut impl Handler) -> Result<(), Stop> {
        if self.bom < BOM.len() {
            self.no_bom();
        }
        if self.line_kind != Line::None {
            self.end_partial_line(handler)?;
        }
        if self.data_lines > 0 && policy == EndOfInput::Discard {
            let offset = self.data_offset;
            self.data_lines = 0;
            return emit(handler, Item::Discarded { offset });
        }
        self.dispatch(None, None, true, handler)
    }
}

fn emit(handler: &mut impl Handler, item: Item<'_>) -> Result<(), Stop> {
    match handler.item(item) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Stop::Handler),
    }
}

fn decode_field<'v>(
    value: &'v [u8],
    offset: u64,
    handler: &mut impl Handler,
) -> Result<Cow<'v, str>, Stop> {
    let text = String::from_utf8_lossy(value);
    if matches!(text, Cow::Owned(_)) {
        emit(handler, Item::InvalidUtf8 { offset })?;
    }
    Ok(text)
}

/// Why an event cannot be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unwritable {
    /// The event's name holds a line end.
    LineEndInEvent,
    /// The id holds a line end.
    LineEndInId,
    /// The id holds NUL, which makes readers ignore it.
    NulInId,
}

impl std::fmt::Display for Unwritable {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::LineEndInEvent => "event holds a line end, which cannot be written",
            Self::LineEndInId => "id holds a line end, which cannot be written",
            Self::NulInId => "id holds NUL, which readers ignore",
        })
    }
}

/// Writes one event. CR, LF and CRLF in the data all start a new data line, so data comes back with LF.
/// With `ascii_line_separators`, U+2028 and U+2029 are written as JSON escapes, which is right only for
/// data that is JSON.
///
/// # Errors
/// [`Unwritable`] for what no reader could read back.
pub fn encode(
    event: &str,
    data: &str,
    id: Option<&str>,
    retry: Option<u64>,
    ascii_line_separators: bool,
) -> Result<String, Unwritable> {
    use std::fmt::Write as _;
    let has_line_end = |text: &str| memchr2(b'\n', b'\r', text.as_bytes()).is_some();
    if has_line_end(event) {
        return Err(Unwritable::LineEndInEvent);
    }
    let mut out = String::with_capacity(data.len() + 32);
    if !event.is_empty() && event != "message" {
        let _ = writeln!(out, "event: {event}");
    }
    if let Some(id) = id {
        if has_line_end(id) {
            return Err(Unwritable::LineEndInId);
        }
        if memchr(0, id.as_bytes()).is_some() {
            return Err(Unwritable::NulInId);
        }
        let _ = writeln!(out, "id: {id}");
    }
    if let Some(retry) = retry {
        let _ = writeln!(out, "retry: {retry}");
    }
    let mut rest = data;
    loop {
        let end = memchr2(b'\n', b'\r', rest.as_bytes());
        let line = &rest[..end.unwrap_or(rest.len())];
        out.push_str("data: ");
        if ascii_line_separators {
            push_without_separators(line, &mut out);
        } else {
            out.push_str(line);
        }
        out.push('\n');
        let Some(end) = end else { break };
        let width = if rest[end..].starts_with("\r\n") {
            2
        } else {
            1
        };
        rest = &rest[end + width..];
    }
    out.push('\n');
    Ok(out)
}

fn push_without_separators(line: &str, out: &mut String) {
    let mut start = 0;
    // U+2028 and U+2029 are E2 80 A8 and E2 80 A9.
    for at in memchr_iter(0xE2, line.as_bytes()) {
        let escape = match line.as_bytes().get(at + 1..at + 3) {
            Some(b"\x80\xA8") => "\\u2028",
            Some(b"\x80\xA9") => "\\u2029",
            _ => continue,
        };
        out.push_str(&line[start..at]);
        out.push_str(escape);
        start = at + 3;
    }
    out.push_str(&line[start..]);
}
