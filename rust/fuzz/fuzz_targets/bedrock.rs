//! The decoder of Bedrock's Converse, and of Anthropic in `chunk` messages. The input's lines are the messages,
//! an event type and a payload each, so that their checksums are right whatever the fuzzer does.

#![no_main]

#[path = "../../core/tests/support/aws.rs"]
#[allow(dead_code, reason = "each target uses a part of it")]
mod aws;
mod stream;
#[path = "../../core/tests/support/mod.rs"]
#[allow(dead_code, reason = "each target uses a part of it")]
mod support;

use libfuzzer_sys::fuzz_target;
use turntape_core::Dialect;

fuzz_target!(|input: &[u8]| {
    let (choices, text) = input.split_at(input.len().min(stream::CHOICES));
    let lines = text.split(|&byte| byte == b'\n');
    let messages = lines.map(|line| {
        let space = line.iter().position(|&byte| byte == b' ');
        let (kind, payload) = line.split_at(space.unwrap_or(0));
        match std::str::from_utf8(kind) {
            Ok("chunk") => aws::chunk(payload),
            // Bytes as they are.
            Ok("raw") => payload.to_vec(),
            Ok(kind) if kind.ends_with("Exception") => {
                let headers = [
                    aws::header(":exception-type", kind),
                    aws::header(":message-type", "exception"),
                ];
                aws::message(&headers.concat(), payload)
            }
            Ok(kind) if kind.len() < 256 => aws::event(kind, payload),
            _ => aws::message(kind, payload),
        }
    });
    let body: Vec<u8> = messages.flatten().collect();
    let (options, places) = stream::read_choices(choices, &body);
    for dialect in [Dialect::BedrockConverse, Dialect::Anthropic] {
        support::check_split(dialect, &options, &body, &places);
    }
});
