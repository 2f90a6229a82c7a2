//! The rules of a redactor, and the search for their secrets in a stretch of text.
//!
//! One pass finds the keywords and the literals of all rules. Where a rule's matches are short and must hold
//! a literal, its regex then looks only around those; where they have no bound but begin with a literal, the
//! [`Machine`] walks from each; what is left is searched from end to end. A whole text and each window of a
//! stream go through the same code.

use std::collections::HashMap;
use std::ops::Range;

use aho_corasick::automaton::{Automaton, StateID};
use aho_corasick::dfa::DFA;
use aho_corasick::{Anchored, MatchKind};
use regex_automata::Input;

use super::machine::{Machine, Starts};
use super::rule::{Allow, AllowSpec, Lines, Rule, RuleError, RuleSpec};
use super::sieve::Sieve;

/// How far before its literal a match may begin for the literal to count as its opening marker.
const MARKED_WITHIN: usize = 16;
/// How many bytes may be walked for each byte of a window before attempts are no longer taken up anew.
const PATIENCE: usize = 16;

/// How much of a whole text is searched for literals before the rules look at them: it stays in the cache.
const PIECE: usize = 128 << 10;

/// What a literal is for.
#[derive(Debug, Clone, Copy)]
enum Use {
    Keyword(usize),
    Needle(usize),
}

/// Compiled rules. They find; [`RuleSet::redact`] and the stream replace.
pub struct RuleSet {
    pub(super) rules: Vec<Rule>,
    /// The allowlists of the whole set, and which rules each is for: all where there are none.
    global: Vec<(Allow, Option<Vec<usize>>)>,
    literals: Option<(DFA, Sieve)>,
    uses: Vec<Vec<Use>>,
    pub(super) longest_literal: usize,
    /// The most that can stand between the start of a match and the literal that it must hold.
    longest_lead: usize,
}

/// A secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secret {
    /// Its bytes.
    pub range: Range<usize>,
    /// Which rule found it.
    pub rule: usize,
}

/// How far the pass for literals has come.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scan {
    state: Option<StateID>,
    pub(super) at: usize,
}

/// What is known of a rule up to some place of the text.
#[derive(Default)]
pub(super) struct Progress {
    /// Whether its regex may run: a keyword was seen.
    open: bool,
    /// Where the search goes on.
    from: usize,
    /// Where its literals were found, those that may still matter.
    needles: Vec<usize>,
    /// An attempt that outgrew the window: everything is covered until it comes to an end.
    follow: Option<Machine>,
}

/// A stretch of text, and how much of it is to be decided.
#[derive(Debug, Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) hay: &'a [u8],
    /// Matches that begin before this are decided now.
    pub(super) commit: usize,
    /// What a match may be long; None in a whole text.
    pub(super) window: Option<usize>,
    /// Whether the text ends where the stretch does.
    pub(super) end: bool,
}

impl std::fmt::Debug for RuleSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RuleSet")
            .field("rules", &self.rules.len())
            .finish_non_exhaustive()
    }
}

impl RuleSet {
    /// Compiles rules, and allowlists for all of them or for those of the given ids.
    ///
    /// # Errors
    /// A rule or an allowlist does not compile.
    pub fn new(specs: &[RuleSpec], global: &[(AllowSpec, Vec<String>)]) -> Result<Self, RuleError> {
        let rules: Vec<Rule> = specs.iter().map(Rule::new).collect::<Result<_, _>>()?;
        let global = global.iter().map(|(spec, ids)| {
            let allow = Allow::new(spec).map_err(|message| RuleError {
                rule: String::new(),
                message,
            })?;
            let chosen = |(at, rule): (usize, &Rule)| ids.contains(&rule.id).then_some(at);
            let only = rules.iter().enumerate().filter_map(chosen).collect();
            Ok((allow, (!ids.is_empty()).then_some(only)))
        });
        let global = global.collect::<Result<_, RuleError>>()?;
        let mut uses: HashMap<Vec<u8>, Vec<Use>> = HashMap::new();
        for (at, (rule, spec)) in rules.iter().zip(specs).enumerate() {
            if rule.gated {
                for word in &spec.keywords {
                    // Case beyond ASCII: as it stands, all lower and all upper.
                    for form in [word.clone(), word.to_lowercase(), word.to_uppercase()] {
                        let form = form.into_bytes().to_ascii_lowercase();
                        uses.entry(form).or_default().push(Use::Keyword(at));
                    }
                }
            }
            for literal in rule.needles.iter().flat_map(|needles| &needles.literals) {
                uses.entry(literal.clone())
                    .or_default()
                    .push(Use::Needle(at));
            }
        }
        let mut uses: Vec<_> = uses.into_iter().collect();
        uses.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        let (literals, mut uses): (Vec<_>, Vec<_>) = uses.into_iter().unzip();
        for each in &mut uses {
            each.dedup_by_key(|each| match each {
                Use::Keyword(rule) => (0, *rule),
                Use::Needle(rule) => (1, *rule),
            });
        }
        let near = rules.iter().filter(|rule| rule.is_near());
        let leads = near.filter_map(|rule| rule.needles.as_ref().map(|needles| needles.before));
        let longest_lead = leads.max().unwrap_or(0);
        let longest_literal = literals.iter().map(Vec::len).max().unwrap_or(0);
        let automaton = DFA::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::Standard)
            .build(&literals)
            .map_err(|error| RuleError {
                rule: String::new(),
                message: error.to_string(),
            })?;
        Ok(Self {
            rules,
            global,
            literals: (!literals.is_empty()).then(|| (automaton, Sieve::new(&literals))),
            uses,
            longest_literal,
            longest_lead,
        })
    }

    /// How many rules there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// The id of a rule.
    #[must_use]
    pub fn id(&self, rule: usize) -> &str {
        self.rules.get(rule).map_or("", |rule| &rule.id)
    }

    /// Finds the secrets of a text, in order; what overlaps is one, under the rule that begins first.
    #[must_use]
    pub fn find(&self, text: &[u8]) -> Vec<Secret> {
        let mut progress = self.start();
        let mut scan = Scan::START;
        let mut found = Vec::new();
        let mut view = View {
            hay: text,
            commit: 0,
            window: None,
            end: true,
        };
        // Piece by piece, as far as rules can be decided without the rest: what they look at is near then.
        let margin = self.longest_literal + self.longest_lead;
        for end in (PIECE..text.len()).step_by(PIECE) {
            self.scan(&text[..end], &mut scan, &mut progress);
            view.commit = end.saturating_sub(margin);
            self.decide(view, &mut progress, &mut found);
        }
        self.scan(text, &mut scan, &mut progress);
        view.commit = text.len();
        self.decide(view, &mut progress, &mut found);
        found.sort_unstable_by_key(order);
        found.dedup_by(|next, united| {
            let overlaps = next.range.start < united.range.end;
            if overlaps {
                united.range.end = united.range.end.max(next.range.end);
            }
            overlaps
        });
        found
    }

    /// The text with every secret replaced by `[REDACTED:<rule id>]`; None where there is none.
    #[must_use]
    pub fn redact(&self, text: &[u8]) -> Option<Vec<u8>> {
        let found = self.find(text);
        if found.is_empty() {
            return None;
        }
        let mut out = Vec::with_capacity(text.len());
        let mut at = 0;
        for secret in found {
            out.extend_from_slice(&text[at..secret.range.start]);
            out.extend_from_slice(&self.rules[secret.rule].placeholder);
            at = secret.range.end;
        }
        out.extend_from_slice(&text[at..]);
        Some(out)
    }

    /// What is known before the first byte.
    pub(super) fn start(&self) -> Vec<Progress> {
        let progress = |rule: &Rule| Progress {
            open: !rule.gated,
            ..Progress::default()
        };
        self.rules.iter().map(progress).collect()
    }

    /// Looks for the literals in what has come since.
    pub(super) fn scan(&self, hay: &[u8], scan: &mut Scan, progress: &mut [Progress]) {
        let Some((automaton, sieve)) = &self.literals else {
            scan.at = hay.len();
            return;
        };
        let Some(mut state) = scan
            .state
            .or_else(|| automaton.start_state(Anchored::No).ok())
        else {
            return;
        };
        let mut note = |at: usize, state: StateID| {
            for index in 0..automaton.match_len(state) {
                let pattern = automaton.match_pattern(state, index);
                let start = at + 1 - automaton.pattern_len(pattern);
                for each in &self.uses[pattern.as_usize()] {
                    match *each {
                        Use::Keyword(rule) => progress[rule].open = true,
                        Use::Needle(rule) => progress[rule].needles.push(start),
                    }
                }
            }
        };
        let nothing = automaton.start_state(Anchored::No).ok();
        let mut at = scan.at;
        while at < hay.len() {
            // With no literal begun, the next place where one may begin is all that counts. It may do so
            // one byte behind it, too.
            let mut least = at;
            if Some(state) == nothing {
                at = sieve.skip(hay, at);
                least = at + 2;
            }
            while let Some(byte) = hay.get(at) {
                state = automaton.next_state(Anchored::No, state, *byte);
                if automaton.is_match(state) {
                    note(at, state);
                }
                at += 1;
                if Some(state) == nothing && at >= least {
                    break;
                }
            }
        }
        scan.state = Some(state);
        scan.at = hay.len();
    }

    /// Finds the secrets of all matches that begin before the place up to which is to be decided.
    pub(super) fn decide(
        &self,
        view: View<'_>,
        progress: &mut [Progress],
        found: &mut Vec<Secret>,
    ) {
        let mut lines = Lines::default();
        for (index, rule) in self.rules.iter().enumerate() {
            let Some(progress) = progress.get_mut(index) else {
                continue;
            };
            if view.end && view.is_partial() && !rule.is_near() {
                continue;
            }
            if progress.open {
                let needs = rule.needles.as_ref();
                let idle =
                    progress.follow.is_none() && needs.is_some_and(|_| progress.needles.is_empty());
                if !idle {
                    let mut search = Search {
                        set: self,
                        index,
                        rule,
                        view,
                        found,
                        lines: &mut lines,
                        limit: if view.end {
                            view.hay.len()
                        } else {
                            view.hay.len() - 1
                        },
                    };
                    search.run(progress);
                }
            }
            progress.from = progress.from.max(view.commit);
            progress.needles.retain(|place| *place >= view.commit);
        }
    }

    fn global(&self, rule: usize) -> Vec<&Allow> {
        let applies =
            |only: &Option<Vec<usize>>| only.as_ref().is_none_or(|only| only.contains(&rule));
        let chosen = self.global.iter().filter(|(_, only)| applies(only));
        chosen.map(|(allow, _)| allow).collect()
    }
}

impl View<'_> {
    /// Whether something is left for later.
    const fn is_partial(&self) -> bool {
        !self.end || self.commit < self.hay.len()
    }
}

impl Scan {
    pub(super) const START: Self = Self { state: None, at: 0 };
}

impl Progress {
    /// Whether everything is covered for now.
    pub(super) const fn covers(&self) -> bool {
        self.follow.is_some()
    }

    /// The text moved: what stood at `shift` stands at 0 now.
    pub(super) fn shift(&mut self, shift: usize) {
        self.from = self.from.saturating_sub(shift);
        for place in &mut self.needles {
            *place = place.saturating_sub(shift);
        }
        if let Some(machine) = &mut self.follow {
            machine.shift(shift);
        }
    }
}

/// Secrets in the order in which they begin; of those that begin together the longest rules.
pub(super) fn order(secret: &Secret) -> (usize, std::cmp::Reverse<usize>, usize) {
    let Range { start, end } = secret.range;
    (start, std::cmp::Reverse(end), secret.rule)
}

/// The search of one rule.
struct Search<'s, 'a> {
    set: &'s RuleSet,
    index: usize,
    rule: &'s Rule,
    view: View<'a>,
    found: &'s mut Vec<Secret>,
    lines: &'s mut Lines,
    /// How far can be searched: the byte behind is only looked at, so that no end is seen where none is.
    limit: usize,
}

impl Search<'_, '_> {
    fn run(&mut self, progress: &mut Progress) {
        progress.needles.sort_unstable();
        progress.needles.dedup();
        if let Some(machine) = progress.follow.take() {
            self.follow(machine, progress);
            if progress.follow.is_some() {
                return;
            }
        }
        let long = self
            .rule
            .longest
            .is_none_or(|longest| self.view.window.is_some_and(|window| longest >= window));
        match &self.rule.needles {
            Some(needles) if !long => self.around(progress, needles.before),
            Some(needles) if needles.before <= MARKED_WITHIN && self.rule.nfa().is_some() => {
                self.marked(progress, needles.before);
            }
            _ => self.throughout(progress, long),
        }
    }

    /// Whether a match that begins there is to be left for later.
    const fn later(&self, start: usize) -> bool {
        self.view.is_partial() && start >= self.view.commit
    }

    /// Searches around the literals: no match is longer than the window.
    fn around(&mut self, progress: &mut Progress, before: usize) {
        let longest = self.rule.longest.unwrap_or(0);
        let needles = std::mem::take(&mut progress.needles);
        if before == 0 {
            // Matches begin where literals do: nothing between them need be looked at.
            for place in &needles {
                if self.later(*place) {
                    break;
                }
                if *place >= progress.from {
                    let to = (place + longest).min(self.limit);
                    self.at(progress, *place, to);
                }
            }
            progress.needles = needles;
            return;
        }
        let mut places = needles.iter().copied().peekable();
        while let Some(place) = places.next() {
            let from = progress.from.max(place.saturating_sub(before));
            if self.later(from) {
                break;
            }
            let mut to = place + longest;
            while let Some(next) = places.next_if(|next| {
                next.saturating_sub(before) <= to && !self.later(next.saturating_sub(before))
            }) {
                to = next + longest;
            }
            let to = to.min(self.limit);
            self.each(progress, from, to, |_, _, _| true);
        }
        progress.needles = needles;
    }

    /// Takes the match that begins just there, if one does.
    fn at(&mut self, progress: &mut Progress, from: usize, to: usize) {
        let input = Input::new(self.view.hay)
            .span(from..to)
            .anchored(regex_automata::Anchored::Yes);
        if let Some(found) = self.rule.regex.find(input) {
            progress.from = found.end().max(from + 1);
            self.accept(found.range(), to);
        }
    }

    /// Searches from end to end.
    fn throughout(&mut self, progress: &mut Progress, long: bool) {
        let first = match (&self.rule.needles, progress.needles.first()) {
            (Some(_), None) => return,
            (Some(needles), Some(place)) => place.saturating_sub(needles.before),
            (None, _) => 0,
        };
        let from = progress.from.max(first);
        let window = self.view.window.filter(|_| long && !self.view.end);
        self.each(progress, from, self.limit, |search, progress, range| {
            let outgrown = range.end == search.limit;
            if window.is_none_or(|window| range.len() <= window && !outgrown) {
                return true;
            }
            // It may not end here: cover it to its end.
            let rule = search.rule;
            let Some(nfa) = rule.nfa() else {
                return true;
            };
            let hay = search.view.hay;
            let mut machine = Machine::anchored(nfa, hay, range.start);
            if !machine.follow(nfa, hay, search.limit, Starts::NONE, search.view.commit) {
                return true;
            }
            let end = range.end.max(search.view.commit);
            search.push(range.start..end);
            progress.follow = Some(machine);
            false
        });
    }

    /// Goes through the matches of a stretch, as long as `go_on` agrees.
    fn each(
        &mut self,
        progress: &mut Progress,
        mut from: usize,
        to: usize,
        go_on: impl Fn(&mut Self, &mut Progress, Range<usize>) -> bool,
    ) {
        while from <= to {
            let input = Input::new(self.view.hay).span(from..to);
            let Some(range) = self.rule.regex.find(input).map(|found| found.range()) else {
                return;
            };
            if self.later(range.start) || !go_on(self, progress, range.clone()) {
                return;
            }
            self.accept(range.clone(), to);
            from = range.end.max(range.start + 1);
            progress.from = from;
        }
    }

    /// Walks from the literals that open a match: none is too long to be seen.
    fn marked(&mut self, progress: &mut Progress, before: usize) {
        let Some(nfa) = self.rule.nfa() else {
            return;
        };
        let hay = self.view.hay;
        let limit = self.marked_limit(before);
        let patience = PATIENCE * (hay.len() - progress.from.min(hay.len())) + (64 << 10);
        let mut walked = 0;
        loop {
            let starts = Starts {
                places: &progress.needles,
                before,
            };
            let mut machine = Machine::new(nfa, progress.from);
            machine.run(nfa, hay, limit, starts);
            if self.view.end && machine.at() == hay.len() {
                machine.end(nfa);
            }
            walked += machine.at() - progress.from.min(machine.at());
            let open = machine.oldest().filter(|_| !self.view.end);
            match (open, machine.best()) {
                (None, None) => return,
                (Some(start), _) if start >= self.view.commit => return,
                (None, Some(best)) if self.later(best.start) => return,
                (None, Some(best)) if walked > patience => {
                    // The text is made to be walked again and again: what was walked is covered.
                    progress.from = machine.at().max(best.start + 1);
                    self.push(best.start..progress.from);
                }
                // A match that has long stopped growing: more would make it longer than the window.
                (Some(start), Some(best))
                    if best.start == start
                        && walked <= patience
                        && machine.at() - best.end >= self.view.window.unwrap_or(0) / 2 =>
                {
                    progress.from = best.end.max(best.start + 1);
                    self.accept(best, limit);
                }
                (None, Some(best)) => {
                    progress.from = best.end.max(best.start + 1);
                    self.accept(best, limit);
                }
                (Some(start), _) => {
                    self.push(start..self.view.commit);
                    progress.follow = Some(machine);
                    return;
                }
            }
        }
    }

    /// How far all literals are known that may open a match.
    fn marked_limit(&self, before: usize) -> usize {
        if self.view.end {
            self.limit
        } else {
            self.limit.saturating_sub(self.set.longest_literal + before)
        }
    }

    /// Goes on with an attempt that outgrew the window, to its end.
    fn follow(&mut self, mut machine: Machine, progress: &mut Progress) {
        let Some(nfa) = self.rule.nfa() else {
            return;
        };
        let hay = self.view.hay;
        let before = self
            .rule
            .needles
            .as_ref()
            .map_or(0, |needles| needles.before);
        let marked = self.rule.needles.is_some() && before <= MARKED_WITHIN;
        let (starts, limit) = if marked {
            let places = &progress.needles[..];
            (Starts { places, before }, self.marked_limit(before))
        } else {
            (Starts::NONE, self.limit)
        };
        let floor = progress.from;
        let mut open = machine.follow(nfa, hay, limit, starts, floor);
        if open && self.view.end {
            machine.end(nfa);
            open = false;
        }
        let best = machine.best().filter(|best| best.start < floor);
        let window = self.view.window.unwrap_or(usize::MAX);
        let stopped = best
            .as_ref()
            .is_some_and(|best| machine.at() - best.end >= window);
        if open && !stopped {
            progress.from = self.view.commit;
            progress.follow = Some(machine);
            return;
        }
        // What the attempt took up to its end stays covered, whether it became a match or not.
        let end = best.map_or(machine.at(), |best| best.end).max(floor);
        self.push(floor.saturating_sub(1)..end);
        if open {
            progress.from = end;
            return;
        }
        let younger = machine
            .oldest()
            .into_iter()
            .chain(machine.best().map(|best| best.start));
        let next = younger.filter(|start| *start >= floor).min();
        progress.from = next.unwrap_or(end).min(end).max(floor);
    }

    /// Takes a match, if it holds a secret that is not allowed.
    fn accept(&mut self, range: Range<usize>, limit: usize) {
        let global = self.set.global(self.index);
        let secret = self
            .rule
            .secret(self.view.hay, range, limit, &global, self.lines);
        if let Some(secret) = secret {
            self.push(secret);
        }
    }

    /// Notes a secret, in whole characters.
    fn push(&mut self, range: Range<usize>) {
        let hay = self.view.hay;
        let inside = |at: usize| hay.get(at).is_some_and(|byte| byte & 0xC0 == 0x80);
        let mut range = range;
        while range.start > 0 && inside(range.start) {
            range.start -= 1;
        }
        while inside(range.end) {
            range.end += 1;
        }
        self.found.push(Secret {
            range,
            rule: self.index,
        });
    }
}
