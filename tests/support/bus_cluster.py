"""A cluster of nats-servers on this machine, and which of them leads a stream."""

import asyncio
import json
from functools import partial
from pathlib import Path
from typing import Any

from biaswatch.shared.bus.jetstream import Admin, provision
from biaswatch.shared.bus.server import EmbeddedServer
from biaswatch.shared.bus.topology import StreamLimits
from biaswatch.shared.errors import BiaswatchError, TransientError
from biaswatch.shared.runtime.web import free_port
from tests.support.waiting import eventually

HERE = "127.0.0.1"
LOOK_S = 0.2


class BusCluster(EmbeddedServer):
    """Servers that elect a leader for each stream; it is started and stopped as one server."""

    def __init__(self, folder: Path, config: str, servers: int) -> None:
        ports = [free_port(HERE) for _ in range(servers)]
        routes = json.dumps([f"nats://{HERE}:{port}" for port in ports])
        self.servers = {
            f"n{number}": EmbeddedServer(
                folder / f"n{number}",
                port=free_port(HERE),
                extra_config=(
                    f"server_name: n{number}\n"
                    f"cluster {{ name: drill, listen: {HERE}:{port}, routes: {routes} }}\n{config}"
                ),
            )
            for number, port in enumerate(ports)
        }

    @property
    def url(self) -> str:
        """The addresses of all servers, as NATS_URL takes them."""
        return ",".join(server.url for server in self.servers.values())

    def start(self) -> "BusCluster":
        """Start every server."""
        for server in self.servers.values():
            server.start()
        return self

    def stop(self) -> None:
        """Stop every server."""
        for server in self.servers.values():
            server.stop()


async def provisioned(admin: Admin, limits: StreamLimits) -> None:
    """Provision a bus once its servers have elected a leader."""

    async def done() -> bool:
        try:
            await provision(admin, limits)
        except TransientError:
            await asyncio.sleep(LOOK_S)
            return False
        return True

    await eventually(done)


async def leader_of(admin: Admin, stream: str) -> str:
    """Return the server that leads a stream, or "" while there is none."""
    return str((await _cluster_of(admin, stream)).get("leader") or "")


async def until_replicated(admin: Admin, streams: list[str]) -> None:
    """Return once every server has all of every stream."""
    for stream in streams:
        await eventually(partial(_is_replicated, admin, stream))


async def _is_replicated(admin: Admin, stream: str) -> bool:
    cluster = await _cluster_of(admin, stream)
    return bool(cluster.get("leader")) and all(r["current"] for r in cluster["replicas"])


async def _cluster_of(admin: Admin, stream: str) -> dict[str, Any]:
    try:
        info = await admin._api(f"STREAM.INFO.{stream}")
    except BiaswatchError:  # there is no leader now
        await asyncio.sleep(LOOK_S)
        return {}
    cluster: dict[str, Any] = info["cluster"]
    return cluster
