"""Slots: names of the numbers of a subject, and their text in the house style.

A writer names a slot, as in `{odds_ratio.estimate}`, and code writes the number. Ratios and
differences have three decimals, p-values four, shares one; differences of shares are in percentage
points.
"""

import re
from collections.abc import Iterator

from biaswatch.services.evaluator.domain.subjects import (
    TESTS,
    case_counts,
    decimal,
    group_keys,
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
    slots = {
        "outcome": one_line(subject.outcome),
        "value": one_line(subject.value),
        "cases": f"{subject.cases:,}",
        "cases_least": f"{subject.cases_least:,}",
        "level": level_of(subject),
        "alpha": f"{subject.alpha:g}",
        "tolerance": None if subject.tolerance is None else f"{subject.tolerance:g}",
        "comparisons": None if subject.comparisons is None else f"{subject.comparisons:,}",
    }
    for number, key in enumerate(group_keys(subject)):
        slots |= {f"groups.{key}.{name}": text for name, text in _group_slots(subject, number)}
    for measure in subject.measures:
        slots |= {f"{measure.name}.{name}": text for name, text in _measure_slots(measure)}
    if (difference := measure_of(subject, "risk_difference")) and difference.value is not None:
        interval = interval_of(difference, lambda bound: f"{100 * bound:.1f}")
        slots["difference.points"] = f"{100 * abs(difference.value):.1f} percentage points"
        slots["difference.interval"] = interval and f"{interval} percentage points"
    return {name: text for name, text in slots.items() if text is not None}


def _group_slots(subject: Subject, number: int) -> Iterator[tuple[str, str | None]]:
    rate, mean = (measure_of(subject, f"{name}_{number + 1}") for name in ("rate", "mean"))
    yield "name", one_line(subject.groups[number])
    if len(subject.counts) == 4:
        having, lacking = subject.counts[2 * number : 2 * number + 2]
        yield "with", f"{having:,}"
        yield "without", f"{lacking:,}"
        if having + lacking:
            yield "share", percent(having / (having + lacking))
            yield "per_hundred", f"{100 * having / (having + lacking):.0f} in 100"
    if rate:
        yield "share_interval", interval_of(rate, percent)
    if mean:
        yield "mean", decimal(mean.value or 0.0)
        yield "mean_interval", interval_of(mean)
    counts = {"cases": case_counts(subject), "asked": subject.asked, "missing": subject.missing}
    for name, by_group in counts.items():
        if by_group and len(by_group) == 2:
            yield name, f"{by_group[number]:,}"


def _measure_slots(measure: Measure) -> Iterator[tuple[str, str | None]]:
    value, low, high = measure.value, measure.low, measure.high
    if value is None or measure.name.startswith(("rate_", "mean_")):  # slots of the groups
        return
    if measure.name in TESTS:
        yield "statistic", f"{value:.4f}"
    elif value != measure.p_value:
        yield "estimate", decimal(value)
    if low is not None and high is not None:
        yield "low", decimal(low)
        yield "high", decimal(high)
        yield "interval", interval_of(measure)
    if measure.no_difference is not None:
        yield "null", f"{measure.no_difference:g}"
    if measure.p_value is not None:
        yield "p", f"p {p_text(measure.p_value)}"


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
    words = {name: "[number]" if is_number(name) else word for name, word in slots.items()}
    return rendered(text, words)
