"""Ids and names that a provider takes: mapped only where they have to be, and never two onto one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

__all__ = ["FORMS_OF_IDS", "FORMS_OF_NAMES", "Distinct", "Form", "ids_of_length"]

_ALPHANUMERICS: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

_HASH_DIGITS: Final = 12


@dataclass(frozen=True, slots=True)
class Form:
    """What an id or a name may look like.

    Attributes:
        valid: What the whole of it must match.
        replaced: What becomes ``_`` in one that does not.
        limit: How long it may be.
        lead: What goes before one that starts with something else than this form allows.
        exact: Whether it is exactly as long as the limit, of letters and digits alone.
    """

    valid: re.Pattern[str]
    replaced: re.Pattern[str]
    limit: int
    lead: str = ""
    exact: bool = False

    def is_valid(self, text: str) -> bool:
        """Whether the text can go out as it is."""
        return self.valid.fullmatch(text) is not None

    def hashed(self, text: str, turn: int) -> str:
        """One that is valid, and other than those of other texts and turns but for chance.

        Args:
            text: The id or name.
            turn: Which attempt, or which use of the same id, this is for.
        """
        seed = f"{turn}:{text}".encode("utf-8", "surrogatepass")
        digest = blake2b(seed, digest_size=16).hexdigest()
        if self.exact:
            number = int(digest, 16)
            letters: list[str] = []
            for _ in range(self.limit):
                number, digit = divmod(number, len(_ALPHANUMERICS))
                letters.append(_ALPHANUMERICS[digit])
            return "".join(letters)
        kept = self.lead + self.replaced.sub("_", text)
        return f"{kept[: self.limit - _HASH_DIGITS - 1]}_{digest[:_HASH_DIGITS]}"


class Distinct:
    """The ids or names of one request: equal ones stay equal, different ones different.

    Nothing that is taken later changes what was given before, so that a history that grows keeps its
    prefix.

    >>> ids = Distinct(FORMS_OF_IDS["anthropic"])
    >>> ids.take("a_b"), ids.take("a.b") == ids.take("a.b")
    ('a_b', False)
    """

    __slots__ = ("_form", "_given", "_identifiers", "_is_valid", "_used")

    def __init__(self, form: Form, reserved: tuple[str, ...] = ()) -> None:
        """Begin with nothing given but what is reserved."""
        self._form = form
        self._is_valid = form.is_valid
        # Every form but the exact ones takes such names, and nearly all ids are: no pattern is needed.
        self._identifiers = 0 if form.exact else form.limit
        self._given = set(reserved)
        # How often each text was hashed: the next use starts there, or many equal ones would take
        # quadratic time.
        self._used: dict[str, int] = {}

    @property
    def given(self) -> set[str]:
        """What was given, for who knows that a text can be given as it is, and gives it."""
        return self._given

    def take(self, text: str) -> str:
        """What stands for one use of an id; never what was given before."""
        given = self._given
        if text not in given and (
            (text.isascii() and text.isidentifier() and len(text) <= self._identifiers)
            or self._is_valid(text)
        ):
            given.add(text)
            return text
        turn = self._used.get(text, 0)
        while True:
            candidate = self._form.hashed(text, turn)
            turn += 1
            if candidate not in given:
                break
        self._used[text] = turn
        given.add(candidate)
        return candidate


# Printable, without spaces: what OpenAI and its imitators have been seen to give and to take back.
_ANY: Final = r"[!-~]"
_NEVER_REPLACED: Final = re.compile(r"[^!-~]")
_WORD: Final = re.compile(r"[^A-Za-z0-9_-]")


def _ids(characters: str, limit: int, replaced: re.Pattern[str]) -> Form:
    return Form(re.compile(rf"{characters}{{1,{limit}}}"), replaced, limit)


def ids_of_length(limit: int, *, exact: bool = False) -> Form:
    """The form of ids on a Chat endpoint.

    Args:
        limit: How long they may be.
        exact: Whether they are exactly so long, of letters and digits alone.
    """
    if exact:
        return Form(re.compile(rf"[A-Za-z0-9]{{{limit}}}"), _WORD, limit, exact=True)
    return _ids(_ANY, limit, _NEVER_REPLACED)


FORMS_OF_IDS: Final[dict[str, Form]] = {
    "anthropic": _ids("[A-Za-z0-9_-]", 64, _WORD),
    "openai-chat": ids_of_length(40),
    "openai-responses": ids_of_length(64),
    # Gemini takes back whatever it gave.
    "gemini": Form(re.compile(r"[^\ud800-\udfff]+"), re.compile(r"[\ud800-\udfff]"), 1 << 20),
    "bedrock-converse": _ids("[A-Za-z0-9_.:-]", 64, re.compile(r"[^A-Za-z0-9_.:-]")),
}
"""What ids of calls look like, by dialect."""

FORMS_OF_NAMES: Final[dict[str, Form]] = {
    "anthropic": _ids("[A-Za-z0-9_-]", 128, _WORD),
    "openai-chat": _ids("[A-Za-z0-9_-]", 64, _WORD),
    "openai-responses": _ids("[A-Za-z0-9_-]", 64, _WORD),
    "gemini": Form(
        re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,127}"),
        re.compile(r"[^A-Za-z0-9_.:-]"),
        128,
        lead="_",
    ),
    "bedrock-converse": _ids("[A-Za-z0-9_-]", 64, _WORD),
}
"""What names of tools look like, by dialect."""
