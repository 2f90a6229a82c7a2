//! The laws of redaction: the same as rules that are applied one by one and as plainly as possible, the same
//! for every cutting, linear.

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use proptest::prelude::*;
use regex_automata::Input;
use regex_automata::meta::Regex;
use regex_automata::util::syntax;
use turntape_core::redact::{AllowSpec, LEAST_WINDOW, RuleSet, RuleSpec, StreamRedactor, Target};

/// Regexes of every kind of search: short ones around a literal, unbounded ones behind a marker, and those
/// that must look everywhere. All are ASCII, so that the plain engine reads them alike.
const PATTERNS: &[(&str, &[&str])] = &[
    (r"\bhbr_[a-z0-9]{4,12}\b", &["hbr_"]),
    (
        r"(?i)[\w.-]{0,8}?key[ =:]{1,3}([a-z0-9]{4,8})(?:[;\s]|$)",
        &["key"],
    ),
    (r"aa[0-9]{2}bb", &[]),
    (r"bb[0-9]{2}aa", &[]),
    (r"BEGIN[A-Z ]{0,9}-[\s\S]+?-END", &["begin"]),
    (r"BEGIN[\s\S]*END", &["end"]),
    (r"\bey[a-z0-9]{4,}\.[a-z0-9]{2,}", &["ey"]),
    (r"[0-9]{6,}", &[]),
    (r"[a-z]+://([^:@\s]+)@", &["://"]),
    (r"(?:ab|hbr)(_[0-9a]+|a)", &[]),
    (r"(?m)^tok ([0-9a-z]+)$", &["tok"]),
    (r"x(?:y*z|w)", &[]),
];

fn rules(chosen: &[usize]) -> RuleSet {
    let specs: Vec<_> = chosen.iter().map(|at| spec(*at)).collect();
    RuleSet::new(&specs, &[]).expect("rules that compile")
}

fn spec(at: usize) -> RuleSpec {
    let (regex, keywords) = PATTERNS[at];
    RuleSpec {
        id: format!("r{at}"),
        regex: regex.to_owned(),
        keywords: keywords.iter().map(|word| (*word).to_owned()).collect(),
        ..RuleSpec::default()
    }
}

/// Every rule over the whole text, then the union.
fn plainly(chosen: &[usize], text: &str) -> Vec<(Range<usize>, usize)> {
    let mut found = Vec::new();
    for (index, at) in chosen.iter().enumerate() {
        let (pattern, keywords) = PATTERNS[*at];
        let lower = text.to_ascii_lowercase();
        if !keywords.is_empty() && !keywords.iter().any(|word| lower.contains(word)) {
            continue;
        }
        let regex = Regex::builder()
            .syntax(syntax::Config::new().unicode(false).utf8(false))
            .build(pattern)
            .expect("a regex");
        let mut captures = regex.create_captures();
        let mut from = 0;
        while from <= text.len() {
            regex.search_captures(&Input::new(text).span(from..text.len()), &mut captures);
            let Some(whole) = captures.get_match() else {
                break;
            };
            let group = (1..captures.group_len())
                .filter_map(|group| captures.get_group(group))
                .find(|span| !span.is_empty());
            let secret = group.map_or(whole.range(), |span| span.range());
            if !secret.is_empty() {
                found.push((secret, index));
            }
            from = whole.end().max(whole.start() + 1);
        }
    }
    found.sort_by_key(|(range, rule)| (range.start, usize::MAX - range.end, *rule));
    let mut united: Vec<(Range<usize>, usize)> = Vec::new();
    for (range, rule) in found {
        match united.last_mut() {
            Some((last, _)) if range.start < last.end => last.end = last.end.max(range.end),
            _ => united.push((range, rule)),
        }
    }
    united
}

fn found(rules: &RuleSet, text: &str) -> Vec<(Range<usize>, usize)> {
    let found = rules.find(text.as_bytes()).into_iter();
    found.map(|secret| (secret.range, secret.rule)).collect()
}

fn redact(rules: &RuleSet, text: &str) -> String {
    let redacted = rules.redact(text.as_bytes());
    redacted.map_or_else(
        || text.to_owned(),
        |bytes| String::from_utf8(bytes).expect("UTF-8"),
    )
}

fn stream<'c>(
    rules: &Arc<RuleSet>,
    window: usize,
    pieces: impl IntoIterator<Item = &'c [u8]>,
) -> String {
    let mut redactor = StreamRedactor::new(Arc::clone(rules), window);
    let mut out = Vec::new();
    for piece in pieces {
        redactor.feed(piece, &mut out);
    }
    redactor.finish(&mut out);
    String::from_utf8(out).expect("UTF-8")
}

fn chosen() -> impl Strategy<Value = Vec<usize>> {
    proptest::sample::subsequence((0..PATTERNS.len()).collect::<Vec<_>>(), 1..=PATTERNS.len())
}

/// Texts in which every rule finds something, nearly finds it, or begins to.
fn texts(pieces: Range<usize>) -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => proptest::sample::select(vec![
            "hbr_", "ab12cd34", "key", "KEY = ", "=", ": ", ";", "aa12", "bb34", "aa", "bb", "BEGIN", " PIER-",
            "-END", "END", "ey", "eyeyab", ".", "ab", "://", "@", "\n", "tok ", "tok a1\n", "x", "y", "z", "w",
            "12", "123456", "_0a", "é", "漢", " ", "-",
        ]).prop_map(str::to_owned),
        1 => "[a-z0-9 ]{0,12}",
        1 => ("[a-zA-Z0-9y]", 1_usize..40).prop_map(|(c, times)| c.repeat(times)),
    ];
    proptest::collection::vec(piece, pieces).prop_map(|pieces| pieces.concat())
}

/// A whole text is decided in pieces, which no secret may show: they are put before, across and behind where
/// a piece ends.
#[test]
fn a_long_text_is_redacted_as_by_plain_rules() {
    const PIECE: usize = 128 << 10;
    let all: Vec<usize> = (0..PATTERNS.len()).collect();
    let set = rules(&all);
    let secrets = " hbr_ab12cd34 x-key = ab12cd34; aa12bb34aa BEGIN PIER- a -END ey1234.ab ab://login@ 123456 hbr_0a\n";
    for shift in [0, 3, 31, 64, 90, 127] {
        let mut text = String::new();
        for piece in 1..4 {
            let filler = piece * PIECE - shift - text.len();
            text.push_str(&"keys and words. ".repeat(filler / 16));
            text.push_str(&" ".repeat(filler % 16));
            text.push_str(secrets);
        }
        assert_eq!(found(&set, &text), plainly(&all, &text), "{shift}");
    }
}

fn cut<'t>(text: &'t [u8], sizes: &[usize]) -> Vec<&'t [u8]> {
    let mut pieces = Vec::new();
    let mut rest = text;
    for size in sizes.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (piece, more) = rest.split_at((*size).min(rest.len()));
        pieces.push(piece);
        rest = more;
    }
    pieces
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_search_is_that_of_each_rule_alone(chosen in chosen(), text in texts(0..60)) {
        prop_assert_eq!(found(&rules(&chosen), &text), plainly(&chosen, &text));
    }

    #[test]
    fn no_cutting_changes_anything(
        chosen in chosen(),
        text in texts(0..120),
        window in LEAST_WINDOW..200,
        sizes in proptest::collection::vec(1_usize..50, 1..6),
    ) {
        let rules = Arc::new(rules(&chosen));
        let whole = stream(&rules, window, [text.as_bytes()]);
        prop_assert_eq!(&stream(&rules, window, cut(text.as_bytes(), &sizes)), &whole);
        prop_assert_eq!(&stream(&rules, window, text.as_bytes().chunks(1)), &whole);
    }

    #[test]
    fn a_text_within_the_window_is_redacted_as_a_whole(chosen in chosen(), text in texts(0..60)) {
        let rules = Arc::new(rules(&chosen));
        let window = text.len().max(LEAST_WINDOW);
        prop_assert_eq!(stream(&rules, window, text.as_bytes().chunks(7)), redact(&rules, &text));
    }

    /// Where matches and attempts are short, a stream finds what the whole text holds, however long it is.
    #[test]
    fn short_matches_are_found_in_a_long_text(text in texts(0..300), window in 100_usize..300) {
        // No keywords but those that begin the match, and nothing that stays open.
        let rules = Arc::new(rules(&[0, 2, 3, 11]));
        let longest = text.split(|c: char| !"xyz".contains(c)).map(str::len).max();
        prop_assume!(longest < Some(100));
        prop_assert_eq!(stream(&rules, window, text.as_bytes().chunks(9)), redact(&rules, &text));
    }

    /// What the whole text hides a stream hides too, if its keywords come early.
    #[test]
    fn a_stream_leaks_nothing(text in texts(0..200), window in LEAST_WINDOW..300) {
        let chosen: Vec<_> = (0..PATTERNS.len()).filter(|at| *at != 8).collect();
        let secret = "BEGIN-q1q1q1-END";
        let rules = Arc::new(rules(&chosen));
        let text = format!("end key {text}{secret}");
        prop_assert!(!redact(&rules, &text).contains("q1q1q1"));
        prop_assert!(!stream(&rules, window, text.as_bytes().chunks(5)).contains("q1q1q1"));
    }
}

fn repeated(parts: &[(&str, usize)]) -> String {
    parts
        .iter()
        .map(|(text, times)| text.repeat(*times))
        .collect()
}

#[test]
fn a_marked_block_that_outgrows_the_window_is_covered_to_its_end() {
    let rules = Arc::new(rules(&[4]));
    for (text, expected) in [
        (
            repeated(&[
                ("a BEGIN-", 1),
                ("0123456789", 100),
                ("-END b", 1),
                (" more", 60),
            ]),
            repeated(&[("a [REDACTED:r4] b", 1), (" more", 60)]),
        ),
        // Never closed: to the end of the text.
        (
            repeated(&[("a BEGIN-", 1), ("0123456789", 100)]),
            "a [REDACTED:r4]".to_owned(),
        ),
        // Not opened after all: as it came.
        (
            repeated(&[("a BEGIN ", 1), ("0123456789", 100)]),
            repeated(&[("a BEGIN ", 1), ("0123456789", 100)]),
        ),
    ] {
        assert_eq!(stream(&rules, 64, text.as_bytes().chunks(3)), expected);
    }
}

#[test]
fn a_run_that_outgrows_the_window_is_covered_to_its_end() {
    let rules = Arc::new(rules(&[6, 7]));
    let text = repeated(&[
        ("a ", 100),
        ("1234567890", 100),
        (" b", 100),
        (" eyabcd.", 1),
        ("x1", 400),
        (" c", 100),
    ]);
    let expected = repeated(&[
        ("a ", 100),
        ("[REDACTED:r7]", 1),
        (" b", 100),
        (" [REDACTED:r6]", 1),
        (" c", 100),
    ]);
    assert_eq!(stream(&rules, 64, text.as_bytes().chunks(3)), expected);
    assert_eq!(redact(&rules, &text), expected);
}

/// A greedy block goes on to its last end, or until a whole window brings no other.
#[test]
fn a_greedy_block_does_not_take_all_the_rest() {
    let rules = Arc::new(rules(&[5]));
    let block = "BEGIN-q1q1-END ";
    for (text, expected) in [
        (
            repeated(&[(block, 1), (" more", 60)]),
            repeated(&[("[REDACTED:r5] ", 1), (" more", 60)]),
        ),
        (
            repeated(&[(block, 1), ("0123456789", 5), (block, 1), (" more", 60)]),
            repeated(&[("[REDACTED:r5] ", 1), (" more", 60)]),
        ),
    ] {
        let redacted = stream(&rules, 64, text.as_bytes().chunks(3));
        assert!(!redacted.contains("q1q1"), "{redacted}");
        assert!(redacted.starts_with("[REDACTED:r5]"), "{redacted}");
        assert!(redacted.ends_with(" more more more more"), "{redacted}");
        assert_eq!(redact(&rules, &text), expected);
    }
}

#[test]
fn a_block_that_breaks_off_does_not_hide_the_next_from_view() {
    let spec = RuleSpec {
        id: "k".to_owned(),
        regex: r"-----BEGIN[ A-Z]+-----[A-Za-z0-9\s]+-----END-----".to_owned(),
        ..RuleSpec::default()
    };
    let rules = Arc::new(RuleSet::new(&[spec], &[]).expect("a rule"));
    let body = "MIIB0123456789\n".repeat(40);
    let text = format!("a\n-----BEGIN A-----{body}-----BEGIN B-----{body}-----END----- b");
    for window in [64, 100, 333] {
        let redacted = stream(&rules, window, text.as_bytes().chunks(11));
        assert!(!redacted.contains("MIIB"), "{redacted}");
        assert!(redacted.ends_with("] b"), "{redacted}");
    }
}

#[test]
fn allowlists_look_at_what_they_are_told_to() {
    let allow = |regexes: &[&str], target| AllowSpec {
        regexes: regexes.iter().map(|each| (*each).to_owned()).collect(),
        target,
        ..AllowSpec::default()
    };
    let text = "id=abcd1234 # fixture\nid=abcd1234\nid=wxyz1234\n";
    for (allowlist, expected) in [
        (
            allow(&["^abcd"], Target::Secret),
            "id=abcd1234 # fixture\nid=abcd1234\nid=[REDACTED:k]\n",
        ),
        (
            allow(&["^id=wxyz"], Target::Match),
            "id=[REDACTED:k] # fixture\nid=[REDACTED:k]\nid=wxyz1234\n",
        ),
        (
            allow(&["^id"], Target::Secret),
            "id=[REDACTED:k] # fixture\nid=[REDACTED:k]\nid=[REDACTED:k]\n",
        ),
        (
            allow(&["nothing", "# fixture$"], Target::Line),
            "id=abcd1234 # fixture\nid=[REDACTED:k]\nid=[REDACTED:k]\n",
        ),
        (
            AllowSpec::default(),
            "id=[REDACTED:k] # fixture\nid=[REDACTED:k]\nid=[REDACTED:k]\n",
        ),
    ] {
        let spec = RuleSpec {
            id: "k".to_owned(),
            regex: "id=([a-z0-9]{8})".to_owned(),
            ..RuleSpec::default()
        };
        let global = [
            (allowlist.clone(), Vec::new()),
            (allow(&["."], Target::Secret), vec!["other".to_owned()]),
        ];
        let everywhere = RuleSet::new(std::slice::from_ref(&spec), &global).expect("a rule");
        assert_eq!(redact(&everywhere, text), expected);
        let spec = RuleSpec {
            allowlists: vec![allowlist],
            ..spec
        };
        assert_eq!(
            redact(&RuleSet::new(&[spec], &[]).expect("a rule"), text),
            expected
        );
    }
}

#[test]
fn what_is_wrong_with_a_rule_is_said_with_its_name() {
    let good = RuleSpec {
        id: "good".to_owned(),
        regex: "x".to_owned(),
        ..RuleSpec::default()
    };
    for (bad, says) in [
        (
            RuleSpec {
                id: "look".to_owned(),
                regex: "x(?=y)".to_owned(),
                ..good.clone()
            },
            "look-around",
        ),
        (
            RuleSpec {
                id: "group".to_owned(),
                secret_group: 2,
                regex: "(x)".to_owned(),
                ..good.clone()
            },
            "group 2",
        ),
        (
            RuleSpec {
                id: "a\"b".to_owned(),
                ..good.clone()
            },
            "an id",
        ),
        (
            RuleSpec {
                id: "huge".to_owned(),
                regex: "(?:[ab]{1000}){1000}".to_owned(),
                ..good.clone()
            },
            "larger",
        ),
        (
            RuleSpec {
                id: "allow".to_owned(),
                allowlists: vec![AllowSpec {
                    regexes: vec!["(".to_owned()],
                    ..AllowSpec::default()
                }],
                ..good.clone()
            },
            "allowlist",
        ),
    ] {
        let error = RuleSet::new(&[good.clone(), bad.clone()], &[]).expect_err("a bad rule");
        assert_eq!(error.rule, bad.id);
        assert!(error.message.contains(says), "{error}");
    }
}

#[test]
fn nothing_of_the_text_is_in_what_is_printed_for_debugging() {
    let mut redactor = StreamRedactor::new(Arc::new(rules(&[0])), 64);
    redactor.feed(b"hbr_ab12cd34", &mut Vec::new());
    assert!(!format!("{redactor:?}").contains("ab12"));
}

/// Texts that are made to be searched again and again.
#[test]
fn hostile_texts_take_linear_time() {
    let all: Vec<_> = (0..PATTERNS.len()).collect();
    let rules = Arc::new(rules(&all));
    for unit in [
        "ey",
        "eyab1.",
        "BEGIN-",
        "BEGIN-END",
        "x",
        "xy",
        "key=",
        "a://",
        "12",
        "tok a",
        "hbr_",
        "aa12bb34",
    ] {
        let seconds = |times: usize| {
            let text = unit.repeat(times / unit.len());
            let start = Instant::now();
            redact(&rules, &text);
            stream(&rules, 4096, [text.as_bytes()]);
            start.elapsed().as_secs_f64()
        };
        let (small, large) = (seconds(1 << 16), seconds(1 << 19));
        // Quadratic growth would be a factor of 64.
        assert!(
            large < 32.0 * small + 0.5,
            "{unit}: {small} s, then {large} s"
        );
    }
}
