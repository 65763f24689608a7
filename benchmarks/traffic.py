"""Production answers end to end: CPU of an answer, and the delay of one tenant in another's flood.

Every service is a process. A quiet tenant sends one answer after the other, and each has to be in
the store with its measurements before the next. Then another tenant sends batches of 500 as fast as
the gateway accepts them, until all are measured and their windows are closed; the quiet tenant goes
on. The bars: 2,500 answers a second of one core, over intake, two extractors, store, window, bus
and database; and a delay of at most 3 s for 95 of 100 quiet answers.

    python -m benchmarks.traffic 100000 --database postgresql
    python -m benchmarks.traffic 10000 --one-queue    # first with all tenants in one queue
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import numpy as np
import yaml
from sqlalchemy import text
from sqlalchemy.pool import QueuePool

from benchmarks.measuring import (
    HOST,
    memory_mib,
    process_cpu_s,
    provision_bus,
    running,
    service_modules,
    wait_until,
)
from benchmarks.monitors import publish
from benchmarks.pipeline import BUS, DATABASE
from benchmarks.posts import body, responds
from benchmarks.store_writes import server_of
from biaswatch.shared.bus.server import EmbeddedServer
from biaswatch.shared.contracts import ROUTES, Features, Monitor, Traffic, WatchedFeature
from biaswatch.shared.contracts.access import verifier_of
from biaswatch.shared.contracts.routes import ROOT
from biaswatch.shared.runtime.web import free_port
from biaswatch.shared.store import Store, migrate
from tests.support.records import make_traffic_monitor

SERVICES = ("gateway", "planner", "extractor", "recorder", "diagnoser")
FLOOD, QUIET = "flood", "quiet"
TOKENS = {name: f"token-of-the-tenant-{name}" for name in (FLOOD, QUIET)}
BATCH, AT_ONCE = 500, 4
WINDOW_S = 60
SETTLED_S, ALONE = 5.0, 20
"""Time for imports and first pulls, and the quiet answers before the flood."""
BAR_A_CORE, BAR_DELAY_S = 2500.0, 3.0


def watched(tenant: str) -> Monitor:
    """Return the monitor of a tenant's live system, with two extractors."""
    plan, now = make_traffic_monitor().plan, datetime.now(UTC)
    [words] = plan.features
    features = (
        words.model_copy(update={"high": 1000}),
        WatchedFeature(extractor="refusal", feature="refused", method=words.method),
    )
    changed = plan.model_copy(update={"features": features, "traffic": Traffic(window_s=WINDOW_S)})
    upkeep = make_traffic_monitor().upkeep.model_copy(update={"lateness_s": 1.0})
    return make_traffic_monitor(
        tenant=tenant, name=tenant, at=now, since=now, plan=changed, upkeep=upkeep
    )


@dataclass
class Platform:
    """The services, and what they have spent."""

    url: str
    store: Store
    pids: dict[str, int]
    monitors: dict[str, Monitor]

    def cpu_s(self) -> dict[str, float]:
        """Return the CPU seconds of each process."""
        return {name: process_cpu_s(pid) for name, pid in self.pids.items()}

    def connections(self) -> int:
        """Return how many connections of services PostgreSQL holds; 0 for SQLite."""
        if self.store.engine.dialect.name == "sqlite":
            return 0
        with self.store.engine.connect() as connection:
            held = connection.execute(text("SELECT sum(numbackends) FROM pg_stat_database"))
        pool = self.store.engine.pool
        own = pool.checkedin() if isinstance(pool, QueuePool) else 0
        return int(held.scalar_one()) - own - 1

    def measured(self, tenant: str) -> int:
        """Return how many measurements of a tenant are in the store."""
        windows = self.store.window_answers.latest(self.monitors[tenant].monitor_id, 1000)
        counted = self.store.counted_runs.of(window.of.run_id for window in windows)
        return sum(run.count(Features) for run in counted.values())

    def waiting(self, tenant: str) -> int:
        """Return how many answers of a tenant are in no closed window."""
        return self.store.window_answers.accounts(self.monitors[tenant].monitor_id).waiting


ONE_QUEUE = "mappings {{\n{}}}\n".format(
    "".join(
        f' "{ROOT}.{route.record.kind}.*.*.*.*": "{ROOT}.{route.record.kind}.$1.$2.$3"\n'
        for route in ROUTES
        if route.fair
    )
)
"""Makes the server keep the records of all tenants in one queue, in the order of arrival."""


@contextmanager
def platform(folder: Path, kind: str, *, in_files: bool, one_queue: bool) -> Iterator[Platform]:
    """Start the servers and the services, with two tenants."""
    tokens = [
        {"name": name, "role": "ingest", "tenant": name, "verifier": verifier_of(token)}
        for name, token in TOKENS.items()
    ]
    (folder / "tokens.yaml").write_text(yaml.safe_dump({"tokens": tokens}))
    port = free_port(HOST)
    config = ONE_QUEUE if one_queue else ""
    with (
        server_of(kind, folder) as (url, database),
        EmbeddedServer(folder / "nats", extra_config=config) as bus,
    ):
        migrate(url)
        provision_bus(bus.url)
        settings = {
            "NATS_URL": bus.url,
            "BIASWATCH_STORE_URL": url,
            "BIASWATCH_HEALTH_PORT": "0",
            "BIASWATCH_GATEWAY_PORT": str(port),
            "BIASWATCH_GATEWAY_TOKENS_FILE": str(folder / "tokens.yaml"),
            "BIASWATCH_LOG_LEVEL": "ERROR",
        }
        if in_files:
            settings["BIASWATCH_RECORDER_ANSWER_FILES"] = str(folder / "answers")
        servers = {BUS: bus.pid} | ({DATABASE: database} if database else {})
        monitors = {name: watched(name) for name in TOKENS}
        with running(service_modules(SERVICES), settings) as pids, Store.open(url) as store:
            wait_until(store.extractors.ever, 600)
            asyncio.run(publish(bus.url, list(monitors.values())))
            wait_until(lambda: len(store.schedule.monitors()) == len(monitors), 600)
            wait_until(partial(responds, f"http://{HOST}:{port}/v1/responses"), 600)
            time.sleep(SETTLED_S)
            yield Platform(f"http://{HOST}:{port}", store, {**pids, **servers}, monitors)


@dataclass
class Senders:
    """Two tenants of one gateway."""

    platform: Platform
    client: httpx2.AsyncClient
    delays_s: list[float] = field(default_factory=list)
    """Of quiet answers, from their sending until they are measured."""
    refused: dict[str, int] = field(default_factory=lambda: dict.fromkeys(TOKENS, 0))

    async def send(self, tenant: str, batch: dict[str, Any]) -> None:
        """Send a batch until it is accepted."""
        headers = {"Authorization": f"Bearer {TOKENS[tenant]}", "Content-Type": "application/json"}
        content = json.dumps(batch).encode()
        while True:
            reply = await self.client.post("/v1/responses", content=content, headers=headers)
            if reply.status_code == 202:
                return
            if reply.status_code not in {429, 503}:
                raise SystemExit(f"{reply.status_code}: {reply.text[:300]}")
            self.refused[tenant] += 1
            await asyncio.sleep(float(reply.headers.get("Retry-After", 1)))

    async def send_quietly(self, answers: int | None, flood: asyncio.Event) -> None:
        """Send one answer after the other: a number of them, or until the flood is over."""
        while len(self.delays_s) != answers and not flood.is_set():
            began, count = time.monotonic(), len(self.delays_s)
            before = await asyncio.to_thread(self.platform.measured, QUIET)
            number = time.time_ns()
            await self.send(QUIET, body(number, 1))
            await asyncio.to_thread(wait_until, partial(self.has_measured, QUIET, before + 2), 600)
            self.delays_s.append(time.monotonic() - began)
            if count % 10 == 0:
                print(f"  {self.delays_s[-1]:.2f} s", file=sys.stderr, flush=True)

    async def flood(self, answers: int) -> None:
        """Send all answers in batches, as fast as they are accepted."""
        firsts = iter(range(0, answers, BATCH))

        async def work() -> None:
            for first in firsts:
                await self.send(FLOOD, body(first, BATCH))

        await asyncio.gather(*(work() for _ in range(AT_ONCE)))

    async def until_measured(self, answers: int, over: asyncio.Event) -> None:
        """Wait until all answers of the flood are measured."""
        is_over = partial(self.has_measured, FLOOD, 2 * answers)
        await asyncio.to_thread(wait_until, is_over, 1800)
        over.set()

    def has_measured(self, tenant: str, measurements: int) -> bool:
        """Return whether the store has this many measurements of a tenant."""
        return self.platform.measured(tenant) >= measurements


async def sent(running_: Platform, answers: int) -> tuple[list[float], Senders, list[float]]:
    """Send quietly, then in a flood.

    Return the delays without a flood, the senders, and the seconds until all was accepted and
    measured.
    """
    async with httpx2.AsyncClient(base_url=running_.url, timeout=600) as client:
        alone = Senders(running_, client)
        await alone.send_quietly(ALONE, asyncio.Event())
        senders, over, began = Senders(running_, client), asyncio.Event(), time.monotonic()
        quiet = asyncio.create_task(senders.send_quietly(None, over))
        await senders.flood(answers)
        accepted_s = time.monotonic() - began
        await senders.until_measured(answers, over)
        measured_s = time.monotonic() - began
        await quiet
    return alone.delays_s, senders, [accepted_s, measured_s]


def measured(options: argparse.Namespace, *, one_queue: bool) -> int:
    """Measure and print; return the number of missed bars."""
    print("All tenants in one queue:" if one_queue else "Tenants in partitions:")
    with (
        tempfile.TemporaryDirectory(prefix="biaswatch-traffic-") as folder,
        platform(
            Path(folder), options.database, in_files=options.files, one_queue=one_queue
        ) as running_,
    ):
        before = running_.cpu_s()
        alone_s, senders, (accepted_s, measured_s) = asyncio.run(sent(running_, options.answers))
        wait_until(partial(_is_closed, running_), 600)
        spent = {name: seconds - before[name] for name, seconds in running_.cpu_s().items()}
        peaks = {name: memory_mib(pid) for name, pid in running_.pids.items()}
        connections = running_.connections()
    costs = {name: seconds / options.answers * 1e6 for name, seconds in spent.items()}
    for name, cost_us in costs.items():
        print(f"  {name:14} {cost_us:6.0f} us   {peaks[name]:5.0f} MiB at most")
    a_core = 1e6 / sum(costs.values())
    print(
        f"{options.answers:,} answers, two extractors: accepted after {accepted_s:.0f} s, measured"
        f" after {measured_s:.0f} s;\n{sum(costs.values()):.0f} us an answer: {a_core:,.0f} answers"
        f" a second of one core (bar {BAR_A_CORE:,.0f})"
    )
    if connections:
        print(f"The services hold {connections} connections to the database.")
    late = [np.percentile(delays, (50, 95)) for delays in (alone_s, senders.delays_s)]
    print(
        f"An answer of another tenant is measured after {late[0][0]:.2f} s, 95 of 100 within"
        f" {late[0][1]:.2f} s; in the flood {late[1][0]:.2f} and {late[1][1]:.2f} s"
        f" (bar {BAR_DELAY_S:g}), of {len(senders.delays_s)}.\nRefused for a moment:"
        f" {senders.refused[FLOOD]} batches of the flood, {senders.refused[QUIET]} of the other.",
        flush=True,
    )
    return int(a_core < BAR_A_CORE) + int(late[1][1] > BAR_DELAY_S)


def main() -> int:
    """Measure and print; return the number of missed bars."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("answers", type=int, nargs="?", default=10_000)
    parser.add_argument("--database", choices=("sqlite", "postgresql"), default="sqlite")
    parser.add_argument("--files", action="store_true", help="answers go to files as they come")
    parser.add_argument("--one-queue", action="store_true", help="also without partitions")
    options = parser.parse_args()
    if options.one_queue:
        measured(options, one_queue=True)
    return measured(options, one_queue=False)


def _is_closed(running_: Platform) -> bool:
    return not any(map(running_.waiting, TOKENS))


if __name__ == "__main__":
    sys.exit(main())
