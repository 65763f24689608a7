"""Slots: names of the numbers of a subject, and their text in the house style.

A writer names a slot, as in `{odds_ratio.estimate}`, and code writes the number. Ratios and
differences have three decimals, p-values four, shares one; differences of shares are in percentage
points.
"""

import re
from collections.abc import Iterator

from biaswatch.services.evaluator.domain.subjects import (
    TESTS,
    cases_of,
    decimal,
    interval_of,
    level_of,
    measure_of,
    p_text,
)
from biaswatch.shared.contracts import Measure, Subject
from biaswatch.shared.parsing.texts import one_line

SLOT = re.compile(r"\{([^{}\n]{1,120})\}")
"""A slot in a text."""
NAMES = ("name", "outcome", "value")
"""Last parts of slots that are rendered as words."""
_KEY = re.compile(r"[^a-z0-9]+")
MAX_KEY_CHARS = 40


def group_keys(subject: Subject) -> tuple[str, str]:
    """Return the names of both groups in slots and claims: letters, digits and underscores."""
    keys = [_KEY.sub("_", group.casefold()).strip("_")[:MAX_KEY_CHARS] for group in subject.groups]
    if not all(keys) or keys[0] == keys[1]:
        return "first", "second"
    return keys[0], keys[1]


def slots_of(subject: Subject) -> dict[str, str]:
    """Return the text of every slot of a subject, by its name.

    Examples
    --------
    >>> from biaswatch.shared.contracts import Subject
    >>> subject = Subject(outcome="loan", value="granted", groups=("men", "women"),
    ...                   counts=(30, 70, 20, 80), cases=200, measures=())
    >>> slots_of(subject)["groups.women.share"]
    '20.0%'
    """
    return dict(_slots(subject))


def _slots(subject: Subject) -> Iterator[tuple[str, str]]:
    yield "outcome", one_line(subject.outcome)
    yield "value", one_line(subject.value)
    yield "cases", f"{subject.cases:,}"
    yield "cases_least", f"{subject.cases_least:,}"
    yield "level", level_of(subject)
    yield "alpha", f"{subject.alpha:g}"
    if subject.tolerance is not None:
        yield "tolerance", f"{subject.tolerance:g}"
    if subject.comparisons is not None:
        yield "comparisons", f"{subject.comparisons:,}"
    for number, key in enumerate(group_keys(subject)):
        for name, text in _group_slots(subject, number):
            yield f"groups.{key}.{name}", text
    for measure in subject.measures:
        if measure.value is not None:
            yield from _measure_slots(measure)
    yield from _difference_slots(subject)


def _group_slots(subject: Subject, number: int) -> Iterator[tuple[str, str]]:
    yield "name", one_line(subject.groups[number])
    if len(subject.counts) == 4:
        yield from _count_slots(*subject.counts[2 * number : 2 * number + 2])
    if rate := measure_of(subject, f"rate_{number + 1}"):
        yield from _share_interval("share_interval", rate)
    if mean := measure_of(subject, f"mean_{number + 1}"):
        yield "mean", decimal(mean.value or 0.0)
        if interval := interval_of(mean):
            yield "mean_interval", interval
    counts = {"cases": cases_of(subject), "asked": subject.asked, "missing": subject.missing}
    for name, by_group in counts.items():
        if by_group and len(by_group) == 2:
            yield name, f"{by_group[number]:,}"


def _count_slots(having: int, lacking: int) -> Iterator[tuple[str, str]]:
    yield "with", f"{having:,}"
    yield "without", f"{lacking:,}"
    if having + lacking:
        yield "share", percent(having / (having + lacking))
        yield "per_hundred", f"{100 * having / (having + lacking):.0f} in 100"


def _measure_slots(measure: Measure) -> Iterator[tuple[str, str]]:
    name, value = measure.name, measure.value
    assert value is not None  # noqa: S101 - for mypy
    if name.startswith(("rate_", "mean_")):  # these are slots of the groups
        return
    if name in TESTS:
        yield f"{name}.statistic", f"{value:.4f}"
    elif measure.p_value is None or value != measure.p_value:
        yield f"{name}.estimate", decimal(value)
    if measure.low is not None and measure.high is not None:
        yield f"{name}.low", decimal(measure.low)
        yield f"{name}.high", decimal(measure.high)
        yield f"{name}.interval", interval_of(measure) or ""
    if measure.no_difference is not None:
        yield f"{name}.null", f"{measure.no_difference:g}"
    if measure.p_value is not None:
        yield f"{name}.p", f"p {p_text(measure.p_value)}"


def _difference_slots(subject: Subject) -> Iterator[tuple[str, str]]:
    """Yield the difference of two shares without its sign, for people."""
    difference = measure_of(subject, "risk_difference")
    if difference is None or difference.value is None:
        return
    yield "difference.points", f"{100 * abs(difference.value):.1f} percentage points"
    if difference.low is not None and difference.high is not None:
        low, high = (100 * bound for bound in (difference.low, difference.high))
        yield "difference.interval", f"({low:.1f}, {high:.1f}) percentage points"


def _share_interval(name: str, rate: Measure) -> Iterator[tuple[str, str]]:
    if rate.low is not None and rate.high is not None:
        yield name, f"({percent(rate.low)}, {percent(rate.high)})"


def percent(share: float) -> str:
    """Write a share as a percentage with one decimal."""
    return f"{100 * share:.1f}%"


def is_number(slot: str) -> bool:
    """Tell whether a slot holds a number."""
    return slot.rpartition(".")[2] not in NAMES


def rendered(text: str, slots: dict[str, str]) -> str:
    """Return a text with its slots filled in; unknown slots stay as they are."""
    return SLOT.sub(lambda match: slots.get(match[1], match[0]), text)


def masked(text: str, slots: dict[str, str]) -> str:
    """Return a text with names filled in, and `[number]` for every other slot."""

    def word(match: re.Match[str]) -> str:
        return "[number]" if is_number(match[1]) else slots.get(match[1], match[0])

    return SLOT.sub(word, text)
