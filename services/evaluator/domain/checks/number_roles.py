"""What the words around a number say it is: an estimate, a bound, a p-value, a count, a share."""

import re

from biaswatch.services.evaluator.domain.checks import role_words as words
from biaswatch.services.evaluator.domain.checks.facts import NumberRole
from biaswatch.services.evaluator.domain.checks.fixed_numbers import COARSE, fixed_role
from biaswatch.services.evaluator.domain.checks.wording import Wording
from biaswatch.services.evaluator.domain.checks.written_numbers import (
    Unit,
    WrittenNumber,
    starts_of,
)

FOUR_FIFTHS = 0.8
"""The threshold of impact ratios, which is no level."""


def has_outcome(before: str, after: str) -> bool | None:
    """Return whether the words around a number give it the outcome, or deny it."""
    if words.LACKS_BEFORE.search(before):
        return False
    lacks, has = words.LACKS.match(after), words.HAS.match(after)
    if lacks and not (has and has.end() < lacks.end()):
        return False
    return True if has else None


def text_around(wording: Wording, place: int) -> tuple[str, str]:
    """Return the text before a number, from the last one, and behind it, up to the next."""
    number = wording.numbers[place]
    first = wording.numbers[place - 1].end if place else 0
    last = (
        wording.numbers[place + 1].start if place + 1 < len(wording.numbers) else len(wording.text)
    )
    return wording.text[first : number.start], wording.text[number.end : last]


def multiplies(wording: Wording, place: int) -> bool:
    """Return whether the words before a number make it a factor of odds or risks."""
    return bool(words.MULTIPLIED.search(text_around(wording, place)[0]))


def interval_ends(wording: Wording) -> dict[int, NumberRole]:
    """Return which numbers are the ends of an interval."""
    roles: dict[int, NumberRole] = {}
    odds, confident = ("odds" in wording.text.lower()), ("confiden" in wording.text.lower())
    for place in range(len(wording.numbers) - 1):
        before, after = text_around(wording, place)
        if place in roles or not words.JOIN.fullmatch(after):
            continue
        both = wording.numbers[place], wording.numbers[place + 1]
        if both[1].value == 1.0 and both[1].whole and odds:
            continue  # odds of so many to one
        if both[1].unit is Unit.PERCENT and both[0].unit is Unit.PLAIN and "," in after:
            continue  # "OR = 0.84, 95% CI"
        bracketed = words.BRACKET.search(before) and words.CLOSED.match(wording.text, both[1].end)
        spanned = re.fullmatch(r"\s*(?:to|\u2013|\u2014|-)\s*", after) and not both[0].whole
        names_interval = words.INTERVAL.search(before[-60:]) and _speaks_of_interval(wording)
        cued = (spanned and (_speaks_of_interval(wording) or wording.measures)) or (
            names_interval and (confident or not starts_of(words.NO_INTERVAL, wording.text))
        )
        counts = all(number.whole for number in both) and not cued
        if (bracketed or cued) and not counts and not words.P.search(before):
            roles[place], roles[place + 1] = NumberRole.LOW, NumberRole.HIGH
    return roles


def _speaks_of_interval(wording: Wording) -> bool:
    """Tell whether "from ... to" may be an interval: one is named, or a measure and no group is."""
    named = bool(starts_of(words.INTERVAL_NOUN, wording.text))
    return named or (bool(wording.measures) and not wording.groups) or not wording.groups


def roles_of(
    wording: Wording, place: int, pairs: dict[int, NumberRole]
) -> tuple[tuple[NumberRole, ...], str]:
    """Return what a number may be, by the words around it; and how a p-value is compared."""
    number = wording.numbers[place]
    before, after = text_around(wording, place)
    if _level(number, before, after):
        return (NumberRole.LEVEL,), "="
    if fixed := fixed_role(number, before, after, wording.text):
        return (fixed,), "="
    if match := words.P.search(before):
        return _p_roles(match[0])
    if named := pairs.get(place) or _named(number, before, after, wording.text):
        return (named,), "="
    neutral = words.NEUTRAL_BEFORE.search(before) or words.NEUTRAL_AFTER.match(after)
    if neutral and number.value in {0.0, 1.0} and number.step >= COARSE:
        return (NumberRole.NEUTRAL, NumberRole.VALUE, NumberRole.COUNT), "="
    return _measured_roles(number, before, after, wording.text), "="


def _named(number: WrittenNumber, before: str, after: str, text: str) -> NumberRole | None:
    share = number.unit is Unit.PLAIN and number.value < 1
    cues = (
        (NumberRole.P, share and words.P_AFTER.match(after)),
        (NumberRole.LOW, words.LOWER.search(before)),
        (NumberRole.HIGH, words.UPPER.search(before)),
        (NumberRole.LOW, not number.whole and words.AT_LEAST.search(before)),
        (NumberRole.HIGH, not number.whole and words.AT_MOST.search(before)),
        (NumberRole.LOW, starts_of(words.BOUNDS, text) and words.LOW_AFTER.match(after)),
        (NumberRole.HIGH, starts_of(words.BOUNDS, text) and words.HIGH_AFTER.match(after)),
        (NumberRole.FREEDOM, words.FREEDOM.match(after) or words.FREEDOM_BEFORE.search(before)),
    )
    return next((role for role, present in cues if present), None)


def _level(number: WrittenNumber, before: str, after: str) -> bool:
    value = number.value / 100 if number.unit is Unit.PERCENT else number.value
    if not 0 < value < 1 or value == FOUR_FIFTHS:
        return False
    named = words.LEVEL_AFTER.match(after) or words.LEVEL_BEFORE.search(before)
    return bool(named) and not (words.P.search(before) and not words.LEVEL_AFTER.match(after))


def _p_roles(sign: str) -> tuple[tuple[NumberRole, ...], str]:
    if words.LESS.search(sign):
        return (NumberRole.P,), "<"
    return (NumberRole.P,), ">" if words.MORE.search(sign) else "="


def _measured_roles(
    number: WrittenNumber, before: str, after: str, text: str
) -> tuple[NumberRole, ...]:
    if number.unit is Unit.TIMES:
        return (NumberRole.VALUE, NumberRole.CHANGE, NumberRole.INVERSE)
    if number.unit is Unit.POINTS:
        return (NumberRole.VALUE,)
    if number.unit is Unit.PERCENT:
        return _percent_roles(before, after, text)
    if number.whole:
        return _whole_roles(before, after)
    if words.THRESHOLD.search(before[-60:] + after[:60]):
        return (NumberRole.VALUE, NumberRole.RATE, NumberRole.THRESHOLD)
    if starts_of(words.CHANCE, text) and re.search(
        r"(?:\b(?:probability|likelihood|chance)(?:\s+(?:of|is|around|about|roughly|near|at))*|\bis)\s*$",
        before,
        re.IGNORECASE,
    ):
        return (NumberRole.P,)
    chance = (
        (NumberRole.P,) if starts_of(words.CHANCE, text) or starts_of(words.OF_TEST, text) else ()
    )
    if starts_of(words.RATE, text):
        return (*chance, NumberRole.RATE, NumberRole.VALUE)
    return (*chance, NumberRole.VALUE)


def _percent_roles(before: str, after: str, text: str) -> tuple[NumberRole, ...]:
    if words.CHANGE.match(after) or words.CHANGE_BEFORE.search(before):
        return (NumberRole.CHANGE, NumberRole.VALUE)
    if starts_of(words.CHANCE, text):
        chance = re.match(r"\s+(?:chance|probability|likelihood)\b", after)
        if chance or words.OF_SAMPLES.match(after):
            return (NumberRole.P,)
    threshold = (NumberRole.THRESHOLD,) if starts_of(words.THRESHOLD, text) else ()
    sample = (NumberRole.SAMPLE,) if starts_of(words.SAMPLE, text) else ()
    inverse = (NumberRole.INVERSE,) if words.AS_MUCH.match(after) else ()
    return (NumberRole.RATE, NumberRole.VALUE, *inverse, *threshold, *sample)


def _whole_roles(before: str, after: str) -> tuple[NumberRole, ...]:
    of_all = words.OF_ALL.search(before) and words.CASES.match(after)
    is_total = words.TOTAL_BEFORE.search(before) and not words.TOTAL_AFTER.match(before)
    if of_all or words.TOTAL_AFTER.match(after) or is_total:
        return (NumberRole.TOTAL,)
    if words.LEAST.search(before[-30:] + after[:30]):
        return (NumberRole.LEAST, NumberRole.COUNT)
    return (
        (NumberRole.COUNT, NumberRole.VALUE)
        if words.APPROXIMATE.search(before)
        else (NumberRole.COUNT,)
    )
