"""What a sentence says of who has more: one group against the other.

Only what is bound beyond doubt counts: who has more, than whom, and of what. A sentence whose
clauses contradict one another, or that leaves one of the three open, says nothing here.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from biaswatch.services.evaluator.domain.checks.compared_groups import OUTRIGHT, compared_groups
from biaswatch.services.evaluator.domain.checks.comparison_words import (
    BAD,
    GOOD,
    NEGATED,
    QUANTITY,
    STRATA,
    WITHOUT,
)
from biaswatch.services.evaluator.domain.checks.denials import is_called_false
from biaswatch.services.evaluator.domain.checks.group_arithmetic import arithmetic_signs
from biaswatch.services.evaluator.domain.checks.wording import Wording
from biaswatch.services.evaluator.domain.checks.written_numbers import Unit
from biaswatch.services.evaluator.domain.subjects import measure_of
from biaswatch.shared.contracts import Subject

_OUTRIGHT = re.compile(
    r"^\W*(?:our\s+reading\s*:\s*)?<g[01]>\s+(?:less|more)\b|\bahead\s+of\s+<g|\bin\s+proportion\b"
)
_TIMES_AS = re.compile(
    r"<g(?P<group>[01])>[^;<]*?<n(?P<number>\d+)>\s*(?:times\s+)?(?:as|the)\s+[^;<]*?"
    r"\b(?:as|of|for)\s+(?:(?:those|that)\s+(?:of|for)\s+|the\s+|for\s+|among\s+)*<g[01]>"
)
"""So many times as likely as, so many times the odds of."""
_BOTH = re.compile(r"\b(?:whether|both|either)\b[^;]*\b(?:pooled|crude|overall|unadjusted|raw)\b")
_FAVOURS = re.compile(
    r"\b(?P<verb>(?:dis)?(?:favou?r|advantage)\w*|benefit\w*|in\s+favou?r\s+of"
    r"|to\s+the\s+(?:dis)?advantage\s+of|to\s+the\s+detriment\s+of|penali[sz]\w*"
    r"|against)\s+(?:the\s+)?<g(?P<x>[01])>"
)
_PARTS = re.compile(r";|,?\s+\b(?:but|whereas|while|although|though|yet|however)\b|,\s+and\b")
_ODDS, _RATES = (
    re.compile(r"\bodds\b|<m:odds_ratio>"),
    re.compile(
        r"\b(?:risks?|rates?|shares?|chances?|probabilit\w+|proportions?)\b|<m:relative_risk>"
    ),
)
_NUMBERS_FAVOUR = re.compile(
    r"\b(?:odds|rates?|shares?|chances?|probabilit\w+|likelihood|risks?|proportions?|ratios?|<m:[\w-]+>|estimates?|direction|sign)\b[^;,]*$"
)
"""What favours a group by being higher for it, be the outcome good or bad."""
_DISFAVOURS = re.compile(r"disfavou?r|disadvantage|detriment|penali|against")


@dataclass(frozen=True)
class StatedDirection:
    """That one group has more."""

    sign: int
    """1 where the first group is said to have more, -1 where the second is."""
    pooled: bool = True
    within: bool = False
    """True if it is said of the whole table, and within strata."""


def direction_faults(wording: Wording, subject: Subject) -> Iterator[tuple[str, str]]:
    """Return a fault where a group is said to have more that has less, or is favoured."""
    claims = stated_directions(wording, subject)
    if _ratios_apart(wording, subject):
        yield "direction", "Odds and rates are said to point apart, but they do not."
        return
    if not claims:
        yield from _favoured(wording, subject)
        return
    false = is_called_false(wording.pattern, len(wording.pattern))
    for claim in claims:
        wrong = any(claim.sign != truth for truth in _truths(claim, subject))
        if wrong is not false and any(_truths(claim, subject)):
            message = "What the statistics show is called false."
            yield "direction", message if false else "The groups are compared the wrong way round."
            return


def _ratios_apart(wording: Wording, subject: Subject) -> bool:
    """Tell whether one group is said to have higher odds, and the other the higher rate."""
    pattern = wording.pattern
    if STRATA.search(pattern) or "in conflict" in " ".join(subject.notes) or not subject.counts:
        return False
    signs: dict[bool, set[int]] = {True: set(), False: set()}
    last: int | None = None
    for part in _PARTS.split(pattern):
        of_odds, of_rates = bool(_ODDS.search(part)), bool(_RATES.search(part))
        claim = part.replace("their", f"<g{last}>") if last is not None else part
        compared = _compared(claim, subject)
        named = re.search(r"<g([01])>", part)
        last = int(named[1]) if named else last
        if of_odds is not of_rates:
            signs[of_odds] |= {*compared}
    return bool(signs[True] and signs[False] and not signs[True] & signs[False])


def stated_directions(wording: Wording, subject: Subject) -> list[StatedDirection]:
    """Return who is said to have more: of the whole table, within strata, or of both in turn."""
    pattern = wording.pattern.replace("<m:mean_1>", "mean of <g0>").replace(
        "<m:mean_2>", "mean of <g1>"
    )
    parts = pattern.split(";") if STRATA.search(pattern) else [pattern]
    directions: list[StatedDirection] = []
    if QUANTITY.search(pattern) or _OUTRIGHT.search(pattern) or OUTRIGHT.search(pattern):
        for part in parts:
            within = bool(STRATA.search(part))
            pooled = not within or bool(_BOTH.search(part))
            directions += [
                StatedDirection(sign, pooled, within) for sign in _compared(part, subject)[:1]
            ]
    return directions or [StatedDirection(sign) for sign in _divided(wording, subject)]


def _compared(pattern: str, subject: Subject) -> list[int]:
    """Return the signs of first minus second group that comparisons of a part of a sentence state."""
    compared = []
    for comparison in compared_groups(pattern):
        sign = 1 if (comparison.group == 0) is comparison.more else -1
        claim = pattern[comparison.start : comparison.end]
        compared.append(-sign if _is_opposite(claim, subject) else sign)
    return compared


def _divided(wording: Wording, subject: Subject) -> Iterator[int]:
    """Return the sign of first minus second group that a factor, or the side of a ratio, states."""
    if match := _TIMES_AS.search(wording.pattern):
        number = wording.numbers[int(match["number"])]
        if number.unit in {Unit.TIMES, Unit.PLAIN}:
            sign = (1 if number.value > 1 else -1) * (1 if match["group"] == "0" else -1)
            claim = match[0] + wording.pattern[match.end() : match.end() + 40]
            yield -sign if _is_opposite(claim, subject) else sign
    else:
        yield from arithmetic_signs(wording)


def _is_opposite(claim: str, subject: Subject) -> bool:
    """Tell whether what is said is the opposite of the outcome that was counted."""
    outcome = _valence(f"{subject.outcome} {subject.value}".lower())
    opposite = bool(WITHOUT.search(claim))
    mentioned = _valence(claim)
    if mentioned and outcome:
        return (mentioned != outcome) is not opposite
    return opposite


def _valence(words: str) -> int:
    bad, good = (len(re.findall(pattern, words)) for pattern in (BAD, GOOD))
    return 0 if bool(bad) is bool(good) else (1 if good else -1)


def _favoured(wording: Wording, subject: Subject) -> Iterator[tuple[str, str]]:
    outcome = _valence(f"{subject.outcome} {subject.value}".lower())
    truth = _pooled_sign(subject)
    for match in _FAVOURS.finditer(wording.pattern) if outcome and truth else ():
        if match["verb"] == "against" and not re.search(
            r"disparit|bias|works|discriminat", wording.pattern
        ):
            continue
        if NEGATED.search(wording.pattern[max(0, match.start() - 40) : match.start()]):
            continue
        sign = 1 if match["x"] == "0" else -1
        favoured = -sign if _DISFAVOURS.search(match["verb"]) else sign
        if _NUMBERS_FAVOUR.search(wording.pattern[: match.start()]):
            if favoured != truth:
                yield "direction", "The groups are compared the wrong way round."
            return
        if favoured * outcome != truth:
            yield "direction", "The group that is said to be favoured is the other one."
            return


def _truths(claim: StatedDirection, subject: Subject) -> list[int]:
    """Return the signs that a claim is about, where the subject has them."""
    within = measure_of(subject, "odds_ratio_within")
    signs = [_of(within.value, 1.0)] if claim.within and within else []
    if claim.pooled or not signs:
        signs.append(_pooled_sign(subject))
    return [sign for sign in signs if sign is not None]


def _pooled_sign(subject: Subject) -> int | None:
    """Return the sign of first minus second group in the whole table, or of the means."""
    for name, neutral in (("relative_risk", 1.0), ("odds_ratio", 1.0), ("gap", 0.0)):
        if measure := measure_of(subject, name):
            return _of(measure.value, neutral)
    return None


def _of(value: float | None, neutral: float) -> int | None:
    return None if value is None else (value > neutral) - (value < neutral)
