"""Users of two groups are matched in time, each once, whatever they were told."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from biaswatch.shared.stats.anytime.matching import (
    MAX_WINDOW_USERS,
    Match,
    matches_in_time,
    sides_of,
)
from biaswatch.shared.stats.arrays import Floats

HOUR_S = 3600.0
DAY_S = 24 * HOUR_S


def matched(times_s: list[float], groups: str, within_s: float = 60.0) -> list[Match]:
    """Match users, a letter each; everybody is equally lucky."""
    first = np.array([group == "a" for group in groups])
    return list(matches_in_time(np.array(times_s), first, np.zeros(len(groups)), within_s=within_s))


def arrivals(
    seed: int, users: int = 2000, share: float = 0.15
) -> tuple[Floats, NDArray[np.bool_], Floats]:
    rng = np.random.default_rng(seed)
    return np.sort(rng.uniform(0, DAY_S, users)), rng.random(users) < share, rng.random(users)


def test_neighbours_are_compared_and_who_has_none_is_not() -> None:
    assert matched([0, 10, 500, 2000, 2010], "abbba") == [
        Match(first=(0,), second=(1,)), Match(first=(4,), second=(3,))
    ]  # fmt: skip


def test_of_the_larger_group_several_are_compared_with_one() -> None:
    assert matched([0, 1, 2, 3, 4], "bbabb") == [Match(first=(2,), second=(0, 1, 3, 4))]
    assert matched([0, 1, 2, 3, 4, 5], "abbabb") == [
        Match(first=(0,), second=(1, 2)), Match(first=(3,), second=(4, 5))
    ]  # fmt: skip


@pytest.mark.parametrize("share", [0.5, 0.15, 0.01])
@pytest.mark.parametrize("within_s", [0.0, 30.0, HOUR_S])
def test_each_user_is_in_one_match_at_most_near_all_others_of_it(
    share: float, within_s: float
) -> None:
    times_s, first, jitter = arrivals(1, share=share)
    matches = list(matches_in_time(times_s, first, jitter, within_s=within_s))
    users = [user for match in matches for user in (*match.first, *match.second)]
    assert len(users) == len(set(users))
    for match in matches:
        assert min(len(match.first), len(match.second)) == 1
        assert all(first[list(match.first)])
        assert not any(first[list(match.second)])
        present = times_s[[*match.first, *match.second]]
        assert np.ptp(present) <= within_s
        assert len(present) <= MAX_WINDOW_USERS


def test_users_of_one_moment_are_ordered_by_luck_and_not_by_their_places() -> None:
    first = np.array([True, False] * 20)
    jitter = np.random.default_rng(2).random(40)
    result = list(matches_in_time(np.zeros(40), first, jitter, within_s=0.0))
    order = np.random.default_rng(3).permutation(40)
    again = list(matches_in_time(np.zeros(40), first[order], jitter[order], within_s=0.0))

    def named(matches: list[Match], names: Callable[[int], int]) -> set[tuple[int, ...]]:
        return {tuple(sorted(map(names, (*m.first, *m.second)))) for m in matches}

    assert named(result, int) == named(again, lambda place: int(order[place]))
    assert sum(len(item.second) for item in result) <= 20


def test_the_larger_group_is_used_whole_where_a_run_has_both() -> None:
    times_s, first, jitter = arrivals(4, share=0.5)
    matches = list(matches_in_time(times_s, first, jitter, within_s=DAY_S))
    assert sum(len(match.first) + len(match.second) for match in matches) > 0.999 * len(times_s)


def test_neither_group_comes_first_in_its_matches() -> None:
    """Else a level that rises would look like a gap, and the more so the longer it is watched."""
    signed = []
    for seed in range(20):
        times_s, first, jitter = arrivals(seed, share=0.3)
        a, b = sides_of(matches_in_time(times_s, first, jitter, within_s=HOUR_S), times_s)
        signed.append((a - b).mean())
    error = np.std(signed) / len(signed) ** 0.5
    assert abs(np.mean(signed)) < 3 * error


def test_users_that_cannot_be_matched_are_refused() -> None:
    with pytest.raises(ValueError, match="same users"):
        matches_in_time(np.zeros(2), np.array([True]), np.zeros(2), within_s=1.0)
    with pytest.raises(ValueError, match="at least 0 s"):
        matches_in_time(np.zeros(1), np.array([True]), np.zeros(1), within_s=-1.0)
    assert matched([], "") == []


def test_sides_are_the_means_of_a_matchs_users() -> None:
    values = np.array([1.0, 0.5, 0.25, 0.0])
    a, b = sides_of([Match((0,), (1, 2)), Match((3,), (2,))], values)
    assert (a.tolist(), b.tolist()) == ([1.0, 0.0], [0.375, 0.25])
    assert [len(side) for side in sides_of([], values)] == [0, 0]
