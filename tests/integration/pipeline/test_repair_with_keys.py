"""A response that the bus lost is repaired where every service has a key of its own, too."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

from biaswatch.services.planner.app import build
from biaswatch.services.planner.settings import PlannerSettings
from biaswatch.shared.bus.accounts import server_config
from biaswatch.shared.bus.jetstream import (
    Admin,
    Connection,
    JetStreamConsumer,
    JetStreamPublisher,
    provision,
)
from biaswatch.shared.bus.jetstream.keys import ensure_keys
from biaswatch.shared.bus.permissions import OPERATOR, service_names
from biaswatch.shared.bus.server import EmbeddedServer
from biaswatch.shared.bus.stage import Stage
from biaswatch.shared.bus.topology import durable_of
from biaswatch.shared.contracts import Response, Suite, SuiteProbe, probes_of
from biaswatch.shared.store import Store, migrate
from tests.support.records import make_response, make_run

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
SUITE = Suite(
    name="one", extractors=("words",), probes=(SuiteProbe(key="a", prompt="How is the coast?"),)
)
RUN = make_run(at=NOON, suite_hash=SUITE.hash)


async def test_the_planner_with_its_key_publishes_a_lost_response_again(
    store_url: str, tmp_path: Path
) -> None:
    migrate(store_url)
    [probe] = probes_of(RUN, SUITE, NOON)
    answer = make_response(probe=probe)
    with Store.open(store_url) as store:
        store.suites.keep(SUITE, NOON)
        store.records.write([answer])  # it was recorded, and never reached an extractor
    public = ensure_keys(tmp_path / "keys", [*service_names(), OPERATOR])
    with EmbeddedServer(tmp_path / "nats", extra_config=server_config(public)) as server:
        assert await repaired(server.url, store_url, tmp_path / "keys") == answer.id


async def repaired(url: str, store_url: str, keys: Path) -> str:
    """Start the run, and return the id of the response that reaches the extractor."""
    operator, gateway, extractor = [
        await Connection.open(url, name=name, seed_file=keys / f"{name}.seed")
        for name in (OPERATOR, "gateway", "extractor")
    ]
    await provision(Admin(operator))
    settings = PlannerSettings(
        nats_url=url,
        nats_seed_file=keys / "planner.seed",
        store_url=store_url,
        planner_reconcile_s=0.05,
    )
    planner = build(settings, lambda: NOON)
    working = asyncio.create_task(planner.run(with_health=False))
    consumer = JetStreamConsumer(
        extractor, durable_of(Stage("extractor", Response, lambda _: [])), 1
    )
    try:
        await JetStreamPublisher(gateway).publish(RUN)
        [delivery] = await consumer.take(1)
        return Response.decode(delivery.data).id
    finally:
        planner.stop()
        await working
        await consumer.close()
        for connection in (operator, gateway, extractor):
            await connection.close()
