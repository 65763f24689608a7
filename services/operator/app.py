"""The operator: watches resources, and serves health and metrics."""

import asyncio
import socket
import sys
import time
from collections.abc import Awaitable
from uuid import uuid4

import kopf

from biaswatch.services.operator.handlers.cleanup import Cleanup
from biaswatch.services.operator.handlers.cluster import ClusterApi
from biaswatch.services.operator.handlers.gateway import GatewayApi
from biaswatch.services.operator.handlers.leading import Leadership
from biaswatch.services.operator.handlers.reconciling import Reconciler
from biaswatch.services.operator.handlers.resources import configure, registry_of
from biaswatch.services.operator.settings import OperatorSettings
from biaswatch.shared.clock import now
from biaswatch.shared.errors import BiaswatchError
from biaswatch.shared.runtime.health import WORKING, HealthServer, ServiceHealth
from biaswatch.shared.runtime.settings import load_settings
from biaswatch.shared.telemetry import READY, configure_logs, log

NAME = "operator"
BEAT_S, DEFINITIONS_POLL_S = 0.5, 2.0
CHECK_S, CHECK_EVERY_S = 3.0, 3.0
"""Both dependencies together are named within 9 s."""


class OperatorHealth:
    """State of the operator and of its event loop."""

    def __init__(self) -> None:
        self.why = "waiting for the definitions of its resources"
        self._beat_at = time.monotonic()

    @property
    def ready(self) -> bool:
        """True if resources are watched."""
        return self.why == WORKING

    def state(self) -> ServiceHealth:
        """Return the state for the health server, which calls this in its thread."""
        return ServiceHealth(NAME, self.ready, self.why, time.monotonic() - self._beat_at, ())

    def wait(self, why: str) -> None:
        """Record and log why no resource is watched or that it works, once for each reason."""
        if why != self.why:
            log(NAME).info(WORKING if why == WORKING else "waiting", why=why)
        self.why = why

    async def beat(self) -> None:
        """Record that the event loop runs."""
        while True:
            self._beat_at = time.monotonic()
            READY.labels(NAME).set(self.ready)
            await asyncio.sleep(BEAT_S)


async def operate(settings: OperatorSettings) -> bool:
    """Watch resources until a signal arrives; return False if another operator took over.

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
    cluster = ClusterApi(settings.operator_namespaces)
    # A pod's name is unique; processes of one machine are told apart by the rest.
    identity = f"{socket.gethostname()}_{uuid4().hex[:8]}"
    leadership = Leadership(cluster, identity, settings.operator_lease_s, now)
    try:
        while (why := await cluster.missing_definitions()) is not None:
            health.wait(why)
            await asyncio.sleep(DEFINITIONS_POLL_S)
        await leadership.acquire(health.wait)
        return await _lead(settings, health, gateway, leadership)
    finally:
        health.why = "stopping"
        beating.cancel()
        await leadership.release()
        await gateway.close()
        server.close()


async def _lead(
    settings: OperatorSettings, health: OperatorHealth, gateway: GatewayApi, leadership: Leadership
) -> bool:
    """Watch resources while this operator holds the Lease; return False if it lost it."""
    cluster, interval_s = leadership.cluster, settings.operator_look_s
    cleanup = Cleanup(cluster, gateway)
    await cleanup.load()
    kopf_settings = kopf.OperatorSettings()
    configure(kopf_settings)
    started, stop = asyncio.Event(), asyncio.Event()
    leading = asyncio.create_task(leadership.keep())
    leading.add_done_callback(lambda _: stop.set())
    background = [
        asyncio.create_task(report_dependencies(started, health, gateway, cluster)),
        asyncio.create_task(cleanup.run(interval_s)),
    ]
    await kopf.operator(
        registry=registry_of(Reconciler(gateway, now), cluster, cleanup, interval_s),
        settings=kopf_settings,
        namespaces=settings.operator_namespaces,
        # kopf would look up the name of the user, which a pod may not have.
        identity=leadership.identity,  # type: ignore[arg-type] # a private NewType
        standalone=True,
        ready_flag=started,
        stop_flag=stop,
    )
    led = not leading.done()
    for task in (leading, *background):
        task.cancel()
    return led


async def report_dependencies(
    started: asyncio.Event, health: OperatorHealth, gateway: GatewayApi, cluster: ClusterApi
) -> None:
    """Report whether the operator can work: it needs the gateway and the API server."""
    await started.wait()
    while True:
        health.wait(
            await _why_away("gateway", gateway.trouble())
            or await _why_away("API server", cluster.missing_definitions())
            or WORKING
        )
        await asyncio.sleep(CHECK_EVERY_S)


async def _why_away(name: str, asking: Awaitable[str | None]) -> str | None:
    try:
        async with asyncio.timeout(CHECK_S):
            return await asking
    except TimeoutError:
        return f"The {name} has not answered within {CHECK_S:g} s."


def main() -> int:
    """Run the operator; return an exit code like every service."""
    try:
        settings = load_settings(OperatorSettings)
        configure_logs(settings.log_level)
        led = asyncio.run(operate(settings))
    except BiaswatchError as error:
        sys.stderr.write(f"biaswatch: {error}\n")
        return 2 if error.exit_code == 2 else 1
    return int(not led)


if __name__ == "__main__":
    sys.exit(main())
