"""Write the table of docs/scale.md from a model of production traffic, and simulate outages."""

import re
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks.scale_model import DEAD_S, GIB, USABLE, ScaledTraffic, load_of, needs_of

PAGE = Path(__file__).parents[1] / "docs" / "scale.md"
TRAFFIC = {1e6: ScaledTraffic(1e6), 1e7: ScaledTraffic(1e7), 1e8: ScaledTraffic(1e8, stream_gib=12)}
"""Answers a day, with the settings for each."""
LIMITS = {
    "a stream while the recorder is down": 1, "one gateway": 2, "one recorder": 2,
    "the store's disk": 3, "one core of the bus's leader": 4,
}  # fmt: skip
"""Their numbers on the page."""
IN_FILES = "[answers in files](archive.md#answers-in-files)"
HOUR_S = 3600
INTAKE = 15_000
"""Answers of one live system on the bus before the gateway asks senders to wait."""


@dataclass(frozen=True)
class Trouble:
    """A burst, and an outage of the recorder."""

    burst_at_s: int = HOUR_S
    burst_s: int = HOUR_S
    burst: float = 3.0
    recorder_down_at_s: int = 0
    recorder_down_s: int = 0


TROUBLES = {
    "three times the mean for an hour": Trouble(),
    "a recorder down for 30 minutes of that hour": Trouble(
        recorder_down_at_s=HOUR_S + HOUR_S // 4, recorder_down_s=DEAD_S
    ),
}


@dataclass
class SimulatedDay:
    """The fate of the answers of some hours."""

    sent: int = 0
    stored: int = 0
    lost: int = 0
    waiting: int = 0
    """Still on their way at the end."""
    most_backlog_bytes: float = 0.0
    """Unread on one stream of responses."""


def simulate(
    traffic: ScaledTraffic, trouble: Trouble, rng: np.random.Generator, hours: int = 4
) -> SimulatedDay:
    """Simulate answers on their way, second by second with random arrivals.

    Senders wait while the intake is full, each stage takes what its processes can, and a full
    stream drops its oldest message, which is a loss only where it is unread. Intake and
    recorder have the processes of the model; a dead recorder comes back whole.
    """
    replicas = needs_of(traffic).replicas
    costs, day = traffic.costs, SimulatedDay()
    intake_rate = replicas["gateway"] * USABLE * 1e6 / costs.gateway_us
    record_rate = replicas["recorder"] * 1e6 / costs.recorder_us
    capacity = traffic.stream_gib * GIB * traffic.platforms / costs.response_bytes
    held = taken = unread = stored = lost = 0.0
    for second in range(hours * HOUR_S):
        in_burst = trouble.burst_at_s <= second < trouble.burst_at_s + trouble.burst_s
        arrived = int(rng.poisson(traffic.mean_rate * (trouble.burst if in_burst else 1.0)))
        day.sent += arrived
        held += arrived
        admitted = min(held, INTAKE - taken)
        held, taken = held - admitted, taken + admitted
        moved = min(taken, intake_rate)
        taken, unread = taken - moved, unread + moved
        down = 0 <= second - trouble.recorder_down_at_s < trouble.recorder_down_s
        read = 0.0 if down else min(unread, record_rate)
        unread, stored = unread - read, stored + read
        if unread > capacity:
            lost, unread = lost + unread - capacity, capacity
        backlog = unread * costs.response_bytes / traffic.platforms
        day.most_backlog_bytes = max(day.most_backlog_bytes, backlog)
    day.stored, day.lost, day.waiting = round(stored), round(lost), round(held + taken + unread)
    return day


def needs_table() -> list[tuple[str, ...]]:
    """Return the rows of needs of each size, the heading first."""
    needs = [needs_of(traffic) for traffic in TRAFFIC.values()]
    in_files = [needs_of(replace(traffic, in_files=True)) for traffic in TRAFFIC.values()]
    return [
        ("answers a day", *(f"{size / 1e6:,.0f} million" for size in TRAFFIC)),
        ("---",) * (len(TRAFFIC) + 1),
        ("answers a second, mean and busiest hour",
         *(f"{t.mean_rate:,.0f}, {t.burst_rate:,.0f}" for t in TRAFFIC.values())),
        ("cores in the busiest hour", *(f"{need.total_cores:.2f}" for need in needs)),
        ("memory", *(f"{need.memory_gib:.1f} GiB" for need in needs)),
        ("connections to PostgreSQL, at most", *(f"{need.connections}" for need in needs)),
        ("disk of the bus, reserved", *(f"{need.bus_gib:,.0f} GiB" for need in needs)),
        ("store, 7 days", *(f"{need.stored_gib:,.0f} GiB" for need in needs)),
        (f"the same, with {IN_FILES}", *(f"{need.stored_gib:,.0f} GiB" for need in in_files)),
        ("archive or files, a year", *(f"{need.archived_gib_a_year:,.0f} GiB" for need in needs)),
        ("the limit reached first", *map(_first_limit, TRAFFIC.values())),
    ]  # fmt: skip


def _first_limit(traffic: ScaledTraffic) -> str:
    name, used = next(iter(load_of(traffic).items()))
    return f"limit {LIMITS[name]}: {100 * used:.0f} % used"


def with_needs(text: str) -> str:
    """Return the page with the table of needs."""
    lines = "".join(f"| {' | '.join(row)} |\n" for row in needs_table())
    return re.sub(
        r"(<!-- needs -->\n).*?(<!-- end -->)", rf"\g<1>{lines}\g<2>", text, flags=re.DOTALL
    )


if __name__ == "__main__":
    PAGE.write_text(with_needs(PAGE.read_text()))
    sys.stdout.write(f"Wrote the table of {PAGE.name}.\n")
