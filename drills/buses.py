"""Drills about the bus: servers die or hang while runs and traffic go on."""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from functools import partial
from itertools import cycle, islice
from pathlib import Path

from biaswatch.shared.bus.jetstream import Admin
from biaswatch.shared.contracts import ROUTES
from biaswatch.shared.store import migrate
from drills.outcome import Drill, Outcome
from drills.scene import Scene, pause, scene
from tests.support.bus_cluster import BusCluster, leader_of, until_replicated

LED = ("PROBES", "RESPONSES", "FEATURES", "COMPLETIONS", "EXCHANGES")
"""The streams whose leaders are killed, in turns."""


async def disturbed_server(
    disturb: Callable[[Scene], Awaitable[None]], note: str, folder: Path, times: int
) -> Outcome:
    """Disturb nats-server again and again while runs begin."""
    url = f"sqlite:///{folder / 'store.db'}"
    migrate(url)
    async with scene(folder, url) as here:
        for _ in range(times):
            await here.begin_run()
            await pause(here, 0.5, 3)
            await disturb(here)
        return await here.outcome(f"{note} {times} times")


async def killed_leader(folder: Path, times: int) -> Outcome:
    """Kill the server that leads a stream, of three with a copy of each, and start it again."""
    url = f"sqlite:///{folder / 'store.db'}"
    migrate(url)
    streams = [route.stream for route in ROUTES]
    async with scene(folder, url, bus_servers=3) as here:
        bus = here.platform.server
        assert isinstance(bus, BusCluster)
        led = 0
        async with here.platform.connection() as operator:
            admin = Admin(operator)
            for stream in islice(cycle(LED), times):
                await here.begin_run()
                await pause(here, 0.5, 3)
                leader = await leader_of(admin, stream)
                led += bool(leader)
                server = bus.servers[leader or min(bus.servers)]
                server.kill()
                await pause(here, 1, 6)
                await asyncio.to_thread(server.start)
                await until_replicated(admin, streams)
        note = f"killed {times} times a server of three, {led} times the leader of a stream"
        return await here.outcome(note)


async def kill(here: Scene) -> None:
    """Kill the server, and start it again some seconds later."""
    here.platform.server.kill()
    await pause(here, 0.0, 4)
    await asyncio.to_thread(here.platform.server.start)


async def hang(here: Scene) -> None:
    """Stop the server's process for longer than clients wait for an answer."""
    pid = here.platform.server.pid
    os.kill(pid, signal.SIGSTOP)
    try:
        await pause(here, 6, 15)
    finally:
        os.kill(pid, signal.SIGCONT)


DRILLS = (
    Drill("jetstream-leader", "the leader of three nats-servers is killed", killed_leader, 10),
    Drill(
        "jetstream-killed", "nats-server is killed", partial(disturbed_server, kill, "killed"), 10
    ),
    Drill("jetstream-hangs", "nats-server hangs", partial(disturbed_server, hang, "hung"), 10),
)
