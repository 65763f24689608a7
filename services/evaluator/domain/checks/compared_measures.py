"""What a sentence says of measures: one against another, the table against its strata."""

import re
from collections.abc import Iterator
from math import log

from services.evaluator.domain.checks.comparison_words import (
    COMPARATIVE,
    LESS,
    NEGATED,
    PRECISION,
    STRATA,
    THAN,
)
from services.evaluator.domain.checks.wording import Wording
from services.evaluator.domain.subjects import measure_of
from shared.contracts import Subject

_OF_MEASURES = re.compile(
    rf"<m:(?P<a>[\w-]+)>(?P<not>[^;<]*?){COMPARATIVE}[^;<]*?(?:{THAN}\s+)?(?:those\s+of\s+"
    rf"|that\s+of\s+|the\s+|its\s+)*<m:(?P<b>[\w-]+)>"
)
_TURNED = re.compile(
    r"\b(?:revers\w+|turns?\s+(?:round|around)|turned\s+(?:round|around)|flips?"
    r"|flipped|opposite|changes?\s+(?:its\s+)?(?:sign|direction)|other\s+way)\b"
)
_KEPT = re.compile(
    r"\b(?:same\s+direction|persists?|remains?|holds?|unchanged"
    r"|keeps?\s+its\s+direction|points?\s+the\s+same\s+way)\b"
)
_WEAKER = re.compile(
    r"\b(?:weaker|weakens?|shrinks?|attenuated?s?|closer\s+to\s+(?:<n\d+>|1|one))\b"
)
_STRONGER = re.compile(r"\b(?:stronger|strengthens?|grows?|further\s+from\s+(?:<n\d+>|1|one))\b")


_OF_TWO = re.compile(
    rf"<m:(?P<a>odds_ratio|relative_risk)>\s+(?:is|was)\s+the\s+{COMPARATIVE}(?:\s+one\b|\s+of\s+the\s+two\b)"
)


def measure_faults(wording: Wording, subject: Subject) -> Iterator[tuple[str, str]]:
    """Return a fault where two measures, or the table and its strata, are compared wrongly."""
    for found in _OF_MEASURES.finditer(wording.pattern):
        a, b = (measure_of(subject, found[side]) for side in "ab")
        if (
            not a
            or not b
            or a.value is None
            or b.value is None
            or a.no_difference != b.no_difference
        ):
            continue
        if PRECISION.search(found["not"]) or NEGATED.search(found["not"]):
            continue
        more = not re.fullmatch(LESS, found["comp"])
        if (a.value > b.value) is not more and a.value != b.value:
            yield "direction", f"The {a.label} and the {b.label} are compared the wrong way round."
    yield from _of_two(wording, subject)
    yield from _strata(wording, subject)


def speaks_of_measures(wording: Wording) -> bool:
    """Whether a sentence is read as comparing measures, or the table with its strata."""
    return any(each.search(wording.pattern) for each in (_OF_MEASURES, _OF_TWO, STRATA))


def _of_two(wording: Wording, subject: Subject) -> Iterator[tuple[str, str]]:
    """Return a fault where one of the two ratios is called the larger and is the smaller."""
    odds, risk = (measure_of(subject, name) for name in ("odds_ratio", "relative_risk"))
    found = _OF_TWO.search(wording.pattern)
    if not found or not odds or not risk or odds.value is None or risk.value is None:
        return
    larger = odds.value > risk.value if found["a"] == "odds_ratio" else risk.value > odds.value
    if larger is bool(re.fullmatch(LESS, found["comp"])) and odds.value != risk.value:
        yield "direction", "The odds ratio and the relative risk are compared the wrong way round."


def _strata(wording: Wording, subject: Subject) -> Iterator[tuple[str, str]]:
    both = (measure_of(subject, name) for name in ("odds_ratio", "odds_ratio_within"))
    values = [each.value for each in both if each and each.value and each.value > 0]
    if len(values) < 2 or not STRATA.search(wording.pattern):
        return
    pattern = wording.pattern
    crude, within = map(log, values)
    turned, weaker = crude * within < 0, abs(within) < abs(crude)
    for words, true in (
        (_TURNED, turned),
        (_KEPT, not turned),
        (_WEAKER, weaker),
        (_STRONGER, not weaker),
    ):
        found = words.search(pattern)
        if (
            found
            and bool(NEGATED.search(pattern[max(0, found.start() - 30) : found.start()])) is true
        ):
            yield "strata", "What strata change is not what the statistics say."
            return
