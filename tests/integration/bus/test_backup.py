"""A copy of the stopped server's folder, as the operations page makes it, keeps every stream."""

import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from biaswatch.shared.bus.dead_letters import replay
from biaswatch.shared.bus.jetstream import Admin, Connection, JetStreamPublisher, provision
from biaswatch.shared.bus.server import EmbeddedServer
from biaswatch.shared.bus.stage import Stage
from biaswatch.shared.contracts import Record, Response
from biaswatch.shared.errors import PoisonError
from tests.support.bus import ProvisionedBus, ReceivedRecords
from tests.support.records import make_response


@asynccontextmanager
async def bus_in(folder: Path) -> AsyncIterator[ProvisionedBus]:
    with EmbeddedServer(folder) as server:
        connection = await Connection.open(server.url, name="test")
        admin = Admin(connection)
        await provision(admin)
        bus = ProvisionedBus(server, connection, admin, JetStreamPublisher(connection))
        yield bus
        await bus.close()


async def refuse(record: Response) -> Sequence[Record]:
    raise PoisonError("nobody can read this")


async def test_dead_letters_and_waiting_records_come_back_with_the_folder(tmp_path: Path) -> None:
    dead, waiting = make_response(0), make_response(1)
    async with bus_in(tmp_path / "nats") as bus:
        stage = Stage("recorder", Response, refuse)
        bus.work(stage)
        await bus.publish(dead)
        await bus.settled(stage)
        [letter] = await bus.dead()
    async with bus_in(tmp_path / "nats") as bus:
        await bus.publish(waiting)
    backup = shutil.copytree(tmp_path / "nats", tmp_path / "backup")
    shutil.rmtree(tmp_path / "nats")

    async with bus_in(backup) as bus:
        assert await bus.dead() == [letter]
        await replay(letter, bus.admin, bus.publisher)
        seen = ReceivedRecords()
        bus.work(Stage("recorder", Response, seen.handle))
        await seen.wait_for(2)
        assert {record.id for record in seen.records} == {dead.id, waiting.id}
        assert await bus.dead() == []
