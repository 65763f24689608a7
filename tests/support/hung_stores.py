"""A database that answers nobody for a while, or loses all its connections at once."""

import os
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from tests.support.processes import command_line


@contextmanager
def hung_store(url: str) -> Iterator[None]:
    """Let the database hang: SQLite keeps writers waiting, PostgreSQL everybody."""
    if url.startswith("sqlite:///"):
        connection = sqlite3.connect(
            url.removeprefix("sqlite:///"), timeout=60, isolation_level=None
        )
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        finally:
            connection.execute("ROLLBACK")
            connection.close()
        return
    stopped = processes_of(_folder(url))
    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in stopped:
            os.kill(pid, signal.SIGCONT)


def kill_a_connection(url: str) -> int:
    """Kill a process of PostgreSQL, which then ends all others and recovers; count the kills."""
    _, *children = processes_of(_folder(url))
    names = {pid: command_line(pid) for pid in children}
    serving = [pid for pid, name in names.items() if "idle" in name or "INSERT" in name]
    for pid in serving[:1]:
        os.kill(pid, signal.SIGKILL)
    return len(serving[:1])


def _folder(url: str) -> Path:
    return Path(parse_qs(urlsplit(url).query)["host"][0])


def processes_of(data: Path) -> list[int]:
    """Return the processes of the PostgreSQL server in this folder: its postmaster, then others."""
    postmaster = int((data / "postmaster.pid").read_text().split()[0])
    children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
    return [postmaster, *map(int, children)]
