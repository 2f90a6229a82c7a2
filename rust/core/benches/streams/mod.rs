//! What the benchmarks of the core share: streams of real shape, and measuring two things in turn.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use turntape_core::Dialect;

/// What one read from a socket gives.
pub(crate) const READ: usize = 8 * 1024;

const SEED: u64 = 0x9E37_79B9_7F4A_7C15;

/// Numbers that are the same on every run (xorshift).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

/// Pieces of text as they stand in JSON: mostly a word with its space, some escapes, some not ASCII.
fn piece(numbers: &mut Numbers) -> &'static str {
    const WORDS: [&str; 16] = [
        " the",
        " of",
        " and",
        " a",
        " stream",
        " is",
        " decoder",
        " that",
        " returns",
        " every",
        " byte",
        " which",
        " between",
        " value",
        " however",
        " performance",
    ];
    const ENDS: [&str; 8] = [",", ".", ".\\n", ":\\n\\n", "\\\"", " \\\"", "`", "\\t"];
    const RARE: [&str; 4] = [" café", " 日本語", " →", " 🙂"];
    let pick = |from: &[&'static str], at: u64| from[usize::try_from(at).unwrap_or(0)];
    match numbers.below(100) {
        0..3 => pick(&RARE, numbers.below(4)),
        3..20 => pick(&ENDS, numbers.below(8)),
        _ => pick(&WORDS, numbers.below(16)),
    }
}

/// A stream of `deltas` text deltas: Chat of about 330 bytes an event, Anthropic of about 120.
pub(crate) fn stream(dialect: Dialect, deltas: usize) -> Vec<u8> {
    let text = match dialect {
        Dialect::Anthropic => anthropic(deltas),
        _ => chat(deltas),
    };
    text.into_bytes()
}

fn anthropic(deltas: usize) -> String {
    let mut numbers = Numbers(SEED);
    let mut body = String::from(
        "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\
         \"type\":\"message\",\"role\":\"assistant\",\"model\":\"claude-sonnet-5\",\"content\":[],\
         \"stop_reason\":null,\"usage\":{\"input_tokens\":86,\"output_tokens\":1}}}\n\n\
         event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\
         \"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
    );
    for _ in 0..deltas {
        let _ = write!(
            body,
            "event: content_block_delta\ndata: {{\"type\":\"content_block_delta\",\"index\":0,\
             \"delta\":{{\"type\":\"text_delta\",\"text\":\"{}\"}}}}\n\n",
            piece(&mut numbers)
        );
    }
    body.push_str(
        "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n\
         event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\
         \"end_turn\"},\"usage\":{\"output_tokens\":831}}\n\n\
         event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
    );
    body
}

fn chat(deltas: usize) -> String {
    let mut numbers = Numbers(SEED);
    let mut body = String::new();
    for _ in 0..deltas {
        let _ = write!(
            body,
            "data: {{\"id\":\"chatcmpl-CxT4bq9RkZL1mVd7sYwE2uHn8PfJa\",\
             \"object\":\"chat.completion.chunk\",\"created\":1764500000,\
             \"model\":\"gpt-5.2-2026-04-14\",\"service_tier\":\"default\",\
             \"system_fingerprint\":\"fp_9a1c4e77b0\",\"choices\":[{{\"index\":0,\
             \"delta\":{{\"content\":\"{}\"}},\"logprobs\":null,\"finish_reason\":null}}],\
             \"usage\":null,\"obfuscation\":\"",
            piece(&mut numbers)
        );
        for _ in 0..=numbers.below(16) {
            let letter = u8::try_from(numbers.below(26)).unwrap_or(0);
            body.push(char::from(b'a' + letter));
        }
        body.push_str("\"}\n\n");
    }
    body.push_str(
        "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n\
         data: [DONE]\n\n",
    );
    body
}

/// The median times of both calls, measured in turn.
pub(crate) fn in_turn(mut first: impl FnMut(), mut second: impl FnMut()) -> (Duration, Duration) {
    // Long enough for the clock, short enough that a disturbance hits one sample only.
    const SAMPLE: Duration = Duration::from_micros(500);
    const ROUNDS: usize = 401;
    fn calls(call: &mut impl FnMut()) -> u32 {
        call();
        let start = Instant::now();
        call();
        let once = start.elapsed().max(Duration::from_nanos(1));
        u32::try_from(SAMPLE.as_nanos() / once.as_nanos())
            .unwrap_or(1)
            .max(1)
    }
    fn sample(call: &mut impl FnMut(), calls: u32) -> Duration {
        let start = Instant::now();
        for _ in 0..calls {
            call();
        }
        start.elapsed() / calls
    }
    let (first_calls, second_calls) = (calls(&mut first), calls(&mut second));
    let mut times = (Vec::with_capacity(ROUNDS), Vec::with_capacity(ROUNDS));
    for round in 0..ROUNDS {
        // Forth and back, so that nobody always goes first.
        if round % 2 == 0 {
            times.0.push(sample(&mut first, first_calls));
            times.1.push(sample(&mut second, second_calls));
        } else {
            times.1.push(sample(&mut second, second_calls));
            times.0.push(sample(&mut first, first_calls));
        }
    }
    times.0.sort_unstable();
    times.1.sort_unstable();
    (times.0[ROUNDS / 2], times.1[ROUNDS / 2])
}

/// Bytes in a time as GB/s.
#[expect(clippy::cast_precision_loss, reason = "for display")]
pub(crate) fn speed(bytes: usize, time: Duration) -> f64 {
    bytes as f64 / time.as_secs_f64() / 1e9
}
