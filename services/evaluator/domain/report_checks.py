"""All that code alone can say of a report: its structure, its numbers, its red flags."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from services.evaluator.domain.report_prompt import OUTLINE
from services.evaluator.domain.report_structure import (
    ReportPassage,
    passages,
    sentences,
    structural_faults,
)
from services.evaluator.domain.rubric import Profile
from services.evaluator.domain.statistics_text import SMALLEST_P
from shared.contracts import Fault, Measure, Subject

# Not inside a word (χ2, p53 and the like), and not a part of another number.
_NUMBER = re.compile(
    r"(?<![\w.])[-\u2212+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:e[-+]?\d+)?(?![\w]|\.\d)(\s*%)?",
    re.IGNORECASE,
)
_PAIR = re.compile(
    r"[(\[]\s*(-?\d[\d.e+-]*)\s*(?:,|to|\u2013|;)\s*(-?\d[\d.e+-]*)\s*[)\]]", re.IGNORECASE
)
_SHAPES = re.compile(r"\b2\s*(?:x|\u00d7|by)\s*2\b", re.IGNORECASE)


@dataclass(frozen=True)
class WrittenNumber:
    """A number as it stands in a text."""

    text: str
    value: float
    decimals: int
    percent: bool

    def is_(self, value: float) -> bool:
        """Tell whether it is this value, rounded to the digits that were written."""
        shown = value * 100 if self.percent else value
        if self.decimals == 0 and not self.percent:
            return shown == self.value
        return abs(shown - self.value) <= 0.5 * 10.0**-self.decimals * (1 + 1e-9)


def numbers_in(text: str) -> Iterator[WrittenNumber]:
    """Return the numbers of a text; `2x2` names a shape and is left out."""
    for found in _NUMBER.finditer(_SHAPES.sub("", text)):
        digits = found[0].replace(",", "").replace("\u2212", "-").rstrip("% ").strip()
        decimals = 0 if "e" in digits.lower() else len(digits.partition(".")[2])
        yield WrittenNumber(found[0].strip(), float(digits), decimals, percent=bool(found[1]))


def number_faults(found: Sequence[ReportPassage], subject: Subject) -> Iterator[Fault]:
    """Say which numbers are in no statistic, and which stand where none belongs."""
    banned = {section.title for section in OUTLINE if not section.numbers}
    known, general = _known(subject), _general(subject)
    for passage in found:
        for number in numbers_in(passage.text):
            if any(number.is_(value) for value in general):
                continue
            if not any(number.is_(value) for value in known):
                said = f"The number {number.text} is in none of the statistics."
            elif passage.title in banned:
                said = f"The number {number.text} stands where the report has no numbers."
            else:
                continue
            yield Fault(kind="number", where=passage.title[:80], sentence=said)


def interval_faults(found: Sequence[ReportPassage], subject: Subject) -> Iterator[Fault]:
    """Say which intervals stand beside the name of a measure whose interval they are not."""
    for passage in found:
        named: Measure | None = None
        for sentence in sentences(passage.text):
            begins = 0
            for pair in _PAIR.finditer(sentence):
                named = _last_named(sentence[begins : pair.start()], subject) or named
                begins = pair.end()
                owners = [m for m in subject.measures if _is_interval(pair, m)]
                if owners and named and named not in owners:
                    yield Fault(
                        kind="interval",
                        where=passage.title[:80],
                        sentence=f"The interval {pair[0]} is that of {owners[0].label}, but stands"
                        f" beside {named.label}.",
                    )


def _last_named(text: str, subject: Subject) -> Measure | None:
    found_at = [(text.lower().rfind(m.label.lower()), len(m.label), m) for m in subject.measures]
    at, _, measure = max(found_at, key=lambda each: each[:2], default=(-1, 0, None))
    return measure if at >= 0 else None


def _is_interval(pair: re.Match[str], measure: Measure) -> bool:
    if measure.low is None or measure.high is None:
        return False
    ends = [next(numbers_in(pair[which]), None) for which in (1, 2)]
    return all(
        end is not None and end.is_(value)
        for end, value in zip(ends, (measure.low, measure.high), strict=True)
    )


def _known(subject: Subject) -> list[float]:
    """Return every number a report may state."""
    values: list[float | None] = [
        value for m in subject.measures for value in (m.value, m.low, m.high, m.p_value)
    ]
    if any(m.p_value is not None and m.p_value < SMALLEST_P for m in subject.measures):
        values.append(SMALLEST_P)
    values += [*subject.counts, subject.cases, subject.cases_least]
    values += [sum(subject.counts[:2]), sum(subject.counts[2:])]
    said = " ".join((*subject.notes, *subject.groups, subject.outcome, subject.value))
    values += [n.value / 100 if n.percent else n.value for n in numbers_in(said)]
    return [value for value in values if value is not None]


def _general(subject: Subject) -> list[float]:
    """Return numbers that belong to the methods and may stand anywhere."""
    neutral = [m.no_difference for m in subject.measures if m.no_difference is not None]
    return [0.0, 1.0, subject.alpha, 1 - subject.alpha, 100 * (1 - subject.alpha), *neutral]


# A sentence that denies is what the outline asks for; judges read the finer cases.
_DENIES = re.compile(r"\b(?:not|no|never|nor|neither|cannot|without|rather than)\b", re.IGNORECASE)


def faults_of(report: str, subject: Subject, profile: Profile) -> tuple[Fault, ...]:
    """Return what is wrong with a report; nothing said means that code found nothing."""
    found = passages(report)
    return (
        *structural_faults(found),
        *number_faults(found, subject),
        *interval_faults(found, subject),
        *_attributions(found, profile),
    )


def _attributions(found: list[ReportPassage], profile: Profile) -> list[Fault]:
    return [
        Fault(
            kind="attribution",
            where=passage.title[:80],
            sentence=f"The words {flag[0]!r} may attribute the outcome to"
            f" {profile.attribution}: read that sentence.",
        )
        for passage in found
        for sentence in sentences(passage.text)
        if not _DENIES.search(sentence)
        for flag in profile.flags.finditer(sentence)
    ]
