"""What `up --demo` shows: a monitor of a simulated model, and its alarm once it is raised."""

import asyncio
from collections.abc import Callable, Iterator
from time import monotonic
from typing import Any

from biaswatch.local.client import GatewayClient
from biaswatch.readers.suites import DEMO_SUITE, load_suite
from biaswatch.shared.contracts import Alarm, AlarmState, Suite
from biaswatch.shared.requests.monitor_views import AppliedMonitor, MonitorView

NAME = "demo"
CADENCE_S, MOST_ROUNDS = 2, 60
LOOK_S = 0.5
Say = Callable[[str], None]


def demo_file(suite: Suite) -> dict[str, Any]:
    """Return the file of the monitor: `examples/monitor.yaml` with rounds of seconds."""
    return {
        "name": NAME,
        "suite_hash": suite.hash,
        "target": "simulator:biased",
        "cadence": f"{CADENCE_S}s",
        "most_rounds": MOST_ROUNDS,
        "features": [
            {"extractor": "rating", "feature": "rating", "low": 1, "high": 5, "tolerance": 0.1}
        ],
        "comparisons": [
            {"dimension": "race", "a": "black", "b": "white"},
            {"dimension": "gender", "a": "female", "b": "male"},
        ],
        "owners": ["demo"],
    }


async def show_demo(client: GatewayClient, url: str, say: Say) -> None:
    """Apply the monitor, and tell its alarm in words once there is one; return after that."""
    suite = load_suite(DEMO_SUITE)
    await client.keep(suite)
    applied = await client.apply_monitor(demo_file(suite))
    for line in introduction(applied, url):
        say(line)
    began = monotonic()
    while True:
        found = await client.monitor(NAME)
        raised = [each for each in found.alarms if each.state is AlarmState.RAISED]
        if raised or found.status.ended:
            break
        await asyncio.sleep(LOOK_S)
    lines = alarmed(raised[0], monotonic() - began, url) if raised else silent(found)
    for line in lines:
        say(line)


def introduction(applied: AppliedMonitor, url: str) -> Iterator[str]:
    """Say what is watched, and where it can be seen."""
    goes = "begins" if applied.anew else "is there already"
    yield (
        f"The monitor {NAME} {goes}: it asks the simulated model simulator:biased a round of"
        f" questions every {CADENCE_S} seconds, at most {MOST_ROUNDS} rounds."
    )
    yield f"  its page   {url}/monitors/{NAME}"
    yield "Its first alarm is awaited; that takes less than a minute on a machine at rest."


def alarmed(alarm: Alarm, after_s: float, url: str) -> Iterator[str]:
    """Say an alarm in words, and how to see the answers behind it."""
    yield f"Alarm in round {alarm.round}, after {after_s:.0f} s:"
    yield f"  {alarm.words or alarm.reason}"
    yield f"  the answers behind it   {url}/monitors/{NAME}/alarms"
    yield f"                          biaswatch monitor alarms {NAME}"
    yield f"  all of its evidence     biaswatch monitor show {NAME}"
    yield f"  to end it               biaswatch monitor delete {NAME}"


def silent(found: MonitorView) -> Iterator[str]:
    """Say that it has ended without an alarm."""
    yield (
        f"The monitor {NAME} has ended after {found.status.rounds} rounds without an alarm"
        f" ({found.status.ended}). `biaswatch monitor show {NAME}` shows its evidence."
    )
