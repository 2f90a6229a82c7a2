//! AWS event-stream messages, written and read from their documentation alone. The fuzz targets use it as
//! well.

use turntape_core::aws_event_stream::{FrameError, Framer};

/// CRC-32 as in IEEE 802.3, bit by bit.
fn crc(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| (crc >> 1) ^ (0xEDB8_8320 * (crc & 1));
    !bytes.iter().fold(u32::MAX, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), step)
    })
}

fn number(length: usize) -> [u8; 4] {
    u32::try_from(length).expect("a length").to_be_bytes()
}

/// A header whose value is a string.
pub(crate) fn header(name: &str, value: &str) -> Vec<u8> {
    let mut out = vec![u8::try_from(name.len()).expect("a short name")];
    out.extend(name.as_bytes());
    out.push(7);
    out.extend(
        u16::try_from(value.len())
            .expect("a short value")
            .to_be_bytes(),
    );
    out.extend(value.as_bytes());
    out
}

/// A message of these headers, written out, and this payload.
pub(crate) fn message(headers: &[u8], payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    out.extend(number(16 + headers.len() + payload.len()));
    out.extend(number(headers.len()));
    out.extend(crc(&out).to_be_bytes());
    out.extend(headers);
    out.extend(payload);
    out.extend(crc(&out).to_be_bytes());
    out
}

/// An event of that type.
pub(crate) fn event(kind: &str, payload: &[u8]) -> Vec<u8> {
    let headers = [
        header(":event-type", kind),
        header(":content-type", "application/json"),
        header(":message-type", "event"),
    ];
    message(&headers.concat(), payload)
}

/// An event of Anthropic's as Bedrock's `InvokeModelWithResponseStream` wraps it.
pub(crate) fn chunk(payload: &[u8]) -> Vec<u8> {
    let wrapped = format!(r#"{{"bytes":"{}","p":"abc"}}"#, base64(payload));
    event("chunk", wrapped.as_bytes())
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for group in bytes.chunks(3) {
        let byte = |at: usize| usize::from(group.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            out.push(if at <= group.len() {
                char::from(LETTERS[bits >> (18 - 6 * at) & 63])
            } else {
                '='
            });
        }
    }
    out
}

/// What framing a body gave: the messages, written out, and the failure.
pub(crate) fn frame<'c>(
    limit: Option<usize>,
    chunks: impl IntoIterator<Item = &'c [u8]>,
) -> (Vec<String>, Option<FrameError>) {
    let mut framer = Framer::new(limit);
    let mut messages = Vec::new();
    for chunk in chunks {
        let result = framer.feed(chunk, |message| {
            messages.push(format!("{message:?}"));
            std::ops::ControlFlow::Continue(())
        });
        if let Err(error) = result {
            return (messages, Some(error));
        }
    }
    (messages, None)
}
