"""Marks beside numbers that name the statistic; they are checked and removed.

`2.429[[odds_ratio]]` declares 2.429 to be the odds ratio. Only the checks see marks; judges and
readers get the report without them.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from biaswatch.services.evaluator.domain.checks.facts import Fact, NumberRole, facts_of
from biaswatch.services.evaluator.domain.checks.written_numbers import WrittenNumber, numbers_in
from biaswatch.services.evaluator.domain.subjects import (
    TESTS,
    decimal,
    interval_of,
    level_of,
    p_text,
)
from biaswatch.shared.contracts import Measure, Subject

MARK = re.compile(r"[ \t]?\[\[([\w. -]{1,60})\]\]")
LONGEST = 20_000
"""Longest report in which marks are checked, in characters."""
_ROLES = {
    "": (NumberRole.VALUE, NumberRole.CHANGE, NumberRole.INVERSE),
    "low": (NumberRole.LOW,),
    "high": (NumberRole.HIGH,),
    "p": (NumberRole.P,),
}
_BEFORE = 40
"""Characters before a mark that must contain its number."""


@dataclass(frozen=True)
class MarkedNumber:
    """A mark and the number before it, if any."""

    mark: str
    number: WrittenNumber | None


@dataclass(frozen=True)
class MarkedReport:
    """A report without marks, and the marks."""

    text: str
    numbers: Sequence[MarkedNumber]


def without_marks(report: str) -> MarkedReport:
    """Remove the marks from a report and pair each with its number."""
    numbers, pieces, end = list[MarkedNumber](), list[str](), 0
    for match in MARK.finditer(report):
        pieces.append(report[end : match.start()])
        numbers.append(MarkedNumber(match[1].strip(), _last_number(pieces[-1])))
        end = match.end()
    return MarkedReport("".join([*pieces, report[end:]]), tuple(numbers))


def _last_number(text: str) -> WrittenNumber | None:
    """Return the number that a text ends with."""
    last = text[-_BEFORE:]
    numbers = list(numbers_in(last))
    return numbers[-1] if numbers and not last[numbers[-1].end :].strip() else None


def mark_names(subject: Subject) -> Mapping[str, str]:
    """Return the marks a writer may use, with their numbers."""
    names = dict(_of_measures(subject))
    names["cases"] = str(subject.cases)
    names["least"] = str(subject.cases_least)
    names["alpha"], names["level"] = f"{subject.alpha:g}", level_of(subject)
    names["no_difference"] = "the value of no difference"
    for number, (with_outcome, without_outcome) in enumerate(
        zip(subject.counts[::2], subject.counts[1::2], strict=True), start=1
    ):
        names |= {
            f"with_{number}": str(with_outcome),
            f"without_{number}": str(without_outcome),
            f"all_{number}": str(with_outcome + without_outcome),
        }
    return names


def _of_measures(subject: Subject) -> Iterator[tuple[str, str]]:
    for measure in subject.measures:
        if measure.value is None:
            continue
        if measure.p_value != measure.value:
            yield measure.name, _value(measure)
        if interval_of(measure):
            yield f"{measure.name}.low", decimal(measure.low or 0.0)
            yield f"{measure.name}.high", decimal(measure.high or 0.0)
        if measure.p_value is not None:
            yield f"{measure.name}.p", p_text(measure.p_value).removeprefix("= ")


def _value(measure: Measure) -> str:
    return f"{measure.value:.4f}" if measure.name in TESTS else decimal(measure.value or 0.0)


def mark_faults(marked: Sequence[MarkedNumber], subject: Subject) -> Iterator[tuple[str, str]]:
    """Yield a fault for every unknown mark and every mark with a wrong number."""
    facts, names = facts_of(subject), mark_names(subject)
    for marked_number in marked:
        if marked_number.mark not in names:
            yield "mark", f"The mark {marked_number.mark} does not name a statistic."
        elif marked_number.number is None:
            yield "mark", f"The mark {marked_number.mark} does not follow a number."
        elif not is_right(marked_number, subject, facts):
            known = any(fact.matches(marked_number.number) for fact in facts)
            message = f"The number {marked_number.number.text} is marked as {marked_number.mark},"
            yield "place" if known else "number", f"{message} which is {names[marked_number.mark]}."


def is_right(marked: MarkedNumber, subject: Subject, facts: Sequence[Fact]) -> bool:
    """Tell whether a number equals the statistic of its mark."""
    number = marked.number
    if number is None:
        return False
    name, _, part = marked.mark.partition(".")
    if any(measure.name == name for measure in subject.measures) and part in _ROLES:
        fit = [fact for fact in facts if fact.measure == name and fact.role in _ROLES[part]]
        return any(fact.matches(number) for fact in fit)
    return any(_counts(name, subject, fact) and fact.matches(number) for fact in facts)


def _counts(name: str, subject: Subject, fact: Fact) -> bool:
    """Tell whether a fact is the one named by a mark outside the measures."""
    roles = {
        "cases": NumberRole.TOTAL,
        "least": NumberRole.LEAST,
        "no_difference": NumberRole.NEUTRAL,
    }
    if name in roles:
        return fact.role is roles[name]
    if name in {"alpha", "level"}:
        wanted = subject.alpha if name == "alpha" else 1 - subject.alpha
        return fact.role is NumberRole.LEVEL and abs(fact.value - wanted) < 1e-9
    kind, _, group = name.partition("_")
    has = {"with": True, "without": False, "all": None}.get(kind)
    counted = fact.role in {NumberRole.COUNT, NumberRole.RATE}
    return (
        counted
        and group == str((fact.group if fact.group is not None else -2) + 1)
        and fact.has is has
    )
