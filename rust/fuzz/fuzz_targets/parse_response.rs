//! Bodies that were not streamed, in every dialect: whole or failed, and never both.

#![no_main]

mod stream;
#[path = "../../core/tests/support/mod.rs"]
#[allow(dead_code, reason = "each target uses a part of it")]
mod support;

use libfuzzer_sys::fuzz_target;
use turntape_core::Dialect;
use turntape_core::decoder::StreamDecoder;

fuzz_target!(|input: &[u8]| {
    let (choices, body) = input.split_at(input.len().min(stream::CHOICES));
    let (options, _) = stream::read_choices(choices, body);
    for dialect in Dialect::ALL {
        let decoded = StreamDecoder::parse_response(dialect, options.clone(), body);
        assert_eq!(decoded.message.complete, decoded.failure.is_none());
        if options.strict {
            assert_eq!(
                decoded.warnings.len(),
                usize::from(decoded.failure.is_some() && !decoded.warnings.is_empty())
            );
        }
    }
});
