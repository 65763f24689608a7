"""The four-fifths rule as evidence."""

from itertools import product
from math import comb, exp, log

import numpy as np
import pytest

from biaswatch.shared.stats.anytime.four_fifths import CELLS, LEVELS, SelectedUnits, SelectionShares
from tests.support.evidence_looks import selections_of_pairs as of_pairs
from tests.support.golden import golden_cases


def of(lowest: list[list[float]], highest: list[list[float]] | None = None) -> SelectionShares:
    least = np.array(lowest, dtype=np.float64).reshape(-1, 2)
    most = least if highest is None else np.array(highest, dtype=np.float64).reshape(-1, 2)
    return SelectionShares.of(least, most, np.full(least.shape, 0.5))


def test_pairs_have_the_recorded_evidence() -> None:
    for case in golden_cases("four_fifths"):
        assert of_pairs(*case["input"]).log_e() == pytest.approx(case["expected"], abs=1e-9)


@pytest.mark.parametrize(("p_1", "p_2"), [(0.4, 0.5), (0.04, 0.05), (0.5, 0.5), (0.8, 1.0)])
def test_at_four_fifths_or_more_an_e_value_expects_at_most_one(p_1: float, p_2: float) -> None:
    def chance(k: int, p: float) -> float:
        return comb(5, k) * p**k * (1 - p) ** (5 - k)

    expected = sum(
        chance(a, p_1)
        * chance(b, p_2)
        * share
        * exp(of_pairs(both, a - both, b - both, 5 - a - b + both).log_e())
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


@pytest.mark.parametrize(("units_1", "units_2"), [(2, 2), (3, 1), (4, 6)])
def test_several_units_a_group_expect_at_most_one(units_1: int, units_2: int) -> None:
    """All outcomes of one set, whose rates are .4 and .5, by their chances."""

    def chance(k: int, n: int, p: float) -> float:
        return comb(n, k) * p**k * (1 - p) ** (n - k)

    expected = sum(
        chance(a, units_1, 0.4)
        * chance(b, units_2, 0.5)
        * exp(of([[a / units_1, b / units_2]]).log_e())
        for a, b in product(range(units_1 + 1), range(units_2 + 1))
    )
    assert expected == pytest.approx(1)


def test_shares_of_few_units_are_counted_exactly_and_others_keep_their_mean() -> None:
    exact = of([[1 / 3, 3 / 4]])
    assert np.flatnonzero(exact.complete).tolist() == [4 * LEVELS + 9]
    rng = np.random.default_rng(1)
    shares = np.full((20_000, 2), [2 / 5, 5 / 7])
    counts = np.reshape(
        SelectionShares.of(shares, shares, rng.random(shares.shape)).complete, (LEVELS, LEVELS)
    )
    levels = np.linspace(0, 1, LEVELS)
    assert counts.sum(axis=1) @ levels / 20_000 == pytest.approx(2 / 5, abs=2e-3)
    assert counts.sum(axis=0) @ levels / 20_000 == pytest.approx(5 / 7, abs=2e-3)


def test_a_missing_answer_takes_the_worse_end_for_either_bet() -> None:
    """Whatever the missing answers would have been, the whole set gives as much evidence."""
    missing = of([[0.5, 0.0]] * 30, [[1.0, 0.5]] * 30)
    for first, second in product((0.5, 1.0), (0.0, 0.5)):
        whole = of([[first, second]] * 30)
        assert missing.log_e() <= whole.log_e()
        assert missing.exchanged.log_e() <= whole.exchanged.log_e()
    assert missing.log_e() == of([[1.0, 0.0]] * 30).log_e()
    assert missing.exchanged.log_e() == of([[0.5, 0.5]] * 30).exchanged.log_e()


def test_either_group_may_be_the_one_below() -> None:
    pairs = of_pairs(30, 20, 160, 40)
    assert pairs.log_e() > 3 > pairs.exchanged.log_e()
    assert pairs.units == 250
    with pytest.raises(ValueError, match="ratio of rates"):
        pairs.log_e(0.0)


def test_the_ratio_counts_units() -> None:
    units = SelectedUnits(5, 20, 19, 40) + SelectedUnits(0, 5, 1, 10)
    assert units.ratio == pytest.approx((5 / 25) / (20 / 50))
    assert SelectedUnits(3, 5, 0, 5).ratio is None
    assert SelectedUnits(0, 0, 4, 5).ratio is None
    with pytest.raises(ValueError, match="at most all"):
        SelectedUnits(6, 5, 0, 5)


def test_an_interval_leaves_out_only_ratios_that_are_rejected() -> None:
    pairs = of_pairs(60, 40, 100, 200)
    low, high = pairs.interval(0.05)
    assert high is not None
    assert low < 100 / 160 < high
    for ratio in (0.3, 0.5, 0.6, 0.7, 0.9, 1.2):
        rejected = max(pairs.log_e(ratio), pairs.exchanged.log_e(1 / ratio)) >= log(40)
        assert rejected == (not low < ratio < high)
    assert SelectionShares().interval(0.05) == (0.0, None)


def test_counts_that_no_sets_have_are_refused() -> None:
    empty = (0,) * CELLS
    for wrong in ((0,) * 4, (-1, *empty[1:])):
        with pytest.raises(ValueError, match=r"cells|at least 0"):
            SelectionShares(wrong)
    with pytest.raises(ValueError, match="two extremes"):
        SelectionShares(empty, (1, *empty[1:]))
