//! One rule: what of a match is the secret, and whether it is allowed.

use std::fmt;
use std::ops::Range;
use std::sync::OnceLock;

use aho_corasick::AhoCorasick;
use regex_automata::meta::Regex;
use regex_automata::nfa::thompson::{self, NFA, WhichCaptures};
use regex_automata::util::captures::Captures;
use regex_automata::{Anchored, Input};
use regex_syntax::hir::Hir;

use super::literals::{self, Needles};
use super::re2;

/// A rule as it is written.
#[derive(Debug, Clone, Default)]
pub struct RuleSpec {
    /// Its name, which stands in for the secrets that it finds.
    pub id: String,
    /// RE2.
    pub regex: String,
    /// Which group is the secret; 0 is the first that is not empty, else the whole match.
    pub secret_group: usize,
    /// The secret's Shannon entropy must be greater, in bits a character; 0 asks for none.
    pub entropy: f64,
    /// One of them must occur, in any case, before the regex runs; none asks for none.
    pub keywords: Vec<String>,
    /// What is no secret.
    pub allowlists: Vec<AllowSpec>,
}

/// What is no secret, as it is written.
#[derive(Debug, Clone, Default)]
pub struct AllowSpec {
    /// RE2; one of them must match.
    pub regexes: Vec<String>,
    /// One of them must stand in the secret, in any case.
    pub stopwords: Vec<String>,
    /// What the regexes look at.
    pub target: Target,
    /// Whether regexes and stopwords must both agree, where there are both.
    pub all: bool,
}

/// What the regexes of an allowlist look at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Target {
    /// The secret.
    #[default]
    Secret,
    /// The whole match.
    Match,
    /// The lines that the match touches.
    Line,
}

/// What is wrong with a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleError {
    /// The rule; empty for what belongs to none.
    pub rule: String,
    /// What is wrong, in words.
    pub message: String,
}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.rule.is_empty() {
            f.write_str(&self.message)
        } else {
            write!(f, "rule {:?}: {}", self.rule, self.message)
        }
    }
}

impl std::error::Error for RuleError {}

/// A compiled rule.
pub(super) struct Rule {
    pub(super) id: String,
    pub(super) placeholder: Vec<u8>,
    pub(super) regex: Regex,
    pub(super) needles: Option<Needles>,
    /// The longest match, None where there is no bound.
    pub(super) longest: Option<usize>,
    /// Whether a keyword must have been seen. Where every literal that a match must hold has one in it, the
    /// keyword says nothing more.
    pub(super) gated: bool,
    hir: Hir,
    nfa: OnceLock<Option<NFA>>,
    secret_group: usize,
    entropy: f64,
    allowlists: Vec<Allow>,
}

/// The line of the last match that was asked about, and what each allowlist said of it.
#[derive(Debug, Default)]
pub(super) struct Lines {
    line: Range<usize>,
    said: Vec<(usize, bool)>,
}

impl Rule {
    pub(super) fn new(spec: &RuleSpec) -> Result<Self, RuleError> {
        let fail = |message| RuleError {
            rule: spec.id.clone(),
            message,
        };
        // The placeholder must stand wherever the secret stood, in the middle of a JSON string too.
        if spec.id.is_empty()
            || spec
                .id
                .contains(|c: char| c.is_control() || "\"\\".contains(c))
        {
            return Err(fail(
                "an id is not empty and holds no quote, backslash or control character".to_owned(),
            ));
        }
        let hir = re2::parse(&spec.regex).map_err(fail)?;
        let needles = literals::required(&hir);
        let regex = re2::compile(std::slice::from_ref(&hir), needles.is_none()).map_err(fail)?;
        let groups = hir.properties().explicit_captures_len();
        if spec.secret_group > groups {
            return Err(fail(format!(
                "the secret is group {} of a regex that has {groups}",
                spec.secret_group
            )));
        }
        let allowlists = spec.allowlists.iter().map(Allow::new);
        Ok(Self {
            id: spec.id.clone(),
            placeholder: format!("[REDACTED:{}]", spec.id).into_bytes(),
            regex,
            longest: hir.properties().maximum_len(),
            gated: !spec.keywords.is_empty()
                && spec.keywords.iter().all(|word| !word.is_empty())
                && !needles
                    .as_ref()
                    .is_some_and(|needles| needles.hold_one_of(&spec.keywords)),
            needles,
            secret_group: spec.secret_group,
            entropy: spec.entropy,
            allowlists: allowlists.collect::<Result<_, _>>().map_err(fail)?,
            nfa: OnceLock::new(),
            hir,
        })
    }

    /// Whether a match is told by what is around its literal.
    pub(super) const fn is_near(&self) -> bool {
        !self.gated && self.needles.is_some() && self.longest.is_some()
    }

    /// The automaton, for walking by hand.
    pub(super) fn nfa(&self) -> Option<&NFA> {
        let build = || {
            let config = thompson::Config::new()
                .utf8(false)
                .which_captures(WhichCaptures::None);
            thompson::Compiler::new()
                .configure(config)
                .build_from_hir(&self.hir)
                .ok()
        };
        self.nfa.get_or_init(build).as_ref()
    }

    /// Where in a match the secret stands; None where the match is not one, or is allowed.
    ///
    /// `limit` is how far the search looked that found the match.
    pub(super) fn secret(
        &self,
        hay: &[u8],
        found: Range<usize>,
        limit: usize,
        global: &[&Allow],
        lines: &mut Lines,
    ) -> Option<Range<usize>> {
        let place = self.place(hay, found.clone(), limit);
        let secret = hay.get(place.clone())?;
        if secret.is_empty() || (self.entropy > 0.0 && entropy(secret) <= self.entropy) {
            return None;
        }
        let mut each = self.allowlists.iter().chain(global.iter().copied());
        let allowed = each.any(|allow| allow.allows(hay, &found, secret, lines));
        (!allowed).then_some(place)
    }

    /// The group that is the secret.
    fn place(&self, hay: &[u8], found: Range<usize>, limit: usize) -> Range<usize> {
        if self.hir.properties().explicit_captures_len() == 0 {
            return found;
        }
        let input = Input::new(hay)
            .span(found.start..limit)
            .anchored(Anchored::Yes);
        let mut captures: Captures = self.regex.create_captures();
        self.regex.search_captures(&input, &mut captures);
        let group = |at: usize| captures.get_group(at).filter(|span| !span.is_empty());
        let chosen = (self.secret_group > 0)
            .then(|| group(self.secret_group))
            .flatten();
        chosen
            .or_else(|| (1..captures.group_len()).find_map(group))
            .map_or(found, |span| span.range())
    }
}

/// A compiled allowlist.
pub(super) struct Allow {
    regexes: Option<Regex>,
    stopwords: Option<AhoCorasick>,
    target: Target,
    all: bool,
}

impl Allow {
    pub(super) fn new(spec: &AllowSpec) -> Result<Self, String> {
        let regexes = if spec.regexes.is_empty() {
            None
        } else {
            let hirs: Result<Vec<_>, _> =
                spec.regexes.iter().map(|each| re2::parse(each)).collect();
            let within = |error| format!("in an allowlist: {error}");
            Some(re2::compile(&hirs.map_err(within)?, true).map_err(within)?)
        };
        let stopwords = if spec.stopwords.is_empty() {
            None
        } else {
            let built = AhoCorasick::builder()
                .ascii_case_insensitive(true)
                .build(&spec.stopwords);
            Some(built.map_err(|error| error.to_string())?)
        };
        Ok(Self {
            regexes,
            stopwords,
            target: spec.target,
            all: spec.all,
        })
    }

    fn allows(&self, hay: &[u8], found: &Range<usize>, secret: &[u8], lines: &mut Lines) -> bool {
        let stopped = self.stopwords.as_ref().map(|words| words.is_match(secret));
        // What decides alone need not ask the other.
        match stopped {
            Some(true) if !self.all => return true,
            Some(false) if self.all => return false,
            _ => {}
        }
        let matched = self.regexes.as_ref().map(|regex| match self.target {
            Target::Secret => regex.is_match(secret),
            Target::Match => regex.is_match(&hay[found.clone()]),
            Target::Line => lines.ask(self, regex, hay, found),
        });
        matched.or(stopped).unwrap_or(false)
    }
}

impl Lines {
    /// Whether the regex matches the lines; many matches on one long line search it once.
    fn ask(&mut self, allow: &Allow, regex: &Regex, hay: &[u8], found: &Range<usize>) -> bool {
        let touches_one = memchr::memchr(b'\n', &hay[found.clone()]).is_none();
        let around = || {
            let start = memchr::memrchr(b'\n', &hay[..found.start]).map_or(0, |at| at + 1);
            let end = memchr::memchr(b'\n', &hay[found.end..]);
            start..end.map_or(hay.len(), |at| found.end + at)
        };
        if !touches_one {
            return regex.is_match(&hay[around()]);
        }
        if !(self.line.start <= found.start && found.end <= self.line.end) {
            self.line = around();
            self.said.clear();
        }
        let key = std::ptr::from_ref(allow).addr();
        if let Some((_, said)) = self.said.iter().find(|(asked, _)| *asked == key) {
            return *said;
        }
        let says = regex.is_match(&hay[self.line.clone()]);
        self.said.push((key, says));
        says
    }
}

/// Shannon's entropy of the characters, in bits a character.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn entropy(secret: &[u8]) -> f64 {
    let text = String::from_utf8_lossy(secret);
    let mut ascii = [0_usize; 128];
    let mut other = std::collections::BTreeMap::new();
    let mut total = 0_usize;
    for c in text.chars() {
        total += 1;
        match ascii.get_mut(c as usize) {
            Some(count) => *count += 1,
            None => *other.entry(c).or_insert(0_usize) += 1,
        }
    }
    let counts = ascii.into_iter().chain(other.into_values());
    counts
        .filter(|count| *count > 0)
        .map(|count| {
            let share = count as f64 / total as f64;
            -share * share.log2()
        })
        .sum()
}
