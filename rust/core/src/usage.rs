//! Token usage: one shape for all providers, and how each reports it.
//!
//! Reports are cumulative: a later one replaces an earlier one, it is never added.

use crate::json::Raw;

/// The tokens of one turn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Usage {
    /// Prompt tokens that no cache served or stored.
    pub input_tokens: u64,
    /// Generated tokens, reasoning included.
    pub output_tokens: u64,
    /// Prompt tokens read from a cache.
    pub cache_read_tokens: u64,
    /// Prompt tokens written to a cache.
    pub cache_write_tokens: u64,
    /// The part of `cache_write_tokens` that is kept for an hour.
    pub cache_write_1h_tokens: u64,
    /// The part of `output_tokens` that is reasoning.
    pub reasoning_tokens: u64,
}

/// Usage as Anthropic reports it: in `message_start`, then in each `message_delta`.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct AnthropicUsage {
    usage: Usage,
    seen: bool,
    delta_output: Option<u64>,
}

impl AnthropicUsage {
    /// What the reports so far add up to.
    pub(crate) fn get(&self) -> Option<Usage> {
        self.seen.then(|| Usage {
            output_tokens: self.delta_output.unwrap_or(self.usage.output_tokens),
            ..self.usage
        })
    }

    /// Takes the report of a `message_start`.
    pub(crate) fn start(&mut self, report: Raw<'_>) {
        if let Some(output) = self.input_side(report) {
            self.usage.output_tokens = output;
        }
    }

    /// Takes the report of a `message_delta`: its output replaces that of the start; among several the
    /// last that is not zero counts.
    pub(crate) fn delta(&mut self, report: Raw<'_>) {
        if let Some(output) = self.input_side(report)
            && (output > 0 || self.delta_output.is_none())
        {
            self.delta_output = Some(output);
        }
    }

    /// Takes a report's input side and reasoning; gives its output tokens.
    fn input_side(&mut self, report: Raw<'_>) -> Option<u64> {
        let [input, output, read, write, detail, output_detail] = report.members(&[
            "input_tokens",
            "output_tokens",
            "cache_read_input_tokens",
            "cache_creation_input_tokens",
            "cache_creation",
            "output_tokens_details",
        ]);
        let number = |value: Option<Raw<'_>>| value.and_then(Raw::as_u64);
        let (input, output, read, write) =
            (number(input), number(output), number(read), number(write));
        let one_hour = number(detail.and_then(|d| d.member("ephemeral_1h_input_tokens")));
        let thinking = number(output_detail.and_then(|d| d.member("thinking_tokens")));
        self.seen |= [input, output, read, write].iter().any(Option::is_some);
        // A report with fresh input is a whole one: its zeros are zeros. Else only what is not zero
        // replaces: providers repeat the output with an input side of zeros.
        let whole = input.is_some_and(|tokens| tokens > 0);
        let replace = |old: &mut u64, new: Option<u64>| match new {
            Some(tokens) if whole || tokens > 0 => *old = tokens,
            _ => {}
        };
        replace(&mut self.usage.input_tokens, input);
        replace(&mut self.usage.cache_read_tokens, read);
        replace(&mut self.usage.cache_write_tokens, write);
        replace(&mut self.usage.cache_write_1h_tokens, one_hour);
        if let Some(tokens) = thinking
            && tokens > 0
        {
            self.usage.reasoning_tokens = tokens;
        }
        output
    }
}

/// Usage as OpenAI Chat Completions and its imitators report it; `None` where the object has no counter
/// that is known.
pub(crate) fn chat(report: Raw<'_>) -> Option<Usage> {
    let [
        prompt,
        completion,
        total,
        prompt_details,
        hit,
        cached,
        read,
        created,
        completion_details,
        reasoning,
    ] = report.members(&[
        "prompt_tokens",
        "completion_tokens",
        "total_tokens",
        "prompt_tokens_details",
        "prompt_cache_hit_tokens",
        "cached_tokens",
        "cache_read_input_tokens",
        "cache_creation_input_tokens",
        "completion_tokens_details",
        "reasoning_tokens",
    ]);
    let number = |value: Option<Raw<'_>>| value.and_then(Raw::as_u64);
    let detail = |object: Option<Raw<'_>>, name: &str| number(object.and_then(|o| o.member(name)));
    let known = [
        prompt,
        completion,
        total,
        prompt_details,
        hit,
        cached,
        read,
        created,
        completion_details,
        reasoning,
    ];
    if known.iter().all(Option::is_none) {
        return None;
    }
    let prompt = number(prompt).unwrap_or(0);
    let completion = number(completion).unwrap_or(0);
    let cache_read = detail(prompt_details, "cached_tokens")
        .or_else(|| number(hit))
        .or_else(|| number(cached))
        .or_else(|| number(read))
        .unwrap_or(0);
    let cache_write = detail(prompt_details, "cache_write_tokens")
        .or_else(|| number(created))
        .unwrap_or(0);
    let reasoning = detail(completion_details, "reasoning_tokens")
        .or_else(|| number(reasoning))
        .unwrap_or(0);
    let from_caches = cache_read.saturating_add(cache_write);
    // Some count the caches into the prompt, some beside it; more cached than prompted can only be beside.
    let input = prompt.checked_sub(from_caches).unwrap_or(prompt);
    // xAI's completion leaves reasoning out; its total tells.
    let with_reasoning = completion.saturating_add(reasoning);
    let outside = reasoning > 0 && number(total) == Some(prompt.saturating_add(with_reasoning));
    Some(Usage {
        input_tokens: input,
        output_tokens: if outside { with_reasoning } else { completion },
        cache_read_tokens: cache_read,
        cache_write_tokens: cache_write,
        cache_write_1h_tokens: 0,
        reasoning_tokens: reasoning,
    })
}

/// Usage as OpenAI Responses reports it.
pub(crate) fn responses(report: Raw<'_>) -> Option<Usage> {
    let [input, input_details, output, output_details] = report.members(&[
        "input_tokens",
        "input_tokens_details",
        "output_tokens",
        "output_tokens_details",
    ]);
    let number = |value: Option<Raw<'_>>| value.and_then(Raw::as_u64);
    let detail = |object: Option<Raw<'_>>, name: &str| number(object.and_then(|o| o.member(name)));
    if input.is_none() && output.is_none() {
        return None;
    }
    let input = number(input).unwrap_or(0);
    let cached = detail(input_details, "cached_tokens").unwrap_or(0);
    Some(Usage {
        input_tokens: input.checked_sub(cached).unwrap_or(input),
        output_tokens: number(output).unwrap_or(0),
        cache_read_tokens: cached,
        reasoning_tokens: detail(output_details, "reasoning_tokens").unwrap_or(0),
        ..Usage::default()
    })
}

/// Usage as Gemini reports it.
pub(crate) fn gemini(report: Raw<'_>) -> Option<Usage> {
    let known = report.members(&[
        "promptTokenCount",
        "cachedContentTokenCount",
        "toolUsePromptTokenCount",
        "candidatesTokenCount",
        "thoughtsTokenCount",
        "totalTokenCount",
    ]);
    if known.iter().all(Option::is_none) {
        return None;
    }
    let [prompt, cached, tools, candidates, thoughts, _] =
        known.map(|value| value.and_then(Raw::as_u64).unwrap_or(0));
    let fresh = prompt.checked_sub(cached).unwrap_or(prompt);
    Some(Usage {
        input_tokens: fresh.saturating_add(tools),
        output_tokens: candidates.saturating_add(thoughts),
        cache_read_tokens: cached,
        reasoning_tokens: thoughts,
        ..Usage::default()
    })
}

/// Usage as Bedrock's Converse reports it: its counters exclude the caches already.
pub(crate) fn bedrock(report: Raw<'_>) -> Option<Usage> {
    let [input, output, read, write, details] = report.members(&[
        "inputTokens",
        "outputTokens",
        "cacheReadInputTokens",
        "cacheWriteInputTokens",
        "cacheDetails",
    ]);
    if [input, output, read, write].iter().all(Option::is_none) {
        return None;
    }
    let number = |value: Option<Raw<'_>>| value.and_then(Raw::as_u64).unwrap_or(0);
    let one_hour = details
        .into_iter()
        .flat_map(Raw::elements)
        .filter(|detail| detail.string("ttl").is_some_and(|ttl| ttl.is("1h")))
        .map(|detail| number(detail.member("inputTokens")))
        .fold(0, u64::saturating_add);
    Some(Usage {
        input_tokens: number(input),
        output_tokens: number(output),
        cache_read_tokens: number(read),
        cache_write_tokens: number(write),
        cache_write_1h_tokens: one_hour,
        reasoning_tokens: 0,
    })
}
