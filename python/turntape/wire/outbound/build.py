"""Building a request for any provider from a history that any provider produced."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Literal, TypeAlias, cast
from urllib.parse import quote

from turntape._native import calls_are_answered
from turntape.conversation import CustomRecord, Message
from turntape.errors import InvalidRequest, PairingError
from turntape.replay.mapping import FORMS_OF_IDS, FORMS_OF_NAMES, Distinct, ids_of_length
from turntape.replay.pairing import History, notes_of, pair
from turntape.replay.texts import ReplayTexts
from turntape.wire.dialect import Dialect
from turntape.wire.outbound import anthropic, bedrock, gemini, openai_chat, openai_responses
from turntape.wire.outbound.blocks import AlternatingWriter
from turntape.wire.outbound.built import BuiltRequest
from turntape.wire.outbound.caching import before_marks
from turntape.wire.outbound.extra import merge_extra
from turntape.wire.outbound.flat import FlatWriter
from turntape.wire.outbound.misfits import misfit_in
from turntape.wire.outbound.names import Names
from turntape.wire.outbound.notes import Notes
from turntape.wire.outbound.parameters import Parameters, Tool
from turntape.wire.outbound.prefix import Prefix
from turntape.wire.outbound.surrogates import mended_text
from turntape.wire.outbound.target import Target
from turntape.wire.raw_json import RawJson
from turntape.wire.vendors import vendor_habits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from turntape.conversation import HistoryItem
    from turntape.replay.mapping import Form
    from turntape.requests import ModelRequest
    from turntape.wire.capabilities import CapabilityTable
    from turntape.wire.outbound.parts import Written
    from turntape.wire.outbound.plain import PlainRun
    from turntape.wire.outbound.target import CarrySignatures
    from turntape.wire.outbound.writer import Writer
    from turntape.wire.vendors import VendorHabits

__all__ = ["OnPrefixChange", "Repair", "Unsupported", "build_request"]

Repair: TypeAlias = Literal["strict", "repair"]
"""What happens to a history that cannot be sent as it is: it is refused, or mended."""

Unsupported: TypeAlias = Literal["drop", "error"]
"""What happens to parameters that a wire or a model does not take."""

OnPrefixChange: TypeAlias = Literal["drop_thinking", "drop_block", "keep"]
"""What happens to signed thinking where something before it was edited."""

_WRITERS: dict[Dialect, type[Writer]] = {
    Dialect.ANTHROPIC: anthropic.AnthropicWriter,
    Dialect.OPENAI_CHAT: openai_chat.ChatWriter,
    Dialect.OPENAI_RESPONSES: openai_responses.ResponsesWriter,
    Dialect.GEMINI: gemini.GeminiWriter,
    Dialect.BEDROCK_CONVERSE: bedrock.BedrockWriter,
}


def build_request(
    request: ModelRequest,
    dialect: Dialect | str,
    *,
    vendor: str | VendorHabits = "auto",
    base_url: str | None = None,
    api_version: str | None = None,
    repair: Repair = "strict",
    unsupported: Unsupported = "drop",
    previous: Sequence[str] | None = None,
    on_prefix_change: OnPrefixChange = "drop_thinking",
    carry_signatures: CarrySignatures = "same_vendor",
    texts: ReplayTexts | None = None,
    capabilities: CapabilityTable | None = None,
) -> BuiltRequest:
    """Build the body of a request, whatever produced its history.

    The history is never changed, and the same input gives the same bytes. A request for a longer history
    begins with the one for the shorter: what comes later changes nothing before it.

    Args:
        request: What is asked for.
        dialect: The wire.
        vendor: Who serves the model, by name or as a row of the host's own; ``auto`` finds out by the base
            URL or the model.
        base_url: Where the request goes.
        api_version: The version of the API, where the wire names one; None for the newest that is known.
        repair: Whether a history that cannot be sent is refused, or mended with a note on each change.
        unsupported: Whether parameters that the target does not take are left out with a note, or refused.
        previous: The ``prefix_digests`` of the last request of this conversation.
        on_prefix_change: What happens to signed thinking where something before it was edited:
            ``drop_thinking`` leaves it out from there on, ``drop_block`` lets the body ask the API to,
            ``keep`` sends it all the same.
        carry_signatures: When signed thinking goes back: to the vendor and the family of models that
            signed it, never, or always.
        texts: What is put in where a provider needs a text.
        capabilities: The table of what models take, if it is not the one that comes along.

    Returns:
        The request, with a note on everything that was changed.

    Raises:
        PairingError: Calls and results do not pair, and ``repair`` is ``strict``.
        UnsupportedContent: The wire or the model has no place for a content.
        InvalidRequest: Something else cannot be sent. All three name the message and the block.
        ValueError: An option has no such value.

    >>> from turntape import Message, ModelRequest
    >>> built = build_request(ModelRequest("gpt-4.1", [Message.user("Hello!")]), "openai-chat")
    >>> built.path, built.body["messages"]
    ('/v1/chat/completions', [{'role': 'user', 'content': 'Hello!'}])
    """
    dialect = Dialect(dialect)
    _check("repair", repair, ("strict", "repair"))
    _check("unsupported", unsupported, ("drop", "error"))
    _check("on_prefix_change", on_prefix_change, ("drop_thinking", "drop_block", "keep"))
    _check("carry_signatures", carry_signatures, ("never", "same_vendor", "always"))
    if not isinstance(cast("object", request.model), str):
        raise InvalidRequest(f"{request.model!r} is no id of a model")
    if capabilities is None:
        from turntape.wire.capability_rows import CAPABILITIES  # noqa: PLC0415

        capabilities = CAPABILITIES
    habits = (
        _habits(vendor, request.model, base_url, dialect)
        if isinstance(vendor, str)
        else vendor_habits(vendor, request.model, base_url, dialect)
    )
    target = Target(
        dialect=dialect,
        model=request.model,
        capabilities=capabilities.of(request.model, dialect),
        habits=habits,
        table=capabilities,
        repairs=repair == "repair",
        refuses=unsupported == "error",
        carry_signatures=carry_signatures,
        texts=texts or _TEXTS,
        api_version=api_version,
        vendor=habits.vendor,
    )
    try:
        return _Building(request, target, on_prefix_change).build(previous)
    except (AttributeError, TypeError) as error:
        misfit = misfit_in(request)
        if misfit is None:
            raise
        raise misfit from error


_TEXTS = ReplayTexts()

# A conversation asks for the same row with each of its requests.
_habits = lru_cache(maxsize=256)(vendor_habits)


def _check(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ValueError(f"{name} is one of {', '.join(allowed)}, not {value!r}")


class _Building:
    """The steps of building one request."""

    def __init__(
        self, request: ModelRequest, target: Target, on_prefix_change: OnPrefixChange
    ) -> None:
        self.request = request
        self.target = target
        self.on_prefix_change = on_prefix_change
        self.notes = Notes()
        self._check_request()
        self.parameters = Parameters(request, target, self.notes)
        self.tools = self.parameters.tools()
        self.declared = self._declared()
        self.leading: list[tuple[int, str]] = []
        self.places: list[int] = []
        self.history = self._history()
        self.host_system = self.parameters.system_texts()
        led = [text for _, text in self.leading if text and not text.isspace()]
        self.system = self.host_system + led

    def build(self, previous: Sequence[str] | None) -> BuiltRequest:
        writer, notes = self._written(frozenset())
        prefix = self._prefix(writer)
        if previous is not None:
            compared = prefix.compare(previous)
            if compared.changed is not None:
                self.notes.add(
                    "prefix_changed",
                    compared.changed,
                    "what is sent differs from the last request here",
                )
            if compared.without_thinking and self._binds and self._drops_thinking():
                writer, notes = self._written(compared.without_thinking)
                prefix = self._prefix(writer)
        self.notes.extend(notes.listed())
        return self._built(writer, prefix)

    @property
    def _binds(self) -> bool:
        """Whether the target's signed thinking counts only behind what it was made for."""
        takes = self.target.capabilities
        return takes.binds_thinking or takes.maker == "anthropic"

    def _drops_thinking(self) -> bool:
        """Whether thinking is left out here; else the API is asked to, or the host takes the risk."""
        if self.on_prefix_change != "drop_block":
            return self.on_prefix_change == "drop_thinking"
        takes, reasoning = self.target.capabilities, self.request.reasoning
        thinks = takes.thinks_by_default if reasoning is None else not self.parameters.is_off
        return not (thinks and takes.thinking and self.target.dialect is Dialect.ANTHROPIC)

    def _check_request(self) -> None:
        request = self.request
        if not request.model or mended_text(request.model) is not None:
            raise InvalidRequest(f"{request.model!r} is no id of a model")
        for place in request.cache.messages:
            if not 0 <= place < len(request.messages):
                raise InvalidRequest(f"cache.messages names {place}, and there is no such message")

    def _declared(self) -> tuple[str, ...]:
        form = FORMS_OF_NAMES[self.target.dialect]
        names: list[str] = []
        for tool in self.tools:
            if not isinstance(tool, Tool):
                continue
            if not form.is_valid(tool.name):
                raise InvalidRequest(
                    f"{tool.name!r} is no name of a tool for {self.target.dialect.value}"
                )
            if tool.name in names:
                raise InvalidRequest(f"two tools have the name {tool.name!r}")
            names.append(tool.name)
        return tuple(names)

    def _history(self) -> History:
        """The messages that follow the leading system messages, paired."""
        items = list(self.request.messages)
        start = 0
        for start, item in enumerate(items):
            if isinstance(cast("object", item), CustomRecord):
                continue
            if not isinstance(item, Message) or item.role != "system":
                break
            self.places.append(start)
            self.leading += self._leading_texts(start, item)
        else:
            start = len(items)
        messages, places = _messages_from(items, start)
        self.places += places
        if calls_are_answered(messages):
            return History(messages, places)
        texts = self.target.texts
        mended, faults = pair(
            zip(places, messages, strict=True), missing_result=texts.missing_result
        )
        if not faults:
            return History(messages, places)
        if not self.target.repairs:
            raise PairingError(faults)
        self.notes.extend(notes_of(faults))
        return History(messages, places, mended)

    def _leading_texts(self, index: int, message: Message) -> list[tuple[int, str]]:
        texts: list[tuple[int, str]] = []
        for place, block in enumerate(message.content):
            if block.type != "text":
                raise InvalidRequest(
                    f"a system message holds texts, not {block.type!r}", index=index, block=place
                )
            texts.append((index, self.parameters.clean(block.text, "a system message")))
        extras = [message.extra, *(b.extra for b in message.content if b.type == "text")]
        if message.dialect == self.target.dialect and any(extra is not None for extra in extras):
            self.notes.add(
                "content_unsupported",
                index,
                "what a leading system message carries beside its text is left out",
            )
        return texts

    def _written(self, without_thinking: frozenset[int]) -> tuple[Writer, Notes]:
        """The history, written, with the notes on it."""
        policy = self.request.cache
        stop = before_marks(policy, self.history)
        writer, notes = self._written_to(stop, without_thinking)
        if isinstance(writer, AlternatingWriter) and not writer.leaves_room(policy):
            return self._written_to(0, without_thinking)
        return writer, notes

    def _written_to(self, stop: int, without_thinking: frozenset[int]) -> tuple[Writer, Notes]:
        notes = Notes()
        target = self.target
        writer = _WRITERS[target.dialect](
            target,
            notes,
            Distinct(self._form_of_ids()),
            Names(FORMS_OF_NAMES[target.dialect], self.declared, notes),
            without_thinking,
        )
        writer.write(self.history, stop)
        if isinstance(writer, FlatWriter):
            # They are part of what is sent, whatever comes after them.
            writer.flush_moved()
        return writer, notes

    def _form_of_ids(self) -> Form:
        habits = self.target.habits
        if self.target.dialect is Dialect.OPENAI_CHAT:
            return ids_of_length(habits.id_length, exact=habits.id_exact)
        return FORMS_OF_IDS[self.target.dialect]

    def _prefix(self, writer: Writer) -> Prefix:
        tools = [
            tool
            if isinstance(tool, RawJson)
            else [tool.name, tool.description, tool.schema, tool.strict]
            for tool in self.tools
        ]
        trace: list[Written | PlainRun] = [
            (index, {"system": text}, False) for index, text in self.leading
        ]
        return Prefix([self.host_system, tools], self.places, trace + writer.trace)

    def _built(self, writer: Writer, prefix: Prefix) -> BuiltRequest:
        request, target = self.request, self.target
        writer.notes = self.notes
        is_empty = False
        if isinstance(writer, AlternatingWriter):
            writer.finish()
            is_empty = not writer.messages
        elif isinstance(writer, FlatWriter):
            writer.end()
            is_alone = bool(self.system) and target.dialect is Dialect.OPENAI_CHAT
            is_empty = not writer.written and not is_alone
        if is_empty:
            raise InvalidRequest("the history holds nothing that could be sent")
        tree = writer.body(self.parameters, self.system, self.tools)
        headers: dict[str, str] = {}
        if target.dialect is Dialect.ANTHROPIC:
            headers["anthropic-version"] = target.api_version or anthropic.DEFAULT_API_VERSION
            asks = self.on_prefix_change == "drop_block"
            thinks = request.reasoning is None and target.capabilities.thinks_by_default
            if asks and anthropic.ask_to_drop_blocks(tree, thinks_by_default=thinks):
                headers["anthropic-beta"] = anthropic.BINDING_BETA
        merge_extra(tree, request.extra, self.notes)
        return BuiltRequest(
            tree,
            prefix,
            dialect=target.dialect,
            model=target.model,
            path=_path(target.dialect, target.model, stream=request.stream),
            headers=headers,
            notes=self.notes.listed(),
            id_map={call_id: tuple(sent) for call_id, sent in writer.id_map.items()},
            name_map=writer.names.mapped(),
        )


def _messages_from(items: list[HistoryItem], start: int) -> tuple[list[Message], list[int]]:
    """The messages of a history from a place on, and their places."""
    if set(map(type, items)) == {Message}:
        # Nearly always, and quicker than to look at each.
        return cast("list[Message]", items[start:]), list(range(start, len(items)))
    messages: list[Message] = []
    places: list[int] = []
    for index, item in enumerate(items[start:], start):
        if isinstance(item, Message):
            messages.append(item)
            places.append(index)
        elif not isinstance(cast("object", item), CustomRecord):
            raise InvalidRequest(f"{type(item).__name__} is no message", index=index)
    return messages, places


def _path(dialect: Dialect, model: str, *, stream: bool) -> str:
    """The path of the request."""
    if dialect is Dialect.BEDROCK_CONVERSE:
        return f"/model/{quote(model, safe='')}/{'converse-stream' if stream else 'converse'}"
    if dialect is Dialect.GEMINI:
        kind, slash, name = model.rpartition("/")
        if kind not in {"models", "tunedModels"}:
            kind, name = "models", f"{kind}{slash}{name}"
        call = "streamGenerateContent?alt=sse" if stream else "generateContent"
        return f"/v1beta/{kind}/{quote(name, safe='')}:{call}"
    return dialect.endpoint_path()
