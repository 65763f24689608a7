"""The platform on a real cluster: installed, disturbed, upgraded, undone, operated; nothing lost.

`pytest tests/cluster -m cluster -n 0 -x -s` runs them, in order, against the cluster of KUBECONFIG.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from biaswatch.services.operator.domain.conditions import GROUP, VERSION
from tests.support.cluster import (
    DEFINITIONS,
    InstalledPlatform,
    cordoned,
    drainable,
    kubectl,
    objects_of,
    wait_until,
    why_no_cluster,
)
from tests.support.manifests import ROOT

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(3600)]
SUITE = yaml.safe_load((ROOT / "suites" / "hiring-demo.yaml").read_text())
WORKERS = ("generator", "extractor", "recorder", "planner", "diagnoser")
MONITOR: dict[str, Any] = {
    "suite": {"name": "hiring"},
    "target": "simulator:biased",
    "cadence": "15s",
    "features": [
        {"extractor": "rating", "feature": "rating", "low": 1, "high": 5, "tolerance": 0.1}
    ],
    "comparisons": [{"dimension": "race", "a": "black", "b": "white"}],
    "random": [],  # about these names: the suite has too few for more
}


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InstalledPlatform]:
    if why := why_no_cluster():
        pytest.skip(why)
    before = {
        name for name in DEFINITIONS
        if kubectl("get", "crd", f"{name}.biaswatch.io", check=False).returncode == 0
    }  # fmt: skip
    installed = InstalledPlatform(tmp_path_factory.mktemp("cluster"))
    installed.make_namespace()
    try:
        yield installed
    finally:
        installed.remove()
        if not before and not os.environ.get("BIASWATCH_CLUSTER_KEEP"):
            kubectl("delete", "-k", str(ROOT / "deploy" / "k8s" / "cluster"), check=False)


def test_one_apply_installs_it_without_a_warning(platform: InstalledPlatform) -> None:
    text = platform.apply()
    assert "Warning" not in text, text
    platform.until_rolled_out()
    warnings = [
        item["message"] for item in objects_of("--namespace", platform.namespace, "events")
        if "violates PodSecurity" in item.get("message", "")
    ]  # fmt: skip
    assert warnings == []


def test_a_study_loses_nothing_while_pods_are_killed_and_a_node_is_drained(
    platform: InstalledPlatform,
) -> None:
    run_id = _started(platform, repeats=200, nonce="killed")
    _answered(platform, run_id, share=0.05)
    for service in WORKERS:
        chosen = f"app.kubernetes.io/name={service}"
        platform.kubectl("delete", "pod", "-l", chosen, "--grace-period=0", "--force")
    _answered(platform, run_id, share=0.2)
    if node := drainable(platform.namespace):
        with cordoned(node):
            _finished(platform, run_id)
    else:
        _finished(platform, run_id)
    platform.until_rolled_out()


def test_an_upgrade_while_a_study_runs_keeps_the_replicas_that_something_else_chose(
    platform: InstalledPlatform,
) -> None:
    # As KEDA and the HPA do it: by the scale subresource.
    platform.kubectl("scale", "deployment/extractor", "--replicas=3")
    run_id = _started(platform, repeats=200, nonce="upgraded")
    _answered(platform, run_id, share=0.05)
    platform.apply(log_level="DEBUG")
    platform.until_rolled_out()
    assert _replicas(platform, "extractor") == 3
    _finished(platform, run_id)


def test_an_apply_repeated_twice_changes_nothing(platform: InstalledPlatform) -> None:
    platform.apply(log_level="DEBUG")
    before = platform.generations()
    assert before
    for _ in range(2):
        platform.apply(log_level="DEBUG")
        assert platform.generations() == before
    assert _replicas(platform, "extractor") == 3


def test_an_undo_is_one_apply_while_a_study_runs(platform: InstalledPlatform) -> None:
    run_id = _started(platform, repeats=200, nonce="undone")
    _answered(platform, run_id, share=0.05)
    platform.apply(log_level="INFO")
    platform.until_rolled_out()
    assert _replicas(platform, "extractor") == 3
    _finished(platform, run_id)


def test_resources_become_a_suite_a_run_and_a_monitor_that_alarms(
    platform: InstalledPlatform,
) -> None:
    _create(platform, "BiasSuite", "hiring", {"content": SUITE})
    platform.kubectl("wait", "--for=condition=Ready", "biassuite/hiring", "--timeout=180s")
    run = {"suite": {"name": "hiring"}, "targets": ["simulator:biased"], "repeats": 4}
    _create(platform, "BiasRun", "once", run)
    platform.kubectl("wait", "--for=condition=Complete", "biasrun/once", "--timeout=600s")
    platform.kubectl("wait", "--for=condition=Disparity", "biasrun/once", "--timeout=60s")
    _create(platform, "BiasMonitor", "hiring", MONITOR)
    platform.kubectl("wait", "--for=condition=Ready", "biasmonitor/hiring", "--timeout=180s")
    platform.kubectl("delete", "pod", "-l", "app.kubernetes.io/name=operator", "--wait=false")
    platform.kubectl("wait", "--for=condition=Alarming", "biasmonitor/hiring", "--timeout=900s")
    table = platform.kubectl("get", "biasmonitors")
    assert {"VERDICT", "GAP", "SINCE", "NEXT ROUND"} <= set(_columns(table)), table
    assert "disparity" in table, table
    events = objects_of("--namespace", platform.namespace, "events")
    assert any(event["reason"] == "Alarm" for event in events)


def test_what_is_wrong_is_refused_by_the_api_server_or_in_the_status(
    platform: InstalledPlatform,
) -> None:
    for kind, spec, text in (
        ("BiasMonitor", {**MONITOR, "window": "1h"}, "only a monitor of traffic has"),
        ("BiasMonitor", {**MONITOR, "suite": {"name": "a", "hash": "0" * 32}}, "by name or by"),
        ("BiasMonitor", {**MONITOR, "alpha": 2}, "alpha"),
        ("BiasSuite", {}, "give the suite's content"),
    ):
        refused = _create(platform, kind, "wrong", spec, check=False)
        assert refused.returncode != 0, (kind, spec)
        assert text in refused.stderr, refused.stderr
    changed = '{"spec":{"repeats":5}}'
    done = kubectl(
        "--namespace", platform.namespace, "patch", "biasrun", "once", "--type=merge", "-p",
        changed, check=False,
    )  # fmt: skip
    assert "a run never changes" in done.stderr, done.stderr
    wrong = [{**MONITOR["features"][0], "extractor": "astrology"}]
    _create(platform, "BiasMonitor", "refused", {**MONITOR, "features": wrong})

    def refusal() -> str:
        [result] = objects_of("--namespace", platform.namespace, "biasmonitor", "refused")
        response = result.get("status", {}).get("conditions", ())
        return " ".join(item["message"] for item in response if item["reason"] == "Refused")

    assert "astrology is not running" in wait_until(refusal, "the refusal")


def test_deleted_resources_are_gone_and_so_is_the_monitor(platform: InstalledPlatform) -> None:
    kinds = "biasmonitors,biasruns,biassearches,biassuites"
    platform.kubectl("delete", kinds, "--all", "--timeout=180s")
    assert platform.ask("/v1/monitors") == []


def test_the_chart_installs_the_same_and_its_own_test_finds_the_bias(
    platform: InstalledPlatform, tmp_path: Path
) -> None:
    if shutil.which("helm") is None:
        pytest.skip("no cluster: helm is not installed")
    by_chart = InstalledPlatform(tmp_path, "biaswatch-test-chart")
    by_chart.make_namespace()
    values = tmp_path / "values.yaml"
    values.write_text(yaml.safe_dump(_small_values()))
    words = ["helm", "--namespace", by_chart.namespace]
    chart = str(ROOT / "deploy" / "helm" / "biaswatch")
    try:
        for _ in range(2):  # an upgrade is the same command again
            _checked(*words, "upgrade", "--install", "biaswatch", chart, "--values", str(values),
                     "--wait", "--timeout", "15m")  # fmt: skip
        _checked(*words, "test", "biaswatch", "--timeout", "10m")
        _checked(*words, "rollback", "biaswatch", "1", "--wait", "--timeout", "15m")
    finally:
        subprocess.run([*words, "uninstall", "biaswatch"], check=False)
        by_chart.remove()


def _small_values() -> dict[str, Any]:
    images: dict[str, Any] = {"pullPolicy": "IfNotPresent"}
    images["registry"] = os.environ.get("BIASWATCH_CLUSTER_IMAGES", "")
    images["tag"] = os.environ.get("BIASWATCH_CLUSTER_TAG", "dev")
    small = {"resources": {"requests": {"cpu": "50m"}}}
    services = sorted(path.parent.name for path in (ROOT / "services").glob("*/app.py"))
    bus = [service for service in services if service not in {"simulator", "operator"}]
    result: dict[str, Any] = {
        "images": images,
        "autoscaling": {"kind": "none"},
        "simulator": {"enabled": True, **small},
        "nats": {"replicas": 1, "resources": {"requests": {"cpu": "100m"}}},
        "postgres": {"resources": {"requests": {"cpu": "100m"}}},
        "services": dict.fromkeys(bus, small),
    }
    for part in ("nats", "postgres"):
        if image := os.environ.get(f"BIASWATCH_CLUSTER_{part.upper()}"):
            result[part]["image"] = image
    return result


def _checked(*words: str) -> None:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(words)}: {done.stdout[-2000:]}{done.stderr[-2000:]}"


def _create(
    platform: InstalledPlatform, kind: str, name: str, spec: dict[str, Any], *, check: bool = True
) -> "subprocess.CompletedProcess[str]":
    body = {"apiVersion": f"{GROUP}/{VERSION}", "kind": kind, "metadata": {"name": name},
            "spec": spec}  # fmt: skip
    words = ("--namespace", platform.namespace, "create", "-f", "-")
    return kubectl(*words, stdin=json.dumps(body), check=check)


def _columns(table: str) -> list[str]:
    return [part.strip() for part in table.splitlines()[0].split("  ") if part.strip()]


def _replicas(platform: InstalledPlatform, service: str) -> int:
    [result] = objects_of("--namespace", platform.namespace, "deployment", service)
    return int(result["spec"]["replicas"])


def _started(platform: InstalledPlatform, *, repeats: int, nonce: str) -> str:
    kept = platform.ask("/v1/suites", SUITE)["hash"]
    asked = {"suite_hash": kept, "targets": ["simulator:biased"], "repeats": repeats}
    return str(platform.ask("/v1/runs", {**asked, "nonce": nonce})["run"]["id"])


def _answered(platform: InstalledPlatform, run_id: str, *, share: float) -> None:
    def enough() -> bool:
        result = platform.ask(f"/v1/runs/{run_id}")
        return bool(result["responses"] >= share * result["probes"] or result["state"] != "running")

    wait_until(enough, f"{share:.0%} of the answers")


def _finished(platform: InstalledPlatform, run_id: str) -> None:
    """Wait until a study has ended, and hold it to what it asked and what it must find."""

    def ended() -> Any:
        result = platform.ask(f"/v1/runs/{run_id}")
        return result if result["state"] in {"complete", "incomplete", "cancelled"} else None

    result = wait_until(ended, "the end of the study")
    assert result["state"] == "complete", result
    assert result["probes"] == result["responses"], result
    assert result["features"] == result["features_expected"], result
    diagnoses = platform.ask(f"/v1/runs/{run_id}/diagnoses")
    verdicts = [gap["verdict"] for diagnosis in diagnoses for gap in diagnosis["gaps"]]
    assert "disparity" in verdicts, verdicts
