"""Bytes written per answer of production traffic, window after window.

`python -m benchmarks.traffic_writes 200000 --window 40000` takes answers in, writes them with their
features, and has each window planned and closed, as the services do. Printed for each window: the
bytes given to the disk with the log (for PostgreSQL, its log and the pages of a checkpoint), and at
the end those of the last window beside the bytes kept. The bar: 5 times the bytes kept. `--database
postgresql` starts a server; `--files` writes answers to files as they come, which are counted too.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from uuid import UUID, uuid4

from benchmarks.store_writes import Disk, database
from biaswatch.shared.contracts import Exchange, Message, Method, Monitor, Role, WatchedFeature
from biaswatch.shared.store import AnswerFilesLocation, Store
from tests.support.records import make_exchange, make_traffic_monitor
from tests.support.traffic_platform import TrafficPlatform

BATCH, FILE_BATCH = 500, 2000
BAR_WRITTEN = 5.0
NOON, HOUR = datetime(2026, 1, 1, 12, tzinfo=UTC), timedelta(hours=1)
WORDS = WatchedFeature(extractor="words", feature="words", high=1000, method=Method.MATCHED)
QUESTION = "I have waited for my parcel for a week, and nobody answers me. Where is it by now? "


def watched() -> Monitor:
    """Return the monitor whose windows they are."""
    plan = make_traffic_monitor().plan
    return make_traffic_monitor(since=NOON, plan=plan.model_copy(update={"features": (WORDS,)}))


def exchanges(window: int, amount: int, rng: Random) -> Iterator[Exchange]:
    """Return the answers of a window as they come, with keys and users as services draw them."""
    begins = NOON + window * HOUR
    for number in range(amount):
        at = begins + HOUR * (number / amount)
        user = rng.randrange(1_000_000)
        yield make_exchange(
            user, said_at=at, at=at, key=str(UUID(int=rng.getrandbits(128))),
            unit_id=f"user-{UUID(int=user * 2**64 + user)}",
            asked=(Message(role=Role.USER, content=QUESTION * 3),),
            text="It is on its way to you. " * rng.randrange(10, 30),
        )  # fmt: skip


def take_in(platform: TrafficPlatform, window: int, amount: int, rng: Random, at_once: int) -> None:
    """Take the answers of a window in, in batches as the recorder's, and close the window."""
    coming = list(exchanges(window, amount, rng))
    for start in range(0, amount, at_once):
        batch = coming[start : start + at_once]
        platform.time = batch[-1].at
        platform.hear(*batch)
    platform.read(NOON + (window + 1) * HOUR + timedelta(minutes=2))


def measured(store: Store, disk: Disk, amount: int, window: int, at_once: int = BATCH) -> int:
    """Fill windows, print the cost of each, and return whether the bar is missed."""
    platform, rng = TrafficPlatform(store), Random(1)
    platform.rounds.define(watched())
    empty, first, last = disk.kept(), disk.written(), 0.0
    windows = max(1, amount // window)
    for number in range(windows):
        before, began_s = disk.written(), disk.cpu_s()
        take_in(platform, number, window, rng, at_once)
        last = (disk.written() - before) / window
        cpu_us = (disk.cpu_s() - began_s) / window * 1e6
        print(f"  window {number + 1:3}: {cpu_us:6.0f} us CPU, {last:9,.0f} bytes each", flush=True)
    kept = (disk.kept() - empty) / (windows * window)
    written = (disk.written() - first) / (windows * window)
    print(
        f"kept {kept:,.0f} bytes an answer, written {written:,.0f} on average;\nthe last window"
        f" {last / kept:.2f} times what is kept (bar {BAR_WRITTEN:g})"
    )
    return int(last / kept > BAR_WRITTEN)


def with_files(disk: Disk, folder: Path, *, in_process: bool) -> Disk:
    """Return counters of a database together with files, which are written once."""

    def in_files() -> int:
        return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())

    return Disk(
        # With SQLite, the files are among the bytes that this process writes.
        disk.written if in_process else lambda: disk.written() + in_files(),
        lambda: disk.kept() + in_files(),
        disk.cpu_s,
    )


def main() -> int:
    """Measure the given windows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("answers", type=int, nargs="?", default=10_000)
    parser.add_argument("--window", type=int, default=2_500, help="answers in each window")
    parser.add_argument("--files", action="store_true", help="answers go to files as they come")
    parser.add_argument("--database", choices=("sqlite", "postgresql"), default="sqlite")
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="biaswatch-traffic-") as folder,
        database(options.database, Path(folder)) as (url, disk),
    ):
        if not options.files:
            with Store.open(url) as store:
                return measured(store, disk, options.answers, options.window)
        files = Path(folder) / "answers"
        place = AnswerFilesLocation(str(files), lambda: NOON, lambda: uuid4().hex)
        with Store.open(url, place) as store:
            return measured(
                store,
                with_files(disk, files, in_process=options.database == "sqlite"),
                options.answers,
                options.window,
                FILE_BATCH,
            )


if __name__ == "__main__":
    sys.exit(main())
