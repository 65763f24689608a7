"""The limit of open files is raised, or said to be too low; errors of accepting are said once."""

import asyncio
import errno
import resource
import subprocess
import sys
from typing import Any

import pytest

from biaswatch.shared.runtime.process_limits import (
    LEAST_FILES,
    MAX_FILES,
    RESERVED_FILES,
    most_connections,
    raised_limit,
)
from biaswatch.shared.runtime.web import (
    LOG_EVERY_S,
    OUT_OF_FILES,
    REFUSAL,
    LogNowAndThen,
    OpenConnections,
    note_accept_errors,
)


@pytest.mark.parametrize(
    ("soft", "hard", "limit"),
    [
        (1024, 20_000, 20_000),
        (1024, 1_000_000, MAX_FILES),
        (1024, -1, MAX_FILES),
        (100_000, 100_000, 100_000),
        (64, 64, 64),
        (-1, -1, -1),
    ],
)
def test_the_soft_limit_is_raised_as_far_as_it_may_be(soft: int, hard: int, limit: int) -> None:
    assert raised_limit(soft, hard) == limit


def test_connections_leave_files_for_the_rest() -> None:
    assert most_connections(1024) == 1024 - RESERVED_FILES
    assert 0 < most_connections(LEAST_FILES) <= LEAST_FILES // 2


def test_a_process_with_too_few_files_says_so() -> None:
    few = 64
    script = (
        "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))\n"
        "from biaswatch.shared.runtime.process import serve\n"
        "from biaswatch.services.gateway.settings import GatewaySettings\n"
        "raise SystemExit(serve(GatewaySettings, lambda settings: None))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 2
    assert f"may open {few} files here, and needs {LEAST_FILES}" in done.stderr
    assert "Traceback" not in done.stderr
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] >= LEAST_FILES  # of this process


class Connection:
    """A transport that notes how it ends."""

    aborted = False

    def abort(self) -> None:
        self.aborted = True


def test_connections_without_a_whole_request_make_room_for_new_ones() -> None:
    notes: list[str] = []
    table = OpenConnections(3, notes.append)
    made: list[Any] = [Connection() for _ in range(7)]
    for one in made[:3]:
        assert table.admit(one, one)
    assert notes == []
    table.has_request(made[0])  # whole
    table.has_head(made[1])
    for number, closed in ((3, 2), (4, 3)):  # one without a head goes first, the oldest of them
        assert table.admit(made[number], made[number])
        assert made[closed].aborted
        table.remove(made[closed])
    table.has_request(made[4])
    assert table.admit(made[5], made[5])  # then one whose body still comes
    assert made[1].aborted
    table.remove(made[1])
    table.has_request(made[5])
    assert not table.admit(made[6], made[6])
    table.remove(made[0])
    assert table.admit(made[6], made[6])
    assert [one.aborted for one in made] == [False, True, True, True, False, False, False]


def test_the_refusal_is_a_whole_response() -> None:
    head, body = REFUSAL.split(b"\r\n\r\n")
    assert f"Content-Length: {len(body)}".encode() in head


class Entries:
    def __init__(self) -> None:
        self.logged: list[tuple[str, int]] = []

    def warning(self, sentence: str, *, times: int) -> None:
        self.logged.append((sentence, times))


def test_errors_of_accepting_are_said_once_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    entries, now = Entries(), [0.0]
    monkeypatch.setattr("biaswatch.shared.runtime.web.log", lambda _: entries)
    others: list[Any] = []
    loop = asyncio.new_event_loop()
    try:
        loop.set_exception_handler(lambda _, context: others.append(context))
        note_accept_errors(loop, LogNowAndThen(lambda: now[0]))
        shortage = {"message": "socket.accept() out of system resource"}
        for moment in (0.0, 1.0, LOG_EVERY_S - 1, LOG_EVERY_S, LOG_EVERY_S + 1):
            now[0] = moment
            for number in (errno.EMFILE, errno.ENFILE):
                loop.call_exception_handler({**shortage, "exception": OSError(number, "x")})
        loop.call_exception_handler({"message": "another", "exception": ValueError()})
    finally:
        loop.close()
    assert entries.logged == [(OUT_OF_FILES, 1), (OUT_OF_FILES, 6)]
    assert [context["message"] for context in others] == ["another"]
