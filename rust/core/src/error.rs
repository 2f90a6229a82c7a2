//! How a stream fails, and error documents, the shape in which every provider reports its own faults.

use crate::event::Warning;
use crate::json::{MAX_PAYLOAD_DEPTH, Raw, Str, trim};

/// Why a stream did not give a whole turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What happened.
    pub kind: FailureKind,
    /// One sentence for people.
    pub message: String,
    /// Where the event at fault begins, in bytes from the start of the stream; for a stream that ended
    /// too early, its length.
    pub offset: u64,
    /// The payload at fault, where there is one.
    pub raw: Option<String>,
}

/// The kinds of [`Failure`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FailureKind {
    /// The provider reported a fault.
    Provider(ProviderFault),
    /// A payload that starts like JSON and is none.
    Malformed,
    /// The input ended before the turn did.
    Truncated,
    /// An event has more data than allowed.
    TooLarge,
    /// A warning, where none is tolerated.
    Strict(Warning),
}

/// What a provider says of its fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderFault {
    /// The provider's name for it.
    pub kind: String,
    /// The HTTP status that the wire named; never made up.
    pub status: Option<u16>,
    /// Whether trying again may help.
    pub retryable: bool,
    /// Whether no block had opened yet.
    pub before_content: bool,
}

/// A fault as an error document tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorDocument {
    /// The provider's name for it.
    pub kind: String,
    /// The provider's words.
    pub message: String,
    /// The HTTP status that the document names.
    pub status: Option<u16>,
    /// Whether trying again may help.
    pub retryable: bool,
}

impl ErrorDocument {
    /// Reads a payload, if it is an error document.
    #[must_use]
    pub fn read(payload: Raw<'_>) -> Option<Self> {
        let [
            error,
            kind,
            object,
            message,
            detail,
            choices,
            content,
            candidates,
            output,
            response,
            delta,
        ] = payload.members(&[
            "error",
            "type",
            "object",
            "message",
            "detail",
            "choices",
            "content",
            "candidates",
            "output",
            "response",
            "delta",
        ]);
        let error = error.filter(|e| (e.is_object() || e.as_str().is_some()) && !e.is_empty());
        let says_error =
            |value: Option<Raw<'_>>| value.and_then(Raw::as_str).is_some_and(|s| s.is("error"));
        let is_string = |value: Option<Raw<'_>>| value.and_then(Raw::as_str).is_some();
        let has_content = [choices, content, candidates, output, response, delta]
            .iter()
            .any(Option::is_some);
        let bare = kind.is_none() && !has_content && (is_string(message) || is_string(detail));
        (error.is_some() || says_error(kind) || says_error(object) || bare)
            .then(|| Self::of(payload, error))
    }

    /// Reads text that may be one whole error document, or an array whose first element is one.
    #[must_use]
    pub fn read_text(text: &str) -> Option<Self> {
        let raw = Raw::parse(text, MAX_PAYLOAD_DEPTH).ok()?;
        Self::read(if raw.is_array() {
            raw.elements().next()?
        } else {
            raw
        })
    }

    /// Reads the body of an `event: error`, whatever it is.
    #[must_use]
    pub fn read_any(text: &str) -> Self {
        match Raw::parse(text, MAX_PAYLOAD_DEPTH) {
            Ok(payload) if payload.is_object() => {
                let error = payload.member("error");
                Self::of(
                    payload,
                    error.filter(|e| e.is_object() || e.as_str().is_some()),
                )
            }
            _ => Self::named("error", trim(text)),
        }
    }

    /// A fault that the wire only names, with a finish reason for instance.
    #[must_use]
    pub fn named(kind: &str, message: &str) -> Self {
        Self {
            kind: kind.to_owned(),
            message: message.to_owned(),
            status: None,
            retryable: is_passing(kind),
        }
    }

    /// The same fault under the name that the framing gives it.
    #[must_use]
    pub fn with_kind(self, kind: &str) -> Self {
        let retryable = self.retryable || is_passing(kind);
        Self {
            kind: kind.to_owned(),
            retryable,
            ..self
        }
    }

    /// Reads a fault from an error object; `payload` is what holds it.
    #[must_use]
    pub fn of(payload: Raw<'_>, error: Option<Raw<'_>>) -> Self {
        let inner = error.filter(|error| error.is_object()).unwrap_or(payload);
        let [code, kind, status, message, detail, status_code, http_code] = inner.members(&[
            "code",
            "type",
            "status",
            "message",
            "detail",
            "status_code",
            "http_code",
        ]);
        let names: Vec<String> = [code, kind, status]
            .into_iter()
            .flatten()
            .filter_map(Raw::as_str)
            .map(Str::to_text)
            .collect();
        let chosen = names
            .iter()
            .find(|name| is_name(name))
            .cloned()
            .unwrap_or_else(|| "error".to_owned());
        let outer = payload.members(&["code", "status_code", "status"]);
        let status = [code, status_code, status, http_code]
            .into_iter()
            .chain(outer)
            .flatten()
            .find_map(http_status);
        let text = |value: Option<Raw<'_>>| value.and_then(Raw::as_str).map(Str::to_text);
        let message = text(message)
            .or_else(|| text(payload.member("message")))
            .or_else(|| text(detail))
            .or_else(|| text(error))
            .unwrap_or_else(|| payload.text().to_owned());
        let spent = names.iter().any(|name| is_spent(name));
        let passing =
            status.is_some_and(is_passing_status) || names.iter().any(|name| is_passing(name));
        Self {
            kind: chosen,
            message,
            status,
            retryable: passing && !spent,
        }
    }

    /// The failure of a stream in which this document came.
    #[must_use]
    pub fn failure(self, offset: u64, raw: Option<&str>, before_content: bool) -> Failure {
        let Self {
            kind,
            message,
            status,
            retryable,
        } = self;
        Failure {
            kind: FailureKind::Provider(ProviderFault {
                kind,
                status,
                retryable,
                before_content,
            }),
            message,
            offset,
            raw: raw.map(str::to_owned),
        }
    }
}

/// Whether a provider's name for a fault is one: a number is a status.
pub(crate) fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.bytes().all(|byte| byte.is_ascii_digit())
}

fn http_status(value: Raw<'_>) -> Option<u16> {
    let number = match value.as_str() {
        Some(digits) => digits.plain()?.parse().ok()?,
        None => value.as_u64()?,
    };
    u16::try_from(number)
        .ok()
        .filter(|status| (400..=599).contains(status))
}

/// Statuses after which HTTP clients try again.
const fn is_passing_status(status: u16) -> bool {
    matches!(status, 408 | 409 | 425 | 429 | 500 | 502 | 503 | 504 | 529)
}

/// Folds `RateLimitError`, `rate_limit_error` and `rate limit error` to one spelling.
pub(crate) fn fold(name: &str) -> String {
    name.chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_lowercase())
        .collect()
}

/// Whether the name means that money or quota has run out, which waiting does not mend.
fn is_spent(name: &str) -> bool {
    let name = fold(name);
    [
        "insufficientquota",
        "quotaexceeded",
        "exceededquota",
        "billing",
        "payment",
        "insufficientcredit",
        "insufficientbalance",
        "credit",
    ]
    .iter()
    .any(|word| name.contains(word))
}

/// Whether the name means overload, a rate limit, a time-out or a fault of the server.
fn is_passing(name: &str) -> bool {
    let name = fold(name);
    [
        "overload",
        "ratelimit",
        "toomanyrequests",
        "throttl",
        "resourceexhausted",
        "timeout",
        "timedout",
        "deadlineexceeded",
        "unavailable",
        "servererror",
        "internalerror",
        "internalserver",
        "apierror",
        "modelstreamerror",
        "badgateway",
        "networkerror",
        "insufficientsystemresource",
        "streamrestarted",
    ]
    .iter()
    .any(|word| name.contains(word))
        || name == "internal"
}
