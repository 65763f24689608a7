"""Joint exchanges of labels within sets, compared with enumeration of every exchange."""

from itertools import permutations, product

import numpy as np
import pytest

from biaswatch.shared.stats.comparisons import joint_exchange as module
from biaswatch.shared.stats.comparisons.joint_exchange import joint_exchange
from biaswatch.shared.stats.comparisons.multiplicity import holm
from biaswatch.shared.stats.comparisons.sign_flips import sign_flip_p


def single_step_p(values: np.ndarray) -> np.ndarray:
    """Return [features]: largest standardised range over all exchanges, by plain loops."""
    centred = values - values.mean(axis=1, keepdims=True)
    centred = centred / np.sqrt((centred**2).sum(axis=(0, 1)))
    orders = list(permutations(range(values.shape[1])))
    observed = np.ptp(centred.sum(axis=0), axis=0)
    null = [
        np.ptp(
            sum(answers[list(order)] for answers, order in zip(centred, way, strict=True)), axis=0
        ).max()
        for way in product(orders, repeat=len(values))
    ]
    return np.array([(np.array(null) >= statistic - 1e-9).mean() for statistic in observed])


@pytest.mark.parametrize("shape", [(5, 2, 3), (4, 3, 2)])
def test_the_smallest_p_value_is_that_of_all_exchanges(shape: tuple[int, int, int]) -> None:
    values = np.random.default_rng(1).normal(size=shape)
    result = joint_exchange(values)
    assert result.exact
    assert result.overall_p == pytest.approx(single_step_p(values).min())


def test_random_exchanges_agree_with_all(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(4).normal(size=(6, 3, 2))
    values[:, 0] += 0.7
    exact = joint_exchange(values)
    monkeypatch.setattr(module, "MAX_ENUMERATED", 10)
    random = joint_exchange(values, rng=np.random.default_rng(2), exchanges=20_000)
    assert (exact.exact, random.exact) == (True, False)
    assert random.overall_p == pytest.approx(exact.overall_p, abs=0.01)


def test_one_feature_of_two_groups_is_sign_flips() -> None:
    values = np.random.default_rng(6).normal(size=(200, 2, 1))
    result = joint_exchange(values)
    expected = sign_flip_p(values[:, 0, 0] - values[:, 1, 0])
    assert result.adjusted[0, 0] == result.p_values[0, 0] == expected


def test_four_features_of_six_sets_are_found_together() -> None:
    values = np.random.default_rng(0).normal(0, 0.35, size=(6, 2, 4))
    values[:, 0] += 2.0
    assert (joint_exchange(values).adjusted == 2 / 64).all()


def test_three_groups_of_six_sets_are_found_in_pairs() -> None:
    values = np.random.default_rng(0).normal(0, 0.35, size=(6, 3, 1))
    values[:, 0] += 2.0
    result = joint_exchange(values)
    assert result.pairs == ((0, 1), (0, 2), (1, 2))
    assert result.adjusted[:2, 0].tolist() == [2 / 64, 2 / 64]
    assert result.adjusted[2, 0] > 0.05


def test_adjusted_p_values_are_at_least_the_single_ones() -> None:
    rng = np.random.default_rng(9)
    for groups in (2, 4, 7):
        values = rng.normal(size=(8, groups, 3))
        result = joint_exchange(values, rng=rng, exchanges=200)
        assert (result.adjusted >= result.p_values - 1e-12).all()


def test_families_keep_the_level_where_two_groups_differ_from_two() -> None:
    rng = np.random.default_rng(7)
    false = 0
    for _ in range(300):
        values = rng.exponential(size=(10, 4, 2))
        values[:, 2:] += 5.0
        result = joint_exchange(values, rng=rng, exchanges=400)
        alike = [result.pairs.index((0, 1)), result.pairs.index((2, 3))]
        false += bool((result.adjusted[alike] <= 0.05).any())
    assert false / 300 <= 0.05 + 3.5 * 0.0126


def test_missing_answers_move_with_their_labels() -> None:
    values = np.random.default_rng(3).normal(size=(12, 3, 2))
    values[2, 1] = np.nan
    values[5, 0, 1] = np.nan
    result = joint_exchange(values, rng=np.random.default_rng(0), exchanges=500)
    assert np.isfinite(result.adjusted).all()
    both = np.isfinite(values[:, 0, 0]) & np.isfinite(values[:, 1, 0])
    expected = sign_flip_p((values[:, 0, 0] - values[:, 1, 0])[both])
    assert result.p_values[0, 0] == expected


def test_groups_without_shared_sets_have_no_test() -> None:
    values = np.full((4, 2, 1), np.nan)
    values[:2, 0], values[2:, 1] = 1.0, 2.0
    result = joint_exchange(values)
    assert np.isnan(result.adjusted).all()
    assert result.overall_p is None


def test_each_group_against_all_others() -> None:
    values = np.random.default_rng(1).normal(0, 0.2, size=(6, 4, 1))
    values[:, 3] += 2.0
    result = joint_exchange(values, against_rest=True, rng=np.random.default_rng(0))
    assert result.pairs == ((0, -1), (1, -1), (2, -1), (3, -1))
    assert result.adjusted[3, 0] <= 0.01


def test_many_exchanges_need_a_generator() -> None:
    values = np.random.default_rng(1).normal(size=(40, 2, 2))
    with pytest.raises(ValueError, match="more than 50,000 exchanges: pass a generator"):
        joint_exchange(values)


def test_many_pairs_are_not_limited_by_the_number_of_random_exchanges() -> None:
    values = np.random.default_rng(3).normal(size=(40, 20, 2))
    values[:, 0] += 3.0
    result = joint_exchange(values, rng=np.random.default_rng(0))
    flips = [
        sign_flip_p(values[:, a, f] - values[:, b, f]) for a, b in result.pairs for f in (0, 1)
    ]
    assert result.adjusted.ravel().tolist() == holm(flips)
    with_first = [first == 0 for first, _ in result.pairs]
    assert (result.adjusted[with_first] < 0.05).all()
    assert (result.adjusted[np.logical_not(with_first)] > 0.05).all()
