"""Health, readiness and metrics on a port of their own.

A thread serves them, so that /healthz can say that the event loop is busy.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from socketserver import ThreadingMixIn
from threading import Thread
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from prometheus_client import REGISTRY, make_wsgi_app

from biaswatch.shared.errors import ConfigurationError

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
            raise ConfigurationError(
                f"The port {port} for health and metrics cannot be opened on {host}"
                f" ({error.strerror}). Choose another with BIASWATCH_HEALTH_PORT."
            ) from None
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


def _reply(start: Callable[..., Any], *, healthy: bool, state: ServiceHealth) -> list[bytes]:
    status = "200 OK" if healthy else "503 Service Unavailable"
    start(status, [("Content-Type", "application/json")])
    return [json.dumps(asdict(state)).encode() + b"\n"]
