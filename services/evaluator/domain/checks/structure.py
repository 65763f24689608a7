"""The structure of a report: its passages and sentences, and what is wrong with them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from biaswatch.services.evaluator.domain.report_prompt import OUTLINE, ReportSection
from biaswatch.shared.contracts import Fault

_HEADING = re.compile(r"(#{1,6})\s++(.*)")
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
    all_passages, title, level, lines = [], "", 0, list[str]()
    for line in report.splitlines():
        if heading := _HEADING.match(line):
            all_passages.append(ReportPassage(level, title, "\n".join(lines).strip()))
            level, lines = len(heading[1]), []
            title = heading[2].rstrip().rstrip("#").rstrip()
        else:
            lines.append(line)
    all_passages.append(ReportPassage(level, title, "\n".join(lines).strip()))
    return [passage for passage in all_passages if passage.title or passage.text]


def sentences(text: str) -> list[str]:
    """Take text apart into sentences; an abbreviation ends none."""
    blocks: list[list[str]] = []
    for piece in _END.split(" ".join(text.split())):
        if blocks and _ABBREVIATED.search(blocks[-1][-1]):
            blocks[-1].append(piece)
        elif piece.strip():
            blocks.append([piece.strip()])
    return [" ".join(pieces) for pieces in blocks]


def sentence_spans(report: str) -> dict[tuple[str, int], tuple[int, int]]:
    """Return where each sentence stands in a report, by its heading and its number under it."""
    spans, at = dict[tuple[str, int], tuple[int, int]](), 0
    for passage in passages(report):
        if passage.title:
            at = max(at, report.find(passage.title, at))
        for number, sentence in enumerate(sentences(passage.text), start=1):
            words = re.compile(r"\s+".join(map(re.escape, sentence.split())))
            if place := words.search(report, at):
                spans[passage.title[:80], number] = place.span()
                at = place.end()
    return spans


def structural_faults(passages_: Sequence[ReportPassage]) -> Iterator[Fault]:
    """Say which headings are missing, doubled, unknown, misplaced, or ill filled."""
    yield from _headings(passages_)
    order = [section.title for section in OUTLINE]
    seen = [order.index(passage.title) for passage in passages_ if passage.title in order]
    for before, after in pairwise(seen):
        if after < before:
            message = f"The heading stands after {order[before]!r}, but belongs before it."
            yield fault("order", order[after], message)
    by_title = {passage.title: passage for passage in passages_}
    for section in OUTLINE:
        if section.title in by_title:
            yield from _sentence_faults(section, by_title[section.title].text)


def _headings(passages_: Sequence[ReportPassage]) -> Iterator[Fault]:
    wanted = {section.title: section for section in OUTLINE}
    titles = [passage.title for passage in passages_]
    for title, section in wanted.items():
        if titles.count(title) == 0:
            yield fault("heading", title, f"The heading {section.heading!r} is missing.")
        elif titles.count(title) > 1:
            yield fault("heading", title, "The heading stands more than once.")
    for passage in passages_:
        if not passage.title:
            yield fault("heading", "", "There is text before the first heading.")
        elif passage.title not in wanted:
            yield fault("heading", passage.title, "The report has a heading of its own.")
        elif passage.level != wanted[passage.title].level:
            level = wanted[passage.title].level
            yield fault("heading", passage.title, f"The heading has to begin with {'#' * level}.")


def _sentence_faults(section: ReportSection, text: str) -> Iterator[Fault]:
    lines = sentences(text)
    if not section.least <= len(lines) <= section.most:
        bounds = f"{section.least} to {section.most}" if section.most else "no"
        yield fault("sentences", section.title, f"There are {len(lines)} sentences, not {bounds}.")
    for number, sentence in enumerate(lines, start=1):
        if not _WHOLE.fullmatch(sentence):
            problem = "does not begin with a capital letter or has no full stop."
            yield fault("sentences", section.title, f"Sentence {number} {problem}")


def fault(kind: str, where: str, sentence: str) -> Fault:
    """Return a fault; the heading is cut to what a record holds."""
    return Fault(kind=kind, where=where[:80], sentence=sentence)
