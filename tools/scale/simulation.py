"""A simulation of answers on their way: bursts, a recorder that is down, and what is lost.

Second by second, with random arrivals: senders wait while the intake is full, each stage takes what
its processes can, and a stream that is full drops its oldest, which is a loss only where somebody
has not read them.
"""

from dataclasses import dataclass, field

import numpy as np

from tools.scale.model import DEAD_S, GIB, USABLE, ScaledTraffic, needs_of

HOUR_S = 3600
INTAKE = 15_000
"""Answers of one live system that wait on the bus before senders are told to wait."""


@dataclass
class SimulatedDay:
    """What became of the answers of some hours."""

    sent: int = 0
    stored: int = 0
    lost: int = 0
    waiting: int = 0
    """Still on their way at the end."""
    most_refused: int = 0
    """Answers that senders held back at once, at most."""
    most_backlog_bytes: float = 0.0
    """On one stream of responses, unread."""
    longest_s: int = 0
    """Seconds from the end of the trouble until nothing waited any more."""
    history: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Trouble:
    """What happens, and when."""

    burst_at_s: int = HOUR_S
    burst_s: int = HOUR_S
    burst: float = 3.0
    recorder_down_at_s: int = 0
    recorder_down_s: int = 0


def simulate(
    traffic: ScaledTraffic, trouble: Trouble, rng: np.random.Generator, hours: int = 4
) -> SimulatedDay:
    """Return what becomes of the answers of some hours.

    Intake and recorder have the processes that the model says; a dead recorder comes back whole.
    """
    replicas = needs_of(traffic).replicas
    costs, day = traffic.costs, SimulatedDay()
    intake_rate = replicas["gateway"] * USABLE * 1e6 / costs.gateway_us
    record_rate = replicas["recorder"] * 1e6 / costs.recorder_us
    most = traffic.stream_gib * GIB * traffic.partitions / costs.response_bytes
    held = taken = unread = 0.0
    ends = max(
        trouble.burst_at_s + trouble.burst_s, trouble.recorder_down_at_s + trouble.recorder_down_s
    )
    stored = lost = 0.0
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
        if unread > most:
            lost, unread = lost + unread - most, most
        day.most_refused = max(day.most_refused, int(held))
        backlog = unread * costs.response_bytes / traffic.partitions
        day.most_backlog_bytes = max(day.most_backlog_bytes, backlog)
        if held + taken + unread > 2 * traffic.mean_rate + 1 and second >= ends:
            day.longest_s = second - ends
    day.stored, day.lost, day.waiting = round(stored), round(lost), round(held + taken + unread)
    return day


TROUBLES = {
    "three times the mean for an hour": Trouble(),
    "a recorder down for 30 minutes of that hour": Trouble(
        recorder_down_at_s=HOUR_S + HOUR_S // 4, recorder_down_s=DEAD_S
    ),
}
