"""Simulate when partitions help: the delay of tenants while another sends more than is handled.

Each second, the partitions with a backlog share what the services handle; within a partition,
answers are handled in order of arrival.

    python -m benchmarks.partitions
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biaswatch.shared.contracts.partitions import partition_of

Counts = NDArray[np.float64]
LATE_S = 3.0
"""A delay that a reader of windows would notice."""


@dataclass(frozen=True)
class SharedPlatform:
    """Tenants of one platform, the first of which sends a flood."""

    tenants: int
    handled: float = 1000.0
    """Answers a second that the slowest stage handles."""
    usual: float = 0.5
    """Share of that which all tenants together send otherwise, in equal parts."""
    flood: float = 2.0
    """What the first tenant sends in a flood, as a share of what is handled."""
    flood_s: int = 600
    seconds: int = 3600


@dataclass(frozen=True)
class Delays:
    """The delays of answers of the tenants that send no flood."""

    most_s: float
    """Of the tenant that waits longest, at the end of the flood."""
    late_tenants: float
    """Share of tenants that wait longer than `LATE_S` then."""


def simulate(platform: SharedPlatform, partitions: int, rng: np.random.Generator) -> Delays:
    """Simulate a flood, with Poisson arrivals in each second."""
    rates = np.full(platform.tenants, platform.usual * platform.handled / platform.tenants)
    places = np.array([partition_of(f"tenant-{n}") % partitions for n in range(platform.tenants)])
    arrived = rng.poisson(rates, (platform.seconds, platform.tenants)).astype(float)
    flood = rng.poisson(platform.flood * platform.handled, platform.flood_s)
    arrived[: platform.flood_s, 0] += flood
    by_partition = np.zeros((platform.seconds, partitions))
    np.add.at(by_partition.T, places, arrived.T)
    delays = _delays_at(by_partition, platform.handled, platform.flood_s - 1)[places[1:]]
    return Delays(float(delays.max()), float(np.mean(delays > LATE_S)))


def _delays_at(arrived: Counts, handled: float, second: int) -> Counts:
    """Return how long the last answer of a second waits in each partition."""
    backlog = np.zeros(arrived.shape[1])
    ahead: Counts | None = None
    delays = np.full(arrived.shape[1], np.inf)
    for now, added in enumerate(arrived):
        served = shares(backlog + added, handled)
        backlog = backlog + added - served
        if now == second:
            ahead = backlog.copy()
        elif ahead is not None:
            ahead = np.maximum(ahead - served, 0.0)
        if ahead is not None:
            delays = np.where(np.isinf(delays) & (ahead <= 0), now - second, delays)
    return delays


def shares(backlog: Counts, handled: float) -> Counts:
    """Return what is handled of each backlog: equal parts, and what one leaves goes to others."""
    served = np.zeros_like(backlog)
    left = handled
    while left > 1e-9 and (open_ := backlog - served > 1e-9).any():
        part = np.minimum(backlog - served, left / open_.sum()) * open_
        served += part
        left -= part.sum()
    return served


def main() -> None:
    """Print the delays by load of the flood and number of partitions."""
    print("flood  tenants  partitions  longest delay  tenants later than 3 s")
    for flood in (0.3, 1.0, 2.0):
        for tenants, partitions in ((2, 1), (2, 16), (50, 1), (50, 4), (50, 16)):
            platform = SharedPlatform(tenants, flood=flood)
            delays = simulate(platform, partitions, np.random.default_rng(1))
            print(
                f"{flood:5.1f} {tenants:8} {partitions:11} {delays.most_s:12.0f} s"
                f" {delays.late_tenants:17.0%}"
            )


if __name__ == "__main__":
    main()
