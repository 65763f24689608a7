"""Health, readiness and metrics of a service, on a port of their own."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from socketserver import ThreadingMixIn
from threading import Thread
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from prometheus_client import REGISTRY, make_wsgi_app

from biaswatch.shared.bus.jetstream import Connection
from biaswatch.shared.bus.worker import Worker
from biaswatch.shared.errors import ConfigurationError
from biaswatch.shared.runtime.jobs import GuardedJob, Job, guarded
from biaswatch.shared.runtime.threads import in_thread

STARTING, WORKING = "starting", "working"
BEAT_S = 0.5
"""Interval at which an event loop shows that it runs."""
STALLED_AFTER_S = 30.0
"""An event loop that is blocked for this long does not recover by itself."""


@dataclass(frozen=True)
class StageHealth:
    """The health of one stage."""

    stage: str
    ready: bool
    lag_records: int | None
    last_success_age_s: float | None
    trouble: str | None = None
    """Why the last record was not handled, until one is."""
    standstill: str | None = None
    """Why it makes no progress, where it makes none; it is then not ready."""


@dataclass(frozen=True)
class JobHealth:
    """A background job whose last pass failed."""

    job: str
    trouble: str


@dataclass(frozen=True)
class ServiceHealth:
    """The health of one service."""

    service: str
    ready: bool
    why: str
    loop_age_s: float
    stages: tuple[StageHealth, ...]
    store_trouble: str | None = None
    """Why the database is not available."""
    bus_trouble: str | None = None
    """Why the bus is not available, or takes nothing."""
    jobs: tuple[JobHealth, ...] = ()
    """The background jobs that fail now."""


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True
    # A second process on the same port must fail, not share it.
    allow_reuse_port = False


class _Handler(WSGIRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Log nothing: probes come every few seconds."""


class HealthServer:
    """Serves /healthz, /readyz and /metrics for one process."""

    def __init__(self, host: str, port: int, state: Callable[[], ServiceHealth]) -> None:
        self._state = state
        self._metrics = make_wsgi_app(REGISTRY)
        try:
            self._server = make_server(host, port, self._answer, _Server, _Handler)
        except OSError as error:
            raise port_refused(host, port, error) from None
        self.port: int = self._server.server_port
        self._thread = Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _answer(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        path = environ["PATH_INFO"]
        if path == "/metrics":
            body: Iterable[bytes] = self._metrics(environ, start)
            return body
        state = self._state()
        if path == "/healthz":
            return _reply(start, healthy=state.loop_age_s < STALLED_AFTER_S, state=state)
        if path == "/readyz":
            return _reply(start, healthy=state.ready, state=state)
        start("404 Not Found", [("Content-Type", "text/plain")])
        return [b"This port serves /healthz, /readyz and /metrics.\n"]


def combined_health(name: str, states: Sequence[ServiceHealth]) -> ServiceHealth:
    """Return the health of a process that runs several services; without any, it is starting."""
    unready = [f"{state.service}: {state.why}" for state in states if not state.ready]
    return ServiceHealth(
        name,
        ready=bool(states) and not unready,
        why="; ".join(unready) or (WORKING if states else STARTING),
        loop_age_s=max((state.loop_age_s for state in states), default=0.0),
        stages=tuple(stage for state in states for stage in state.stages),
        store_trouble=next((s.store_trouble for s in states if s.store_trouble), None),
        bus_trouble=next((s.bus_trouble for s in states if s.bus_trouble), None),
        jobs=tuple(job for state in states for job in state.jobs),
    )


def port_refused(host: str, port: int, error: OSError) -> ConfigurationError:
    """Return that the port for health and metrics cannot be opened, and why."""
    return ConfigurationError(
        f"The port {port} for health and metrics cannot be opened on {host}"
        f" ({error.strerror}). Choose another with BIASWATCH_HEALTH_PORT."
    )


@asynccontextmanager
async def served_health(service: str, port: int | None) -> AsyncIterator[None]:
    """Serve health and metrics of a process without stages; without a port, nothing.

    Raises
    ------
    ConfigurationError
        The port cannot be opened.
    """
    if port is None:
        yield
        return
    beat_at = time.monotonic()

    def state() -> ServiceHealth:
        return ServiceHealth(service, True, WORKING, time.monotonic() - beat_at, ())

    async def beat() -> None:
        nonlocal beat_at
        while True:
            beat_at = time.monotonic()
            await asyncio.sleep(BEAT_S)

    server = HealthServer("0.0.0.0", port, state)  # noqa: S104 - probes come from other machines
    beating = asyncio.create_task(beat())
    try:
        yield
    finally:
        beating.cancel()
        await asyncio.to_thread(server.close)


def _reply(start: Callable[..., Any], *, healthy: bool, state: ServiceHealth) -> list[bytes]:
    status = "200 OK" if healthy else "503 Service Unavailable"
    start(status, [("Content-Type", "application/json")])
    return [json.dumps(asdict(state)).encode() + b"\n"]


def stage_health(worker: Worker, now: float) -> StageHealth:
    """Return the health of a stage; `now` is Unix time."""
    standstill = worker.standstill
    last = worker.last_success_at
    return StageHealth(
        stage=worker.stage.durable,
        ready=worker.ready and standstill is None,
        lag_records=worker.lag,
        last_success_age_s=None if last is None else now - last,
        trouble=worker.trouble,
        standstill=standstill,
    )


def why_unready(
    phase: str,
    trouble: str | None,
    stages: Sequence[StageHealth],
    failing: Sequence[GuardedJob[Any]],
) -> str | None:
    """Return why a service is unready; None while it takes work.

    Parameters
    ----------
    phase
        The phase of the service: starting, working, stopping or stopped.
    trouble
        Why the database or the bus is not available.
    failing
        Jobs whose last pass failed; only unexpected errors make the service unready.
    """
    if phase != WORKING:
        return phase
    if trouble:
        return trouble
    if still := [f"{stage.stage}: {stage.standstill}" for stage in stages if stage.standstill]:
        return f"no progress: {' '.join(still)}"
    if unready := [stage.stage for stage in stages if not stage.ready]:
        return f"waiting for the bus: {', '.join(unready)}"
    faults = [f"{job.job.label} ({job.trouble})" for job in failing if job.faulty]
    return f"a job fails: {', '.join(faults)}" if faults else None


STORE_EVERY_S = 2.0
"""With the 5 s of a connection, a database that is silent is named within 10 s."""
BUS_EVERY_S = 2.0
"""With the time-out of a check, a bus that hangs is named within 10 seconds."""
BUS_CHECK = Job(
    Connection.check_available, "ask the bus whether it is available", every_s=BUS_EVERY_S
)


def store_check(service: str, check: Callable[[], None]) -> GuardedJob[None]:
    """Return the job that runs a blocking check of the database."""

    async def ask(_: None) -> None:
        await in_thread(check)

    [job] = guarded(
        service, [Job(ask, "ask the store whether it is available", every_s=STORE_EVERY_S)]
    )
    return job
