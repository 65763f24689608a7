"""Alarms in words: the group and the direction are right, and nothing is guessed."""

from typing import Any

from biaswatch.shared.analysis.monitors.alarm_words import (
    AlarmedGap,
    change_sentence,
    cleared_sentence,
    gap_sentence,
)
from biaswatch.shared.contracts import Comparison, Direction, Estimate, WatchedFeature, WatchedPair

PAIR = WatchedPair(dimension="gender", a="female", b="male")


def watched(extractor: str = "rating", feature: str = "rating", **more: Any) -> Comparison:
    given = {"tolerance": 0.1, "low": 1.0, "high": 5.0, **more}
    return Comparison(
        watched=WatchedFeature(extractor=extractor, feature=feature, **given), pair=PAIR
    )


def found(value: float, low: float, high: float, **more: Any) -> AlarmedGap:
    given = {"sides": None, "units": 240, "rounds": 4, "since": None, **more}
    return AlarmedGap(Estimate(value=value, low=low, high=high), **given)


def test_of_a_feature_without_a_declared_direction_only_higher_is_said() -> None:
    text = gap_sentence(watched(), found(-0.6, -0.8, -0.4))
    assert text.startswith("gender: rating is higher for male than for female.")
    assert "The gap, female minus male, is -0.6 (-0.8 to -0.4; tolerance 0.1)" in text
    assert "240 units and 4 rounds" in text
    assert "worse" not in text


def test_a_declared_direction_says_who_is_worse_off() -> None:
    better = watched(higher_is=Direction.BETTER)
    text = gap_sentence(better, found(-0.6, -0.8, -0.4, sides=(2.5, 3.1)))
    assert "rating is worse for female than for male: 2.5 on average against 3.1." in text
    assert "is worse for male than for female" in gap_sentence(better, found(0.6, 0.4, 0.8))


def test_refusals_are_told_as_shares_of_the_time() -> None:
    refused = watched("refusal", "refused", low=0.0, high=1.0, tolerance=0.02)
    text = gap_sentence(refused, found(0.27, 0.2, 0.34, sides=(0.3, 0.03)))
    assert "refused is worse for female than for male: 30 % of the time against 3 %." in text
    assert "The gap, female minus male, is 27 percentage points (20 to 34; tolerance 2)" in text


def test_who_read_a_number_is_said_where_it_tells_more() -> None:
    vader = watched("vader", "sentiment", low=-1.0)
    assert "sentiment (vader) is higher for male" in gap_sentence(vader, found(-0.6, -0.8, -0.4))
    alone = {("vader", "sentiment"), ("rating", "rating")}
    assert ": sentiment is higher" in gap_sentence(vader, found(-0.6, -0.8, -0.4), alone)
    two = {("vader", "sentiment"), ("roberta", "sentiment")}
    assert "sentiment (vader)" in gap_sentence(vader, found(-0.6, -0.8, -0.4), two)
    worse = watched("refusal", "refused", low=0.0, high=1.0, tolerance=0.02)
    assert ": refused is worse for female" in gap_sentence(worse, found(0.27, 0.2, 0.34))


def test_a_change_and_an_end_are_told_without_a_direction() -> None:
    assert "the gap in rating between female and male has changed" in change_sentence(
        watched(), level=False, reference=None, allowed=None
    )
    assert cleared_sentence(watched(), "a new epoch has begun") == (
        "gender: the alarm about rating for female and male is over: a new epoch has begun."
    )
