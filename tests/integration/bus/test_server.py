"""The embedded server: starts, keeps its data, and says in one sentence why it cannot."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from biaswatch.shared.bus.jetstream import Admin, Connection, provision
from biaswatch.shared.bus.server import EmbeddedServer, alive
from biaswatch.shared.contracts import Response
from biaswatch.shared.errors import ConfigurationError
from tests.support.bus import ProvisionedBus
from tests.support.records import make_response


def test_two_servers_take_two_free_ports(tmp_path: Path) -> None:
    with EmbeddedServer(tmp_path / "a") as one, EmbeddedServer(tmp_path / "b") as other:
        assert one.url != other.url


async def test_records_survive_a_stop_and_a_kill_on_the_same_port(bus: ProvisionedBus) -> None:
    await bus.publish(make_response(0))
    url = bus.server.url
    bus.server.stop()
    bus.server.start()
    await bus.publish(make_response(1))
    bus.server.kill()
    bus.server.start()
    assert bus.server.url == url
    assert await bus.count(Response) == 2


def test_a_directory_in_use_is_refused(tmp_path: Path) -> None:
    with (
        EmbeddedServer(tmp_path / "nats"),
        pytest.raises(
            ConfigurationError,
            match=rf"in use by process {os.getpid()}\..*BIASWATCH_STATE_DIR.*kill",
        ),
    ):
        EmbeddedServer(tmp_path / "nats").start()


def test_a_server_whose_owner_was_killed_makes_room_for_the_next_one(tmp_path: Path) -> None:
    program = (
        "import os, pathlib, sys\n"
        "from biaswatch.shared.bus.server import EmbeddedServer\n"
        "print(EmbeddedServer(pathlib.Path(sys.argv[1])).start().pid, flush=True)\n"
        "os._exit(9)\n"
    )
    owner = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "nats")],
        capture_output=True,
        text=True,
        check=False,
    )
    orphan = int(owner.stdout)
    with EmbeddedServer(tmp_path / "nats") as server:
        assert server.pid != orphan
        assert not alive(orphan)


def test_a_port_in_use_is_named(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ConfigurationError, match=f"The port {port} is in use"):
            EmbeddedServer(tmp_path / "nats", port=port).start()


def test_a_directory_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigurationError, match=r"cannot be written .*BIASWATCH_STATE_DIR"):
        EmbeddedServer(tmp_path / "file" / "nats").start()


def test_a_broken_configuration_is_told_with_the_servers_own_words(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"failed to start: .*Its log is"):
        EmbeddedServer(tmp_path / "nats", extra_config="nonsense: {").start()


async def test_a_full_description_of_the_bus_fits_a_fresh_server(tmp_path: Path) -> None:
    with EmbeddedServer(tmp_path / "nats") as server:
        connection = await Connection.open(server.url, name="test")
        await provision(Admin(connection))
        await connection.close()
