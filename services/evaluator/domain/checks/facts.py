"""What a report may state: every number of a subject, with what it is."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from biaswatch.services.evaluator.domain.checks.written_numbers import (
    Unit,
    WrittenNumber,
    numbers_in,
)
from biaswatch.services.evaluator.domain.subjects import SMALLEST_P
from biaswatch.shared.contracts import Measure, Subject


class NumberRole(StrEnum):
    """What a number is."""

    VALUE = "estimate"
    LOW = "lower bound"
    HIGH = "upper bound"
    P = "p-value"
    LEVEL = "level"
    NEUTRAL = "value of no difference"
    COUNT = "count"
    TOTAL = "number of all cases"
    SAMPLE = "share of all cases"
    LEAST = "fewest cases of a group"
    RATE = "share"
    CHANGE = "relative difference"
    INVERSE = "ratio the other way round"
    FREEDOM = "degrees of freedom"
    THRESHOLD = "threshold"


_ENDS = {NumberRole.LOW, NumberRole.HIGH}
_ESTIMATED = {NumberRole.VALUE, NumberRole.CHANGE, NumberRole.INVERSE}


@dataclass(frozen=True)
class Fact:
    """One number that is true of the subject."""

    value: float
    role: NumberRole
    label: str
    """What it is, for people."""
    measure: str | None = None
    group: int | None = None
    """0 for the first group, 1 for the second; None where it is of both, or of neither."""
    has: bool | None = None
    """True if it counts cases with the outcome, or without; None where it is neither."""

    def matches(self, number: WrittenNumber) -> bool:
        """Tell whether a number states this fact, in its unit and rounded as it is written."""
        if self.role in {NumberRole.COUNT, NumberRole.TOTAL, NumberRole.LEAST}:
            return number.value == self.value
        if number.unit is Unit.TIMES:
            return self.role in _ESTIMATED | _ENDS and number.rounds(self.value)
        scale = 100.0 if number.unit in {Unit.PERCENT, Unit.POINTS} else 1.0
        shown = self.value * scale
        if self.role in _ESTIMATED and not number.signed and self.measure:
            return number.rounds(shown) or number.rounds(abs(shown))
        return number.rounds(shown)

    def may_be(self, number: WrittenNumber) -> bool:
        """Tell whether a number could state this fact at any plausible rounding or scale."""
        if self.matches(number):
            return True
        if self.role in {NumberRole.COUNT, NumberRole.TOTAL, NumberRole.LEAST}:
            return number.about and number.unit is Unit.PLAIN and number.nears(self.value)
        scaled = number.unit in {Unit.PERCENT, Unit.POINTS}
        shown = (1.0, 100.0) if number.unit is Unit.PLAIN and not number.whole else (1.0,)
        return any(
            number.nears(sign * scale * self.value)
            for scale in ((100.0,) if scaled else shown)
            for sign in (1.0, -1.0)
        )


def facts_of(subject: Subject) -> tuple[Fact, ...]:
    """Return all that may be stated as a number of a subject, in the order of its measures."""
    return (
        *(fact for measure in subject.measures for fact in _of_measure(measure, subject)),
        *_levels(subject),
        *_counts(subject),
        *_told(subject),
    )


def _of_measure(measure: Measure, subject: Subject) -> Iterator[Fact]:
    name, label, group = measure.name, measure.label, MEANS.get(measure.name)
    yield from _estimates(measure)
    for value, role in ((measure.low, NumberRole.LOW), (measure.high, NumberRole.HIGH)):
        if value is not None:
            yield Fact(value, role, f"the {role.value} of the {label}", name, group)
    if measure.p_value is not None:
        yield Fact(measure.p_value, NumberRole.P, f"the p-value of the {label}", name)
        if measure.p_value < SMALLEST_P:
            yield Fact(SMALLEST_P, NumberRole.P, "the smallest p-value that is written", name)
    if measure.no_difference is not None:
        yield Fact(measure.no_difference, NumberRole.NEUTRAL, "the value of no difference", name)
    if name == "chi_square" and subject.counts:
        yield Fact(1.0, NumberRole.FREEDOM, "the degrees of freedom", name)
    if name == "impact_ratio":
        yield Fact(0.8, NumberRole.THRESHOLD, "four fifths", name)


def _estimates(measure: Measure) -> Iterator[Fact]:
    """Return an estimate, and for a ratio what it is the other way round and what it adds."""
    name, label, value = measure.name, measure.label, measure.value
    if value is None:
        return
    yield Fact(value, NumberRole.VALUE, f"the {label}", name, MEANS.get(name))
    if measure.no_difference == 1 and value > 0:
        yield Fact(1 / value, NumberRole.INVERSE, f"the {label} the other way round", name)
        for ratio in (value, 1 / value):
            yield Fact(abs(ratio - 1), NumberRole.CHANGE, f"what the {label} adds", name)


def _levels(subject: Subject) -> Iterator[Fact]:
    yield Fact(subject.alpha, NumberRole.LEVEL, "the level of significance")
    yield Fact(1 - subject.alpha, NumberRole.LEVEL, "the level of confidence")


def _counts(subject: Subject) -> Iterator[Fact]:
    one, two = subject.groups
    for role in (NumberRole.COUNT, NumberRole.TOTAL):
        yield Fact(float(subject.cases), role, "all cases")
    yield Fact(float(subject.cases_least), NumberRole.LEAST, "the fewest cases a group needs")
    if len(subject.counts) != 4:
        return
    a, b, c, d = subject.counts
    for number, (name, have, without_outcome) in enumerate(((one, a, b), (two, c, d))):
        yield Fact(have, NumberRole.COUNT, f"{name} with {subject.value}", None, number, True)
        yield Fact(
            without_outcome,
            NumberRole.COUNT,
            f"{name} without {subject.value}",
            None,
            number,
            False,
        )
        yield Fact(have + without_outcome, NumberRole.COUNT, f"all {name}", group=number)
        if have + without_outcome:
            share = have / (have + without_outcome)
            yield Fact(share, NumberRole.RATE, f"the share of {name}", group=number)
            yield Fact(1 - share, NumberRole.RATE, f"the share of {name} without", group=number)
            share = (have + without_outcome) / sum(subject.counts)
            yield Fact(share, NumberRole.SAMPLE, f"how many are {name}", group=number)
        if without_outcome:
            yield Fact(have / without_outcome, NumberRole.RATE, f"the odds of {name}", group=number)
    for count, what in ((a + c, "with"), (b + d, "without")):
        yield Fact(
            count, NumberRole.COUNT, f"all {what} {subject.value}", None, None, what == "with"
        )
        if subject.cases:
            yield Fact(count / subject.cases, NumberRole.RATE, f"the share {what} {subject.value}")
    yield Fact(abs(a + b - c - d), NumberRole.COUNT, "how many more cases one group has")


def _told(subject: Subject) -> Iterator[Fact]:
    """Return the numbers that names and notes contain, which may be repeated as they stand."""
    for text in (*subject.notes, *subject.groups, subject.outcome, subject.value):
        group = next(
            (n for n, name in enumerate(subject.groups) if text.startswith(f"{name}:")), None
        )
        for number in numbers_in(text):
            scale = 0.01 if number.unit is Unit.PERCENT else 1.0
            for role in (NumberRole.COUNT, NumberRole.VALUE, NumberRole.RATE, NumberRole.LEVEL):
                yield Fact(number.value * scale, role, "a number of a note", group=group)


MEANS = {"mean_1": 0, "mean_2": 1}
"""The measures that belong to one group."""
