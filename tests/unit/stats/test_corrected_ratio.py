"""Ratios of corrected rates: against Fieller's own formula, and how often they cover the truth."""

from math import sqrt

import numpy as np
import pytest
from scipy import stats

from biaswatch.shared.stats.comparisons.compared_samples import ComparedSamples
from biaswatch.shared.stats.estimate import Estimate
from biaswatch.shared.stats.labels.corrected_gap import CorrectedSide, corrected_ratio
from biaswatch.shared.stats.labels.corrected_values import corrected_values
from tests.support.drawn_labels import every_drawn

ALPHA = 0.05


def side(labelled: int) -> CorrectedSide:
    return CorrectedSide(bounds=(0, 1), usual_bounds=(0.5, 0.5), regular=True, labelled=labelled)


def test_with_students_curves_it_is_fiellers_interval() -> None:
    rng = np.random.default_rng(1)
    a, b = 0.4 + 0.1 * rng.normal(size=4000), 0.5 + 0.1 * rng.normal(size=4000)
    ratio = corrected_ratio(
        ComparedSamples(only_a=a, only_b=b), side(4002), side(4002), alpha=ALPHA
    )
    z, (mean_a, mean_b) = stats.norm.ppf(1 - ALPHA / 2), (a.mean(), b.mean())
    error_a, error_b = (item.std(ddof=1) / sqrt(len(item)) for item in (a, b))
    middle, scale = mean_a * mean_b, mean_b**2 - z**2 * error_b**2
    reach = sqrt(middle**2 - scale * (mean_a**2 - z**2 * error_a**2))
    assert ratio.value == pytest.approx(mean_a / mean_b)
    assert ratio.low == pytest.approx((middle - reach) / scale, rel=1e-3)
    assert ratio.high == pytest.approx((middle + reach) / scale, rel=1e-3)


def simulated(seed: int, rates: tuple[float, float], labels: int = 100) -> Estimate:
    """Return the ratio of two groups whose instrument errs more for the second one."""
    rng = np.random.default_rng(seed)
    values, sides = [], []
    for rate, wrong in zip(rates, (0.05, 0.15), strict=True):
        truth = (rng.random(600) < rate).astype(float)
        read = np.where(truth == 1, rng.random(600) < 0.8, rng.random(600) < wrong).astype(float)
        labelled = np.where(rng.permutation(600) < labels, truth, np.nan)
        ratio = corrected_values(
            read, every_drawn(labelled, np.full(600, labels / 600)), (0.0, 1.0)
        )
        values.append(ratio.values)
        sides.append(CorrectedSide.of(ratio))
    samples = ComparedSamples(only_a=values[0], only_b=values[1])
    return corrected_ratio(samples, sides[0], sides[1], alpha=ALPHA)


@pytest.mark.slow
@pytest.mark.parametrize("rates", [(0.2, 0.2), (0.2, 0.4), (0.5, 0.3)])
def test_the_true_ratio_is_covered_whatever_the_instrument_does(rates: tuple[float, float]) -> None:
    runs, covered = 60, 0
    for seed in range(runs):
        ratio = simulated(seed, rates)
        if ratio.low is None or ratio.high is None:
            covered += 1
            continue
        covered += ratio.low <= rates[0] / rates[1] <= ratio.high
    assert covered / runs >= 1 - ALPHA - 3.5 * sqrt(ALPHA * (1 - ALPHA) / runs)


def test_a_rate_that_could_be_zero_has_no_interval_of_its_ratio_and_says_why() -> None:
    ratio = simulated(3, (0.3, 0.01))
    assert ratio.low is None
    assert "could be 0" in (ratio.reason or "") or "not above 0" in (ratio.reason or "")


def test_pairs_are_compared_within_their_sets() -> None:
    rng = np.random.default_rng(2)
    shared = 0.5 + 0.3 * rng.normal(size=300)
    a, b = 0.8 * shared + 0.01 * rng.normal(size=300), shared + 0.01 * rng.normal(size=300)
    paired = corrected_ratio(
        ComparedSamples(paired_a=a, paired_b=b), side(300), side(300), alpha=ALPHA
    )
    single = corrected_ratio(ComparedSamples(only_a=a, only_b=b), side(300), side(300), alpha=ALPHA)
    assert paired.low is not None
    assert single.low is not None
    assert paired.high is not None
    assert single.high is not None
    assert paired.low < 0.8 < paired.high
    assert paired.high - paired.low < (single.high - single.low) / 3
