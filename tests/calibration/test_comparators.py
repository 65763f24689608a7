"""The comparators of the calibration table compute what their names say."""

import numpy as np
import pytest
from scipy import stats

from calibration.comparisons.comparators.betting import betting, betting_on_pairs
from calibration.comparisons.comparators.exact_tables import rate_tests
from calibration.comparisons.comparators.independent import permutations, welch
from calibration.comparisons.comparators.paired import mcnemar, paired_t, tango
from calibration.comparisons.comparators.tails import Tails, holm_rejects, p_values_of

RATES = [(0, 25, 70, 1000), (7, 12, 2, 30), (3, 3, 1, 4), (20, 40, 31, 40)]


def two_sided(tails: Tails) -> float:
    return p_values_of(tails, 0.0).p_disparity


def counted(k: int, n: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.repeat([1.0, 0.0], [k, n - k])


def test_welch_and_paired_t_are_scipys() -> None:
    x, y = np.random.default_rng(1).normal(size=(2, 15))
    assert two_sided(welch(x, y)) == pytest.approx(stats.ttest_ind(x, y, equal_var=False).pvalue)
    assert two_sided(paired_t(x - y)) == pytest.approx(stats.ttest_rel(x, y).pvalue)
    less = stats.ttest_ind(x - 0.5, y, equal_var=False, alternative="less").pvalue
    more = stats.ttest_ind(x + 0.5, y, equal_var=False, alternative="greater").pvalue
    assert p_values_of(welch(x, y), 0.5).p_equivalence == pytest.approx(max(less, more))


@pytest.mark.parametrize(("k", "n", "j", "m"), RATES)
def test_fisher_and_boschloo_are_scipys(k: int, n: int, j: int, m: int) -> None:
    tests = rate_tests(counted(k, n), counted(j, m))
    table = [[k, j], [n - k, m - j]]
    for side, place in (("greater", 0), ("less", 1)):
        assert tests["Fisher"](0)[place] == pytest.approx(
            stats.fisher_exact(table, alternative=side).pvalue
        )
        assert tests["Boschloo"](0)[place] == pytest.approx(
            stats.boschloo_exact(table, alternative=side, n=128).pvalue, abs=5e-3
        )


def test_the_exact_score_test_holds_its_level_at_a_gap() -> None:
    n, m, p, gap = 8, 15, 0.3, 0.1
    tables = [(k, j) for k in range(n + 1) for j in range(m + 1)]
    chance = {(k, j): stats.binom.pmf(k, n, p + gap) * stats.binom.pmf(j, m, p) for k, j in tables}
    for side in (0, 1):
        rejected = [
            (k, j)
            for k, j in tables
            if rate_tests(counted(k, n), counted(j, m))["exact unconditional score"](gap)[side]
            <= 0.05
        ]
        assert 0.005 < sum(chance[table] for table in rejected) <= 0.05


def test_permutations_agree_with_scipys() -> None:
    x, y = np.random.default_rng(2).normal([[0.6], [0.0]], 1, (2, 20))
    result = permutations(x, y)["permutation of means"](0)[0]
    expected = stats.permutation_test(
        (x, y), lambda a, b: a.mean() - b.mean(), alternative="greater", rng=3
    )
    assert result == pytest.approx(expected.pvalue, abs=0.02)


def test_discordant_pairs_are_tested_exactly_and_by_score() -> None:
    assert mcnemar(9, 2)(0)[0] == pytest.approx(
        stats.binomtest(9, 11, alternative="greater").pvalue
    )
    assert tango(9, 2, 40)(0)[0] == pytest.approx(stats.norm.sf(7 / 11**0.5))


def test_equal_answers_are_known_as_well_as_their_number_allows() -> None:
    """Of n equal answers at the end of the range, bets know the mean to about log(1/alpha) / n."""
    ones = np.ones(100)
    assert betting_on_pairs(ones - 0, (0.0, 1.0))(0.8)[0] < 0.05
    assert betting(ones, 0 * ones, (0.0, 1.0))(0.85)[0] < 0.05
    assert betting(ones, 0 * ones, (0.0, 1.0))(0.97)[0] > 0.05
    assert betting(0 * ones, 0 * ones, (0.0, 1.0))(0.0)[0] == 1.0


def test_holm_stops_at_the_first_that_is_not_rejected() -> None:
    assert holm_rejects([0.03, 0.01, 0.04], 0.05) == [False, True, False]
    assert holm_rejects([0.02, 0.01, 0.04], 0.05) == [True, True, True]
