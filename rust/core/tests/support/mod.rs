//! What a decoder gave, in a form that two ways of feeding it can be compared by. The fuzz targets use it
//! as well.

use std::ops::ControlFlow;

use turntape_core::Dialect;
use turntape_core::assemble::{Builder, Message};
use turntape_core::decoder::{Options, StreamDecoder};
use turntape_core::error::Failure;
use turntape_core::event::Warning;
use turntape_core::sse::{EndOfInput, Framer, Item, TooLarge};

/// Everything that decoding a body gave.
#[derive(Debug, PartialEq)]
pub(crate) struct Outcome {
    /// The events, written out.
    pub(crate) events: Vec<String>,
    /// The message, up to the failure.
    pub(crate) message: Message,
    /// What was odd.
    pub(crate) warnings: Vec<Warning>,
    /// Why it failed.
    pub(crate) failure: Option<Failure>,
}

/// Feeds a decoder piece by piece and holds it to the sum law on the way.
pub(crate) fn decode<'c>(
    dialect: Dialect,
    options: &Options,
    chunks: impl IntoIterator<Item = &'c [u8]>,
) -> Outcome {
    let mut decoder = StreamDecoder::new(dialect, options.clone());
    let mut events = Vec::new();
    let mut builder = Builder::default();
    let mut take = |decoder: &mut StreamDecoder| {
        for event in decoder.events().iter() {
            builder.apply(event).expect("an event that fits");
            events.push(format!("{event:?}"));
        }
        decoder.clear_events();
    };
    for chunk in chunks {
        decoder.feed(chunk);
        take(&mut decoder);
    }
    decoder.finish();
    take(&mut decoder);
    let message = decoder.snapshot();
    assert_eq!(
        builder.into_message(decoder.usage()),
        message,
        "the events add up to the message"
    );
    let failure = decoder.failure();
    assert_eq!(
        failure.is_none(),
        decoder.is_terminal(),
        "{failure:?}, {events:?}"
    );
    Outcome {
        events,
        message,
        warnings: decoder.warnings().to_vec(),
        failure: failure.cloned(),
    }
}

/// Holds a body to the split law, and the path without events to the one with them.
pub(crate) fn check_split(
    dialect: Dialect,
    options: &Options,
    body: &[u8],
    places: &[usize],
) -> Outcome {
    let shown = body.escape_ascii();
    let whole = decode(dialect, options, [body]);
    assert_eq!(
        decode(dialect, options, cut(body, places)),
        whole,
        "{shown}"
    );
    assert_eq!(decode(dialect, options, body.chunks(1)), whole, "{shown}");
    let decoded = StreamDecoder::new(dialect, options.clone()).decode_message(body);
    assert_eq!(decoded.message, whole.message);
    assert_eq!(decoded.warnings, whole.warnings);
    assert_eq!(decoded.failure, whole.failure);
    whole
}

/// Cuts a body at these places, each taken modulo its length.
pub(crate) fn cut<'b>(body: &'b [u8], places: &[usize]) -> Vec<&'b [u8]> {
    let mut borders: Vec<usize> = places.iter().map(|at| at % (body.len() + 1)).collect();
    borders.extend([0, body.len()]);
    borders.sort_unstable();
    borders
        .windows(2)
        .map(|pair| &body[pair[0]..pair[1]])
        .collect()
}

/// What framing a body gave: the items, written out, and the failure.
pub(crate) fn frame<'c>(
    limit: Option<usize>,
    foreign: bool,
    policy: EndOfInput,
    chunks: impl IntoIterator<Item = &'c [u8]>,
) -> (Vec<String>, Option<TooLarge>) {
    let mut framer = Framer::new(limit);
    if foreign {
        framer = framer.with_foreign();
    }
    let mut items = Vec::new();
    let mut handler = |item: Item<'_>| {
        // A frame also tells where its bytes stand, if they stand in one piece: that depends on the cuts.
        items.push(match item {
            Item::Frame(frame) => format!(
                "{:?} {:?} {:?} {:?} {} {}",
                frame.event, frame.data, frame.id, frame.retry, frame.offset, frame.flushed
            ),
            other => format!("{other:?}"),
        });
        ControlFlow::Continue(())
    };
    let mut result = Ok(());
    for chunk in chunks {
        result = result.and_then(|()| framer.feed(chunk, &mut handler));
    }
    result = result.and_then(|()| framer.finish(policy, &mut handler));
    (items, result.err())
}
