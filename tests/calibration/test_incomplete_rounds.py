"""Seeded simulation: missing answers and twins that go together void no promise of a monitor.

The quick forms, by the functions that the diagnoser calls; `make calibration` runs the full ones.
"""

import math

import numpy as np
import pytest

from calibration.incomplete_rounds import (
    ALPHA,
    NULLS,
    Watched,
    alarm_units,
    planned_units,
    reached,
    refused_where_low,
    with_gap,
)
from tests.support.evidence_checks import most_allowed

FEW, MOST_COST, PLAN_ERROR = 40, 1.5, 0.25


@pytest.mark.parametrize("null", NULLS, ids=lambda null: null.name)
def test_what_is_missing_or_goes_together_raises_no_false_alarm(null: Watched) -> None:
    rng = np.random.default_rng(5)
    result = np.mean([alarm_units(null, rng, 20, 20) < math.inf for _ in range(FEW)])
    assert result <= most_allowed(FEW, ALPHA)


def test_the_answers_that_came_alone_would_alarm_falsely() -> None:
    """Why what is missing is bounded: one group refuses what it would rate low."""

    def as_if_whole(rng: np.random.Generator, sets: int) -> np.ndarray:
        came = refused_where_low(rng, sets)
        means = np.nanmean(came, axis=2, keepdims=True)
        return np.where(np.isnan(came), means, came)

    rng, naive = np.random.default_rng(5), Watched("those that came", as_if_whole)
    assert np.mean([alarm_units(naive, rng, 20, 20) < math.inf for _ in range(10)]) > 0.5


def test_a_few_missing_answers_cost_few_units_and_the_plan_says_how_many() -> None:
    result = {}
    for lacking in (0.0, 0.05):
        rng = np.random.default_rng(6)
        result[lacking] = reached([alarm_units(with_gap(lacking), rng, 20, 80) for _ in range(FEW)])
        planned = planned_units(lacking)
        assert planned is not None
        assert abs(planned / result[lacking] - 1) <= PLAN_ERROR + 0.1  # of few simulated monitors
    assert result[0.05] <= MOST_COST * result[0.0]
