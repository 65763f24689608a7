"""What keeps going wrong is said once a minute, with how often; every time is counted."""

import io
import json
from collections.abc import Iterator

import pytest
import structlog

from biaswatch.shared.errors import TransientError
from biaswatch.shared.telemetry import TROUBLES, RepeatedWarning, configure_logs


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    before = structlog.get_config()
    out = io.StringIO()
    configure_logs(stream=out)
    yield out
    structlog.configure(**before)


def test_ten_minutes_of_a_store_that_is_away_are_ten_lines(log: io.StringIO) -> None:
    now = 0.0
    warning = RepeatedWarning("a-stage", "a record was not handled", clock=lambda: now)
    before = TROUBLES.labels("a-stage", "TransientError")._value.get()
    for _ in range(15_325):
        warning.warn(TransientError("The store is not available."), attempt=1)
        now += 600 / 15_325
    lines = [json.loads(line) for line in log.getvalue().splitlines()]
    assert len(lines) == 10
    assert lines[0]["times"] == 1
    assert lines[1]["error"] == "TransientError: The store is not available."
    assert sum(line["times"] for line in lines) > 13_000
    assert TROUBLES.labels("a-stage", "TransientError")._value.get() - before == 15_325


def test_another_kind_of_trouble_is_said_at_once(log: io.StringIO) -> None:
    warning = RepeatedWarning("a-stage", "a record was not handled", clock=lambda: 0.0)
    warning.warn(TransientError("The store is not available."))
    warning.warn(ValueError("x"))
    assert len(log.getvalue().splitlines()) == 2
