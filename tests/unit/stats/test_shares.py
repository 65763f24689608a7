"""Impact ratios and corrections against statsmodels, and what is undefined."""

import pytest
from statsmodels.stats.multitest import multipletests

from biaswatch.shared.stats.comparisons.mean_interval import impact_ratio_of_means
from biaswatch.shared.stats.comparisons.multiplicity import holm


def test_an_impact_ratio_is_the_smaller_rate_over_the_larger() -> None:
    a, b = [1.0] * 5 + [0.0] * 5, [1.0] * 8 + [0.0] * 2
    ratio = impact_ratio_of_means(a, b, 0.05)
    assert ratio.value == pytest.approx(0.625)
    assert ratio == impact_ratio_of_means(b, a, 0.05)
    assert ratio.low is not None
    assert ratio.high is not None
    assert ratio.low < 0.625 < ratio.high


@pytest.mark.parametrize(
    ("a", "b", "value", "reason"),
    [
        ([0.0, 0.0], [0.0, 0.0], None, "no case is selected in either group"),
        ([0.0, 0.0], [1.0, 0.0], 0.0, "no case is selected in one group"),
        ([], [1.0, 0.0], None, "a group has no values"),
        ([1.0], [1.0, 0.0], 0.5, "one unit has no spread: an interval needs two"),
        ([1.0, 1.0], [1.0, 1.0], 1.0, "all units are equal"),
    ],
)
def test_an_undefined_ratio_says_why(
    a: list[float], b: list[float], value: float | None, reason: str
) -> None:
    ratio = impact_ratio_of_means(a, b, 0.05)
    assert (ratio.value, ratio.reason, ratio.low, ratio.high) == (value, reason, None, None)


def test_holm_is_statsmodels_and_leaves_the_undefined_out() -> None:
    p_values = [0.01, 0.04, 0.03, 0.005, 0.5, 0.02]
    expected = list(multipletests(p_values, method="holm")[1])
    assert holm(p_values) == pytest.approx(expected)
    with_none = holm([None, *p_values, None])
    assert with_none[0] is None
    assert with_none[1:-1] == pytest.approx(expected)
    assert holm([]) == []
