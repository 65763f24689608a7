"""Failing and hanging stages are reported; idle and waiting stages are not."""

import pytest

from biaswatch.shared.bus.stage import FORGOTTEN_AFTER_S, TROUBLED_S, Progress

AWAY = "The store is not available."


def failing(*moments: float, waits: bool = False) -> Progress:
    progress = Progress(finished_at=0.0)
    for moment in moments:
        progress.fail(moment, AWAY, waits=waits)
    return progress


def test_failures_of_8_s_are_a_standstill() -> None:
    progress = failing(10.0, 12.0, 16.0)
    assert progress.standstill(10.0 + TROUBLED_S - 0.1, None, 300) is None
    assert progress.standstill(10.0 + TROUBLED_S, None, 300) == AWAY


def test_a_handled_record_resets_failures() -> None:
    progress = failing(10.0)
    progress.finish(20.0)
    assert progress.trouble is None
    assert progress.standstill(1000.0, None, 300) is None
    progress.fail(1000.0, AWAY, waits=False)
    assert progress.standstill(1001.0, None, 300) is None


def test_a_planned_wait_is_not_a_failure() -> None:
    assert failing(10.0, waits=True).standstill(10.0 + TROUBLED_S, None, 300) is None


def test_an_old_failure_is_ignored() -> None:
    progress = failing(10.0)
    assert progress.standstill(10.0 + FORGOTTEN_AFTER_S, None, 300) is None


@pytest.mark.parametrize(
    ("began", "finished", "stuck"), [(10.0, 0.0, True), (10.0, 200.0, False), (200.0, 0.0, False)]
)
def test_a_slow_handler_is_stuck_unless_another_record_finished(
    began: float, finished: float, stuck: bool
) -> None:
    progress = Progress(finished_at=finished)
    reason = progress.standstill(311.0, began, 300.0)
    sentence = "The handler is busy, but no record was finished for 301 s."
    assert reason == (sentence if stuck else None)


def test_an_idle_or_unlimited_stage_is_not_stuck() -> None:
    assert Progress(0.0).standstill(1e9, None, 300.0) is None
    assert Progress(0.0).standstill(1e9, 0.0, None) is None
