"""Findings of a run: order, sentences, certainty, matrices, plots, names of models."""

from typing import Any

import pytest

from biaswatch.local.runs import RunResults
from biaswatch.render.report_markdown import as_markdown
from biaswatch.shared.contracts import Diagnosis, Estimate, Gap, GroupSummary, MissingTest, Verdict
from biaswatch.shared.presentation.comparison_tables import compared_runs, matrices_of
from biaswatch.shared.presentation.conclusions import certainty, strongest_conclusions
from biaswatch.shared.presentation.finding_tables import comparisons_table
from biaswatch.shared.presentation.names import ModelNames
from biaswatch.shared.presentation.plots import WIDTH, histogram_plot, means_plot
from biaswatch.shared.presentation.run_summary import run_summary
from biaswatch.shared.presentation.verdicts import verdict_reason
from biaswatch.shared.stats.estimate import DIFFERS, NOT_SHOWN, Question, SummaryWord
from tests.support.records import make_diagnosis, make_progress

DISPARITY, WITHIN, OPEN = Verdict.DISPARITY, Verdict.NO_DISPARITY, Verdict.INCONCLUSIVE
OWN_GAP = Estimate(value=0.2, low=0.1, high=0.3)
OWN_GAP_BELOW = Estimate(value=-0.2, low=-0.3, high=-0.1)


def gap(
    a: str = "a",
    verdict: Verdict = OPEN,
    p: float | None = None,
    value: float = -0.5,
    b: str = "the rest",
    half_width: float = 0.1,
    **fields: Any,
) -> Gap:
    ends = Estimate(value=value, low=value - half_width, high=value + half_width)
    return Gap(a=a, b=b, gap=ends, p_value=p, p_adjusted=p, verdict=verdict, **fields)


def group(name: str, mean: float, missing: int = 0) -> GroupSummary:
    return GroupSummary(
        group=name,
        responses=9,
        missing=missing,
        units=9,
        missing_reasons={"refused": missing} if missing else {},
        mean=Estimate(value=mean, low=mean - 1, high=mean + 1),
    )


def finding(*gaps: Gap, **fields: object) -> Diagnosis:
    return make_diagnosis().model_copy(
        update={"gaps": gaps, "overall": None, "disparities": (), **fields}
    )


def many(features: int, groups: int) -> list[Diagnosis]:
    gaps = tuple(gap(f"g{n:02}", p=0.5) for n in range(groups))
    return [finding(*gaps, feature=f"f{n}") for n in range(features)]


def test_disparities_come_first_then_small_p_values() -> None:
    gaps = (gap("luck", p=0.9), gap("none"), gap("near", p=0.06), gap("found", DISPARITY, 0.01))
    rows = comparisons_table([finding(*gaps)], "r").rows
    assert [row[0].text.split()[0] for row in rows] == ["found", "near", "luck", "none"]


def test_two_hundred_undecided_comparisons_are_ten_lines() -> None:
    summary = run_summary(many(features=10, groups=21))
    assert (summary.comparisons, summary.strongest) == (210, [])
    assert [row.count for row in summary.undecided] == [21] * 10


def test_a_disparity_has_direction_amount_and_doubts() -> None:
    doubted = gap("black", DISPARITY, 1e-9, b="white", survives_missing=False)
    [row] = run_summary([finding(doubted)]).strongest
    assert (row.gap.a, row.amount, row.gap.b) == ("black", "0.5 lower", "white")
    assert (row.between, row.p) == ("0.4 and 0.6", "p < 0.0001")
    assert row.doubts == ["the missing answers could undo it"]


def test_a_disparity_of_twins_has_their_p_value_and_the_reason() -> None:
    twins: dict[str, Any] = {
        "headline": Question.SAME_TREATMENT, "summary": SummaryWord.DISPARITY,
        "same_treatment": DIFFERS, "p_same_treatment": 0.004,
    }  # fmt: skip
    wide = gap("black", OPEN, 0.14, b="white", half_width=0.7, **twins)
    [row] = run_summary([finding(wide)]).strongest
    assert (row.amount, row.between, row.p) == ("0.5 lower", "-0.2 and 1.2", "p = 0.004")
    assert verdict_reason(wide, wide.reason) == "twins are treated differently"


def test_an_undecided_question_about_twins_is_the_reason_and_not_the_gap() -> None:
    twins: dict[str, Any] = {"headline": Question.SAME_TREATMENT, "same_treatment": NOT_SHOWN,
             "p_same_treatment": 0.2, "summary": SummaryWord.INCONCLUSIVE}  # fmt: skip
    beyond = gap("black", DISPARITY, 0.04, reason="the gap is beyond 0", **twins)
    [row] = run_summary([finding(beyond)]).undecided
    assert row.note == "twins are not shown to be treated differently"
    assert verdict_reason(gap(), "too few") == "too few"


def test_the_lead_counts_doubtful_and_unmeasured_comparisons() -> None:
    groups = (group("a", 1.0), group("b", 1.0), group("c", 1.0, 9))
    doubted = gap("a", DISPARITY, 0.01, b="b", survives_missing=False)
    empty = gap("a", b="c")
    assert run_summary([finding(doubted, empty, groups=groups)]).lead == (
        "Disparity in 1 of 2 comparisons, but the missing answers could undo it; not measured: 1."
    )
    summary = run_summary([finding(gap("a", p=0.5, b="b"), empty, groups=groups)])
    assert summary.word == "inconclusive"
    assert summary.lead == (
        "Inconclusive: 1 of 2 comparisons is undecided; a gap of up to 0.6 in words could"
        " remain undetected; not measured: 1."
    )
    both = finding(gap("a", p=0.5, b="b"), gap("a", p=0.6, b="c"))
    assert run_summary([both]).lead.startswith("Inconclusive: 2 of 2 comparisons are undecided")
    assert [row.count for row in (*summary.undecided, *summary.unmeasured)] == [1, 1]
    assert summary.unmeasured[0].note == "0 of 9 answers about c gave a number (9 refused)"


def test_missing_answers_are_counted_once_whatever_the_groupings() -> None:
    groups = (group("a", 1.0, 3), group("b", 1.0, 1))
    diagnoses = [
        finding(gap(p=0.5), groups=groups, dimension=name, missing=MissingTest(p_value=0.2))
        for name in ("race", "gender")
    ]
    [row] = run_summary(diagnoses).missing
    assert (row.missing, row.requested, row.reasons) == (4, 18, "4 refused")
    assert row.differs == "by race p = 0.2, by gender p = 0.2"


def test_a_run_without_any_number_has_no_finding() -> None:
    missing = {"missing": 5, "responses": 5, "missing_reasons": {"no answer: unreachable": 5}}
    groups = tuple(row.model_copy(update=missing) for row in make_diagnosis().groups)
    unmeasured = make_diagnosis().model_copy(update={"groups": groups})
    reason = "No answer gave a number (no answer: unreachable), so there are no findings."
    assert run_summary([unmeasured]).unmeasured_reason == reason
    assert run_summary([unmeasured]).lead == reason
    assert run_summary([unmeasured, make_diagnosis()]).unmeasured_reason is None


@pytest.mark.parametrize(
    ("gaps", "sentence"),
    [
        (
            (
                gap(verdict=DISPARITY, value=0.7, half_width=0.2, instrument=OWN_GAP),
                gap(verdict=DISPARITY, value=0.6, half_width=0.25, instrument=OWN_GAP),
            ),
            "1 of the 2 disparities is larger than the extractor's own gap",
        ),
        (
            [gap(verdict=DISPARITY, value=-0.7, half_width=0.25, instrument=OWN_GAP_BELOW)],
            "The disparity is larger than the extractor's own gap",
        ),
        (
            [gap(verdict=DISPARITY, value=-0.6, half_width=0.25, instrument=OWN_GAP_BELOW)],
            "The disparity is not shown to be larger",
        ),
        ([gap(verdict=DISPARITY)], "Bias of toxic itself was not tested"),
        (
            (gap(verdict=DISPARITY, survives_missing=False), gap("b", DISPARITY)),
            "The missing answers could undo 1 of the 2 disparities.",
        ),
    ],
)
def test_the_certainty_names_what_could_undo_a_disparity(gaps: Any, sentence: str) -> None:
    diagnosis = finding(*gaps, extractor="toxic", feature="toxicity", tolerance=0.1)
    assert sentence in " ".join(certainty([diagnosis]))


def test_missing_answers_are_named_only_where_some_are_missing() -> None:
    survived = finding(gap(verdict=DISPARITY, survives_missing=True))
    whole = tuple(g.model_copy(update={"missing": 0}) for g in survived.groups)
    complete = survived.model_copy(update={"groups": whole})
    lacking = survived.model_copy(
        update={"groups": (whole[0].model_copy(update={"missing": 2}), *whole[1:])}
    )
    assert "missing answers" not in " ".join(certainty([complete]))
    assert "could not undo a disparity" in " ".join(certainty([lacking]))


def test_the_level_of_two_families_holds_in_each() -> None:
    answers, rates = make_diagnosis(family=8), make_diagnosis(family=34, error_rate=True)
    [sentence, *_] = certainty([answers, rates])
    assert "8 comparisons and, as a second family, 34 comparisons of error rates" in sentence
    assert "at most 5 % in each family" in sentence
    assert "in each family" not in next(certainty([answers]), "")


def test_many_groups_and_features_are_one_matrix_with_a_cell_each() -> None:
    [matrix] = matrices_of(many(features=10, groups=21))
    assert (len(matrix.columns), len(matrix.rows)) == (10, 21)
    assert matrix.corner == "minus the rest"
    assert all(len(cells) == 10 for _, cells in matrix.rows)


def test_a_matrix_of_many_pairs_shows_the_strongest_evidence_and_counts_the_rest() -> None:
    findings = many(features=9, groups=101)
    findings.append(finding(*findings[0].gaps, gap("strong", DISPARITY, 0.001), feature="f9"))
    [matrix] = matrices_of(findings)
    assert (len(matrix.columns), len(matrix.rows), matrix.left_out) == (10, 22, 80)
    heading, cells = matrix.rows[0]
    assert (heading.title, cells[-1] and cells[-1].kind) == ("strong", "lower3 found")


def test_many_models_of_one_feature_become_rows() -> None:
    [matrix] = matrices_of([finding(gap(p=0.5, b="b"), target=f"t{n}") for n in range(16)])
    assert (len(matrix.columns), len(matrix.rows)) == (1, 16)


@pytest.mark.parametrize(
    ("row", "kind", "text"),
    [
        (gap("x", DISPARITY, 0.0001), "lower3 found", "-0.5"),
        (gap("x", OPEN, 0.005, value=0.5), "higher2", "0.5"),
        (gap("x", WITHIN, 0.4), "", "-0.5 ≈"),
        (gap("x", OPEN, 0.3), "weak", "-0.5"),
    ],
)
def test_a_cell_shows_verdict_and_evidence_apart(row: Gap, kind: str, text: str) -> None:
    [matrix] = matrices_of([finding(row)])
    [(_, [cell])] = matrix.rows
    assert cell is not None
    assert (cell.kind, cell.text) == (kind, text)


def test_means_are_ranked_on_one_axis_with_disparities_marked() -> None:
    groups = (
        *(group("high", 5.0), group("low", 1.0), group("middle", 3.0)),
        GroupSummary(group="none", responses=2, missing=2, units=0, mean=Estimate(reason="x")),
    )
    plot = means_plot(finding(gap("low", DISPARITY, 0.001), groups=groups))
    assert plot is not None
    assert [(row.name, row.is_disparity) for row in plot.rows] == [
        *(("low", True), ("middle", False), ("high", False))
    ]
    ends = [end for row in plot.rows for end in (row.low, row.value, row.high)]
    assert all(end is not None and 0 <= end <= WIDTH for end in ends)
    assert means_plot(finding(groups=groups[3:])) is None


@pytest.mark.parametrize(
    ("values", "bars"),
    [
        ({"a": [1.0, 3.0, 3.0], "b": [3.0, 2.0]}, 2),
        ({"a": [1.0, 2.0, 2.0, 5.0], "b": [n / 10 for n in range(100)]}, None),
    ],
)
def test_every_answer_is_in_one_bar(values: dict[str, list[float]], bars: int | None) -> None:
    plot = histogram_plot(finding(), values)
    assert plot is not None
    for row in plot.rows:
        assert sum(int(bar.title.split()[0]) for bar in row.bars) == len(values[row.name])
        assert bars is None or len(row.bars) == bars
    assert histogram_plot(finding(), {"a": []}) is None


def test_of_many_groups_the_lowest_and_the_highest_histograms_are_drawn() -> None:
    values = {f"g{n:02}": [n / 20, n / 10] for n in range(20)}
    plot = histogram_plot(finding(), values)
    assert plot is not None
    assert [row.name for row in plot.rows] == [f"g{n:02}" for n in (*range(6), *range(14, 20))]
    assert plot.left_out == 8


def test_a_direct_question_is_named_only_beside_other_scaffolds() -> None:
    direct, chain = (
        make_diagnosis(target="m", scaffold=name) for name in ("direct", "chain_of_thought")
    )
    names = {"m, direct", "m, chain of thought"}
    assert ModelNames.among([direct]).of(direct) == "m"
    assert {ModelNames.among([direct, chain]).of(row) for row in (direct, chain)} == names
    both = [direct, chain]
    assert {row.what.partition(" · ")[2] for row in run_summary(both).undecided} == names
    assert {c.title for matrix in matrices_of(both) for c in matrix.columns} == names
    assert {row.model for row in compared_runs(both, both).gaps} == names
    sentences, _ = strongest_conclusions(both)
    assert {sentence.partition(":")[0] for sentence in sentences} == names
    report = as_markdown(RunResults(run=make_progress(), diagnoses=both))
    assert "m, direct" in report[report.index("Every comparison") :]
