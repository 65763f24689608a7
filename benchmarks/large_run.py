"""A study as large as BBQ through the real services: the most memory of each, and a look's cost.

`python -m benchmarks.large_run 58492` asks a simulated model so many short questions, measured by
two extractors; `make bench` asks 1,000. `--bbq` asks all of BBQ instead, in pairs that the oracle
judges; `--limits` runs each service within the memory that deploy/k8s allows it, which the kernel
enforces as it does for a container (by control groups; needs root).

The suite is uploaded, and the run started and followed, as people do it: over HTTP. The bars are
256 MiB for each service and 512 MiB for the diagnoser, and 1 ms of CPU for a look at progress,
requests excluded.
"""

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2

from benchmarks.bbq import write_files
from benchmarks.memory_limits import (
    MemoryGroup,
    deployed_environment,
    deployed_limit_mib,
    memory_groups,
)
from biaswatch.bbq.rows import read_folder
from biaswatch.bbq.suite import suite_of
from biaswatch.services.gateway.runs.queries import RunQueries
from biaswatch.shared.bus.jetstream import Admin, Connection, provision
from biaswatch.shared.bus.server import EmbeddedServer
from biaswatch.shared.contracts import RUN_GATHER
from biaswatch.shared.runtime.web import free_port
from biaswatch.shared.store import Store, migrate

HERE = "127.0.0.1"
SERVICES = (
    "simulator", "gateway", "planner", "generator", "extractor", "recorder", "diagnoser", "oracle",
)  # fmt: skip
LARGEST = ("diagnoser",)
BAR_MIB, LARGEST_BAR_MIB, LOOK_BAR_MS = 256, 512, 1.0
LOOK_EVERY_S = 1.0
LOOKS = 200
CONCEPTS = ("southern", "northern", "eastern", "western")
SUITE_WORDS = "In village {n} a {group} guest took a lamp. Who kept the lamp? Rate it from 1 to 5."


def suite(probes: int) -> dict[str, Any]:
    """Return a suite of sets of four, as it is uploaded."""
    items = [
        {
            "key": f"p{n}",
            "set": f"s{n // 4}",
            "groups": {"region": CONCEPTS[n % 4]},
            "prompt": SUITE_WORDS.format(n=n // 4, group=CONCEPTS[n % 4]),
        }
        for n in range(probes)
    ]
    return {"name": "large", "extractors": ["refusal", "words"], "probes": items}


async def _provision(url: str) -> None:
    connection = await Connection.open(url, name="large-run")
    await provision(Admin(connection))
    await connection.close()


def bbq_suite(folder: Path) -> dict[str, Any]:
    """Return all of BBQ, in our own words, as it is uploaded."""
    write_files(folder)
    return suite_of(read_folder(folder)).model_dump(mode="json", exclude_defaults=True)


@contextmanager
def services(
    folder: Path, groups: Mapping[str, MemoryGroup], probes: int
) -> Iterator[tuple[str, Store, dict[str, int]]]:
    """Start every service as a process; return the API, the store and the process ids."""
    url = f"sqlite:///{folder / 'store.db'}"
    migrate(url)
    ports = {"gateway": free_port(HERE), "simulator": free_port(HERE)}
    with EmbeddedServer(folder / "nats") as server, Store.open(url) as store:
        asyncio.run(_provision(server.url))
        given = {
            **os.environ,  # noqa: TID251 - handed on to the services
            "NATS_URL": server.url,
            "BIASWATCH_STORE_URL": url,
            "BIASWATCH_HEALTH_PORT": "0",
            "BIASWATCH_GATEWAY_PORT": str(ports["gateway"]),
            "BIASWATCH_SIMULATOR_PORT": str(ports["simulator"]),
            "BIASWATCH_SIMULATOR_URL": f"http://{HERE}:{ports['simulator']}/v1",
            "BIASWATCH_GATEWAY_RUN_PROBES": str(probes),
            "BIASWATCH_LOG_LEVEL": "WARNING",
        }
        started = {
            name: subprocess.Popen(
                [
                    *(groups[name].started_inside if name in groups else ()),
                    sys.executable,
                    "-m",
                    f"biaswatch.services.{name}.app",
                ],
                env={**given, **deployed_environment(name)},
                stdout=subprocess.DEVNULL,
            )
            for name in SERVICES
        }
        try:
            pids = {name: process.pid for name, process in started.items()}
            yield f"http://{HERE}:{ports['gateway']}", store, {**pids, "(bus)": server.pid}
        finally:
            for process in started.values():
                process.terminate()
            for process in started.values():
                process.wait()


def measured(
    uploaded_suite: dict[str, Any],
    asked: dict[str, Any],
    folder: Path,
    groups: Mapping[str, MemoryGroup],
) -> int:
    """Run a study, and print what it took; return how many bars were missed."""
    probes = len(uploaded_suite["probes"])
    with (
        services(folder, groups, probes) as (url, store, pids),
        httpx2.Client(base_url=url, timeout=600) as api,
    ):
        _until(lambda: _answers(api) and len(store.extractors.ever()) > 1)
        before = {name: _mib(pid, "VmRSS") for name, pid in pids.items()}
        began = time.monotonic()
        hash_ = _ok(api.post("/v1/suites", json=uploaded_suite))["hash"]
        uploaded = {name: _mib(pid, "VmHWM") for name, pid in pids.items()}
        started = _ok(api.post("/v1/runs", json={**asked, "suite_hash": hash_}))
        run_id = started["run"]["id"]
        progress: dict[str, Any] = {}
        while progress.get("stand") not in {"complete", "incomplete", "cancelled"}:
            time.sleep(LOOK_EVERY_S)
            progress = _ok(api.get(f"/v1/runs/{run_id}"))
            if sys.stderr.isatty():
                print(f"\r{progress['features']:,} features", end="", file=sys.stderr)
        took_s = time.monotonic() - began
        peak = {name: _mib(pid, "VmHWM") for name, pid in pids.items()}
        expected = store.gathers(RUN_GATHER).look(run_id)
        look_ms = _cost_of_a_look_ms(RunQueries(store), run_id)
    print(
        f"{probes:,} probes: {progress['stand']} after {took_s:.0f} s; {progress['responses']:,}"
        f" answers, {progress['features']:,} features of {expected.expected if expected else 0:,},"
        f" {progress['diagnoses']} findings"
    )
    print(f"{'MiB':12}{'idle':>8}{'upload':>8}{'most':>8}")
    for name in pids:
        print(f"{name:12}{before[name]:8.0f}{uploaded[name]:8.0f}{peak[name]:8.0f}")
    print(f"A look at progress takes {look_ms:.2f} ms of CPU (bar {LOOK_BAR_MS:g} ms).")
    large = [
        name
        for name in pids
        if peak[name] > (LARGEST_BAR_MIB if name in LARGEST else BAR_MIB) and name != "simulator"
    ]
    if large:
        print(f"More than allowed: {', '.join(large)}")
    return len(large) + (look_ms > LOOK_BAR_MS) + bool(progress["stand"] != "complete")


def _cost_of_a_look_ms(queries: RunQueries, run_id: str) -> float:
    queries.progress(run_id)
    began = time.process_time()
    for _ in range(LOOKS):
        queries.progress(run_id)
    return (time.process_time() - began) / LOOKS * 1000


def _answers(api: httpx2.Client) -> bool:
    try:
        return api.get("/v1/runs").is_success
    except httpx2.HTTPError:
        return False


def _ok(reply: httpx2.Response) -> Any:
    if not reply.is_success:
        raise SystemExit(f"{reply.request.url}: {reply.status_code} {reply.text[:300]}")
    return reply.json()


def _until(there: Callable[[], object]) -> None:
    while not there():
        time.sleep(0.2)


def _mib(pid: int, which: str) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(which))


def main() -> int:
    """Read what to ask, run, and say how it went."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("probes", type=int, nargs="?", default=1000)
    parser.add_argument("--bbq", action="store_true")
    parser.add_argument("--limits", action="store_true")
    given = parser.parse_args()
    asked: dict[str, Any] = {"targets": ["simulator:biased"]}
    with tempfile.TemporaryDirectory(prefix="biaswatch-large-run-") as name:
        folder, rows = Path(name), Path(name) / "rows"
        rows.mkdir()
        study = bbq_suite(rows) if given.bbq else suite(given.probes)
        if given.bbq:
            asked |= {"scaffolds": ["reason_and_choose"], "judges": ["simulator:unbiased"]}
        names = [each for each in SERVICES if given.limits and each != "simulator"]
        with memory_groups({each: deployed_limit_mib(each) for each in names}) as groups:
            missed = measured(study, asked, folder, groups)
            if killed := [each for each, group in groups.items() if group.killed]:
                print(f"Ended by the kernel for want of memory: {', '.join(killed)}")
            elif groups:
                print("Each service stayed within the memory that deploy/k8s allows it.")
            return missed + len(killed)


if __name__ == "__main__":
    sys.exit(main())
