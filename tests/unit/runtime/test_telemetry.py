"""Logs are one JSON object a line, with a time and a level."""

import io
import json
import logging

import pytest

from biaswatch.shared.telemetry import configure_logs, log


def test_a_log_entry_is_one_json_object_on_one_line() -> None:
    out = io.StringIO()
    configure_logs("INFO", stream=out)
    log("bus").info("a thing\nhappened", stage="recorder", count=3)
    log("bus").debug("too small to mention")
    [line] = out.getvalue().splitlines()
    entry = json.loads(line)
    assert entry["event"] == "a thing\nhappened"
    assert (entry["part"], entry["stage"], entry["count"], entry["level"]) == (
        "bus", "recorder", 3, "info",
    )  # fmt: skip
    assert entry["at"].endswith("Z")


def test_a_warning_of_a_library_is_json_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    out = io.StringIO()
    configure_logs("INFO", stream=out)
    logging.getLogger("asyncio").warning("returning true from %s", "eof_received()")
    [line] = out.getvalue().splitlines()
    entry = json.loads(line)
    assert (entry["part"], entry["level"]) == ("asyncio", "warning")
    assert entry["why"] == "returning true from eof_received()"


def test_an_exception_of_a_library_is_logged_with_its_frames(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    out = io.StringIO()
    configure_logs("INFO", stream=out)
    try:
        dict[str, int]()["low"]
    except KeyError:
        logging.getLogger("a.library").exception("Exception in ASGI application")
    [line] = out.getvalue().splitlines()
    entry = json.loads(line)
    assert entry["error"] == "KeyError: 'low'"
    [frame] = entry["where"]
    assert frame.startswith(__file__)
