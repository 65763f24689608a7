"""The common odds ratio over batches: recorded values, exact enumeration, sums that are exact."""

from math import exp, log

import numpy as np
import pytest
from scipy.stats import hypergeom, nchypergeom_fisher
from scipy.stats.contingency import odds_ratio

from biaswatch.shared.stats.anytime.odds import (
    GRID,
    UNIT,
    Batch,
    CommonOdds,
    log_es,
    tolerance_used,
)
from biaswatch.shared.stats.anytime.odds import odds_ratio as ratio_of
from tests.support.golden import golden_cases


def some(batches: int, seed: int, log_odds: float = 0.0) -> list[Batch]:
    rng = np.random.default_rng(seed)
    odds = []
    for n_1, n_2 in rng.integers(1, 9, (batches, 2)).tolist():
        base = rng.normal()
        p_1, p_2 = (1 / (1 + exp(-base - shift)) for shift in (log_odds, 0.0))
        odds.append(Batch(int(rng.binomial(n_1, p_1)), n_1, int(rng.binomial(n_2, p_2)), n_2))
    return odds


def test_one_batch_has_the_recorded_evidence_and_estimate() -> None:
    for case in golden_cases("CondOR one batch"):
        (a, b), (c, d) = case["input"]
        odds = CommonOdds.of([Batch(a, a + b, c, c + d)])
        assert odds.log_e() == pytest.approx(case["expected"]["logE"], abs=1e-9)
        assert odds.most_likely is not None
        assert exp(GRID[odds.most_likely]) == pytest.approx(case["expected"]["cmle"], abs=1e-9)


@pytest.mark.parametrize("null", [0.0, 0.5, -1.0])
def test_an_e_value_has_expectation_one_under_its_null(null: float) -> None:
    n_1, n_2, total = 5, 4, 4
    counts = np.arange(0, 5)
    chances = nchypergeom_fisher.pmf(counts, n_1 + n_2, n_1, total, exp(null))
    batches = [Batch(k, n_1, total - k, n_2) for k in counts.tolist()]
    expected = sum(
        first * second * exp(CommonOdds.of([x, y]).log_e(null))
        for x, first in zip(batches, chances, strict=True)
        for y, second in zip(batches, chances, strict=True)
    )
    assert expected == pytest.approx(1, abs=1e-8)


@pytest.mark.parametrize("truth", [-0.2, -0.05, 0.0, 0.2])
def test_within_the_tolerance_an_e_value_expects_at_most_one(truth: float) -> None:
    counts = np.arange(0, 7)
    chances = nchypergeom_fisher.pmf(counts, 14, 6, 7, exp(truth))
    states = [CommonOdds.of([Batch(k, 6, 7 - k, 8)]) for k in counts.tolist()]
    expected = sum(
        first * second * exp((one + two).log_e_beyond(0.2))
        for first, one in zip(chances, states, strict=True)
        for second, two in zip(chances, states, strict=True)
    )
    assert expected <= 1 + 1e-9


def test_a_batchs_normaliser_is_scipys_likelihood() -> None:
    odds = CommonOdds.of([Batch(3, 10, 4, 12)])
    for place in (10, 70, 80, 100, 150):
        psi = exp(GRID[place])
        against = hypergeom.logpmf(3, 22, 10, 7)
        likelihood = nchypergeom_fisher.logpmf(3, 22, 10, 7, psi) - against
        assert 3 * GRID[place] - odds.normalisers[place] * UNIT == pytest.approx(
            likelihood, abs=1e-7
        )


def test_merged_rounds_are_one_pass_exactly_in_any_order() -> None:
    batches = some(200, 1)
    whole = CommonOdds.of(batches)
    shuffled = [batches[i] for i in np.random.default_rng(2).permutation(200)]
    parts = [CommonOdds.of(shuffled[start : start + 23]) for start in range(0, 200, 23)]
    assert sum(parts, CommonOdds()) == whole
    assert sum(parts[::-1], CommonOdds()) == whole


def test_batches_that_cannot_tell_are_counted_and_say_nothing() -> None:
    silent = CommonOdds.of([Batch(0, 5, 0, 5), Batch(5, 5, 5, 5), Batch(1, 3, 0, 0)])
    assert (silent.units, silent.silent) == (0, 23)
    assert silent.log_e() == pytest.approx(0, abs=1e-12)
    assert silent.interval(0.05) == (None, None)
    assert silent.estimate is None


def test_the_estimate_is_the_conditional_one() -> None:
    odds = CommonOdds.of([Batch(12, 17, 7, 16)])
    assert ratio_of(odds.estimate) == pytest.approx(odds_ratio([[12, 5], [7, 9]]).statistic, 1e-3)
    for ends in (Batch(3, 3, 0, 3), Batch(0, 3, 3, 3), Batch(1, 40, 0, 40)):
        assert CommonOdds.of([ends] * 3).estimate is None


@pytest.mark.parametrize("batches", [5, 40, 400, 4000])
def test_an_interval_leaves_out_nothing_that_is_not_rejected(batches: int) -> None:
    odds = CommonOdds.of(some(batches, 3, 0.6))
    low, high = odds.interval(0.05)
    accepted = [null for null in GRID.tolist() if odds.log_e(null) < log(20)]
    assert low is None or low <= min(accepted)
    assert high is None or high >= max(accepted)
    assert low is None or min(accepted) - low <= 0.05 + 1e-9
    assert high is None or high - max(accepted) <= 0.05 + 1e-9


def test_an_end_between_two_points_is_never_inside_the_exact_one() -> None:
    """A finer grid of normalisers than the state keeps gives the exact evidence in between."""
    one = Batch(60, 100, 40, 100)
    odds = CommonOdds.of([one] * 5)
    _, high = odds.interval(0.05)
    assert high is not None
    fine = np.linspace(high + 1e-6, high + 0.05, 20)
    mixed = odds.log_e(0.0) + 0.0
    for null in fine.tolist():
        likelihood = nchypergeom_fisher.logpmf(60, 200, 100, 100, exp(null))
        at_null = nchypergeom_fisher.logpmf(60, 200, 100, 100, 1.0)
        assert mixed + 5 * (at_null - likelihood) >= log(20) - 1e-6


def test_many_states_evaluated_at_once_are_each_alone() -> None:
    states = [CommonOdds.of(some(10, seed)) for seed in range(4)]
    selected = np.array([state.selected for state in states], float)
    normalisers = np.array([state.normalisers for state in states], float)
    assert log_es(selected, normalisers) == pytest.approx([state.log_e() for state in states])


def test_a_tolerance_is_rounded_outwards_and_other_nulls_are_refused() -> None:
    assert tolerance_used(log(1.25)) == pytest.approx(0.25)
    assert tolerance_used(0.1) == pytest.approx(0.1)
    with pytest.raises(ValueError, match="not one of the log odds ratios kept"):
        CommonOdds().log_e(0.123)
    with pytest.raises(ValueError, match="0 to n selected"):
        Batch(4, 3, 0, 2)


def test_a_large_batch_is_counted_and_a_boundless_one_refused() -> None:
    large = CommonOdds.of([Batch(600, 1000, 19_000, 50_000)])
    assert large.log_e() > 3
    with pytest.raises(ValueError, match="give each prompt its own"):
        Batch(0, 1_000_000, 0, 1)


def test_many_equal_batches_add_up_as_precisely_as_one() -> None:
    """Rounding to whole units goes the same way in each, and still stays out of sight."""
    many = CommonOdds.of([Batch(1, 1, 0, 1)] * 2600 + [Batch(0, 1, 1, 1)] * 2400)
    logs = 2600 * GRID - 5000 * (np.logaddexp(0, GRID) - log(2))
    weights = np.exp(-(GRID**2) / 2)
    exact = np.logaddexp.reduce(logs + np.log(weights / weights.sum()))
    assert many.log_e() == pytest.approx(exact, abs=1e-9)
