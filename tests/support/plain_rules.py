"""Secret rules, applied as plainly as possible with Python's `re`: the peer of the core's search."""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from turntape import Allowlist, RedactionRule


def from_re2(pattern: str) -> str:
    r"""What `re` calls otherwise: the end of the text, `$` without the flag `m`, is `\\Z`."""
    pieces = re.findall(r"\\.|\[\^?\]?(?:\[:\w+:\]|\\.|[^\]\\])*\]|.", pattern, re.DOTALL)
    multiline = pattern.startswith("(?m")
    return "".join(r"\Z" if piece == "$" and not multiline else piece for piece in pieces)


def compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(from_re2(pattern), re.ASCII)


def entropy(secret: str) -> float:
    shares = (count / len(secret) for count in Counter(secret).values())
    return -sum(share * math.log2(share) for share in shares)


class PlainAllowlist:
    def __init__(self, allow: Allowlist) -> None:
        self.regexes = [compiled(each) for each in allow.regexes]
        self.stopwords = [word.lower() for word in allow.stopwords]
        self.allow = allow

    def allows(self, text: str, found: re.Match[str], secret: str) -> bool:
        looks_at = secret
        if self.allow.regex_target == "match":
            looks_at = found.group()
        elif self.allow.regex_target == "line":
            start = text.rfind("\n", 0, found.start()) + 1
            end = text.find("\n", found.end())
            looks_at = text[start : len(text) if end < 0 else end]
        checks: list[bool] = []
        if self.regexes:
            checks.append(any(each.search(looks_at) for each in self.regexes))
        if self.stopwords:
            checks.append(any(word in secret.lower() for word in self.stopwords))
        if self.allow.condition == "OR":
            return any(checks)
        if self.allow.paths or self.allow.commits:
            checks.append(False)
        return bool(checks) and all(checks)


class PlainRule:
    def __init__(self, rule: RedactionRule) -> None:
        self.rule = rule
        self.regex = compiled(rule.regex)
        self.keywords = [word.lower() for word in rule.keywords]
        self.allowlists = [PlainAllowlist(allow) for allow in rule.allowlists]

    def secrets(self, text: str, lower: str) -> Iterator[tuple[int, int]]:
        if self.keywords and not any(word in lower for word in self.keywords):
            return
        rule = self.rule
        for found in self.regex.finditer(text):
            group = next((at for at in range(1, self.regex.groups + 1) if found.group(at)), 0)
            if rule.secret_group and found.group(rule.secret_group):
                group = rule.secret_group
            secret = found.group(group)
            if not secret or (rule.entropy and entropy(secret) <= rule.entropy):
                continue
            if not any(allow.allows(text, found, secret) for allow in self.allowlists):
                yield found.span(group)


class PlainRedactor:
    """What `SecretRedactor` does, with `str.lower`, `in` for the keywords, and `re.finditer`."""

    def __init__(self, rules: Iterable[RedactionRule]) -> None:
        self.rules = [PlainRule(rule) for rule in rules if rule.regex]

    def find(self, text: str) -> list[tuple[int, int, str]]:
        # One copy in lower case for the keywords of all rules.
        lower = text.lower()
        spans = [
            (start, -end, place)
            for place, rule in enumerate(self.rules)
            for start, end in rule.secrets(text, lower)
        ]
        united: list[tuple[int, int, str]] = []
        for start, minus_end, place in sorted(spans):
            if united and start < united[-1][1]:
                first, end, rule = united[-1]
                united[-1] = (first, max(end, -minus_end), rule)
            else:
                united.append((start, -minus_end, self.rules[place].rule.id))
        return united

    def redact(self, text: str) -> str:
        pieces: list[str] = []
        at = 0
        for start, end, rule in self.find(text):
            pieces += (text[at:start], f"[REDACTED:{rule}]")
            at = end
        return "".join((*pieces, text[at:]))
