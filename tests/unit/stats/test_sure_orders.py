"""Ranks of a known range: what small and flat groups leave possible, and agreement with gaps."""

import numpy as np

from biaswatch.shared.stats.arrays import Bools
from biaswatch.shared.stats.comparisons.compared_samples import ComparedSamples
from biaswatch.shared.stats.comparisons.gap_test import compare_samples
from biaswatch.shared.stats.groups.group_means import group_means
from biaswatch.shared.stats.groups.mean_ranks import ranks_of_means, simultaneous_order

UNIT = (0.0, 1.0)
NO_SETS = -1


def order_of(samples: list[np.ndarray], sets: np.ndarray | None = None) -> Bools:
    values = np.concatenate(samples)
    codes = np.repeat(np.arange(len(samples)), [len(sample) for sample in samples])
    of = np.full(len(values), NO_SETS) if sets is None else sets
    shared = group_means(values, codes, of, len(samples)).shared
    return simultaneous_order(values, codes, of, shared, UNIT, 0.05)


def test_a_flat_group_of_three_may_have_any_rank() -> None:
    rng = np.random.default_rng(1)
    others = [rng.beta(20, 20, 100) for _ in range(3)]
    samples = [np.full(3, 0.7), *others]
    surely = order_of(samples)
    assert not surely[0].any()
    assert not surely[:, 0].any()
    values, codes = np.concatenate(samples), np.repeat([0, 1, 2, 3], [3, 100, 100, 100])
    order = group_means(values, codes, np.full(303, NO_SETS), 4)
    ranks = ranks_of_means(order, 0.05, surely)
    assert (ranks.ranks[0], ranks.low[0], ranks.high[0]) == (1, 1, 4)


def test_groups_are_surely_ordered_where_their_comparison_is_a_disparity() -> None:
    rng = np.random.default_rng(2)
    samples = [rng.beta(a, b, 40) for a, b in ((2.0, 6.0), (3.0, 5.0), (5.0, 3.0), (2.2, 6.0))]
    surely = order_of(samples)
    for a in range(4):
        for b in range(4):
            if a != b:
                compared = ComparedSamples(only_a=samples[a], only_b=samples[b], bounds=UNIT)
                order = compare_samples(compared, alpha=0.05, tolerance=0.0, family=6)
                assert order.simultaneous.low is not None
                assert surely[a, b] == (order.simultaneous.low > 0)


def test_twins_are_ordered_by_their_differences() -> None:
    rng = np.random.default_rng(3)
    level = rng.uniform(0.05, 0.85, 60)
    twins = [level + 0.07, level + rng.normal(0, 0.01, 60)]
    separate = order_of(twins)
    joint = order_of(twins, np.tile(np.arange(60), 2))
    assert not separate.any()
    assert joint.tolist() == [[False, True], [False, False]]


def test_fewer_than_five_families_are_never_sure() -> None:
    rng = np.random.default_rng(4)
    samples = [rng.uniform(0.8, 0.9, 40), rng.uniform(0.1, 0.2, 40)]
    four = np.concatenate([np.arange(40) % 4, 10 + np.arange(40) % 8])
    assert not order_of(samples, four).any()
    assert order_of(samples).any()
