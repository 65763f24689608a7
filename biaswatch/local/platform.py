"""The platform on one machine: embedded bus, store, services and simulator."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from biaswatch.local.connections import (
    FREE_PORTS,
    MetricsAddress,
    RunningPlatform,
    embedded_bus_limits,
)
from biaswatch.local.supervision import (
    BusSupervision,
    ended_by_failure,
    free_bytes,
    supervised_processes,
)
from biaswatch.readers.targets import recordings_folder
from biaswatch.services.diagnoser import app as diagnoser
from biaswatch.services.diagnoser.settings import DiagnoserSettings
from biaswatch.services.evaluator import app as evaluator
from biaswatch.services.evaluator.settings import EvaluatorSettings
from biaswatch.services.extractor import app as extractor
from biaswatch.services.extractor.settings import ExtractorSettings
from biaswatch.services.gateway import app
from biaswatch.services.gateway import app as gateway
from biaswatch.services.gateway.settings import GatewaySettings
from biaswatch.services.gateway.status import service_troubles
from biaswatch.services.generator import app as generator
from biaswatch.services.generator.settings import GeneratorSettings
from biaswatch.services.notifier import app as notifier
from biaswatch.services.notifier.settings import NotifierSettings
from biaswatch.services.oracle import app as oracle
from biaswatch.services.oracle.settings import OracleSettings
from biaswatch.services.planner import app as planner
from biaswatch.services.planner.settings import PlannerSettings
from biaswatch.services.recorder import app as recorder
from biaswatch.services.recorder.settings import RecorderSettings
from biaswatch.services.searcher import app as searcher
from biaswatch.services.searcher.settings import SearcherSettings
from biaswatch.services.simulator import app as simulator
from biaswatch.services.simulator.domain.planted_bias import PlantedModel
from biaswatch.shared.bus.jetstream import Admin, Connection, JetStreamPublisher, provision
from biaswatch.shared.bus.server import EmbeddedServer
from biaswatch.shared.errors import TransientError
from biaswatch.shared.runtime.own_telemetry import own_telemetry
from biaswatch.shared.runtime.process_limits import raise_open_files
from biaswatch.shared.runtime.service import Service
from biaswatch.shared.runtime.settings import Settings, load_settings
from biaswatch.shared.runtime.threads import in_thread
from biaswatch.shared.runtime.web import free_port, web_server
from biaswatch.shared.store import Store, migrate
from biaswatch.shared.telemetry import log

SERVICES = (
    *("planner", "generator", "extractor", "recorder", "diagnoser", "notifier", "oracle"),
    *("evaluator", "searcher", "gateway"),
)
LOOK_S = 0.02
STORE_PATIENCE_S, STORE_PAUSE_S = 30.0, 1.0
HERE = "127.0.0.1"
LOOPBACK = (HERE, "localhost", "::1")
"""Hosts of models on the user's own machine."""
Clock = Callable[[], datetime]


@dataclass(frozen=True)
class ServiceSettings:
    """Settings that all services of the platform share."""

    nats_url: str
    store_url: str
    simulator_url: str
    log_level: str
    clock: Clock
    calls: int | None
    with_models: bool
    state_dir: Path
    metrics: MetricsAddress
    started: Callable[[Sequence[Service]], None]


@asynccontextmanager
async def embedded_platform(
    settings: Settings,
    *,
    port: int = 0,
    as_processes: bool = False,
    plants: Mapping[str, PlantedModel] | None = None,
    clock: Clock | None = None,
    calls: int | None = None,
    with_models: bool = True,
    metrics: MetricsAddress = FREE_PORTS,
    progress: Callable[[str], None] = lambda step: None,
    started: Callable[[Sequence[Service]], None] = lambda services: None,
) -> AsyncIterator[RunningPlatform]:
    """Run the platform while the context lasts.

    `as_processes` runs each service as a process, which serves its own `metrics`. `plants` are
    additional models of the simulator, `calls` limits concurrent calls per target, and a faster
    `clock` speeds up monitors; services in processes ignore clock and calls. Without `with_models`
    no model is called: probes keep waiting.
    `progress` gets a line for each step of the start, and `started` the services of this process.

    Raises
    ------
    ConfigurationError
        A port, a directory or a setting is invalid, or the limit of open files is too low.
    """
    raise_open_files()
    began = datetime.now(UTC)
    progress("Starting the bus")
    async with _embedded_bus(settings.state_dir / "nats") as server:
        progress("Preparing the store")
        await _migrated(settings.store)
        connection = await Connection.open(server.url, name="operator")
        try:
            await provision(Admin(connection), embedded_bus_limits(settings))
        finally:
            await connection.close()
        base = simulator.read_settings()
        planted = {"plants": {**base.plants, **(plants or {})}}
        simulated = simulator.build(base.model_copy(update=planted))
        with Store.open(settings.store) as store:
            async with web_server(simulated, HERE, 0) as simulator_port:
                simulator_url = f"http://{HERE}:{simulator_port}/v1"
                where = ServiceSettings(
                    *(server.url, settings.store, simulator_url, settings.log_level),
                    clock or (lambda: datetime.now(UTC)),
                    calls,
                    with_models,
                    settings.state_dir,
                    metrics,
                    started,
                )
                progress(f"Starting {len(SERVICES)} services")
                serve = _in_processes if as_processes else _in_this_process
                async with serve(where, store, port) as url:
                    progress("Waiting for the extractors")
                    while not await in_thread(store.extractors.running, began):
                        await asyncio.sleep(LOOK_S)
                    yield RunningPlatform(url, server.url, os.getpid())


@asynccontextmanager
async def _embedded_bus(folder: Path) -> AsyncIterator[EmbeddedServer]:
    """Run and supervise the bus while the context lasts."""
    with EmbeddedServer(folder) as server:
        supervision = BusSupervision(server, folder, free_bytes=free_bytes)
        watching = asyncio.create_task(supervision.watch())
        try:
            yield server
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)


async def _migrated(store_url: str) -> None:
    """Migrate the store; wait for a database that is starting."""
    clock = asyncio.get_running_loop().time
    deadline = clock() + STORE_PATIENCE_S
    while True:
        try:
            await in_thread(migrate, store_url)
        except TransientError as error:
            if clock() > deadline:
                raise
            log("platform").warning("waiting for the store", why=str(error))
            await asyncio.sleep(STORE_PAUSE_S)
        else:
            return


@asynccontextmanager
async def _in_processes(where: ServiceSettings, store: Store, port: int) -> AsyncIterator[str]:
    """Run each service as a separate process."""
    chosen = port or free_port(HERE)
    environment = {
        "NATS_URL": where.nats_url,
        "BIASWATCH_STORE_URL": where.store_url,
        "BIASWATCH_SIMULATOR_URL": where.simulator_url,
        "BIASWATCH_LOG_LEVEL": where.log_level,
        "BIASWATCH_GATEWAY_HOST": HERE,
        "BIASWATCH_GATEWAY_PORT": str(chosen),
        "BIASWATCH_HEALTH_HOST": where.metrics.host,
    }
    own = _local_defaults(GeneratorSettings().model_fields_set, where.state_dir)
    own |= _own_address(NotifierSettings().model_fields_set, port)
    environment |= {f"BIASWATCH_{name.upper()}": _as_variable(own[name]) for name in own}
    async with supervised_processes(SERVICES, environment, metrics_port=where.metrics.port):
        while True:  # until the gateway answers
            try:
                _, writer = await asyncio.open_connection(HERE, chosen)
            except OSError:
                await asyncio.sleep(LOOK_S)
            else:
                writer.close()
                break
        yield f"http://{HERE}:{chosen}"


def _local_defaults(configured: Collection[str], state_dir: Path) -> dict[str, Any]:
    """Return the generator's defaults on a user's own machine, for settings not configured."""
    own = {
        "generator_private_hosts": LOOPBACK,
        "generator_recordings_dir": recordings_folder(state_dir),
        "generator_local_models_dir": state_dir / "models",
    }
    return {name: value for name, value in own.items() if name not in configured}


def _own_address(configured: Collection[str], port: int) -> dict[str, Any]:
    """Return the address for links in alarms, unless it is configured or changes every start."""
    if not port or "notifier_dashboard_url" in configured:
        return {}
    return {"notifier_dashboard_url": f"http://{HERE}:{port}"}


def _as_variable(value: Any) -> str:
    return json.dumps(value) if isinstance(value, tuple) else str(value)


@asynccontextmanager
async def _in_this_process(where: ServiceSettings, store: Store, port: int) -> AsyncIterator[str]:
    """Run every service in this process."""
    common: dict[str, Any] = {"nats_url": where.nats_url, "store_url": where.store_url}
    generating = load_settings(GeneratorSettings, **common, simulator_url=where.simulator_url)
    generating = generating.model_copy(
        update=_local_defaults(generating.model_fields_set, where.state_dir)
    )
    if where.calls is not None:
        fewer = {"generator_slots": where.calls, "generator_start": where.calls}
        generating = generating.model_copy(update=fewer)
    notifying = load_settings(NotifierSettings, **common)
    notifying = notifying.model_copy(update=_own_address(notifying.model_fields_set, port))
    gateway_settings = load_settings(GatewaySettings, **common)
    backlog, work = app.AnswerBacklog(), app.background_work(store, gateway_settings)
    gateway_work = Service(
        "gateway",
        gateway_settings,
        stages=work.stages,
        jobs=work.jobs,
        supervisors=[backlog.job],
        check_store=store.check_available,
        close=work.close,
    )
    services = [
        planner.build(load_settings(PlannerSettings, **common), where.clock),
        *([generator.build(generating)] if where.with_models else []),
        extractor.build(load_settings(ExtractorSettings, **common)),
        recorder.build(load_settings(RecorderSettings, **common)),
        diagnoser.build(load_settings(DiagnoserSettings, **common), where.clock),
        notifier.build(notifying, where.clock),
        oracle.build(load_settings(OracleSettings, **common)),
        evaluator.build(load_settings(EvaluatorSettings, **common)),
        searcher.build(load_settings(SearcherSettings, **common), where.clock),
        gateway_work,
    ]
    where.started(services)
    connection = await Connection.open(where.nats_url, name="gateway")
    try:
        api = gateway.web_app(
            gateway_settings, store, JetStreamPublisher(connection), backlog.latest,
            troubles=partial(service_troubles, gateway_work),
        )  # fmt: skip
        with own_telemetry("platform", gateway_settings):
            async with _running(services), web_server(api, HERE, port) as chosen:
                yield f"http://{HERE}:{chosen}"
    finally:
        await connection.close()


@asynccontextmanager
async def _running(services: Sequence[Service]) -> AsyncIterator[None]:
    """Run services; if one fails, the platform ends with its error."""
    tasks = [asyncio.create_task(service.run(with_health=False)) for service in services]
    try:
        async with ended_by_failure(tasks):
            yield
    finally:
        for service in services:
            service.stop()
        await asyncio.gather(*tasks, return_exceptions=True)
