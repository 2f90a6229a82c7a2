//! The decoder of Anthropic Messages.

#![no_main]

mod stream;
#[path = "../../core/tests/support/mod.rs"]
#[allow(dead_code, reason = "each target uses a part of it")]
mod support;

use libfuzzer_sys::fuzz_target;
use turntape_core::Dialect;

fuzz_target!(|input: &[u8]| stream::check_stream(Dialect::Anthropic, input));
