"""Ranks and their confidence sets, from simultaneous intervals of all differences."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy import stats

from biaswatch.shared.stats.groups.group_means import group_means
from biaswatch.shared.stats.groups.mean_ranks import Ranks, ranks_of_means

ALPHA = 0.05


def ranks(*samples: Any, sets: Any = None, groups: int = 0) -> Ranks:
    codes = np.repeat(np.arange(len(samples)), [len(sample) for sample in samples])
    values = np.concatenate([np.asarray(sample, dtype=float) for sample in samples])
    of = np.full(len(codes), -1) if sets is None else np.asarray(sets)
    return ranks_of_means(group_means(values, codes, of, groups or len(samples)), ALPHA)


def spread(centre: float, n: int = 30) -> Any:
    return centre + np.tile([-1.0, 1.0], n // 2)


def test_a_rank_counts_the_groups_that_are_surely_above_and_below() -> None:
    result = ranks(spread(0), spread(0.1), spread(5), spread(9))
    assert result.ranks.tolist() == [4, 3, 2, 1]
    assert result.low.tolist() == [3, 3, 2, 1]
    assert result.high.tolist() == [4, 4, 2, 1]


def test_the_sets_follow_from_bonferronis_welch_intervals() -> None:
    rng = np.random.default_rng(8)
    samples = [rng.normal(0.35 * place, 1.0, 40 + 5 * place) for place in range(6)]
    above, below = np.zeros(6, dtype=int), np.zeros(6, dtype=int)
    for a, b in combinations(range(6), 2):
        test = stats.ttest_ind(samples[a], samples[b], equal_var=False)
        bounds = test.confidence_interval(1 - ALPHA / 15)
        above[[a, b]] += [bounds.high < 0, bounds.low > 0]
        below[[a, b]] += [bounds.low > 0, bounds.high < 0]
    result = ranks(*samples)
    # The pooled error may only widen them, and here, with equal spreads, it hardly does.
    assert (result.low <= 1 + above).all()
    assert (result.high >= 6 - below).all()
    assert np.abs(result.low - 1 - above).sum() + np.abs(result.high - 6 + below).sum() <= 2
    assert above.sum() > 4


def test_pairs_of_the_same_sets_say_more() -> None:
    level = np.random.default_rng(9).normal(0, 20, 30)
    samples = [level + spread(0), level + spread(3)]
    assert ranks(*samples).high.tolist() == [2, 2]
    within = ranks(*samples, sets=np.tile(np.arange(30), 2))
    assert (within.low.tolist(), within.high.tolist()) == ([2, 1], [2, 1])


def test_equal_means_share_the_smallest_rank() -> None:
    result = ranks([0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.0, 0.1, 0.05])
    assert result.ranks.tolist() == [1, 1, 3]


def test_a_small_group_whose_answers_are_all_equal_may_have_any_rank() -> None:
    large = np.zeros(1000)
    large[:70] = 1
    result = ranks(np.zeros(25), large, large)
    assert (result.low[0], result.high[0]) == (1, 3)


def test_many_units_that_never_vary_are_ranked_and_a_few_are_not() -> None:
    assert ranks(np.ones(40), np.zeros(40), np.zeros(40)).high.tolist() == [1, 3, 3]
    assert ranks(np.ones(2), np.zeros(2), np.zeros(2)).high.tolist() == [3, 3, 3]


def test_a_group_of_one_unit_may_have_any_rank_and_one_without_has_none() -> None:
    result = ranks([100.0], spread(0), spread(9), groups=4)
    assert result.ranks.tolist() == [1, 3, 2, 0]
    assert (result.low[0], result.high[0]) == (1, 3)
    assert (result.low[3], result.high[3]) == (0, 0)


def test_an_impossible_level_is_refused() -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        ranks_of_means(group_means(np.ones(2), np.array([0, 1]), np.array([-1, -1]), 2), 1.0)
