//! How a body is cut into payloads: as server-sent events, as AWS messages, or as a JSON array.

use super::state::State;
use crate::aws_event_stream;
use crate::json_array;
use crate::sse;
use crate::wire::Dialect;

/// How a dialect frames its bodies, as far as the first bytes have told.
#[derive(Debug)]
pub(super) enum Transport {
    /// Which of its framings the dialect uses here is not known yet. The bytes so far are kept.
    Undecided {
        dialect: Dialect,
        first: Vec<u8>,
        max_event_bytes: Option<usize>,
    },
    Sse(sse::Framer),
    Aws(aws_event_stream::Framer),
    Array(json_array::Splitter),
    /// A body that should be AWS messages and is text: an error that is told otherwise.
    Text {
        body: Vec<u8>,
        length: u64,
    },
}

/// The framings that a dialect may have to choose from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Framing {
    Sse,
    Aws,
    Array,
    Text,
}

/// How much white space may come before the first byte that tells.
const MAX_BLANK: usize = 1024;

impl Dialect {
    /// The framing of a body that begins with `first`; none if that does not tell yet.
    fn framing(self, first: &[u8]) -> Option<Framing> {
        let first = match self {
            Self::OpenAiChat | Self::OpenAiResponses => return Some(Framing::Sse),
            // A message's length begins with a zero byte up to 16 MiB, which text never does.
            Self::Anthropic => {
                let is_aws = |byte: &u8| {
                    if *byte == 0 {
                        Framing::Aws
                    } else {
                        Framing::Sse
                    }
                };
                return first.first().map(is_aws);
            }
            Self::Gemini => first.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(first),
            Self::BedrockConverse => first,
        };
        // No further than that, so that the cuts do not matter.
        let mut near = first.iter().take(MAX_BLANK + 1);
        let told = near.find(|byte| !byte.is_ascii_whitespace());
        match (self, told) {
            (Self::Gemini, Some(b'[')) => Some(Framing::Array),
            // Half a byte order mark.
            (Self::Gemini, Some(0xEF)) if first.len() < 3 => None,
            (Self::Gemini, Some(_)) => Some(Framing::Sse),
            (Self::BedrockConverse, Some(b'{' | b'<')) => Some(Framing::Text),
            (_, Some(_)) => Some(Framing::Aws),
            (Self::Gemini, None) if first.len() > MAX_BLANK => Some(Framing::Sse),
            (_, None) if first.len() > MAX_BLANK => Some(Framing::Aws),
            (_, None) => None,
        }
    }
}

impl Transport {
    pub(super) fn new(dialect: Dialect, max_event_bytes: Option<usize>) -> Self {
        match dialect.framing(b"") {
            Some(framing) => Self::of(framing, max_event_bytes),
            None => Self::Undecided {
                dialect,
                first: Vec::new(),
                max_event_bytes,
            },
        }
    }

    fn of(framing: Framing, max_event_bytes: Option<usize>) -> Self {
        match framing {
            Framing::Sse => Self::Sse(sse::Framer::new(max_event_bytes).with_foreign()),
            Framing::Aws => Self::Aws(aws_event_stream::Framer::new(max_event_bytes)),
            Framing::Array => Self::Array(json_array::Splitter::new(max_event_bytes)),
            Framing::Text => Self::Text {
                body: Vec::new(),
                length: 0,
            },
        }
    }

    pub(super) fn feed(&mut self, bytes: &[u8], state: &mut State) {
        if state.deaf {
            return;
        }
        match self {
            Self::Undecided {
                dialect,
                first,
                max_event_bytes,
            } => {
                // Mostly the first piece tells, and is read in its place.
                let mut kept = std::mem::take(first);
                if !kept.is_empty() {
                    kept.extend_from_slice(bytes);
                }
                let all = if kept.is_empty() { bytes } else { &kept };
                if let Some(framing) = dialect.framing(all) {
                    *self = Self::of(framing, *max_event_bytes);
                    self.feed(all, state);
                } else if kept.is_empty() {
                    first.extend_from_slice(bytes);
                } else {
                    *first = kept;
                }
            }
            Self::Sse(framer) => {
                if let Err(sse::TooLarge { offset }) = framer.feed(bytes, state) {
                    state.fail_too_large(offset);
                }
            }
            Self::Aws(framer) => {
                if let Err(error) = framer.feed(bytes, |message| state.aws_message(&message)) {
                    state.fail_aws(error);
                }
            }
            Self::Array(splitter) => {
                if let Err(error) = splitter.feed(bytes, state) {
                    state.fail_array(error);
                }
            }
            Self::Text { body, length } => {
                *length += bytes.len() as u64;
                let room = sse::FOREIGN_LIMIT.saturating_sub(body.len());
                body.extend_from_slice(&bytes[..bytes.len().min(room)]);
            }
        }
    }

    pub(super) fn finish(&mut self, state: &mut State) {
        if state.deaf && state.turn.stopped {
            return;
        }
        let consumed = match self {
            Self::Undecided { first, .. } => first.len() as u64,
            Self::Sse(framer) => {
                if let Err(sse::TooLarge { offset }) = framer.finish(state.eof, state) {
                    state.fail_too_large(offset);
                }
                framer.consumed()
            }
            Self::Aws(framer) => {
                if framer.is_inside() {
                    state.cut_inside(framer.offset(), None);
                }
                framer.consumed()
            }
            Self::Array(splitter) => {
                if let Some((element, offset)) = splitter.unfinished() {
                    state.cut_inside(offset, Some(element));
                }
                splitter.consumed()
            }
            Self::Text { body, length } => {
                state.text_body(&String::from_utf8_lossy(body));
                *length
            }
        };
        state.end(consumed);
    }
}
