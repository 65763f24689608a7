"""CPU cost of a response in each stage of the pipeline, with recorded answers in place of models.

Every service is a process; its CPU time is counted between the publication of a run and its
diagnosis. Calls to models (limits, tries, budgets) are not included. A small run comes first, so
that imports, first statements and the reading of recordings are not counted. Three runs follow,
because other processes make caches cold. The bars: 500 us a response in the cheapest run, from
planner to diagnoser (bus and database are printed beside it), and with `--growth` 1.2 times the
mean of the three at 200,000.

    python -m benchmarks.pipeline --database postgresql --responses 200000
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from statistics import fmean

from benchmarks.measuring import (
    memory_mib,
    process_cpu_s,
    provision_bus,
    running,
    service_modules,
    wait_until,
)
from benchmarks.store_writes import server_of
from biaswatch.services.extractor.extractors import rating
from biaswatch.shared.bus.jetstream import Connection, JetStreamPublisher
from biaswatch.shared.bus.server import EmbeddedServer
from biaswatch.shared.contracts import Diagnosis, ExtractorPin, Run, Suite, SuiteProbe, parse_target
from biaswatch.shared.store import Store, migrate

RESPONSES, MANY, WARM = 5000, 200_000, 500
TIMES = 3
SERVICES = ("planner", "generator", "extractor", "recorder", "diagnoser")
BUS, DATABASE = "(nats-server)", "(postgres)"
SETTLED_S = 3.0
"""Long enough for imports and first pulls."""
BAR_US, BAR_GROWTH = 500.0, 1.2


def study(folder: Path, responses: int, first: int = 0) -> tuple[Suite, Run]:
    """Make a suite and its run."""
    items = tuple(
        SuiteProbe(
            key=f"p{n}",
            set=f"s{n // 2}",
            groups={"side": "b" if n % 2 else "a"},
            prompt=f"Here is applicant {n}, with some years in the trade. Rate the applicant.",
        )
        for n in range(first, first + responses)
    )
    suite = Suite(name="bench", extractors=("rating",), probes=items)
    run = Run(
        at=datetime.now(UTC),
        suite=suite.name,
        suite_hash=suite.hash,
        targets=(parse_target(f"replay:{folder / 'answers.jsonl'}"),),
        extractors=(ExtractorPin(name="rating", version=rating.EXTRACTORS["rating"].version),),
        ids_in_order=True,
    )
    return suite, run


def record_answers(folder: Path, answers: int) -> None:
    """Write the recorded answers of the model."""
    lines = ({"key": f"p{n}", "text": f"I read it.\n\nRating: {n % 5}"} for n in range(answers))
    (folder / "answers.jsonl").write_text("\n".join(json.dumps(line) for line in lines))


@contextmanager
def services(folder: Path, kind: str) -> Iterator[tuple[str, Store, dict[str, int]]]:
    """Start the servers and every service; yield the bus, the store and the process ids."""
    with server_of(kind, folder) as (url, database_pid), EmbeddedServer(folder / "nats") as server:
        migrate(url)
        settings = {
            "NATS_URL": server.url,
            "BIASWATCH_STORE_URL": url,
            "BIASWATCH_GENERATOR_RECORDINGS_DIR": str(folder),
            "BIASWATCH_HEALTH_PORT": "0",
            "BIASWATCH_LOG_LEVEL": "ERROR",
        }
        servers = {BUS: server.pid} | ({DATABASE: database_pid} if database_pid else {})
        with running(service_modules(SERVICES), settings) as pids, Store.open(url) as store:
            yield server.url, store, {**pids, **servers}


def cpu_by_service(
    folder: Path, responses: Sequence[int], kind: str
) -> list[tuple[dict[str, float], dict[str, float]]]:
    """Send runs through the services; return CPU seconds and peak MiB of each service, by run.

    The generator's memory includes the recorded answers.
    """
    record_answers(folder, WARM + sum(responses))
    costs, first = [], 0
    with services(folder, kind) as (url, store, pids):
        provision_bus(url)
        wait_until(store.extractors.ever)
        time.sleep(SETTLED_S)
        for amount in (WARM, *responses):
            suite, run = study(folder, amount, first)
            store.suites.keep(suite, datetime.now(UTC))
            before = {name: process_cpu_s(pid) for name, pid in pids.items()}
            asyncio.run(publish(url, run))
            wait_until(partial(store.records.count, Diagnosis, run_id=run.id), 3600)
            spent = {name: process_cpu_s(pid) - before[name] for name, pid in pids.items()}
            costs.append((spent, {name: memory_mib(pid) for name, pid in pids.items()}))
            first += amount
    return costs[1:]


async def publish(url: str, run: Run) -> None:
    """Publish a run."""
    connection = await Connection.open(url, name="bench")
    await JetStreamPublisher(connection).publish(run)
    await connection.close()


def show(responses: int, spent: dict[str, float], most_mib: dict[str, float]) -> float:
    """Print the cost of a response; return the sum of the services, in microseconds."""
    print(f"CPU a response, {responses:,} recorded answers through every service:")
    costs = {service: seconds / responses * 1e6 for service, seconds in spent.items()}
    for service, cost_us in costs.items():
        print(f"  {service:14} {cost_us:6.0f} us   {most_mib[service]:5.0f} MiB at most")
    total = sum(costs[service] for service in SERVICES)
    print(f"  {'total':14} {total:6.0f} us   (without the servers)")
    return total


def main() -> int:
    """Measure and print; 1 where a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--responses", type=int, default=RESPONSES)
    parser.add_argument("--database", choices=("sqlite", "postgresql"), default="sqlite")
    parser.add_argument("--growth", action="store_true", help=f"a run of {MANY:,} after the first")
    options = parser.parse_args()
    responses = [options.responses] * TIMES + [MANY] * options.growth
    with tempfile.TemporaryDirectory() as folder:
        spent = cpu_by_service(Path(folder), responses, options.database)
    totals = [show(amount, *costs) for amount, costs in zip(responses, spent, strict=True)]
    least, growth = min(totals[:TIMES]), totals[-1] / fmean(totals[:TIMES])
    print(f"{least:.0f} us a response in the cheapest of {TIMES} runs   (bar: {BAR_US:g})")
    if options.growth:
        print(f"{growth:.2f} times their mean at {MANY:,}   (bar: {BAR_GROWTH:g})")
    return int(least > BAR_US or (options.growth and growth > BAR_GROWTH))


if __name__ == "__main__":
    sys.exit(main())
