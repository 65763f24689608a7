"""A bus of several servers is joined at any that answers, and kept when one ends."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from biaswatch.shared.bus.jetstream import Connection
from biaswatch.shared.bus.server import EmbeddedServer
from biaswatch.shared.errors import TransientError
from biaswatch.shared.runtime.web import free_port
from tests.support.commands import CommandLine

USERS = 'authorization { users: [{ user: "one", password: "pw" }] }'


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[list[EmbeddedServer]]:
    with (
        EmbeddedServer(tmp_path / "one", extra_config=USERS) as one,
        EmbeddedServer(tmp_path / "two", extra_config=USERS) as two,
    ):
        yield [one, two]


def gone() -> str:
    """Return an address at which no server answers."""
    return f"127.0.0.1:{free_port('127.0.0.1')}"


async def test_a_server_that_is_down_is_passed_over(servers: list[EmbeddedServer]) -> None:
    up = servers[0].url.removeprefix("nats://")
    connection = await Connection.open(f"nats://one:pw@{gone()},{gone()},{up}", name="test")
    await connection.flush()
    await connection.close()


async def test_another_server_takes_over_from_one_that_ends(servers: list[EmbeddedServer]) -> None:
    addresses = [server.url.removeprefix("nats://") for server in servers]
    connection = await Connection.open(f"nats://one:pw@{','.join(addresses)}", name="test")
    back = asyncio.Event()
    connection.on_reconnect(back.set)
    joined = connection.client.connected_url
    assert joined is not None
    [first] = [server for server in servers if server.url.endswith(f":{joined.port}")]
    first.kill()
    await back.wait()
    await connection.flush()
    await connection.close()


async def test_where_none_answers_all_are_named_and_no_password() -> None:
    both = gone(), gone()
    with pytest.raises(TransientError, match=" and |, ".join(both)) as refusal:
        await Connection.open(f"nats://u:secret@{both[0]},{both[1]}", name="test", patience_s=0)
    assert "secret" not in str(refusal.value)


def test_commands_take_several_servers(tmp_path: Path) -> None:
    with EmbeddedServer(tmp_path / "nats") as server:
        command = CommandLine(tmp_path / "state", NATS_URL=f"nats://{gone()},{server.url}")
        provisioned = command("admin", "provision")
        assert provisioned.returncode == 0, provisioned.stderr
        command.set(NATS_URL="nats://a:1,nats://b:x")
        refused = command("admin", "provision")
        assert refused.returncode == 2
        assert "Address number 2 in NATS_URL is not that of a NATS server" in refused.stderr
        assert "Traceback" not in refused.stderr
