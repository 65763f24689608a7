"""Two equal runs are said to differ no more often than declared, whatever the data look like."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pytest

from biaswatch.shared.analysis.changes.matched_changes import compare_runs
from biaswatch.shared.analysis.changes.run_changes import ChangeOf, ChangePlan, ChangeVerdict
from biaswatch.shared.analysis.findings.groupings import ComparisonPlan
from biaswatch.shared.contracts import Claim
from tests.support.two_runs import Drawn, Rng, matched_of, run_of

RUNS, ALPHA = 100, 0.05
MOST = ALPHA + 3.5 * (ALPHA * (1 - ALPHA) / RUNS) ** 0.5


@dataclass(frozen=True)
class Shape:
    """How the answers of two equal runs look."""

    sizes: Mapping[str, int]
    drawn: Drawn
    repeats: int = 1
    twins: bool = True
    claim: Claim = Claim.POPULATION


def rare(rng: Rng, _group: str, _number: int) -> float:
    return float(rng.random() < 0.02)


def mostly_four(rng: Rng, _group: str, _number: int) -> float:
    return float(rng.choice([3, 4, 4, 4, 4, 4, 5]))


def skewed(rng: Rng, _group: str, _number: int) -> float:
    return float(rng.lognormal(3, 1))


def rare_far_in(changed: str) -> Drawn:
    """Return answers whose mean is .52, in most answers of a group by a lower value."""

    def drawn(rng: Rng, group: str, _number: int) -> float:
        return (1.0 if rng.random() < 0.04 else 0.5) if group == changed else 0.52

    return drawn


def by_prompt(rng: Rng, _group: str, number: int) -> float:
    return float(rng.random() < number % 5 / 5)


SHAPES = {
    "rare, unbalanced": Shape({"a": 25, "b": 400}, rare, twins=False),
    "nearly flat twins": Shape({"a": 20, "b": 20}, mostly_four),
    "tiny": Shape({"a": 4, "b": 4}, by_prompt),
    "skewed lengths": Shape({"a": 15, "b": 100}, skewed, twins=False),
    "repeats, partly paired": Shape({"a": 12, "b": 30}, by_prompt, repeats=3),
    "a bank, nearly flat": Shape({"a": 20, "b": 20}, mostly_four, 3, claim=Claim.BANK),
    "a bank whose prompts differ": Shape({"a": 12, "b": 30}, by_prompt, 3, claim=Claim.BANK),
}


@pytest.mark.parametrize("declared", [True, False])
def test_a_bank_whose_far_answers_are_rare_is_rarely_said_to_have_changed(
    *, declared: bool
) -> None:
    false = 0
    for seed in range(RUNS):
        rng = np.random.default_rng(seed)
        before, after = (
            run_of(rng, {"a": 10, "b": 10}, rare_far_in(changed), repeats=2)
            for changed in ("a", "neither")
        )
        if declared:
            before, after = (replace(run, ranges={"rating": (0.0, 1.0)}) for run in (before, after))
        plan = ChangePlan(ComparisonPlan(alpha=ALPHA, claim=Claim.BANK))
        changes = compare_runs(matched_of(before, after), plan).changes
        false += any(item.verdict is ChangeVerdict.CHANGED for item in changes)
    assert false / RUNS <= MOST


@pytest.mark.parametrize("name", SHAPES)
def test_equal_runs_are_rarely_said_to_differ_in_either_family(name: str) -> None:
    shape = SHAPES[name]
    false = Counter[bool]()
    for seed in range(RUNS):
        rng = np.random.default_rng(seed)
        before, after = (
            run_of(rng, dict(shape.sizes), shape.drawn, repeats=shape.repeats, twins=shape.twins)
            for _ in range(2)
        )
        plan = ChangePlan(ComparisonPlan(alpha=ALPHA, claim=shape.claim))
        changes = compare_runs(matched_of(before, after), plan).changes
        false.update(
            {row.subject.is_gap for row in changes if row.verdict is ChangeVerdict.CHANGED}
        )
    assert max(false.values(), default=0) / RUNS <= MOST


def test_a_change_as_large_as_the_tolerance_is_rarely_taken_for_none() -> None:
    tolerance, false = 0.1, 0
    for seed in range(RUNS):
        rng = np.random.default_rng(seed)
        before = run_of(rng, {"a": 20, "b": 300}, lambda *_: 0.0, twins=False)
        after = run_of(
            rng, {"a": 20, "b": 300},
            lambda rng, group, _: float(group == "a" and rng.random() < 0.1), twins=False,
        )  # fmt: skip
        plan = ChangePlan(ComparisonPlan(alpha=ALPHA, tolerance=tolerance))
        changes = compare_runs(matched_of(before, after), plan).changes
        false += any(
            item.verdict is ChangeVerdict.NO_CHANGE
            for item in changes
            if item.subject.of is not ChangeOf.MISSING and item.subject.a == "a"
        )
    assert false / RUNS <= MOST


def test_a_gap_that_grows_by_one_and_a_half_deviations_is_found_in_forty_sets() -> None:
    result = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        before = run_of(rng, {"a": 40, "b": 40}, lambda rng, *_: 100 + rng.normal())
        after = run_of(
            rng, {"a": 40, "b": 40}, lambda rng, group, _: 100 + 1.5 * (group == "a") + rng.normal()
        )
        changes = compare_runs(matched_of(before, after), ChangePlan(ComparisonPlan())).changes
        result += any(
            change.verdict is ChangeVerdict.CHANGED
            for change in changes
            if change.subject.of is ChangeOf.GAP
        )
    assert result >= 16
