"""A key is exchanged as the operations page says: the old one is refused, and nothing is lost."""

import shutil
from pathlib import Path

import pytest

from biaswatch.shared.bus.accounts import server_config
from biaswatch.shared.bus.jetstream import (
    Admin,
    Connection,
    JetStreamConsumer,
    JetStreamPublisher,
    provision,
)
from biaswatch.shared.bus.jetstream.keys import ensure_keys
from biaswatch.shared.bus.permissions import key_names
from biaswatch.shared.bus.server import EmbeddedServer
from biaswatch.shared.bus.stage import Stage
from biaswatch.shared.bus.topology import durable_of
from biaswatch.shared.contracts import Response
from biaswatch.shared.errors import ConfigurationError
from tests.support.records import make_response

RECORDER = Stage("recorder", Response, lambda _: [])


def serving(folder: Path, keys: Path) -> EmbeddedServer:
    return EmbeddedServer(
        folder / "nats", extra_config=server_config(ensure_keys(keys, key_names()))
    )


async def connected(server: EmbeddedServer, name: str, seed: Path) -> Connection:
    return await Connection.open(server.url, name=name, seed_file=seed)


async def test_a_rotated_key_opens_what_the_old_one_did_and_the_old_one_nothing(
    tmp_path: Path,
) -> None:
    keys, old = tmp_path / "keys", tmp_path / "old.seed"
    with serving(tmp_path, keys) as server:
        operator = await connected(server, "operator", keys / "operator.seed")
        await provision(Admin(operator))
        await operator.close()
        generator = await connected(server, "generator", keys / "generator.seed")
        await JetStreamPublisher(generator).publish(make_response(1))
        await generator.close()
    shutil.move(keys / "recorder.seed", old)
    with serving(tmp_path, keys) as server:  # makes the key anew, and the others are kept
        with pytest.raises(ConfigurationError):
            await connected(server, "recorder", old)
        recorder = await connected(server, "recorder", keys / "recorder.seed")
        consumer = JetStreamConsumer(recorder, durable_of(RECORDER), 1)
        await consumer.restore()
        [delivery] = await consumer.take(1)
        assert Response.decode(delivery.data) == make_response(1)
        await consumer.ack(delivery)
        await consumer.close()
        await recorder.close()
        generator = await connected(server, "generator", keys / "generator.seed")
        await JetStreamPublisher(generator).publish(make_response(2))
        await generator.close()


async def test_the_streams_of_one_account_can_be_moved_into_their_own(tmp_path: Path) -> None:
    with EmbeddedServer(tmp_path / "nats") as server:
        connection = await Connection.open(server.url, name="before")
        await provision(Admin(connection))
        await JetStreamPublisher(connection).publish(make_response(1))
        await connection.close()
    folder = tmp_path / "nats" / "jetstream" / "jetstream"
    for stream in sorted((folder / "$G" / "streams").iterdir()):
        (folder / stream.name / "streams").mkdir(parents=True)
        shutil.move(stream, folder / stream.name / "streams" / stream.name)
    keys = tmp_path / "keys"
    with serving(tmp_path, keys) as server:
        recorder = await connected(server, "recorder", keys / "recorder.seed")
        consumer = JetStreamConsumer(recorder, durable_of(RECORDER), 1)
        [delivery] = await consumer.take(1)
        assert Response.decode(delivery.data) == make_response(1)
        await consumer.close()
        await recorder.close()
