"""Redaction of personal data, replaced by the name of its pattern.

All repeats are bounded, so that the time is linear in the length of the text.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from re import _constants as parts  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

MAX_REPEATS = 256
"""Largest bound of a repeat in a custom pattern."""
MAX_WAYS = 1_000
"""Ways for a custom pattern to match at one position."""
MAX_NESTED_REPEATS = 20
"""Nested repeats beyond this exceed MAX_WAYS in any case."""
Accepts = Callable[[str], bool]


def _digits(text: str) -> list[int]:
    return [int(character) for character in text if character.isdecimal()]


def is_card_number(text: str) -> bool:
    """Tell whether digits are a payment card number (ISO/IEC 7812, Luhn)."""
    digits = _digits(text)
    doubled = [d * 2 - 9 * (d > 4) for d in digits[-2::-2]]
    return len(digits) >= 13 and (sum(doubled) + sum(digits[-1::-2])) % 10 == 0


def is_iban(text: str) -> bool:
    """Tell whether characters are an account number (ISO 13616, modulo 97)."""
    compact = "".join(text.split()).upper()
    rotated = compact[4:] + compact[:4]
    return int("".join(str(int(character, 36)) for character in rotated)) % 97 == 1


def is_phone_number(text: str) -> bool:
    """Tell whether a text has as many digits as a phone number (ITU E.164, at most 15)."""
    return 8 <= len(_digits(text)) <= 15


@dataclass(frozen=True)
class Pattern:
    """A pattern, and a check of its matches."""

    name: str
    expression: re.Pattern[str]
    accepts: Accepts = bool


BUILT_IN: Mapping[str, Pattern] = {
    pattern.name: pattern
    for pattern in (
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
"""In the order of their application, longer ones first."""


@dataclass
class RedactedText:
    """A redacted text, and the number of matches of each pattern."""

    text: str
    counts: Counter[str] = field(default_factory=Counter)


def redact(text: str, patterns: Sequence[Pattern]) -> RedactedText:
    """Return a text with each match replaced by the name of its pattern: `[email]`."""
    redacted = RedactedText(text)
    for pattern in patterns:
        replace = partial(_replacement, pattern, redacted.counts)
        redacted.text = pattern.expression.sub(replace, redacted.text)
    return redacted


def _replacement(pattern: Pattern, counts: Counter[str], match: re.Match[str]) -> str:
    if not pattern.accepts(match[0]):
        return match[0]
    counts[pattern.name] += 1
    return f"[{pattern.name}]"


def own_pattern(name: str, expression: str) -> Pattern:
    """Return the custom pattern of an operator.

    Raises
    ------
    ValueError
        The expression is invalid, matches the empty text, or may take more than linear time: a
        repeat has no bound, or there are too many ways to match.
    """
    try:
        compiled = re.compile(expression)
        tree = parser.parse(expression)
    except re.error as error:
        raise ValueError(f"it is not a regular expression ({error.msg})") from None
    if _ways(tree) > MAX_WAYS:
        raise ValueError(
            f"it can match in more than {MAX_WAYS} ways at one position, which takes too long: use"
            f" smaller bounds, {{1,20}} rather than {{1,{MAX_REPEATS}}}, and nest no repeats"
        )
    if compiled.match("") is not None:
        raise ValueError("it matches the empty text")
    return Pattern(name, compiled)


def _ways(tree: Any) -> int:
    """Return the maximum number of ways for a pattern to match at one position."""
    ways = 1
    for operation, argument in tree:
        if operation in {parts.GROUPREF, parts.GROUPREF_EXISTS}:
            raise ValueError("it refers back to a group, which may take too long")
        ways = min(ways * _ways_of(operation, argument), MAX_WAYS * 2)
    return ways


def _ways_of(operation: Any, argument: Any) -> int:
    if operation in {parts.MAX_REPEAT, parts.MIN_REPEAT, parts.POSSESSIVE_REPEAT}:
        low, high, inner = argument
        if high is parts.MAXREPEAT or high > MAX_REPEATS:
            raise ValueError(
                f"a repeat has no bound up to {MAX_REPEATS}: write {{1,20}} instead of + and"
                " {0,20} instead of *"
            )
        nested = min(int(high), MAX_NESTED_REPEATS)
        return int((high - low + 1) * _ways(inner) ** nested)
    if operation is parts.BRANCH:
        return sum(_ways(branch) for branch in argument[1])
    if operation is parts.SUBPATTERN:
        return _ways(argument[-1])
    if operation in {parts.ASSERT, parts.ASSERT_NOT}:
        return _ways(argument[1])
    return _ways(argument) if operation is parts.ATOMIC_GROUP else 1
