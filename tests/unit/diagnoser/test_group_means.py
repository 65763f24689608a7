"""The means of both groups that alarms tell, by every method, and since when."""

import numpy as np
import pytest

from biaswatch.shared.analysis.monitors.alarm_words import group_means
from biaswatch.shared.analysis.monitors.round_answers import Counts
from biaswatch.shared.contracts import AlarmKind, Comparison, Method, WatchedFeature, WatchedPair
from biaswatch.shared.stats.anytime.two_groups import TwoHistograms
from tests.support.decided_rounds import DecidedRounds, of_pairs, watching
from tests.support.pair_histogram import PairHistogram
from tests.support.records import AT

FIRST, SECOND = 0.75, 0.25
"""Both are places of bins, so that nothing is rounded."""


def comparison(method: Method = Method.PAIRS) -> Comparison:
    watched = WatchedFeature(
        extractor="rating", feature="rating", low=1, high=5, method=method,
        selected_at_least=4 if method.of_selections else None,
    )  # fmt: skip
    return Comparison(watched=watched, pair=WatchedPair(dimension="side", a="a", b="b"))


def histogram(value: float) -> tuple[int, ...]:
    return PairHistogram.of(np.full(4, value), np.zeros(4)).counts


def pairs(differences: str, levels: str) -> Counts:
    return {differences: histogram(FIRST - SECOND), levels: histogram(FIRST + SECOND - 1)}


@pytest.mark.parametrize(
    ("method", "counts", "means"),
    [
        (Method.PAIRS, pairs("counts", "level"), (4.0, 2.0)),
        (Method.MATCHED, pairs("differences", "levels"), (4.0, 2.0)),
        (Method.ODDS, pairs("matched", "level"), (FIRST, SECOND)),
        (Method.DISCORDANT, pairs("matched", "level"), (FIRST, SECOND)),
        (Method.TWO_GROUPS, pairs("matched", "level"), (4.0, 2.0)),
    ],
)
def test_both_means_follow_from_gap_and_level(
    method: Method, counts: Counts, means: tuple[float, float]
) -> None:
    assert group_means(comparison(method), counts) == pytest.approx(means)


def test_groups_without_twins_have_the_means_of_all_of_their_units() -> None:
    luck = np.zeros(8)
    state = TwoHistograms.of(np.full(8, FIRST), np.full(3, SECOND), luck, luck[:3])
    counts = {"first": state.first, "second": state.second} | pairs("matched", "level")
    assert group_means(comparison(Method.TWO_GROUPS), counts) == pytest.approx((4.0, 2.0))


def test_without_levels_or_answers_no_means_are_told() -> None:
    assert group_means(comparison(), {"counts": histogram(0.5)}) is None
    nothing = (0,) * 129
    assert group_means(comparison(), {"counts": nothing, "level": nothing}) is None


def test_an_alarm_says_since_when_and_what_both_means_are() -> None:
    result, rng = DecidedRounds(watching(0.05)), np.random.default_rng(4)
    for number in range(30):
        gap = 0.0 if number < 20 else 0.5
        level = rng.normal(0.2, 0.05, 50)
        result.close(of_pairs(rng.normal(gap, 0.1, 50), level, rng))
    [alarm] = [alarm for alarm in result.alarms if alarm.what is AlarmKind.DISPARITY]
    assert alarm.since_round is not None
    assert alarm.since is not None
    assert (alarm.since - AT).total_seconds() == 3600 * alarm.since_round
    assert alarm.first_mean == pytest.approx(0.85, abs=0.05)
    assert alarm.second_mean == pytest.approx(0.35, abs=0.05)
    assert f"since {alarm.since:%d %b %Y}" in alarm.words
    assert "on average against" in alarm.words
