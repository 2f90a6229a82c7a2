//! Detection: it ends on any body, and a dialect that it finds can be tried.

#![no_main]

use libfuzzer_sys::fuzz_target;
use turntape_core::decoder::{Options, StreamDecoder};
use turntape_core::detect::detect;

fuzz_target!(|body: &[u8]| {
    if let Some(dialect) = detect(body) {
        let decoded = StreamDecoder::new(dialect, Options::default()).decode_message(body);
        let whole = StreamDecoder::parse_response(dialect, Options::default(), body);
        assert!(decoded.failure.is_none() || decoded.message.stop_reason.as_str() == "unknown");
        assert!(whole.failure.is_none() || whole.message.stop_reason.as_str() == "unknown");
    }
});
