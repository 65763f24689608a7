"""The operator: watches resources, and serves health and metrics."""

import asyncio
import logging
import socket
import sys
import time
from datetime import UTC, datetime

import kopf

from biaswatch.services.operator.handlers.gateway import GatewayApi
from biaswatch.services.operator.handlers.reconciling import Reconciler
from biaswatch.services.operator.handlers.resources import (
    configure,
    missing_definitions,
    registry_of,
)
from biaswatch.services.operator.settings import OperatorSettings
from biaswatch.shared.errors import BiaswatchError
from biaswatch.shared.runtime.health import HealthServer, ServiceHealth
from biaswatch.shared.runtime.settings import load_settings
from biaswatch.shared.telemetry import READY, configure_logs, log

NAME = "operator"
BEAT_S, DEFINITIONS_POLL_S = 0.5, 2.0


class KopfLogs(logging.Handler):
    """Writes log entries of kopf in the platform's format."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write an entry."""
        entry = {"why": record.getMessage()}
        if record.exc_info and record.exc_info[1]:
            entry["error"] = f"{type(record.exc_info[1]).__name__}: {record.exc_info[1]}"
        log(NAME).log(record.levelno, "kopf", **entry)


class OperatorHealth:
    """State of the operator and of its event loop."""

    def __init__(self) -> None:
        self.why = "waiting for the definitions of its resources"
        self._beat_at = time.monotonic()

    @property
    def ready(self) -> bool:
        """True if resources are watched."""
        return self.why == "working"

    def state(self) -> ServiceHealth:
        """Return the state for the health server, which calls this in its thread."""
        return ServiceHealth(NAME, self.ready, self.why, time.monotonic() - self._beat_at, ())

    async def beat(self) -> None:
        """Record that the event loop runs."""
        while True:
            self._beat_at = time.monotonic()
            READY.labels(NAME).set(self.ready)
            await asyncio.sleep(BEAT_S)


async def operate(settings: OperatorSettings) -> None:
    """Watch resources until a signal arrives.

    Raises
    ------
    ConfigurationError
        The port of health and metrics cannot be opened.
    """
    health = OperatorHealth()
    server = HealthServer(settings.health_host, settings.health_port, health.state)
    log(NAME).info("health and metrics", port=server.port)
    beating = asyncio.create_task(health.beat())
    token = settings.operator_token.get_secret_value() if settings.operator_token else None
    gateway = GatewayApi(settings.operator_gateway_url, token)
    try:
        await _await_definitions()
        kopf_settings = kopf.OperatorSettings()
        configure(kopf_settings)
        started = asyncio.Event()
        reporting = asyncio.create_task(_report_start(started, health))
        await kopf.operator(
            registry=registry_of(
                Reconciler(gateway, lambda: datetime.now(UTC)), settings.operator_look_s
            ),
            settings=kopf_settings,
            namespaces=settings.operator_namespaces,
            # kopf would look up the name of the user, which a pod may not have.
            identity=f"{NAME}@{socket.gethostname()}",  # type: ignore[arg-type] # a private NewType
            standalone=True,
            ready_flag=started,
        )
        reporting.cancel()
    finally:
        health.why = "stopping"
        beating.cancel()
        await gateway.close()
        server.close()


async def _await_definitions() -> None:
    """Wait until the API server serves the resources, and log the wait once."""
    logged = False
    while (why := await missing_definitions()) is not None:
        if not logged:
            log(NAME).info("waiting for the definitions of the resources", why=why)
        logged = True
        await asyncio.sleep(DEFINITIONS_POLL_S)


async def _report_start(started: asyncio.Event, health: OperatorHealth) -> None:
    await started.wait()
    health.why = "working"
    log(NAME).info("working")


def main() -> int:
    """Run the operator; return an exit code like every service."""
    try:
        settings = load_settings(OperatorSettings)
        configure_logs(settings.log_level)
        # At INFO, kopf logs every successful reconciliation.
        logging.basicConfig(level=logging.WARNING, handlers=[KopfLogs()])
        asyncio.run(operate(settings))
    except BiaswatchError as error:
        sys.stderr.write(f"biaswatch: {error}\n")
        return 2 if error.exit_code == 2 else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
