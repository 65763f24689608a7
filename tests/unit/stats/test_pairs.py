"""Fixed bets on pairs: recorded values, exact enumeration, states that add up."""

from itertools import product
from math import exp, log

import numpy as np
import pytest

from biaswatch.shared.stats.anytime.bets import (
    STAKES,
    log_mean_exp,
    log_wealths_at,
    log_wealths_beyond,
)
from biaswatch.shared.stats.anytime.inversion import bracket
from biaswatch.shared.stats.anytime.pair_histograms import STEPS_PER_SE
from biaswatch.shared.stats.anytime.units import binned, uniforms
from tests.support.golden import golden_cases
from tests.support.pair_histogram import PairHistogram

GAPS = (-1, 0, 1)


def of(gaps: tuple[int, ...]) -> PairHistogram:
    return PairHistogram.of_binary(gaps.count(1), gaps.count(0), gaps.count(-1))


def stepped(pairs: PairHistogram, sign: int) -> tuple[float, float]:
    """Return the end of the interval on the grid of steps alone, as the recorded one is."""
    step = sign * pairs.standard_error / STEPS_PER_SE
    return bracket(pairs.log_es, pairs.estimate or 0.0, step, (-1, 1), log(20))


def some(units: int, seed: int) -> PairHistogram:
    rng = np.random.default_rng(seed)
    return PairHistogram.of(rng.beta(2, 3, units) - rng.beta(2, 5, units), rng.random(units))


def test_pairs_have_the_recorded_evidence_and_interval() -> None:
    for case in golden_cases("PairHist"):
        second, same, first = case["input"]
        pairs = PairHistogram.of_binary(first, same, second)
        assert pairs.log_e() == pytest.approx(case["expected"]["logE"], abs=1e-9)
        assert pairs.log_e_beyond(0.02) == pytest.approx(case["expected"]["tol"], abs=1e-9)
        ends = [stepped(pairs, sign) for sign in (-1, 1)]
        assert [end[1] for end in ends] == pytest.approx(case["expected"]["cs"], abs=1e-9)
        for exact, end in zip(pairs.interval(0.05), ends, strict=True):
            assert min(end) < exact < max(end)


@pytest.mark.parametrize("shares", [(0.2, 0.6, 0.2), (0.5, 0.0, 0.5), (0.01, 0.98, 0.01)])
def test_an_e_value_has_expectation_one_under_its_null(shares: tuple[float, ...]) -> None:
    expected = sum(
        np.prod([shares[gap + 1] for gap in gaps]) * exp(of(gaps).log_e())
        for gaps in product(GAPS, repeat=6)
    )
    assert expected == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("mean", [-0.1, -0.03, 0.0, 0.1])
def test_within_the_tolerance_an_e_value_expects_at_most_one(mean: float) -> None:
    shares = (0.3 - mean / 2, 0.4, 0.3 + mean / 2)
    expected = sum(
        np.prod([shares[gap + 1] for gap in gaps]) * exp(of(gaps).log_e_beyond(0.1))
        for gaps in product(GAPS, repeat=6)
    )
    assert expected <= 1 + 1e-12


def test_an_e_value_is_the_plain_product_of_its_bets() -> None:
    gaps = np.array([-0.5, 0.25, 0.0, 1.0, 0.75])
    pairs = PairHistogram.of(gaps, np.zeros(5), bins=9)
    null = 0.2
    bets = [sign * stake / (1 + null) for stake in STAKES for sign in (1, -1)]
    plain = np.mean([np.prod([1 + bet * (gap - null) for gap in gaps]) for bet in bets])
    assert pairs.log_e(null) == pytest.approx(log(plain), abs=1e-12)


def test_merged_rounds_are_one_pass_exactly_in_any_order() -> None:
    rounds = [some(50, seed) for seed in range(6)]
    rng = np.random.default_rng(0)
    units = [f"set-{index}" for index in range(90)]
    gaps = rng.uniform(-1, 1, 90)
    whole = PairHistogram.of(gaps, uniforms(units, "toxicity"))
    parts = [
        PairHistogram.of(gaps[part], uniforms([units[i] for i in part], "toxicity"))
        for part in np.array_split(rng.permutation(90), 7)
    ]
    assert sum(parts, PairHistogram.empty()) == whole
    assert sum(rounds, PairHistogram.empty()) == sum(rounds[::-1], PairHistogram.empty())


def test_many_states_evaluated_at_once_are_each_alone() -> None:
    states = [some(40, seed) for seed in range(5)]
    counts = np.array([state.counts for state in states], float)
    at = log_mean_exp(log_wealths_at(counts, counts, 0.05))
    assert at == pytest.approx([state.log_e(0.05) for state in states])
    beyond = log_mean_exp(log_wealths_beyond(counts, counts, 0.02))
    assert beyond == pytest.approx([state.log_e_beyond(0.02) for state in states])


def test_rounding_keeps_the_mean_exactly() -> None:
    jitter = (np.arange(100_000) + 0.5) / 100_000
    counts = binned(np.full(100_000, 0.123), -1, 1, 129, jitter)
    assert np.dot(counts, np.linspace(-1, 1, 129)) / 100_000 == pytest.approx(0.123, abs=1e-6)
    assert sum(count > 0 for count in counts) == 2


def test_a_unit_is_rounded_the_same_way_whenever_it_is_counted() -> None:
    assert uniforms(["a", "b"], "x").tolist() == uniforms(["b", "a"], "x").tolist()[::-1]
    assert uniforms(["a"], "x") != uniforms(["a"], "y")
    jitter = uniforms([str(i) for i in range(20_000)])
    assert 0 <= jitter.min() < jitter.max() < 1
    assert jitter.mean() == pytest.approx(0.5, abs=0.01)


def test_an_interval_leaves_out_nothing_that_is_not_rejected() -> None:
    for pairs in (some(30, 1), some(3000, 2), of((1, 1, 1)), of((0,) * 40), of((1,) * 200)):
        low, high = pairs.interval(0.05)
        for null in np.linspace(-1, 1, 801):
            if pairs.log_e(float(null)) < log(20):
                assert low <= null <= high


def test_absent_units_lose_every_bet() -> None:
    pairs = some(200, 3)
    missing = pairs + PairHistogram.unknown(20)
    worst = [pairs + PairHistogram.of(np.full(20, g), np.zeros(20)) for g in (-1.0, 1.0)]
    assert missing.log_e(0.1) <= min(state.log_e(0.1) for state in worst)
    assert missing.log_e_beyond(0.02) <= min(state.log_e_beyond(0.02) for state in worst)
    low, high = missing.interval(0.05)
    assert low <= min(s.interval(0.05)[0] for s in worst)
    assert high >= max(s.interval(0.05)[1] for s in worst)


@pytest.mark.parametrize("seed", range(6))
def test_evidence_with_missing_answers_is_at_most_that_of_all_answers(seed: int) -> None:
    """Whatever is missing, and however it was chosen: it holds for each outcome, not on average."""
    rng = np.random.default_rng(seed)
    n, repeats = 60, 4
    answers = rng.random((2, n, repeats))
    chosen = [rng.random(answers.shape) < 0.2, answers < 0.3, np.abs(answers - 0.5) > 0.4]
    missing = chosen[seed % 3]
    jitter = rng.random(n)
    a, b = answers.mean(axis=2)
    low, high = (np.where(missing, end, answers).mean(axis=2) for end in (0.0, 1.0))
    whole = PairHistogram.of(a - b, jitter)
    bounded = PairHistogram.empty().bounded(low[0] - high[1], high[0] - low[1], jitter)
    assert bounded.limits is not None
    for null in (-0.2, 0.0, 0.1):
        assert bounded.log_e(null) <= whole.log_e(null) + 1e-9
    for tolerance in (0.0, 0.05):
        assert bounded.log_e_beyond(tolerance) <= whole.log_e_beyond(tolerance) + 1e-9
    (low_end, high_end), (inner_low, inner_high) = bounded.interval(0.05), whole.interval(0.05)
    assert low_end <= inner_low < inner_high <= high_end
    assert low_end <= bounded.limits[0] <= bounded.limits[1] <= high_end


def test_the_estimate_is_of_what_came_as_far_as_the_missing_answers_allow_it() -> None:
    complete = PairHistogram.of(np.full(30, 0.25), np.zeros(30))
    assert complete.estimate == complete.limits[0] == complete.limits[1] == 0.25  # type: ignore[index]
    assert PairHistogram.unknown(3).estimate is None
    with_unknown = complete + PairHistogram.unknown(10)
    assert with_unknown.estimate == 0.25
    assert with_unknown.limits == pytest.approx((-1 / 16, 7 / 16))
    assert with_unknown.units == 40


def test_values_out_of_range_are_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"lies in \[-1, 1\], not at 1.5"):
        PairHistogram.of(np.array([1.5]), np.zeros(1))
    with pytest.raises(ValueError, match="not at nan"):
        PairHistogram.of(np.array([np.nan]), np.zeros(1))
    with pytest.raises(ValueError, match="do not add up"):
        PairHistogram.empty(3) + PairHistogram.empty(5)
