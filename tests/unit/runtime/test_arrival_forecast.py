"""The next look comes when what is missing should be there at the speed at which it comes."""

from datetime import UTC, datetime, timedelta

import pytest

from biaswatch.shared.runtime.passes import LONGEST_S, MAX_KEYS, SOON_S, ArrivalForecast

AT = datetime(2026, 3, 4, tzinfo=UTC)


def waits(*looks: tuple[float, int]) -> list[float]:
    """Return what each look, at a moment with so much missing, is told to wait."""
    times = iter([AT + timedelta(seconds=at) for at, _ in looks])
    forecast = ArrivalForecast(times.__next__)
    return [forecast.wait_s("run", missing) for _, missing in looks]


def test_the_first_look_is_followed_soon() -> None:
    assert waits((0, 90_000)) == [SOON_S]


def test_what_comes_steadily_is_looked_for_when_the_last_of_it_should_be_there() -> None:
    assert waits((0, 90_000), (1, 88_000))[1] == pytest.approx(44)


def test_what_comes_slowly_is_looked_for_after_a_minute_at_most() -> None:
    assert waits((0, 90_000), (1, 89_999))[1] == LONGEST_S


@pytest.mark.parametrize("missing", [90, 95])
def test_what_does_not_come_is_left_to_the_doubled_waits_of_redelivery(missing: int) -> None:
    assert waits((0, 90), (1, missing))[1] == SOON_S


def test_two_looks_at_one_moment_divide_by_nothing() -> None:
    assert waits((0, 90), (0, 80))[1] == SOON_S


def test_only_the_latest_are_remembered() -> None:
    forecast = ArrivalForecast((AT + timedelta(seconds=second) for second in range(1000)).__next__)
    for number in range(MAX_KEYS + 1):
        forecast.wait_s(str(number), 100)
    assert forecast.wait_s("0", 50) == SOON_S
    assert forecast.wait_s(str(MAX_KEYS), 50) == 2
