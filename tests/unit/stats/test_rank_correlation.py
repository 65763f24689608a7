"""Rank correlations of models: their value, and how often their intervals hold the truth."""

from math import asin, pi, sqrt

import numpy as np
import pytest

from biaswatch.shared.stats.studies.rank_correlation import rank_correlation


def test_a_rank_correlation_has_an_interval_from_eight_units_on() -> None:
    ranks = [1.0, 2, 3, 4, 5, 6, 7, 8]
    known = rank_correlation(ranks, [1, 3, 2, 4, 6, 5, 8, 7])
    assert known.value is not None
    assert known.value == pytest.approx(1 - 6 * 6 / (8 * 63), abs=1e-9)
    assert known.low is not None
    assert known.high is not None
    assert 0.5 < known.low < known.value < known.high < 1
    few = rank_correlation(ranks[:5], [2, 1, 3, 4, 5])
    assert few.value == pytest.approx(0.9)
    assert few.low is None
    assert few.reason == "an interval needs 8 units"
    assert rank_correlation(ranks, [1.0] * 8).value is None
    assert rank_correlation(ranks, ranks).value == pytest.approx(1)
    assert rank_correlation(ranks, ranks).reason == "all ranks agree, which gives no interval"


@pytest.mark.parametrize(("units", "correlation"), [(8, 0.0), (8, 0.6), (20, 0.9)])
def test_the_interval_holds_the_correlation_in_the_promised_share_of_studies(
    units: int, correlation: float
) -> None:
    rng = np.random.default_rng(3)
    truth = 6 / pi * asin(correlation / 2)
    held, studies = 0, 600
    for _ in range(studies):
        x, noise = rng.standard_normal((2, units))
        y = correlation * x + sqrt(1 - correlation**2) * noise
        estimate = rank_correlation(x.tolist(), y.tolist())
        held += estimate.low is None or (estimate.high or 0.0) >= truth >= estimate.low
    assert 0.93 <= held / studies <= 0.99
