"""A drill about wall clocks that jump; they are injected, because this machine has other users."""

from pathlib import Path

from biaswatch.shared.store import migrate
from drills.outcome import Drill, Outcome
from drills.scene import RUNS_ONLY, pause, scene

HOUR_S = 3600.0
JUMPS_S = (HOUR_S, 0.0, -HOUR_S, 0.0, 24 * HOUR_S, -24 * HOUR_S, 400 * 24 * HOUR_S, 0.0)


async def jumping_clock(folder: Path, times: int) -> Outcome:
    """Let the clock of all services jump, and restart a service after each jump."""
    url = f"sqlite:///{folder / 'store.db'}"
    migrate(url)
    async with scene(folder, url, services=RUNS_ONLY, turned=True, supervised=True) as here:
        for number in range(times):
            await here.begin_run()
            await pause(here, 0.5, 2)
            here.platform.turn_clock(JUMPS_S[number % len(JUMPS_S)])
            await pause(here, 0.5, 2)
            here.platform.kill_a_service()
        here.platform.turn_clock(0.0)
        return await here.outcome(f"{times} jumps of an injected clock, by up to 400 days")


DRILLS = (Drill("clock-jumps", "the wall clock of all services jumps", jumping_clock, 8),)
