"""How long a service that has died is left alone before it is started again."""

from biaswatch.local.supervision import (
    FIRST_SERVICE_PAUSE_S,
    MAX_SERVICE_PAUSE_S,
    STABLE_S,
    next_pause_s,
)


def test_a_service_that_dies_at_once_is_started_ever_more_rarely() -> None:
    pauses, last = [], None
    for _ in range(10):
        last = next_pause_s(last, lived_s=1)
        pauses.append(last)
    assert pauses[0] == FIRST_SERVICE_PAUSE_S
    assert pauses == sorted(pauses)
    assert pauses[-1] == MAX_SERVICE_PAUSE_S


def test_a_service_that_has_worked_is_started_again_soon() -> None:
    assert next_pause_s(MAX_SERVICE_PAUSE_S, lived_s=STABLE_S) == FIRST_SERVICE_PAUSE_S
