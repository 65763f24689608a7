"""Resources become monitors, suites and runs of a real platform, and tell what comes of them."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml

from biaswatch.local.platform import embedded_platform
from biaswatch.shared.runtime.settings import Settings
from tests.support.kubernetes_api import KubernetesApi, served_api
from tests.support.manifests import operator_rules, resource_definitions
from tests.support.operated import (
    TOKEN,
    OperatedCluster,
    condition,
    operated_cluster,
    why_no_other_user,
)
from tests.support.searched import small_space
from tests.support.waiting import eventually

SUITE = yaml.safe_load(Path("suites/hiring-demo.yaml").read_text())
MONITOR: dict[str, Any] = {
    "suite": {"name": "hiring"},
    "target": "simulator:biased",
    "cadence": "1s",
    "features": [
        {"extractor": "rating", "feature": "rating", "low": 1, "high": 5, "tolerance": 0.1}
    ],
    "comparisons": [{"dimension": "race", "a": "black", "b": "white"}],
    "random": [],  # about these names: the suite has too few for more
}
READY, ALARMING = "Ready", "Alarming"
NAMELESS = 12345
"""A user ID without a name, as containerd gives pods none."""


@pytest.fixture
async def gateway(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[str]:
    monkeypatch.setenv("BIASWATCH_GATEWAY_OPERATOR_TOKEN", TOKEN)
    settings = Settings(state_dir=tmp_path / "state", log_level="ERROR")
    async with embedded_platform(settings) as platform:
        yield platform.url


@pytest.fixture
async def cluster(tmp_path: Path, gateway: str) -> AsyncIterator[OperatedCluster]:
    api = KubernetesApi(resource_definitions(), operator_rules())
    async with (
        served_api(api, tmp_path) as server,
        operated_cluster(api, server, gateway) as cluster,
    ):
        yield cluster
        assert api.refused == []  # the Role is enough, and nothing beyond it is asked for


@pytest.fixture
async def lonely(tmp_path: Path) -> AsyncIterator[OperatedCluster]:
    """Give a cluster whose operator cannot reach its gateway."""
    api = KubernetesApi(resource_definitions(), operator_rules())
    async with (
        served_api(api, tmp_path) as server,
        operated_cluster(api, server, "http://127.0.0.1:9") as cluster,
    ):
        yield cluster
        assert api.refused == []


@pytest.fixture
async def http(gateway: str) -> AsyncIterator[httpx2.AsyncClient]:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with httpx2.AsyncClient(base_url=gateway, headers=headers, timeout=60) as client:
        yield client


async def test_a_monitor_is_created_alarms_survives_a_restart_and_is_deleted(
    cluster: OperatedCluster, http: httpx2.AsyncClient
) -> None:
    cluster.api.served = False  # the operator comes before its definitions
    cluster.start()
    await cluster.create("BiasMonitor", "hiring", MONITOR)
    cluster.api.served = True
    status = await cluster.until("BiasMonitor", "hiring", lambda item: condition(item, READY))
    assert condition(status, READY)["reason"] == "SuiteNotReady"
    assert "The BiasSuite hiring" in condition(status, READY)["message"]

    await cluster.create("BiasSuite", "hiring", {"content": SUITE})
    status = await cluster.until("BiasSuite", "hiring", lambda item: "hash" in item)
    assert (status["suite"], status["probes"]) == ("hiring-demo", len(SUITE["probes"]))
    status = await cluster.until("BiasMonitor", "hiring", lambda item: "monitorId" in item)
    assert condition(status, READY)["reason"] == "Watching"
    assert condition(status, ALARMING)["status"] == "False"
    await eventually(lambda: cluster.told("Applied"))
    for kind in ("BiasSuite", "BiasMonitor"):  # a namespace that is deleted waits for nothing
        resource = await cluster.get(kind, "hiring")
        assert resource is not None
        assert not {"finalizers", "annotations"} & resource["metadata"].keys()
    [shown] = (await http.get("/v1/monitors")).json()
    assert (shown["name"], shown["monitor_id"]) == ("hiring", status["monitorId"])

    cluster.kill()
    cluster.start()
    # Alarms and evidence are two requests: a round may close between them.
    status = await cluster.until(
        "BiasMonitor", "hiring", lambda item: item.get("alarms") and item["verdict"] == "disparity"
    )
    assert status["gap"].startswith("-")
    assert {"since", "nextRound", "lastRound"} <= status.keys()
    alarming = condition(status, ALARMING)
    assert alarming["status"] == "True"
    assert status["alarms"][0]["words"] in alarming["message"]

    await eventually(lambda: cluster.told("Alarm"))
    cluster.kill()
    cluster.start()
    rounds = status["rounds"]
    await cluster.until("BiasMonitor", "hiring", lambda item: item["rounds"] > rounds + 1)
    assert len(cluster.told("Alarm")) == len(set(cluster.told("Alarm")))
    assert len(cluster.told("Applied")) == 1

    cluster.kill()
    await cluster.delete("BiasMonitor", "hiring")
    assert await cluster.get("BiasMonitor", "hiring") is None  # nothing waits for an operator
    assert await _is_there(http, "hiring")
    cluster.start()

    async def forgotten() -> bool:
        return (await http.get("/v1/monitors")).json() == [] and not cluster.records()

    await eventually(forgotten)
    assert cluster.stop() == 0


async def test_what_apply_refuses_is_refused_in_the_same_sentence_and_the_last_good_one_stays(
    cluster: OperatedCluster, http: httpx2.AsyncClient
) -> None:
    cluster.start()
    kept = (await http.post("/v1/suites", json=SUITE)).json()["hash"]
    named = {**MONITOR, "suite": {"hash": kept}, "cadence": "6h"}
    await cluster.create("BiasMonitor", "hiring", named)
    status = await cluster.until("BiasMonitor", "hiring", lambda item: "monitorId" in item)
    wrong = [{**MONITOR["features"][0], "extractor": "astrology"}]
    await cluster.change("BiasMonitor", "hiring", {"features": wrong})
    refused = await cluster.until(
        "BiasMonitor", "hiring", lambda item: condition(item, READY).get("status") == "False"
    )
    file = {key: value for key, value in named.items() if key != "suite"}
    request = {**file, "features": wrong, "name": "hiring", "suite_hash": kept}
    detail = (await http.post("/v1/monitors", json=request)).json()["detail"]
    assert condition(refused, READY)["message"] == detail
    assert refused["monitorId"] == status["monitorId"]
    await eventually(lambda: cluster.told("Refused"))
    assert cluster.told("Refused") == [detail]

    await cluster.change("BiasMonitor", "hiring", {"features": MONITOR["features"]})
    await cluster.until(
        "BiasMonitor", "hiring", lambda item: condition(item, READY).get("status") == "True"
    )
    await cluster.change("BiasMonitor", "hiring", {"paused": True})
    await cluster.until("BiasMonitor", "hiring", lambda item: item["state"] == "paused")
    assert await _state(http, "hiring") == "paused"
    await cluster.change("BiasMonitor", "hiring", {"paused": False})
    await cluster.until("BiasMonitor", "hiring", lambda item: item["state"] == "active")
    assert await _state(http, "hiring") == "active"

    await http.delete("/v1/monitors/hiring")  # somebody's mistake
    await eventually(lambda: _is_there(http, "hiring"))

    await cluster.create("BiasMonitor", "second", {**named, "name": "hiring"})
    status = await cluster.until("BiasMonitor", "second", lambda item: condition(item, READY))
    assert condition(status, READY)["reason"] == "NameTaken"
    await cluster.delete("BiasMonitor", "second")
    assert len(cluster.records()) == 1
    assert await _is_there(http, "hiring")


async def test_a_run_is_carried_out_once_and_ends_when_its_resource_is_deleted(
    cluster: OperatedCluster, http: httpx2.AsyncClient
) -> None:
    cluster.start()
    await cluster.create("BiasSuite", "hiring", {"content": SUITE})
    spec = {"suite": {"name": "hiring"}, "targets": ["simulator:biased"], "repeats": 4}
    await cluster.create("BiasRun", "once", spec)
    status = await cluster.until("BiasRun", "once", lambda item: item.get("state") == "complete")
    assert status["answered"] == f"{4 * len(SUITE['probes'])}/{4 * len(SUITE['probes'])}"
    assert status["verdict"] == "disparity"
    assert condition(status, "Complete")["status"] == "True"
    assert condition(status, "Disparity")["status"] == "True"
    await eventually(lambda: cluster.told("RunComplete"))
    assert len((await http.get("/v1/runs")).json()) == 1
    assert cluster.records() == {}  # it has ended: nothing is left to cancel

    await cluster.create("BiasRun", "wrong", {**spec, "suite": {"hash": "0" * 32}})
    status = await cluster.until("BiasRun", "wrong", lambda item: condition(item, "Failed"))
    assert condition(status, "Failed") == condition(status, READY) | {
        "type": "Failed", "status": "True",
    }  # fmt: skip

    slow = {**spec, "targets": ["simulator:unbiased"], "repeats": 200}
    await cluster.create("BiasRun", "long", slow)
    status = await cluster.until("BiasRun", "long", lambda item: "run" in item)
    await cluster.delete("BiasRun", "long")

    async def cancelled() -> bool:
        return bool((await http.get(f"/v1/runs/{status['run']}")).json()["state"] == "cancelled")

    await eventually(cancelled)


async def test_a_search_reports_its_findings_and_ends_when_its_resource_is_deleted(
    cluster: OperatedCluster, http: httpx2.AsyncClient
) -> None:
    cluster.start()
    space = small_space(2).model_dump(mode="json")
    spec = {"target": "simulator:biased", "space": space, "calls": 20, "sets_per_round": 10}
    await cluster.create("BiasSearch", "desk", spec)
    status = await cluster.until("BiasSearch", "desk", lambda item: item.get("state") == "ended")
    assert (status["asked"], status["verdict"]) == ("20/20", "inconclusive")
    assert condition(status, "Complete")["status"] == "True"
    assert condition(status, "Disparity")["status"] == "Unknown"
    await eventually(lambda: cluster.told("SearchEnded"))

    await cluster.create("BiasSearch", "long", {**spec, "calls": 4000})
    status = await cluster.until("BiasSearch", "long", lambda item: "search" in item)
    assert len((await http.get("/v1/searches")).json()) == 1  # the same plan with a larger budget
    await cluster.delete("BiasSearch", "long")
    await cluster.until_gone("BiasSearch", "long")

    async def cancelled() -> bool:
        progress = (await http.get(f"/v1/searches/{status['search']}")).json()["progress"]
        return bool(progress["status"] == "stopped")

    await eventually(cancelled)


async def test_a_gateway_that_is_away_is_waited_for(lonely: OperatedCluster) -> None:
    """A nameless user, as containerd gives pods one, makes no difference."""
    lonely.start(user=None if why_no_other_user(NAMELESS) else NAMELESS)
    await lonely.create("BiasSuite", "known", {"hash": "0" * 32})
    status = await lonely.until("BiasSuite", "known", lambda item: condition(item, READY))
    assert condition(status, READY)["status"] == "Unknown"
    assert "does not answer" in condition(status, READY)["message"]
    assert lonely.stop() == 0


async def test_one_of_two_operators_works_and_the_other_takes_over(lonely: OperatedCluster) -> None:
    lonely.start()
    await eventually(lonely.holder)
    holder, reads = lonely.holder(), lonely.api.lease_reads
    async with lonely.beside() as other:
        other.start()
        await eventually(lambda: lonely.api.lease_reads > reads + 6)  # both have read it
        assert lonely.holder() == holder
        assert lonely.stop() == 0
        await eventually(lambda: lonely.holder() not in {holder, ""})
        await other.create("BiasSuite", "known", {"hash": "0" * 32})
        await other.until("BiasSuite", "known", lambda item: condition(item, READY))
        lonely.api.take_lease("another")
        assert await asyncio.to_thread(other.ended) == 1  # two must never work


async def _is_there(http: httpx2.AsyncClient, name: str) -> bool:
    return (await http.get(f"/v1/monitors/{name}")).is_success


async def _state(http: httpx2.AsyncClient, name: str) -> str:
    return str((await http.get(f"/v1/monitors/{name}")).json()["status"]["state"])
