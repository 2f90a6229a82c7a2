//! Secrets in Python's strings.

use std::sync::{Arc, Mutex, MutexGuard};

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use turntape_core::redact::{
    AllowSpec, LEAST_WINDOW, RuleError, RuleSet, RuleSpec, StreamRedactor, Target,
};

use crate::data::{RELEASE_AT, number};
use crate::envelopes::released;
use crate::errors;

/// An allowlist: regexes, stopwords, what the regexes look at, whether both must agree.
type Allow = (Vec<String>, Vec<String>, String, bool);
/// A rule: id, regex, group of the secret, entropy, keywords, allowlists.
type Rule = (String, String, usize, f64, Vec<String>, Vec<Allow>);

fn allow((regexes, stopwords, target, all): Allow) -> PyResult<AllowSpec> {
    let target = match target.as_str() {
        "secret" => Target::Secret,
        "match" => Target::Match,
        "line" => Target::Line,
        _ => return Err(PyValueError::new_err("secret, match or line")),
    };
    Ok(AllowSpec {
        regexes,
        stopwords,
        target,
        all,
    })
}

fn rule((id, regex, secret_group, entropy, keywords, allowlists): Rule) -> PyResult<RuleSpec> {
    Ok(RuleSpec {
        id,
        regex,
        secret_group,
        entropy,
        keywords,
        allowlists: allowlists.into_iter().map(allow).collect::<PyResult<_>>()?,
    })
}

/// Compiled secret rules.
#[pyclass(frozen, module = "turntape._native")]
#[derive(Debug)]
pub(crate) struct SecretMatcher {
    rules: Arc<RuleSet>,
}

#[pymethods]
impl SecretMatcher {
    #[new]
    #[pyo3(signature = (rules, allowlists, /))]
    fn new(
        py: Python<'_>,
        rules: Vec<Rule>,
        allowlists: Vec<(Allow, Vec<String>)>,
    ) -> PyResult<Self> {
        let rules: Vec<RuleSpec> = rules.into_iter().map(rule).collect::<PyResult<_>>()?;
        let allowlists = allowlists
            .into_iter()
            .map(|(each, ids)| Ok((allow(each)?, ids)));
        let allowlists: Vec<_> = allowlists.collect::<PyResult<_>>()?;
        // Compiling takes a while.
        let compiled = py.detach(|| RuleSet::new(&rules, &allowlists));
        let rules = compiled.map_err(|error: RuleError| errors::rule(py, &error))?;
        Ok(Self {
            rules: Arc::new(rules),
        })
    }

    /// Replace the secrets of a text; None where there is none.
    #[pyo3(signature = (text, /))]
    fn redact(&self, py: Python<'_>, text: &str) -> Option<String> {
        let redacted = released(py, text, |text| self.rules.redact(text.as_bytes()));
        redacted.map(into_text)
    }

    /// Find the secrets of a text: from and to which character, and the rule's id.
    #[pyo3(signature = (text, /))]
    fn find(&self, py: Python<'_>, text: &str) -> Vec<(usize, usize, &str)> {
        let found = released(py, text, |text| self.rules.find(text.as_bytes()));
        let (mut at, mut characters) = (0, 0);
        let mut count = |to: usize| {
            characters += text.get(at..to).map_or(0, |part| part.chars().count());
            at = to;
            characters
        };
        let place = |secret: turntape_core::redact::Secret| {
            let start = count(secret.range.start);
            (start, count(secret.range.end), self.rules.id(secret.rule))
        };
        found.into_iter().map(place).collect()
    }

    /// How many rules there are.
    fn __len__(&self) -> usize {
        self.rules.len()
    }
}

/// Replaces the secrets of a text that comes in pieces.
#[pyclass(frozen, module = "turntape._native")]
#[derive(Debug)]
pub(crate) struct SecretStream {
    /// None once the text has ended.
    inner: Mutex<Option<StreamRedactor>>,
}

#[pymethods]
impl SecretStream {
    #[new]
    #[pyo3(signature = (matcher, /, *, max_match))]
    fn new(
        matcher: &Bound<'_, SecretMatcher>,
        #[pyo3(from_py_with = number)] max_match: usize,
    ) -> PyResult<Self> {
        // Twice that is held at times: a number near the largest would overflow.
        if !(LEAST_WINDOW..=usize::MAX / 8).contains(&max_match) {
            return Err(PyValueError::new_err(format!(
                "max_match is at least {LEAST_WINDOW} bytes, and fits into memory"
            )));
        }
        let redactor = StreamRedactor::new(Arc::clone(&matcher.get().rules), max_match);
        Ok(Self {
            inner: Mutex::new(Some(redactor)),
        })
    }

    /// Take the next piece; return what is decided.
    #[pyo3(signature = (piece, /))]
    fn feed(&self, py: Python<'_>, piece: &str) -> PyResult<String> {
        let mut guard = self.lock()?;
        let redactor = guard.as_mut().ok_or_else(ended)?;
        let mut out = Vec::new();
        if piece.len() >= RELEASE_AT {
            py.detach(|| redactor.feed(piece.as_bytes(), &mut out));
        } else {
            redactor.feed(piece.as_bytes(), &mut out);
        }
        Ok(into_text(out))
    }

    /// End the text; return the rest.
    fn finish(&self, py: Python<'_>) -> PyResult<String> {
        let mut redactor = self.lock()?.take().ok_or_else(ended)?;
        let mut out = Vec::new();
        py.detach(|| redactor.finish(&mut out));
        Ok(into_text(out))
    }
}

impl SecretStream {
    fn lock(&self) -> PyResult<MutexGuard<'_, Option<StreamRedactor>>> {
        self.inner.try_lock().map_err(|_| {
            PyRuntimeError::new_err(
                "another thread is using this redactor: one stream belongs to one thread at a time",
            )
        })
    }
}

fn ended() -> PyErr {
    PyValueError::new_err("the text was ended by finish(): make a new redactor")
}

/// What the core gives back is cut between characters.
fn into_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}
