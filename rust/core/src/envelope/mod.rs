//! Replay envelopes: an assistant turn with tool calls, or a tool's result, packed into one string.
//!
//! One owner for the encoding, so that no two writers of a history can drift apart. The text of an
//! envelope is *canonical form v1*: compact JSON, keys sorted by their UTF-8 bytes at every level, one
//! spelling for every string and number. It is fixed here, and not inherited from a map type, a build flag
//! or another printer of numbers.
//!
//! - [`encode_assistant`], [`encode_tool`] write it;
//! - [`parse_assistant`], [`parse_tool`] read any JSON of that shape, for reading history;
//! - [`parse_canonical_assistant`], [`parse_canonical_tool`] accept exactly what the encoder writes, decided in
//!   one pass over the text, without a tree and without printing it again;
//! - [`explain_not_canonical`] says why they refused, and where;
//! - [`mend`] gives the canonical form of what can have one, and says what that would lose.

mod canonical;
mod encode;
mod explain;
mod form;
mod mend;
mod number;
mod parse;
mod row;

pub use canonical::{
    Said, canonical_value, parse_canonical_assistant, parse_canonical_assistant_said,
    parse_canonical_tool, parse_canonical_tool_said,
};
pub use encode::{CallText, encode_assistant, encode_tool, push_assistant, push_tool};
pub use explain::{NonCanonical, Reason, explain_not_canonical};
pub use form::canonical_json;
pub use mend::{Mended, mend};
pub use number::{Number, double_text, is_canonical_number};
pub use parse::{Assistant, Call, Tool, parse_assistant, parse_tool};
pub use row::{RowContent, row_content};

/// How many arrays and objects may nest in an envelope, its own included.
pub const MAX_ENVELOPE_DEPTH: usize = 127;
/// How many of them are the envelope's own around a call's extra content: the object, the list of calls,
/// the call.
pub const DEPTH_AROUND_EXTRA: usize = 3;
