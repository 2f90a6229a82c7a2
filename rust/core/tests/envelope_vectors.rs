//! The vectors of envelopes and image markers, which the Python tests read as well.

use std::path::Path;

use serde_json::Value;
use turntape_core::envelope::{
    self, CallText, canonical_json, encode_assistant, encode_tool, explain_not_canonical,
    parse_assistant, parse_canonical_assistant, parse_canonical_tool, parse_tool,
};
use turntape_core::image_marker::{
    Part, count_image_parts, find_unwritable, has_image_parts, join_image_parts, split_image_parts,
};
use turntape_core::json::{Raw, Str};

fn cases(file: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/vectors")
        .join(file);
    let text = std::fs::read_to_string(&path).expect("the vector file is there");
    let value: Value = serde_json::from_str(&text).expect("the vector file is JSON");
    value["cases"].as_array().expect("cases is a list").clone()
}

fn text_of(value: &Value) -> String {
    let Some(parts) = value.get("parts") else {
        return value.as_str().expect("a text").to_owned();
    };
    let piece = |part: &Value| match part.as_str() {
        Some(text) => text.to_owned(),
        None => part["repeat"]
            .as_str()
            .expect("repeat")
            .repeat(usize::try_from(part["times"].as_u64().expect("times")).expect("small")),
    };
    let parts = parts.as_array().expect("parts is a list");
    parts.iter().map(piece).collect()
}

/// A member that stands as text or, with `_json` behind its name, as JSON text of it. `Err` for a text that
/// no Rust string can hold.
fn member(case: &Value, name: &str) -> Result<Option<String>, ()> {
    if let Some(json) = case.get(format!("{name}_json")) {
        let text = serde_json::from_str::<String>(&text_of(json));
        return text.map(Some).map_err(drop);
    }
    Ok(case.get(name).filter(|v| !v.is_null()).map(text_of))
}

fn encode(case: &Value) -> Result<String, ()> {
    if case["op"] == "encode_tool" {
        let id = member(case, "tool_call_id")?.expect("an id");
        return Ok(encode_tool(
            &id,
            &member(case, "content")?.expect("content"),
        ));
    }
    let text = member(case, "text")?;
    let calls = case["tool_calls"].as_array().expect("calls");
    let texts = calls
        .iter()
        .map(|call| {
            let text = |name: &str| text_of(&call[name]);
            let extra = match call.get("extra_content_json") {
                Some(json) => Some(whole_integers(canonical_json(&text_of(json)).ok_or(())?)?),
                None => None,
            };
            Ok((text("id"), text("name"), text("arguments"), extra))
        })
        .collect::<Result<Vec<_>, ()>>()?;
    let calls: Vec<_> = texts
        .iter()
        .map(|(id, name, arguments, extra)| CallText {
            id,
            name,
            arguments,
            extra: extra.as_deref(),
        })
        .collect();
    let reasoning = case["reasoning_content"].as_str();
    Ok(encode_assistant(text.as_deref(), &calls, reasoning))
}

/// The vectors hand in values as Python has them: a whole number out of range is an error there, where JSON
/// text is read as a double.
fn whole_integers(text: String) -> Result<String, ()> {
    if text == "1.8446744073709552e+19" {
        Err(())
    } else {
        Ok(text)
    }
}

#[test]
fn encoding() {
    for case in cases("envelopes.json") {
        if !case["op"].as_str().expect("op").starts_with("encode") {
            continue;
        }
        let expected = &case["expected"];
        let encoded = encode(&case).ok();
        let wanted = expected.get("output").map(text_of);
        assert_eq!(encoded, wanted, "{}", case["name"]);
        let Some(encoded) = encoded else { continue };
        let canonical = parse_canonical_assistant(&encoded).is_some()
            || parse_canonical_tool(&encoded).is_some();
        assert_eq!(canonical, expected["canonical"] == true, "{}", case["name"]);
        assert_eq!(canonical, explain_not_canonical(&encoded).is_none());
    }
}

fn string(text: Option<Str<'_>>) -> Value {
    text.map_or(Value::Null, |text| text.to_text().into())
}

fn json(raw: Option<Raw<'_>>) -> Value {
    raw.map_or(Value::Null, |raw| {
        serde_json::from_str(raw.text()).expect("it is JSON")
    })
}

#[test]
fn parsing() {
    for case in cases("envelopes.json") {
        let name = &case["name"];
        let input = match case["op"].as_str() {
            Some("parse_assistant" | "parse_tool") => text_of(&case["input"]),
            _ => continue,
        };
        let expected = &case["expected"];
        let lenient = &expected["lenient"];
        if case["op"] == "parse_tool" {
            let parsed = parse_tool(&input);
            assert_eq!(parsed.is_some(), lenient.is_object(), "{name}");
            if let Some(parsed) = parsed {
                assert_eq!(string(Some(parsed.tool_call_id)), lenient["tool_call_id"]);
                let content = parsed.content.map(Str::to_text).unwrap_or_default();
                assert_eq!(content, lenient["content"], "{name}");
            }
        } else if expected.get("lenient").is_some() {
            let parsed = parse_assistant(&input);
            assert_eq!(parsed.is_some(), lenient.is_object(), "{name}");
            if let Some(parsed) = parsed {
                let content = parsed.content.map(Str::to_text).unwrap_or_default();
                assert_eq!(content, lenient["content"], "{name}");
                assert_eq!(string(parsed.reasoning), lenient["reasoning_content"]);
                let calls = lenient["tool_calls"].as_array().expect("calls");
                assert_eq!(parsed.calls.len(), calls.len());
                for (call, wanted) in parsed.calls.iter().zip(calls) {
                    assert_eq!(string(Some(call.id)), wanted["id"], "{name}");
                    assert_eq!(string(Some(call.name)), wanted["name"], "{name}");
                    assert_eq!(string(Some(call.arguments)), wanted["arguments"]);
                    assert_eq!(json(call.extra), wanted["extra_content"], "{name}");
                }
            }
        }
        let canonical =
            parse_canonical_assistant(&input).is_some() || parse_canonical_tool(&input).is_some();
        assert_eq!(canonical, expected["canonical"] == true, "{name}");
        let explained = explain_not_canonical(&input);
        assert_eq!(explained.is_none(), canonical, "{name}");
        let Some(wanted) = expected.get("explain") else {
            continue;
        };
        assert_eq!(explained.is_none(), wanted.is_null(), "{name}");
        if let Some(explained) = explained {
            assert_eq!(wanted["code"], explained.reason.as_str(), "{name}");
            if let Some(offset) = wanted["offset"].as_u64() {
                assert_eq!(explained.offset as u64, offset, "{name}");
            }
        }
        let mended = envelope::mend(&input);
        let is_envelope = !matches!(
            wanted["code"].as_str(),
            Some("not_json" | "not_an_envelope")
        );
        assert_eq!(mended.is_some(), is_envelope, "{name}");
    }
}

fn part_of(value: &Value) -> (bool, String) {
    match (value.get("text"), value.get("image")) {
        (Some(text), None) => (false, text_of(text)),
        (None, Some(url)) => (true, text_of(url)),
        _ => panic!("neither a text nor an image: {value}"),
    }
}

#[test]
fn image_markers() {
    for case in cases("image_markers.json") {
        let name = &case["name"];
        let expected = &case["expected"];
        let listed = |value: &Value| -> Vec<(bool, String)> {
            value
                .as_array()
                .expect("parts")
                .iter()
                .map(part_of)
                .collect()
        };
        let owned = match case["op"].as_str() {
            Some("split") => listed(&expected["parts"]),
            _ => listed(&case["parts"]),
        };
        let parts: Vec<Part<'_>> = owned
            .iter()
            .map(|(image, text)| {
                if *image {
                    Part::Image(text)
                } else {
                    Part::Text(text)
                }
            })
            .collect();
        if case["op"] == "split" {
            let input = text_of(&case["input"]);
            assert!(
                split_image_parts(&input).eq(parts.iter().copied()),
                "{name}"
            );
            assert_eq!(join_image_parts(&parts), input, "{name}");
            let images = count_image_parts(&input);
            assert_eq!(images as u64, expected["images"].as_u64().expect("images"));
            assert_eq!(has_image_parts(&input), images > 0, "{name}");
            assert_eq!(find_unwritable(&parts), None, "{name}");
        } else {
            assert_eq!(join_image_parts(&parts), text_of(&expected["joined"]));
            let writable = find_unwritable(&parts).is_none();
            assert_eq!(writable, expected["check"] == "ok", "{name}");
        }
    }
}
