"""Statements about a table: what is true of it passes, what is not is named by its kind."""

import random

import pytest

from benchmarks.checker.__main__ import CORRECT, NUMBERS, planted
from biaswatch.services.evaluator.domain.checks.report_faults import (
    faults_of,
    statement_faults,
    unchecked_sentences,
)
from biaswatch.services.evaluator.domain.checks.written_numbers import Unit, numbers_in
from biaswatch.services.evaluator.domain.subjects import table_subject
from biaswatch.services.evaluator.handlers.rubric_files import load_rubric
from biaswatch.shared.contracts import Measure, Subject
from biaswatch.shared.stats.tables.two_by_two import as_json, two_by_two
from tests.support.reports import COMPLETE

PROFILE = load_rubric().profiles["general"]
GROUPS = ("northerners", "southerners")


def table(*counts: int, least: int = 15) -> Subject:
    found = as_json(two_by_two(*counts))
    return table_subject(
        found, counts, outcome="sentence", value="third strike", groups=GROUPS, alpha=0.05,
        least=least,
    )  # fmt: skip


SURE, UNSURE = table(60, 140, 30, 170), table(41, 159, 47, 153)


def kinds(text: str, subject: Subject = SURE) -> set[str]:
    return {kind for kind, _ in statement_faults(text, subject, PROFILE)}


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        (".618", 0.618, Unit.PLAIN),
        ("4.1x", 4.1, Unit.TIMES),
        ("6.41e-04", 6.41e-4, Unit.PLAIN),
        ("6.4 \u00d7 10^-4", 6.4e-4, Unit.PLAIN),
        ("61.8 percent", 61.8, Unit.PERCENT),
        ("15 percentage points", 15.0, Unit.POINTS),
        ("\u22120.15", -0.15, Unit.PLAIN),
        ("1,234", 1234.0, Unit.PLAIN),
        ("twice", 2.0, Unit.TIMES),
    ],
)
def test_numbers_are_read_in_all_the_ways_people_write_them(
    text: str, value: float, unit: Unit
) -> None:
    [number] = numbers_in(f"It is {text} here.")
    assert number.value == pytest.approx(value)
    assert number.unit is unit


@pytest.mark.parametrize(
    "text",
    [
        "The odds ratio is 2.43 (95% CI 1.48 to 3.97).",
        "30.0 % of northerners and 15.0 % of southerners received it.",
        "The p-value of the chi-square test is 3.28e-04, so p < 0.001.",
        "The p-value is below the 0.05 level.",
        "The risk difference is 15 percentage points.",
        "Northerners were twice as likely as southerners to receive it.",
        "Northerners had a 100% higher risk.",
        "There are 400 cases, far more than the 15 a group needs.",
        "The interval excludes 1.",
    ],
)
def test_what_the_statistics_say_passes_however_it_is_written(text: str) -> None:
    assert kinds(text) == set()


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("The odds ratio is 2.53.", "number"),
        ("The odds ratio is 2.00.", "place"),
        ("The odds ratio is 2.43 (95% CI 3.97 to 1.48).", "interval"),
        ("15.0 % of northerners received it.", "place"),
        ("The p-value is 12.9032.", "place"),
        ("The odds ratio is 1.", "place"),
        ("There are 15 northerners.", "place"),
        ("There were 95 of them.", "number"),
        ("Southerners were more likely to receive it.", "direction"),
        ("Northerners were less likely to be spared it than southerners.", None),
        ("Southerners received it 2.0 times as often as northerners.", "direction"),
        ("The association is not significant.", "significance"),
        ("The difference may well be due to chance.", "significance"),
        ("The interval of the odds ratio includes 1.", "interval"),
        ("Being a northerner causes longer sentences.", "cause"),
        ("It is not by accident that prejudice led to the disparity.", "cause"),
        ("The statistics cannot show that prejudice led to the disparity.", None),
        ("The odds ratio is smaller than the relative risk.", "direction"),
    ],
)
def test_what_they_do_not_say_is_named_by_its_kind(text: str, kind: str | None) -> None:
    assert kinds(text) == ({kind} if kind else set())


def test_significance_that_is_not_there_is_claimed_in_vain() -> None:
    assert kinds("The association is significant.", UNSURE) == {"significance"}
    assert kinds("There is no evidence of an association.", UNSURE) == set()


def test_what_is_not_shown_is_not_disproved() -> None:
    assert kinds("The data prove that there is no difference.", UNSURE) == {"significance"}


def test_a_note_that_is_left_out_is_missed_and_one_that_is_denied_is_found() -> None:
    small = table(2, 8, 6, 4)
    assert "Fewer than 15 cases" in " ".join(small.notes)
    assert "note" in kinds("Both groups are large enough.", small)
    said = {f.kind for f in faults_of(COMPLETE, small, PROFILE) if not f.where}
    assert said == {"note"}


def test_planted_errors_in_sentences_about_two_dozen_tables_are_caught() -> None:
    """The whole of `python -m benchmarks.checker`, which prints rates by kind."""
    caught, errors, flagged, right = 0, 0, 0, 0
    for told, kind, text, _ in planted():
        found = bool(statement_faults(text, told.subject, PROFILE))
        if kind == CORRECT:
            flagged, right = flagged + found, right + 1
        else:
            caught, errors = caught + found, errors + 1
    assert errors + right > 1000
    assert NUMBERS
    assert caught >= 0.98 * errors
    assert flagged <= 0.02 * right


def test_groups_called_a_and_b_are_not_every_a() -> None:
    found = as_json(two_by_two(60, 140, 30, 170))
    lettered = table_subject(
        found, (60, 140, 30, 170), outcome="o", value="v", groups=("A", "B"), alpha=0.05, least=15
    )
    said = "A confidence interval of (1.485, 3.972) belongs to an odds ratio of 2.429."
    assert kinds(said, lettered) == set()
    assert kinds("Group B had a higher rate than group A.", lettered) == {"direction"}
    assert kinds("Group A had a higher rate than group B.", lettered) == set()


def test_a_subject_as_anybody_may_send_it_is_checked_without_an_accident() -> None:
    rng = random.Random(1)
    names = ("odds_ratio", "odds_ratio_within", "my-measure", "1-x", "g0", "chi_square", "mean_1")
    values = (None, 0.0, 1.0, -1.0, 1e-300, 1e300, 2.43)
    for _ in range(200):
        measures = [
            Measure(
                name=name, label=rng.choice((name, "Odds Ratio", "Label (%s) [x")),
                value=rng.choice(values), low=rng.choice(values), high=rng.choice(values),
                no_difference=rng.choice((None, 0, 1)), p_value=rng.choice((None, 0.0, 0.3)),
            )
            for name in rng.sample(names, rng.randint(0, 5))
        ]  # fmt: skip
        strange = Subject(
            outcome="o", value="v", cases=0, measures=tuple(measures),
            groups=rng.choice((("A", "B"), ("in", "of"), ("C++", "(x"), ("18", "65+"))),
            counts=rng.choice(((), (0, 0, 0, 0), (1, 2, 3, 4), (5, 6))),
        )  # fmt: skip
        text = f"{COMPLETE} Within strata the odds ratio reverses. It excludes 1."
        assert isinstance(faults_of(text, strange, PROFILE), tuple)


def test_a_number_whose_words_leave_open_what_it_is_is_listed_and_not_flagged() -> None:
    said = "Compared with southerners, northerners fare otherwise, 15.0% and all."
    report = f"# Findings\n\nAll is shown here. {said}"
    assert kinds(said) == set()
    _, [left] = unchecked_sentences(report, SURE)
    assert (left.where, left.number, left.values) == ("Findings", 2, ("15.0%",))
    assert report[left.start : left.end] == said


def test_a_fault_says_where_its_sentence_stands_however_the_lines_break() -> None:
    report = "# Findings\n\nAll is shown here. The odds ratio\nis 2.53."
    [found] = [each for each in faults_of(report, SURE, PROFILE) if each.kind == "number"]
    assert report[found.start : found.end] == "The odds ratio\nis 2.53."
