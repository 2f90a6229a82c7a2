"""Secret rules, and the files in the form of gitleaks that they are read from."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from turntape.errors import RedactionRuleError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["Allowlist", "Condition", "RedactionRule", "RegexTarget", "native_rules", "read_rules"]

RegexTarget: TypeAlias = Literal["secret", "match", "line"]
"""What the regexes of an allowlist look at: the secret, the whole match, the lines that it touches."""

Condition: TypeAlias = Literal["OR", "AND"]
"""Whether one check of an allowlist is enough, or all of them must agree."""


@dataclass(frozen=True, slots=True)
class Allowlist:
    r"""What is no secret although a rule says so.

    A text has neither a path nor a commit. Those checks never hold: beside others they change nothing under
    ``OR``, and under ``AND`` the list allows nothing.

    Attributes:
        regexes: RE2; the check holds if one of them matches.
        stopwords: The check holds if one of them stands in the secret, in any case.
        regex_target: What the regexes look at.
        condition: Whether one check is enough.
        paths: Files, for programs that read files.
        commits: Commits, for programs that read repositories.
        target_rules: For an allowlist of a whole file, the ids of the rules that it is for; none for all.
        description: What it is about.

    >>> rule = RedactionRule("k", r"k_\w{8}", allowlists=(Allowlist(stopwords=("example",)),))
    >>> from turntape import SecretRedactor
    >>> SecretRedactor([rule]).redact("k_examples k_12345678").text
    'k_examples [REDACTED:k]'
    """

    regexes: tuple[str, ...] = ()
    stopwords: tuple[str, ...] = ()
    regex_target: RegexTarget = "secret"
    condition: Condition = "OR"
    paths: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()
    target_rules: tuple[str, ...] = ()
    description: str = ""

    @property
    def can_hold(self) -> bool:
        """Whether it can allow anything in a text."""
        if self.condition == "AND" and (self.paths or self.commits):
            return False
        return bool(self.regexes or self.stopwords)


@dataclass(frozen=True, slots=True)
class RedactionRule:
    r"""How one kind of secret looks.

    Attributes:
        id: Its name, which takes the secret's place: ``[REDACTED:<id>]``. It is not empty and holds no
            quote, backslash or control character, so that JSON stays JSON.
        regex: RE2: no look-around and no back-references; ``\w``, ``\d``, ``\s`` and ``\b`` are ASCII, ``.``
            and ``[^x]`` take whole characters. A rule without one is skipped.
        description: What it finds.
        secret_group: Which group is the secret. 0, the default, is the first that is not empty, else the
            whole match.
        entropy: The secret's Shannon entropy must be greater than this, in bits a character; 0 asks for
            none.
        keywords: One of them must occur in the text, in any case, before the regex runs; none asks for
            none.
        allowlists: What is no secret.

    >>> RedactionRule("pier-key", r"pier_[a-z0-9]{12}", keywords=("pier_",)).id
    'pier-key'
    """

    id: str
    regex: str
    description: str = ""
    secret_group: int = 0
    entropy: float = 0.0
    keywords: tuple[str, ...] = ()
    allowlists: tuple[Allowlist, ...] = ()


_NativeAllow: TypeAlias = tuple[list[str], list[str], str, bool]
_NativeRule: TypeAlias = tuple[str, str, int, float, list[str], list[_NativeAllow]]


def _native_allow(allow: Allowlist) -> _NativeAllow:
    both = allow.condition == "AND"
    return list(allow.regexes), list(allow.stopwords), allow.regex_target, both


def native_rules(
    rules: Iterable[RedactionRule], allowlists: Iterable[Allowlist]
) -> tuple[list[_NativeRule], list[tuple[_NativeAllow, list[str]]]]:
    """What the extension module takes: what has a regex, and what can allow something."""
    listed: list[_NativeRule] = [
        (
            rule.id,
            rule.regex,
            rule.secret_group,
            rule.entropy,
            list(rule.keywords),
            [_native_allow(allow) for allow in rule.allowlists if allow.can_hold],
        )
        for rule in rules
        if rule.regex
    ]
    everywhere = [
        (_native_allow(allow), list(allow.target_rules)) for allow in allowlists if allow.can_hold
    ]
    return listed, everywhere


# Reading ------------------------------------------------------------------------------------------


def read_rules(toml: str) -> tuple[tuple[RedactionRule, ...], tuple[Allowlist, ...]]:
    """Read a rule file in the form of gitleaks.

    Args:
        toml: The text of the file.

    Returns:
        The rules, and the allowlists that are for all of them.

    Raises:
        RedactionRuleError: It is no TOML, a member has the wrong type, or it asks for what cannot be done
            here: ``[extend]``, required rules.
    """
    try:
        document = _Table(tomllib.loads(toml), "")
    except tomllib.TOMLDecodeError as error:
        raise RedactionRuleError(f"the rules are no TOML: {error}", rule="") from None
    if "extend" in document.members:
        raise RedactionRuleError(
            "[extend] is not supported: a rule file here stands for itself, so put the rules of the "
            "other file into it",
            rule="",
        )
    rules = tuple(
        _rule(table, place) for place, table in enumerate(document.tables("rules"), start=1)
    )
    allowlists = _allowlists(document)
    known = {rule.id for rule in rules}
    for allow in allowlists:
        for target in allow.target_rules:
            if target not in known:
                message = f"an allowlist is for the rule {target!r}, which there is not"
                raise RedactionRuleError(message, rule=target)
    return rules, allowlists


class _Table:
    """A table of the file. Case does not count in its keys, as it does not for gitleaks."""

    def __init__(self, members: Mapping[str, Any], rule: str) -> None:
        self.members = {name.lower(): value for name, value in members.items()}
        self.rule = rule

    def fail(self, message: str) -> RedactionRuleError:
        where = f"rule {self.rule!r}: " if self.rule else ""
        return RedactionRuleError(where + message, rule=self.rule)

    def text(self, name: str) -> str:
        value = self.members.get(name.lower(), "")
        if not isinstance(value, str):
            raise self.fail(f"{name} is a string, not {type(value).__name__}")
        return value

    def number(self, name: str) -> float:
        value = self.members.get(name.lower(), 0)
        if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
            raise self.fail(f"{name} is a number that is not negative")
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        value = self.members.get(name.lower(), [])
        if not isinstance(value, list):
            raise self.fail(f"{name} is a list of strings")
        items = cast("list[object]", value)
        if not all(isinstance(item, str) for item in items):
            raise self.fail(f"{name} is a list of strings")
        return tuple(cast("list[str]", items))

    def tables(self, name: str) -> list[_Table]:
        value = self.members.get(name.lower(), [])
        if not isinstance(value, dict | list):
            raise self.fail(f"{name} is a list of tables")
        items = cast("list[object]", value if isinstance(value, list) else [value])
        if not all(isinstance(item, dict) for item in items):
            raise self.fail(f"{name} is a list of tables")
        return [_Table(item, self.rule) for item in cast("list[dict[str, Any]]", items)]


def _rule(table: _Table, place: int) -> RedactionRule:
    table.rule = f"number {place}"
    id_ = table.text("id")
    if not id_:
        raise table.fail("it has no id")
    table.rule = id_
    if "required" in table.members:
        raise table.fail("required rules are not supported: one rule cannot ask for another here")
    group = table.number("secretGroup")
    if not isinstance(group, int):
        raise table.fail("secretGroup is a whole number")
    return RedactionRule(
        id=id_,
        regex=table.text("regex"),
        description=table.text("description"),
        secret_group=group,
        entropy=float(table.number("entropy")),
        keywords=table.texts("keywords"),
        allowlists=_allowlists(table),
    )


def _allowlists(table: _Table) -> tuple[Allowlist, ...]:
    # The singular is how older files write it.
    both = table.tables("allowlist") + table.tables("allowlists")
    return tuple(_allowlist(each) for each in both)


_CONDITIONS: dict[str, Condition] = {
    "": "OR",
    "or": "OR",
    "||": "OR",
    "and": "AND",
    "&&": "AND",
}
_TARGETS: dict[str, RegexTarget] = {
    "": "secret",
    "secret": "secret",
    "match": "match",
    "line": "line",
}


def _allowlist(table: _Table) -> Allowlist:
    condition = _CONDITIONS.get(table.text("condition").lower())
    if condition is None:
        raise table.fail("the condition of an allowlist is OR or AND")
    target = _TARGETS.get(table.text("regexTarget").lower())
    if target is None:
        raise table.fail("the regexTarget of an allowlist is secret, match or line")
    return Allowlist(
        regexes=table.texts("regexes"),
        stopwords=table.texts("stopwords"),
        regex_target=target,
        condition=condition,
        paths=table.texts("paths"),
        commits=table.texts("commits"),
        target_rules=table.texts("targetRules"),
        description=table.text("description"),
    )
