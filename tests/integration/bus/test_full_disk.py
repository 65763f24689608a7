"""A full disk, for real: it is said where people look, and is over once there is space again."""

import json
import os
from collections.abc import AsyncIterator
from itertools import count

import pytest
import pytest_asyncio

from biaswatch.local.supervision import BusSupervision, free_bytes
from biaswatch.shared.bus.jetstream import Admin, Connection, JetStreamPublisher, provision
from biaswatch.shared.bus.server import EmbeddedServer
from biaswatch.shared.bus.stage import Stage
from biaswatch.shared.bus.topology import StreamLimits
from biaswatch.shared.contracts import Features, Response
from biaswatch.shared.errors import TransientError
from biaswatch.shared.runtime.service import Service
from biaswatch.shared.runtime.settings import Settings
from biaswatch.shared.store import Store, migrate
from biaswatch.shared.telemetry import NOT_TAKEN
from tests.integration.runtime.test_service import fetch, running, until_status
from tests.support.records import make_features, make_response
from tests.support.small_disk import SmallDisk

SMALL = StreamLimits(stream_bytes=16 * 1024**2, small_stream_bytes=2 * 1024**2)


@pytest_asyncio.fixture
async def server(small_disk: SmallDisk) -> AsyncIterator[EmbeddedServer]:
    with EmbeddedServer(small_disk.folder / "nats") as started:
        operator = await Connection.open(started.url, name="operator")
        await provision(Admin(operator), SMALL)
        await operator.close()
        yield started


def large(number: int) -> Response:
    return make_response(number, text=os.urandom(20_000).hex())


async def until_nothing_is_taken(publisher: JetStreamPublisher) -> str:
    """Publish until the bus takes no more; return what is said then."""
    for number in range(1000):
        try:
            await publisher.publish(large(number))
        except TransientError as error:
            return str(error)
    raise AssertionError("the disk was never full")


async def test_a_bus_that_met_a_full_disk_works_again_once_there_is_space(
    server: EmbeddedServer, small_disk: SmallDisk
) -> None:
    connection = await Connection.open(server.url, name="test")
    publisher = JetStreamPublisher(connection, timeout_s=0.3, tries=2)
    supervision = BusSupervision(server, small_disk.folder, free_bytes=free_bytes)
    before = NOT_TAKEN._value.get()
    small_disk.fill(left_bytes=200_000)
    assert "its disk may have no space left" in await until_nothing_is_taken(publisher)
    assert NOT_TAKEN._value.get() == before + 2
    assert publisher.trouble
    small_disk.free()
    with pytest.raises(TransientError):  # the server does not recover by itself
        await publisher.publish(large(2000))
    supervision.run_once()
    await publisher.publish(large(2001))
    assert publisher.trouble is None
    await connection.close()


async def test_readyz_says_that_the_bus_takes_nothing_until_it_does_again(
    server: EmbeddedServer, small_disk: SmallDisk
) -> None:
    async def measure(_: Response) -> list[Features]:
        values = {os.urandom(10).hex(): 1.0 for _ in range(1000)}
        return [make_features(next(numbers), values=values)]

    numbers = count()

    settings = Settings(nats_url=server.url, health_host="127.0.0.1", health_port=0)
    service = Service("extractor", settings, stages=[Stage("extractor", Response, measure)])
    connection = await Connection.open(server.url, name="test")
    async with running(service):
        await until_status(service, 200)
        assert service._publisher
        service._publisher._timeout_s = 0.3
        small_disk.fill(left_bytes=200_000)
        await until_nothing_is_taken(JetStreamPublisher(connection, timeout_s=0.3, tries=1))
        await until_status(service, 503)
        _, text = await fetch(service, "/readyz")
        assert "its disk may have no space left" in json.loads(text)["why"]
        small_disk.free()
        server.stop()
        server.start()
        await until_status(service, 200)
    await connection.close()


@pytest.mark.parametrize("kind", ["sqlite"])
def test_a_store_without_space_is_away_and_has_everything_afterwards(
    small_disk: SmallDisk, kind: str
) -> None:
    url = f"{kind}:///{small_disk.folder / 'store.db'}"
    migrate(url)
    with Store.open(url) as store:
        store.records.write([large(0)])
        small_disk.fill()
        with pytest.raises(TransientError, match="disk is full"):
            store.records.write([large(number) for number in range(100)])
        small_disk.free()
        store.records.write([large(number) for number in range(100)])
        assert store.records.count(Response) == 100
