"""CPU a response costs in each stage of the whole pipeline: recorded answers, no models.

Every service is a process of its own; its CPU time is what the system counts for it between the
publication of a run and its diagnosis. What is recorded is looked up: what calls a model (limits,
tries, budgets) is not in it. A small run goes before, so that imports, first statements and the
reading of the recorded answers, which stand for the models, are not counted. Three runs follow, as
what else works on the machine makes caches cold. The bars are 500 us a response in the cheapest
(planner to diagnoser; the servers of bus and database are printed beside it), and with `--growth`
1.2 times the mean of the three at 200,000.

    python -m benchmarks.pipeline --database postgresql --responses 200000
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean

from benchmarks.store_writes import server_of
from biaswatch.shared.bus.jetstream import Admin, Connection, JetStreamPublisher, provision
from biaswatch.shared.bus.server import EmbeddedServer
from biaswatch.shared.contracts import Diagnosis, ExtractorPin, Run, Suite, SuiteProbe, parse_target
from biaswatch.shared.store import Store, migrate

RESPONSES, MANY, WARM = 5000, 200_000, 500
TIMES = 3
SERVICES = ("planner", "generator", "extractor", "recorder", "diagnoser")
BUS, DATABASE = "(nats-server)", "(postgres)"
SETTLED_S = 3.0
"""Imports and first pulls are over by then."""
BAR_US, BAR_GROWTH = 500.0, 1.2


def study(folder: Path, responses: int, first: int = 0) -> tuple[Suite, Run]:
    """Make a suite, the recorded answers of all of them, and its run."""
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
        extractors=(ExtractorPin(name="rating", version="2"),),
        ids_in_order=True,
    )
    return suite, run


def record_answers(folder: Path, answers: int) -> None:
    """Write the answers that stand for a model."""
    lines = ({"key": f"p{n}", "text": f"I read it.\n\nRating: {n % 5}"} for n in range(answers))
    (folder / "answers.jsonl").write_text("\n".join(json.dumps(line) for line in lines))


@contextmanager
def services(folder: Path, kind: str) -> Iterator[tuple[str, Store, dict[str, int]]]:
    """Start the servers and every service; yield the bus, the store and the process ids."""
    with server_of(kind, folder) as (url, database_pid), EmbeddedServer(folder / "nats") as server:
        migrate(url)
        environment = {
            **os.environ,  # noqa: TID251 - handed on to the services
            "NATS_URL": server.url,
            "BIASWATCH_STORE_URL": url,
            "BIASWATCH_GENERATOR_RECORDINGS_DIR": str(folder),
            "BIASWATCH_HEALTH_PORT": "0",
            "BIASWATCH_LOG_LEVEL": "ERROR",
        }
        started = [_start(service, environment) for service in SERVICES]
        pids = {service: process.pid for service, process in zip(SERVICES, started, strict=True)}
        pids[BUS] = server.pid
        if database_pid is not None:
            pids[DATABASE] = database_pid
        try:
            with Store.open(url) as store:
                yield server.url, store, pids
        finally:
            for process in started:
                process.terminate()
            for process in started:
                process.wait()


def _start(service: str, environment: dict[str, str]) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", f"biaswatch.services.{service}.app"]
    return subprocess.Popen(command, env=environment)


async def cpu_by_service(
    folder: Path, responses: Sequence[int], kind: str
) -> list[tuple[dict[str, float], dict[str, float]]]:
    """Send runs through the services; return, for each, the CPU seconds of each service, and MiB.

    The generator's memory holds the recorded answers.
    """
    record_answers(folder, WARM + sum(responses))
    found, first = [], 0
    with services(folder, kind) as (url, store, pids):
        connection = await Connection.open(url, name="bench")
        await provision(Admin(connection))
        publisher = JetStreamPublisher(connection)
        await _until(lambda: bool(store.extractors.ever()))
        await asyncio.sleep(SETTLED_S)
        for amount in (WARM, *responses):
            suite, run = study(folder, amount, first)
            store.suites.keep(suite, datetime.now(UTC))
            before = {service: cpu_s(pid) for service, pid in pids.items()}
            await publisher.publish(run)
            await _until(lambda run=run: store.records.count(Diagnosis, run_id=run.id) > 0)  # type: ignore[misc]
            spent = {service: cpu_s(pid) - before[service] for service, pid in pids.items()}
            found.append((spent, {service: _most_mib(pid) for service, pid in pids.items()}))
            first += amount
        await connection.close()
    return found[1:]


async def _until(there: Callable[[], bool]) -> None:
    while not there():  # noqa: ASYNC110 - another process brings it about
        await asyncio.sleep(0.1)


def cpu_s(pid: int) -> float:
    """Return the CPU time of a process; of a database's server, of its children as well."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    own = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return own + sum(cpu_s(child) for child in _children(pid))


def _most_mib(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def _children(pid: int) -> list[int]:
    paths = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for path in paths for child in path.read_text().split()]


def show(responses: int, spent: dict[str, float], most_mib: dict[str, float]) -> float:
    """Print what a response costs; return the sum of the services, in microseconds."""
    print(f"CPU a response, {responses:,} recorded answers through every service:")
    costs = {service: seconds / responses * 1e6 for service, seconds in spent.items()}
    for service, cost_us in costs.items():
        print(f"  {service:14} {cost_us:6.0f} us   {most_mib[service]:5.0f} MiB at most")
    total = sum(costs[service] for service in SERVICES)
    print(f"  {'in all':14} {total:6.0f} us   (without the servers)")
    return total


def main() -> int:
    """Measure and print; 1 where a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--responses", type=int, default=RESPONSES)
    parser.add_argument("--database", choices=("sqlite", "postgresql"), default="sqlite")
    parser.add_argument("--growth", action="store_true", help=f"a run of {MANY:,} after the first")
    given = parser.parse_args()
    responses = [given.responses] * TIMES + [MANY] * given.growth
    with tempfile.TemporaryDirectory() as folder:
        spent = asyncio.run(cpu_by_service(Path(folder), responses, given.database))
    totals = [show(amount, *each) for amount, each in zip(responses, spent, strict=True)]
    least, growth = min(totals[:TIMES]), totals[-1] / fmean(totals[:TIMES])
    print(f"{least:.0f} us a response in the cheapest of {TIMES} runs   (bar: {BAR_US:g})")
    if given.growth:
        print(f"{growth:.2f} times their mean at {MANY:,}   (bar: {BAR_GROWTH:g})")
    return int(least > BAR_US or (given.growth and growth > BAR_GROWTH))


if __name__ == "__main__":
    sys.exit(main())
