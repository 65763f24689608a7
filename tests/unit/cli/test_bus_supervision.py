"""When the embedded bus is started again: what its process, its log and its disk say."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from biaswatch.local.supervision import (
    FULL_BYTES,
    LOW_BYTES,
    MAX_BUS_PAUSE_S,
    STEADY_S,
    BusSupervision,
)
from biaswatch.shared.errors import ConfigurationError

STORED = "[ERR] JetStream failed to store a msg on stream 'A > A': write 1.blk: {}\n"


class Server:
    """A server that does what a test says."""

    def __init__(self, folder: Path) -> None:
        self.runs, self.refuses = True, False
        self.log_path = folder / "nats-server.log"
        self.log_path.write_text("")
        self.starts = 0

    def start(self) -> None:
        self.starts += 1
        self.log_path.write_text("")
        if self.refuses:
            raise ConfigurationError("The NATS server failed to start.")
        self.runs = True

    def stop(self) -> None:
        self.runs = False

    def complain(self, why: str) -> None:
        with self.log_path.open("a") as file:
            file.write(STORED.format(why))


def supervised(server: Server, free: Iterator[int], clock: Iterator[float]) -> BusSupervision:
    folder = server.log_path.parent
    return BusSupervision(
        server, folder, free_bytes=lambda _: next(free), clock=lambda: next(clock)
    )


def seldom() -> Iterator[float]:
    """A clock that is read seldom."""
    now = 0.0
    while True:
        now += 2 * STEADY_S
        yield now


def every_second() -> Iterator[float]:
    now = 0.0
    while True:
        now += 1
        yield now


def always(value: int) -> Iterator[int]:
    while True:
        yield value


@pytest.mark.parametrize(
    ("seen", "starts"),
    [
        ([LOW_BYTES, FULL_BYTES - 1, LOW_BYTES], 1),
        ([FULL_BYTES - 1, LOW_BYTES - 1, LOW_BYTES, LOW_BYTES], 1),
        ([LOW_BYTES - 1, FULL_BYTES, LOW_BYTES], 0),
        ([0, LOW_BYTES, 0, LOW_BYTES], 2),
    ],
)
def test_a_bus_is_started_again_once_a_full_disk_has_space(
    tmp_path: Path, seen: list[int], starts: int
) -> None:
    server = Server(tmp_path)
    watching = supervised(server, iter(seen), seldom())
    for _ in seen:
        watching.run_once()
    assert server.starts == starts


@pytest.mark.parametrize("why", ["no space left on device", "disk quota exceeded"])
def test_a_bus_that_says_it_could_not_write_is_started_again_though_nobody_saw_the_disk_full(
    tmp_path: Path, why: str
) -> None:
    server = Server(tmp_path)
    watching = supervised(server, always(LOW_BYTES), seldom())
    server.complain("permission denied")
    watching.run_once()
    assert server.starts == 0
    server.complain(why)
    for _ in range(3):
        watching.run_once()
    assert server.starts == 1


def test_a_bus_that_has_died_is_started_again_also_while_the_disk_is_full(tmp_path: Path) -> None:
    server = Server(tmp_path)
    watching = supervised(server, always(0), seldom())
    server.stop()
    watching.run_once()
    assert (server.starts, server.runs) == (1, True)


def test_a_bus_that_does_not_start_is_tried_ever_more_rarely_and_at_last_runs(
    tmp_path: Path,
) -> None:
    server = Server(tmp_path)
    server.runs, server.refuses = False, True
    watching = supervised(server, always(LOW_BYTES), every_second())
    for _ in range(600):
        watching.run_once()
    assert 600 / MAX_BUS_PAUSE_S < server.starts < 20
    server.refuses = False
    for _ in range(int(MAX_BUS_PAUSE_S) + 1):
        watching.run_once()
    assert server.runs


def test_people_are_told_once_where_space_is_short(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    watching = supervised(Server(tmp_path), always(LOW_BYTES - 1), seldom())
    for _ in range(3):
        watching.run_once()
    assert capsys.readouterr().out.count("is almost full") == 1
