//! Redaction: every rule over every text as the plain engine has it, and no cutting of a stream changes it.

#![no_main]

use std::sync::{Arc, LazyLock};

use libfuzzer_sys::fuzz_target;
use turntape_core::redact::{LEAST_WINDOW, RuleSet, RuleSpec, StreamRedactor};

/// A rule for each way of searching: around a literal, from an opening marker, from end to end.
static RULES: LazyLock<Arc<RuleSet>> = LazyLock::new(|| {
    let rule = |(id, regex, keyword): (&str, &str, &str)| RuleSpec {
        id: id.to_owned(),
        regex: regex.to_owned(),
        keywords: [keyword].iter().filter(|word| !word.is_empty()).map(|word| (*word).to_owned()).collect(),
        entropy: if id == "entropy" { 1.5 } else { 0.0 },
        ..RuleSpec::default()
    };
    let specs: Vec<_> = [
        ("token", r"\bhbr_[a-z0-9]{4,12}\b", "hbr_"),
        ("entropy", r#"(?i)key["']?[=:]\s?([a-z0-9]{4,16})(?:[;\s]|$)"#, ""),
        ("block", r"BEGIN-[\s\S]+?-END", "begin"),
        ("greedy", r"OPEN[\s\S]*SHUT", ""),
        ("run", r"[0-9]{6,}", ""),
        ("login", r"[a-z]+://([^:@\s]+)@", ""),
        ("either", r"(?:ab|cd)(_+|x)|(e.f)", ""),
        ("line", r"(?m)^tok ([^\n]+)$", "tok"),
    ]
    .into_iter()
    .map(rule)
    .collect();
    Arc::new(RuleSet::new(&specs, &[]).expect("rules that compile"))
});

fn stream<'c>(window: usize, pieces: impl IntoIterator<Item = &'c [u8]>) -> Vec<u8> {
    let mut redactor = StreamRedactor::new(Arc::clone(&RULES), window);
    let mut out = Vec::new();
    for piece in pieces {
        redactor.feed(piece, &mut out);
    }
    redactor.finish(&mut out);
    out
}

fuzz_target!(|input: &[u8]| {
    let (choices, text) = input.split_at(input.len().min(2));
    let size = 1 + usize::from(choices.first().copied().unwrap_or(0) % 32);
    let window = LEAST_WINDOW + usize::from(choices.get(1).copied().unwrap_or(0));
    let redacted = RULES.redact(text).unwrap_or_else(|| text.to_vec());

    let whole = stream(window, [text]);
    assert_eq!(stream(window, text.chunks(size)), whole);
    assert_eq!(stream(window, text.chunks(1)), whole);
    assert_eq!(stream(text.len(), text.chunks(size)), redacted);
    let valid = std::str::from_utf8(text).is_ok();
    assert!(!valid || std::str::from_utf8(&redacted).is_ok() && std::str::from_utf8(&whole).is_ok());

    // In order, apart, within the text.
    let mut at = 0;
    for secret in RULES.find(text) {
        assert!(at <= secret.range.start && secret.range.start < secret.range.end);
        at = secret.range.end;
    }
    assert!(at <= text.len());
});
