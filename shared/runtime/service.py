"""The lifecycle of one service: connect, work, and on the way out unready, drain, close."""

import asyncio
import random
import shutil
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from shared.bus.jetstream import Admin, Connection, JetStreamConsumer, JetStreamPublisher
from shared.bus.port import Publisher
from shared.bus.retry_policy import RetryPolicy
from shared.bus.stage import Stage
from shared.bus.topology import durable_of
from shared.bus.worker import Worker
from shared.contracts import ROUTES, route_of
from shared.errors import BiaswatchError, TransientError
from shared.runtime.health import HealthServer, ServiceHealth, StageHealth
from shared.runtime.settings import Settings
from shared.telemetry import DISK_FREE, DISK_SIZE, LAG, PUBLISHED, READY, log

BEAT_S = 0.5
CANCEL_AGAIN_S = 1.0
LOOK_FOR_LANES_S = 0.5

Job = Callable[[Publisher], Awaitable[None]]
"""Work that no record starts, such as a schedule; it runs until the service cancels it."""


@dataclass(frozen=True)
class StageHost:
    """What a supervisor starts and stops stages with while the service runs."""

    connection: Connection
    publisher: Publisher
    start: Callable[[Stage[Any]], Worker]
    stop: Callable[[Worker], Awaitable[None]]


StageSupervisor = Callable[[StageHost], Awaitable[None]]
"""A job that starts and stops stages, for drop-ins, or that looks where the bus is."""


class Service:
    """Stages and jobs that start and end together, on one connection to the bus."""

    def __init__(
        self,
        name: str,
        settings: Settings,
        *,
        stages: Sequence[Stage[Any]] = (),
        lane_stage: Callable[[str], Stage[Any]] | None = None,
        jobs: Sequence[Job] = (),
        supervisors: Sequence[StageSupervisor] = (),
        close: Sequence[Callable[[], Awaitable[None] | None]] = (),
        policy: RetryPolicy | None = None,
        ready_without_bus: bool = False,
    ) -> None:
        """Put the parts together.

        With `ready_without_bus` the service is ready also while the bus takes nothing: it has more
        to offer than its stages.
        """
        self.name = name
        self._ready_without_bus = ready_without_bus
        self._publisher: JetStreamPublisher | None = None
        self._settings = settings
        self._stages = stages
        self._lane_stage = lane_stage
        self._jobs = jobs
        self._supervisors = supervisors
        self._close = close
        self.policy = policy
        for route in ROUTES:
            if name in route.producers:
                # Export zero now: Prometheus sees no increase in a series that starts at 1.
                PUBLISHED.labels(route.record.kind)
        self._workers: list[Worker] = []
        self._working: list[asyncio.Future[None]] = []
        self._more_work = asyncio.Event()
        self._stop = asyncio.Event()
        self._beat_at = time.monotonic()
        self._phase = "starting"
        self.health_port: int | None = None
        """The port of health and metrics, once it is open."""
        self.started = asyncio.Event()
        """Set once the service is connected and its stages run."""

    def stop(self) -> None:
        """End the service after draining its stages."""
        self._stop.set()

    def state(self) -> ServiceHealth:
        """Return the health of the service; the health server's thread calls this."""
        now = time.time()
        stages = tuple(
            StageHealth(
                worker.stage.durable,
                worker.ready,
                worker.lag,
                None if worker.last_success_at is None else now - worker.last_success_at,
                worker.trouble,
            )
            for worker in self._workers
        )
        unready = [stage.stage for stage in stages if not stage.ready]
        working = self._phase == "working"
        not_taken = self._publisher.trouble if self._publisher else None
        why = self._phase
        if working and (unready or not_taken):
            why = not_taken or f"waiting for the bus: {', '.join(unready)}"
        ready = working and (self._ready_without_bus or not (unready or not_taken))
        return ServiceHealth(self.name, ready, why, time.monotonic() - self._beat_at, stages)

    async def run(self, *, with_health: bool = True) -> None:
        """Work until stopped.

        Raises
        ------
        ConfigurationError
            A person must change something before this service can work.
        TransientError
            The connection to the bus is lost for good; start the process again.
        """
        health = None
        if with_health:
            health = HealthServer(
                self._settings.health_host, self._settings.health_port, self.state
            )
            self.health_port = health.port
            log(self.name).info("health and metrics", port=health.port)
        try:
            await self._work()
        finally:
            for close in self._close:
                if (closing := close()) is not None:
                    await closing
            if health:
                health.close()

    async def _work(self) -> None:
        connection = await Connection.open(
            self._settings.nats_url,
            name=self.name,
            seed_file=self._settings.nats_seed_file,
            ca_file=self._settings.nats_ca_file,
        )
        self._publisher = publisher = JetStreamPublisher(connection)
        for stage in self._stages:
            self._start(stage, connection, publisher)
        jobs = [asyncio.ensure_future(job(publisher)) for job in self._jobs]
        host = StageHost(
            connection, publisher, lambda s: self._start(s, connection, publisher), self._stop_stage
        )
        jobs += [asyncio.ensure_future(supervise(host)) for supervise in self._supervisors]
        jobs.append(asyncio.ensure_future(self._beat()))
        if self._lane_stage:
            watching = self._watch_lanes(self._lane_stage, connection, publisher)
            jobs.append(asyncio.ensure_future(watching))
        self._phase = "working"
        self.started.set()
        log(self.name).info("working", stages=[stage.durable for stage in self._stages])
        ended = await self._until_it_ends(connection, jobs)
        await self._shut_down(connection, jobs)
        self._raise_cause(ended)

    def _start(self, stage: Stage[Any], connection: Connection, publisher: Publisher) -> Worker:
        stage = replace(stage, ack_wait_s=self._settings.ack_wait_s)
        consumer = JetStreamConsumer(connection, durable_of(stage), stage.capacity)
        worker = Worker(
            stage, consumer, publisher, jitter=random.random, clock=time.time, policy=self.policy
        )
        self._workers.append(worker)
        self._working.append(asyncio.ensure_future(worker.run()))
        self._more_work.set()
        return worker

    async def _stop_stage(self, worker: Worker) -> None:
        """Stop one stage, and nothing else of the service."""
        index = self._workers.index(worker)
        del self._workers[index]
        working = self._working.pop(index)
        await worker.stop(self._settings.grace_s)
        await asyncio.gather(working, return_exceptions=True)

    async def _watch_lanes(
        self, lane_stage: Callable[[str], Stage[Any]], connection: Connection, publisher: Publisher
    ) -> None:
        """Start a stage for each lane in which something waits, as lanes appear."""
        route = route_of(lane_stage("").reads)
        known: set[str] = set()
        while True:
            try:
                subjects = await Admin(connection).subjects(route.stream, route.subjects)
            except BiaswatchError as error:
                log(self.name).warning("the lanes cannot be seen", why=str(error))
                subjects = {}
            for lane in sorted({subject.rpartition(".")[2] for subject in subjects} - known):
                known.add(lane)
                self._start(lane_stage(lane), connection, publisher)
            await asyncio.sleep(LOOK_FOR_LANES_S)

    async def _until_it_ends(
        self, connection: Connection, jobs: Sequence[asyncio.Future[None]]
    ) -> set[asyncio.Future[None]]:
        """Wait for the first thing that ends the service; return the jobs and stages that ended."""
        asked: asyncio.Future[Any] = asyncio.ensure_future(self._stop.wait())
        lost: asyncio.Future[Any] = asyncio.ensure_future(connection.lost.wait())
        ends: set[asyncio.Future[Any]] = set()
        while not ends:
            self._more_work.clear()
            more: asyncio.Future[Any] = asyncio.ensure_future(self._more_work.wait())
            ours = {*self._working, *jobs}
            ends, _ = await asyncio.wait(
                {asked, lost, more, *ours}, return_when=asyncio.FIRST_COMPLETED
            )
            ends &= {asked, lost, *self._working, *jobs}  # not a stage that was stopped meanwhile
            more.cancel()
        asked.cancel()
        lost.cancel()
        return ends - {asked, lost}

    async def _shut_down(
        self, connection: Connection, jobs: Sequence[asyncio.Future[None]]
    ) -> None:
        """Become unready, so that no more requests come; then drain; then close."""
        self._phase = "stopping"
        READY.labels(self.name).set(0)
        await asyncio.sleep(self._settings.unready_s)
        await asyncio.gather(*(worker.stop(self._settings.grace_s) for worker in self._workers))
        await _cancelled(jobs)
        await asyncio.gather(*self._working, return_exceptions=True)
        if not connection.lost.is_set():
            await connection.close()
        self._phase = "stopped"
        log(self.name).info("stopped")

    def _raise_cause(self, ended: set[asyncio.Future[None]]) -> None:
        for worker in self._workers:
            if worker.fatal:
                raise worker.fatal
        for future in ended:
            if not future.cancelled() and (error := future.exception()):
                raise error
        if not self._stop.is_set():
            raise TransientError(f"{self.name} has lost its connection to the bus; start it again.")

    async def _beat(self) -> None:
        """Export the health of the service while the event loop runs."""
        while True:
            self._beat_at = time.monotonic()
            READY.labels(self.name).set(self.state().ready)
            lags: Counter[str] = Counter()
            for worker in self._workers:
                lags[worker.stage.name] += worker.lag or 0
            for stage, lag in lags.items():
                LAG.labels(stage).set(lag)
            self._show_disk()
            await asyncio.sleep(BEAT_S)

    def _show_disk(self) -> None:
        """Export the disk of the state directory, or of the container that has none."""
        folder = self._settings.state_dir
        disk = shutil.disk_usage(folder if folder.exists() else Path("/"))
        DISK_FREE.set(disk.free)
        DISK_SIZE.set(disk.total)


async def _cancelled(jobs: Sequence[asyncio.Future[None]]) -> None:
    """Cancel jobs until they have ended.

    Again and again, because `asyncio.wait_for` of Python 3.11 loses a cancellation that meets the
    answer it waited for, and the job would go on for ever.
    """
    left = set(jobs)
    while left:
        for each in left:
            each.cancel()
        _, left = await asyncio.wait(left, timeout=CANCEL_AGAIN_S)
