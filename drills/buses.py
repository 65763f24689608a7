"""Drills about the bus: its server dies while runs and traffic go on."""

import asyncio
from pathlib import Path

from biaswatch.shared.store import migrate
from drills.outcome import Drill, Outcome
from drills.scene import pause, scene


async def killed_server(folder: Path, times: int) -> Outcome:
    """Kill nats-server again and again, and start it again some seconds later."""
    url = f"sqlite:///{folder / 'store.db'}"
    migrate(url)
    async with scene(folder, url) as here:
        for _ in range(times):
            await here.begin_run()
            await pause(here, 0.5, 3)
            here.platform.server.kill()
            await pause(here, 0.0, 4)
            await asyncio.to_thread(here.platform.server.start)
        return await here.outcome(f"killed {times} times")


DRILLS = (Drill("jetstream-killed", "nats-server is killed", killed_server, 10),)
