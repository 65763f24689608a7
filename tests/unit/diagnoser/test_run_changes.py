"""Changes between two runs: numbers, family, verdicts, missing answers, prompts that differ."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from biaswatch.shared.analysis.changes.matched_changes import compare_runs
from biaswatch.shared.analysis.changes.run_changes import (
    ChangeOf,
    ChangePlan,
    ChangeVerdict,
    RunChange,
    RunChanges,
)
from biaswatch.shared.analysis.findings.groupings import ComparisonPlan
from biaswatch.shared.analysis.findings.observations import Observations
from biaswatch.shared.contracts import Claim
from tests.support.two_runs import matched_of, run_of

SIZES = {"a": 40, "b": 40}


def plan(
    *, tolerance: float = 0.0, claim: Claim = Claim.POPULATION, missing_tolerance: float = 0.0
) -> ChangePlan:
    return ChangePlan(ComparisonPlan(tolerance=tolerance, claim=claim), missing_tolerance)


def normal(rng: np.random.Generator, group: str, number: int) -> float:
    """Draw from a level of the prompt and of the group, beyond any range that is implied."""
    return 100 + 10 * (group == "a") + number % 7 + rng.normal()


def compared(before: Observations, after: Observations, declared: ChangePlan) -> RunChanges:
    return compare_runs(matched_of(before, after), declared)


def only(run_changes: RunChanges, of: ChangeOf, a: str | None = None) -> RunChange:
    return next(c for c in run_changes.changes if c.subject.of is of and c.subject.a == a)


def by_prompt(run: Observations) -> dict[str, float]:
    """Compute each prompt's mean in plain Python."""
    result: dict[str, list[float]] = {}
    for unit, value in zip(run.units or (), run.values[:, 0], strict=True):
        if np.isfinite(value):
            result.setdefault(str(unit), []).append(float(value))
    return {unit: sum(values) / len(values) for unit, values in result.items()}


def shifted(run: Observations, by: float, group: str | None = None) -> Observations:
    labels = run.groups["race"]
    move = np.array([[by if group in {None, label} else 0.0] for label in labels])
    return replace(run, values=run.values + move)


def without(run: Observations, rows: list[int]) -> Observations:
    values = run.values.copy()
    values[rows] = np.nan
    return replace(run, values=values)


def test_a_changed_gap_of_twins_is_the_difference_of_differences() -> None:
    rng = np.random.default_rng(1)
    before = run_of(rng, SIZES, normal, repeats=3)
    after = shifted(run_of(rng, SIZES, normal, repeats=3), 2.0, "a")
    result = compared(before, after, plan())
    was, now = by_prompt(before), by_prompt(after)
    changes = [now[f"a{n}"] - now[f"b{n}"] - was[f"a{n}"] + was[f"b{n}"] for n in range(40)]
    change = only(result, ChangeOf.GAP, "a")
    assert (result.gaps, result.levels) == (1, 6)  # means and missing shares of all, a, b
    assert change.change.value == pytest.approx(np.mean(changes), abs=1e-10)
    assert change.before == pytest.approx(np.mean([was[f"a{n}"] - was[f"b{n}"] for n in range(40)]))
    assert change.after is not None
    assert change.before is not None
    assert change.after - change.before == pytest.approx(change.change.value, abs=1e-10)
    reach = stats.t.ppf(1 - 0.05 / 2, 39) * stats.sem(changes)
    assert change.change.low == pytest.approx(np.mean(changes) - reach, rel=1e-3)
    assert change.by_itself.low == change.change.low  # the only gap
    assert change.verdict is ChangeVerdict.CHANGED


def test_a_changed_level_is_the_mean_change_of_its_units() -> None:
    rng = np.random.default_rng(2)
    before, after = (run_of(rng, {"a": 30, "b": 20}, normal, twins=False) for _ in range(2))
    result = compared(before, shifted(after, 3.0, "b"), plan())
    was, now = by_prompt(before), by_prompt(shifted(after, 3.0, "b"))
    for group, prompts in (("a", 30), ("b", 20)):
        own = [now[f"{group}{n}"] - was[f"{group}{n}"] for n in range(prompts)]
        level = only(result, ChangeOf.MEAN, group)
        assert level.change.value == pytest.approx(np.mean(own), abs=1e-10)
        reach = stats.t.ppf(1 - 0.05 / 6 / 2, prompts - 1) * stats.sem(own)
        assert level.change.high == pytest.approx(np.mean(own) + reach, rel=1e-3)
    assert only(result, ChangeOf.MEAN, "a").verdict is ChangeVerdict.INCONCLUSIVE
    assert only(result, ChangeOf.MEAN, "b").verdict is ChangeVerdict.CHANGED


def test_a_bank_is_compared_by_answers_and_its_change_is_known_where_none_varies() -> None:
    def fixed(_rng: np.random.Generator, group: str, number: int) -> float:
        return float(group == "a" and number < 5)

    rng = np.random.default_rng(4)
    before = run_of(rng, {"a": 10, "b": 10}, lambda *_: 0.0, repeats=2)
    after = run_of(rng, {"a": 10, "b": 10}, fixed, repeats=2)
    guessed = compared(before, after, plan(claim=Claim.BANK)).changes
    assert all(item.verdict is not ChangeVerdict.CHANGED for item in guessed)
    before, after = (replace(run, ranges={"rating": (0.0, 1.0)}) for run in (before, after))
    gap = only(compared(before, after, plan(claim=Claim.BANK)), ChangeOf.GAP, "a")
    assert gap.verdict is ChangeVerdict.CHANGED
    assert (gap.before, gap.after, gap.change.value) == (0.0, 0.5, 0.5)
    assert gap.p_value == pytest.approx(2 * np.exp(-5 * 2))
    assert (gap.change.low, gap.change.high) == (None, None)
    assert "never vary" in gap.reason
    assert "in each run" in (gap.change.reason or "")


def test_a_bank_of_which_one_prompt_is_answered_either_way_is_rarely_said_to_have_changed() -> None:
    def either(rng: np.random.Generator, group: str, number: int) -> float:
        return float(rng.random() < 0.5) if (group, number) == ("a", 0) else float(number % 2)

    false = 0
    for seed in range(60):  # in one of eight it is answered 0, 0 and 1, 1 in the two runs
        rng = np.random.default_rng(seed)
        before, after = (run_of(rng, {"a": 6, "b": 6}, either, repeats=2) for _ in range(2))
        changes = compared(before, after, plan(claim=Claim.BANK)).changes
        false += any(item.verdict is ChangeVerdict.CHANGED for item in changes)
    assert false == 0


def test_a_gap_of_a_bank_changes_by_the_spread_within_prompts_alone() -> None:
    rng = np.random.default_rng(5)
    before, after = (run_of(rng, {"a": 20, "b": 20}, normal, repeats=4) for _ in range(2))
    gap = only(compared(before, after, plan(claim=Claim.BANK)), ChangeOf.GAP, "a")
    variance = 0.0
    for run in (before, after):
        answers = run.values[:, 0].reshape(40, 4)
        variance += (answers.var(axis=1, ddof=1) / 4 / 20**2).sum()
    reach = stats.t.ppf(1 - 0.05 / 2, 4 * 20 * 3) * np.sqrt(variance)
    assert gap.by_itself.low is not None
    assert gap.by_itself.value is not None
    assert gap.by_itself.value - gap.by_itself.low == pytest.approx(reach, rel=0.01)


def test_a_changed_gap_of_a_bank_is_tested_against_the_whole_tolerance() -> None:
    """The change is twice the gap of two halves, which are tested at half of the tolerance."""
    rng = np.random.default_rng(5)
    before, after = (run_of(rng, {"a": 20, "b": 20}, normal, repeats=4) for _ in range(2))
    after = shifted(after, 0.5, "a")
    tolerance, variance = 0.3, 0.0
    for run in (before, after):
        variance += (run.values[:, 0].reshape(40, 4).var(axis=1, ddof=1) / 4 / 20**2).sum()
    declared = plan(tolerance=tolerance, claim=Claim.BANK)
    gap = only(compared(before, after, declared), ChangeOf.GAP, "a")
    assert gap.change.value is not None
    scores = [(gap.change.value + side * tolerance) / np.sqrt(variance) for side in (-1, 1)]
    beyond = float(stats.t.sf(scores, 4 * 20 * 3).sum()) / 0.95
    assert 1e-4 < beyond < 0.2
    assert gap.p_value == pytest.approx(beyond, rel=0.05)
    within = float(stats.t.cdf(scores[0], 4 * 20 * 3)) / 0.95
    assert gap.p_equivalence == pytest.approx(min(1.0, within), rel=0.05)


def test_equal_runs_have_no_change_beyond_a_tolerance_and_nothing_shown_at_none() -> None:
    rng = np.random.default_rng(6)
    run = run_of(rng, {"a": 400, "b": 400}, lambda rng, *_: float(rng.integers(1, 6)))
    result = compared(run, run, plan(tolerance=0.2, missing_tolerance=0.05))
    assert {change.verdict for change in result.changes} == {ChangeVerdict.NO_CHANGE}
    assert {change.change.value for change in result.changes} == {0.0}
    undecided = compared(run, run, plan())
    assert {change.verdict for change in undecided.changes} == {ChangeVerdict.INCONCLUSIVE}


def test_twins_alike_of_an_unknown_range_do_not_show_that_all_are() -> None:
    def length(_rng: np.random.Generator, _group: str, number: int) -> float:
        return 100.0 + number

    run = run_of(np.random.default_rng(7), {"a": 5, "b": 5}, length)
    level = only(compared(run, run, plan(tolerance=0.5)), ChangeOf.MEAN)
    assert level.verdict is ChangeVerdict.INCONCLUSIVE
    assert (level.change.low, level.change.high) == (None, None)
    assert "declare the range" in (level.change.reason or "")


def test_a_rise_of_missing_answers_is_found_in_its_group() -> None:
    rng = np.random.default_rng(8)
    before, after = (run_of(rng, SIZES, normal) for _ in range(2))
    result = compared(before, without(after, list(range(25))), plan())
    lost = only(result, ChangeOf.MISSING, "a")
    assert (lost.before, lost.after) == (0.0, 25 / 40)
    assert lost.verdict is ChangeVerdict.CHANGED
    assert only(result, ChangeOf.MISSING, "b").verdict is ChangeVerdict.INCONCLUSIVE
    assert lost.survives_missing is True


def test_a_verdict_says_whether_the_missing_answers_could_undo_it() -> None:
    rng = np.random.default_rng(9)
    before = run_of(rng, SIZES, lambda rng, *_: float(rng.integers(0, 2)))
    after = replace(before, values=np.ones_like(before.values))
    few = only(compared(before, without(after, [0]), plan()), ChangeOf.MEAN)
    many = only(compared(before, without(after, list(range(0, 80, 2))), plan()), ChangeOf.MEAN)
    assert few.verdict is many.verdict is ChangeVerdict.CHANGED
    assert few.survives_missing is True
    assert many.survives_missing is False
    assert "40 missing answers could undo it" in many.reason


def test_at_worst_what_one_run_lacks_lies_opposite_to_what_the_other_lacks() -> None:
    rng = np.random.default_rng(10)
    before = run_of(rng, {"a": 4, "b": 4}, lambda rng, *_: float(rng.integers(0, 2)))
    matched = matched_of(without(before, [0, 1]), without(before, [2, 3]))
    for raised, (low, high) in ((True, (0.0, 1.0)), (False, (1.0, 0.0))):
        worst = matched.at_worst(raised=raised)
        assert worst.before.values[[0, 1], 0].tolist() == [low, low]
        assert worst.after.values[[2, 3], 0].tolist() == [high, high]
        assert worst.before.values[4:].tolist() == before.values[4:].tolist()


def test_prompts_that_one_run_lacks_are_left_out_and_counted() -> None:
    rng = np.random.default_rng(10)
    matched = matched_of(
        run_of(rng, {"a": 10, "b": 10}, normal), run_of(rng, {"a": 7, "b": 12}, normal)
    )
    assert (matched.prompts, matched.only_before, matched.only_after) == (17, 3, 2)
    changes = compare_runs(matched, plan()).changes
    assert {change.prompts for change in changes if change.subject.a is None} == {17}


def test_many_groups_are_compared_each_with_the_rest() -> None:
    rng = np.random.default_rng(11)
    names = "abcdefgh"
    before, after = (run_of(rng, dict.fromkeys(names, 6), normal) for _ in range(2))
    changes = compared(before, after, plan()).changes
    gaps = [item.subject for item in changes if item.subject.of is ChangeOf.GAP]
    assert [(gap.a, gap.b) for gap in gaps] == [(name, "the rest") for name in names]


def test_a_range_that_is_declared_as_unknown_is_not_guessed() -> None:
    rng = np.random.default_rng(13)
    runs = [run_of(rng, {"a": 9, "b": 9}, lambda rng, *_: float(rng.random())) for _ in range(2)]
    assert matched_of(*runs).bounds == ((0.0, 1.0),)
    unknown = [replace(run, ranges={"rating": None}) for run in runs]
    assert matched_of(*unknown).bounds == (None,)
    assert matched_of(runs[0], unknown[1]).bounds == (None,)


def test_names_whose_answers_changed_are_a_sample_where_names_are_a_random_factor() -> None:
    rng = np.random.default_rng(8)
    own = [1.2, -0.2, 1.0, 0.0, 0.9, 0.0, *[0.0] * 6]  # three of six names of one group
    rows = [(text, side, 6 * side + text % 6) for text in range(30) for side in (0, 1)]
    run = Observations(
        ("rating",), rng.normal(3, 0.3, (60, 1)), {"race": ["ab"[side] for _, side, _ in rows]},
        [f"{text}-{side}" for text, side, _ in rows], [str(text) for text, *_ in rows],
    )  # fmt: skip
    after = replace(run, values=run.values + np.array([[own[name]] for *_, name in rows]))
    names = {"name": [str(name) for *_, name in rows]}
    declared = [replace(of, random=names) for of in (run, after)]
    fixed, sampled = (
        only(compared(before, last, plan()), ChangeOf.GAP, "a")
        for before, last in ((run, after), declared)
    )
    assert (fixed.verdict, sampled.verdict) == (ChangeVerdict.CHANGED, ChangeVerdict.INCONCLUSIVE)
    assert "name" in (sampled.change.method or "")
