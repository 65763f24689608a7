"""Buses, services as processes, and their CPU time and memory, for all benchmarks."""

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from biaswatch.shared.bus.jetstream import Admin, Connection, provision
from biaswatch.shared.store import Store, migrate

HOST = "127.0.0.1"


def provision_bus(url: str) -> None:
    """Create the streams and durables on a bus."""

    async def provisioned() -> None:
        connection = await Connection.open(url, name="bench")
        await provision(Admin(connection))
        await connection.close()

    asyncio.run(provisioned())


async def purge_exchanges(url: str) -> None:
    """Remove the waiting answers of live systems from a bus."""
    connection = await Connection.open(url, name="bench")
    await Admin(connection)._api("STREAM.PURGE.EXCHANGES")  # noqa: SLF001 - no service reads it
    await connection.close()


@contextmanager
def temporary_store() -> Iterator[Store]:
    """Open an empty SQLite store in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="biaswatch-bench-") as folder:
        url = f"sqlite:///{Path(folder) / 'store.db'}"
        migrate(url)
        with Store.open(url) as store:
            yield store


@contextmanager
def running(
    modules: Mapping[str, str],
    environment: Mapping[str, str],
    prefixes: Mapping[str, Sequence[str]] | None = None,
    own: Callable[[str], Mapping[str, str]] = lambda _: {},
) -> Iterator[dict[str, int]]:
    """Run modules as processes while the context lasts; yield their ids by name.

    `prefixes` has words before the command of a process, and `own` returns more of its environment.
    """
    common = {**os.environ, **environment}  # noqa: TID251 - passed on to the processes
    processes = {
        name: subprocess.Popen(
            [*(prefixes or {}).get(name, ()), sys.executable, "-m", module],
            env={**common, **own(name)},
            stdout=subprocess.DEVNULL,
        )
        for name, module in modules.items()
    }
    try:
        yield {name: process.pid for name, process in processes.items()}
    finally:
        for process in processes.values():
            process.terminate()
        for process in processes.values():
            process.wait()


def service_modules(names: Sequence[str]) -> dict[str, str]:
    """Return the modules of services by name."""
    return {name: f"biaswatch.services.{name}.app" for name in names}


def process_cpu_s(pid: int) -> float:
    """Return the CPU time of a process and its children, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    children = [
        int(child)
        for path in Path(f"/proc/{pid}/task").glob("*/children")
        for child in path.read_text().split()
    ]
    own = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return own + sum(map(process_cpu_s, children))


def memory_mib(pid: int | str, field: str = "VmHWM") -> float:
    """Return a memory field of a process: VmHWM is the peak, VmRSS the current resident size."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    [kib] = [int(line.split()[1]) for line in lines if line.startswith(f"{field}:")]
    return kib / 1024


def cpu_seconds(work: Callable[[], object]) -> float:
    """Return the CPU time of some work in this process."""
    start = time.process_time()
    work()
    return time.process_time() - start


def fastest_s(work: Callable[[], object], rounds: int) -> float:
    """Return the least CPU time of some rounds, which other processes hardly disturb."""
    durations = []
    for _ in range(rounds):
        start = time.process_time()
        work()
        durations.append(time.process_time() - start)
    return min(durations)


def wait_until(condition: Callable[[], object], timeout_s: float = 120.0) -> None:
    """Wait until a condition of another process holds."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > deadline:
            raise SystemExit(f"Nothing happened for {timeout_s:g} s.")
        time.sleep(0.1)
