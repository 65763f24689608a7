"""Effect sizes against the recorded values, numerical integration, loops and scipy."""

import numpy as np
import pytest
from scipy import integrate, stats

from biaswatch.shared.stats.comparisons.effect_size import cohens_d, hedges_g, paired_d
from tests.support.golden import golden_cases

NAN = float("nan")
RNG = np.random.default_rng(8)


def share_below(t: float, dof: int, noncentrality: float) -> float:
    """P(noncentral t <= t), integrating over the variance: no noncentral t distribution used."""

    def part(v: float) -> float:
        reach = t * np.sqrt(v / dof) - noncentrality
        return float(stats.norm.cdf(reach) * stats.chi2.pdf(v, dof))

    low, high = stats.chi2.ppf([1e-12, 1 - 1e-12], dof)
    return float(integrate.quad(part, low, high, limit=300)[0])


def test_hedges_g_gives_the_recorded_value() -> None:
    for case in golden_cases("pingouin.compute_effsize hedges"):
        a, b = case["input"]
        assert hedges_g(a, b, 0.05).value == pytest.approx(case["expected"], abs=1e-12)


@pytest.mark.parametrize(("n", "m", "shift"), [(5, 9, 0.0), (40, 12, 0.8), (200, 200, -2.0)])
def test_d_is_its_formula_and_its_interval_inverts_the_noncentral_t(
    n: int, m: int, shift: float
) -> None:
    x, y = RNG.normal(shift, 1, n), RNG.normal(0, 1, m)
    effect = cohens_d(x, y, 0.1)
    pooled = np.sqrt(((n - 1) * x.var(ddof=1) + (m - 1) * y.var(ddof=1)) / (n + m - 2))
    assert effect.value == pytest.approx((x.mean() - y.mean()) / pooled, rel=1e-12)
    t, root = stats.ttest_ind(x, y).statistic, np.sqrt(n * m / (n + m))
    assert effect.low is not None
    assert effect.high is not None
    assert share_below(t, n + m - 2, effect.low * root) == pytest.approx(0.95, abs=1e-6)
    assert share_below(t, n + m - 2, effect.high * root) == pytest.approx(0.05, abs=1e-6)
    assert effect.method == "Cohen's d, noncentral t"


def test_a_paired_d_is_t_over_the_root_of_pairs() -> None:
    x = RNG.normal(0, 1, 30)
    y = x + RNG.normal(0.5, 1, 30)
    effect = paired_d([*x, NAN], [*y, 1.0], 0.05)
    t = stats.ttest_rel(x, y).statistic
    assert effect.value == pytest.approx(t / np.sqrt(30), rel=1e-12)
    assert effect.low is not None
    assert share_below(t, 29, effect.low * np.sqrt(30)) == pytest.approx(0.975, abs=1e-6)


def test_an_enormous_effect_says_that_its_interval_is_approximate() -> None:
    effect = cohens_d(RNG.normal(50, 1, 60), RNG.normal(0, 1, 60), 0.05)
    assert effect.method == "Cohen's d, normal approximation"
    assert effect.low is not None
    assert effect.value is not None
    assert effect.low < effect.value


def test_what_is_undefined_says_why() -> None:
    assert cohens_d([3, 3], [3, 3], 0.05).reason == "there is no spread within the groups"
    assert cohens_d([0.1 + 0.2, 0.3], [0.3, 0.3], 0.05).value is None
    assert cohens_d([], [1.0], 0.05).reason == "a group has no values"
    assert cohens_d([1.0], [2.0], 0.05).value is None
    one = cohens_d([1.0], [2.0, 3.0], 0.05)
    assert (one.low, one.reason) == (None, "one unit has no spread: an interval needs two")
    assert paired_d([1.0, 2.0], [2.0, 3.0], 0.05).reason == "all differences are equal"
    assert paired_d([1.0], [NAN], 0.05).reason == "no pair has both values"
    assert paired_d([1.0], [2.0], 0.05).value is None


def test_an_impossible_alpha_is_a_sentence() -> None:
    for measure in (cohens_d, hedges_g, paired_d):
        with pytest.raises(ValueError, match="alpha is 5"):
            measure([1.0, 2.0], [2.0, 4.0], 5)
