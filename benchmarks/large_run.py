"""Peak memory of each service during a study as large as BBQ, and the cost of reading progress.

`python -m benchmarks.large_run 58492` asks a simulated model 58,492 short questions, measured by
two extractors; `make bench` asks 1,000. `--bbq` asks all of BBQ instead, in pairs that the oracle
judges. `--limits` runs each service within the memory limits of deploy/k8s, which the kernel
enforces as for a container (by control groups; needs root).

The suite is uploaded and the run started and followed over HTTP. The bars: 256 MiB for each
service, 512 MiB for the diagnoser, and 1 ms of CPU to read the progress, without the request.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2

from benchmarks.bbq import write_files
from benchmarks.measuring import (
    HOST,
    memory_mib,
    provision_bus,
    running,
    service_modules,
    wait_until,
)
from benchmarks.memory_limits import (
    MemoryGroup,
    deployed_environment,
    deployed_limit_mib,
    memory_groups,
)
from biaswatch.bbq.rows import read_folder
from biaswatch.bbq.suite import suite_of
from biaswatch.services.gateway.runs.queries import RunQueries
from biaswatch.shared.bus.server import EmbeddedServer
from biaswatch.shared.contracts import RUN_GATHER
from biaswatch.shared.runtime.web import free_port
from biaswatch.shared.store import Store, migrate

SERVICES = (
    "simulator", "gateway", "planner", "generator", "extractor", "recorder", "diagnoser", "oracle",
)  # fmt: skip
LARGEST = ("diagnoser",)
BAR_MIB, DIAGNOSER_BAR_MIB, PROGRESS_BAR_MS = 256, 512, 1.0
POLL_S = 1.0
REPEATS = 200
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
    ports = {"gateway": free_port(HOST), "simulator": free_port(HOST)}
    with EmbeddedServer(folder / "nats") as server, Store.open(url) as store:
        provision_bus(server.url)
        settings = {
            "NATS_URL": server.url,
            "BIASWATCH_STORE_URL": url,
            "BIASWATCH_HEALTH_PORT": "0",
            "BIASWATCH_GATEWAY_PORT": str(ports["gateway"]),
            "BIASWATCH_SIMULATOR_PORT": str(ports["simulator"]),
            "BIASWATCH_SIMULATOR_URL": f"http://{HOST}:{ports['simulator']}/v1",
            "BIASWATCH_GATEWAY_RUN_PROBES": str(probes),
            "BIASWATCH_LOG_LEVEL": "WARNING",
        }
        prefixes = {name: group.command_prefix for name, group in groups.items()}
        modules = service_modules(SERVICES)
        with running(modules, settings, prefixes, deployed_environment) as pids:
            yield f"http://{HOST}:{ports['gateway']}", store, {**pids, "(bus)": server.pid}


def measured(
    uploaded_suite: dict[str, Any],
    request: dict[str, Any],
    folder: Path,
    groups: Mapping[str, MemoryGroup],
) -> int:
    """Run a study, print its costs, and return the number of missed bars."""
    probes = len(uploaded_suite["probes"])
    with (
        services(folder, groups, probes) as (url, store, pids),
        httpx2.Client(base_url=url, timeout=600) as api,
    ):
        wait_until(lambda: _responds(api) and len(store.extractors.ever()) > 1)
        before = {name: memory_mib(pid, "VmRSS") for name, pid in pids.items()}
        start = time.monotonic()
        hash_ = _ok(api.post("/v1/suites", json=uploaded_suite))["hash"]
        uploaded = {name: memory_mib(pid) for name, pid in pids.items()}
        started = _ok(api.post("/v1/runs", json={**request, "suite_hash": hash_}))
        run_id = started["run"]["id"]
        progress: dict[str, Any] = {}
        while progress.get("state") not in {"complete", "incomplete", "cancelled"}:
            time.sleep(POLL_S)
            progress = _ok(api.get(f"/v1/runs/{run_id}"))
            if sys.stderr.isatty():
                print(f"\r{progress['features']:,} features", end="", file=sys.stderr)
        duration_s = time.monotonic() - start
        peak = {name: memory_mib(pid) for name, pid in pids.items()}
        expected = store.gathers(RUN_GATHER).state(run_id)
        progress_ms = _progress_ms(RunQueries(store), run_id)
    print(
        f"{probes:,} probes: {progress['state']} after {duration_s:.0f} s;"
        f" {progress['responses']:,} answers, {progress['features']:,} features"
        f" of {expected.expected if expected else 0:,}, {progress['diagnoses']} findings"
    )
    print(f"{'MiB':12}{'idle':>8}{'upload':>8}{'peak':>8}")
    for name in pids:
        print(f"{name:12}{before[name]:8.0f}{uploaded[name]:8.0f}{peak[name]:8.0f}")
    print(f"Reading the progress takes {progress_ms:.2f} ms of CPU (bar {PROGRESS_BAR_MS:g} ms).")
    large = [
        name
        for name in pids
        if peak[name] > (DIAGNOSER_BAR_MIB if name in LARGEST else BAR_MIB) and name != "simulator"
    ]
    if large:
        print(f"Over the bar: {', '.join(large)}")
    return len(large) + (progress_ms > PROGRESS_BAR_MS) + bool(progress["state"] != "complete")


def _progress_ms(queries: RunQueries, run_id: str) -> float:
    queries.progress(run_id)
    start = time.process_time()
    for _ in range(REPEATS):
        queries.progress(run_id)
    return (time.process_time() - start) / REPEATS * 1000


def _responds(api: httpx2.Client) -> bool:
    try:
        return api.get("/v1/runs").is_success
    except httpx2.HTTPError:
        return False


def _ok(reply: httpx2.Response) -> Any:
    if not reply.is_success:
        raise SystemExit(f"{reply.request.url}: {reply.status_code} {reply.text[:300]}")
    return reply.json()


def main() -> int:
    """Run the chosen study; return the number of missed bars."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("probes", type=int, nargs="?", default=1000)
    parser.add_argument("--bbq", action="store_true")
    parser.add_argument("--limits", action="store_true")
    options = parser.parse_args()
    request: dict[str, Any] = {"targets": ["simulator:biased"]}
    with tempfile.TemporaryDirectory(prefix="biaswatch-large-run-") as path:
        folder, rows = Path(path), Path(path) / "rows"
        rows.mkdir()
        study = bbq_suite(rows) if options.bbq else suite(options.probes)
        if options.bbq:
            request |= {"scaffolds": ["reason_and_choose"], "judges": ["simulator:unbiased"]}
        names = [name for name in SERVICES if options.limits and name != "simulator"]
        with memory_groups({name: deployed_limit_mib(name) for name in names}) as groups:
            missed = measured(study, request, folder, groups)
            if killed := [name for name, group in groups.items() if group.killed]:
                print(f"Killed by the kernel for lack of memory: {', '.join(killed)}")
            elif groups:
                print("Each service stayed within the memory limit of deploy/k8s.")
            return missed + len(killed)


if __name__ == "__main__":
    sys.exit(main())
