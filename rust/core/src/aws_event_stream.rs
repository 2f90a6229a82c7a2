//! The AWS event-stream framing (`application/vnd.amazon.eventstream`), fed in pieces of any size.
//!
//! A message is a prelude (its own length, the length of its headers, the CRC-32 of these), headers, a
//! payload and the CRC-32 of all before it; numbers are big-endian. Source: the event stream encoding of
//! the AWS documentation (Amazon Transcribe and Amazon Lex developer guides, Smithy specification).

use std::ops::ControlFlow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::json::{MAX_PAYLOAD_DEPTH, Raw};

/// One message whose checksums are right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message<'a> {
    /// The header `:message-type`: `event`, `exception` or `error`.
    pub message_type: &'a str,
    /// What happened: the header `:event-type`, `:exception-type` or `:error-code`.
    pub kind: &'a str,
    /// The header `:error-message`.
    pub error_message: Option<&'a str>,
    /// The payload.
    pub payload: &'a [u8],
    /// Where the message begins, in bytes from the start of the stream.
    pub offset: u64,
}

/// Why the framing failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameError {
    /// A checksum or a length is wrong, or the headers are no headers.
    Malformed {
        /// What is wrong.
        what: &'static str,
        /// Where the message begins.
        offset: u64,
    },
    /// The message is larger than allowed.
    TooLarge {
        /// Where the message begins.
        offset: u64,
    },
}

/// Length of the prelude: two lengths and their checksum.
const PRELUDE: usize = 12;
/// Length of the checksum at the end.
const CHECKSUM: usize = 4;

/// The incremental parser. It keeps at most the bytes of one unfinished message.
#[derive(Debug, Default)]
pub struct Framer {
    max_message_bytes: Option<usize>,
    /// The unfinished message.
    buffer: Vec<u8>,
    /// Where the unfinished message begins.
    offset: u64,
    headers: Headers,
}

/// Reads a prelude whose checksum is right; gives the lengths of the message and of its headers.
#[must_use]
pub fn prelude(bytes: &[u8]) -> Option<(usize, usize)> {
    let total = number(bytes, 0)?;
    let headers = number(bytes, 4)?;
    (number(bytes, 8)? == crc32fast::hash(&bytes[..8]))
        .then_some((total as usize, headers as usize))
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(
        *bytes.get(at..at + 4)?.first_chunk::<4>()?,
    ))
}

impl Framer {
    /// A framer at the start of a stream. A message of more than `max_message_bytes` bytes fails.
    #[must_use]
    pub fn new(max_message_bytes: Option<usize>) -> Self {
        Self {
            max_message_bytes,
            ..Self::default()
        }
    }

    /// Takes the next bytes and gives the messages that they complete to `sink`, which may break off.
    ///
    /// # Errors
    /// [`FrameError`] as soon as it is known; nothing may be fed after it.
    pub fn feed(
        &mut self,
        chunk: &[u8],
        mut sink: impl FnMut(Message<'_>) -> ControlFlow<()>,
    ) -> Result<(), FrameError> {
        let mut rest = chunk;
        while !rest.is_empty() {
            // A message that lies in the chunk as a whole is read in its place.
            if self.buffer.is_empty()
                && let Some(length) = self.length(rest)?
                && rest.len() >= length
            {
                let flow = sink(self.read(&rest[..length])?);
                self.offset += length as u64;
                rest = &rest[length..];
                if flow.is_break() {
                    return Ok(());
                }
                continue;
            }
            let wanted = self.length(&self.buffer)?.unwrap_or(PRELUDE);
            let taken = rest.len().min(wanted - self.buffer.len());
            self.buffer.extend_from_slice(&rest[..taken]);
            rest = &rest[taken..];
            if self.length(&self.buffer)? == Some(self.buffer.len()) {
                let buffer = std::mem::take(&mut self.buffer);
                let flow = sink(self.read(&buffer)?);
                self.offset += buffer.len() as u64;
                self.buffer = buffer;
                self.buffer.clear();
                if flow.is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Whether a message has begun that has not ended.
    #[must_use]
    pub const fn is_inside(&self) -> bool {
        !self.buffer.is_empty()
    }

    /// How many bytes came so far.
    #[must_use]
    pub const fn consumed(&self) -> u64 {
        self.offset + self.buffer.len() as u64
    }

    /// Where the message begins that comes next or has begun.
    #[must_use]
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// The length of the message that begins with `bytes`, once its prelude is there.
    fn length(&self, bytes: &[u8]) -> Result<Option<usize>, FrameError> {
        let offset = self.offset;
        if bytes.len() < PRELUDE {
            return Ok(None);
        }
        let malformed = |what| FrameError::Malformed { what, offset };
        let (total, headers) =
            prelude(bytes).ok_or(malformed("the checksum of a prelude is wrong"))?;
        if total < PRELUDE + CHECKSUM || headers > total - PRELUDE - CHECKSUM {
            return Err(malformed("the lengths of a prelude contradict each other"));
        }
        if self.max_message_bytes.is_some_and(|limit| total > limit) {
            return Err(FrameError::TooLarge { offset });
        }
        Ok(Some(total))
    }

    /// Reads a whole message. The headers of a stream repeat, so those of the last message are kept with
    /// what they say.
    fn read<'m>(&'m mut self, bytes: &'m [u8]) -> Result<Message<'m>, FrameError> {
        let offset = self.offset;
        let malformed = |what| FrameError::Malformed { what, offset };
        let body = bytes.len() - CHECKSUM;
        if number(bytes, body) != Some(crc32fast::hash(&bytes[..body])) {
            return Err(malformed("the checksum of a message is wrong"));
        }
        let headers_end = PRELUDE + number(bytes, 4).unwrap_or(0) as usize;
        let headers = &bytes[PRELUDE..headers_end];
        if self.headers.bytes != headers {
            self.headers =
                Headers::read(headers).ok_or(malformed("the headers of a message are broken"))?;
        }
        let Headers {
            message_type,
            kind,
            error_message,
            ..
        } = &self.headers;
        Ok(Message {
            message_type,
            kind,
            error_message: error_message.as_deref(),
            payload: &bytes[headers_end..body],
            offset,
        })
    }
}

/// The headers of a message, and what those that matter say.
#[derive(Debug)]
struct Headers {
    bytes: Vec<u8>,
    message_type: String,
    kind: String,
    error_message: Option<String>,
}

impl Default for Headers {
    /// What no headers at all say.
    fn default() -> Self {
        Self {
            bytes: Vec::new(),
            message_type: "event".to_owned(),
            kind: String::new(),
            error_message: None,
        }
    }
}

impl Headers {
    fn read(bytes: &[u8]) -> Option<Self> {
        let mut headers = Self {
            bytes: bytes.to_vec(),
            ..Self::default()
        };
        let mut rest = bytes;
        while !rest.is_empty() {
            let (name, value, after) = header(rest)?;
            rest = after;
            let Some(value) = value else { continue };
            match name {
                b":message-type" => value.clone_into(&mut headers.message_type),
                b":event-type" | b":exception-type" | b":error-code" => {
                    value.clone_into(&mut headers.kind);
                }
                b":error-message" => headers.error_message = Some(value.to_owned()),
                _ => {}
            }
        }
        Some(headers)
    }
}

/// The first header: its name, its value if that is a string, and what follows it.
fn header(bytes: &[u8]) -> Option<(&[u8], Option<&str>, &[u8])> {
    let (&name_length, rest) = bytes.split_first()?;
    let (name, rest) = rest.split_at_checked(usize::from(name_length))?;
    let (&kind, rest) = rest.split_first()?;
    let fixed = match kind {
        // True and false, byte, short, integer, long and timestamp, UUID.
        0 | 1 => 0,
        2 => 1,
        3 => 2,
        4 => 4,
        5 | 8 => 8,
        9 => 16,
        // Bytes and strings have their length before them.
        6 | 7 => {
            let (length, rest) = rest.split_at_checked(2)?;
            let length = usize::from(u16::from_be_bytes(*length.first_chunk::<2>()?));
            let (value, rest) = rest.split_at_checked(length)?;
            let text = if kind == 7 {
                Some(std::str::from_utf8(value).ok()?)
            } else {
                None
            };
            return Some((name, text, rest));
        }
        _ => return None,
    };
    Some((name, None, rest.split_at_checked(fixed)?.1))
}

/// What a `chunk` message of Bedrock's `InvokeModelWithResponseStream` wraps: the model's own event, in
/// base64 in the member `bytes`.
#[must_use]
pub fn unwrap_chunk(payload: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(payload).ok()?;
    let bytes = Raw::parse(text, MAX_PAYLOAD_DEPTH).ok()?.string("bytes")?;
    match bytes.plain() {
        Some(plain) => STANDARD.decode(plain).ok(),
        None => STANDARD.decode(bytes.to_text()).ok(),
    }
}
