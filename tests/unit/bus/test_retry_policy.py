"""What follows an error, decided in one place."""

import pytest

from biaswatch.shared.bus.retry_policy import (
    Exit,
    GiveUp,
    Retry,
    RetryPolicy,
    decision_of,
    delay_s,
    exhausted,
)
from biaswatch.shared.errors import (
    ArchivedError,
    BackPressureError,
    ConfigurationError,
    NotFoundError,
    OversizeError,
    PoisonError,
    TransientError,
    UndecodableError,
    UsageError,
)

POLICY = RetryPolicy()


@pytest.mark.parametrize("error", [PoisonError("x"), UndecodableError("x"), OversizeError("x")])
def test_what_can_never_succeed_is_dead_at_once(error: Exception) -> None:
    assert isinstance(decision_of(error, 1, POLICY, 0.5), GiveUp)


@pytest.mark.parametrize("error", [UsageError("x"), NotFoundError("x"), ArchivedError("x")])
def test_a_record_that_names_what_is_not_there_is_dead_and_ends_no_process(
    error: Exception,
) -> None:
    assert decision_of(error, 1, POLICY, 0.5) == GiveUp("x", type(error).__name__)


def test_the_delay_after_very_many_failures_is_the_longest() -> None:
    assert delay_s(TransientError("x"), 5000, POLICY, 1.0) == POLICY.backoff.max_s


def test_a_wrong_configuration_ends_the_process() -> None:
    error = ConfigurationError("Set the key.")
    assert decision_of(error, 1, POLICY, 0.5) == Exit(error)


@pytest.mark.parametrize("error", [TransientError("x"), BackPressureError("x"), ValueError("x")])
def test_what_may_pass_is_tried_again(error: Exception) -> None:
    assert isinstance(decision_of(error, 1, POLICY, 0.5), Retry)


def test_delays_double_are_spread_by_luck_and_never_exceed_the_longest() -> None:
    error = TransientError("x")
    longest = [decision_of(error, n, POLICY, 1.0) for n in range(1, 20)]
    assert longest == [Retry(min(60.0, 2.0 ** (n - 1))) for n in range(1, 20)]
    assert decision_of(error, 1, POLICY, 0.0) == Retry(0.5)
    assert decision_of(error, 3, POLICY, 0.25) == Retry(2.5)


def test_no_delay_is_zero_which_would_redeliver_at_once() -> None:
    for attempt in range(1, 8):
        decision = decision_of(ValueError("x"), attempt, POLICY, 0.0)
        assert isinstance(decision, Retry)
        assert decision.delay_s > 0


def test_what_the_other_side_asked_for_is_honoured() -> None:
    assert decision_of(TransientError("x", retry_after_s=120), 1, POLICY, 0.5) == Retry(120)


def test_who_asks_for_less_is_tried_sooner_and_then_ever_more_slowly() -> None:
    soon = TransientError("x", retry_after_s=0.2)
    assert [decision_of(soon, n, POLICY, 1.0) for n in (1, 2, 3)] == [
        Retry(0.2), Retry(0.4), Retry(0.8),
    ]  # fmt: skip
    assert decision_of(TransientError("x", retry_after_s=0), 1, POLICY, 1.0) == Retry(1.0)


def test_nothing_is_tried_for_ever_and_the_unforeseen_less_often() -> None:
    assert isinstance(decision_of(ValueError("x"), 7, POLICY, 0.5), Retry)
    assert isinstance(decision_of(ValueError("x"), 8, POLICY, 0.5), GiveUp)
    assert isinstance(decision_of(TransientError("x"), 19, POLICY, 0.5), Retry)
    assert isinstance(decision_of(TransientError("x"), 20, POLICY, 0.5), GiveUp)


def test_patience_with_what_is_unavailable_is_about_a_quarter_of_an_hour() -> None:
    decisions = [decision_of(TransientError("x"), n, POLICY, 0.5) for n in range(1, 20)]
    waited_s = sum(d.delay_s for d in decisions if isinstance(d, Retry))
    assert 10 * 60 < waited_s < 20 * 60


def test_a_reason_is_one_line_and_bounded_because_it_travels_in_a_header() -> None:
    hostile = "a\r\nNats-Msg-Id: forged\n" + "b" * 10_000
    decision = decision_of(PoisonError(hostile), 1, POLICY, 0.5)
    assert isinstance(decision, GiveUp)
    assert "\n" not in decision.reason
    assert "\r" not in decision.reason
    assert len(decision.reason) == 500


def test_a_record_is_worn_out_only_beyond_the_attempts_of_a_failing_one() -> None:
    assert exhausted(POLICY.transient_attempts, POLICY) is None
    assert exhausted(POLICY.transient_attempts + 1, POLICY) is not None
