"""Drills about the bus: its server dies or hangs while runs and traffic go on."""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

from biaswatch.shared.store import migrate
from drills.outcome import Drill, Outcome
from drills.scene import Scene, pause, scene


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
    Drill(
        "jetstream-killed", "nats-server is killed", partial(disturbed_server, kill, "killed"), 10
    ),
    Drill("jetstream-hangs", "nats-server hangs", partial(disturbed_server, hang, "hung"), 10),
)
