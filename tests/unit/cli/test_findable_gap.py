"""The gap that a run could have found is the least that its own tests find in most such runs."""

from dataclasses import replace

import pytest

from biaswatch.planning import findable_gaps
from biaswatch.planning.observed import ComparedShape, ObservedSpread
from biaswatch.planning.runs import RunAssumptions, assumed_answers, like_a_run
from biaswatch.shared.stats.comparisons.planned_power import simulated_power
from biaswatch.shared.stats.comparisons.simulated_studies import PlannedTest, StudyShape

SHAPE = ComparedShape("race", "black", "white", StudyShape(pairs=12))
SEEN = ObservedSpread("rating", 3.0, 0.6, 0.3, 0.5, 0.0, (1.0, 5.0), 3, repeated=True)
TEST = PlannedTest(0.05, 0.0, 2)


def power(gap: float, test: PlannedTest = TEST, shape: ComparedShape = SHAPE) -> float:
    answers = assumed_answers(like_a_run(RunAssumptions(gap), SEEN))
    return simulated_power(shape.shape, SEEN.repeats, answers, test, runs=400, seed=99)


@pytest.mark.parametrize("test", [TEST, replace(TEST, family=40), replace(TEST, tolerance=0.3)])
def test_other_simulations_find_it_about_as_often_and_half_of_it_rarely(test: PlannedTest) -> None:
    gap = findable_gaps._least_findable(SHAPE, SEEN, test)
    assert gap is not None
    assert power(gap, test) == pytest.approx(0.8, abs=0.12)
    assert power((gap + test.tolerance) / 2, test) < 0.6


def test_more_sets_find_less(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(findable_gaps, "SIMULATIONS", 60)
    more = replace(SHAPE, shape=StudyShape(pairs=48))
    few, many = (findable_gaps._least_findable(item, SEEN, TEST) for item in (SHAPE, more))
    assert few is not None
    assert many is not None
    assert many < 0.7 * few


def test_two_pairs_find_not_even_the_largest_gap() -> None:
    none = replace(SHAPE, shape=StudyShape(pairs=2))
    strict = replace(TEST, alpha=0.001)
    assert findable_gaps._least_findable(none, SEEN, strict) is None
