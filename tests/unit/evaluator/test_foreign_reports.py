"""Reports written elsewhere, against corpora of sentences by several authors."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from biaswatch.services.evaluator.domain.reading.foreign import read_report
from tests.support.report_subjects import subjects, table
from tests.support.reports import COMPLETE, COUNTS, GROUPS

CORPORA = Path(__file__).parent / "corpora"
SUBJECTS = subjects()
FOUND = {
    "first.txt": 0.98,
    "second.txt": 0.98,
    "third.txt": 0.96,
    "fourth.txt": 0.75,
    "fifth.txt": 0.85,
}
"""Shares of wrong numbers to point at, as fault or hint; the checks were corrected for all."""


def sentences(corpus: str) -> Iterator[tuple[str, str, str]]:
    """Yield subject, kind (`true`, `number`, ...) and sentence of each line of a corpus."""
    subject = ""
    for line in (CORPORA / corpus).read_text(encoding="utf-8").splitlines():
        if line.startswith("@"):
            subject = line[1:].strip()
        elif line.startswith("T "):
            yield subject, "true", line[2:]
        elif line:
            _, kind, text = line.split(" ", 2)
            yield subject, kind, text


@pytest.mark.parametrize("corpus", FOUND)
def test_wrong_numbers_are_found_and_true_sentences_pass(corpus: str) -> None:
    counts = {"true": 0, "flagged": 0, "wrong": 0, "found": 0}
    for name, kind, text in sentences(corpus):
        read = read_report(text, SUBJECTS[name], structure=False)
        faults = read.faults
        pointed = {fault.kind for fault in (*faults, *read.hints)} & {"number", "place"}
        if kind == "true":
            counts["true"] += 1
            counts["flagged"] += bool(faults)
        elif kind in {"number", "place"}:
            counts["wrong"] += 1
            counts["found"] += bool(pointed)
    assert counts["found"] >= FOUND[corpus] * counts["wrong"], counts
    assert counts["flagged"] <= 0.02 * counts["true"], counts


def test_a_complete_correct_report_has_no_fault_and_lists_what_only_a_person_can_check() -> None:
    subject = table(COUNTS, GROUPS, "sentence", "third strike")
    found = read_report(COMPLETE, subject, structure=True)
    assert found.faults == ()
    assert found.unchecked
    for item in found.unchecked:
        assert COMPLETE[item.start : item.end].strip() == COMPLETE[item.start : item.end]


@pytest.mark.parametrize(
    "report",
    [
        report
        for file in sorted(CORPORA.glob("*_reports.md"))
        for report in file.read_text(encoding="utf-8").removeprefix("@ ").split("\n@ ")
    ],
)
def test_correct_reports_of_other_authors_have_no_fault(report: str) -> None:
    name, _, text = report.partition("\n")
    assert read_report(text, SUBJECTS[name.strip()], structure=False).faults == ()


def test_headings_are_checked_only_where_that_is_asked_for() -> None:
    subject = table(COUNTS, GROUPS, "sentence", "third strike")
    text = "The odds ratio is 2.43.\nThe odds ratio is 2.53."
    [fault] = read_report(text, subject, structure=False).faults
    assert text[fault.start : fault.end] == "The odds ratio is 2.53."
    kinds = {fault.kind for fault in read_report(text, subject, structure=True).faults}
    assert kinds == {"structure", "number"}
