//! The JSON validator and the walk over raw slices, against `serde_json`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use turntape_core::json::{Raw, push_literal, trim};

/// Whether `serde_json` may refuse what we take: its depth is limited, its numbers have a size, and it
/// refuses lone surrogates, which we leave to whoever uses the string.
fn may_refuse(text: &str, error: &serde_json::Error) -> bool {
    let words = error.to_string();
    words.contains("recursion limit")
        || words.contains("number out of range")
        || text.to_ascii_lowercase().contains("\\ud")
}

fn check(raw: Raw<'_>, value: &Value) {
    match value {
        Value::Object(members) => {
            assert!(raw.is_object());
            assert_eq!(raw.is_empty(), members.is_empty());
            for (key, value) in members {
                match raw.member(key) {
                    Some(found) => check(found, value),
                    None => assert!(value.is_null()),
                }
            }
            assert!(
                raw.entries()
                    .all(|(key, _)| members.contains_key(&key.to_text()))
            );
        }
        Value::Array(elements) => {
            assert!(raw.is_array());
            assert_eq!(raw.elements().count(), elements.len());
            raw.elements()
                .zip(elements)
                .for_each(|(raw, value)| check(raw, value));
        }
        Value::String(text) => {
            assert_eq!(&raw.as_str().expect("a string").to_text(), text);
            let mut literal = String::new();
            push_literal(text, &mut literal);
            assert_eq!(literal, value.to_string());
        }
        Value::Number(number) => assert_eq!(raw.as_u64(), number.as_u64()),
        Value::Null => assert!(raw.is_null()),
        Value::Bool(_) => assert!(raw.as_str().is_none() && raw.as_u64().is_none()),
    }
}

fuzz_target!(|text: &str| {
    match (
        serde_json::from_str::<Value>(text),
        Raw::parse(text, usize::MAX),
    ) {
        (Ok(value), Ok(raw)) => {
            assert_eq!(raw.text(), trim(text));
            check(raw, &value);
        }
        (Ok(_), Err(error)) => panic!("{error}"),
        (Err(error), Ok(raw)) => {
            assert!(may_refuse(text, &error), "{error}");
            // The walk does not depend on whether others can read it.
            for (key, value) in raw.entries() {
                assert!(Raw::parse(value.text(), usize::MAX).is_ok());
                let _ = key.to_text();
            }
            for element in raw.elements() {
                assert!(Raw::parse(element.text(), usize::MAX).is_ok());
            }
        }
        (Err(_), Err(_)) => {}
    }
});
