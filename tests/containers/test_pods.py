"""The development overlay's workloads under podman: ready, restricted, and none lost by a death."""

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
import yaml

from tests.support.containers import ROOT, build_images, make_secrets, run, until, why_no_engine
from tests.support.manifests import BUS_SERVICES
from tests.support.podman import Pods, overlay, why_no_podman

MISSING = why_no_engine() or why_no_podman()
pytestmark = [
    pytest.mark.containers,
    pytest.mark.timeout(1800),
    pytest.mark.skipif(bool(MISSING), reason=f"no pods: {MISSING}"),
]
REPEATS = 5
# Slow enough that a death falls into the middle.
SLOW = {"slow": {"rating_gaps": {"black": -0.6}, "faults": {"latency_s": 0.3}}}
MORE = {
    "simulator": {"BIASWATCH_SIMULATOR_PLANTS": json.dumps(SLOW)},
    "generator": {"BIASWATCH_GENERATOR_SLOTS": "4"},
    "planner": {"BIASWATCH_PLANNER_RECONCILE_S": "5"},
}


@pytest.fixture(scope="module")
def pods(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pods]:
    build_images()
    folder = tmp_path_factory.mktemp("pods")
    make_secrets(folder / "secrets", "--kubernetes")
    with overlay("dev", folder / "secrets", folder, MORE) as running:
        try:
            yield running
        finally:
            print(running.logs()[-20_000:])


@pytest.fixture(scope="module")
def gateway(pods: Pods) -> Iterator[httpx2.Client]:
    held = pods.plan["gateway"].folders
    [token] = [
        files["biaswatch_gateway_run_token"] for files in held.values() if "nats.seed" in files
    ]
    url = f"http://{pods.address('gateway')}:8080"
    with httpx2.Client(
        base_url=url, headers={"Authorization": f"Bearer {token.strip()}"}, timeout=10
    ) as client:
        yield client


def ask(gateway: httpx2.Client, verb: str, path: str, body: Any = None) -> Any:
    reply = gateway.request(verb, path, json=body)
    assert reply.is_success, reply.text
    return reply.json()


@pytest.mark.parametrize("service", BUS_SERVICES)
def test_a_pod_becomes_ready(pods: Pods, service: str) -> None:
    url = f"http://{pods.address(service)}:9797/readyz"
    until(lambda: httpx2.get(url, timeout=3).status_code == 200)


@pytest.mark.parametrize("service", BUS_SERVICES)
def test_the_user_of_a_pod_has_no_name(pods: Pods, service: str) -> None:
    container = f"{service}-{pods.plan[service].pod['spec']['containers'][0]['name']}"
    user = run("podman", "exec", container, "id", "-un", check=False)
    assert "cannot find name for user ID" in user.stderr, user.stdout


def test_the_restricted_security_context_is_in_force(pods: Pods) -> None:
    for name, plan in pods.plan.items():
        result = pods.container(name)
        assert result["Config"]["User"].split(":")[0] == str(plan.user), name
        assert result["HostConfig"]["ReadonlyRootfs"] is True, name
        assert result["EffectiveCaps"] in (None, []), name
        assert "no-new-privileges" in result["HostConfig"]["SecurityOpt"], name


@pytest.mark.parametrize("victim", ["extractor", "recorder", "nats"])
def test_a_study_is_whole_though_a_pod_dies_in_the_middle(
    pods: Pods, gateway: httpx2.Client, victim: str
) -> None:
    suite = yaml.safe_load((ROOT / "suites" / "hiring-demo.yaml").read_text())
    result = until(lambda: ask(gateway, "POST", "/v1/suites", suite))
    asked = {
        "suite_hash": result["hash"], "targets": ["simulator:slow"],
        "repeats": REPEATS, "nonce": victim,
    }  # fmt: skip
    run_id = until(lambda: ask(gateway, "POST", "/v1/runs", asked)["run"]["id"])
    path = f"/v1/runs/{run_id}"
    until(lambda: ask(gateway, "GET", path)["responses"] >= 10)
    pods.crash(victim)
    assert ask(gateway, "GET", path)["state"] == "running"
    until(lambda: ask(gateway, "GET", path)["state"] in {"complete", "incomplete"})
    stand = ask(gateway, "GET", path)
    probes = len(suite["probes"]) * REPEATS
    assert (stand["state"], stand["responses"]) == ("complete", probes)
    assert stand["features"] == stand["features_expected"] == probes * len(suite["extractors"])
    diagnoses = until(lambda: ask(gateway, "GET", f"{path}/diagnoses"))
    verdicts = {
        gap["verdict"]
        for diagnosis in diagnoses
        if (diagnosis["feature"], diagnosis["dimension"]) == ("rating", "race")
        for gap in diagnosis["gaps"]
    }
    assert verdicts == {"disparity"}
