"""E-values for twins, clusters and families against brute force, and bounds against tables."""

from itertools import permutations, product
from math import log

import numpy as np
import pytest

from biaswatch.shared.stats.anytime.clusters import Blocks, log_sum_after, look_number
from biaswatch.shared.stats.anytime.exchanges import (
    exchange_group,
    exchange_log_factors,
    log_wealth_of_differences,
    vector_scores,
)
from biaswatch.shared.stats.anytime.horizons import (
    WeightedMoments,
    looks_needed,
    sequential_bounds,
    z_statistics,
)
from biaswatch.shared.stats.anytime.merged import merged_log_e, stands_out


@pytest.mark.parametrize("labels", [2, 3, 8])
def test_exchanged_factors_average_to_one_over_the_exchanges_of_any_answers(labels: int) -> None:
    answers = np.random.default_rng(labels).exponential(1.0, labels) ** 3  # skewed
    group = exchange_group(labels)
    weights = np.arange(labels, dtype=np.float64)
    factors = []
    for exchange in group:
        scores = vector_scores(weights[None, :, None], answers[exchange][:, None], group)
        factors.append(float(np.exp(exchange_log_factors(scores))[0]))
    assert np.mean(factors) == pytest.approx(1.0)


@pytest.mark.parametrize("labels", [3, 5, 8])
def test_exchanges_form_a_group(labels: int) -> None:
    group = exchange_group(labels)
    rows = {tuple(row) for row in group.tolist()}
    assert tuple(range(labels)) == tuple(group[0].tolist())
    assert all(tuple(a[b].tolist()) in rows for a, b in product(group, group))


def test_a_small_set_is_exchanged_in_all_ways() -> None:
    rows = {tuple(row) for row in exchange_group(4).tolist()}
    assert rows == set(permutations(range(4)))


def test_two_groups_have_the_factor_of_a_sign_flip() -> None:
    gaps = np.array([0.3, -0.1, 0.7])
    wealth = log_wealth_of_differences(np.stack([gaps, -gaps], axis=1), stakes=(2.0,))
    expected = [np.log(np.exp(bet * gaps) / np.cosh(bet * gaps)).sum() for bet in (2.0, -2.0)]
    assert wealth == pytest.approx(expected)


def test_an_e_value_of_blocks_averages_to_one_over_all_signs() -> None:
    sizes = np.array([0.02, 0.3, 0.11, 0.05])
    signs = np.array(list(product([1.0, -1.0], repeat=4)))
    es = [np.exp(Blocks(row * sizes).log_e_beyond(0.0)) for row in signs]
    assert np.mean(es) == pytest.approx(1.0)


@pytest.mark.parametrize("blocks", [2, 6, 11])
def test_blocks_that_are_never_renewed_bound_the_evidence(blocks: int) -> None:
    largest = max(Blocks(np.full(blocks, gap)).log_e_beyond(0.0) for gap in (1e-6, 0.1, 1.0))
    assert largest <= (blocks - 1) * log(2)
    total = None
    for rounds in range(1, 5000):
        if (look := look_number(rounds)) is not None:
            total = log_sum_after(total, largest, look)
    assert total is not None
    assert total <= (blocks - 1) * log(2)


def test_a_tolerance_lowers_the_evidence_of_blocks_and_the_interval_inverts_it() -> None:
    blocks = Blocks(np.random.default_rng(5).normal(0.2, 0.05, 16))
    assert blocks.log_e_beyond(0.1) < blocks.log_e_beyond(0.0)
    low, high = blocks.interval(0.05)
    assert low < 0.2 < high
    assert low > 0.1
    assert blocks.log_e_at(low - 1e-6) >= -log(0.05) > blocks.log_e_at(low + 1e-6)
    assert Blocks(np.array([0.2, 0.2, 0.2])).interval(0.05) == (-1.0, 1.0)


def test_bounds_are_those_of_published_tables() -> None:
    # Two-sided .05 with the spending of Lan and DeMets: gsDesign, ldbounds.
    assert sequential_bounds(2, 0.025).bounds == pytest.approx([2.963, 1.969], abs=2e-3)
    five = [4.877, 3.357, 2.680, 2.290, 2.031]
    assert sequential_bounds(5, 0.025).bounds == pytest.approx(five, abs=2e-3)


def test_a_simulated_path_crosses_as_often_as_computed() -> None:
    bounds = sequential_bounds(20, 0.02)
    steps = np.random.default_rng(1).normal(0.5, 1.0, (20_000, 20))
    paths = steps.cumsum(axis=1) / np.sqrt(np.arange(1, 21))
    crossed = (paths >= bounds.bounds).any(axis=1).mean()
    computed = bounds.crossing_probabilities(0.5 * np.sqrt(20))[-1]
    assert crossed == pytest.approx(computed, abs=0.015)


def test_a_smaller_gap_needs_more_looks_and_a_tiny_one_is_not_found() -> None:
    assert (looks_needed(1.0, 52, 0.001) or 99) < (looks_needed(0.7, 52, 0.001) or 0)
    assert looks_needed(0.1, 52, 0.001) is None


def test_z_statistics_are_cautious_about_few_units_and_skewness() -> None:
    units = np.array([1.0, 40.0, 40.0])
    alike = WeightedMoments(units, np.full(3, 0.1), np.full(3, 0.011), np.full(3, 0.0013))
    above, below = z_statistics(alike, np.array([0.0, 0.0, 0.09]))
    assert above[0] == -np.inf
    assert above[1] > above[2] > 0 > below[1]


def test_merged_evidence_keeps_half_of_one_large_gap_and_adds_bets_on_vectors() -> None:
    log_es = np.array([10.0, *([-5.0] * 27)])
    alone = merged_log_e(log_es, np.array([-50.0]), np.array([-50.0]))
    assert alone == pytest.approx(10.0 - log(2 * 28), abs=0.01)
    vectors = merged_log_e(np.full(28, -5.0), np.array([20.0]), np.array([-50.0]))
    assert vectors == pytest.approx(20.0 - log(4), abs=0.01)


def test_what_stands_out_is_what_brute_force_closed_testing_rejects() -> None:
    rng = np.random.default_rng(3)
    for _ in range(50):
        log_es = rng.normal(2.0, 3.0, 6)
        merged = float(np.log(np.mean(np.exp(log_es))) + rng.normal())
        expected = [
            merged >= log(20)
            and all(
                np.mean(np.exp(log_es[list(members)])) >= 20
                for members in _subsets(6)
                if place in members and len(members) < 6
            )
            for place in range(6)
        ]
        assert stands_out(log_es, merged, 0.05).tolist() == expected


def _subsets(size: int) -> list[tuple[int, ...]]:
    masks = product([False, True], repeat=size)
    return [tuple(np.flatnonzero(mask).tolist()) for mask in masks]
