//! The framing: no cutting of a body changes what is found in it.

#![no_main]

mod stream;
#[path = "../../core/tests/support/mod.rs"]
#[allow(dead_code, reason = "each target uses a part of it")]
mod support;

use libfuzzer_sys::fuzz_target;
use support::{cut, frame};

fuzz_target!(|input: &[u8]| {
    let (choices, body) = input.split_at(input.len().min(8));
    let (options, places) = stream::read_choices(choices, body);
    let (limit, foreign, policy) = (options.max_event_bytes, options.strict, options.eof);
    let whole = frame(limit, foreign, policy, [body]);
    assert_eq!(frame(limit, foreign, policy, cut(body, &places)), whole);
    assert_eq!(frame(limit, foreign, policy, body.chunks(1)), whole);
});
