//! SSE framing alone, against splitting the same bytes into lines with `memchr`: what any framing has to
//! do at least. Both are measured in turn in one process, and both look at what they found.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use std::hint::black_box;
use std::ops::ControlFlow;

use memchr::memchr_iter;
use turntape_core::Dialect;
use turntape_core::sse::{EndOfInput, Framer, Item};

mod streams;

/// What both sides tell of a stream, so that neither can skip its work.
#[derive(Debug, Default, PartialEq, Eq)]
struct Seen {
    /// Events, or blank lines.
    events: usize,
    /// The bytes of data values.
    data: usize,
    /// The last bytes of the data values, added up.
    check: usize,
}

fn frame(pieces: &[&[u8]]) -> Seen {
    let mut seen = Seen::default();
    let mut sink = |item: Item<'_>| {
        if let Item::Frame(frame) = black_box(item) {
            seen.events += 1;
            seen.data += frame.data.len();
            seen.check += usize::from(frame.data.as_bytes().last().copied().unwrap_or(0));
        }
        ControlFlow::Continue(())
    };
    let mut framer = Framer::new(None);
    for piece in pieces {
        let _ = framer.feed(piece, &mut sink);
    }
    let _ = framer.finish(EndOfInput::Flush, &mut sink);
    seen
}

/// Lines at LF alone, a line that is cut between two pieces put together again.
fn split(pieces: &[&[u8]]) -> Seen {
    let mut seen = Seen::default();
    let mut see = |line: &[u8]| {
        let line = black_box(line);
        if line.is_empty() {
            seen.events += 1;
        } else if let Some(value) = line.strip_prefix(b"data: ") {
            seen.data += value.len();
            seen.check += usize::from(value.last().copied().unwrap_or(0));
        }
    };
    let mut cut: Vec<u8> = Vec::new();
    for piece in pieces {
        let mut start = 0;
        for end in memchr_iter(b'\n', piece) {
            if cut.is_empty() {
                see(&piece[start..end]);
            } else {
                cut.extend_from_slice(&piece[start..end]);
                see(&cut);
                cut.clear();
            }
            start = end + 1;
        }
        cut.extend_from_slice(&piece[start..]);
    }
    seen
}

fn main() {
    println!("framing against memchr line splitting (must reach 0.5, the aim 0.9)");
    for dialect in [Dialect::OpenAiChat, Dialect::Anthropic] {
        let body = streams::stream(dialect, 800);
        let reads: Vec<&[u8]> = body.chunks(streams::READ).collect();
        for (name, pieces) in [("8 KiB reads", &reads[..]), ("whole", &[&body[..]])] {
            let seen = frame(pieces);
            assert_eq!(seen, split(pieces), "both must find the same");
            assert!(seen.events > 800, "every event must be found");
            let (framing, splitting) = streams::in_turn(
                || {
                    black_box(frame(black_box(pieces)));
                },
                || {
                    black_box(split(black_box(pieces)));
                },
            );
            println!(
                "  {:<12} {name:<12} {:.2} ({:.1} GB/s against {:.1} GB/s)",
                dialect.as_str(),
                splitting.as_secs_f64() / framing.as_secs_f64(),
                streams::speed(body.len(), framing),
                streams::speed(body.len(), splitting),
            );
        }
    }
    println!("one data line in 4 KiB chunks, time of 8 MiB against 1 MiB (at most 10)");
    let [long, short] = [8, 1].map(|mib| {
        let mut line = b"data: ".to_vec();
        line.resize(mib * 1024 * 1024, b'x');
        line.extend_from_slice(b"\n\n");
        line
    });
    let [long, short] = [&long, &short].map(|line| line.chunks(4096).collect::<Vec<&[u8]>>());
    let (eight, one) = streams::in_turn(
        || {
            black_box(frame(black_box(&long)));
        },
        || {
            black_box(frame(black_box(&short)));
        },
    );
    println!("  {:.1}", eight.as_secs_f64() / one.as_secs_f64());
}
