"""The message model: a conversation, whoever produced it and whoever gets it next."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

# At run time too: pydantic and the dict form resolve the annotations in this module.
from turntape.dict_form import DictForm
from turntape.events import StopReason
from turntape.media import Audio, Document, Image, Video
from turntape.messages import AssistantBlock, ProviderBlock, Text
from turntape.wire.dialect import Dialect

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "ContentBlock",
    "CustomRecord",
    "HistoryItem",
    "Message",
    "ResultBlock",
    "Role",
    "ToolResult",
]

Role: TypeAlias = Literal["system", "user", "assistant"]
"""Who says a message. What a tool says is a :class:`ToolResult` in a message of the user."""

_ROLES = ("system", "user", "assistant")

ResultBlock: TypeAlias = Text | Image | Audio | Video | Document | ProviderBlock
"""What a tool's result may hold, told apart by ``type``."""


@dataclass(frozen=True, slots=True)
class ToolResult(DictForm):
    """What a tool answered.

    Attributes:
        tool_use_id: The id of the call that it answers.
        content: The answer, as a text or as blocks.
        is_error: Whether the tool failed.
        extra: A raw JSON object of what the wire's item carries beside these, which goes back to its own
            wire only.
        type: The constant ``tool_result``.
    """

    type: Literal["tool_result"] = field(default="tool_result", kw_only=True, repr=False)
    tool_use_id: str
    content: str | tuple[ResultBlock, ...]
    is_error: bool = False
    extra: str | None = None


ContentBlock: TypeAlias = AssistantBlock | Image | Audio | Video | Document | ToolResult
"""Any block of a message, told apart by ``type``."""


@dataclass(frozen=True, slots=True)
class Message(DictForm):
    """One message of a conversation.

    Attributes:
        role: Who says it.
        content: What is said, block by block.
        model: For a turn of the model's, which one it was.
        dialect: The dialect that it came in, where it came from a wire.
        vendor: Who made it, and so who accepts the signatures that it carries: ``anthropic``, ``openai``,
            ``azure``, ``xai``, ``google``, … None where that is to be told from the model's id.
        id: The provider's id of the response, or the host's.
        stop_reason: For a turn of the model's, why it stopped; ``pause_turn`` asks to be sent back last.
        reasoning_field: Under which name Chat Completions sent the reasoning, for vendors that want it
            back.
        extra: A raw JSON object of what the wire's message carries beside these, which goes back to its
            own wire only.
    """

    role: Role
    content: tuple[ContentBlock, ...]
    model: str | None = field(default=None, kw_only=True)
    dialect: Dialect | None = field(default=None, kw_only=True)
    vendor: str | None = field(default=None, kw_only=True)
    id: str | None = field(default=None, kw_only=True)
    stop_reason: StopReason | None = field(default=None, kw_only=True)
    reasoning_field: str | None = field(default=None, kw_only=True)
    extra: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        """Refuse a text for the blocks: it would be taken apart into letters much later.

        Raises:
            TypeError: The content is no tuple.
            ValueError: There is no such role: its text would go out as somebody else's.
        """
        if self.role not in _ROLES:
            raise ValueError(
                f"the role of a message is one of {', '.join(_ROLES)}, not {self.role!r}; what a tool "
                "answered is a message of the user's, made by Message.tool_result"
            )
        content = cast("object", self.content)
        if not isinstance(content, tuple):
            kind = type(content).__name__
            raise TypeError(
                f"the content of a message is a tuple of blocks, not {kind}: use Message.user, "
                "Message.assistant or Message.system, which take a text or any iterable"
            )

    @classmethod
    def system(cls, content: str | Iterable[Text]) -> Message:
        """What the host says.

        Args:
            content: A text, or text blocks.

        >>> Message.system("Answer tersely.").content
        (Text(text='Answer tersely.', citations=(), signature=None, extra=None),)
        """
        return cls("system", _blocks(content))

    @classmethod
    def user(cls, content: str | Iterable[ContentBlock]) -> Message:
        """What the user says, and what tools answered.

        Args:
            content: A text, or blocks.
        """
        return cls("user", _blocks(content))

    @classmethod
    def assistant(
        cls,
        content: str | Iterable[ContentBlock],
        *,
        model: str | None = None,
        vendor: str | None = None,
    ) -> Message:
        """What the model said, where the host knows it otherwise than by decoding.

        A decoded turn becomes a message by ``AssistantMessage.to_message``, which keeps all of it.

        Args:
            content: A text, or blocks.
            model: The model's id.
            vendor: Who made it.
        """
        return cls("assistant", _blocks(content), model=model, vendor=vendor)

    @classmethod
    def tool_result(
        cls, tool_use_id: str, content: str | Iterable[ResultBlock], *, is_error: bool = False
    ) -> Message:
        """A message of the user that holds one result.

        Args:
            tool_use_id: The id of the call that it answers.
            content: The answer, as a text or as blocks.
            is_error: Whether the tool failed.

        >>> Message.tool_result("c1", "a.txt").content[0].tool_use_id
        'c1'
        """
        answer = content if isinstance(content, str) else tuple(content)
        return cls("user", (ToolResult(tool_use_id, answer, is_error),))


def _blocks(content: str | Iterable[ContentBlock]) -> tuple[ContentBlock, ...]:
    return (Text(content),) if isinstance(content, str) else tuple(content)


@dataclass(frozen=True, slots=True)
class CustomRecord(DictForm):
    """A record of the host's own between the messages, which no provider ever gets.

    Attributes:
        kind: What it is, in the host's words.
        payload: Any JSON value.
        display: How to show it, where it is to be shown.
        type: The constant ``custom_record``.
    """

    type: Literal["custom_record"] = field(default="custom_record", kw_only=True, repr=False)
    kind: str
    payload: Any = None
    display: str | None = None


HistoryItem: TypeAlias = Message | CustomRecord
"""What a history is made of."""
