"""The number of calls under way: more while all goes well, a fifth fewer after a 429."""

import pytest

from biaswatch.services.generator.domain.aimd import (
    EPISODE_S,
    GROWTH_PAUSE_S,
    START_SPREAD,
    AimdBounds,
    AimdLimit,
)
from biaswatch.services.generator.domain.model_calls import pause_s
from biaswatch.shared.llm.port import CallFailed, Failure


def after(limit: AimdLimit, answers: int, now: float) -> AimdLimit:
    for _ in range(answers):
        limit = limit.answered(now, started=now, in_use=limit.allowed)
    return limit


def test_it_starts_at_twenty_and_doubles_in_a_round_until_something_is_refused() -> None:
    limit = AimdLimit.of(AimdBounds())
    assert limit.allowed == 20
    assert after(limit, 20, 1.0).allowed == 40


def test_it_never_starts_above_its_most() -> None:
    assert AimdLimit.of(AimdBounds(start=20, most=2)).allowed == 2


def test_a_429_takes_a_fifth_and_the_rest_of_its_episode_nothing() -> None:
    limit = AimdLimit.of(AimdBounds(start=50, most=100)).limited(10.0, started=9.0)
    assert limit.limit == 40
    assert limit.limited(10.5, started=10.2).limit == 40, "still the same second"
    assert limit.limited(20.0, started=9.9).limit == 40, "started before the cut"
    assert limit.limited(10.0 + EPISODE_S, started=10.2).limit == 32


def test_after_a_429_a_round_of_answers_regains_half_of_what_was_lost() -> None:
    limit = AimdLimit.of(AimdBounds(start=50, most=100)).limited(10.0, started=9.0)
    assert after(limit, 40, 12.0).limit == pytest.approx(44.2, abs=0.5)


def test_it_stays_between_one_and_its_most() -> None:
    limit = AimdLimit.of(AimdBounds(start=2, most=4))
    assert after(limit, 100, 1.0).limit == 4
    for second in range(0, 100, 2):
        limit = limit.limited(float(second + 1), started=second + 0.5)
    assert limit.allowed == 1


def test_a_fault_of_the_server_stops_growth_for_a_while() -> None:
    limit = AimdLimit.of(AimdBounds()).faulted(5.0)
    assert after(limit, 20, 5.0 + GROWTH_PAUSE_S - 0.1).allowed == 20
    assert after(limit, 20, 5.0 + GROWTH_PAUSE_S).allowed == 40


def test_a_limit_that_is_not_used_up_is_not_raised() -> None:
    limit = AimdLimit.of(AimdBounds())
    assert limit.answered(1.0, started=1.0, in_use=7) == limit


def test_what_the_provider_asked_to_wait_is_waited_and_a_little_more() -> None:
    asked = CallFailed(Failure.RATE_LIMITED, "", retry_after_s=30)
    assert pause_s(asked, 0, jitter=0.0) == 30
    assert 30 < pause_s(asked, 0, jitter=0.9) < 34


def test_without_being_told_one_waits_longer_each_time_up_to_a_minute() -> None:
    waits = [pause_s(CallFailed(Failure.SERVER_ERROR, ""), n, jitter=1.0) for n in range(12)]
    assert waits[:4] == [0.5, 1, 2, 4]
    assert max(waits) == 60


def test_starts_are_spread_over_the_time_an_answer_takes() -> None:
    limit = AimdLimit.of(AimdBounds(start=50)).answered(1.0, started=0.0, in_use=1)
    due = limit.next_start(1.0, due=1.0)
    assert due == pytest.approx(1 + 1 / (50 * START_SPREAD))
    assert limit.next_start(due + 0.01, due) == pytest.approx(due + 1 / (50 * START_SPREAD)), "late"
    assert limit.next_start(9.0, due) > 8.9, "a long pause is not made up for"


def test_before_the_first_answer_nothing_is_spread() -> None:
    assert AimdLimit.of(AimdBounds()).next_start(1.0, float("-inf")) <= 1.0
