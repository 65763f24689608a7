"""The platform's services in this process, each with its key, and one blind to a kind of record."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from biaswatch.services.diagnoser import app as diagnoser
from biaswatch.services.diagnoser.settings import DiagnoserSettings
from biaswatch.services.evaluator import app as evaluator
from biaswatch.services.evaluator.settings import EvaluatorSettings
from biaswatch.services.extractor import app as extractor
from biaswatch.services.extractor.settings import ExtractorSettings
from biaswatch.services.gateway.runs.commands import RunCommands
from biaswatch.services.gateway.runs.queries import RunQueries
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
from biaswatch.services.simulator import app as simulator
from biaswatch.shared.bus.accounts import server_config
from biaswatch.shared.bus.jetstream import Admin, Connection, JetStreamPublisher, provision
from biaswatch.shared.bus.jetstream.keys import ensure_keys
from biaswatch.shared.bus.permissions import OPERATOR, key_names
from biaswatch.shared.bus.server import EmbeddedServer
from biaswatch.shared.contracts import Record, Route, Run
from biaswatch.shared.requests.run_views import RunProgress, RunState
from biaswatch.shared.runtime.service import Service
from biaswatch.shared.runtime.threads import in_thread
from biaswatch.shared.runtime.web import web_server
from biaswatch.shared.store import Store
from tests.support.waiting import PATIENCE_S, eventually

HERE = "127.0.0.1"
RECONCILE_S = 0.2
NEVER_S = 86_400.0
BUILT: dict[str, tuple[Any, Any]] = {
    "planner": (planner, PlannerSettings),
    "generator": (generator, GeneratorSettings),
    "extractor": (extractor, ExtractorSettings),
    "recorder": (recorder, RecorderSettings),
    "diagnoser": (diagnoser, DiagnoserSettings),
    "notifier": (notifier, NotifierSettings),
    "oracle": (oracle, OracleSettings),
    "evaluator": (evaluator, EvaluatorSettings),
}


class KeyedPlatform:
    """Services with keys on a bus from which messages can be taken away."""

    def __init__(self, store: Store, admin: Admin, publisher: JetStreamPublisher) -> None:
        self.store = store
        self.queries = RunQueries(store)
        self.commands = RunCommands(store, self.queries, lambda: datetime.now(UTC), 60)
        self.given: dict[str, Any] = {}
        self.keys = Path()
        self._admin = admin
        self._publisher = publisher
        self._running: dict[str, tuple[Service, asyncio.Task[None]]] = {}

    async def start(
        self, name: str, *, without: type[Record] | None = None, repairs: bool = True
    ) -> None:
        """Start a service, perhaps one that does not read a kind of record or repairs nothing."""
        app, settings = BUILT[name]
        reconcile_s = RECONCILE_S if repairs else NEVER_S
        fields = {f"{name}_reconcile_s": reconcile_s, "notifier_private_hosts": (HERE,)}
        known = {key: value for key, value in fields.items() if key in settings.model_fields}
        built = settings(**self.given, **known, nats_seed_file=self.keys / f"{name}.seed")
        service: Service = app.build(built)
        service._stages = [stage for stage in service._stages if stage.reads is not without]
        if without is not None:
            service._lane_stage = None
        self._running[name] = service, asyncio.create_task(service.run(with_health=False))
        await service.started.wait()

    async def stop(self, name: str) -> None:
        """Stop a service in order."""
        service, task = self._running.pop(name)
        service.stop()
        await task

    async def stop_all(self) -> None:
        """Stop what runs."""
        for name in list(self._running):
            await self.stop(name)

    async def publish(self, record: Record) -> None:
        """Publish as the gateway."""
        await self._publisher.publish(record)

    async def lose(self, route: Route) -> int:
        """Take every message of a kind away, once some are there and no more come; count them."""
        count, before = 0, -1
        async with asyncio.timeout(PATIENCE_S):
            while not 0 < count == before:
                await asyncio.sleep(0.3)  # nothing tells that no more will come
                count, before = await self._waiting(route), count
        state = (await self._admin._api(f"STREAM.INFO.{route.stream}"))["state"]
        for sequence in range(state["first_seq"], state["last_seq"] + 1):
            await self._admin.delete_message(route.stream, sequence)
        return count

    async def _waiting(self, route: Route) -> int:
        info = await self._admin._api(f"STREAM.INFO.{route.stream}")
        return int(info["state"]["messages"])

    async def ended(self, run: Run, state: RunState = RunState.COMPLETE) -> RunProgress:
        """Return how far a run is, once it is in this state."""

        async def there() -> bool:
            progress = await in_thread(self.queries.progress, run.id)
            return progress.state is state

        await eventually(there)
        return self.queries.progress(run.id)


@asynccontextmanager
async def keyed_platform(folder: Path, store_url: str) -> AsyncIterator[KeyedPlatform]:
    """Start bus and simulator beside a store that is prepared; no service runs yet."""
    public = ensure_keys(folder / "keys", key_names())
    simulated = simulator.build(simulator.read_settings())
    with EmbeddedServer(folder / "nats", extra_config=server_config(public)) as server:
        operator, gateway = [
            await Connection.open(server.url, name=name, seed_file=folder / "keys" / f"{name}.seed")
            for name in (OPERATOR, "gateway")
        ]
        await provision(Admin(operator))
        async with web_server(simulated, HERE, 0) as port:
            with Store.open(store_url) as store:
                platform = KeyedPlatform(store, Admin(operator), JetStreamPublisher(gateway))
                platform.given = {"nats_url": server.url, "store_url": store_url}
                platform.keys = folder / "keys"
                platform.given["simulator_url"] = f"http://{HERE}:{port}/v1"
                try:
                    yield platform
                finally:
                    await platform.stop_all()
        await operator.close()
        await gateway.close()
