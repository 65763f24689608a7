"""The platform as processes, with a key for each service, and all that can befall it."""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import httpx2

from biaswatch.local.supervision import NEEDS_PERSON
from biaswatch.shared.bus.accounts import server_config
from biaswatch.shared.bus.dead_letters import DeadLetter, dead_letters
from biaswatch.shared.bus.jetstream import Admin, Connection, JetStreamPublisher, provision
from biaswatch.shared.bus.jetstream.keys import ensure_keys
from biaswatch.shared.bus.permissions import OPERATOR, key_names
from biaswatch.shared.bus.server import EmbeddedServer
from biaswatch.shared.bus.topology import StreamLimits
from biaswatch.shared.contracts import ROUTES, RUN_GATHER, Diagnosis, Record, Response, Run
from biaswatch.shared.errors import BiaswatchError, TransientError
from biaswatch.shared.runtime.web import free_port
from biaswatch.shared.store import Store
from biaswatch.shared.store.tables import RECORDS
from tests.support.bus_cluster import BusCluster, provisioned
from tests.support.waiting import PATIENCE_S

SERVICES = ("planner", "generator", "extractor", "recorder", "diagnoser")
LOOK_S = 0.1
LOG_BEGINS = 64 * 1024
WORKING = b'"event": "working"'
"""What a service logs once it is connected and its stages run."""


class TendedProcess:
    """One process of one service, started again whenever it dies."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        environment: Mapping[str, str],
        log: Path,
        prefix: Sequence[str] = (),
    ) -> None:
        self.name = name
        self._command = [*prefix, sys.executable, "-m", *command]
        self._environment, self._log = environment, log
        self._process = self._start()

    @property
    def working(self) -> bool:
        """Whether it has started: to kill one that is still loading stops nothing."""
        with self._log.open("rb") as log:
            return WORKING in log.read(LOG_BEGINS)

    def _start(self) -> subprocess.Popen[bytes]:
        with self._log.open("wb") as log:
            return subprocess.Popen(
                self._command, env=dict(self._environment), stderr=log, stdout=log
            )

    @property
    def exit_code(self) -> int | None:
        """How it ended; None while it runs."""
        return self._process.poll()

    @property
    def health_port(self) -> int:
        """The port that it has told in its log."""
        for line in self._log.read_text().splitlines():
            if '"health and metrics"' in line:
                return int(json.loads(line)["port"])
        raise LookupError(f"{self.name} has no port for health yet.")

    @property
    def pid(self) -> int:
        """Its process, while it lasts."""
        return self._process.pid

    def send(self, number: signal.Signals) -> None:
        """Send it a signal."""
        if self._process.poll() is None:
            self._process.send_signal(number)

    def tend(self) -> int | None:
        """Start it again if it has died; return the exit code then."""
        code = self._process.poll()
        if code is not None:
            self._process = self._start()
        return code

    def end(self) -> int:
        """Stop it in order."""
        self.send(signal.SIGCONT)
        self._process.terminate()
        return self._process.wait(PATIENCE_S)


class ChaosPlatform:
    """Services that work, and a test that does not let them."""

    def __init__(
        self,
        folder: Path,
        store_url: str,
        store: Store,
        server: EmbeddedServer,
        seed: int,
        *,
        supervised: bool = True,
    ) -> None:
        self.store, self.server, self.luck = store, server, Random(seed)
        self.supervised = supervised
        self.store_url = store_url
        self.more: dict[str, str] = {}
        """Settings of every service beside those that all tests take."""
        self.gateway_url = f"http://127.0.0.1:{free_port('127.0.0.1')}"
        self.deaths: Counter[str] = Counter()
        self.needed_a_person: list[str] = []
        self.unexpected: list[str] = []
        """Ends of supervised processes that no kill explains."""
        self.prefixes: dict[str, Sequence[str]] = {}
        """Words before the command of a service."""
        self._folder = folder
        self._publications = count(1_000_000)
        self._services: list[TendedProcess] = []
        self._clock = folder / "clock"
        self._clock.write_text("0")

    def environment(self, name: str) -> dict[str, str]:
        """Return what one service is told."""
        return {
            **os.environ,
            "NATS_URL": self.server.url,
            "BIASWATCH_NATS_SEED_FILE": str(self.seed_of(name)),
            "BIASWATCH_STORE_URL": self.store_url,
            "BIASWATCH_STATE_DIR": str(self._folder),
            "BIASWATCH_HEALTH_PORT": "0",
            "BIASWATCH_GATEWAY_HOST": "127.0.0.1",
            "BIASWATCH_GATEWAY_PORT": self.gateway_url.rpartition(":")[2],
            "BIASWATCH_ACK_WAIT_S": "2",
            "BIASWATCH_PLANNER_RECONCILE_S": "2",
            "BIASWATCH_GENERATOR_SLOTS": "2",
            "BIASWATCH_GENERATOR_RECORDINGS_DIR": str(self._folder),
            "BIASWATCH_GENERATOR_PAUSE_S": "1",
            "BIASWATCH_GENERATOR_PRIVATE_HOSTS": '["127.0.0.1"]',
            "BIASWATCH_EXTRACTOR_BATCH": "8",
            "BIASWATCH_RECORDER_BATCH": "16",
            **self.more,
        }

    def seed_of(self, key: str) -> Path:
        """Return the file of a key."""
        return self._folder / "keys" / f"{key}.seed"

    def start(self, services: Sequence[str] = SERVICES, *, turned: bool = False) -> None:
        """Start processes; with `turned`, on the clock that the test turns."""
        for name in services:
            command = [f"biaswatch.services.{name}.app"]
            if turned:
                command = ["tests.support.shifted_service", name, str(self._clock)]
            log = self._folder / f"{name}-{len(self._services)}.log"
            self._services.append(
                TendedProcess(
                    name, command, self.environment(name), log, self.prefixes.get(name, ())
                )
            )

    def end(self) -> list[int]:
        """Stop every process; return the exit codes."""
        return [service.end() for service in self._services]

    def exits(self) -> dict[str, int]:
        """Return the exit codes of the services that have ended."""
        codes = {service.name: service.exit_code for service in self._services}
        return {name: code for name, code in codes.items() if code is not None}

    async def readiness(self, service: str) -> tuple[int, dict[str, Any]]:
        """Return the status and the state that a service's /readyz answers."""
        [port] = [item.health_port for item in self._services if item.name == service]
        async with httpx2.AsyncClient(timeout=PATIENCE_S) as http:
            reply = await http.get(f"http://127.0.0.1:{port}/readyz")
        return reply.status_code, reply.json()

    async def tend(self) -> None:
        """Start again what dies, for ever, as a supervisor does."""
        while True:
            for service in self._services:
                code = service.tend()
                if code == NEEDS_PERSON:
                    self.needed_a_person.append(service.name)
                if code not in (None, -signal.SIGKILL):
                    self.unexpected.append(f"{service.name} ended with {code}")
            await asyncio.sleep(LOOK_S)

    # What befalls it

    def kill_a_service(self) -> None:
        """Kill one that has started, whichever."""
        started = [service for service in self._services if service.working]
        if not started:
            return
        victim = self.luck.choice(started)
        victim.send(signal.SIGKILL)
        self.deaths[victim.name] += 1

    def kill_the_bus(self) -> None:
        """Kill the bus and start it again: it keeps what it has synced."""
        self.server.kill()
        self.server.start()
        self.deaths["bus"] += 1

    async def wipe_the_bus(self) -> None:
        """Lose all that the bus has, as with its disk; an operator provisions a new one."""
        self.server.kill()
        shutil.rmtree(self._folder / "nats" / "jetstream", ignore_errors=True)
        self.server.start()
        async with self.connection() as operator:
            await provision(Admin(operator))
        self.deaths["bus, wiped"] += 1

    async def stop_for(self, service: str, seconds: float) -> None:
        """Let every process of a service stand still, and go on as if nothing had happened."""
        stopped = [item for item in self._services if item.name == service]
        for item in stopped:
            item.send(signal.SIGSTOP)
        await asyncio.sleep(seconds)
        for item in stopped:
            item.send(signal.SIGCONT)

    def turn_clock(self, ahead_s: float) -> None:
        """Turn the clock of the services that were started with `turned`."""
        self._clock.write_text(str(ahead_s))

    async def repeat_every_message(self, run: Run) -> int:
        """Publish all that a run has led to once more, each with a producer's key; count them."""
        repeated = 0
        for route in ROUTES:
            records = await asyncio.to_thread(self._stored, route.record, run)
            async with self.connection(sorted(route.producers)[0]) as producer:
                publisher = JetStreamPublisher(producer)
                for record in records:
                    await publisher.publish(record, publication=next(self._publications))
            repeated += len(records)
        return repeated

    def _stored(self, kind: type[Record], run: Run) -> list[Record]:
        return list(self.store.records.read(kind, run_id=run.id)) if kind.kind in RECORDS else []

    # What is done with it

    @asynccontextmanager
    async def connection(self, key: str = OPERATOR) -> AsyncIterator[Connection]:
        """Connect with a key while the context lasts."""
        opened = await Connection.open(self.server.url, name=key, seed_file=self.seed_of(key))
        try:
            yield opened
        finally:
            await opened.close()

    async def publish(self, record: Record) -> None:
        """Publish as the gateway does, once it is in the store; until the bus takes it."""
        while True:
            with suppress(BiaswatchError):
                await asyncio.to_thread(self.store.records.write, [record])
                async with self.connection("gateway") as gateway:
                    number = time.time_ns() // 1_000_000
                    await JetStreamPublisher(gateway).publish(record, publication=number)
                    return
            await asyncio.sleep(LOOK_S)

    async def working(self) -> None:
        """Return once every process has started."""
        await self._until(lambda: all(service.working for service in self._services))

    async def half_measured(self, run: Run) -> None:
        """Return once a good part of a run is measured, and more is to come."""
        gathers = self.store.gathers(RUN_GATHER)
        await self._until(
            lambda: (state := gathers.state(run.id)) and state.arrived > state.expected // 3
        )

    async def diagnosed(self, run: Run, within_s: float = PATIENCE_S) -> None:
        """Return once a run has its findings."""
        await self._until(lambda: self.store.records.count(Diagnosis, run_id=run.id), within_s)

    async def recorded(self, run: Run, answers: int) -> None:
        """Return once a run's answers are in the store, or will not be.

        Findings need what was measured alone: the recorder may still be behind with the answers.
        """
        with suppress(TimeoutError):
            await self._until(lambda: self.store.records.count(Response, run_id=run.id) >= answers)

    async def _until(self, there: Callable[[], object], within_s: float = PATIENCE_S) -> None:
        async with asyncio.timeout(within_s):
            while True:
                with suppress(TransientError):
                    if await asyncio.to_thread(there):
                        return
                await asyncio.sleep(LOOK_S)

    async def dead(self) -> list[DeadLetter]:
        """Return the dead letters."""
        async with self.connection() as operator:
            return [letter async for letter in dead_letters(Admin(operator))]


@asynccontextmanager
async def chaos_platform(
    folder: Path,
    store_url: str,
    *,
    seed: int = 1,
    bus_folder: Path | None = None,
    supervised: bool = True,
    bus_servers: int = 1,
) -> AsyncIterator[ChaosPlatform]:
    """Provide a bus with keys on a store that is migrated; services are started by the test.

    Without supervision, a service that ends stays so. With several servers, each has a copy of
    every stream.
    """
    keys = server_config(ensure_keys(folder / "keys", key_names()))
    nats = bus_folder or folder / "nats"
    bus = EmbeddedServer(nats, extra_config=keys)
    if bus_servers > 1:
        bus = BusCluster(nats, keys, bus_servers)
    with bus as server, Store.open(store_url) as store:
        platform = ChaosPlatform(folder, store_url, store, server, seed, supervised=supervised)
        async with platform.connection() as operator:
            await provisioned(Admin(operator), StreamLimits(replicas=bus_servers))
        tending = asyncio.create_task(platform.tend() if supervised else asyncio.sleep(0))
        try:
            yield platform
        finally:
            tending.cancel()
            await asyncio.gather(tending, return_exceptions=True)
            # In a thread: a proxy on this event loop may carry what they still have to write.
            await asyncio.to_thread(platform.end)


def now() -> datetime:
    """Read the clock."""
    return datetime.now(UTC)
