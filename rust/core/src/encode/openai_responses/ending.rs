//! How a response ends: its status, its reason, its tokens.

use super::OpenAiResponses;
use crate::encode::text::{number, plain};
use crate::encode::turn::Turn;
use crate::encode::voice::Stop;
use crate::event::StopReason;
use crate::usage::Usage;
use crate::wire::openai_responses::incomplete_reason;

/// How the response ends: its status and why it is not complete.
pub(super) struct End<'a> {
    pub(super) is_incomplete: bool,
    pub(super) reason: Option<&'a str>,
    /// The last text is a refusal.
    pub(super) refuses: bool,
}

impl OpenAiResponses {
    /// How the wire says the end. A refusal is said by the last text, where that is still to be done.
    pub(super) fn end<'a>(&self, turn: &mut Turn, stop: Stop<'a>, can_refuse: bool) -> End<'a> {
        let raw = stop.raw.filter(|raw| !raw.is_empty());
        let kept = |reason| raw.filter(|raw| incomplete_reason(raw) == reason);
        let own = |reason| kept(reason).filter(|_| turn.is_own);
        let plain = |word| kept(incomplete_reason(word)).filter(|raw| turn.is_own || *raw == word);
        let is_waiting =
            |id: &Option<String>| id.as_ref().is_none_or(|id| !self.outputs.contains(id));
        let waits = turn.calls > 0 || self.host_items.iter().any(is_waiting);
        let refuses = can_refuse && stop.reason == StopReason::Refusal;
        let (is_incomplete, reason, read) = match stop.reason {
            StopReason::Refusal if refuses => {
                let is_known = |raw: &&str| incomplete_reason(raw) != StopReason::Other;
                let reason = raw.filter(|_| turn.is_own).filter(is_known);
                (reason.is_some(), reason, StopReason::Refusal)
            }
            StopReason::MaxTokens | StopReason::ContextWindow => {
                let word = "max_output_tokens";
                (true, plain(word).or(Some(word)), StopReason::MaxTokens)
            }
            StopReason::ContentFilter | StopReason::Refusal => {
                let word = "content_filter";
                (true, plain(word).or(Some(word)), StopReason::ContentFilter)
            }
            StopReason::Other | StopReason::PauseTurn => {
                let reason = own(StopReason::Other).filter(|raw| *raw != "incomplete");
                (true, reason, StopReason::Other)
            }
            _ if waits => (false, None, StopReason::ToolUse),
            _ => (false, None, StopReason::EndTurn),
        };
        if read != stop.reason {
            let word = reason.unwrap_or(if is_incomplete {
                "incomplete"
            } else {
                "completed"
            });
            turn.note_reason(stop.reason, word);
        }
        End {
            is_incomplete,
            reason,
            refuses,
        }
    }
}

pub(super) fn write_usage(usage: &Usage, out: &mut Vec<u8>) {
    let written = usage.cache_write_tokens;
    let input = usage
        .input_tokens
        .saturating_add(usage.cache_read_tokens)
        .saturating_add(written);
    for (before, count) in [
        ("{\"input_tokens\":", input),
        (
            ",\"input_tokens_details\":{\"cached_tokens\":",
            usage.cache_read_tokens,
        ),
        (",\"cache_write_tokens\":", written),
        ("},\"output_tokens\":", usage.output_tokens),
        (
            ",\"output_tokens_details\":{\"reasoning_tokens\":",
            usage.reasoning_tokens,
        ),
        (
            "},\"total_tokens\":",
            input.saturating_add(usage.output_tokens),
        ),
    ] {
        plain(before, out);
        number(count, out);
    }
    plain("}", out);
}
