"""Users of traffic are compared with neighbours in time and stratum; others are described."""

from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from math import isnan
from typing import Any

import pytest

from biaswatch.shared.analysis.monitors.gap_evidence import EvidenceRead, summaries_of
from biaswatch.shared.analysis.monitors.method import method_of
from biaswatch.shared.analysis.monitors.methods.matched import user_counts_of
from biaswatch.shared.analysis.monitors.round_answers import summed
from biaswatch.shared.analysis.monitors.traffic_matching import CountedUsers, count_users
from biaswatch.shared.contracts import (
    Comparison,
    Method,
    Traffic,
    UserCounts,
    WatchedFeature,
    WatchedPair,
)
from biaswatch.shared.contracts.identity import derived_id
from tests.support.window_rows import TrafficAnswer, columns_of, entrants_of, named, plan_of

NOON = datetime(2026, 11, 14, 12, tzinfo=UTC)
WORDS = WatchedFeature(extractor="words", feature="words", high=10, method=Method.MATCHED)
COMPARISON = Comparison(watched=WORDS, pair=WatchedPair(dimension="gender", a="female", b="male"))
HOURLY = Traffic(window_s=3600)
BY_TOPIC = Traffic(window_s=86400, strata=("topic",), neighbours_within_s=600)


def heard(
    user: str, minute: float, value: float | None, topic: str = "billing", **fields: Any
) -> TrafficAnswer:
    """Return an answer to a user, who is of the group that the name begins with: f1, m1."""
    given = {
        "key": f"{user}@{minute}",
        "user": user,
        "groups": {"gender": {"f": "female", "m": "male"}[user[0]]},
        "extractor": "words",
        "values": None if value is None else {"words": value},
        "answered_at": NOON + timedelta(minutes=minute),
        "facts": {"topic": topic} if topic else {},
        "response_id": derived_id("response", user, minute),
    }
    return TrafficAnswer(**{**given, **fields})


def counted(
    *answers: TrafficAnswer,
    traffic: Traffic = HOURLY,
    comparison: Comparison = COMPARISON,
    most_strata: int = 20,
    new: set[str] | None = None,
    mixed: Collection[str] = (),
) -> CountedUsers:
    return counted_with_used(
        *answers,
        traffic=traffic,
        comparison=comparison,
        most_strata=most_strata,
        new=new,
        mixed=mixed,
    )[0]


def counted_with_used(
    *answers: TrafficAnswer,
    traffic: Traffic = HOURLY,
    comparison: Comparison = COMPARISON,
    most_strata: int = 20,
    new: set[str] | None = None,
    mixed: Collection[str] = (),
) -> tuple[CountedUsers, set[str]]:
    """Return also the names of the answers that are counted."""
    window = columns_of(plan_of(comparison, traffic), answers)
    users = {answer.user for answer in answers if answer.user} if new is None else new
    who = entrants_of(window, users, mixed)
    result, used = count_users(comparison, window, who, traffic, most_strata)
    return result, named(window, used, answers)


def users(counted_users: CountedUsers) -> UserCounts:
    counts = user_counts_of(counted_users.counted.counts)
    assert counts is not None
    return counts


def gap(counted_users: CountedUsers) -> float | None:
    [gap] = method_of(Method.MATCHED).evidence([counted_users.counted.counts]).estimates.tolist()
    return None if isnan(gap) else gap


def test_neighbours_are_compared_and_others_are_counted_as_alone() -> None:
    result, used = counted_with_used(
        heard("f1", 0, 8), heard("m1", 5, 3), heard("f2", 300, 9), heard("m2", 700, 1),
        traffic=BY_TOPIC,
    )  # fmt: skip
    assert users(result) == UserCounts(
        first=1, second=1, first_alone=1, second_alone=1, without_stratum=0
    )
    assert gap(result) == pytest.approx(0.5)
    assert used == {"f1@0", "m1@5"}


def test_users_of_another_stratum_are_no_neighbours() -> None:
    result = counted(heard("f1", 0, 8), heard("m1", 0, 3, topic="refunds"), traffic=BY_TOPIC)
    assert (users(result).first, users(result).alone, gap(result)) == (0, 2, None)
    assert users(counted(heard("f1", 0, 8), heard("m1", 0, 3, topic="refunds"))).alone == 0


def test_a_user_whose_first_answer_lacks_a_declared_fact_is_described() -> None:
    result = counted(heard("f1", 0, 8, topic=""), heard("m1", 0, 3), traffic=BY_TOPIC)
    assert users(result) == UserCounts(
        first=0, second=0, first_alone=0, second_alone=1, without_stratum=1
    )


def test_only_answers_near_the_first_and_of_its_stratum_make_a_users_mean() -> None:
    result, used = counted_with_used(
        heard("f1", 0, 2), heard("f1", 9, 4), heard("f1", 5, 10, topic="refunds"),
        heard("f1", 11, 10), heard("m1", 1, 3), traffic=BY_TOPIC,
    )  # fmt: skip
    assert gap(result) == pytest.approx(0.0)
    assert used == {"f1@0", "f1@9", "m1@1"}


def test_the_order_in_which_answers_are_read_changes_nothing() -> None:
    answers = [heard(f"{'fm'[n % 2]}{n}", n % 7, n % 10) for n in range(60)]
    assert counted(*answers).counted == counted(*reversed(answers)).counted


def test_matching_does_not_look_at_values() -> None:
    answers = [heard(f"{'fm'[n % 3 == 0]}{n}", n % 7, 5) for n in range(60)]
    others = [heard(f"{'fm'[n % 3 == 0]}{n}", n % 7, (n * 7) % 11 % 10) for n in range(60)]
    assert users(counted(*answers)) == users(counted(*others))
    assert counted_with_used(*answers)[1] == counted_with_used(*others)[1]


def test_users_who_entered_before_or_are_in_two_groups_are_matched_with_nobody() -> None:
    result = counted(
        heard("f1", 0, 8), heard("f2", 0, 8), heard("m1", 0, 3), new={"f2", "m1"}, mixed={"f2"}
    )
    assert users(result) == UserCounts(
        first=0, second=0, first_alone=0, second_alone=1, without_stratum=0
    )


def test_a_user_without_a_number_is_missing_and_takes_no_neighbour() -> None:
    result = counted(
        heard("f1", 0, None), heard("f2", 1, 11), heard("f3", 2, 6), heard("m1", 3, 3)
    )  # fmt: skip
    assert (result.counted.missing, result.counted.outside) == (2, 1)
    assert (users(result).first, users(result).second) == (1, 1)


def test_all_users_together_are_the_unadjusted_gap() -> None:
    result = counted(
        heard("f1", 0, 8), heard("m1", 1, 3), heard("f2", 2, 10, topic="refunds"),
        heard("f3", 3, 10, topic="refunds"), traffic=BY_TOPIC,
    )  # fmt: skip
    counts = summed(result.counted.counts, result.counted.counts)
    [text] = summaries_of([EvidenceRead(COMPARISON, counts, alpha=0.05)], family=2)
    assert text.gap.value == pytest.approx(5)
    assert text.unadjusted is not None
    assert text.unadjusted.value is not None
    assert text.unadjusted.value == pytest.approx(28 / 3 - 3, abs=0.2)
    assert "no evidence" in text.unadjusted.method
    assert text.users is not None
    assert (text.users.first_alone, text.units) == (4, 4)


def test_an_alarm_can_show_the_matches_with_the_largest_gaps() -> None:
    answers = [heard(f"f{n}", 10 * n, n % 10) for n in range(1, 9)]
    answers += [heard(f"m{n}", 10 * n + 1, 2) for n in range(1, 9)]
    traffic = Traffic(window_s=86400, strata=("topic",), neighbours_within_s=120)
    shown = counted(*answers, traffic=traffic).heaviest.sets
    assert max(item.gap or 0 for item in shown.values()) == 6
    assert min(item.gap or 0 for item in shown.values()) == -1
    name, twins = max(shown.items(), key=lambda item: item[1].gap or 0)
    assert name.startswith("users of 2026-11-14 13:20 UTC, billing")
    assert twins.a.responses == [answers[7].response_id]


def test_comparisons_that_pool_go_on_as_they_were() -> None:
    watched = WORDS.model_copy(update={"method": Method.TWO_GROUPS})
    pooled = Comparison(watched=watched, pair=COMPARISON.pair)
    result = counted(heard("f1", 0, 8), heard("m1", 59, 3), comparison=pooled)
    assert set(result.counted.counts) == {"first", "second"}
