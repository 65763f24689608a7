"""A report checked against the outline by code alone: headings, order, sentences."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from services.evaluator.domain.report_prompt import OUTLINE, ReportSection
from shared.contracts import Fault

_HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*#*\s*$")
# A sentence ends at . ! or ? before a blank and a capital; a point inside a number ends none.
_END = re.compile(r"(?<=[.!?])[)\"'\u201d]*\s+(?=[\"'\u201c(]*[A-Z0-9])")
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


def structural_faults(found: Sequence[ReportPassage]) -> list[Fault]:
    """Say which headings are missing, doubled, unknown, misplaced, or ill filled."""
    return [*_headings(found), *_order(found), *_lengths(found)]


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
            yield _fault("heading", passage.title[:80], "The report has a heading of its own.")
        elif passage.level != wanted[passage.title].level:
            level = wanted[passage.title].level
            yield _fault("heading", passage.title, f"The heading has to begin with {'#' * level}.")


def _order(found: Sequence[ReportPassage]) -> Iterator[Fault]:
    order = [section.title for section in OUTLINE]
    seen = [order.index(each.title) for each in found if each.title in order]
    for before, after in pairwise(seen):
        if after < before:
            said = f"The heading stands after {order[before]!r}, but belongs before it."
            yield _fault("order", order[after], said)


def _lengths(found: Sequence[ReportPassage]) -> Iterator[Fault]:
    by_title = {passage.title: passage for passage in found}
    for section in OUTLINE:
        if section.title in by_title:
            yield from _length(section, by_title[section.title].text)


def _length(section: ReportSection, text: str) -> Iterator[Fault]:
    said = sentences(text)
    if not section.least <= len(said) <= section.most:
        bounds = f"{section.least} to {section.most}" if section.most else "no"
        yield _fault("sentences", section.title, f"There are {len(said)} sentences, not {bounds}.")
    for number, sentence in enumerate(said, start=1):
        if not re.match(r"[\"'\u201c(]*[A-Z0-9]", sentence) or not re.search(
            r"[.!?][)\"'\u201d]*$", sentence
        ):
            yield _fault(
                "sentences",
                section.title,
                f"Sentence {number} does not begin with a capital letter or has no full stop.",
            )


def _fault(kind: str, where: str, sentence: str) -> Fault:
    return Fault(kind=kind, where=where, sentence=sentence)
