"""Two groups without pairs: the lowest evidence is never taken too high."""

from itertools import product
from math import comb, exp, log

import numpy as np
import pytest

from biaswatch.shared.stats.anytime.inversion import MAX_LOSS
from biaswatch.shared.stats.anytime.two_groups import STAKES, VALUE_BINS, TwoHistograms
from biaswatch.shared.stats.anytime.units import DIFFERENCE_BINS
from tests.support.pair_histogram import PairHistogram


def some(n_1: int, n_2: int, seed: int, shift: float = 0.0) -> TwoHistograms:
    rng = np.random.default_rng(seed)
    first = np.clip(rng.beta(2, 5, n_1) + shift, 0, 1)
    return TwoHistograms.of(first, rng.beta(2, 5, n_2), rng.random(n_1), rng.random(n_2))


def wealth(counts: tuple[int, ...], sign: int, mean: float) -> float:
    """Return the wealth of bets that the mean is higher (or lower) than this, by multiplying."""
    room = mean if sign > 0 else 1 - mean
    values = np.repeat(np.linspace(0, 1, VALUE_BINS), counts)
    return float(np.mean([np.prod(1 + sign * c / room * (values - mean)) for c in STAKES]))


def plain(state: TwoHistograms, null: float, mu: float) -> float:
    """Return the evidence at one mean by multiplying."""
    up = wealth(state.first, 1, mu + null) * wealth(state.second, -1, mu)
    down = wealth(state.first, -1, mu + null) * wealth(state.second, 1, mu)
    return log((up + down) / 2)


@pytest.mark.parametrize("null", [0.0, 0.1, -0.2])
def test_the_lowest_evidence_is_below_all_and_near_the_lowest(null: float) -> None:
    state = some(60, 40, 1)
    low, high = max(0.0, -null), min(1.0, 1 - null)
    grid = np.linspace(low, high, 20_003)[1:-1]
    lowest = min(plain(state, null, float(mu)) for mu in grid[::10])
    evidence = state.log_e(null)
    assert lowest - 2 * MAX_LOSS <= evidence <= lowest


@pytest.mark.parametrize("tolerance", [0.05, 0.3])
def test_evidence_beyond_a_tolerance_is_the_mean_of_both_one_sided_lowest_ones(
    tolerance: float,
) -> None:
    rng = np.random.default_rng(5)
    high = TwoHistograms.of(
        1 - rng.beta(1, 9, 40) / 2, rng.beta(1, 2, 30), rng.random(40), rng.random(30)
    )
    mus = np.linspace(0, 1 - tolerance, 4002)[1:-1].tolist()

    def one_sided(larger: tuple[int, ...], smaller: tuple[int, ...]) -> float:
        up, down = (larger, 1), (smaller, -1)
        return min(wealth(*up, mu + tolerance) * wealth(*down, mu) for mu in mus)

    sides = one_sided(high.first, high.second), one_sided(high.second, high.first)
    exact = log(sum(sides) / 2)
    assert exact - 3 * MAX_LOSS <= high.log_e_beyond(tolerance) <= exact


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.8])
def test_an_e_value_expects_at_most_one_under_its_null(rate: float) -> None:
    expected = 0.0
    for first, second in product(range(6), repeat=2):
        chance = 1.0
        for k in (first, second):
            chance *= float(np.prod([rate] * k + [1 - rate] * (5 - k)))
            chance *= {0: 1, 1: 5, 2: 10, 3: 10, 4: 5, 5: 1}[k]
        ends = [(5 - k, *(0,) * (VALUE_BINS - 2), k) for k in (first, second)]
        expected += chance * exp(TwoHistograms(ends[0], ends[1]).log_e())
    assert expected <= 1


def test_evidence_beyond_a_tolerance_is_less_and_still_finds_a_large_difference() -> None:
    state = some(2000, 2000, 2, shift=0.1)
    assert state.log_e() > state.log_e_beyond(0.02) > log(20)
    assert some(2000, 2000, 3).log_e_beyond(0.02) < 0


def test_an_interval_holds_the_estimate_and_leaves_out_only_what_is_rejected() -> None:
    state = some(300, 200, 4)
    low, high = state.interval(0.05)
    assert state.estimate is not None
    assert low < state.estimate < high
    for null in np.linspace(-0.3, 0.3, 61).tolist():
        if state.log_e(null) < log(20):
            assert low <= null <= high


def test_no_mean_is_sought_beyond_the_ends() -> None:
    """All ones: bets that the mean is higher are as good as none, bets that it is lower lose."""
    ones = TwoHistograms.of(np.ones(20), np.ones(20), np.zeros(20), np.zeros(20))
    exact = log(np.mean([(1 - c) ** 20 for c in STAKES]))
    assert exact - 2 * MAX_LOSS <= ones.log_e_beyond(0.3) <= exact + 1e-9


def test_values_at_the_ends_and_empty_groups_are_no_trouble() -> None:
    ends = TwoHistograms.of(np.ones(40), np.zeros(40), np.zeros(40), np.zeros(40))
    assert ends.log_e() > log(20)
    assert ends.interval(0.05)[1] == 1.0
    assert TwoHistograms().log_e() == pytest.approx(0, abs=MAX_LOSS)
    assert TwoHistograms().interval(0.05) == (-1.0, 1.0)
    assert TwoHistograms().estimate is None
    with pytest.raises(ValueError, match="lies between -1 and 1"):
        ends.log_e(1.0)


def test_merged_rounds_are_one_pass_exactly() -> None:
    parts = [some(20, 30, seed) for seed in range(5)]
    assert sum(parts, TwoHistograms()) == sum(parts[::-1], TwoHistograms())
    assert sum(parts, TwoHistograms()).units == 250


def twins_of(gaps: list[float]) -> TwoHistograms:
    return TwoHistograms(twins=PairHistogram.of(np.array(gaps), np.zeros(len(gaps))).counts)


def test_twins_alone_are_evidence_as_pairs_are() -> None:
    gaps = [0.5, 0.25, 0.0, -0.125, 0.5, 0.75]
    state, as_pairs = twins_of(gaps), PairHistogram.of(np.array(gaps), np.zeros(6))
    for null in (-0.2, 0.0, 0.1):
        assert state.log_e(null) == pytest.approx(as_pairs.log_e(null), abs=2 * MAX_LOSS)
    assert state.log_e_beyond(0.1) == pytest.approx(as_pairs.log_e_beyond(0.1), abs=2 * MAX_LOSS)
    assert (state.units, state.estimate) == (12, as_pairs.estimate)


def test_twins_that_exclude_each_other_expect_at_most_one_with_others_beside_them() -> None:
    """One of each two is chosen: as independent units of both groups they would expect more."""
    expected = 0.0
    for chosen, first, second in product(range(7), range(3), range(3)):
        chance = comb(6, chosen) / 2**6 * comb(2, first) * comb(2, second) / 2**4
        ends = [(2 - k, *(0,) * (VALUE_BINS - 2), k) for k in (first, second)]
        twins = (6 - chosen, *(0,) * (DIFFERENCE_BINS - 2), chosen)
        expected += chance * exp(TwoHistograms(ends[0], ends[1], twins).log_e())
    assert expected <= 1


def test_twins_and_others_count_together() -> None:
    rng = np.random.default_rng(6)
    alone = some(150, 150, 6, shift=0.1)
    gaps = np.clip(rng.normal(0.1, 0.2, 80), -1, 1)
    twins = TwoHistograms(twins=PairHistogram.of(gaps, rng.random(80)).counts)
    both = alone + twins
    assert both.log_e() > max(alone.log_e(), twins.log_e())
    low, high = both.interval(0.05)
    assert both.estimate is not None
    assert low < both.estimate < high
    assert high - low < min(np.diff(item.interval(0.05))[0] for item in (alone, twins))


def test_twins_and_others_that_contradict_each_other_leave_an_interval_that_holds_both() -> None:
    others = TwoHistograms.of(np.full(900, 0.9), np.full(900, 0.1), np.zeros(900), np.zeros(900))
    low, high = (others + twins_of([-0.5] * 900)).interval(0.05)
    assert low < -0.5 < 0.79 < high


@pytest.mark.parametrize("units", [300, 100_000])
def test_an_interval_of_values_that_never_differ_shrinks_with_their_number(
    units: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[float] = []
    plain = TwoHistograms.log_e

    def counted(state: TwoHistograms, null: float = 0.0) -> float:
        looked.append(null)
        return plain(state, null)

    monkeypatch.setattr(TwoHistograms, "log_e", counted)
    zeros = (units, *(0,) * (VALUE_BINS - 1))
    low, high = TwoHistograms(zeros, zeros).interval(0.05)
    assert -15 / units < low < 0 < high < 15 / units
    assert len(looked) < 60
