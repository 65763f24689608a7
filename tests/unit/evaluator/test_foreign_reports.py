"""Reports written elsewhere, against corpora of sentences by several authors."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from biaswatch.services.evaluator.domain.reading.foreign import read_report
from tests.support.report_subjects import subjects, table
from tests.support.reports import COMPLETE, COUNTS, GROUPS

CORPORA = Path(__file__).parent / "corpora"
SUBJECTS = subjects()
MIN_FOUND = 0.97
"""Share of wrong numbers and places that are pointed at, as fault or hint, in each corpus."""
MAX_FALSE_FAULTS = 0.02
MAX_HINTS = 0.35
"""Share of true sentences with a hint, over all corpora; many of them were made to be hard."""


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


@pytest.mark.parametrize(
    "corpus", ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"]
)
def test_wrong_numbers_are_found_and_true_sentences_pass(corpus: str) -> None:
    counts = {"true": 0, "flagged": 0, "wrong": 0, "found": 0}
    for name, kind, text in sentences(f"{corpus}.txt"):
        read = read_report(text, SUBJECTS[name], structure=False)
        if kind == "true":
            counts["true"] += 1
            counts["flagged"] += bool(read.faults)
        elif kind in {"number", "place"}:
            counts["wrong"] += 1
            counts["found"] += bool(pointed(text, name))
    assert counts["found"] >= MIN_FOUND * counts["wrong"], counts
    assert counts["flagged"] <= MAX_FALSE_FAULTS * counts["true"], counts


def pointed(text: str, name: str) -> set[str]:
    """Return the kinds of faults and hints of a text's numbers."""
    read = read_report(text, SUBJECTS[name], structure=False)
    return {fault.kind for fault in (*read.faults, *read.hints)} & {"number", "place"}


def test_most_true_sentences_have_no_hint_and_a_changed_digit_in_them_is_found() -> None:
    true = [(name, text) for corpus in sorted(CORPORA.glob("*.txt"))
            for name, kind, text in sentences(corpus.name) if kind == "true"]  # fmt: skip
    silent = [(name, text) for name, text in true if not pointed(text, name)]
    assert len(silent) >= (1 - MAX_HINTS) * len(true)
    changed = [
        (name, f"{text[: match.start()]}{9 - int(match[0])}{text[match.end() :]}")
        for name, text in silent
        for match in re.finditer(r"(?<=\d\.)\d(?=\d)", text)
    ]
    missed = [text for name, text in changed if not pointed(text, name)]
    assert len(missed) <= 0.02 * len(changed), missed


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("The odds ratio is 2.43 (95% CI 1.48 to 3.97).", "3.97/3.79"),
        ("The conditional odds ratio is 2.42.", "2.42/2.43"),
        ("The relative risk is 2.00.", "2.00/2.43"),
        ("The impact ratio of 0.50 is low.", "0.50/0.15"),
        ("The chi-square statistic was 12.90 (p = 0.0003).", "0.0003/0.0030"),
        ("Fisher's exact test gives p = 0.00047.", "0.00047/0.00037"),
        ("Boschloo's test gives p = 0.00037.", "0.00037/0.00047"),
        ("Of the northerners, 30.0% received a third strike.", "30.0/15.0"),
        ("The rate of southerners is 0.150.", "0.150/0.300"),
        ("The risk difference is 15.0 percentage points (95% CI 6.8 to 22.9).", "6.8/8.6"),
        ("A third strike was given to 60 of 200 northerners.", "60/30"),
        ("In all, 90 of 400 people received a third strike.", "90/80"),
        ("The table has 200 southerners.", "200/170"),
    ],
)
def test_every_statistic_of_a_table_is_checked(right: str, wrong: str) -> None:
    assert not pointed(right, "strikes")
    before, _, after = wrong.partition("/")
    assert pointed(right.replace(before, after), "strikes")


@pytest.mark.parametrize(
    "sentence",
    [
        "Northerners and southerners had rates of 30% and 15%, respectively.",
        "The rates were 30% (northerners) and 15% (southerners).",
        "60 of the 200 northerners (30%) and 30 of the 200 southerners (15%) got a third strike.",
        "The odds ratio was 2.43 (95% CI: 1.48, 3.97; p = 0.0003).",
        "Southerners were 50% less likely to receive a third strike.",
        "We compared 2 groups and used 3 tests.",
    ],
)
def test_common_forms_of_right_numbers_have_neither_fault_nor_hint(sentence: str) -> None:
    assert not pointed(sentence, "strikes")


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("Northerners get it 15 percentage points more often than southerners.", "more/less"),
        ("The rate of southerners is 15 points lower than that of northerners.", "lower/higher"),
    ],
)
def test_a_difference_in_the_wrong_direction_is_pointed_at(right: str, wrong: str) -> None:
    assert not pointed(right, "strikes")
    before, _, after = wrong.partition("/")
    assert pointed(right.replace(before, after), "strikes") == {"place"}


def test_a_complete_correct_report_has_no_fault_and_lists_what_only_a_person_can_check() -> None:
    subject = table(COUNTS, GROUPS, "sentence", "third strike")
    report = read_report(COMPLETE, subject, structure=True)
    assert report.faults == ()
    assert report.unchecked
    for item in report.unchecked:
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


@pytest.mark.parametrize(
    ("groups", "value"), [(("1", "2"), "1"), (("18-30", "31-50"), "yes"), (("A", "B"), "30")]
)
def test_labels_that_are_numbers_hide_no_number(groups: tuple[str, str], value: str) -> None:
    subject = table(COUNTS, groups, "hired", value)
    read = read_report("The odds ratio is 2.53.", subject, structure=False)
    assert [fault.kind for fault in read.faults] == ["number"]
    read = read_report("The odds ratio is 2.43.", subject, structure=False)
    assert (read.faults, read.hints) == ((), ())
