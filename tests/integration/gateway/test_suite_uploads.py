"""An upload of a suite writes to the store in threads alone, however it ends."""

import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from biaswatch.shared.store import Store
from biaswatch.shared.store.suite_uploads import SuiteUpload
from tests.support.api import api_on

SUITE = {
    "name": "odd",
    "extractors": ["words"],
    "features": ["words"],
    "probes": [{"key": f"k{n}", "prompt": "?" * 600, "groups": {"race": "x"}} for n in range(600)],
}
HEADERS = [(b"host", b"localhost"), (b"content-type", b"application/json")]


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, bool]]:
    """Record each beginning and end of an upload, and whether it ran in the event loop's thread."""
    seen: list[tuple[str, bool]] = []
    begin, end = SuiteUpload.__enter__, SuiteUpload.__exit__

    def note(name: str) -> None:
        seen.append((name, threading.current_thread() is threading.main_thread()))

    def enter(upload: SuiteUpload) -> SuiteUpload:
        note("begin")
        return begin(upload)

    def leave(upload: SuiteUpload, *error: Any) -> None:
        note("end")
        end(upload, *error)

    monkeypatch.setattr(SuiteUpload, "__enter__", enter)
    monkeypatch.setattr(SuiteUpload, "__exit__", leave)
    return seen


async def status_of(store: Store, messages: Iterator[dict[str, Any]]) -> int | None:
    """Send the messages of a request's body; return the status of the response."""
    statuses: list[int] = []

    async def receive() -> dict[str, Any]:
        return next(messages, {"type": "http.disconnect"})

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    scope = {
        "type": "http", "method": "POST", "path": "/v1/suites", "query_string": b"",
        "headers": HEADERS, "client": ("127.0.0.1", 1), "server": ("localhost", 80),
        "scheme": "http", "http_version": "1.1", "raw_path": b"/v1/suites", "root_path": "",
    }  # fmt: skip
    await api_on(store)(scope, receive, send)
    return statuses[0] if statuses else None


def body_of(data: bytes, *, whole: bool) -> Iterator[dict[str, Any]]:
    for start in range(0, len(data), 65536):
        more = not whole or start + 65536 < len(data)
        yield {"type": "http.request", "body": data[start : start + 65536], "more_body": more}


@pytest.mark.parametrize("ending", ["whole", "broken", "the client leaves"])
async def test_an_upload_begins_and_ends_once_in_a_thread(
    store: Store, calls: list[tuple[str, bool]], ending: str
) -> None:
    data = json.dumps(SUITE).encode()
    messages = body_of(
        data[:-9] if ending != "whole" else data, whole=ending != "the client leaves"
    )
    status = await status_of(store, messages)
    assert calls == [("begin", False), ("end", False)]
    if ending != "the client leaves":
        assert status == (200 if ending == "whole" else 422)
