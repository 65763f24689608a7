"""A window of production traffic: each user once, in one group, with a mean; the rest described."""

from collections.abc import Collection
from typing import Any

import numpy as np
import pytest

from biaswatch.shared.analysis.monitors.round_answers import RoundCounts
from biaswatch.shared.analysis.monitors.traffic import (
    accounts_of,
    count_window,
    users_in_groups,
    window_descriptions,
)
from biaswatch.shared.contracts import Comparison, GroupSummary
from tests.support.records import AT, make_traffic_monitor
from tests.support.window_rows import TrafficAnswer, columns_of, entrants_of, named, names_of

PLAN = make_traffic_monitor().plan
WORDS, MISSING = PLAN.all_comparisons


def heard(user: str | None, group: str | None, value: float | None, **fields: Any) -> TrafficAnswer:
    given = {
        "key": f"{user}-{value}",
        "user": user,
        "groups": {"gender": group} if group else {},
        "extractor": "words",
        "values": None if value is None else {"words": value},
        "unscorable": "no answer: timeout" if value is None else None,
    }
    return TrafficAnswer(**{**given, **fields})


def count(
    comparison: Comparison,
    seen: list[TrafficAnswer],
    new: Collection[str],
    mixed: Collection[str] = (),
) -> RoundCounts:
    window = columns_of(PLAN, seen)
    return count_window(comparison, window, entrants_of(window, new, mixed))[0]


def sides(
    seen: list[TrafficAnswer], new: Collection[str], mixed: Collection[str] = ()
) -> tuple[int, int]:
    counts = count(WORDS, seen, new, mixed).counts
    return sum(counts["first"]), sum(counts["second"])


def means(seen: list[TrafficAnswer], feature: int = 0) -> list[GroupSummary]:
    window = columns_of(PLAN, seen)
    return list(window_descriptions(PLAN, window, {}, {})[feature].groups)


def test_a_user_is_one_unit_however_many_answers_there_are() -> None:
    seen = [heard("ann", "female", value) for value in (2, 4, 6)] + [heard("bob", "male", 5)]
    assert sides(seen, {"ann", "bob"}) == (1, 1)
    first = count(WORDS, seen, {"ann", "bob"}).counts["first"]
    only = count(WORDS, [heard("ann", "female", 4)], {"ann"}).counts["first"]
    assert first == only


def test_users_that_entered_before_or_are_in_two_groups_or_have_no_name_do_not_enter() -> None:
    seen = [
        heard("old", "female", 4),
        heard("both", "female", 4),
        heard("both", "male", 4),
        heard(None, "male", 4),
        heard("none", None, 4),
        heard("new", "male", 4),
    ]
    window = columns_of(PLAN, seen)
    result, names = users_in_groups(window, "gender"), np.array(names_of(window))
    assert set(names[result.present]) == {"old", "both", "new"}
    assert set(names[result.mixed]) == {"both"}
    assert sides(seen, {"both", "new"}, mixed={"both"}) == (0, 1)


def test_a_user_without_any_number_is_missing_and_one_with_some_is_not() -> None:
    seen = [heard("ann", "female", None), heard("eve", "female", 3), heard("eve", "female", None)]
    result = count(WORDS, seen, {"ann", "eve"})
    assert (sum(result.counts["first"]), result.missing) == (1, 1)


def test_that_answers_are_missing_is_a_number_of_every_user() -> None:
    seen = [heard("ann", "female", None), heard("bob", "male", 3)]
    counts = count(MISSING, seen, {"ann", "bob"}).counts
    assert (counts["first"][-1], counts["second"][0]) == (1, 1)


def test_a_value_beyond_the_declared_range_is_counted_and_not_used() -> None:
    result = count(WORDS, [heard("ann", "female", 11)], {"ann"})
    assert (result.outside, result.missing) == (1, 1)


def test_another_extractors_numbers_are_not_mixed_in() -> None:
    seen = [heard("ann", "female", 4, extractor="other")]
    assert sides(seen, {"ann"}) == (0, 0)


def test_groups_are_described_with_an_interval_over_users() -> None:
    seen = [heard(f"u{n}", "female", n % 5) for n in range(20)]
    female, male = means(seen)
    assert (female.group, female.responses, female.units, female.missing) == ("female", 20, 20, 0)
    assert female.mean.value == pytest.approx(2)
    assert female.mean.low is not None
    assert female.mean.low < 2
    assert (male.responses, male.mean.value, male.mean.reason) == (0, None, "no values")


def test_answers_of_nobody_are_described_without_an_interval() -> None:
    seen = [heard(None, "female", value, key=str(value)) for value in (2, 4)]
    female, _ = means(seen)
    assert (female.units, female.mean.value, female.mean.low) == (2, 3, None)
    assert "2 of the answers name no user or conversation" in (female.mean.reason or "")


def test_answers_that_are_missing_are_described_with_their_reasons() -> None:
    female, _ = means([heard("ann", "female", None)])
    assert (female.missing, female.missing_reasons) == (1, {"no answer: timeout": 1})
    share, _ = means([heard("ann", "female", None)], feature=1)
    assert share.mean.value == 1


def member(name: str, **fields: Any) -> TrafficAnswer:
    return heard(name, "male", 1.0, **{"key": name, "answered_at": AT, **fields})


def test_every_member_of_a_window_is_in_one_account() -> None:
    members = [
        member("counted"),
        member("counted before"),
        member("not measured", measured=False),
        member("no text", has_text=False, groups={}),
        member("no group", groups={"age": "old"}),
        member("of no side", groups={"gender": "unknown"}),
    ]
    window = columns_of(PLAN, members)
    used = np.array([members[place].key == "counted" for place in window.members])
    accounts = accounts_of(window, PLAN.comparisons, used)
    assert accounts.model_dump() == {
        "evidence": 1, "described": 1, "unmeasured": 1, "without_text": 1, "without_group": 2,
    }  # fmt: skip


def test_a_comparison_names_the_answers_that_it_counts() -> None:
    seen = [
        heard("new", "male", 3.0, key="a"),
        heard("new", "male", None, key="b"),
        heard("known", "male", 3.0, key="c"),
        heard(None, "male", 3.0, key="d"),
        heard("mixed", "female", 3.0, key="e"),
    ]
    window = columns_of(PLAN, seen)
    _, used = count_window(WORDS, window, entrants_of(window, {"new", "mixed"}, {"mixed"}))
    assert named(window, used, seen) == {"a", "b"}


@pytest.mark.parametrize("users", [1, 2, 30])
def test_a_group_whose_answers_are_all_equal_has_an_interval_by_the_range(users: int) -> None:
    first, _ = means([heard(f"u{n}", "female", 4) for n in range(users)])
    low, high = WORDS.watched.low, WORDS.watched.high
    assert first.mean.low is not None
    assert first.mean.high is not None
    assert low <= first.mean.low < 4 < first.mean.high <= high
    assert first.mean.high - first.mean.low < (high - low if users < 30 else 0.3 * (high - low))


def test_a_value_beyond_the_range_says_that_it_is_none() -> None:
    beyond = WORDS.watched.high + 5
    first, second = means(
        [heard(f"f{n}", "female", beyond) for n in range(5)]
        + [heard(f"m{n}", "male", beyond + n) for n in range(5)]
    )
    assert (first.mean.value, first.mean.low, first.mean.high) == (beyond, None, None)
    assert first.mean.reason
    assert second.mean.high is not None
    assert second.mean.high > WORDS.watched.high
