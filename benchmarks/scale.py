"""Write tables of docs/measurements.md from a model of production traffic and its simulation."""

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks.scale_model import (
    DEAD_S,
    GIB,
    USABLE,
    ScaledTraffic,
    load_of,
    lost_precision,
    most_answers,
    needs_of,
)

PAGE = Path(__file__).parents[1] / "docs" / "measurements.md"
TRAFFIC = {1e6: ScaledTraffic(1e6), 1e7: ScaledTraffic(1e7), 1e8: ScaledTraffic(1e8, stream_gib=12)}
"""Answers a day, with the settings for each."""
SEED = 19
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
    most_refused: int = 0
    """The most answers that senders held back at once."""
    most_backlog_bytes: float = 0.0
    """Unread on one stream of responses."""
    longest_s: int = 0
    """Seconds from the end of the trouble until no answer waited."""


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
    capacity = traffic.stream_gib * GIB * traffic.partitions / costs.response_bytes
    held = taken = unread = stored = lost = 0.0
    end_s = max(
        trouble.burst_at_s + trouble.burst_s, trouble.recorder_down_at_s + trouble.recorder_down_s
    )
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
        day.most_refused = max(day.most_refused, int(held))
        backlog = unread * costs.response_bytes / traffic.partitions
        day.most_backlog_bytes = max(day.most_backlog_bytes, backlog)
        if held + taken + unread > 2 * traffic.mean_rate + 1 and second >= end_s:
            day.longest_s = second - end_s
    day.stored, day.lost, day.waiting = round(stored), round(lost), round(held + taken + unread)
    return day


Table = tuple[tuple[str, ...], Sequence[tuple[str, ...]]]


def needs_table() -> Table:
    """Return the needs of each size."""
    head = ("", *(f"{size / 1e6:,.0f} M a day" for size in TRAFFIC))
    needs = [needs_of(traffic) for traffic in TRAFFIC.values()]
    in_files = [needs_of(replace(traffic, in_files=True)) for traffic in TRAFFIC.values()]
    rows = [
        ("answers a second, mean and busiest hour",
         *(f"{t.mean_rate:,.0f}, {t.burst_rate:,.0f}" for t in TRAFFIC.values())),
        ("cores in the busiest hour", *(f"{need.total_cores:.2f}" for need in needs)),
        *((f"processes: {name}", *(str(need.replicas[name]) for need in needs))
          for name in ("gateway", "extractor", "recorder", "diagnoser")),
        ("memory", *(f"{need.memory_gib:.1f} GiB" for need in needs)),
        ("store, 7 days", *(f"{need.stored_gib:,.0f} GiB" for need in needs)),
        ("store, 7 days, where answers are in files",
         *(f"{need.stored_gib:,.0f} GiB" for need in in_files)),
        ("archive or files, a year", *(f"{need.archived_gib_a_year:,.0f} GiB" for need in needs)),
        ("the store's disk writes", *(f"{need.written_mb_a_second:,.0f} MB/s" for need in needs)),
        ("the same, where answers are in files",
         *(f"{need.written_mb_a_second:,.0f} MB/s" for need in in_files)),
        ("a stream after 30 minutes without recorder",
         *(f"{need.backlog_gib:.2f} GiB" for need in needs)),
    ]  # fmt: skip
    return head, rows


def limits_table() -> Table:
    """Return the answers a day at each limit, the lowest first."""
    disk = "the store's disk"
    limits = [(name, most_answers(name)) for name in load_of(ScaledTraffic(1e6))]
    limits.append((f"{disk}, where answers are in files", most_answers(disk, in_files=True)))
    return ("limit", "passed at"), [(name, f"{most / 1e6:,.1f} M a day") for name, most in limits]


def simulation_table() -> Table:
    """Return the fate of simulated answers."""
    head = ("", "sent", "lost", "held back by senders, at most", "a stream, at most", "gone after")
    rows = []
    for size, traffic in TRAFFIC.items():
        for name, trouble in TROUBLES.items():
            day = simulate(traffic, trouble, np.random.default_rng(SEED))
            backlog_gib = day.most_backlog_bytes / GIB
            rows.append(
                (
                    f"{size / 1e6:,.0f} M a day, {name}", f"{day.sent:,}", f"{day.lost:,}",
                    f"{day.most_refused:,}", f"{backlog_gib:.2f} of {traffic.stream_gib:g} GiB",
                    f"{day.longest_s / 60:.0f} min",
                )
            )  # fmt: skip
    return head, rows


def sampling_table() -> Table:
    """Return the widths of intervals where a share of units is sent."""
    shares = (1.0, 0.5, 0.2, 0.1, 0.02)
    rows = [(f"{share:.0%}", f"{lost_precision(share):.2f} times as wide") for share in shares]
    return ("units sent in", "intervals"), rows


TABLES = {
    "needs": needs_table, "limits": limits_table, "simulation": simulation_table,
    "sampling": sampling_table,
}  # fmt: skip


def with_tables(text: str) -> str:
    """Return the page with every table of the model."""
    for name, table in TABLES.items():
        head, rows = table()
        lines = "".join(f"| {' | '.join(row)} |\n" for row in [head, ("---",) * len(head), *rows])
        pattern = rf"(<!-- {name} -->\n).*?(<!-- end -->)"
        text = re.sub(pattern, rf"\g<1>{lines}\g<2>", text, flags=re.DOTALL)
    return text


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text()))
    sys.stdout.write(f"Wrote the tables of {PAGE.name}.\n")
