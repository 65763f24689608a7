"""All of BBQ through the platform in containers, each within its memory limit of deploy/k8s.

`python -m benchmarks.large_run_in_containers` builds the images, starts docker-compose.yml with the
limits of the manifests, uploads all of BBQ in our own words, has a simulated model answer in pairs
that the oracle judges, and follows the run over HTTP. It needs a container engine. The kernel must
kill no container, and none may restart.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml

from benchmarks.large_run import POLL_S, bbq_suite, suite
from benchmarks.measuring import memory_mib
from benchmarks.memory_limits import deployed_environment, deployed_limit_mib, mib_of
from tests.support.containers import (
    ROOT,
    ContainerPlatform,
    build_images,
    platform_in_containers,
    until,
    why_no_engine,
)
from tests.support.manifests import SERVICES

SERVERS = ("nats", "postgres")
COMPONENTS = ROOT / "deploy" / "k8s" / "components"
PART = 1000
ENDED = {"complete", "incomplete", "cancelled"}
STARTED_S = 120.0


def limits_mib() -> dict[str, int]:
    """Return the memory limits of services and servers in deploy/k8s."""
    servers = {name: _limit_of_server_mib(COMPONENTS / name / f"{name}.yaml") for name in SERVERS}
    return {name: deployed_limit_mib(name) for name in SERVICES} | servers


def _limit_of_server_mib(manifest: Path) -> int:
    for document in yaml.safe_load_all(manifest.read_text()):
        if document["kind"] == "StatefulSet":
            limit = document["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"]
            return mib_of(limit["memory"])
    raise SystemExit(f"{manifest} holds no StatefulSet.")


def as_deployed(composed: Mapping[str, Any], allowed_mib: Mapping[str, int]) -> dict[str, Any]:
    """Return an overlay of docker-compose.yml: limits without swap, and settings of pods."""
    return {
        name: {
            "mem_limit": f"{allowed_mib[name]}m",
            "memswap_limit": f"{allowed_mib[name]}m",
            "environment": deployed_environment(name),
        }
        for name in composed
        if name in allowed_mib
    }


def write_limits(path: Path, allowed_mib: Mapping[str, int]) -> dict[str, int]:
    """Write the overlay for compose; return the limits of the services there."""
    composed = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    services = as_deployed(composed["services"], allowed_mib)
    path.write_text(yaml.safe_dump({"services": services}))
    return {name: mib for name, mib in allowed_mib.items() if name in services}


def study_in(
    platform: ContainerPlatform, uploaded: dict[str, Any], request: dict[str, Any]
) -> dict[str, Any]:
    """Run a study over HTTP; return its progress at the end."""
    platform.http.timeout = 600
    hash_ = platform.ask("POST", "/v1/suites", uploaded)["hash"]
    started = until(_start(platform, {**request, "suite_hash": hash_}), STARTED_S)
    while True:
        time.sleep(POLL_S)
        progress: dict[str, Any] = platform.ask("GET", f"/v1/runs/{started['run']['id']}")
        if sys.stderr.isatty():
            print(f"\r{progress['features']:,} features", end="", file=sys.stderr)
        if progress["state"] in ENDED:
            return progress


def _start(platform: ContainerPlatform, request: dict[str, Any]) -> Callable[[], Any]:
    """Return a call that starts the run; it fails until the extractors are announced."""
    return lambda: platform.ask("POST", "/v1/runs", request)


def shown(platform: ContainerPlatform, allowed_mib: Mapping[str, int]) -> int:
    """Print the peak memory of each; return how many are missing, were killed or restarted."""
    missed = 0
    print(f"{'MiB':12}{'resident':>10}{'allowed':>10}")
    for name, mib in allowed_mib.items():
        if not (running := platform.containers(name)):
            print(f"{name:12}   does not run")
            missed += 1
        for container in running:
            state = platform.inspect(container)
            enforced = state["HostConfig"]["Memory"] // 2**20
            restarts, killed = state["RestartCount"], state["State"]["OOMKilled"]
            missed += bool(restarts) + bool(killed) + (enforced != mib)
            note = f"   {restarts} restarts" * bool(restarts) + "   killed" * bool(killed)
            most = f"{most_mib(state['State']['Pid']):.0f}"
            print(f"{name:12}{most:>10}{enforced:>10}{note}")
    return missed


def most_mib(pid: int) -> float:
    """Return the peak memory of a container's process or of one of its children."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return max([memory_mib(pid), *(most_mib(int(child)) for child in children)])


def main() -> int:
    """Build and run; 1 where a service was killed or the run is incomplete."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", action="store_true", help=f"{PART:,} questions, not all of BBQ")
    options = parser.parse_args()
    if missing := why_no_engine():
        raise SystemExit(f"Containers need an engine: {missing}.")
    build_images()
    request: dict[str, Any] = {"targets": ["simulator:biased"]}
    with tempfile.TemporaryDirectory(prefix="biaswatch-containers-") as name:
        folder, allowed = Path(name), limits_mib()
        (rows := folder / "rows").mkdir()
        study = suite(PART) if options.part else bbq_suite(rows)
        if not options.part:
            request |= {"scaffolds": ["reason_and_choose"], "judges": ["simulator:unbiased"]}
        allowed = write_limits(folder / "limits.yaml", allowed)
        with platform_in_containers(folder, over=[folder / "limits.yaml"]) as platform:
            until(lambda: platform.http.get("/v1/runs").status_code == 200, STARTED_S)
            began = time.monotonic()
            progress = study_in(platform, study, request)
            print(
                f"{progress['probes']:,} probes: {progress['state']} after"
                f" {time.monotonic() - began:.0f} s; {progress['responses']:,} answers,"
                f" {progress['features']:,} features of {progress['features_expected']:,}"
            )
            missed = shown(platform, allowed)
    if not missed:
        print("Each container stayed within the memory limit of deploy/k8s.")
    return int(missed > 0 or progress["state"] != "complete")


if __name__ == "__main__":
    sys.exit(main())
