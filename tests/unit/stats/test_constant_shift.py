"""The interval of a constant shift of twins, and its agreement with a corrected p-value."""

import numpy as np
import pytest

from biaswatch.shared.stats.comparisons.constant_shift import TwinDifferences
from biaswatch.shared.stats.comparisons.joint_exchange import joint_exchange
from biaswatch.shared.stats.comparisons.sign_flips import sign_flip_p


def test_the_interval_inverts_the_test() -> None:
    differences = np.random.default_rng(8).normal(0.4, 1.0, 11)
    shift = TwinDifferences.of(differences).shift(0.05)
    for limit, inwards in ((shift.low, 1e-6), (shift.high, -1e-6)):
        assert limit is not None
        inside = sign_flip_p(differences - limit - inwards) or 1.0
        outside = sign_flip_p(differences - limit + inwards) or 1.0
        assert outside <= 0.05 < inside


def test_the_interval_of_many_sets_nearly_inverts_the_test() -> None:
    differences = np.random.default_rng(8).normal(0.4, 1.0, 24)
    shift = TwinDifferences.of(differences).shift(0.05)
    for limit in (shift.low, shift.high):
        assert limit is not None
        assert sign_flip_p(differences - limit) == pytest.approx(0.05, abs=0.005)


def test_five_sets_have_no_interval() -> None:
    shift = TwinDifferences.of(np.arange(5.0)).shift(0.05)
    assert (shift.value, shift.low, shift.high) == (2.0, None, None)
    assert shift.reason == "5 sets cannot reject any shift at level 0.05"


def test_twins_that_are_all_alike_have_no_interval_of_the_shift() -> None:
    shift = TwinDifferences.of(np.zeros(30)).shift(0.05)
    assert (shift.value, shift.low, shift.high) == (0.0, None, None)
    assert shift.reason
    assert "answered alike" in shift.reason


@pytest.mark.parametrize("sets", [7, 12, 13, 60])
@pytest.mark.parametrize("factor", [1.0, 1.3, 3.0, 20.0])
def test_it_leaves_out_0_exactly_where_the_corrected_p_value_is_small(
    sets: int, factor: float
) -> None:
    rng = np.random.default_rng(sets)
    outcomes = set()
    for gap in np.linspace(0.0, 1.5, 30):
        differences = TwinDifferences.of(np.sort(rng.normal(gap, 1.0, sets)))
        assert differences.p_value is not None
        p_adjusted = min(1.0, factor * differences.p_value)
        shift = differences.shift_within(p_adjusted, 0.05, 3)
        includes_0 = shift.low is None or shift.high is None or shift.low <= 0 <= shift.high
        assert includes_0 is (p_adjusted > 0.05)
        outcomes.add(includes_0)
    assert len(outcomes) == 2 or sets * factor == 140  # seven sets cannot reject at a 20th


def test_it_is_never_narrower_than_by_itself() -> None:
    differences = TwinDifferences.of(np.random.default_rng(1).normal(0.5, 1.0, 40))
    alone = differences.shift(0.05)
    for p_adjusted in (1e-6, 0.001, 0.049, 0.2, 1.0, None):
        shift = differences.shift_within(p_adjusted, 0.05, 3)
        assert (shift.low or 0.0) <= (alone.low or 0.0) + 1e-9
        assert (shift.high or 0.0) >= (alone.high or 0.0) - 1e-9


def test_all_shifts_of_a_family_are_covered_together() -> None:
    effects, missed = np.array([0.0, 0.5, -1.0]), 0
    rng = np.random.default_rng(3)
    for _ in range(200):
        answers = rng.normal(0, 1, (14, 3)) + effects
        tested = joint_exchange(answers[:, :, None], rng=rng, exchanges=499)
        for (a, b), p_adjusted in zip(tested.pairs, tested.adjusted[:, 0], strict=True):
            twins = TwinDifferences.of(np.sort(answers[:, a] - answers[:, b]))
            shift = twins.shift_within(float(p_adjusted), 0.05, 3)
            assert shift.low is not None
            assert shift.high is not None
            if not shift.low <= effects[a] - effects[b] <= shift.high:
                missed += 1
                break
    assert missed <= 16  # 5 % of 200, and two standard deviations


@pytest.mark.parametrize("sets", [6, 30])
def test_twins_that_all_differ_by_as_much_have_no_interval_but_a_reason(sets: int) -> None:
    shift = TwinDifferences.of(np.full(sets, 0.1) * 3).shift(0.05)
    assert shift.value == pytest.approx(0.3)
    assert shift.low is None
    assert "all twins differ by as much" in str(shift.reason)
