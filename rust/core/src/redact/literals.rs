//! What every match of a regex must hold: literals, and how far behind the match's start one of them begins.
//!
//! One pass over a text for the literals of all rules then tells where a regex need look at all.

use memchr::memmem;
use regex_syntax::hir::{Class, Hir, HirKind};

/// More literals than this are not worth their while.
const MOST: usize = 64;
/// Longer ones are cut: they would not be rarer.
const LONGEST: usize = 16;
/// Shorter ones would be found everywhere.
const SHORTEST: usize = 2;
/// A class of so many is still a choice of literals.
const FEW: usize = 8;
/// So many where they make a short literal longer.
const MANY: usize = 16;

/// Literals in lower case, without regard to ASCII case, of which every match holds at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Needles {
    pub(super) literals: Vec<Vec<u8>>,
    /// The most bytes that can stand between the start of the match and the start of the literal.
    pub(super) before: usize,
}

impl Needles {
    fn shortest(&self) -> usize {
        self.literals.iter().map(Vec::len).min().unwrap_or(0)
    }

    /// Whether each of them holds one of these words, in any ASCII case.
    pub(super) fn hold_one_of(&self, words: &[String]) -> bool {
        let words: Vec<_> = words.iter().map(|word| word.to_ascii_lowercase()).collect();
        self.literals.iter().all(|literal| {
            words
                .iter()
                .any(|word| memmem::find(literal, word.as_bytes()).is_some())
        })
    }

    /// Better is longer, then nearer to the start, then fewer.
    fn rank(&self) -> (usize, std::cmp::Reverse<(usize, usize)>) {
        let rest = std::cmp::Reverse((self.before, self.literals.len()));
        (self.shortest().min(4), rest)
    }
}

/// The best literals of a regex, None where nothing must be in a match, or not within a bounded distance.
pub(super) fn required(hir: &Hir) -> Option<Needles> {
    let mut walk = Walk {
        at: Some(0),
        run: vec![Vec::new()],
        run_at: 0,
        best: None,
    };
    walk.visit(hir);
    walk.close();
    walk.best.filter(|best| best.shortest() >= SHORTEST)
}

struct Walk {
    /// How many bytes may stand before this place; None when there is no bound.
    at: Option<usize>,
    /// The literals that end here, one of which stands here for sure.
    run: Vec<Vec<u8>>,
    /// How many bytes may stand before them.
    run_at: usize,
    best: Option<Needles>,
}

impl Walk {
    fn visit(&mut self, hir: &Hir) {
        if self.at.is_none() {
            return;
        }
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => {}
            HirKind::Capture(capture) => self.visit(&capture.sub),
            HirKind::Concat(parts) => parts.iter().for_each(|part| self.visit(part)),
            HirKind::Repetition(repetition) if repetition.min > 0 => {
                let times = repetition
                    .min
                    .min(u32::try_from(LONGEST).unwrap_or(u32::MAX));
                (0..times).for_each(|_| self.visit(&repetition.sub));
                if repetition.max != Some(times) {
                    let least = repetition.sub.properties().maximum_len();
                    let whole = hir.properties().maximum_len();
                    let more = whole
                        .zip(least)
                        .map(|(whole, one)| whole.saturating_sub(one * times as usize));
                    self.skip(more);
                }
            }
            // Two bytes are found everywhere: here a third one is worth more literals.
            HirKind::Class(class) if self.shortest() == SHORTEST => match letters(class, MANY) {
                Some(literals) => self.append(&literals),
                None => self.skip(hir.properties().maximum_len()),
            },
            HirKind::Literal(_) | HirKind::Class(_) | HirKind::Repetition(_) => match exact(hir) {
                Some(literals) => self.append(&literals),
                None => self.skip(hir.properties().maximum_len()),
            },
            HirKind::Alternation(parts) => match exact(hir) {
                Some(literals) => self.append(&literals),
                None => self.either(hir, parts),
            },
        }
    }

    /// How long the literals are at least that end here.
    fn shortest(&self) -> usize {
        self.run.iter().map(Vec::len).min().unwrap_or(0)
    }

    /// One of several: each must hold something.
    fn either(&mut self, hir: &Hir, parts: &[Hir]) {
        self.close();
        let each: Option<Vec<Needles>> = parts.iter().map(required).collect();
        if let (Some(at), Some(each)) = (self.at, each) {
            let before = each.iter().map(|needles| needles.before).max().unwrap_or(0);
            let literals = each.into_iter().flat_map(|needles| needles.literals);
            self.consider(Needles {
                literals: literals.collect(),
                before: at + before,
            });
        }
        self.skip(hir.properties().maximum_len());
    }

    /// Goes on behind one of these.
    fn append(&mut self, literals: &[Vec<u8>]) {
        let most = literals.iter().map(Vec::len).max().unwrap_or(0);
        if self.run.len() * literals.len() > MOST || self.shortest() >= LONGEST {
            self.close();
        }
        let pairs = self
            .run
            .iter()
            .flat_map(|head| literals.iter().map(move |tail| (head, tail)));
        self.run = pairs
            .map(|(head, tail)| [&head[..], &tail[..]].concat())
            .collect();
        self.at = self.at.map(|at| at + most);
    }

    /// Goes on behind something of at most so many bytes.
    fn skip(&mut self, most: Option<usize>) {
        self.close();
        self.at = self.at.zip(most).map(|(at, most)| at.saturating_add(most));
        self.run_at = self.at.unwrap_or(0);
    }

    fn close(&mut self) {
        let mut literals = std::mem::replace(&mut self.run, vec![Vec::new()]);
        for literal in &mut literals {
            literal.truncate(LONGEST);
        }
        let before = self.run_at;
        self.run_at = self.at.unwrap_or(0);
        self.consider(Needles { literals, before });
    }

    fn consider(&mut self, mut needles: Needles) {
        needles.literals.sort_unstable();
        needles.literals.dedup();
        let better = self
            .best
            .as_ref()
            .is_none_or(|best| needles.rank() > best.rank());
        if better && needles.literals.len() <= MOST && needles.shortest() > 0 {
            self.best = Some(needles);
        }
    }
}

/// All that a regex matches, where that is few literals, ASCII case aside.
fn exact(hir: &Hir) -> Option<Vec<Vec<u8>>> {
    let found = match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => vec![Vec::new()],
        HirKind::Literal(literal) => vec![literal.0.to_ascii_lowercase()],
        HirKind::Class(class) => letters(class, FEW)?,
        HirKind::Capture(capture) => exact(&capture.sub)?,
        HirKind::Concat(parts) => parts.iter().try_fold(vec![Vec::new()], |heads, part| {
            product(&heads, &exact(part)?)
        })?,
        HirKind::Alternation(parts) => {
            let mut all = Vec::new();
            for part in parts {
                all.extend(exact(part)?);
                if all.len() > MOST {
                    return None;
                }
            }
            all
        }
        // There or not: both are literals.
        HirKind::Repetition(repetition) if (repetition.min, repetition.max) == (0, Some(1)) => {
            let mut both = exact(&repetition.sub)?;
            both.push(Vec::new());
            both
        }
        HirKind::Repetition(repetition) => {
            let times = repetition.max.filter(|max| *max == repetition.min)?;
            if times as usize > LONGEST {
                return None;
            }
            let one = exact(&repetition.sub)?;
            (0..times).try_fold(vec![Vec::new()], |heads, _| product(&heads, &one))?
        }
    };
    Some(found)
}

fn product(heads: &[Vec<u8>], tails: &[Vec<u8>]) -> Option<Vec<Vec<u8>>> {
    if heads.len() * tails.len() > MOST {
        return None;
    }
    let pairs = heads
        .iter()
        .flat_map(|head| tails.iter().map(move |tail| (head, tail)));
    let joined: Vec<_> = pairs
        .map(|(head, tail)| [&head[..], &tail[..]].concat())
        .collect();
    // What has grown long comes in pieces, cut to length.
    let short = joined.iter().all(|each| each.len() <= 4 * LONGEST);
    short.then_some(joined)
}

/// The members of a class of ASCII, in lower case, if they are not too many.
fn letters(class: &Class, most: usize) -> Option<Vec<Vec<u8>>> {
    let mut all: Vec<u8> = Vec::new();
    let ranges: Vec<(u32, u32)> = match class {
        Class::Bytes(bytes) => bytes
            .ranges()
            .iter()
            .map(|range| (range.start().into(), range.end().into()))
            .collect(),
        Class::Unicode(unicode) => unicode
            .ranges()
            .iter()
            .map(|range| (range.start().into(), range.end().into()))
            .collect(),
    };
    for (start, end) in ranges {
        if end > 0x7F || end - start > 16 {
            return None;
        }
        all.extend((start..=end).filter_map(|c| u8::try_from(c).ok()));
    }
    all.make_ascii_lowercase();
    all.sort_unstable();
    all.dedup();
    let few = !all.is_empty() && all.len() <= most;
    few.then(|| all.into_iter().map(|byte| vec![byte]).collect())
}

#[cfg(test)]
mod tests {
    use super::super::re2::parse;
    use super::required;

    fn needles(pattern: &str) -> Option<(usize, Vec<String>)> {
        let found = required(&parse(pattern).expect(pattern))?;
        let texts = found
            .literals
            .into_iter()
            .map(|each| String::from_utf8(each).expect("text"));
        Some((found.before, texts.collect()))
    }

    #[test]
    fn what_must_be_there() {
        for (pattern, before, literals) in [
            (r"\bhbr_[a-z0-9]{12}\b", 0, &["hbr_"][..]),
            (r"(?i)\b(AKIA|ASIA)[A-Z2-7]{16}", 0, &["akia", "asia"]),
            (r"gh[pous]_\w{36}", 0, &["gho_", "ghp_", "ghs_", "ghu_"]),
            (
                r"(?i)[\w.-]{0,50}?(?:adafruit)[\s=]{0,9}(\w{32})",
                50,
                &["adafruit"],
            ),
            (r"(?:\b|\\[nr])(sk-\w{20})", 0, &["\\nsk-", "\\rsk-", "sk-"]),
            (r"(?:\b|\\\w)(sk-\w{20})", 2, &["sk-"]),
            (r"x?(?:abcd\w|\w{3}efgh)z", 4, &["abcd", "efgh"]),
            (
                r"-----BEGIN [A-Z]{0,9}KEY-----[\s\S]+?-----END",
                0,
                &["-----begin "],
            ),
            (
                r"(?:a(?:b|cd)){2}_x",
                0,
                &["abab_x", "abacd_x", "acdab_x", "acdacd_x"],
            ),
        ] {
            let (found, texts) = needles(pattern).expect(pattern);
            assert_eq!(
                (found, &texts[..]),
                (
                    before,
                    &literals.iter().map(|l| (*l).to_owned()).collect::<Vec<_>>()[..]
                ),
                "{pattern}"
            );
        }
    }

    #[test]
    fn a_third_byte_for_two() {
        let (_, texts) = needles(r"(?i)\bSK[0-9A-F]{32}\b").expect("literals");
        assert_eq!(texts.len(), 16);
        assert!(
            texts
                .iter()
                .all(|text| text.len() == 3 && text.starts_with("sk"))
        );
        let (_, texts) = needles(r"\bhf_[0-9a-f]{32}").expect("literals");
        assert_eq!(texts, ["hf_"]);
        let (_, texts) = needles(r"\bSK\w{32}").expect("literals");
        assert_eq!(texts, ["sk"]);
    }

    #[test]
    fn what_a_keyword_adds() {
        let found = |pattern: &str| required(&parse(pattern).expect(pattern)).expect(pattern);
        let words = |words: &[&str]| {
            words
                .iter()
                .map(|word| (*word).to_owned())
                .collect::<Vec<_>>()
        };
        let either = found(r"(?:ghp_|github_pat_)\w+");
        assert!(either.hold_one_of(&words(&["ghp_", "GitHub"])));
        assert!(either.hold_one_of(&words(&["h"])));
        assert!(!either.hold_one_of(&words(&["ghp_"])));
        // Longer than what is kept of the literal.
        assert!(!found("averylongliteralindeed").hold_one_of(&words(&["averylongliteralindeed"])));
    }

    #[test]
    fn what_nothing_tells_of() {
        for pattern in [
            r"\w+secret",
            r"[a-z]{20}",
            r"(?:abcd|\w+)",
            r"a?b?c?",
            r"x\d",
            r"(?s).*token",
        ] {
            assert_eq!(needles(pattern), None, "{pattern}");
        }
    }
}
