//! Events in any order, said in every dialect: refused without a trace, or read back.

#![no_main]

#[path = "../../core/tests/support/speech.rs"]
mod speech;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| speech::check(input));
