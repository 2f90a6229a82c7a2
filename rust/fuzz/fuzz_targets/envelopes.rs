//! Envelopes: the parsers, the explanation and the mending agree with each other, and the strict parsers
//! with writing again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use turntape_core::envelope::{
    Assistant, CallText, Reason, Said, canonical_json, canonical_value, encode_assistant,
    encode_tool, explain_not_canonical, mend, parse_assistant, parse_canonical_assistant,
    parse_canonical_assistant_said, parse_canonical_tool, parse_tool,
};
use turntape_core::json::Str;

/// Writes what was read, its reasoning left out; None where a number is beyond all doubles.
fn again(envelope: &Assistant<'_>) -> Option<String> {
    let mut texts = Vec::new();
    for call in &envelope.calls {
        let extra = match call.extra {
            Some(extra) => Some(canonical_json(extra.text())?),
            None => None,
        };
        texts.push(([call.id, call.name, call.arguments].map(Str::to_text), extra));
    }
    let calls: Vec<_> = texts
        .iter()
        .map(|([id, name, arguments], extra)| CallText {
            id,
            name,
            arguments,
            extra: extra.as_deref(),
        })
        .collect();
    let content = envelope.content.map(Str::to_text).unwrap_or_default();
    Some(encode_assistant(Some(&content), &calls, None))
}

/// Whether any number of the envelope has an exponent.
fn has_exponent(envelope: &Assistant<'_>) -> bool {
    let mut extras = envelope.calls.iter().filter_map(|call| call.extra);
    extras.any(|extra| canonical_value(extra.text()).is_none())
}

fuzz_target!(|text: &str| {
    let mut said = Said::new();
    let strict = parse_canonical_assistant(text);
    assert_eq!(parse_canonical_assistant_said(text, &mut said), strict);
    if let Some(strict) = &strict {
        assert_eq!(again(strict).as_deref(), Some(text));
        let strings = strict.calls.iter().flat_map(|c| [c.arguments, c.id, c.name]);
        let escaped = strict.content.into_iter().chain(strings).filter(|s| s.plain().is_none());
        assert!(said.texts().eq(escaped.map(|s| s.to_text().into_bytes())));
    }
    let lenient = parse_assistant(text);
    if let Some(lenient) = &lenient {
        let same = again(lenient).is_some_and(|again| again == text) && !has_exponent(lenient);
        assert_eq!(same, strict.is_some());
    }
    let result = parse_tool(text);
    let strict_result = parse_canonical_tool(text);
    if let Some(result) = result {
        let content = result.content.map(Str::to_text).unwrap_or_default();
        let again = encode_tool(&result.tool_call_id.to_text(), &content);
        assert_eq!(again == text, strict_result.is_some());
    }
    assert!(lenient.is_some() || strict.is_none());
    assert!(result.is_some() || strict_result.is_none());
    let explained = explain_not_canonical(text);
    assert_eq!(explained.is_none(), strict.is_some() || strict_result.is_some());
    let is_envelope = lenient.is_some() || result.is_some();
    if let Some(why) = explained {
        assert!(why.offset <= text.len());
        assert_eq!(why.reason > Reason::NotAnEnvelope, is_envelope);
    }
    let mended = mend(text);
    assert_eq!(mended.is_some(), is_envelope);
    if let Some(mended) = mended.and_then(|mended| mended.text) {
        assert_eq!(explain_not_canonical(&mended), None);
    }
});
