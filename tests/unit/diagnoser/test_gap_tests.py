"""Alarms of gaps: raised, cleared and raised again by evidence, through the diagnoser's code."""

import numpy as np
import pytest

from biaswatch.shared.analysis.monitors.alpha_shares import gap_bound
from biaswatch.shared.contracts import AlarmKind, AlarmState, Verdict
from biaswatch.shared.stats.anytime.judging import share_left
from tests.support.decided_rounds import DecidedRounds, of_pairs, watching

DISPARITY, CHANGE, CLEARED = AlarmKind.DISPARITY, AlarmKind.CHANGE, AlarmState.CLEARED


def decided(
    gaps: list[float], tolerance: float = 0.05, sets: int = 50, seed: int = 1
) -> DecidedRounds:
    found, rng = DecidedRounds(watching(tolerance)), np.random.default_rng(seed)
    for gap in gaps:
        level = rng.normal(0, 0.2, sets)
        found.close(of_pairs(rng.normal(gap, 0.2, sets), level, rng))
    return found


@pytest.mark.parametrize("tolerance", [0.05, 0.0])
def test_a_gap_that_ends_and_comes_back_is_alarmed_cleared_and_alarmed_again(
    tolerance: float,
) -> None:
    found = decided([0.15] * 8 + [0.0] * 20 + [0.15] * 12, tolerance)
    first, again = found.told(DISPARITY)
    [over] = found.told(DISPARITY, CLEARED)
    assert first < 8 < over < 28 <= again
    verdicts = [each.verdict for each in found.evidence]
    assert set(verdicts[first:over]) == {Verdict.DISPARITY}
    assert Verdict.DISPARITY not in verdicts[over:again]
    assert set(verdicts[again:]) == {Verdict.DISPARITY}
    told = [each for each in found.alarms if each.what is DISPARITY]
    assert [(each.occasion, each.test) for each in told] == [(0, 1), (0, 2), (1, 2)]
    assert len({each.id for each in told}) == 3


def test_a_large_gap_that_ends_soon_after_its_alarm_does_not_hold_the_alarm_for_long() -> None:
    cleared = [
        bool(decided([0.45] * 4 + [0.0] * 18, 0.0, 12, seed).told(DISPARITY, CLEARED))
        for seed in range(10)
    ]
    assert sum(cleared) >= 8


def test_an_alarm_stands_while_its_gap_stays_and_is_told_once() -> None:
    found = decided([0.15] * 60)
    assert len(found.told(DISPARITY)) == 1
    assert not found.told(DISPARITY, CLEARED)
    last = found.evidence[-1]
    assert last.recovery is not None
    assert last.units == 60 * 50
    assert "the alarm of round" in last.reason
    assert last.gap.low is not None
    assert last.gap.low > 0.1


def test_while_an_alarm_stands_its_limit_is_half_of_its_gap_or_the_tolerance() -> None:
    found = decided([0.3] * 4)
    [raised] = found.told(DISPARITY)
    sought = found.evidence[raised].recovery
    assert sought is not None
    gap = found.evidence[raised].gap.value
    assert sought.limit == pytest.approx(abs(gap or 0) / 2)
    small = decided([0.09] * 40)
    sought = small.evidence[-1].recovery
    assert sought is not None
    assert sought.limit == 0.05


def test_nothing_is_cleared_while_a_smaller_gap_beyond_the_tolerance_stays() -> None:
    found = decided([0.3] * 6 + [0.1] * 50)
    assert len(found.told(DISPARITY)) == 1 + len(found.told(DISPARITY, CLEARED))
    assert found.evidence[-1].verdict is Verdict.DISPARITY


def test_a_gap_that_begins_late_is_found_soon_and_dated() -> None:
    found = decided([0.0] * 60 + [0.15] * 12)
    [raised] = found.told(DISPARITY)
    assert 60 <= raised <= 68
    [alarm] = [each for each in found.alarms if each.what is DISPARITY]
    assert alarm.since_round is not None
    assert abs(alarm.since_round - 60) <= 2
    assert alarm.gap.value == pytest.approx(0.15, abs=0.06)
    shown = found.evidence[raised]
    assert shown.units == (raised - alarm.since_round + 1) * 50


def test_each_epoch_spends_from_the_same_alpha() -> None:
    found, rng = DecidedRounds(watching()), np.random.default_rng(2)
    for number in range(6):
        counts = of_pairs(rng.normal(0, 0.2, 20), rng.normal(0, 0.2, 20), rng)
        found.close(counts, model=f"m-{number // 2}")
    tests = [each.test for each in found.evidence if each.test]
    assert [each.number for each in tests] == [1, 1, 2, 2, 3, 3]
    assert found.evidence[-1].share_left == pytest.approx(share_left(3))
    bounds = [each.bound for each in found.evidence]
    assert bounds == [gap_bound(found.monitor.plan, n) for n in (1, 1, 2, 2, 3, 3)]
    assert bounds[0] < bounds[2] < bounds[4]


def test_an_alarm_says_what_it_promises() -> None:
    [alarm] = [each for each in decided([0.3] * 3).alarms if each.what is DISPARITY]
    assert "ever raises a false alarm of disparities" in alarm.promise
    assert "is at most 0.025: this was test 1" in alarm.promise
    assert "39 % are left" in alarm.promise


def test_a_change_is_cleared_when_rounds_have_followed_it_and_the_next_one_is_found() -> None:
    found = decided([0.0] * 20 + [0.2] * 20 + [0.0] * 15, tolerance=0.4)
    assert not found.told(DISPARITY)
    first, second = found.told(CHANGE)
    assert 20 <= first < 30
    assert 40 <= second < 52
    cleared = found.told(CHANGE, CLEARED)
    assert cleared[0] == first + 5
    told = [each for each in found.alarms if (each.what, each.state) == (CHANGE, AlarmState.RAISED)]
    assert [abs((each.since_round or 0) - at) <= 2 for each, at in zip(told, (20, 40), strict=True)]


def test_a_gap_that_alternates_from_round_to_round_is_none() -> None:
    found = decided([0.1, -0.1] * 30)
    assert not found.told(DISPARITY)


@pytest.mark.parametrize("gaps", [[0.0], [1.0], []])
def test_flat_tiny_and_empty_rounds_are_decided(gaps: list[float]) -> None:
    found, rng = DecidedRounds(watching(0.1)), np.random.default_rng(3)
    for _ in range(40):
        values = np.array(gaps)
        found.close(of_pairs(values, values * 0, rng))
    last = found.evidence[-1]
    assert last.units == 40 * len(gaps)
    assert bool(found.told(DISPARITY)) == (gaps == [1.0])
    if not gaps:
        assert last.gap.value is None
        assert last.change is not None
        assert last.change.no_smallest is not None
