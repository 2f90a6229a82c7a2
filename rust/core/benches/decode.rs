//! The core's decoders without Python: to count instructions with, and to see what the bindings add.
//!
//! `valgrind --tool=callgrind target/release/deps/decode-* --once` decodes each stream once.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use std::hint::black_box;

use turntape_core::Dialect;
use turntape_core::decoder::{Options, StreamDecoder};

mod streams;

const DELTAS: usize = 800;

fn decoder(dialect: Dialect) -> StreamDecoder {
    StreamDecoder::new(dialect, Options::default())
}

/// The whole body into its message.
fn message(dialect: Dialect, body: &[u8]) {
    let decoded = decoder(dialect).decode_message(black_box(body));
    assert!(decoded.failure.is_none(), "{:?}", decoded.failure);
    black_box(&decoded.message);
}

/// One read after the other into events, as a host does.
fn events(dialect: Dialect, body: &[u8]) {
    let mut decoder = decoder(dialect);
    for read in black_box(body).chunks(streams::READ) {
        decoder.feed(read);
        for event in decoder.events().iter() {
            black_box(event);
        }
        decoder.clear_events();
    }
    decoder.finish();
    assert!(decoder.is_terminal(), "{:?}", decoder.failure());
}

fn main() {
    let once = std::env::args().any(|argument| argument == "--once");
    for dialect in [Dialect::OpenAiChat, Dialect::Anthropic] {
        let body = streams::stream(dialect, DELTAS);
        message(dialect, &body);
        if once {
            continue;
        }
        let (whole, reads) =
            streams::in_turn(|| message(dialect, &body), || events(dialect, &body));
        let each = |time: std::time::Duration| time.as_nanos() / (DELTAS as u128);
        println!(
            "{:<12} message {} ns an event, {:.2} GB/s; events of 8 KiB reads {} ns, {:.2} GB/s",
            dialect.as_str(),
            each(whole),
            streams::speed(body.len(), whole),
            each(reads),
            streams::speed(body.len(), reads),
        );
    }
}
