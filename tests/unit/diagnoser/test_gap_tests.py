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
    result, rng = DecidedRounds(watching(tolerance)), np.random.default_rng(seed)
    for gap in gaps:
        level = rng.normal(0, 0.2, sets)
        result.close(of_pairs(rng.normal(gap, 0.2, sets), level, rng))
    return result


@pytest.mark.parametrize("tolerance", [0.05, 0.0])
def test_a_gap_that_ends_and_comes_back_is_alarmed_cleared_and_alarmed_again(
    tolerance: float,
) -> None:
    result = decided([0.15] * 8 + [0.0] * 20 + [0.15] * 12, tolerance)
    first, again = result.told(DISPARITY)
    [over] = result.told(DISPARITY, CLEARED)
    assert first < 8 < over < 28 <= again
    verdicts = [item.verdict for item in result.evidence]
    assert set(verdicts[first:over]) == {Verdict.DISPARITY}
    assert Verdict.DISPARITY not in verdicts[over:again]
    assert set(verdicts[again:]) == {Verdict.DISPARITY}
    alarms = [alarm for alarm in result.alarms if alarm.what is DISPARITY]
    assert [(item.occasion, item.test) for item in alarms] == [(0, 1), (0, 2), (1, 2)]
    assert len({item.id for item in alarms}) == 3


def test_a_large_gap_that_ends_soon_after_its_alarm_does_not_hold_the_alarm_for_long() -> None:
    cleared = [
        bool(decided([0.45] * 4 + [0.0] * 18, 0.0, 12, seed).told(DISPARITY, CLEARED))
        for seed in range(10)
    ]
    assert sum(cleared) >= 8


def test_an_alarm_stands_while_its_gap_stays_and_is_told_once() -> None:
    result = decided([0.15] * 60)
    assert len(result.told(DISPARITY)) == 1
    assert not result.told(DISPARITY, CLEARED)
    last = result.evidence[-1]
    assert last.recovery is not None
    assert last.units == 60 * 50
    assert "the alarm of round" in last.reason
    assert last.gap.low is not None
    assert last.gap.low > 0.1


def test_while_an_alarm_stands_its_limit_is_half_of_its_gap_or_the_tolerance() -> None:
    result = decided([0.3] * 4)
    [raised] = result.told(DISPARITY)
    sought = result.evidence[raised].recovery
    assert sought is not None
    gap = result.evidence[raised].gap.value
    assert sought.limit == pytest.approx(abs(gap or 0) / 2)
    assert "half of the alarm's gap, which is more than the tolerance" in result.evidence[-1].reason
    small = decided([0.09] * 40)
    sought = small.evidence[-1].recovery
    assert sought is not None
    assert sought.limit == 0.05
    assert "lie within -0.05 to 0.05 (the tolerance)" in small.evidence[-1].reason


def test_nothing_is_cleared_while_a_smaller_gap_beyond_the_tolerance_stays() -> None:
    result = decided([0.3] * 6 + [0.1] * 50)
    assert len(result.told(DISPARITY)) == 1 + len(result.told(DISPARITY, CLEARED))
    assert result.evidence[-1].verdict is Verdict.DISPARITY


def test_a_gap_that_begins_late_is_found_soon_and_dated() -> None:
    result = decided([0.0] * 60 + [0.15] * 12)
    [raised] = result.told(DISPARITY)
    assert 60 <= raised <= 68
    [alarm] = [alarm for alarm in result.alarms if alarm.what is DISPARITY]
    assert alarm.since_round is not None
    assert abs(alarm.since_round - 60) <= 2
    assert f"began, most likely, with round {alarm.since_round}" in alarm.reason
    assert alarm.gap.value == pytest.approx(0.15, abs=0.06)
    shown = result.evidence[raised]
    assert shown.units == (raised - alarm.since_round + 1) * 50


def test_each_epoch_spends_from_the_same_alpha() -> None:
    result, rng = DecidedRounds(watching()), np.random.default_rng(2)
    for number in range(6):
        counts = of_pairs(rng.normal(0, 0.2, 20), rng.normal(0, 0.2, 20), rng)
        result.close(counts, model=f"m-{number // 2}")
    tests = [item.test for item in result.evidence if item.test]
    assert [test.number for test in tests] == [1, 1, 2, 2, 3, 3]
    assert result.evidence[-1].share_left == pytest.approx(share_left(3))
    bounds = [item.bound for item in result.evidence]
    assert bounds == [gap_bound(result.monitor.plan, n) for n in (1, 1, 2, 2, 3, 3)]
    assert bounds[0] < bounds[2] < bounds[4]


def test_an_alarm_says_what_it_promises() -> None:
    [alarm] = [alarm for alarm in decided([0.3] * 3).alarms if alarm.what is DISPARITY]
    assert "ever raises a false alarm of disparities" in alarm.promise
    assert "is at most 0.025: this was test 1" in alarm.promise
    assert "39 % is left" in alarm.promise
    assert "half of the monitor's 0.05; the other half is for changes" in alarm.promise
    assert alarm.reason.endswith("the gap was there, most likely, from the start of its test")


def test_a_change_is_cleared_when_rounds_have_followed_it_and_the_next_one_is_found() -> None:
    result = decided([0.0] * 20 + [0.2] * 20 + [0.0] * 15, tolerance=0.4)
    assert not result.told(DISPARITY)
    first, second = result.told(CHANGE)
    assert 20 <= first < 30
    assert 40 <= second < 52
    cleared = result.told(CHANGE, CLEARED)
    assert cleared[0] == first + 5
    alarms = [
        alarm for alarm in result.alarms if (alarm.what, alarm.state) == (CHANGE, AlarmState.RAISED)
    ]
    assert [
        abs((alarm.since_round or 0) - at) <= 2 for alarm, at in zip(alarms, (20, 40), strict=True)
    ]


def test_a_gap_that_alternates_from_round_to_round_is_none() -> None:
    result = decided([0.1, -0.1] * 30)
    assert not result.told(DISPARITY)


@pytest.mark.parametrize("gaps", [[0.0], [1.0], []])
def test_flat_tiny_and_empty_rounds_are_decided(gaps: list[float]) -> None:
    result, rng = DecidedRounds(watching(0.1)), np.random.default_rng(3)
    for _ in range(40):
        values = np.array(gaps)
        result.close(of_pairs(values, values * 0, rng))
    last = result.evidence[-1]
    assert last.units == 40 * len(gaps)
    assert bool(result.told(DISPARITY)) == (gaps == [1.0])
    if not gaps:
        assert last.gap.value is None
        assert last.change is not None
        assert last.change.no_smallest is not None
