"""CPU of an hour of many monitors of 20 comparisons, each with a round an hour.

`python -m benchmarks.monitors 1000` schedules them all at once, with 100 recorded answers a round.
Every service is a process; its CPU time is counted until all rounds are closed, and then for some
seconds without a round. An hour is a round of each monitor and the time between rounds. The bar:
0.7 of two cores.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import combinations
from pathlib import Path

from benchmarks.measuring import memory_mib, process_cpu_s, provision_bus, wait_until
from benchmarks.pipeline import services
from biaswatch.shared.bus.jetstream import Connection, JetStreamPublisher
from biaswatch.shared.contracts import (
    Monitor,
    MonitorPlan,
    Purpose,
    Round,
    Suite,
    SuiteProbe,
    Upkeep,
    WatchedFeature,
    WatchedPair,
    parse_target,
)
from biaswatch.shared.store import Store

GROUPS, SETS = tuple("abcde"), 20
RATING = WatchedFeature(extractor="rating", feature="rating", high=4, tolerance=0.2)
PAIRS = tuple(WatchedPair(dimension="side", a=a, b=b) for a, b in combinations(GROUPS, 2))
HOUR_S = 3600.0
SETTLED_S, IDLE_S = 5.0, 45.0
"""Time for imports and first pulls; three looks at the metrics of monitors."""
BAR_CORES = 2 * 0.7


def watched_suite() -> Suite:
    """Return the questions of every round."""
    probes = tuple(
        SuiteProbe(
            key=f"s{n}-{group}",
            set=f"s{n}",
            groups={"side": group},
            prompt=f"Here is applicant {n} of side {group}. Rate the applicant.",
        )
        for n in range(SETS)
        for group in GROUPS
    )
    return Suite(name="watched", extractors=("rating",), probes=probes)


def record_answers(folder: Path, suite: Suite) -> None:
    """Write the recorded answers of the model."""
    lines = (
        json.dumps({"key": probe.key, "text": f"I read it.\n\nRating: {n * 7 % 5}"})
        for n, probe in enumerate(suite.probes)
    )
    (folder / "answers.jsonl").write_text("\n".join(lines))


def monitors(amount: int, suite: Suite, folder: Path) -> list[Monitor]:
    """Return monitors whose first rounds are due now."""
    target, now = parse_target(f"replay:{folder / 'answers.jsonl'}"), datetime.now(UTC)
    plan = MonitorPlan(
        suite=suite.name,
        suite_hash=suite.hash,
        target=target,
        features=(RATING,),
        comparisons=PAIRS,
    )
    return [
        Monitor(
            purpose=Purpose.MONITOR,
            at=now,
            name=f"monitor-{n:04}",
            moment_ms=int(now.timestamp() * 1000) + n,
            since=now,
            plan=plan,
            upkeep=Upkeep(cadence_s=HOUR_S),
        )
        for n in range(amount)
    ]


async def publish(url: str, records: Sequence[Monitor]) -> None:
    """Publish the definitions of monitors."""
    connection = await Connection.open(url, name="bench")
    for error in await JetStreamPublisher(connection).publish_all(records):
        if error is not None:
            raise error
    await connection.close()


def measured(amount: int, kind: str, folder: Path) -> tuple[float, dict[str, list[float]]]:
    """Run a round of each monitor.

    Return the seconds until all are closed; by service, the CPU seconds for the rounds, the cores
    without a round, and the peak MiB.
    """
    suite = watched_suite()
    record_answers(folder, suite)
    with services(folder, kind) as (url, store, pids):
        provision_bus(url)
        wait_until(store.extractors.ever)
        store.suites.keep(suite, datetime.now(UTC))
        time.sleep(SETTLED_S)
        before = {name: process_cpu_s(pid) for name, pid in pids.items()}
        began = time.monotonic()
        asyncio.run(publish(url, monitors(amount, suite, folder)))
        wait_until(partial(_all_closed, store, amount), HOUR_S)
        took_s = time.monotonic() - began
        closed = {name: process_cpu_s(pid) for name, pid in pids.items()}
        time.sleep(SETTLED_S)
        idle = {name: process_cpu_s(pid) for name, pid in pids.items()}
        time.sleep(IDLE_S)
        costs = {
            name: [
                closed[name] - before[name],
                (process_cpu_s(pid) - idle[name]) / IDLE_S,
                memory_mib(pid),
            ]
            for name, pid in pids.items()
        }
    return took_s, costs


def _all_closed(store: Store, amount: int) -> bool:
    return store.records.count(Round) >= amount


def main() -> int:
    """Measure and print; 1 where the bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("monitors", type=int, nargs="?", default=50)
    parser.add_argument("--database", choices=("sqlite", "postgresql"), default="sqlite")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="biaswatch-monitors-") as folder:
        took_s, costs = measured(options.monitors, options.database, Path(folder))
    comparisons = 2 * len(PAIRS)
    print(
        f"{options.monitors:,} monitors of {comparisons} comparisons, {SETS * len(GROUPS)}"
        f" questions a round: all rounds closed after {took_s:.0f} s"
    )
    print(f"{'':15}{'a round':>10}{'between':>14}{'memory':>10}")
    for name, (rounds_s, cores, mib) in costs.items():
        a_round_ms = rounds_s / options.monitors * 1e3
        print(f"{name:15}{a_round_ms:7.1f} ms{cores:8.3f} cores{mib:6.0f} MiB")
    rounds_s, idle = (sum(cost[n] for cost in costs.values()) for n in (0, 1))
    cores = rounds_s / HOUR_S + idle
    print(f"hourly rounds take {cores:.2f} cores (bar {BAR_CORES:g})")
    return int(cores > BAR_CORES)


if __name__ == "__main__":
    sys.exit(main())
