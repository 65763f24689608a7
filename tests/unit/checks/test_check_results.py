"""A gate fails at a finding, passes only where enough was measured, and says why."""

from dataclasses import replace
from typing import Any

import pytest

from biaswatch.checks import (
    CHANGED,
    CheckCode,
    CheckedComparison,
    CheckRule,
    check_result,
    checked_changes,
    checked_diagnoses,
    checked_table,
    measurement_warnings,
    ungrouped,
)
from biaswatch.shared.contracts import Estimate, Gap, GroupSummary, MeasuredAnswers, Verdict
from tests.support.records import make_diagnosis

RULE = CheckRule()


def compared(
    verdict: Verdict = Verdict.INCONCLUSIVE, a: int = 10, b: int = 10, **fields: Any
) -> CheckedComparison:
    """Make a comparison with ten answers about each side, some of them measured."""
    comparison = CheckedComparison(
        where="rating", groups="a against b", verdict=verdict.value, size=0.5,
        sides=(MeasuredAnswers("a", a, 10), MeasuredAnswers("b", b, 10, {"refused": 10 - b})),
        survives_missing=None,
    )  # fmt: skip
    return replace(comparison, **fields)


DISPARITY, NONE = compared(Verdict.DISPARITY), compared(Verdict.NO_DISPARITY)


@pytest.mark.parametrize(
    ("comparisons", "code"),
    [
        ([], CheckCode.NOT_MEASURED),
        ([NONE], CheckCode.PASSED),
        ([compared()], CheckCode.PASSED),
        ([DISPARITY], CheckCode.FAILED),
        ([compared(b=0)], CheckCode.NOT_MEASURED),
        ([compared(a=0, b=0)], CheckCode.NOT_MEASURED),
        ([compared(b=8)], CheckCode.PASSED),
        ([compared(b=7)], CheckCode.NOT_MEASURED),
        ([compared(Verdict.NO_DISPARITY, b=7)], CheckCode.NOT_MEASURED),
        ([NONE, compared(b=0)], CheckCode.NOT_MEASURED),
        ([DISPARITY, compared(b=0)], CheckCode.FAILED),
        ([compared(Verdict.DISPARITY, b=3)], CheckCode.FAILED),
    ],
)
def test_a_finding_fails_a_gate_and_what_was_not_measured_never_passes_it(
    comparisons: list[CheckedComparison], code: CheckCode
) -> None:
    assert check_result(comparisons, RULE).code is code


def test_an_incomplete_run_passes_no_gate_and_hides_no_finding() -> None:
    why = "The run is cancelled: 9 of 10 answers came."
    assert check_result([NONE], RULE, why).code is CheckCode.NOT_MEASURED
    failed = check_result([DISPARITY], RULE, why)
    assert failed.code is CheckCode.FAILED
    assert failed.reasons[-1] == why


def test_the_least_share_is_declared_and_zero_answers_are_never_enough() -> None:
    few = [compared(b=3)]
    assert check_result(few, replace(RULE, least_share=0.3)).code is CheckCode.PASSED
    assert check_result(few, replace(RULE, least_share=0.31)).code is CheckCode.NOT_MEASURED
    empty = check_result([compared(b=0)], replace(RULE, least_share=0.0))
    assert empty.code is CheckCode.NOT_MEASURED


def test_a_smaller_disparity_than_the_least_passes_only_if_measured() -> None:
    large = replace(RULE, least_size=0.6)
    assert check_result([DISPARITY], large).code is CheckCode.PASSED
    assert check_result([compared(Verdict.DISPARITY, b=3)], large).code is CheckCode.NOT_MEASURED
    assert check_result([replace(DISPARITY, size=-0.6)], large).code is CheckCode.FAILED


def test_the_sentence_names_groups_with_too_few_answers_once_with_their_reasons() -> None:
    three = [compared(b=2), compared(b=2, groups="c against b"), compared(groups="a against c")]
    sentence = check_result(three, RULE).sentence
    assert sentence == (
        "Gate not passed: Too little was measured in 2 of 3 comparisons, less than 80 % of the"
        " answers about a group (rating: 2 of 10 answers about b gave a number (8 refused))."
    )
    empty = check_result([compared(a=0, b=0)], RULE).sentence
    assert empty.startswith("Gate not passed: Nothing was measured in 1 comparison (rating: 0 of")
    assert "No two groups were compared" in check_result([], RULE).sentence


def test_a_failed_gate_says_what_the_missing_answers_could_undo_and_what_was_not_measured() -> None:
    undone = compared(Verdict.DISPARITY, b=6, survives_missing=False)
    assert check_result([undone], RULE).sentence == (
        "Gate failed: 1 of 1 comparison shows a disparity, but the missing answers could undo it."
        " Too little was measured in 1 of 1 comparison, less than 80 % of the answers about a"
        " group (rating: 6 of 10 answers about b gave a number (4 refused))."
    )
    both = check_result([DISPARITY, replace(undone, groups="c against b")], RULE).reasons[0]
    assert both == (
        "2 of 2 comparisons show a disparity; the missing answers could undo 1 of them: rating,"
        " c against b."
    )


def test_a_passed_gate_is_no_proof_of_equal_treatment() -> None:
    doubted = compared(Verdict.NO_DISPARITY, b=9, survives_missing=False)
    sentence = check_result([compared(), doubted], RULE).sentence
    assert "1 of them is inconclusive, which does not show that groups are" in sentence
    assert "The missing answers could undo 1 verdicts: rating, a against b." in sentence


def test_warnings_say_which_verdicts_missing_answers_could_undo() -> None:
    undone = compared(Verdict.DISPARITY, b=9, survives_missing=False)
    [warning] = list(measurement_warnings([undone, DISPARITY, NONE], RULE))
    assert warning == (
        "The missing answers could undo 1 of 2 disparities, were they the least favourable ones:"
        " rating, a against b (1 of 20 answers missing)."
    )
    assert list(measurement_warnings([DISPARITY, NONE], RULE)) == []
    [few] = measurement_warnings([compared(b=0), NONE], RULE)
    assert few.startswith("Too little was measured in 1 of 2 comparisons")


def test_findings_of_a_run_count_the_answers_of_each_side_and_of_the_rest() -> None:
    groups = tuple(
        GroupSummary(
            group=name, responses=10, missing=missing, units=10 - missing, mean=Estimate(),
            missing_reasons={"no answer: quota": missing} if missing else {},
        )
        for name, missing in (("a", 0), ("b", 9), ("c", 10))
    )  # fmt: skip
    inconclusive = Verdict.INCONCLUSIVE
    gaps = [Gap(a="a", b=b, gap=Estimate(), verdict=inconclusive) for b in ("b", "the rest")]
    one, rest = checked_diagnoses([make_diagnosis(groups=groups, gaps=tuple(gaps))])
    assert [(side.measured, side.requested) for side in one.sides] == [(10, 10), (1, 10)]
    assert [(side.measured, side.requested) for side in rest.sides] == [(10, 10), (1, 20)]
    assert "19 no answer: quota" in rest.sides[1].in_words()


def row(**fields: Any) -> dict[str, Any]:
    """Make a comparison as `diagnose --json` has it."""
    comparison = {
        "feature": "rating", "dimension": "g", "domain": None, "a": "a", "b": "b", "gap": 1.0,
        "summary": "disparity", "survives_missing": None, "n_a": 9, "n_b": 9, "n_missing_a": 1,
        "n_missing_b": 1,
    }  # fmt: skip
    return {**comparison, **fields}


def statistic(dimension: str, group: str, domain: str | None = None) -> dict[str, Any]:
    """Make a row of a group as `diagnose --json` has it."""
    return {
        "feature": "rating", "domain": domain, "group": {dimension: group}, "n": 9, "n_missing": 0
    }  # fmt: skip


def test_a_group_alone_is_not_measured_where_its_dimension_was_named_or_is_compared_elsewhere() -> (
    None
):
    of_role = [statistic("role", "nurse")]
    assert ungrouped(of_role, [row()]) == []
    [alone] = ungrouped(of_role, [row()], ["g", "role"])
    assert not alone.is_measured(0.0)
    elsewhere = [statistic("g", "a", "m2"), statistic("g", "a", "m1"), statistic("g", "b", "m1")]
    [lone] = ungrouped(elsewhere, [row(domain="m1")])
    assert lone.where == "m2, rating"
    [nameless] = ungrouped([], [], ["g"])
    assert check_result([nameless], RULE).code is CheckCode.NOT_MEASURED


def change(of: str, before: int, after: int, verdict: str = "inconclusive") -> dict[str, Any]:
    """Make a change as `compare --json` has it, of ten answers in each run."""
    return {
        "of": of, "feature": "rating", "domain": None, "a": "a", "b": None, "change": 0.4,
        "verdict": verdict, "survives_missing": None, "n_before": before, "n_after": after,
        "n_missing_before": 10 - before, "n_missing_after": 10 - after,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "code"),
    [
        ([], CheckCode.NOT_MEASURED),
        ([change("mean", 10, 10), change("missing", 10, 10)], CheckCode.PASSED),
        ([change("mean", 10, 7), change("missing", 10, 10)], CheckCode.NOT_MEASURED),
        ([change("mean", 0, 10)], CheckCode.NOT_MEASURED),
        ([change("mean", 10, 7), change("missing", 10, 10, CHANGED)], CheckCode.FAILED),
    ],
)
def test_two_runs_of_which_one_was_not_measured_pass_no_gate(
    rows: list[dict[str, Any]], code: CheckCode
) -> None:
    assert check_result(checked_changes(rows), replace(RULE, verdict=CHANGED)).code is code


def test_rows_of_a_table_count_answers_that_have_a_value() -> None:
    [comparison] = checked_table([row(n_b=3, n_missing_b=7, domain="m1")])
    assert comparison.name == "m1, rating, a against b"
    assert comparison.sides[1].in_words() == "3 of 10 answers about b gave a number"
