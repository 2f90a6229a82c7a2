"""What a stream looks like: each event as it comes, the assembled turn, or lines of JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields
from typing import Literal, Protocol, TypeAlias

import turntape
from turntape.cli.output import Output, clean, clip

__all__ = [
    "EventsView",
    "FormatName",
    "JsonlView",
    "MessageView",
    "View",
    "describe_usage",
    "show_warnings",
]

FormatName: TypeAlias = Literal["events", "message", "jsonl"]

# Opaque texts, such as signatures and images, are shown as far as tells them apart; jsonl has them whole.
_OPAQUE = 60
# A stream of nothing but oddities must not bury what else is to be seen.
_MOST_WARNINGS = 20

# The styles of the kinds of content, alike in the events and in the message.
_STYLES = {
    "text": "default",
    "thinking": "italic magenta",
    "tool": "bold cyan",
    "arguments": "cyan",
    "opaque": "dim",
    "frame": "dim",
    "good": "bold green",
    "bad": "bold red",
    "odd": "yellow",
    "label": "bold",
}


class View(Protocol):
    """A way of showing a stream."""

    def event(self, event: turntape.StreamEvent) -> None:
        """Show the next event."""
        ...

    def end(self, message: turntape.AssistantMessage) -> None:
        """Show what the turn came to, whole or as far as it came."""
        ...


class EventsView:
    """One line an event, in columns: type, block, content."""

    def __init__(self, output: Output, remarks: Output) -> None:
        """Write events to ``output`` and warnings to ``remarks``."""
        self._output = output
        self._remarks = remarks

    def event(self, event: turntape.StreamEvent) -> None:
        """Write the event's line."""
        style, content = _describe(event)
        index = getattr(event, "index", None)
        place = "" if index is None else str(index)
        head = f"{event.type:<18} {place:>3}"
        if content:
            self._output.line((head, _STYLES["frame"]), "  ", (content, _STYLES[style]))
        else:
            self._output.line((head.rstrip(), _STYLES["frame"]))

    def end(self, message: turntape.AssistantMessage) -> None:
        """Write the warnings."""
        self._output.flush()
        show_warnings(self._remarks, message.warnings)


class JsonlView:
    """One JSON object an event, its ``type`` first; pure ASCII."""

    def __init__(self, output: Output, remarks: Output) -> None:
        """Write events to ``output`` and warnings to ``remarks``."""
        self._output = output
        self._remarks = remarks

    def event(self, event: turntape.StreamEvent) -> None:
        """Write the event's object."""
        members = {field.name: getattr(event, field.name) for field in fields(event)}
        self._output.raw(json.dumps(members, separators=(",", ":")) + "\n")

    def end(self, message: turntape.AssistantMessage) -> None:
        """Write the warnings."""
        self._output.flush()
        show_warnings(self._remarks, message.warnings)


class MessageView:
    """The assembled turn."""

    def __init__(self, output: Output) -> None:
        """Write to ``output``."""
        self._output = output

    def event(self, event: turntape.StreamEvent) -> None:
        """Wait for the whole."""

    def end(self, message: turntape.AssistantMessage) -> None:
        """Write the blocks and the facts of the turn."""
        for block in message.content:
            self._block(block)
        self._facts(message)
        show_warnings(self._output, message.warnings)

    def _block(self, block: turntape.AssistantBlock) -> None:
        match block:
            case turntape.Text():
                self._heading("text")
                self._output.block(block.text, _STYLES["text"])
                for citation in block.citations:
                    self._opaque("citation", citation)
                self._opaque("signature", block.signature)
            case turntape.Thinking():
                self._heading("thinking")
                if block.text:
                    self._output.block(block.text, _STYLES["thinking"])
                self._opaque("signature", block.signature)
            case turntape.RedactedThinkingBlock():
                self._heading("redacted thinking")
                self._opaque("data", block.data)
            case turntape.ToolUse():
                self._call(block)
            case turntape.ProviderBlock():
                self._heading("provider block", block.kind)
                self._opaque("json", block.json)

    def _call(self, call: turntape.ToolUse) -> None:
        invalid = call.invalid
        verdict = {
            None: "",
            "not_complete": "cut: do not run it",
            "malformed": "its arguments are not JSON",
            "too_deep": "its arguments are nested too deeply",
            "not_an_object": "its arguments are no JSON object",
        }[invalid]
        self._output.line(
            ("tool call ", _STYLES["label"]),
            (clean(call.name), _STYLES["tool"]),
            (f"  {clean(call.id)}", _STYLES["frame"]),
            (f"  {verdict}" if verdict else "", _STYLES["bad"]),
        )
        if call.arguments:
            self._output.block(call.arguments, _STYLES["arguments"])
        self._opaque("signature", call.signature)

    def _heading(self, label: str, name: str = "") -> None:
        self._output.line((label, _STYLES["label"]), f" {clean(name)}" if name else "")

    def _opaque(self, label: str, text: str | None) -> None:
        if text is not None:
            self._output.line((f"  {label} {clean(clip(text, _OPAQUE))}", _STYLES["opaque"]))

    def _facts(self, message: turntape.AssistantMessage) -> None:
        if message.content:
            self._output.line()
        if message.dialect is not None:
            self._fact("dialect", message.dialect.value)
        if message.id or message.model:
            self._fact(
                "message", " ".join(clean(part) for part in (message.model, message.id) if part)
            )
        if message.usage is not None:
            self._fact("usage", describe_usage(message.usage))
        if message.complete:
            self._fact("stop", _describe_stop(message))
            self._fact("turn", "complete", _STYLES["good"])
        else:
            self._fact("turn", "not complete", _STYLES["bad"])

    def _fact(self, label: str, text: str, style: str = "") -> None:
        self._output.line((f"{label:<8}", _STYLES["label"]), (text, style))


def show_warnings(output: Output, warnings: Sequence[turntape.DecodeWarning]) -> None:
    """Write one line a warning; of very many the first, and how many more there are."""
    for warning in warnings[:_MOST_WARNINGS]:
        output.line(
            (f"warning {warning.code}", _STYLES["odd"]),
            f" at byte {warning.offset:,}: {clean(clip(warning.detail, 200))}",
        )
    if len(warnings) > _MOST_WARNINGS:
        output.line((f"and {len(warnings) - _MOST_WARNINGS:,} more warnings", _STYLES["odd"]))


def _describe(event: turntape.StreamEvent) -> tuple[str, str]:  # noqa: C901, PLR0911 (one case for each event)
    """Give the style and the content of an event's line.

    Pieces are shown as Python literals: blanks at their ends can be seen, and what a terminal would
    obey is escaped.
    """
    match event:
        case turntape.MessageStart(id=identity, model=model):
            named = (("id", identity), ("model", model))
            return "frame", "  ".join(f"{name}={clean(value)}" for name, value in named if value)
        case turntape.TextDelta(text=text):
            return "text", repr(text)
        case turntape.ThinkingDelta(text=text):
            return "thinking", repr(text)
        case turntape.SignatureDelta(signature=opaque) | turntape.RedactedThinking(data=opaque):
            return "opaque", clean(clip(opaque, _OPAQUE))
        case turntape.ToolUseStart(id=identity, name=name):
            return "tool", f"{clean(name)}  id={clean(identity)}"
        case turntape.InputJsonDelta(partial_json=text):
            return "arguments", repr(text)
        case turntape.Citation(json=text):
            return "opaque", clean(clip(text, _OPAQUE))
        case turntape.Extension(kind=kind, json=text):
            return "opaque", f"{clean(kind)}  {clean(clip(text, _OPAQUE))}"
        case turntape.ContentBlockStop():
            return "frame", ""
        case turntape.Usage():
            return "frame", describe_usage(event)
        case turntape.MessageStop():
            return "good", _describe_stop(event)


def describe_usage(usage: turntape.Usage) -> str:
    """The tokens of a turn in words."""
    parts = [f"{usage.input_tokens:,} input", f"{usage.output_tokens:,} output"]
    parts.extend(
        f"{count:,} {name}"
        for count, name in (
            (usage.reasoning_tokens, "of it reasoning"),
            (usage.cache_read_tokens, "read from the cache"),
            (usage.cache_write_tokens, "written to the cache"),
            (usage.cache_write_1h_tokens, "of it for an hour"),
        )
        if count
    )
    return ", ".join(parts)


def _describe_stop(stop: turntape.MessageStop | turntape.AssistantMessage) -> str:
    wire = "gave no reason" if stop.raw_reason is None else f"said {clean(stop.raw_reason)}"
    return f"{stop.stop_reason}  (the wire {wire} and ended with {stop.terminal})"
