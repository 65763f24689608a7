"""What a sentence says of who has more: one group against the other."""

import re
from collections.abc import Iterator

from services.evaluator.domain.checks.compared_groups import OUTRIGHT, compared_groups
from services.evaluator.domain.checks.comparison_words import (
    BAD,
    GOOD,
    LESS,
    NEGATED,
    QUANTITY,
    STRATA,
    WITHOUT,
)
from services.evaluator.domain.checks.denials import is_called_false
from services.evaluator.domain.checks.significance import is_significant
from services.evaluator.domain.checks.wording import Wording
from services.evaluator.domain.checks.written_numbers import Unit
from services.evaluator.domain.subjects import measure_of
from shared.contracts import Subject

_OUTRIGHT = re.compile(
    r"^\W*(?:our\s+reading\s*:\s*)?<g[01]>\s+(?:less|more)\b|\bahead\s+of\s+<g|\bin\s+proportion\b"
)
_IN_PROPORTION = re.compile(
    r"\bproportion|\brelatively\b|\bin\s+terms\s+of\b|\brates?\b|\bin\s+relation\s+to\b|\bshare\b"
)
_COUNTS = re.compile(r"\boutnumber")
_AS_LIKELY = re.compile(
    r"<g(?P<x>[01])>(?P<not>[^;<]*?)<n(?P<n>\d+)>\s*(?:times\s+)?(?:as"
    r"|the)\s+(?P<what>[^;<]*?)(?:\bas\b|\bof\b|\bfor\b)\s+(?:those\s+of\s+"
    r"|that\s+of\s+|that\s+for\s+|the\s+|for\s+|among\s+)*<g(?P<y>[01])>"
)
_FEWER = re.compile(rf"^{LESS}$|trail|lag|behind|below|short")
_FAVOURS = re.compile(
    r"\b(?P<verb>(?:dis)?(?:favou?r|advantage)\w*|benefit\w*|in\s+favou?r\s+of"
    r"|to\s+the\s+(?:dis)?advantage\s+of|to\s+the\s+detriment\s+of|penali[sz]\w*"
    r"|against)\s+(?:the\s+)?<g(?P<x>[01])>"
)
_DISFAVOURS = re.compile(r"disfavou?r|disadvantage|detriment|penali|against")


def direction_faults(wording: Wording, subject: Subject) -> Iterator[tuple[str, str]]:
    """Return a fault where a group is said to have more that has less, or is favoured."""
    truth = _sign(wording, subject)
    if truth is None:
        return
    claims = stated_directions(wording, subject)
    if not claims:
        yield from _favoured(wording, subject, truth)
        return
    significant = bool(is_significant(subject, None, wording.pattern))
    false = bool(truth) and is_called_false(wording.pattern, len(wording.pattern))
    for claimed, denied, counts in claims:
        if real := _count_sign(subject) if counts else {truth}:
            said = _wrong(claimed in real, denied=denied, false=false, significant=significant)
            if said:
                yield "direction", said
                return


def _wrong(true: bool, *, denied: bool, false: bool, significant: bool) -> str | None:
    """Say what is wrong with a comparison that is made, denied, or called false."""
    if false and not denied:
        return "What the statistics show is called false." if true else None
    if not denied:
        return None if true else "The groups are compared the wrong way round."
    return "A difference is denied that the statistics show." if true and significant else None


def stated_directions(wording: Wording, subject: Subject) -> list[tuple[int, bool, bool]]:
    """Return the sign of first minus second group that is said, whether denied, whether of counts.

    Fixed forms of comparison go first; what they do not find is bound clause by clause.
    """
    return _compared(wording, subject) or list(_claims(wording, subject))


def _compared(wording: Wording, subject: Subject) -> list[tuple[int, bool, bool]]:
    pattern = wording.pattern
    if not QUANTITY.search(pattern) and not (_OUTRIGHT.search(pattern) or OUTRIGHT.search(pattern)):
        return []
    found = []
    for each in compared_groups(pattern):
        sign = 1 if (each.group == 0) is each.more else -1
        said = pattern[each.start : each.end]
        found.append((-sign if _is_opposite(said, subject) else sign, False, False))
    return found[:1]


def _claims(wording: Wording, subject: Subject) -> Iterator[tuple[int, bool, bool]]:
    """Return the sign of first minus second group that is said, whether denied, whether of counts."""
    for found in _AS_LIKELY.finditer(wording.pattern):
        number = wording.numbers[int(found["n"])]
        if number.unit is Unit.TIMES or number.unit is Unit.PLAIN:
            yield _turned(1 if number.value > 1 else -1, found, subject), False, False
            return


def _turned(more: int, found: re.Match[str], subject: Subject) -> int:
    """Return a claim as the sign of the first minus the second group, for the outcome counted."""
    what = found.groupdict().get("what") or ""
    tail = found.string[
        found.end("comp") if "comp" in found.groupdict() else found.start() : found.end() + 40
    ]
    sign = more if found["x"] == "0" else -more
    said = (
        tail if "comp" in found.groupdict() else what + found.string[found.end() : found.end() + 40]
    )
    return -sign if _is_opposite(said, subject) else sign


def _is_opposite(said: str, subject: Subject) -> bool:
    """Whether what is said is the opposite of the outcome that was counted."""
    outcome = _valence(f"{subject.outcome} {subject.value}".lower())
    opposite = bool(WITHOUT.search(said))
    mentioned = _valence(said)
    if mentioned and outcome:
        return (mentioned != outcome) is not opposite
    return opposite


def _valence(words: str) -> int:
    bad, good = (len(re.findall(pattern, words)) for pattern in (BAD, GOOD))
    return 0 if bool(bad) is bool(good) else (1 if good else -1)


def _favoured(wording: Wording, subject: Subject, truth: int) -> Iterator[tuple[str, str]]:
    outcome = _valence(f"{subject.outcome} {subject.value}".lower())
    for found in _FAVOURS.finditer(wording.pattern):
        if not outcome or (
            found["verb"] == "against"
            and not re.search(r"disparit|bias|works|discriminat", wording.pattern)
        ):
            continue
        if NEGATED.search(wording.pattern[max(0, found.start() - 40) : found.start()]):
            continue
        sign = 1 if found["x"] == "0" else -1
        favoured = -sign if _DISFAVOURS.search(found["verb"]) else sign
        if favoured * outcome != truth:
            yield "direction", "The group that is said to be favoured is the other one."
            return


def _sign(wording: Wording, subject: Subject) -> int | None:
    """Return the sign of first minus second group, within strata where the sentence says so."""
    if STRATA.search(wording.pattern) and (within := measure_of(subject, "odds_ratio_within")):
        return _of(within.value, 1.0)
    for name, neutral in (("relative_risk", 1.0), ("odds_ratio", 1.0), ("gap", 0.0)):
        if found := measure_of(subject, name):
            return _of(found.value, neutral)
    return None


def _of(value: float | None, neutral: float) -> int | None:
    return None if value is None else (value > neutral) - (value < neutral)


def _count_sign(subject: Subject) -> set[int]:
    """Return the signs that a comparison of counts may have: of those with the outcome, or of all."""
    if len(subject.counts) != 4:
        return set()
    a, b, c, d = subject.counts
    return {(a > c) - (a < c), (a + b > c + d) - (a + b < c + d), (b > d) - (b < d)}
