//! AWS messages: no cutting of a body changes what is found in it, and what was written is read. The input's
//! lines are headers and payloads in turn; each two make a message with right checksums.

#![no_main]

#[path = "../../core/tests/support/aws.rs"]
#[allow(dead_code, reason = "each target uses a part of it")]
mod aws;
mod stream;
#[path = "../../core/tests/support/mod.rs"]
#[allow(dead_code, reason = "each target uses a part of it")]
mod support;

use libfuzzer_sys::fuzz_target;
use support::cut;
use turntape_core::aws_event_stream::FrameError;

fuzz_target!(|input: &[u8]| {
    let (choices, text) = input.split_at(input.len().min(stream::CHOICES));
    let lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').collect();
    let messages: Vec<Vec<u8>> = lines
        .chunks(2)
        .map(|pair| aws::message(pair[0], pair.get(1).copied().unwrap_or_default()))
        .collect();
    let mut body = messages.concat();
    let (options, places) = stream::read_choices(choices, &body);
    let limit = options.max_event_bytes;
    let check = |body: &[u8]| {
        let whole = aws::frame(limit, [body]);
        assert_eq!(aws::frame(limit, cut(body, &places)), whole);
        assert_eq!(aws::frame(limit, body.chunks(1)), whole);
        whole
    };
    let (read, error) = check(&body);
    assert_eq!(read.len() == messages.len(), error.is_none());
    // A byte that is wrong: its message and all after it are not read.
    let at = places.iter().sum::<usize>() % body.len();
    body[at] ^= 1;
    let (broken, error) = check(&body);
    let mut end = 0;
    let before = messages.iter().take_while(|message| {
        end += message.len();
        end <= at
    });
    assert_eq!(broken, read[..read.len().min(before.count())]);
    assert!(matches!(
        error,
        Some(FrameError::Malformed { .. } | FrameError::TooLarge { .. })
    ));
    check(text);
});
