"""Two runs that hardly share a prompt: what changed, by all their answers."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from biaswatch.shared.analysis.changes.run_changes import (
    ChangeOf,
    ChangePlan,
    ChangeVerdict,
    RunChange,
    RunChanges,
)
from biaswatch.shared.analysis.changes.unmatched_changes import compare_whole_runs
from biaswatch.shared.analysis.findings.groupings import ComparisonPlan
from biaswatch.shared.analysis.findings.observations import Observations
from tests.support.two_runs import run_of

PLAN = ChangePlan(ComparisonPlan())
SIZES = {"black": 60, "white": 60}


def renamed(run: Observations, first: int = 0) -> Observations:
    """Return a run whose prompts from a number on have names of their own."""
    numbers = [int(str(unit).strip("blackwhite")) for unit in run.units or ()]
    units = [f"new-{unit}" if n >= first else unit for unit, n in
             zip(run.units or (), numbers, strict=True)]  # fmt: skip
    return replace(run, units=units)


def drawn(seed: int, shift: float = 0.0, *, twins: bool = True) -> Observations:
    rng = np.random.default_rng(seed)
    return run_of(
        rng, SIZES,
        lambda r, group, _: float(r.normal(5 + (shift if group == "black" else 0), 1)), twins=twins,
    )  # fmt: skip


def compared(before: Observations, after: Observations, plan: ChangePlan = PLAN) -> RunChanges:
    return compare_whole_runs([("", before, after)], plan)


def only(run_changes: RunChanges, of: ChangeOf, a: str | None = None) -> RunChange:
    [one] = [
        change for change in run_changes.changes if (change.subject.of, change.subject.a) == (of, a)
    ]
    return one


def test_a_level_is_compared_as_two_groups_are() -> None:
    before, after = drawn(1, twins=False), renamed(drawn(2, 0.8, twins=False))
    result = only(compared(before, after), ChangeOf.MEAN, "black")
    a, b = (run.values[np.array(run.groups["race"]) == "black", 0] for run in (after, before))
    expected = stats.ttest_ind(a, b, equal_var=False).confidence_interval(0.95)
    low, high = result.by_itself.low, result.by_itself.high
    assert result.change.value == pytest.approx(a.mean() - b.mean())
    assert (low, high) == pytest.approx((expected.low, expected.high), rel=0.05)
    assert (result.before, result.after) == pytest.approx((b.mean(), a.mean()))


def test_a_gap_that_grew_is_found_and_one_that_stayed_is_not() -> None:
    grown = compared(drawn(3), renamed(drawn(4, 2.0)))
    assert only(grown, ChangeOf.GAP, "black").verdict is ChangeVerdict.CHANGED
    same = compared(drawn(5), renamed(drawn(6)))
    assert {change.verdict for change in same.changes} == {ChangeVerdict.INCONCLUSIVE}
    assert same.gaps + same.levels == len(same.changes)


def test_prompts_of_both_runs_are_pairs_and_make_a_change_surer() -> None:
    rng = np.random.default_rng(7)
    before = run_of(rng, SIZES, lambda r, _, n: float(n + r.normal(0, 0.1)), twins=False)
    after = replace(before, values=before.values + 0.5)
    apart, partly = (
        only(compared(before, renamed(after, first)), ChangeOf.MEAN, "black") for first in (0, 30)
    )
    assert apart.verdict is ChangeVerdict.INCONCLUSIVE
    assert partly.p_value is not None
    assert apart.p_value is not None
    assert partly.p_value < 0.01 < apart.p_value


def test_sets_of_other_suites_that_are_called_alike_are_not_the_same() -> None:
    result = only(compared(drawn(8), renamed(drawn(9))), ChangeOf.MEAN)
    assert "pairs" not in result.by_itself.method


def test_a_verdict_says_whether_the_missing_answers_could_undo_it() -> None:
    before, after = drawn(10), renamed(drawn(11, 2.0))
    values = after.values.copy()
    values[:40] = np.nan
    result = only(compared(before, replace(after, values=values)), ChangeOf.GAP, "black")
    assert result.verdict is ChangeVerdict.CHANGED
    assert result.survives_missing is False
    assert "the 40 missing answers could undo it" in result.reason
    assert (result.n_missing_before, result.n_missing_after) == (0, 40)


def test_a_group_that_one_run_alone_asked_is_in_no_comparison() -> None:
    before = run_of(np.random.default_rng(1), {"a": 9}, lambda r, _g, _n: float(r.normal()))
    after = run_of(np.random.default_rng(2), {"b": 9}, lambda r, _g, _n: float(r.normal()))
    result = compared(before, after)
    assert {
        change.subject.a for change in result.changes if change.subject.of is ChangeOf.MEAN
    } == {None}
    assert only(result, ChangeOf.GAP, "a").verdict is ChangeVerdict.INCONCLUSIVE


def test_equal_runs_of_other_prompts_are_said_to_differ_as_rarely_as_promised() -> None:
    wrong = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        runs = [
            run_of(rng, {"a": 12, "b": 40}, lambda r, _g, _n: float(r.random() < 0.1), twins=False)
            for _ in range(2)
        ]
        result = compared(runs[0], renamed(replace(runs[1], units=[f"b{n}" for n in range(52)])))
        wrong += any(change.verdict is ChangeVerdict.CHANGED for change in result.changes)
    assert wrong <= 18  # 5 % and 2.6 standard errors
