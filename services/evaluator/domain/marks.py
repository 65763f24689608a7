"""Marks: what a writer says each number is, beside the number; they are checked and taken out.

`2.429[[odds_ratio]]` says that 2.429 is the odds ratio. Nobody but the checks ever sees a mark:
judges and readers get the report without them.
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
"""Characters of a report in which numbers are looked for beside marks."""
_ROLES = {
    "": (NumberRole.VALUE, NumberRole.CHANGE, NumberRole.INVERSE),
    "low": (NumberRole.LOW,),
    "high": (NumberRole.HIGH,),
    "p": (NumberRole.P,),
}
_BEFORE = 40
"""Characters before a mark in which its number has to end."""


@dataclass(frozen=True)
class MarkedNumber:
    """A number and what its writer says it is; no number stands where none is before the mark."""

    mark: str
    number: WrittenNumber | None


@dataclass(frozen=True)
class MarkedReport:
    """A report without its marks, and what they said."""

    text: str
    numbers: Sequence[MarkedNumber]


def without_marks(report: str) -> MarkedReport:
    """Take the marks out of a report, and say which number each stands behind."""
    found, pieces, at = list[MarkedNumber](), list[str](), 0
    for each in MARK.finditer(report):
        pieces.append(report[at : each.start()])
        found.append(MarkedNumber(each[1].strip(), _last_number(pieces[-1])))
        at = each.end()
    return MarkedReport("".join([*pieces, report[at:]]), tuple(found))


def _last_number(text: str) -> WrittenNumber | None:
    """Return the number that a text ends with."""
    last = text[-_BEFORE:]
    numbers = list(numbers_in(last))
    return numbers[-1] if numbers and not last[numbers[-1].end :].strip() else None


def mark_names(subject: Subject) -> Mapping[str, str]:
    """Return the marks a writer may use, each with the number it stands for."""
    found = dict(_of_measures(subject))
    found["cases"] = str(subject.cases)
    found["least"] = str(subject.cases_least)
    found["alpha"], found["level"] = f"{subject.alpha:g}", level_of(subject)
    found["no_difference"] = "the value of no difference"
    for number, (have, lack) in enumerate(
        zip(subject.counts[::2], subject.counts[1::2], strict=True), start=1
    ):
        found |= {
            f"with_{number}": str(have),
            f"without_{number}": str(lack),
            f"all_{number}": str(have + lack),
        }
    return found


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
    """Return a fault for every mark that nothing has, or whose number is another one."""
    facts, names = facts_of(subject), mark_names(subject)
    for each in marked:
        if each.mark not in names:
            yield "mark", f"The mark {each.mark} names none of the statistics."
        elif each.number is None:
            yield "mark", f"The mark {each.mark} stands behind no number."
        elif not is_right(each, subject, facts):
            known = any(fact.matches(each.number) for fact in facts)
            said = f"The number {each.number.text} is marked as {each.mark},"
            yield "place" if known else "number", f"{said} which is {names[each.mark]}."


def is_right(marked: MarkedNumber, subject: Subject, facts: Sequence[Fact]) -> bool:
    """Whether a number is what its mark says."""
    number = marked.number
    if number is None:
        return False
    name, _, part = marked.mark.partition(".")
    if any(measure.name == name for measure in subject.measures) and part in _ROLES:
        fit = [fact for fact in facts if fact.measure == name and fact.role in _ROLES[part]]
        return any(fact.matches(number) for fact in fit)
    return any(_counts(name, subject, fact) and fact.matches(number) for fact in facts)


def _counts(name: str, subject: Subject, fact: Fact) -> bool:
    """Whether a fact is what a mark names that belongs to no measure."""
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
