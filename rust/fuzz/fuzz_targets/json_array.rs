//! The splitter of JSON arrays: no cutting changes the elements, and they are those of `serde_json`.

#![no_main]

mod stream;
#[path = "../../core/tests/support/mod.rs"]
#[allow(dead_code, reason = "each target uses a part of it")]
mod support;

use std::ops::ControlFlow;

use libfuzzer_sys::fuzz_target;
use serde_json::value::RawValue;
use support::cut;
use turntape_core::json_array::{ArrayError, Splitter};

type Split = (Vec<(Vec<u8>, u64)>, Option<Vec<u8>>, Option<ArrayError>);

fn split<'c>(limit: Option<usize>, chunks: impl IntoIterator<Item = &'c [u8]>) -> Split {
    let mut splitter = Splitter::new(limit);
    let mut elements = Vec::new();
    for chunk in chunks {
        let result = splitter.feed(chunk, &mut |element: &[u8], offset| {
            elements.push((element.to_vec(), offset));
            ControlFlow::Continue(())
        });
        if let Err(error) = result {
            return (elements, None, Some(error));
        }
    }
    let unfinished = splitter.unfinished().map(|(element, _)| element.to_vec());
    (elements, unfinished, None)
}

fuzz_target!(|input: &[u8]| {
    let (choices, body) = input.split_at(input.len().min(stream::CHOICES));
    let (options, places) = stream::read_choices(choices, body);
    let limit = options.max_event_bytes;
    let whole = split(limit, [body]);
    assert_eq!(split(limit, cut(body, &places)), whole);
    assert_eq!(split(limit, body.chunks(1)), whole);
    let text = std::str::from_utf8(body).unwrap_or_default();
    if let Ok(expected) = serde_json::from_str::<Vec<&RawValue>>(text) {
        let (found, unfinished, error) = split(None, [body]);
        let found: Vec<&[u8]> = found.iter().map(|(element, _)| &element[..]).collect();
        let expected: Vec<&[u8]> = expected.iter().map(|raw| raw.get().as_bytes()).collect();
        assert_eq!(found, expected);
        assert_eq!((unfinished, error), (None, None));
    }
});
