//! What the targets of the decoders share: the input's first bytes choose options and cuts, so that its rest
//! is the body as it stands and the seeds are ordinary streams.

use turntape_core::Dialect;
use turntape_core::decoder::Options;
use turntape_core::sse::EndOfInput;

use crate::support::check_split;

/// How many bytes in front of the body choose what is done with it.
const CHOICES: usize = 8;

/// Options and the places to cut at, from the choices.
pub fn read_choices(choices: &[u8], body: &[u8]) -> (Options, Vec<usize>) {
    let [flags, limit, rest @ ..] = choices else {
        return (Options::default(), Vec::new());
    };
    let flag = |bit: u8| flags & (1 << bit) != 0;
    let options = Options {
        choice: u64::from(flag(0)),
        eof: if flag(1) {
            EndOfInput::Discard
        } else {
            EndOfInput::Flush
        },
        max_event_bytes: flag(2).then(|| usize::from(*limit)),
        strict: flag(3),
        server_tools: flag(4).then(|| "search".to_owned()).into_iter().collect(),
        name_map: Default::default(),
    };
    // Cuts all over the body, whatever its length.
    let places = rest
        .iter()
        .map(|&byte| usize::from(byte) * (body.len() + 1) / 256)
        .collect();
    (options, places)
}

/// Decodes a body whole, cut and in single bytes: all alike, and the events add up to the message.
pub fn check_stream(dialect: Dialect, input: &[u8]) {
    let (choices, body) = input.split_at(input.len().min(CHOICES));
    let (options, places) = read_choices(choices, body);
    check_split(dialect, &options, body, &places);
}
