"""The four-fifths rule as evidence."""

from math import comb, exp, log

import pytest

from shared.stats.anytime.four_fifths import SelectionPairs
from tests.support.golden import golden_cases


def test_pairs_have_the_recorded_evidence() -> None:
    for case in golden_cases("four_fifths"):
        assert SelectionPairs(*case["input"]).log_e() == pytest.approx(case["expected"], abs=1e-9)


@pytest.mark.parametrize(("p_1", "p_2"), [(0.4, 0.5), (0.04, 0.05), (0.5, 0.5), (0.8, 1.0)])
def test_at_four_fifths_or_more_an_e_value_expects_at_most_one(p_1: float, p_2: float) -> None:
    def chance(k: int, p: float) -> float:
        return comb(5, k) * p**k * (1 - p) ** (5 - k)

    expected = sum(
        chance(a, p_1)
        * chance(b, p_2)
        * share
        * exp(SelectionPairs(both, a - both, b - both, 5 - a - b + both).log_e())
        for a in range(6)
        for b in range(6)
        for both, share in overlaps(a, b)
    )
    assert expected <= 1 + 1e-12


def overlaps(first: int, second: int) -> list[tuple[int, float]]:
    """Return how many of five pairs have both, and how likely that is."""
    return [
        (both, comb(first, both) * comb(5 - first, second - both) / comb(5, second))
        for both in range(max(0, first + second - 5), min(first, second) + 1)
    ]


def test_either_group_may_be_the_one_below() -> None:
    pairs = SelectionPairs(30, 20, 160, 40)
    assert pairs.log_e() > 3 > pairs.exchanged.log_e()
    assert pairs.ratio == pytest.approx(50 / 190)
    assert SelectionPairs(0, 3, 0, 4).ratio is None
    assert (pairs + pairs).units == 500
    with pytest.raises(ValueError, match="ratio of rates"):
        pairs.log_e(0.0)


def test_an_interval_leaves_out_only_ratios_that_are_rejected() -> None:
    pairs = SelectionPairs(60, 40, 100, 200)
    low, high = pairs.interval(0.05)
    assert high is not None
    assert low < (pairs.ratio or 0) < high
    for ratio in (0.3, 0.5, 0.6, 0.7, 0.9, 1.2):
        rejected = max(pairs.log_e(ratio), pairs.exchanged.log_e(1 / ratio)) >= log(40)
        assert rejected == (not low < ratio < high)
    assert SelectionPairs().interval(0.05) == (0.0, None)
