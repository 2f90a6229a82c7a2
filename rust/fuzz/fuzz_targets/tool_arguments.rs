//! Tool arguments: what is shown of a text that still comes is JSON, and is the text once that is whole.

#![no_main]

use libfuzzer_sys::fuzz_target;
use turntape_core::arguments::{check, complete};
use turntape_core::json::{MAX_ARGUMENT_DEPTH, Raw, ends_inside_value, trim};

fuzz_target!(|text: &str| {
    let shown = complete(text);
    let parsed = Raw::parse(&shown, MAX_ARGUMENT_DEPTH).expect("what is shown is JSON");
    let whole = Raw::parse(text, MAX_ARGUMENT_DEPTH);
    if whole.is_ok() {
        assert_eq!(shown, trim(text));
        assert!(!ends_inside_value(text));
    } else {
        assert!(parsed.is_object());
    }
    let usable = trim(text).is_empty() || whole.is_ok_and(Raw::is_object);
    assert_eq!(check(text).is_ok(), usable);
    // Showing what is shown changes nothing.
    assert_eq!(complete(&shown), shown);
});
