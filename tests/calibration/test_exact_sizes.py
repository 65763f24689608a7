"""How often two equal rates are called different, exactly: over every table there can be."""

import numpy as np
import pytest
from scipy.stats import binom

from biaswatch.shared.stats.comparisons.compared_samples import ComparedSamples
from biaswatch.shared.stats.comparisons.gap_test import compare_samples
from biaswatch.shared.stats.samples import Vector

Table = np.ndarray[tuple[int, int], np.dtype[np.float64]]
RATES = np.concatenate([[0, 0.002, 0.005], np.linspace(0.01, 0.99, 99), [0.995, 0.998, 1]])


def ones(count: int, n: int) -> Vector:
    return np.repeat([1.0, 0.0], [count, n - count])


def p_values(n: int, m: int, tolerance: float) -> Table:
    """Return [n + 1, m + 1], the p of a disparity at each number of ones in both groups."""
    result = np.ones((n + 1, m + 1))
    for a, b in np.ndindex(result.shape):
        samples = ComparedSamples(only_a=ones(a, n), only_b=ones(b, m), bounds=(0.0, 1.0))
        tested = compare_samples(samples, alpha=0.05, tolerance=tolerance).p_disparity
        result[a, b] = 1.0 if tested is None else tested
    return result


def largest_error(n: int, m: int, alpha: float, gap: float = 0.0) -> float:
    """Return the largest share of false disparities at any pair of rates that far apart."""
    rejected = p_values(n, m, gap) <= alpha
    pairs = [(rate, min(1.0, rate + gap)) for rate in RATES if rate + gap <= 1 + 1e-9]
    pairs += [(b, a) for a, b in pairs]
    tables = (
        np.outer(binom.pmf(np.arange(n + 1), n, a), binom.pmf(np.arange(m + 1), m, b))
        for a, b in pairs
    )
    return max(float(table[rejected].sum()) for table in tables)


@pytest.mark.parametrize(("n", "m"), [(3, 30), (10, 10), (12, 60), (30, 30), (25, 100)])
def test_equal_rates_are_called_a_disparity_at_most_by_a_hair_too_often(n: int, m: int) -> None:
    assert largest_error(n, m, 0.05) <= 0.056


@pytest.mark.parametrize(("n", "m"), [(20, 20), (30, 30), (12, 60), (100, 100)])
def test_at_the_corrected_levels_of_a_family_as_well(n: int, m: int) -> None:
    assert largest_error(n, m, 0.005) <= 1.3 * 0.005


@pytest.mark.parametrize(
    ("n", "m", "tolerance"),
    [(5, 100, 0.05), (10, 10, 0.1), (10, 60, 0.1), (12, 60, 0.2), (20, 200, 0.05), (30, 30, 0.2)],
)
def test_and_gaps_as_large_as_the_tolerance(n: int, m: int, tolerance: float) -> None:
    assert largest_error(n, m, 0.05, tolerance) <= 0.062
