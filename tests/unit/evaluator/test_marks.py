"""Marks beside numbers: asked for, checked, and never shown to anybody."""

import pytest

from biaswatch.services.evaluator.domain.marks import mark_faults, mark_names, without_marks
from biaswatch.services.evaluator.domain.report_prompt import writing_prompt
from biaswatch.services.evaluator.domain.subjects import table_subject
from biaswatch.services.evaluator.handlers.rubric_files import load_rubric
from biaswatch.shared.contracts import Subject
from biaswatch.shared.stats.tables.two_by_two import as_json, two_by_two
from tests.support.reports import COUNTS, GROUPS


@pytest.fixture(scope="module")
def subject() -> Subject:
    found = as_json(two_by_two(*COUNTS))
    return table_subject(
        found, COUNTS, outcome="sentence", value="third strike", groups=GROUPS, alpha=0.05, least=15
    )


def test_marks_are_taken_out_and_keep_the_number_before_them() -> None:
    found = without_marks("The odds ratio is 2.429[[odds_ratio]] (1.485 [[odds_ratio.low]], x).")
    assert found.text == "The odds ratio is 2.429 (1.485, x)."
    assert [(each.mark, each.number and each.number.value) for each in found.numbers] == [
        ("odds_ratio", 2.429),
        ("odds_ratio.low", 1.485),
    ]


def test_a_report_without_marks_stays_as_it_is() -> None:
    report = "The odds ratio is 2.429 [see below], as [[ nobody ]doubts."
    assert without_marks(report).text == report


@pytest.mark.parametrize(
    ("marked", "kind"),
    [
        ("2.429[[odds_ratio]]", None),
        ("2.43[[odds_ratio]]", None),
        ("2.000[[odds_ratio]]", "place"),
        ("2.777[[odds_ratio]]", "number"),
        ("3.972[[odds_ratio.high]]", None),
        ("1.485[[odds_ratio.high]]", "place"),
        ("0.0003[[chi_square.p]]", None),
        ("12.9032[[chi_square]]", None),
        ("12.9032[[chi_square.p]]", "place"),
        ("60[[with_1]]", None),
        ("30[[with_1]]", "place"),
        ("140[[without_1]]", None),
        ("200[[all_2]]", None),
        ("400[[cases]]", None),
        ("15[[least]]", None),
        ("95%[[level]]", None),
        ("0.05[[alpha]]", None),
        ("0.95[[alpha]]", "place"),
        ("1[[no_difference]]", None),
        ("2.429[[oddsratio]]", "mark"),
        ("many[[cases]]", "mark"),
    ],
)
def test_a_marked_number_has_to_be_what_its_mark_says(
    marked: str, kind: str | None, subject: Subject
) -> None:
    numbers = without_marks(f"It is {marked}.").numbers
    assert [found for found, _ in mark_faults(numbers, subject)] == ([kind] if kind else [])


def test_the_writer_is_told_every_mark(subject: Subject) -> None:
    prompt = writing_prompt(subject, load_rubric().profiles["general"])
    assert all(f"[[{name}]]" in prompt for name in mark_names(subject))
