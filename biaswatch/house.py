"""The whole platform in one process: embedded bus, SQLite store, every service, the simulator."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from services.diagnoser import app as diagnoser
from services.diagnoser.settings import DiagnoserSettings
from services.extractor import app as extractor
from services.extractor.settings import ExtractorSettings
from services.gateway import app as gateway
from services.gateway.settings import GatewaySettings
from services.generator import app as generator
from services.generator.settings import GeneratorSettings
from services.planner import app as planner
from services.planner.settings import PlannerSettings
from services.recorder import app as recorder
from services.recorder.settings import RecorderSettings
from services.simulator import app as simulator
from services.simulator.settings import SimulatorSettings
from shared.bus.jetstream import Admin, Connection, JetStreamPublisher
from shared.bus.provision import provision
from shared.bus.server import EmbeddedServer
from shared.runtime.service import Service
from shared.runtime.threads import in_thread
from shared.runtime.web import web_server
from shared.store import Store, migrate

LOOK_FOR_EXTRACTORS_S = 0.02


@asynccontextmanager
async def house(state_dir: Path, *, port: int = 0) -> AsyncIterator[str]:
    """Run everything while the context lasts; give the gateway's address.

    Raises
    ------
    ConfigurationError
        A port, a directory or a setting is wrong.
    """
    store_url = f"sqlite:///{state_dir / 'store.db'}"
    with EmbeddedServer(state_dir / "nats") as server:
        migrate(store_url)
        connection = await Connection.open(server.url, name="gateway")
        await provision(Admin(connection))
        try:
            with Store.open(store_url) as store:
                async with _served(server.url, store_url, store, connection, port) as url:
                    yield url
        finally:
            await connection.close()


@asynccontextmanager
async def _served(
    nats_url: str, store_url: str, store: Store, connection: Connection, port: int
) -> AsyncIterator[str]:
    where: dict[str, Any] = {"nats_url": nats_url, "store_url": store_url}
    simulated = simulator.build(SimulatorSettings())
    async with web_server(simulated, "127.0.0.1", 0) as simulator_port:
        simulator_url = f"http://127.0.0.1:{simulator_port}/v1"
        services = [
            planner.build(PlannerSettings(**where)),
            generator.build(GeneratorSettings(**where, simulator_url=simulator_url)),
            extractor.build(ExtractorSettings(**where)),
            recorder.build(RecorderSettings(**where)),
            diagnoser.build(DiagnoserSettings(**where)),
        ]
        settings = GatewaySettings(**where)
        api = gateway.web_app(settings, store, JetStreamPublisher(connection))
        async with _running(services, store), web_server(api, "127.0.0.1", port) as gateway_port:
            yield f"http://127.0.0.1:{gateway_port}"


@asynccontextmanager
async def _running(services: Sequence[Service], store: Store) -> AsyncIterator[None]:
    """Run services; if one ends by itself, so does the house, with that one's sentence."""
    began = datetime.now(UTC)
    inside = asyncio.current_task()
    tasks = [asyncio.create_task(service.run(with_health=False)) for service in services]
    for task in tasks:
        task.add_done_callback(lambda ended: _failed(ended) and inside and inside.cancel())
    try:
        while not await in_thread(store.instruments.running, began):
            await asyncio.sleep(LOOK_FOR_EXTRACTORS_S)
        yield
    except asyncio.CancelledError:
        for failure in filter(None, map(_failed, tasks)):
            raise failure from None
        raise
    finally:
        for service in services:
            service.stop()
        await asyncio.gather(*tasks, return_exceptions=True)


def _failed(task: "asyncio.Task[None]") -> BaseException | None:
    return task.exception() if task.done() and not task.cancelled() else None


class Address:
    """The file that tells other commands where a running house is."""

    def __init__(self, state_dir: Path) -> None:
        self._path = state_dir / "house.json"

    def write(self, url: str) -> None:
        """Say where the gateway is."""
        self._path.write_text(json.dumps({"url": url, "pid": os.getpid()}))

    def read(self) -> str | None:
        """Give the address of the house that runs here, if one does."""
        try:
            said = json.loads(self._path.read_text())
            os.kill(said["pid"], 0)
        except (OSError, ValueError, KeyError):
            return None
        return str(said["url"])

    def remove(self) -> None:
        """Say that the house is no more."""
        self._path.unlink(missing_ok=True)
