//! The laws of envelopes and image markers, against a second implementation that is as plain as possible:
//! read a tree, print it, compare.

use std::cmp::Ordering;
use std::fmt::Write as _;

use proptest::prelude::*;
use turntape_core::envelope::{
    CallText, NonCanonical, Reason, Said, canonical_json, encode_assistant, encode_tool,
    explain_not_canonical, mend, parse_assistant, parse_canonical_assistant,
    parse_canonical_assistant_said, parse_canonical_tool, parse_canonical_tool_said, parse_tool,
};
use turntape_core::image_marker::{
    Part, count_image_parts, find_unwritable, has_image_parts, join_image_parts, split_image_parts,
};
use turntape_core::json::Str;

/// A tree, numbers as they stand.
#[derive(Debug, Clone, PartialEq)]
enum Tree {
    Word(&'static str),
    Number(String),
    String(String),
    Array(Vec<Tree>),
    Object(Vec<(String, Tree)>),
}

use Tree::{Array, Number, Object, String as Text, Word};

// The oracle: reading -------------------------------------------------------------------------------

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The numbers met: where each begins, and its text.
    numbers: Vec<(usize, String)>,
}

impl Reader<'_> {
    fn peek(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(0)
    }

    fn space(&mut self) {
        while b" \t\r\n".contains(&self.peek()) && self.at < self.bytes.len() {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek() == byte && self.at < self.bytes.len()).then(|| self.at += 1)
    }

    fn value(&mut self, depth: usize) -> Option<Tree> {
        self.space();
        let tree = match self.peek() {
            b'"' => Text(self.string()?),
            b'[' => {
                let depth = depth.checked_sub(1)?;
                self.at += 1;
                let mut items = Vec::new();
                self.space();
                if self.take(b']').is_none() {
                    loop {
                        items.push(self.value(depth)?);
                        if self.take(b']').is_some() {
                            break;
                        }
                        self.take(b',')?;
                    }
                }
                Array(items)
            }
            b'{' => {
                let depth = depth.checked_sub(1)?;
                self.at += 1;
                let mut items = Vec::new();
                self.space();
                if self.take(b'}').is_none() {
                    loop {
                        self.space();
                        let key = self.string()?;
                        self.space();
                        self.take(b':')?;
                        items.push((key, self.value(depth)?));
                        if self.take(b'}').is_some() {
                            break;
                        }
                        self.take(b',')?;
                    }
                }
                Object(items)
            }
            b'-' | b'0'..=b'9' => {
                let from = self.at;
                while b"+-.eE0123456789".contains(&self.peek()) && self.at < self.bytes.len() {
                    self.at += 1;
                }
                let text = std::str::from_utf8(&self.bytes[from..self.at])
                    .ok()?
                    .to_owned();
                is_number(&text).then_some(())?;
                self.numbers.push((from, text.clone()));
                Number(text)
            }
            _ => {
                let words = ["true", "false", "null"];
                let word = words
                    .iter()
                    .find(|word| self.bytes[self.at..].starts_with(word.as_bytes()))?;
                self.at += word.len();
                Word(word)
            }
        };
        self.space();
        Some(tree)
    }

    fn string(&mut self) -> Option<String> {
        self.take(b'"')?;
        let mut units: Vec<u16> = Vec::new();
        loop {
            let rest = std::str::from_utf8(&self.bytes[self.at..]).ok()?;
            let character = rest.chars().next()?;
            self.at += character.len_utf8();
            match character {
                '"' => return String::from_utf16(&units).ok(),
                '\\' => {
                    let escape = self.peek();
                    self.at += 1;
                    let unit = match escape {
                        b'"' | b'\\' | b'/' => u16::from(escape),
                        b'b' => 8,
                        b't' => 9,
                        b'n' => 10,
                        b'f' => 12,
                        b'r' => 13,
                        b'u' => {
                            let hex = rest.get(2..6)?;
                            self.at += 4;
                            hex.bytes()
                                .all(|digit| digit.is_ascii_hexdigit())
                                .then_some(())?;
                            u16::from_str_radix(hex, 16).ok()?
                        }
                        _ => return None,
                    };
                    units.push(unit);
                }
                '\0'..='\x1f' => return None,
                _ => units.extend(character.encode_utf16(&mut [0; 2]).iter()),
            }
        }
    }
}

fn is_number(text: &str) -> bool {
    let text = text.strip_prefix('-').unwrap_or(text);
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(digits)
        && exponent.is_none_or(|e| digits(e.strip_prefix(['+', '-']).unwrap_or(e)))
}

fn read(text: &str) -> Option<(Tree, Vec<(usize, String)>)> {
    let mut reader = Reader {
        bytes: text.as_bytes(),
        at: 0,
        numbers: Vec::new(),
    };
    let tree = reader.value(127)?;
    (reader.at == text.len()).then_some((tree, reader.numbers))
}

// The oracle: printing ------------------------------------------------------------------------------

/// Of numbers beyond all doubles the text.
fn print_number(text: &str) -> String {
    let whole = text.bytes().all(|b| b == b'-' || b.is_ascii_digit());
    if whole && text != "-0" {
        if let Ok(small) = text.parse::<i64>() {
            return small.to_string();
        }
        if let Ok(large) = text.parse::<u64>() {
            return large.to_string();
        }
    }
    let value: f64 = text.parse().expect("a number");
    if value.is_infinite() {
        return text.to_owned();
    }
    // The standard library's forms: one without any exponent, one that always has one.
    if value == 0.0 || (1e-5..1e16).contains(&value.abs()) {
        let plain = value.to_string();
        return if plain.contains('.') {
            plain
        } else {
            format!("{plain}.0")
        };
    }
    let text = format!("{value:e}");
    if text.contains("e-") {
        text
    } else {
        text.replace('e', "e+")
    }
}

fn print_string(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\u{c}' => out.push_str("\\f"),
            '\r' => out.push_str("\\r"),
            '\0'..='\x1f' => {
                let _ = write!(out, "\\u{:04x}", u32::from(character));
            }
            _ => out.push(character),
        }
    }
    out.push('"');
}

fn print(tree: &Tree, out: &mut String) {
    match tree {
        Word(word) => out.push_str(word),
        Number(text) => out.push_str(&print_number(text)),
        Text(text) => print_string(text, out),
        Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                print(item, out);
            }
            out.push(']');
        }
        Object(items) => {
            out.push('{');
            for (at, (key, value)) in last_sorted(items).into_iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                print_string(key, out);
                out.push(':');
                print(value, out);
            }
            out.push('}');
        }
    }
}

fn printed(tree: &Tree) -> String {
    let mut out = String::new();
    print(tree, &mut out);
    out
}

fn last_sorted(items: &[(String, Tree)]) -> Vec<(&String, &Tree)> {
    let map: std::collections::BTreeMap<&String, &Tree> =
        items.iter().map(|(k, v)| (k, v)).collect();
    map.into_iter().collect()
}

fn get<'t>(tree: &'t Tree, name: &str) -> Option<&'t Tree> {
    let Object(items) = tree else { return None };
    items
        .iter()
        .rev()
        .find(|(key, _)| key == name)
        .map(|(_, value)| value)
}

fn text(tree: Option<&Tree>) -> Option<Tree> {
    match tree {
        Some(Text(text)) => Some(Text(text.clone())),
        _ => None,
    }
}

fn object(members: Vec<(&str, Tree)>) -> Tree {
    Object(
        members
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value))
            .collect(),
    )
}

/// What the encoder writes of the lenient result, its reasoning left out; None for no envelope.
fn assistant_oracle(tree: &Tree) -> Option<Tree> {
    let Some(Array(items)) = get(tree, "tool_calls") else {
        return None;
    };
    let calls = items
        .iter()
        .map(|call| {
            let mut members = vec![];
            for name in ["id", "name", "arguments"] {
                members.push((name, text(get(call, name))?));
            }
            match get(call, "extra_content") {
                None | Some(Word("null")) => {}
                Some(extra) => members.push(("extra_content", extra.clone())),
            }
            Some(object(members))
        })
        .collect::<Option<Vec<_>>>()?;
    let content = text(get(tree, "content")).unwrap_or(Text(String::new()));
    (!calls.is_empty()).then(|| object(vec![("content", content), ("tool_calls", Array(calls))]))
}

fn tool_oracle(tree: &Tree) -> Option<Tree> {
    let id = text(get(tree, "tool_call_id"))?;
    let content = text(get(tree, "content")).unwrap_or(Text(String::new()));
    Some(object(vec![("content", content), ("tool_call_id", id)]))
}

fn common(one: &str, other: &str) -> usize {
    one.bytes()
        .zip(other.bytes())
        .take_while(|(a, b)| a == b)
        .count()
}

/// Holds a text against the oracle, in all ways.
fn check(input: &str) -> Result<(), TestCaseError> {
    let tree = read(input);
    let assistant = tree.as_ref().and_then(|(tree, _)| assistant_oracle(tree));
    let result = tree.as_ref().and_then(|(tree, _)| tool_oracle(tree));

    // Lenient.
    let lenient = parse_assistant(input);
    let lenient_tool = parse_tool(input);
    prop_assert_eq!(lenient.is_some(), assistant.is_some());
    prop_assert_eq!(lenient_tool.is_some(), result.is_some());
    if let (Some(lenient), Some(oracle)) = (&lenient, &assistant) {
        prop_assert_eq!(again(lenient), printed(oracle));
        let reasoning = tree
            .as_ref()
            .and_then(|(tree, _)| text(get(tree, "reasoning_content")));
        prop_assert_eq!(
            lenient.reasoning.map(|text| Text(text.to_text())),
            reasoning
        );
    }
    if let (Some(lenient), Some(oracle)) = (lenient_tool, &result) {
        let content = lenient.content.map(Str::to_text).unwrap_or_default();
        prop_assert_eq!(
            encode_tool(&lenient.tool_call_id.to_text(), &content),
            printed(oracle)
        );
    }

    // Canonical: print and compare, exponents refused.
    let numbers = tree
        .as_ref()
        .map(|(_, numbers)| numbers.clone())
        .unwrap_or_default();
    let exponent = numbers.iter().any(|(_, text)| text.contains(['e', 'E']));
    let same = |oracle: &Option<Tree>| {
        oracle.as_ref().is_some_and(|tree| printed(tree) == input) && !exponent
    };
    let strict = parse_canonical_assistant(input);
    prop_assert_eq!(strict.is_some(), same(&assistant));
    prop_assert_eq!(parse_canonical_tool(input).is_some(), same(&result));
    let mut said = Said::default();
    prop_assert_eq!(&parse_canonical_assistant_said(input, &mut said), &strict);
    if let Some(strict) = &strict {
        let calls = strict.calls.iter();
        let strings = strict
            .content
            .into_iter()
            .chain(calls.flat_map(|c| [c.arguments, c.id, c.name]));
        check_said(&said, strings)?;
    }
    said.clear(1 << 10);
    if let Some(strict) = parse_canonical_tool_said(input, &mut said) {
        check_said(
            &said,
            strict.content.into_iter().chain([strict.tool_call_id]),
        )?;
    }
    if let Some(strict) = strict {
        prop_assert_eq!(again(&strict), input);
        prop_assert!(strict.canonical && strict.reasoning.is_none() && strict.content.is_some());
    }

    // Why not.
    let explained = explain_not_canonical(input);
    prop_assert_eq!(explained.is_none(), same(&assistant) || same(&result));
    let Some(NonCanonical { reason, offset }) = explained else {
        return Ok(());
    };
    prop_assert!(offset <= input.len());
    match (&tree, assistant.as_ref().or(result.as_ref())) {
        (None, _) => prop_assert_eq!(reason, Reason::NotJson),
        (Some(_), None) => prop_assert_eq!(reason, Reason::NotAnEnvelope),
        (Some(_), Some(oracle)) => {
            let wanted = printed(oracle);
            let difference = common(input, &wanted);
            let odd = numbers
                .iter()
                .find(|(_, text)| text.contains(['e', 'E']) || print_number(text) != *text)
                .map_or(usize::MAX, |(at, _)| *at);
            let equal = wanted == input;
            match odd.cmp(&difference) {
                Ordering::Less => prop_assert_eq!((reason, offset), (Reason::Number, odd)),
                Ordering::Equal => {
                    prop_assert_eq!(offset, odd);
                    prop_assert!(reason <= Reason::Number);
                }
                Ordering::Greater => {
                    prop_assert!(!equal);
                    prop_assert_eq!(offset, difference);
                    prop_assert!(reason != Reason::Number, "{:?}", reason);
                }
            }
            prop_assert!(reason > Reason::NotAnEnvelope);
        }
    }

    // Mending gives what the oracle prints, if that is canonical.
    let mended = mend(input);
    prop_assert_eq!(mended.is_some(), assistant.is_some() || result.is_some());
    if let Some(text) = mended.and_then(|mended| mended.text) {
        let wanted = assistant.as_ref().or(result.as_ref()).map(printed);
        prop_assert_eq!(Some(&text), wanted.as_ref());
        prop_assert_eq!(explain_not_canonical(&text), None);
    }
    Ok(())
}

/// Holds what the strict parser found that strings say against the strings.
fn check_said<'a>(
    said: &Said,
    strings: impl Iterator<Item = Str<'a>>,
) -> Result<(), TestCaseError> {
    let escaped = strings.filter(|string| string.plain().is_none());
    let wanted: Vec<_> = escaped
        .map(|string| string.to_text().into_bytes())
        .collect();
    prop_assert!(said.texts().eq(wanted));
    Ok(())
}

/// The lenient result, encoded; its reasoning left out.
fn again(envelope: &turntape_core::envelope::Assistant<'_>) -> String {
    let calls: Vec<_> = envelope
        .calls
        .iter()
        .map(|call| {
            let extra = call.extra.map(|extra| {
                // Beyond all doubles, where there is no canonical form, the oracle prints the text too.
                canonical_json(extra.text()).unwrap_or_else(|| {
                    read(extra.text()).map_or_else(String::new, |t| printed(&t.0))
                })
            });
            let texts = [call.id, call.name, call.arguments].map(Str::to_text);
            (texts, extra)
        })
        .collect();
    let calls: Vec<_> = calls
        .iter()
        .map(|([id, name, arguments], extra)| CallText {
            id,
            name,
            arguments,
            extra: extra.as_deref(),
        })
        .collect();
    let content = envelope.content.map(Str::to_text).unwrap_or_default();
    encode_assistant(Some(&content), &calls, None)
}

// What is thrown at it ------------------------------------------------------------------------------

fn some_text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-c]{0,2}",
        prop::sample::select(vec![
            "",
            "content",
            "id",
            "name",
            "a\"b",
            "é漢🦀",
            "\u{2028}/\u{7f}",
            "\n\t\r\u{8}\u{c}",
            "\u{0}\u{1f}\u{b}",
            "{\"command\":\"ls -l\"}",
            "\\u00e9",
            "a b",
            "contents",
        ])
        .prop_map(str::to_owned),
        any::<String>(),
    ]
}

fn some_number() -> impl Strategy<Value = Tree> {
    prop_oneof![
        any::<i64>().prop_map(|value| value.to_string()),
        any::<u64>().prop_map(|value| value.to_string()),
        (-5_i32..5).prop_map(|value| value.to_string()),
        prop::num::f64::NORMAL.prop_map(|value| format!("{value:?}")),
        (-1e7..1e7_f64).prop_map(|value| format!("{value:?}")),
        "-?(0|[1-9][0-9]{0,3})(\\.[0-9]{1,3})?([eE][+-]?[0-9]{1,3})?",
        prop::sample::select(vec![
            "-0",
            "-0.0",
            "0.0",
            "1.0",
            "1.10",
            "1e2",
            "1e+16",
            "1e16",
            "5e-324",
            "1e400",
            "0.00001",
            "0.000001",
            "9999999999999998.0",
            "12345678901234567.0",
            "18446744073709551615",
            "18446744073709551616",
            "-9223372036854775808",
            "-9223372036854775809",
            "100.0",
            "12",
            "1",
        ])
        .prop_map(str::to_owned),
    ]
    .prop_map(Number)
}

fn some_json() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        prop::sample::select(vec!["null", "true", "false"]).prop_map(Word),
        some_number(),
        some_text().prop_map(Text),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Array),
            prop::collection::vec((some_text(), inner), 0..4).prop_map(Object),
        ]
    })
}

/// A member of a call or of an envelope that does not belong there, or comes again.
fn some_member() -> impl Strategy<Value = (String, Tree)> {
    let name = prop::sample::select(vec![
        "arguments",
        "content",
        "extra_content",
        "id",
        "name",
        "reasoning_content",
        "tool_call_id",
        "type",
        "zone",
        "a",
        "tool_calls",
        "contents",
        "",
    ]);
    (name.prop_map(str::to_owned), some_json())
}

fn some_call() -> impl Strategy<Value = Tree> {
    let members = (
        some_text(),
        some_text(),
        some_text(),
        prop::option::of(some_json()),
    );
    (members, prop::option::weighted(0.2, some_member())).prop_map(
        |((id, name, arguments, extra), more)| {
            let mut members = vec![("arguments".to_owned(), Text(arguments))];
            members.extend(extra.map(|extra| ("extra_content".to_owned(), extra)));
            members.push(("id".to_owned(), Text(id)));
            members.push(("name".to_owned(), Text(name)));
            members.extend(more);
            Object(members)
        },
    )
}

fn some_envelope() -> impl Strategy<Value = Tree> {
    let content = prop_oneof![9 => some_text().prop_map(Text), 1 => some_json()];
    let assistant = prop::collection::vec(some_call(), 1..3)
        .prop_map(|calls| ("tool_calls".to_owned(), Array(calls)));
    let tool = some_text().prop_map(|id| ("tool_call_id".to_owned(), Text(id)));
    (
        content,
        prop_oneof![assistant, tool],
        prop::option::weighted(0.2, some_member()),
    )
        .prop_map(|(content, last, more)| {
            let mut members = vec![("content".to_owned(), content)];
            members.extend(more);
            members.push(last);
            Object(members)
        })
}

/// Prints a tree in one of many ways: each draw of zero is the encoder's.
struct Noise<'d> {
    draws: std::iter::Cycle<std::slice::Iter<'d, u8>>,
}

impl Noise<'_> {
    fn draw(&mut self) -> u8 {
        self.draws.next().copied().unwrap_or(0)
    }

    fn space(&mut self, out: &mut String) {
        out.push_str(match self.draw() {
            1 => " ",
            2 => "\n\t",
            _ => "",
        });
    }

    fn string(&mut self, text: &str, out: &mut String) {
        if self.draw() < 3 {
            return print_string(text, out);
        }
        out.push('"');
        for character in text.chars() {
            match self.draw() {
                3 => {
                    for unit in character.encode_utf16(&mut [0; 2]) {
                        let _ = write!(out, "\\u{unit:04x}");
                    }
                }
                4 => {
                    for unit in character.encode_utf16(&mut [0; 2]) {
                        let _ = write!(out, "\\u{unit:04X}");
                    }
                }
                _ if character == '/' => out.push_str("\\/"),
                _ => {
                    let mut one = String::new();
                    print_string(character.encode_utf8(&mut [0; 4]), &mut one);
                    out.push_str(&one[1..one.len() - 1]);
                }
            }
        }
        out.push('"');
    }

    fn value(&mut self, tree: &Tree, out: &mut String) {
        match tree {
            Word(word) => out.push_str(word),
            Number(text) if self.draw() < 3 => out.push_str(&print_number(text)),
            Number(text) => out.push_str(text),
            Text(text) => self.string(text, out),
            Array(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    self.space(out);
                    self.value(item, out);
                    self.space(out);
                }
                out.push(']');
            }
            Object(items) => {
                let mut items: Vec<_> = items.iter().collect();
                if self.draw() < 4 {
                    // Stable: names that come twice stay in the order of the tree.
                    items.sort_by(|(one, _), (other, _)| one.cmp(other));
                }
                if self.draw() == 4 && !items.is_empty() {
                    let again = items[usize::from(self.draw()) % items.len()];
                    items.push(again);
                }
                out.push('{');
                for (at, (key, value)) in items.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    self.space(out);
                    self.string(key, out);
                    self.space(out);
                    out.push(':');
                    self.space(out);
                    self.value(value, out);
                    self.space(out);
                }
                out.push('}');
            }
        }
    }
}

fn said(tree: &Tree, draws: &[u8]) -> String {
    let mut noise = Noise {
        draws: draws.iter().cycle(),
    };
    let mut out = String::new();
    noise.space(&mut out);
    noise.value(tree, &mut out);
    noise.space(&mut out);
    out
}

/// Mostly zeros, so that a text has a fault or two and not a hundred.
fn some_draws() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(prop_oneof![12 => Just(0_u8), 1 => 1_u8..5], 1..60)
}

const TOKENS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    " ",
    "\n",
    "null",
    "true",
    "0",
    "-",
    "1e2",
    "1.0",
    ".",
    "e",
    "\"a\":1,",
    "\"content\":\"x\",",
    "\"content\":",
    "\"tool_calls\":",
    "\"extra_content\":null,",
    "\"reasoning_content\":\"r\",",
    "\\ud83d",
    "\\ude00",
    "\\u00e9",
    "\\u001f",
    "\\u001F",
    "\\/",
    "é",
    "\u{0}",
    "\u{feff}",
    ",\"id\":\"c\"",
    "NaN",
    "1.10",
];

/// Changes a text at random places.
fn edited(text: String, edits: &[(prop::sample::Index, u8, prop::sample::Index)]) -> String {
    let mut text = text;
    for (place, kind, token) in edits {
        let borders: Vec<usize> = (0..=text.len())
            .filter(|&at| text.is_char_boundary(at))
            .collect();
        let at = borders[place.index(borders.len())];
        let next = text[at..]
            .chars()
            .next()
            .map_or(at, |character| at + character.len_utf8());
        match kind {
            0 => text.insert_str(at, TOKENS[token.index(TOKENS.len())]),
            1 => text.replace_range(at..next, ""),
            2 => text.replace_range(at..next, TOKENS[token.index(TOKENS.len())]),
            _ => text.truncate(at),
        }
    }
    text
}

fn some_edits() -> impl Strategy<Value = Vec<(prop::sample::Index, u8, prop::sample::Index)>> {
    let edit = (
        any::<prop::sample::Index>(),
        0_u8..4,
        any::<prop::sample::Index>(),
    );
    prop::collection::vec(edit, 0..3)
}

fn cases() -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(proptest_cases())
    }
}

/// `PROPTEST_CASES`, or enough for every run.
fn proptest_cases() -> u32 {
    let given = std::env::var("PROPTEST_CASES").ok();
    given.and_then(|given| given.parse().ok()).unwrap_or(2000)
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn envelopes_in_any_spelling(tree in some_envelope(), draws in some_draws()) {
        check(&said(&tree, &draws))?;
    }

    #[test]
    fn envelopes_that_the_encoder_wrote(tree in some_envelope()) {
        for oracle in [assistant_oracle(&tree), tool_oracle(&tree)].into_iter().flatten() {
            check(&printed(&oracle))?;
        }
    }

    #[test]
    fn broken_envelopes(tree in some_envelope(), draws in some_draws(), edits in some_edits()) {
        check(&edited(said(&tree, &draws), &edits))?;
    }

    #[test]
    fn any_json(tree in some_json(), draws in some_draws(), edits in some_edits()) {
        let text = said(&tree, &draws);
        check(&edited(text.clone(), &edits))?;
        let wrapped = format!(
            "{{\"content\":\"\",\"tool_calls\":[{{\"arguments\":\"\",\"extra_content\":{text},\"id\":\"\",\"name\":\"\"}}]}}",
        );
        check(&wrapped)?;
    }

    #[test]
    fn soup(tokens in prop::collection::vec(prop::sample::select(TOKENS), 0..20)) {
        check(&tokens.concat())?;
    }

    #[test]
    fn any_text_comes_back(
        text in any::<Option<String>>(),
        calls in prop::collection::vec((any::<String>(), any::<String>(), any::<String>()), 1..3),
    ) {
        let texts: Vec<_> = calls
            .iter()
            .map(|(id, name, arguments)| CallText { id, name, arguments, extra: None })
            .collect();
        let encoded = encode_assistant(text.as_deref(), &texts, None);
        let parsed = parse_assistant(&encoded);
        prop_assert!(parsed.is_some());
        let Some(parsed) = parsed else { return Ok(()) };
        prop_assert_eq!(parsed.canonical, text.is_some());
        prop_assert_eq!(parsed.content.map(Str::to_text), text);
        for (call, (id, name, arguments)) in parsed.calls.iter().zip(&calls) {
            prop_assert_eq!(&call.id.to_text(), id);
            prop_assert_eq!(&call.name.to_text(), name);
            prop_assert_eq!(&call.arguments.to_text(), arguments);
        }
    }

    #[test]
    fn doubles_read_back(bits in any::<u64>()) {
        let value = f64::from_bits(bits);
        match turntape_core::envelope::double_text(value) {
            None => prop_assert!(!value.is_finite()),
            Some(text) => {
                let same = text.parse::<f64>().map(f64::to_bits);
                prop_assert_eq!(same, Ok(bits));
                let plain = value == 0.0 || (1e-5..1e16).contains(&value.abs());
                prop_assert_eq!(!text.contains('e'), plain);
            }
        }
    }

    #[test]
    fn texts_come_back_from_their_parts(
        pieces in prop::collection::vec(
            prop::sample::select(vec!["[OH_IMAGE:", "]", "[", "[OH_IM", "AGE:", "a", "é", "\n", "[oh_image:", ""]),
            0..12,
        ),
    ) {
        let text = pieces.concat();
        let parts: Vec<_> = split_image_parts(&text).collect();
        prop_assert_eq!(join_image_parts(&parts), text.as_str());
        prop_assert_eq!(find_unwritable(&parts), None);
        let images = parts.iter().filter(|part| matches!(part, Part::Image(_))).count();
        prop_assert_eq!(count_image_parts(&text), images);
        prop_assert_eq!(has_image_parts(&text), images > 0);
    }

    #[test]
    fn exactly_the_parts_that_come_back_are_writable(
        owned in prop::collection::vec(
            (any::<bool>(), "(\\[OH_IMAGE:|\\]|\\[OH_|a|\\[){0,3}"), 0..4,
        ),
    ) {
        let parts: Vec<_> = owned
            .iter()
            .map(|(image, text)| if *image { Part::Image(text) } else { Part::Text(text) })
            .collect();
        let joined = join_image_parts(&parts);
        let back: Vec<_> = split_image_parts(&joined).collect();
        prop_assert_eq!(find_unwritable(&parts).is_none(), back == parts, "{:?}", back);
    }
}

#[test]
fn hostile_texts_take_linear_time() {
    let deep = "[".repeat(100_000);
    let closed = format!("{deep}{}", "]".repeat(100_000));
    let large = "x".repeat(1 << 20);
    let head = "{\"content\":\"\",\"tool_calls\":[{\"arguments\":\"\",\"extra_content\":";
    for input in [
        deep.clone(),
        closed,
        format!("{head}{deep}"),
        format!("{head}{}", "{\"a\":".repeat(100_000)),
        format!("\"{large}"),
        "\\".repeat(1 << 20),
        format!(
            "{{\"content\":\"{}\",\"tool_call_id\":\"\"}}",
            "\\ud83d".repeat(100_000)
        ),
        format!(
            "{{\"content\":{},\"tool_call_id\":\"\"}}",
            "9".repeat(1 << 20)
        ),
        format!("{{{}\"tool_call_id\":\"\"}}", "\"a\":1,".repeat(100_000)),
    ] {
        assert!(parse_canonical_assistant(&input).is_none());
        assert!(parse_canonical_tool(&input).is_none());
        assert!(explain_not_canonical(&input).is_some());
        let _ = (parse_assistant(&input), parse_tool(&input), mend(&input));
    }
    let whole = encode_tool("c1", &large.repeat(64));
    assert!(parse_canonical_tool(&whole).is_some());
    assert_eq!(explain_not_canonical(&whole), None);
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn both_ways_to_read_and_write_a_literal_agree(text in any::<String>(), draws in some_draws()) {
        let mut literal = String::new();
        turntape_core::json::push_literal(&text, &mut literal);
        let mut bytes = Vec::new();
        turntape_core::json::push_literal_bytes(&text, &mut bytes);
        prop_assert_eq!(std::str::from_utf8(&bytes), Ok(literal.as_str()));
        for literal in [literal, said(&Text(text.clone()), &draws)] {
            let raw = turntape_core::json::Raw::parse(&literal, 1);
            let read = raw.ok().and_then(turntape_core::json::Raw::as_str);
            prop_assert_eq!(read.map(Str::to_text), Some(text.clone()));
            let mut bytes = Vec::new();
            if let Some(read) = read {
                read.push_bytes(&mut bytes);
            }
            prop_assert_eq!(std::str::from_utf8(&bytes), Ok(text.as_str()));
        }
    }
}
