"""All that code alone can say of a report: its structure, its numbers, its red flags."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from services.evaluator.domain.report_prompt import OUTLINE, ReportSection
from services.evaluator.domain.rubric import Profile
from services.evaluator.domain.subjects import SMALLEST_P
from shared.contracts import Fault, Measure, Subject

_HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*#*\s*$")
# A sentence ends at . ! or ? before a blank and a capital; a point inside a number ends none.
_END = re.compile(r"(?<=[.!?])[)\"'\u201d]*\s+(?=[\"'\u201c(]*[A-Z0-9])")
_WHOLE = re.compile(r"[\"'\u201c(]*[A-Z0-9].*[.!?][)\"'\u201d]*", re.DOTALL)
_ABBREVIATED = re.compile(r"\b(?:e\.g|i\.e|vs|cf|approx|no|fig)\.$", re.IGNORECASE)


@dataclass(frozen=True)
class ReportPassage:
    """What stands under one heading."""

    level: int
    title: str
    text: str


def passages(report: str) -> list[ReportPassage]:
    """Take a report apart at its headings; what stands before the first has no title."""
    found, title, level, lines = [], "", 0, list[str]()
    for line in report.splitlines():
        if heading := _HEADING.match(line):
            found.append(ReportPassage(level, title, "\n".join(lines).strip()))
            level, title, lines = len(heading[1]), heading[2], []
        else:
            lines.append(line)
    found.append(ReportPassage(level, title, "\n".join(lines).strip()))
    return [each for each in found if each.title or each.text]


def sentences(text: str) -> list[str]:
    """Take text apart into sentences; an abbreviation ends none."""
    found: list[str] = []
    for piece in _END.split(" ".join(text.split())):
        if found and _ABBREVIATED.search(found[-1]):
            found[-1] += " " + piece
        elif piece.strip():
            found.append(piece.strip())
    return found


def structural_faults(found: Sequence[ReportPassage]) -> Iterator[Fault]:
    """Say which headings are missing, doubled, unknown, misplaced, or ill filled."""
    yield from _headings(found)
    order = [section.title for section in OUTLINE]
    seen = [order.index(each.title) for each in found if each.title in order]
    for before, after in pairwise(seen):
        if after < before:
            said = f"The heading stands after {order[before]!r}, but belongs before it."
            yield _fault("order", order[after], said)
    by_title = {passage.title: passage for passage in found}
    for section in OUTLINE:
        if section.title in by_title:
            yield from _sentence_faults(section, by_title[section.title].text)


def _headings(found: Sequence[ReportPassage]) -> Iterator[Fault]:
    wanted = {section.title: section for section in OUTLINE}
    titles = [passage.title for passage in found]
    for title, section in wanted.items():
        if titles.count(title) == 0:
            yield _fault("heading", title, f"The heading {section.heading!r} is missing.")
        elif titles.count(title) > 1:
            yield _fault("heading", title, "The heading stands more than once.")
    for passage in found:
        if not passage.title:
            yield _fault("heading", "", "There is text before the first heading.")
        elif passage.title not in wanted:
            yield _fault("heading", passage.title, "The report has a heading of its own.")
        elif passage.level != wanted[passage.title].level:
            level = wanted[passage.title].level
            yield _fault("heading", passage.title, f"The heading has to begin with {'#' * level}.")


def _sentence_faults(section: ReportSection, text: str) -> Iterator[Fault]:
    said = sentences(text)
    if not section.least <= len(said) <= section.most:
        bounds = f"{section.least} to {section.most}" if section.most else "no"
        yield _fault("sentences", section.title, f"There are {len(said)} sentences, not {bounds}.")
    for number, sentence in enumerate(said, start=1):
        if not _WHOLE.fullmatch(sentence):
            fault = "does not begin with a capital letter or has no full stop."
            yield _fault("sentences", section.title, f"Sentence {number} {fault}")


def _fault(kind: str, where: str, sentence: str) -> Fault:
    return Fault(kind=kind, where=where[:80], sentence=sentence)


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
    neutral = [m.no_difference for m in subject.measures if m.no_difference is not None]
    # Numbers that belong to the methods may stand anywhere.
    level = 1 - subject.alpha
    general = [0.0, 1.0, subject.alpha, level, 100 * level, *neutral]
    known = _known(subject)
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
            yield _fault("number", passage.title, said)


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
                    said = f"is that of {owners[0].label}, but stands beside {named.label}."
                    yield _fault("interval", passage.title, f"The interval {pair[0]} {said}")


def _last_named(text: str, subject: Subject) -> Measure | None:
    found_at = [(text.lower().rfind(m.label.lower()), len(m.label), m) for m in subject.measures]
    at, _, measure = max(found_at, key=lambda each: each[:2], default=(-1, 0, None))
    return measure if at >= 0 else None


def _is_interval(pair: re.Match[str], measure: Measure) -> bool:
    if measure.low is None or measure.high is None:
        return False
    low, high = (next(numbers_in(pair[which]), None) for which in (1, 2))
    return bool(low and high and low.is_(measure.low) and high.is_(measure.high))


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


# A sentence that denies is what the outline asks for; judges read the finer cases.
_DENIES = re.compile(r"\b(?:not|no|never|nor|neither|cannot|without|rather than)\b", re.IGNORECASE)


def faults_of(report: str, subject: Subject, profile: Profile) -> tuple[Fault, ...]:
    """Return what is wrong with a report; nothing said means that code found nothing."""
    found = passages(report)
    attributions = [
        _fault(
            "attribution",
            passage.title,
            f"The words {flag[0]!r} may attribute the outcome to {profile.attribution}: read that"
            " sentence.",
        )
        for passage in found
        for sentence in sentences(passage.text)
        if not _DENIES.search(sentence)
        for flag in profile.flags.finditer(sentence)
    ]
    numbers, intervals = number_faults(found, subject), interval_faults(found, subject)
    return (*structural_faults(found), *numbers, *intervals, *attributions)
