"""An instrument that errs more for one group makes no disparity once people have labelled some."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from biaswatch.shared.contracts import LabelDraw, Verdict
from calibration.labels import cases
from tests.support.labelled_studies import LabelledStudy, ratings, simulate, simulated_outcome

ALPHA = 0.05
RUNS = 60
NO_GAP = replace(cases.NO_GAP, answers=1000)
GAP = replace(cases.GAP, answers=1000)
NULLS = {
    "rates": NO_GAP,
    "rare rates": cases.RARE,
    "rates, unequal probabilities": replace(NO_GAP, draw=LabelDraw.UNCERTAINTY),
    "rates, two people who differ": replace(NO_GAP, people=2, person_error=0.1),
    "ratings": ratings(0.0, 0.4),
    "ratings, unequal probabilities": replace(ratings(0.0, 0.4), draw=LabelDraw.UNCERTAINTY),
}


def disparities(study: LabelledStudy, labels: int, runs: int = RUNS) -> float:
    result = [simulate(study, labels, seed) for seed in range(runs)]
    return sum(item.gaps[0].verdict is Verdict.DISPARITY for item in result) / runs


def at_most(runs: int) -> float:
    return float(ALPHA + 3.5 * np.sqrt(ALPHA * (1 - ALPHA) / runs))


@pytest.mark.parametrize("labels", [100, pytest.param(300, marks=pytest.mark.slow)])
def test_an_instruments_error_is_no_disparity_of_the_model(labels: int) -> None:
    assert disparities(NO_GAP, labels) <= at_most(RUNS)


@pytest.mark.parametrize("name", sorted(set(NULLS) - {"rates"}))
def test_nor_is_it_in_rare_answers_ratings_unequal_draws_or_with_two_people(name: str) -> None:
    assert disparities(NULLS[name], 100) <= at_most(RUNS)


def test_by_the_readings_alone_it_is_one() -> None:
    readings = [simulate(NO_GAP, 100, seed).gaps[0].reading for seed in range(20)]
    assert sum(low_of(item.low) > 0 or low_of(item.high) < 0 for item in readings) >= 18


def low_of(limit: float | None) -> float:
    assert limit is not None
    return limit


def test_a_gap_is_found_more_often_than_by_labels_alone_and_less_than_without_error() -> None:
    result = [simulated_outcome(GAP, 150, seed) for seed in range(RUNS)]
    alone, corrected, truly = (
        sum(getattr(item, name) for item in result) / RUNS
        for name in ("by_labels_alone", "corrected", "without_error")
    )
    assert alone + 0.05 <= corrected <= truly
    assert corrected >= 0.6


def test_intervals_of_gaps_and_means_cover_the_truth() -> None:
    covered = np.zeros(3)
    for seed in range(RUNS):
        result = simulate(GAP, 100, seed)
        estimates = (result.gaps[0].by_itself, *(group.corrected for group in result.groups))
        covered += [inside(e, t) for e, t in zip(estimates, (-0.1, 0.2, 0.3), strict=True)]
    assert (covered / RUNS >= 1 - at_most(RUNS)).all()


def inside(estimate: object, truth: float) -> bool:
    low, high = (getattr(estimate, name) for name in ("low", "high"))
    return bool(low <= truth <= high)


def test_the_error_that_differs_between_groups_is_seen() -> None:
    seen: Sequence[float | None] = [
        simulate(NO_GAP, 150, seed).gaps[0].bias_p for seed in range(30)
    ]
    assert sum((p or 1.0) <= ALPHA for p in seen) >= 15
