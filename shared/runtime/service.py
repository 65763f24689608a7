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

from biaswatch.shared.bus.jetstream import Admin, Connection, JetStreamConsumer, JetStreamPublisher
from biaswatch.shared.bus.port import Publisher
from biaswatch.shared.bus.retry_policy import RetryPolicy
from biaswatch.shared.bus.stage import Stage
from biaswatch.shared.bus.topology import durable_of
from biaswatch.shared.bus.worker import Worker
from biaswatch.shared.contracts import ROUTES, route_of
from biaswatch.shared.errors import TransientError
from biaswatch.shared.runtime import health
from biaswatch.shared.runtime.health import (
    WORKING,
    HealthServer,
    JobHealth,
    ServiceHealth,
    stage_health,
    why_unready,
)
from biaswatch.shared.runtime.jobs import GuardedJob, Job, Work, guarded
from biaswatch.shared.runtime.settings import Settings
from biaswatch.shared.telemetry import DISK_FREE, DISK_SIZE, LAG, PUBLISHED, READY, log

SHOW_LAG_EVERY_S = 0.5
BUS_PATIENCE_S = 15.0
"""How long a service that starts waits for a bus that starts."""
CANCEL_AGAIN_S = 1.0
LOOK_FOR_LANES_S = 0.5
MEASURE_DISK_EVERY_S = 0.5


@dataclass(frozen=True)
class StageHost:
    """Starts and stops stages while the service runs; passed to supervisors."""

    connection: Connection
    publisher: Publisher
    start: Callable[[Stage[Any]], Worker]
    stop: Callable[[Worker], Awaitable[None]]


class Service:
    """Stages and jobs that start and end together, on one connection to the bus."""

    def __init__(
        self,
        name: str,
        settings: Settings,
        *,
        stages: Sequence[Stage[Any]] = (),
        lane_stage: Callable[[str], Stage[Any]] | None = None,
        jobs: Sequence[Job[Publisher] | Work[Publisher]] = (),
        supervisors: Sequence[Job[StageHost] | Work[StageHost]] = (),
        check_store: Callable[[], None] | None = None,
        close: Sequence[Callable[[], Awaitable[None] | None]] = (),
        policy: RetryPolicy | None = None,
        ready_without_bus: bool = False,
    ) -> None:
        """Put the parts together.

        Parameters
        ----------
        jobs, supervisors
            Work that no record starts; supervisors start and stop stages, or look at the bus. A
            plain function is repeated every second.
        check_store
            Raises TransientError while the database is not available; the service is then unready.
        ready_without_bus
            True if the service is ready even during an outage of the bus, as it has other work.
        """
        self.name = name
        self._ready_without_bus = ready_without_bus
        self._publisher: JetStreamPublisher | None = None
        self._settings = settings
        self._stages = stages
        self._lane_stage = lane_stage
        self._lanes: set[str] = set()
        """The lanes that have a stage."""
        lanes = [Job(self._look_for_lanes, "look for lanes", every_s=LOOK_FOR_LANES_S)]
        disk = Job[Publisher](self._show_disk, "measure the disk", every_s=MEASURE_DISK_EVERY_S)
        self._jobs = guarded(name, [*jobs, disk])
        self._supervisors = guarded(name, [*supervisors, *(lanes if lane_stage else ())])
        self._guarded: list[GuardedJob[Any]] = [*self._jobs, *self._supervisors]
        [self._bus] = guarded(name, [health.BUS_CHECK])
        self._store = health.store_check(name, check_store) if check_store else None
        self._connection: Connection | None = None
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
        stages = tuple(stage_health(worker, time.time()) for worker in self._workers)
        failing = [job for job in self._guarded if job.trouble]
        store, bus = self._store.trouble if self._store else None, self.bus_trouble()
        why = why_unready(self._phase, store or bus, stages, failing)
        hindered = store or self._phase != WORKING
        return ServiceHealth(
            self.name,
            ready=not (hindered if self._ready_without_bus else why),
            why=why or self._phase,
            loop_age_s=time.monotonic() - self._beat_at,
            stages=stages,
            store_trouble=store,
            bus_trouble=bus,
            jobs=tuple(JobHealth(job.job.label, str(job.trouble)) for job in failing),
        )

    def bus_trouble(self) -> str | None:
        """Return why the bus is not available, or takes nothing."""
        lost = self._connection.trouble if self._connection else None
        not_taken = self._publisher.trouble if self._publisher else None
        return lost or not_taken or self._bus.trouble

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
            patience_s=BUS_PATIENCE_S,
        )
        self._connection = connection
        self._publisher = publisher = JetStreamPublisher(connection)
        for stage in self._stages:
            self._start(stage, connection, publisher)
        jobs = [asyncio.ensure_future(job.run(publisher)) for job in self._jobs]
        host = StageHost(
            connection, publisher, lambda s: self._start(s, connection, publisher), self._stop_stage
        )
        jobs += [asyncio.ensure_future(job.run(host)) for job in self._supervisors]
        jobs.append(asyncio.ensure_future(self._beat()))
        jobs.append(asyncio.ensure_future(self._bus.run(connection)))
        if self._store:
            jobs.append(asyncio.ensure_future(self._store.run(None)))
        self._phase = WORKING
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

    async def _look_for_lanes(self, host: StageHost) -> None:
        """Start a stage for each new lane with waiting records."""
        assert self._lane_stage  # noqa: S101 - for mypy; this job requires it
        route = route_of(self._lane_stage("").reads)
        subjects = await Admin(host.connection).subjects(route.stream, route.every_subject)
        for lane in sorted({subject.rpartition(".")[2] for subject in subjects} - self._lanes):
            self._lanes.add(lane)
            host.start(self._lane_stage(lane))

    async def _until_it_ends(
        self, connection: Connection, jobs: Sequence[asyncio.Future[None]]
    ) -> set[asyncio.Future[None]]:
        """Wait for the first thing that ends the service; return the jobs and stages that ended."""
        stopped: asyncio.Future[Any] = asyncio.ensure_future(self._stop.wait())
        lost: asyncio.Future[Any] = asyncio.ensure_future(connection.lost.wait())
        ends: set[asyncio.Future[Any]] = set()
        while not ends:
            self._more_work.clear()
            more: asyncio.Future[Any] = asyncio.ensure_future(self._more_work.wait())
            tasks = {*self._working, *jobs}
            ends, _ = await asyncio.wait(
                {stopped, lost, more, *tasks}, return_when=asyncio.FIRST_COMPLETED
            )
            ends &= {stopped, lost, *self._working, *jobs}  # not a stage that was stopped meanwhile
            more.cancel()
        stopped.cancel()
        lost.cancel()
        return ends - {stopped, lost}

    async def _shut_down(
        self, connection: Connection, jobs: Sequence[asyncio.Future[None]]
    ) -> None:
        """Become unready, to get no more requests; then drain and close."""
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
            await asyncio.sleep(SHOW_LAG_EVERY_S)

    async def _show_disk(self, _: Publisher) -> None:
        """Export the disk of the state directory, or of the container that has none."""
        folder = self._settings.state_dir
        disk = shutil.disk_usage(folder if folder.exists() else Path("/"))
        DISK_FREE.set(disk.free)
        DISK_SIZE.set(disk.total)


async def _cancelled(jobs: Sequence[asyncio.Future[None]]) -> None:
    """Cancel jobs until they have ended.

    Repeatedly, because `asyncio.wait_for` of Python 3.11 loses a cancellation that coincides with
    its result, and the job would run for ever.
    """
    left = set(jobs)
    while left:
        for job in left:
            job.cancel()
        _, left = await asyncio.wait(left, timeout=CANCEL_AGAIN_S)
