"""CPU a response costs in each stage of the whole pipeline: recorded answers, no models.

Every service is a process of its own; its CPU time is what the system counts for it between the
publication of the run and its diagnosis. The bar is 1 ms a response in all (planner to diagnoser;
the NATS server is printed beside it).
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from shared.bus.jetstream import Admin, Connection, JetStreamPublisher, provision
from shared.bus.server import EmbeddedServer
from shared.contracts import Diagnosis, ExtractorPin, Run, Suite, SuiteProbe, parse_target
from shared.store import Store, migrate

RESPONSES = 5000
SERVICES = ("planner", "generator", "extractor", "recorder", "diagnoser")
SERVER = "(nats-server)"
SETTLED_S = 3.0
"""Imports and first pulls are over by then."""
BAR_MS = 1.0


def study(folder: Path) -> tuple[Suite, Run]:
    """Make a suite and its recorded answers."""
    items = tuple(
        SuiteProbe(
            key=f"p{n}",
            set=f"s{n // 2}",
            groups={"side": "b" if n % 2 else "a"},
            prompt=f"Here is applicant {n}, with some years in the trade. Rate the applicant.",
        )
        for n in range(RESPONSES)
    )
    answers = folder / "answers.jsonl"
    lines = (
        {"key": item.key, "text": f"I read it.\n\nRating: {n % 5}"} for n, item in enumerate(items)
    )
    answers.write_text("\n".join(json.dumps(line) for line in lines))
    suite = Suite(name="bench", extractors=("rating",), probes=items)
    run = Run(
        at=datetime.now(UTC),
        suite=suite.name,
        suite_hash=suite.hash,
        targets=(parse_target(f"replay:{answers}"),),
        extractors=(ExtractorPin(name="rating", version="1"),),
    )
    return suite, run


@contextmanager
def services(folder: Path) -> Iterator[tuple[EmbeddedServer, Store, dict[str, int]]]:
    """Start the server and every service; yield them with their process ids."""
    url = f"sqlite:///{folder / 'store.db'}"
    migrate(url)
    with EmbeddedServer(folder / "nats") as server, Store.open(url) as store:
        environment = {
            **os.environ,  # noqa: TID251 - handed on to the services
            "NATS_URL": server.url,
            "BIASWATCH_STORE_URL": url,
            "BIASWATCH_GENERATOR_RECORDINGS_DIR": str(folder),
            "BIASWATCH_HEALTH_PORT": "0",
            "BIASWATCH_LOG_LEVEL": "ERROR",
        }
        started = [_start(service, environment) for service in SERVICES]
        try:
            pids = {
                service: process.pid for service, process in zip(SERVICES, started, strict=True)
            }
            yield server, store, {**pids, SERVER: server.pid}
        finally:
            for process in started:
                process.terminate()
            for process in started:
                process.wait()


def _start(service: str, environment: dict[str, str]) -> "subprocess.Popen[bytes]":
    return subprocess.Popen([sys.executable, "-m", f"services.{service}.app"], env=environment)


async def cpu_by_service(folder: Path) -> dict[str, float]:
    """Send one run through the services; return the CPU seconds of each."""
    suite, run = study(folder)
    with services(folder) as (server, store, pids):
        connection = await Connection.open(server.url, name="bench")
        await provision(Admin(connection))
        store.suites.keep(suite, datetime.now(UTC))
        await _until(lambda: bool(store.extractors.ever()))
        await asyncio.sleep(SETTLED_S)
        before = {service: _cpu_s(pid) for service, pid in pids.items()}
        await JetStreamPublisher(connection).publish(run)
        await _until(lambda: store.records.count(Diagnosis, run_id=run.id) > 0)
        spent = {service: _cpu_s(pid) - before[service] for service, pid in pids.items()}
        await connection.close()
    return spent


async def _until(there: Callable[[], bool]) -> None:
    while not there():  # noqa: ASYNC110 - another process brings it about
        await asyncio.sleep(0.1)


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> int:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        spent = asyncio.run(cpu_by_service(Path(folder)))
    print(f"CPU a response, {RESPONSES:,} recorded answers through every service:")
    costs = {service: seconds / RESPONSES * 1000 for service, seconds in spent.items()}
    for service, cost_ms in costs.items():
        print(f"  {service:14} {cost_ms:6.3f} ms")
    total = sum(costs[service] for service in SERVICES)
    print(f"  {'in all':14} {total:6.3f} ms   (bar: {BAR_MS:g} ms, without the server)")
    return 0 if total <= BAR_MS else 1


if __name__ == "__main__":
    sys.exit(main())
