//! RE2's regexes in the words of `regex_syntax`, and what differs in meaning set right.
//!
//! Two dialects that look alike: `[[a]` and `[a&&b]` are plain classes in RE2, a `{` that opens no repetition
//! stands for itself, and so does everything between `\Q` and `\E`. Perl's classes and word boundaries are
//! ASCII, and yet `.` and `[^x]` take a whole character.

use std::fmt::Write as _;
use std::iter::Peekable;
use std::str::Chars;

use regex_automata::meta::{self, Regex};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{
    Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Literal, Repetition,
};

/// What one compiled regex may take, in bytes: several times what the largest rules in use need.
const SIZE_LIMIT: usize = 32 << 20;
/// What an engine may cache while it searches, in bytes.
const CACHE: usize = 8 << 20;

/// Reads a regex in RE2's syntax.
///
/// # Errors
/// It is none, or asks for what RE2 has not; the text says what is wrong.
pub(super) fn parse(pattern: &str) -> Result<Hir, String> {
    let translated = translate(pattern)?;
    let hir = ParserBuilder::new()
        .unicode(false)
        .utf8(false)
        .build()
        .parse(&translated)
        .map_err(|error| error.to_string())?;
    Ok(whole_characters(&hir))
}

/// Compiles one regex or several into an engine, with or without a filter that looks for literals first:
/// where attempts are few and begin where literals are known to be, such a filter only runs ahead of them.
///
/// # Errors
/// It is larger than the limit.
pub(super) fn compile(hirs: &[Hir], filter: bool) -> Result<Regex, String> {
    let config = meta::Config::new()
        .auto_prefilter(filter)
        .utf8_empty(false)
        .nfa_size_limit(Some(SIZE_LIMIT))
        .hybrid_cache_capacity(CACHE);
    Regex::builder()
        .configure(config)
        .build_many_from_hir(hirs)
        .map_err(|error| match error.size_limit() {
            Some(limit) => format!("compiled it is larger than {limit} bytes"),
            None => error.to_string(),
        })
}

// Syntax --------------------------------------------------------------------------------------------

fn translate(pattern: &str) -> Result<String, String> {
    let mut out = String::with_capacity(pattern.len() + 8);
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => escape(&mut chars, &mut out, false)?,
            '[' => class(&mut chars, &mut out)?,
            '(' => {
                out.push('(');
                if chars.peek() == Some(&'?') {
                    flags(&chars)?;
                }
            }
            '{' if !repeats(&chars) => out.push_str("\\{"),
            _ => out.push(c),
        }
    }
    Ok(out)
}

/// Whether what follows a `{` makes it a repetition: `n}`, `n,}` or `n,m}`.
fn repeats(rest: &Peekable<Chars<'_>>) -> bool {
    let mut chars = rest.clone();
    let mut digits = 0;
    let mut commas = 0;
    loop {
        match chars.next() {
            Some('0'..='9') => digits += 1,
            Some(',') if digits > 0 && commas == 0 => commas += 1,
            Some('}') => return digits > 0,
            _ => return false,
        }
    }
}

/// Refuses flags that RE2 does not know.
fn flags(rest: &Peekable<Chars<'_>>) -> Result<(), String> {
    for c in rest.clone().skip(1) {
        match c {
            'u' | 'x' | 'R' => return Err(format!("the flag {c} is not RE2's")),
            'a'..='z' | 'A'..='Z' | '-' if c != 'P' => {}
            _ => return Ok(()),
        }
    }
    Ok(())
}

/// What stands behind a backslash. In a class nothing but a character or a class can.
fn escape(chars: &mut Peekable<Chars<'_>>, out: &mut String, in_class: bool) -> Result<(), String> {
    let Some(c) = chars.next() else {
        return Err("it ends in a backslash".to_owned());
    };
    match c {
        'Q' if !in_class => {
            let mut quoted = String::new();
            while let Some(c) = chars.next() {
                if c == '\\' && chars.peek() == Some(&'E') {
                    chars.next();
                    break;
                }
                quoted.push(c);
            }
            out.push_str(&regex_syntax::escape(&quoted));
        }
        'x' => {
            let code = hexadecimal(chars)?;
            if code.is_ascii() {
                let _ = write!(out, "\\x{:02X}", u32::from(code));
            } else {
                out.push(code);
            }
        }
        '<' | '>' => out.push(c),
        _ => {
            out.push('\\');
            out.push(c);
        }
    }
    Ok(())
}

/// The character of `\xHH` or `\x{H…}`, which is a code point and not a byte.
fn hexadecimal(chars: &mut Peekable<Chars<'_>>) -> Result<char, String> {
    let mut digits = String::new();
    if chars.next_if_eq(&'{').is_some() {
        digits.extend(std::iter::from_fn(|| chars.next_if(|c| *c != '}')));
        chars.next();
    } else {
        digits.extend(chars.take(2));
    }
    u32::from_str_radix(&digits, 16)
        .ok()
        .and_then(char::from_u32)
        .ok_or_else(|| format!("\\x{digits} is no character"))
}

fn class(chars: &mut Peekable<Chars<'_>>, out: &mut String) -> Result<(), String> {
    out.push('[');
    if chars.next_if_eq(&'^').is_some() {
        out.push('^');
    }
    let mut first = true;
    loop {
        if !first && chars.next_if_eq(&']').is_some() {
            out.push(']');
            return Ok(());
        }
        first = false;
        if named(chars, out) || perl(chars, out) {
            continue;
        }
        member(chars, out)?;
        // A range, unless the hyphen is the class's last character.
        let mut ahead = chars.clone();
        if ahead.next() == Some('-') && ahead.peek().is_some_and(|c| *c != ']') {
            chars.next();
            out.push('-');
            member(chars, out)?;
        }
    }
}

/// A class like `[:alpha:]`.
fn named(chars: &mut Peekable<Chars<'_>>, out: &mut String) -> bool {
    let mut ahead = chars.clone();
    if ahead.next() != Some('[') || ahead.next() != Some(':') {
        return false;
    }
    let mut name = String::from("[:");
    name.extend(std::iter::from_fn(|| {
        ahead.next_if(|c| c.is_ascii_alphabetic() || *c == '^')
    }));
    if ahead.next() != Some(':') || ahead.next() != Some(']') {
        return false;
    }
    out.push_str(&name);
    out.push_str(":]");
    *chars = ahead;
    true
}

/// A class like `\w`.
fn perl(chars: &mut Peekable<Chars<'_>>, out: &mut String) -> bool {
    let mut ahead = chars.clone();
    if ahead.next() != Some('\\') {
        return false;
    }
    let Some(c) = ahead.next_if(|c| "dDsSwW".contains(*c)) else {
        return false;
    };
    out.push('\\');
    out.push(c);
    *chars = ahead;
    true
}

/// One character of a class.
fn member(chars: &mut Peekable<Chars<'_>>, out: &mut String) -> Result<(), String> {
    match chars.next() {
        None => return Err("a class is not closed".to_owned()),
        Some('\\') => return escape(chars, out, true),
        // What means something in the other dialect.
        Some(c @ ('[' | ']' | '&' | '~' | '-' | '^')) => {
            out.push('\\');
            out.push(c);
        }
        Some(c) => out.push(c),
    }
    Ok(())
}

// Meaning -------------------------------------------------------------------------------------------

/// Makes every class that takes all bytes beyond ASCII take all characters beyond ASCII instead.
fn whole_characters(hir: &Hir) -> Hir {
    match hir.kind() {
        HirKind::Empty => Hir::empty(),
        HirKind::Literal(Literal(bytes)) => Hir::literal(bytes.clone()),
        HirKind::Look(look) => Hir::look(*look),
        HirKind::Class(class) => Hir::class(class_of_characters(class)),
        HirKind::Repetition(repetition) => Hir::repetition(Repetition {
            sub: Box::new(whole_characters(&repetition.sub)),
            ..repetition.clone()
        }),
        HirKind::Capture(capture) => {
            let mut capture = capture.clone();
            capture.sub = Box::new(whole_characters(&capture.sub));
            Hir::capture(capture)
        }
        HirKind::Concat(parts) => Hir::concat(parts.iter().map(whole_characters).collect()),
        HirKind::Alternation(parts) => {
            Hir::alternation(parts.iter().map(whole_characters).collect())
        }
    }
}

fn class_of_characters(class: &Class) -> Class {
    let Class::Bytes(bytes) = class else {
        return class.clone();
    };
    let beyond = bytes
        .ranges()
        .iter()
        .any(|range| range.start() <= 0x80 && range.end() == 0xFF);
    if !beyond {
        return class.clone();
    }
    let ascii = bytes
        .ranges()
        .iter()
        .filter(|range| range.start() < 0x80)
        .map(|range| ClassUnicodeRange::new(range.start().into(), range.end().min(0x7F).into()));
    let rest = ClassUnicodeRange::new('\u{80}', char::MAX);
    Class::Unicode(ClassUnicode::new(ascii.chain([rest])))
}

#[cfg(test)]
mod tests {
    use super::{compile, parse, translate};

    fn finds(pattern: &str, text: &str) -> Option<String> {
        let regex = compile(&[parse(pattern).expect(pattern)], true).expect(pattern);
        let found = regex.find(text)?;
        Some(text[found.range()].to_owned())
    }

    #[test]
    fn what_looks_alike_and_is_not() {
        for (pattern, text, found) in [
            ("[[a]+", "x[a[", Some("[a[")),
            ("[a&&b]+", "a&b", Some("a&b")),
            ("[]a]+", "x]a", Some("]a")),
            ("[^]a]+", "]xy]", Some("xy")),
            ("[+--]+", "a+,-.", Some("+,-")),
            ("[--0]+", "a-./0", Some("-./0")),
            ("[\\w--a]+", "%9-?A_`", Some("9-?A_`")),
            ("[\\w.-]+", "(a.b-c)", Some("a.b-c")),
            ("[[:digit:]x-z]+", "ax12z", Some("x12z")),
            ("[~~]+", "a~~", Some("~~")),
            ("{{x}}", "a{{x}}", Some("{{x}}")),
            ("x{,2}", "x{,2}", Some("x{,2}")),
            ("x{2}", "axxx", Some("xx")),
            ("\\Qa.b[\\Ec", "a.b[c", Some("a.b[c")),
            ("\\Qa.b", "a.b", Some("a.b")),
            ("\\<a\\>", "<a>", Some("<a>")),
            ("[\\<\\>]+", "a<>", Some("<>")),
            ("\\x60\\x{e9}", "`é", Some("`é")),
            ("[\\x41-\\x43]+", "xABC", Some("ABC")),
            ("a.c", "aéc", Some("aéc")),
            ("a[^b]c", "a漢c", Some("a漢c")),
            ("a\\Wc", "aéc", Some("aéc")),
            ("a\\wc", "aéc", None),
            ("\\bx", "éx", Some("x")),
            ("(?i)key", "KEY \u{212A}ey", Some("KEY")),
            ("(?i)\u{212A}", "k", None),
            ("(?P<n>a)(?s:.)", "a\n", Some("a\n")),
            ("a$", "a\n", None),
        ] {
            assert_eq!(finds(pattern, text).as_deref(), found, "{pattern}");
        }
    }

    #[test]
    fn what_is_refused() {
        for pattern in [
            "x(?=y)",
            "(?<!x)y",
            "(a)\\1",
            "[a",
            "a\\",
            "(?u:x)",
            "(?x) a",
            "(?iR)a",
            "\\pL",
            "[é]",
            "\\x{110000}",
            "(a",
            "a{2,1}",
            "\\C",
        ] {
            assert!(parse(pattern).is_err(), "{pattern}");
        }
        let huge = parse("(?:[ab]{1000}){1000}").expect("a regex");
        let error = compile(&[huge], true).expect_err("too large");
        assert!(error.contains("larger than"), "{error}");
    }

    #[test]
    fn what_is_common_stays() {
        let pattern =
            "(?i)[\\w.]{0,50}?(?:key)(?:[ \\t\\w.]{0,20})[\\s'\"]{0,3}(?:=|>|:{1,3}=)(?P<a>x)";
        assert_eq!(translate(pattern).as_deref(), Ok(pattern));
    }
}
