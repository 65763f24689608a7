"""Full speed for minutes: the memory of every process before, during and after.

Answers of a live system are published as fast as the bus takes them, and windows of them close all
the while. Afterwards, when everything is measured and added up, each process should be as large as
before.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from biaswatch.shared.bus.jetstream import Admin, Connection, JetStreamPublisher, provision
from biaswatch.shared.bus.server import EmbeddedServer
from biaswatch.shared.contracts import Description, Monitor, Traffic, Upkeep
from biaswatch.shared.errors import BiaswatchError
from biaswatch.shared.store import Store, migrate
from biaswatch.shared.telemetry import configure_logs
from tests.support.records import make_traffic_monitor

SERVICES = ("gateway", "extractor", "recorder", "planner", "diagnoser")
SOURCE = "support"
SUBJECT = f"bias.v1.exchange.default.production.{SOURCE}"
WINDOW_S, LATENESS_S = 20, 2
WARM_ANSWERS, AT_ONCE = 3_000, 256
SAMPLE_S = 1.0
REST_S = 150.0
"""Longer than the bus remembers the names of messages."""
ALLOWED_GROWTH = 1.2
WORDS = "It left our house on Monday and should be with you by Thursday at the latest. " * 4
USERS = 5_000


Megabytes = dict[str, float]


@dataclass
class Memory:
    """The resident memory of processes, in MB."""

    pids: dict[str, int]
    peak: Megabytes = field(default_factory=dict)

    def now(self) -> Megabytes:
        """Read what each process has, and keep the most."""
        found = {name: resident_mb(pid) for name, pid in self.pids.items()}
        self.peak = {name: max(mb, self.peak.get(name, 0)) for name, mb in found.items()}
        return found

    async def watch(self) -> None:
        """Read for ever."""
        while True:
            self.now()
            await asyncio.sleep(SAMPLE_S)


def resident_mb(pid: int) -> float:
    """Return the resident memory of a process, in MB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


@contextmanager
def processes(environment: dict[str, str]) -> Iterator[dict[str, int]]:
    """Run each service as a process of its own while the context lasts."""
    running = {
        name: subprocess.Popen(
            [sys.executable, "-m", f"biaswatch.services.{name}.app"],
            env={**os.environ, **environment},  # noqa: TID251 - passed on
        )
        for name in SERVICES
    }
    try:
        yield {name: process.pid for name, process in running.items()}
    finally:
        for process in running.values():
            process.terminate()
        for process in running.values():
            process.wait()


def answer(number: int) -> bytes:
    """Return what a live system sends."""
    now = datetime.now(UTC).isoformat()
    user = number % USERS
    return json.dumps({
        "at": now, "said_at": now, "purpose": "production", "source": SOURCE, "key": str(number),
        "text": WORDS if number % 3 else "Yes.", "unit_id": f"user-{user}",
        "groups": {"gender": "female" if user % 2 else "male"},
    }).encode()  # fmt: skip


async def publish(publisher: JetStreamPublisher, start: int, end: int) -> None:
    """Publish answers as fast as the bus takes them."""
    for first in range(start, end, AT_ONCE):
        await asyncio.gather(
            *(_taken(publisher, n) for n in range(first, min(end, first + AT_ONCE)))
        )


async def _taken(publisher: JetStreamPublisher, number: int) -> None:
    while True:
        try:
            await publisher.publish_copy(SUBJECT, answer(number), {})
        except BiaswatchError:  # the queue is full: wait until it drains
            await asyncio.sleep(0.2)
        else:
            return


async def described(store: Store, answers: int) -> int:
    """Wait until so many answers are described; return the number of windows."""
    before, moved = -1, time.monotonic()
    while True:
        windows = await asyncio.to_thread(lambda: list(store.records.all(Description)))
        there = sum(each.answers for each in windows)
        if there >= answers:
            return len(windows)
        if there != before:
            before, moved = there, time.monotonic()
        if time.monotonic() - moved > 300:
            raise TimeoutError(f"{there} of {answers} answers are described, and no more come.")
        await asyncio.sleep(1)


async def soak(folder: Path, duration_s: float) -> int:
    """Run, and print a row for each process; return 1 where one has not come back."""
    url = f"sqlite:///{folder / 'store.db'}"
    migrate(url)
    monitor = watching()
    with EmbeddedServer(folder / "nats") as server, Store.open(url) as store:
        connection = await Connection.open(server.url, name="soak")
        await provision(Admin(connection))
        publisher = JetStreamPublisher(connection)
        store.records.write([monitor])
        await publisher.publish(monitor)
        environment = {
            "NATS_URL": server.url, "BIASWATCH_STORE_URL": url, "BIASWATCH_HEALTH_PORT": "0",
            "BIASWATCH_GATEWAY_PORT": "0", "BIASWATCH_LOG_LEVEL": "WARNING",
        }  # fmt: skip
        with processes(environment) as pids:
            memory = Memory({**pids, "the bus": server.pid})
            await asyncio.sleep(5)
            await publish(publisher, 0, WARM_ANSWERS)
            await described(store, WARM_ANSWERS)
            before = memory.now()
            watch = asyncio.create_task(memory.watch())
            began, sent = time.monotonic(), WARM_ANSWERS
            while time.monotonic() - began < duration_s:
                await publish(publisher, sent, sent + 2_000)
                sent += 2_000
            spoken = time.monotonic() - began
            windows = await described(store, sent)
            drained = time.monotonic() - began
            await asyncio.sleep(REST_S)
            watch.cancel()
            after = memory.now()
        await connection.close()
    new = sent - WARM_ANSWERS
    print(
        f"{new:,} answers in {spoken:.0f} s ({new / spoken:,.0f} a second), described in"
        f" {windows} windows after {drained:.0f} s."
    )
    return report(before, memory.peak, after)


def report(before: Megabytes, most: Megabytes, after: Megabytes) -> int:
    """Print a row for each process; return 1 where one has not come back."""
    print(f"{'MB':12}{'before':>8}{'most':>8}{'after':>8}  growth")
    for name, start in before.items():
        growth = after[name] / start - 1
        print(f"{name:12}{start:8.0f}{most[name]:8.0f}{after[name]:8.0f}  {growth:+.0%}")
    return int(any(after[name] > ALLOWED_GROWTH * start for name, start in before.items()))


def watching() -> Monitor:
    """Make a monitor of short windows, which begins now."""
    made = make_traffic_monitor()
    plan = made.plan.model_copy(update={"traffic": Traffic(window_s=WINDOW_S)})
    upkeep = Upkeep(cadence_s=WINDOW_S, lateness_s=LATENESS_S, deadline_s=600)
    return make_traffic_monitor(plan=plan, upkeep=upkeep, since=datetime.now(UTC))


def main() -> int:
    """Read the duration, run, and say how it went."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=900.0)
    configure_logs("ERROR")
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(soak(Path(folder), parser.parse_args().seconds))


if __name__ == "__main__":
    sys.exit(main())
