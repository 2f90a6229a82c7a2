//! The core of turntape, without Python: bytes of a provider's stream in, events and a message out.
//!
//! Data flows one way: bytes, [`sse`] frames, a wire's state machine, [`event`]s, [`assemble`]d message.

#![forbid(unsafe_code)]

pub mod arguments;
pub mod assemble;
pub mod aws_event_stream;
pub mod decoder;
pub mod detect;
pub mod encode;
pub mod envelope;
pub mod error;
mod escapes;
pub mod event;
pub mod fault;
pub mod image_marker;
mod index;
pub mod json;
pub mod json_array;
pub mod redact;
pub mod sse;
mod string_body;
pub mod tape;
pub mod tape_line;
pub mod usage;
mod wire;

pub use wire::Dialect;
