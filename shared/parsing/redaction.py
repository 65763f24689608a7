"""Redaction: what names or reaches a person becomes a mark that says what was there; pure.

Every pattern is tried once at each place with bounded repeats, so that the time grows with the
length of the text, whatever is in it.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from re import _constants as parts  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

MOST_REPEATS = 256
"""The largest bound of a repeat in a pattern of one's own."""
MOST_WAYS = 1_000
"""How many ways a pattern of one's own may have to match at one place."""
MOST_NESTED = 20
"""So many repeats of what has two ways are far too many; more need not be computed."""
Accepts = Callable[[str], bool]


def _digits(text: str) -> list[int]:
    return [int(each) for each in text if each.isdecimal()]


def is_card_number(text: str) -> bool:
    """Tell whether digits are those of a payment card (ISO/IEC 7812: Luhn's sum)."""
    digits = _digits(text)
    doubled = [d * 2 - 9 * (d > 4) for d in digits[-2::-2]]
    return len(digits) >= 13 and (sum(doubled) + sum(digits[-1::-2])) % 10 == 0


def is_iban(text: str) -> bool:
    """Tell whether characters are those of an account number (ISO 13616: remainder 1 of 97)."""
    found = "".join(text.split()).upper()
    moved = found[4:] + found[:4]
    return int("".join(str(int(each, 36)) for each in moved)) % 97 == 1


def is_phone_number(text: str) -> bool:
    """Tell whether there are as many digits as a phone number has (ITU E.164: 15 at most)."""
    return 8 <= len(_digits(text)) <= 15


@dataclass(frozen=True)
class Pattern:
    """What is looked for, and what tells it from what only looks like it."""

    name: str
    expression: re.Pattern[str]
    accepts: Accepts = bool


BUILT_IN: Mapping[str, Pattern] = {
    each.name: each
    for each in (
        Pattern(
            "email",
            re.compile(
                r"(?<![\w.%+-])[\w.%+-]{1,64}+@(?:[A-Za-z0-9-]{1,63}+\.){1,8}[A-Za-z]{2,24}(?!\w)"
            ),
        ),
        Pattern(
            "iban",
            re.compile(r"(?<!\w)[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}+(?: ?[A-Z0-9]{1,3})?(?!\w)"),
            is_iban,
        ),
        Pattern("card", re.compile(r"(?<![\w.-])\d(?:[ -]?\d){12,18}+(?!\w)"), is_card_number),
        Pattern(
            "ip_address",
            re.compile(
                r"(?<![\w.])(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)"
                r"(?![\w]|\.\d)"
            ),
        ),
        Pattern(
            "phone",
            re.compile(r"(?<![\w.+-])(?:\+|\(?0)(?:[ ()/.-]{0,2}\d){7,15}+(?!\w)"),
            is_phone_number,
        ),
    )
}
"""In the order in which they are looked for: what is longer first."""


@dataclass
class RedactedText:
    """A text without what was found, and how often each pattern was."""

    text: str
    counts: Counter[str] = field(default_factory=Counter)


def redact(text: str, patterns: Sequence[Pattern]) -> RedactedText:
    """Return a text in which what a pattern finds is replaced by the pattern's name, `[email]`."""
    found = RedactedText(text)
    for each in patterns:
        found.text = each.expression.sub(lambda match: _replaced(each, match, found), found.text)  # noqa: B023
    return found


def _replaced(pattern: Pattern, match: re.Match[str], found: RedactedText) -> str:
    if not pattern.accepts(match[0]):
        return match[0]
    found.counts[pattern.name] += 1
    return f"[{pattern.name}]"


def own_pattern(name: str, written: str) -> Pattern:
    """Return a pattern that an operator wrote.

    Raises
    ------
    ValueError
        It is no regular expression, matches nothing at all, or its time could grow faster than the
        text: a repeat has no bound, or there are too many ways to match.
    """
    try:
        expression = re.compile(written)
        tree = parser.parse(written)
    except re.error as error:
        raise ValueError(f"it is no regular expression ({error.msg})") from None
    if _ways(tree) > MOST_WAYS:
        raise ValueError(
            f"it can match in more than {MOST_WAYS} ways at one place, which takes too long: use"
            f" smaller bounds, {{1,20}} rather than {{1,{MOST_REPEATS}}}, and nest no repeats"
        )
    if expression.match("") is not None:
        raise ValueError("it matches where nothing is")
    return Pattern(name, expression)


def _ways(tree: Any) -> int:
    """Return in how many ways a pattern may match at one place, at most."""
    ways = 1
    for operation, given in tree:
        if operation in {parts.GROUPREF, parts.GROUPREF_EXISTS}:
            raise ValueError("it refers back to a group, which may take too long")
        ways = min(ways * _ways_of(operation, given), MOST_WAYS * 2)
    return ways


def _ways_of(operation: Any, given: Any) -> int:
    if operation in {parts.MAX_REPEAT, parts.MIN_REPEAT, parts.POSSESSIVE_REPEAT}:
        least, most, inner = given
        if most is parts.MAXREPEAT or most > MOST_REPEATS:
            raise ValueError(
                f"a repeat has no bound up to {MOST_REPEATS}: write {{1,20}} instead of + and"
                " {0,20} instead of *"
            )
        nested = min(int(most), MOST_NESTED)
        return int((most - least + 1) * _ways(inner) ** nested)
    if operation is parts.BRANCH:
        return sum(_ways(branch) for branch in given[1])
    if operation is parts.SUBPATTERN:
        return _ways(given[-1])
    if operation in {parts.ASSERT, parts.ASSERT_NOT}:
        return _ways(given[1])
    return _ways(given) if operation is parts.ATOMIC_GROUP else 1
