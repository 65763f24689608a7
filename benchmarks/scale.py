"""Write the tables of docs/scale.md from a model of production traffic and its simulation."""

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
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


PAGE = Path(__file__).parents[1] / "docs" / "scale.md"
SIZES = (1e6, 1e7, 1e8)
SEED = 19
TURNED_ON = {
    1e6: ScaledTraffic(1e6),
    1e7: ScaledTraffic(1e7),
    1e8: ScaledTraffic(1e8, stream_gib=12),
}
"""What each size runs with."""
Table = tuple[tuple[str, ...], Sequence[tuple[str, ...]]]


def needs_table() -> Table:
    """Return what each size takes."""
    head = ("", *(f"{size / 1e6:,.0f} M a day" for size in SIZES))
    found = [needs_of(TURNED_ON[size]) for size in SIZES]
    rows = [
        ("answers a second, mean and busiest hour",
         *(f"{t.mean_rate:,.0f}, {t.burst_rate:,.0f}" for t in TURNED_ON.values())),
        ("cores in the busiest hour", *(f"{each.total_cores:.2f}" for each in found)),
        *((f"processes: {name}", *(str(each.replicas[name]) for each in found))
          for name in ("gateway", "extractor", "recorder", "diagnoser")),
        ("memory", *(f"{each.memory_gib:.1f} GiB" for each in found)),
        ("store, 7 days", *(f"{each.stored_gib:,.0f} GiB" for each in found)),
        ("store, 7 days, where answers are in files",
         *(f"{needs_of(replace(t, in_files=True)).stored_gib:,.0f} GiB"
           for t in TURNED_ON.values())),
        ("archive or files, a year", *(f"{each.archived_gib_a_year:,.0f} GiB" for each in found)),
        ("the store's disk writes",
         *(f"{each.written_mb_a_second:,.0f} MB/s" for each in found)),
        ("the same, where answers are in files",
         *(f"{needs_of(replace(t, in_files=True)).written_mb_a_second:,.0f} MB/s"
           for t in TURNED_ON.values())),
        ("a stream after 30 minutes without recorder",
         *(f"{each.backlog_gib:.2f} GiB" for each in found)),
    ]  # fmt: skip
    return head, rows


def limits_table() -> Table:
    """Return at how many answers a day each limit is passed, the first one first."""
    names = load_of(ScaledTraffic(1e6))
    rows = [(name, f"{most_answers(name) / 1e6:,.1f} M a day") for name in names]
    disk = "the store's disk"
    most = most_answers(disk, in_files=True) / 1e6
    rows.append((f"{disk}, where answers are in files", f"{most:,.1f} M a day"))
    return ("limit", "passed at"), rows


def simulation_table() -> Table:
    """Return what became of simulated answers."""
    head = ("", "sent", "lost", "held back by senders, at most", "a stream, at most", "gone after")
    rows = []
    for size, traffic in TURNED_ON.items():
        for name, trouble in TROUBLES.items():
            day = simulate(traffic, trouble, np.random.default_rng(SEED))
            rows.append(
                (
                    f"{size / 1e6:,.0f} M a day, {name}", f"{day.sent:,}", f"{day.lost:,}",
                    f"{day.most_refused:,}",
                    f"{day.most_backlog_bytes / GIB:.2f} of {traffic.stream_gib:g} GiB",
                    f"{day.longest_s / 60:.0f} min",
                )
            )  # fmt: skip
    return head, rows


def sampling_table() -> Table:
    """Return what a sample of units costs in precision."""
    shares = (1.0, 0.5, 0.2, 0.1, 0.02)
    rows = [(f"{share:.0%}", f"{lost_precision(share):.2f} times as wide") for share in shares]
    return ("units sent in", "intervals"), rows


TABLES = {
    "needs": needs_table, "limits": limits_table, "simulation": simulation_table,
    "sampling": sampling_table,
}  # fmt: skip


def with_tables(text: str) -> str:
    """Return the page with every table as the model has it now."""
    for name, table in TABLES.items():
        text = _with_table(text, name, _written(*table()))
    return text


def _with_table(text: str, name: str, written: str) -> str:
    pattern = rf"(<!-- {name} -->\n).*?(<!-- end -->)"
    return re.sub(pattern, lambda found: found[1] + written + found[2], text, flags=re.S)


def _written(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text()))
    sys.stdout.write(f"Wrote the tables of {PAGE.name}.\n")
