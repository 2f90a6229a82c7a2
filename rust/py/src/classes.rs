//! The Python classes that the bindings make instances of, looked up once.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyString;
use turntape_core::Dialect;

use crate::instance::Class;

/// The classes of `turntape.events` and `turntape.messages`, with their constant `type` where they have
/// one. Fields are in the order of the vectors given to [`Class::new`].
#[derive(Debug)]
pub(crate) struct Classes {
    pub(crate) message_start: Tagged<3>,
    pub(crate) text_delta: Tagged<3>,
    pub(crate) thinking_delta: Tagged<3>,
    pub(crate) signature_delta: Tagged<3>,
    pub(crate) redacted_thinking: Tagged<3>,
    pub(crate) tool_use_start: Tagged<5>,
    pub(crate) input_json_delta: Tagged<3>,
    pub(crate) citation: Tagged<3>,
    pub(crate) extension: Tagged<4>,
    pub(crate) content_block_stop: Tagged<2>,
    pub(crate) usage: Tagged<7>,
    pub(crate) message_stop: Tagged<4>,
    pub(crate) decode_warning: Class<3>,
    pub(crate) sse_event: Class<4>,
    pub(crate) text: Tagged<5>,
    pub(crate) thinking: Tagged<3>,
    pub(crate) redacted_thinking_block: Tagged<2>,
    pub(crate) tool_use: Tagged<7>,
    pub(crate) provider_block: Tagged<3>,
    pub(crate) assistant_message: Class<12>,
    /// The members of `Dialect`, in the order of [`Dialect::ALL`].
    pub(crate) dialects: Vec<Py<PyAny>>,
}

/// A class whose first field is the constant `type`.
#[derive(Debug)]
pub(crate) struct Tagged<const FIELDS: usize> {
    pub(crate) class: Class<FIELDS>,
    pub(crate) tag: Py<PyString>,
}

impl<const FIELDS: usize> Tagged<FIELDS> {
    fn new(
        module: &Bound<'_, PyModule>,
        name: &str,
        tag: &str,
        fields: [&str; FIELDS],
    ) -> PyResult<Self> {
        let class = Class::new(module.getattr(name)?.cast()?, fields)?;
        Ok(Self {
            class,
            tag: PyString::intern(module.py(), tag).unbind(),
        })
    }
}

static CLASSES: PyOnceLock<Classes> = PyOnceLock::new();

/// The classes; the first call imports their modules.
pub(crate) fn classes(py: Python<'_>) -> PyResult<&Classes> {
    CLASSES.get_or_try_init(py, || {
        let events = py.import("turntape.events")?;
        let messages = py.import("turntape.messages")?;
        let dialect = py.import("turntape.wire.dialect")?.getattr("Dialect")?;
        let dialects = Dialect::ALL
            .iter()
            .map(|known| Ok(dialect.call1((known.as_str(),))?.unbind()))
            .collect::<PyResult<_>>()?;
        let delta = |name: &str, tag: &str, field: &str| {
            Tagged::new(&events, name, tag, ["type", "index", field])
        };
        Ok(Classes {
            message_start: Tagged::new(
                &events,
                "MessageStart",
                "message_start",
                ["type", "id", "model"],
            )?,
            text_delta: delta("TextDelta", "text_delta", "text")?,
            thinking_delta: delta("ThinkingDelta", "thinking_delta", "text")?,
            signature_delta: delta("SignatureDelta", "signature_delta", "signature")?,
            redacted_thinking: delta("RedactedThinking", "redacted_thinking", "data")?,
            tool_use_start: Tagged::new(
                &events,
                "ToolUseStart",
                "tool_use_start",
                ["type", "index", "id", "name", "extra"],
            )?,
            input_json_delta: delta("InputJsonDelta", "input_json_delta", "partial_json")?,
            citation: delta("Citation", "citation", "json")?,
            extension: Tagged::new(
                &events,
                "Extension",
                "extension",
                ["type", "index", "kind", "json"],
            )?,
            content_block_stop: Tagged::new(
                &events,
                "ContentBlockStop",
                "content_block_stop",
                ["type", "index"],
            )?,
            usage: Tagged::new(
                &events,
                "Usage",
                "usage",
                [
                    "type",
                    "input_tokens",
                    "output_tokens",
                    "cache_read_tokens",
                    "cache_write_tokens",
                    "cache_write_1h_tokens",
                    "reasoning_tokens",
                ],
            )?,
            message_stop: Tagged::new(
                &events,
                "MessageStop",
                "message_stop",
                ["type", "stop_reason", "raw_reason", "terminal"],
            )?,
            decode_warning: Class::new(
                events.getattr("DecodeWarning")?.cast()?,
                ["code", "detail", "offset"],
            )?,
            sse_event: Class::new(
                events.getattr("SseEvent")?.cast()?,
                ["event", "data", "id", "retry"],
            )?,
            text: Tagged::new(
                &messages,
                "Text",
                "text",
                ["type", "text", "citations", "signature", "extra"],
            )?,
            thinking: Tagged::new(
                &messages,
                "Thinking",
                "thinking",
                ["type", "text", "signature"],
            )?,
            redacted_thinking_block: Tagged::new(
                &messages,
                "RedactedThinkingBlock",
                "redacted_thinking",
                ["type", "data"],
            )?,
            tool_use: Tagged::new(
                &messages,
                "ToolUse",
                "tool_use",
                [
                    "type",
                    "id",
                    "name",
                    "arguments",
                    "signature",
                    "extra",
                    "complete",
                ],
            )?,
            provider_block: Tagged::new(
                &messages,
                "ProviderBlock",
                "provider_block",
                ["type", "kind", "json"],
            )?,
            assistant_message: Class::new(
                messages.getattr("AssistantMessage")?.cast()?,
                [
                    "id",
                    "model",
                    "content",
                    "stop_reason",
                    "raw_reason",
                    "terminal",
                    "usage",
                    "complete",
                    "reasoning_field",
                    "dialect",
                    "vendor",
                    "warnings",
                ],
            )?,
            dialects,
        })
    })
}
