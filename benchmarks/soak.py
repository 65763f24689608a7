"""Memory of every process before, during and after minutes of traffic at full speed.

Answers of a live system are published as fast as the bus accepts them, and windows close meanwhile.
When all of them are described, each process should be as large as before.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.measuring import memory_mib, running, service_modules
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


Mebibytes = dict[str, float]


@dataclass
class Memory:
    """The resident memory of processes, in MiB."""

    pids: dict[str, int]
    peak: Mebibytes = field(default_factory=dict)

    def now(self) -> Mebibytes:
        """Read the memory of each process, and keep the peak."""
        sizes = {name: memory_mib(pid, "VmRSS") for name, pid in self.pids.items()}
        self.peak = {name: max(mib, self.peak.get(name, 0)) for name, mib in sizes.items()}
        return sizes

    async def watch(self) -> None:
        """Read forever."""
        while True:
            self.now()
            await asyncio.sleep(SAMPLE_S)


def answer(number: int) -> bytes:
    """Return an answer of a live system."""
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
            *(_published(publisher, n) for n in range(first, min(end, first + AT_ONCE)))
        )


async def _published(publisher: JetStreamPublisher, number: int) -> None:
    while True:
        try:
            await publisher.publish_copy(SUBJECT, answer(number), {})
        except BiaswatchError:  # the queue is full: wait until it drains
            await asyncio.sleep(0.2)
        else:
            return


async def described(store: Store, answers: int) -> int:
    """Wait until all answers are described; return the number of windows."""
    before, moved = -1, time.monotonic()
    while True:
        windows = await asyncio.to_thread(lambda: list(store.records.all(Description)))
        count = sum(window.answers for window in windows)
        if count >= answers:
            return len(windows)
        if count != before:
            before, moved = count, time.monotonic()
        if time.monotonic() - moved > 300:
            raise TimeoutError(f"{count} of {answers} answers are described, none in 300 s.")
        await asyncio.sleep(1)


async def soak(folder: Path, duration_s: float) -> int:
    """Run, and print a row for each process; return 1 where one stays larger."""
    url = f"sqlite:///{folder / 'store.db'}"
    migrate(url)
    monitor = monitor_from_now()
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
        with running(service_modules(SERVICES), environment) as pids:
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
            sending_s = time.monotonic() - began
            windows = await described(store, sent)
            drained = time.monotonic() - began
            await asyncio.sleep(REST_S)
            watch.cancel()
            after = memory.now()
        await connection.close()
    new = sent - WARM_ANSWERS
    print(
        f"{new:,} answers in {sending_s:.0f} s ({new / sending_s:,.0f} a second), described in"
        f" {windows} windows after {drained:.0f} s."
    )
    return report(before, memory.peak, after)


def report(before: Mebibytes, most: Mebibytes, after: Mebibytes) -> int:
    """Print a row for each process; return 1 where one stays larger."""
    print(f"{'MiB':12}{'before':>8}{'most':>8}{'after':>8}  growth")
    for name, start in before.items():
        growth = after[name] / start - 1
        print(f"{name:12}{start:8.0f}{most[name]:8.0f}{after[name]:8.0f}  {growth:+.0%}")
    return int(any(after[name] > ALLOWED_GROWTH * start for name, start in before.items()))


def monitor_from_now() -> Monitor:
    """Make a monitor of short windows that begins now."""
    plan = make_traffic_monitor().plan.model_copy(update={"traffic": Traffic(window_s=WINDOW_S)})
    upkeep = Upkeep(cadence_s=WINDOW_S, lateness_s=LATENESS_S, deadline_s=600)
    return make_traffic_monitor(plan=plan, upkeep=upkeep, since=datetime.now(UTC))


def main() -> int:
    """Run for the given seconds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=900.0)
    configure_logs("ERROR")
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(soak(Path(folder), parser.parse_args().seconds))


if __name__ == "__main__":
    sys.exit(main())
