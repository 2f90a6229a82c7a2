//! Error documents, written: a fault in the shape in which a provider reports its own.

use crate::error::{fold, is_name};
use crate::json::push_literal;
use crate::wire::Dialect;

/// What a fault is called that has no name of its own, as in [`crate::error::ErrorDocument`].
const UNNAMED: &str = "error";

/// Words in a fault's name, letters and digits alone, and the HTTP status that goes with them; the first
/// that fits counts.
const STATUSES: [(u16, &[&str]); 11] = [
    (
        402,
        &["billing", "payment", "credit", "insufficientbalance"],
    ),
    (
        429,
        &[
            "ratelimit",
            "toomanyrequests",
            "throttl",
            "resourceexhausted",
            "quota",
        ],
    ),
    (504, &["timeout", "timedout", "deadlineexceeded"]),
    (529, &["overload"]),
    (503, &["unavailable", "notready"]),
    (
        401,
        &[
            "authentication",
            "unauthenticated",
            "unauthorized",
            "apikey",
            "unrecognizedclient",
        ],
    ),
    (403, &["permission", "accessdenied", "forbidden"]),
    (404, &["notfound"]),
    (413, &["toolarge"]),
    (
        400,
        &[
            "invalidrequest",
            "invalidargument",
            "failedprecondition",
            "badrequest",
            "validation",
        ],
    ),
    (500, &["internal", "servererror", "apierror"]),
];

/// The HTTP status of a response that says this fault: the one that is known, else the one that the
/// providers send with a fault of that name, else 500.
#[must_use]
pub fn response_status(dialect: Dialect, kind: &str, status: Option<u16>) -> u16 {
    if let Some(status) = status.filter(|status| (400..=599).contains(status)) {
        return status;
    }
    let name = fold(kind);
    let named = STATUSES
        .iter()
        .find(|(_, words)| words.iter().any(|word| name.contains(word)));
    match named.map_or(500, |(status, _)| *status) {
        // A status of Anthropic's own.
        529 if dialect != Dialect::Anthropic => 503,
        status => status,
    }
}

/// Appends the fault as the provider's error document: compact JSON, no framing.
///
/// Decoding it as the dialect gives the same name and words. Only Gemini's says a status: elsewhere that
/// is the response's. A name that no decoder would take for one, an empty one or digits, is left out.
pub fn write_document(
    dialect: Dialect,
    kind: &str,
    message: &str,
    status: Option<u16>,
    out: &mut String,
) {
    let told = status;
    let status = response_status(dialect, kind, status);
    let kind = if is_name(kind) { kind } else { UNNAMED };
    let literal = |open: &str, text: &str, out: &mut String| {
        out.push_str(open);
        push_literal(text, out);
    };
    match dialect {
        Dialect::Anthropic => {
            literal(r#"{"type":"error","error":{"type":"#, kind, out);
            literal(r#","message":"#, message, out);
            out.push_str("}}");
        }
        Dialect::OpenAiChat | Dialect::OpenAiResponses => {
            // What is no type of theirs is the code, beside the type that goes with the status. Without
            // one it stands for both, as OpenAI's `insufficient_quota` does: a type that was made up
            // could say that trying again helps.
            let is_type = kind.ends_with("_error");
            let kind_of_status = match told {
                Some(429) => "rate_limit_error",
                Some(500..) => "server_error",
                Some(_) => "invalid_request_error",
                None => kind,
            };
            literal(r#"{"error":{"message":"#, message, out);
            let shown = if is_type { kind } else { kind_of_status };
            literal(r#","type":"#, shown, out);
            out.push_str(r#","param":null,"code":"#);
            if is_type {
                out.push_str("null");
            } else {
                push_literal(kind, out);
            }
            out.push_str("}}");
        }
        Dialect::Gemini => {
            out.push_str(r#"{"error":{"code":"#);
            out.push_str(&status.to_string());
            literal(r#","message":"#, message, out);
            literal(r#","status":"#, kind, out);
            out.push_str("}}");
        }
        Dialect::BedrockConverse => {
            // One of the three places where clients of AWS look for the name.
            literal(r#"{"message":"#, message, out);
            literal(r#","code":"#, kind, out);
            out.push('}');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorDocument;
    use crate::json::{MAX_PAYLOAD_DEPTH, Raw};

    #[test]
    fn every_document_is_read_as_what_was_written() {
        let kinds = [
            "overloaded_error",
            "RESOURCE_EXHAUSTED",
            "error",
            "a \"b\"\n",
            "insufficient_quota",
        ];
        for dialect in Dialect::ALL {
            for kind in kinds {
                for (message, status) in
                    [("", None), ("no\u{2028} \\", Some(418)), ("x", Some(529))]
                {
                    let mut text = String::new();
                    write_document(dialect, kind, message, status, &mut text);
                    let raw = Raw::parse(&text, MAX_PAYLOAD_DEPTH).expect("it is JSON");
                    let read = ErrorDocument::read(raw).expect("it is an error document");
                    assert_eq!(
                        (read.kind.as_str(), read.message.as_str()),
                        (kind, message),
                        "{text}"
                    );
                    let said = (dialect == Dialect::Gemini)
                        .then(|| response_status(dialect, kind, status));
                    assert_eq!(read.status, said, "{text}");
                }
            }
        }
    }

    #[test]
    fn what_is_no_name_is_not_said_as_one() {
        for kind in ["", "500"] {
            let mut text = String::new();
            write_document(Dialect::OpenAiChat, kind, "m", None, &mut text);
            assert_eq!(
                text,
                r#"{"error":{"message":"m","type":"error","param":null,"code":"error"}}"#
            );
        }
    }

    #[test]
    fn a_status_is_the_known_one_or_that_of_the_name() {
        let cases = [
            ("overloaded_error", None, 529, 503),
            ("rate_limit_error", None, 429, 429),
            ("RateLimitError", None, 429, 429),
            ("insufficient_quota", None, 429, 429),
            ("insufficient_credits", None, 402, 402),
            ("NOT_FOUND", None, 404, 404),
            ("invalid_api_key", None, 401, 401),
            ("UNAVAILABLE", None, 503, 503),
            ("ThrottlingException", None, 429, 429),
            ("mystery", None, 500, 500),
            ("mystery", Some(418), 418, 418),
            ("mystery", Some(200), 500, 500),
        ];
        for (kind, status, anthropic, other) in cases {
            assert_eq!(
                response_status(Dialect::Anthropic, kind, status),
                anthropic,
                "{kind}"
            );
            assert_eq!(
                response_status(Dialect::Gemini, kind, status),
                other,
                "{kind}"
            );
        }
    }
}
