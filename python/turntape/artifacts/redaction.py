r"""Redaction: secrets out of texts, whole and in pieces.

>>> from turntape import RedactionRule
>>> rules = [RedactionRule("harbour-token", r"\bhbr_[a-z0-9]{12}\b", keywords=("hbr_",))]
>>> SecretRedactor(rules).redact("use hbr_ab12cd34ef56, then go")
Redacted(text='use [REDACTED:harbour-token], then go', changed=True)
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from turntape._native import SecretMatcher, SecretStream
from turntape.artifacts.rule_pack import default_rules
from turntape.artifacts.rules import native_rules, read_rules

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from turntape.artifacts.rules import Allowlist, RedactionRule

__all__ = [
    "ArtifactRedactor",
    "NoRedaction",
    "Redacted",
    "SecretRedactor",
    "SecretSpan",
    "StreamRedactor",
]

_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text that a redactor has seen.

    Attributes:
        text: What may be stored and shown.
        changed: Whether it differs from what came in. A hint: whoever must know compares.
    """

    text: str
    changed: bool


@runtime_checkable
class ArtifactRedactor(Protocol):
    """What takes secrets out of texts before they are stored or shown."""

    def redact(self, text: str, /) -> Redacted:
        """Give the text without its secrets.

        Args:
            text: Any text, of any size.

        Raises:
            Exception: Whatever it raises refuses the write that asked.
        """
        ...


class NoRedaction:
    """Leaves every text as it is: a decision to store verbatim, written down.

    >>> NoRedaction().redact("anything")
    Redacted(text='anything', changed=False)
    """

    __slots__ = ()

    def redact(self, text: str, /) -> Redacted:
        """Give the text as it came."""
        return Redacted(text, changed=False)

    def __repr__(self) -> str:
        return "NoRedaction()"


class SecretSpan(NamedTuple):
    """Where a secret stands.

    ``start`` is its first character, counted from 0, ``end`` the character behind it, and ``rule`` the id
    of the rule that found it.
    """

    start: int
    end: int
    rule: str


@cache
def _default_matcher() -> SecretMatcher:
    return SecretMatcher(*native_rules(default_rules(), ()))


class SecretRedactor:
    r"""Replaces secrets by ``[REDACTED:<rule id>]``.

    Rules are in the form of gitleaks, and matched in linear time. Only the secret is replaced, not what the
    rule needed to see around it. Secrets that overlap are replaced once, under the rule that begins first.
    One redactor may serve any number of threads.

    Args:
        rules: The rules; by default those of :func:`default_rules`.
        allowlists: What is no secret, whatever the rule.

    Raises:
        RedactionRuleError: A rule does not compile; the error names it.

    >>> from turntape import RedactionRule
    >>> redactor = SecretRedactor([RedactionRule("pin", r"pin=(\d{4})")])
    >>> redactor.redact('{"login": "pin=1234"}').text
    '{"login": "pin=[REDACTED:pin]"}'
    """

    __slots__ = ("_allowlists", "_matcher", "_rules")

    def __init__(
        self,
        rules: Iterable[RedactionRule] | None = None,
        *,
        allowlists: Iterable[Allowlist] = (),
    ) -> None:
        """Compile the rules."""
        self._allowlists = tuple(allowlists)
        self._rules = default_rules() if rules is None else tuple(rules)
        if rules is None and not self._allowlists:
            self._matcher = _default_matcher()
        else:
            self._matcher = SecretMatcher(*native_rules(self._rules, self._allowlists))

    @classmethod
    def from_toml(cls, toml: str, /) -> SecretRedactor:
        r"""Make one from the text of a rule file in the form of gitleaks.

        Args:
            toml: The text.

        Raises:
            RedactionRuleError: It is no such file, a rule does not compile, or it asks for what cannot be
                done here: ``[extend]``, required rules.

        >>> SecretRedactor.from_toml('''
        ... [[rules]]
        ... id = "pin"
        ... regex = 'pin=(\\d{4})'
        ... ''').redact("pin=1234").text
        'pin=[REDACTED:pin]'
        """
        rules, allowlists = read_rules(toml)
        return cls(rules, allowlists=allowlists)

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], /) -> SecretRedactor:
        """Make one from a rule file in the form of gitleaks.

        Args:
            path: The file, in UTF-8.

        Raises:
            OSError: It cannot be read.
            UnicodeDecodeError: It is not in UTF-8.
            RedactionRuleError: As of :meth:`from_toml`.
        """
        return cls.from_toml(Path(path).read_text(encoding="utf-8"))

    @property
    def rules(self) -> tuple[RedactionRule, ...]:
        """The rules."""
        return self._rules

    @property
    def allowlists(self) -> tuple[Allowlist, ...]:
        """What is no secret, whatever the rule."""
        return self._allowlists

    def redact(self, text: str, /) -> Redacted:
        """Replace the secrets of a text.

        Where there is none the text is handed back itself. Lone surrogates stay as they are.

        Args:
            text: Any text. It is searched as text: see :func:`redact_json` for values with fields.
        """
        try:
            redacted = self._matcher.redact(text)
        except UnicodeEncodeError:
            # Not from it: it carries the text.
            redacted = None
            broken = True
        else:
            broken = False
        if broken:
            redacted = self._replace(text)
        if redacted is None:
            return Redacted(text, changed=False)
        return Redacted(redacted, changed=True)

    def find(self, text: str, /) -> tuple[SecretSpan, ...]:
        """Find the secrets of a text, in order, without replacing them.

        Args:
            text: Any text.

        >>> from turntape import RedactionRule
        >>> SecretRedactor([RedactionRule("pin", "[0-9]{4}")]).find("it is 1234")
        (SecretSpan(start=6, end=10, rule='pin'),)
        """
        # A lone surrogate is one character, and so is what stands for it here.
        spans = self._matcher.find(_SURROGATE.sub("\ufffd", text))
        return tuple(SecretSpan(*span) for span in spans)

    def _replace(self, text: str) -> str | None:
        pieces: list[str] = []
        at = 0
        for start, end, rule in self.find(text):
            pieces += (text[at:start], f"[REDACTED:{rule}]")
            at = end
        return "".join((*pieces, text[at:])) if pieces else None

    def stream(self, *, max_match: int = 65536) -> StreamRedactor:
        """Make a redactor with the same rules for a text that comes in pieces.

        Args:
            max_match: As of :class:`StreamRedactor`.
        """
        return StreamRedactor(self, max_match=max_match)

    def __reduce__(self) -> tuple[Any, ...]:
        if self._matcher is _default_matcher():
            return SecretRedactor, ()
        return _remake, (self._rules, self._allowlists)

    def __repr__(self) -> str:
        return f"<SecretRedactor of {len(self._matcher)} rules>"


def _remake(rules: tuple[RedactionRule, ...], allowlists: tuple[Allowlist, ...]) -> SecretRedactor:
    return SecretRedactor(rules, allowlists=allowlists)


class StreamRedactor:
    r"""Replaces the secrets of a text that comes in pieces; how it is cut never changes what comes out.

    What is given out lags behind what came in, by up to one and a quarter times ``max_match``. A secret
    whose match is not longer than ``max_match`` is found as it would be in the whole text, if a keyword of
    its rule comes before it or within ``max_match`` bytes after its start. What is longer fails closed: a
    match that goes on is covered to its end, and so is what an opening marker has begun (a rule that starts
    with a literal, such as ``-----BEGIN``), even if its end never comes. End anchors match only at the end
    of the text.

    One stream belongs to one thread at a time.

    Args:
        redactor: A redactor whose rules are taken, or rules; by default those of :func:`default_rules`.
        max_match: How long a match may be that is promised to be found, in bytes of UTF-8; at least 64.

    Raises:
        RedactionRuleError: A rule does not compile.
        ValueError: ``max_match`` is too small.

    >>> from turntape import RedactionRule
    >>> stream = StreamRedactor([RedactionRule("pin", "pin=([0-9]{4})")])
    >>> stream.feed("my pin=1") + stream.feed(b"234 is safe") + stream.finish()
    'my pin=[REDACTED:pin] is safe'
    """

    __slots__ = ("_decoder", "_stream")

    def __init__(
        self,
        redactor: SecretRedactor | Iterable[RedactionRule] | None = None,
        max_match: int = 65536,
    ) -> None:
        """Take the rules; nothing is held yet."""
        if not isinstance(redactor, SecretRedactor):
            redactor = SecretRedactor(redactor)
        matcher = redactor._matcher  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] (its twin)
        self._stream = SecretStream(matcher, max_match=max_match)
        self._decoder: codecs.IncrementalDecoder | None = None

    def feed(self, piece: str | bytes | bytearray | memoryview, /) -> str:
        """Take the next piece; give what is decided of the text so far.

        Args:
            piece: Text, or bytes of UTF-8, which may be cut anywhere. What is no UTF-8, and half of a
                surrogate pair, becomes U+FFFD.

        Raises:
            ValueError: The text was ended.
        """
        if isinstance(piece, str):
            return self._stream.feed(self._rest() + _SURROGATE.sub("\ufffd", piece))
        if self._decoder is None:
            self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        # A view of items that are no bytes stands for its bytes.
        return self._stream.feed(self._decoder.decode(bytes(memoryview(piece))))

    def finish(self) -> str:
        """End the text; give the rest of it. Nothing of it is held any more.

        Raises:
            ValueError: It was ended before.
        """
        rest = self._rest()
        head = self._stream.feed(rest) if rest else ""
        return head + self._stream.finish()

    def _rest(self) -> str:
        """What is left of a character that was begun in bytes."""
        if self._decoder is None:
            return ""
        rest: str = self._decoder.decode(b"", final=True)
        self._decoder.reset()
        return rest

    def __repr__(self) -> str:
        return "<StreamRedactor>"
