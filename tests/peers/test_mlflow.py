"""Exports to a real MLflow server, read by MLflow's own client; our extractors as its scorer."""

import json
import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

import biaswatch as bw
from biaswatch.integrations.mlflow import monitor_as_run, run_as_run
from biaswatch.integrations.mlflow_server import LoggedRun, mlflow_server
from biaswatch.integrations.sources import ReportedRun, WatchedMonitor
from biaswatch.local.runs import RunResults
from biaswatch.shared.requests.monitor_views import MonitorStatus, MonitorView, histories_of
from tests.support.records import AT, make_alarm, make_diagnosis, make_evidence, make_progress
from tests.support.waiting import until

ROOT = Path(__file__).parents[2]
PEER = ROOT / ".venv-mlflow" / "bin"
CLIENT = Path(__file__).with_name("mlflow_client.py")
pytestmark = [pytest.mark.timeout(900), pytest.mark.skipif(
    not PEER.exists(), reason="no peers: make test-peers installs them"
)]  # fmt: skip


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run a tracking server on a free port."""
    folder = tmp_path_factory.mktemp("mlflow")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    # Without its runner of background jobs, which starts four more processes.
    environment = {**os.environ, "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}
    words = (
        *("server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1"),
        *("--backend-store-uri", f"sqlite:///{folder}/store.db"),
        *("--artifacts-destination", str(folder / "artifacts")),
    )
    address = f"http://127.0.0.1:{port}"
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [PEER / "mlflow", *words],
            env=environment,
            stdout=log,
            stderr=log,
            cwd=folder,
            start_new_session=True,
        )
    try:
        until(lambda: _answers(address))
        yield address
    finally:
        os.killpg(process.pid, signal.SIGKILL)  # with the server that it started
        process.wait()


def _answers(address: str) -> bool:
    try:
        return httpx2.get(f"{address}/health").is_success
    except httpx2.HTTPError:
        return False


def said(*words: str) -> Any:
    command = [str(PEER / "python"), str(CLIENT), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


async def exported(server: str, state: str) -> tuple[LoggedRun, str]:
    """Log a run in a state; return the logged run and its page."""
    results = RunResults(make_progress(state=state), [make_diagnosis()])
    logged = run_as_run(ReportedRun(results, []))
    async with mlflow_server(server) as peer:
        return logged, await peer.log({"biaswatch.run": results.run.run_id}, logged)


async def test_a_run_is_read_by_mlflow_and_a_second_export_updates_it(server: str) -> None:
    await exported(server, "running")
    logged, page = await exported(server, "complete")
    [run] = [run for run in said("read", server) if "biaswatch.run" in run["tags"]]
    assert run["status"] == "FINISHED"
    assert {metric.key: metric.value for metric in logged.metrics} == {
        key: points[-1][1] for key, points in run["metrics"].items()
    }
    assert run["params"] == logged.params
    assert run["tags"]["mlflow.note.content"] == logged.tags["mlflow.note.content"]
    assert {"report.md", "report.html", "report.json", "report.csv"} <= run["files"].keys()
    assert run["files"] == {name: len(content) for name, content in logged.artifacts.items()}
    assert page.startswith(server)


async def test_the_rounds_of_a_monitor_are_steps_that_mlflow_reads(server: str) -> None:
    status = MonitorStatus(
        name="coasts", monitor_id="b" * 32, state="active", suite="countries",
        target="replay:answers", claim="population", rounds=2, comparisons=1, alarms=1,
        alpha=0.05, since=AT,
    )  # fmt: skip
    view = MonitorView(status=status, evidence=[], alarms=[make_alarm(words="A gap of 0.5.")])
    histories = histories_of([make_evidence(round=number, at=AT) for number in (1, 2)])
    logged = monitor_as_run(WatchedMonitor(view, histories))
    async with mlflow_server(server) as peer:
        for _ in range(2):
            await peer.log({"biaswatch.monitor": status.monitor_id}, logged)
    [run] = [run for run in said("read", server) if "biaswatch.monitor" in run["tags"]]
    assert run["status"] == "RUNNING"
    assert {step for points in run["metrics"].values() for step, _ in points} == {1, 2}
    assert "A gap of 0.5" in run["tags"]["mlflow.note.content"]


async def test_a_server_whose_clients_store_artifacts_is_refused_in_a_sentence(
    server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = {"name": "elsewhere", "artifact_location": "s3://bucket/runs"}
    assert httpx2.post(f"{server}/api/2.0/mlflow/experiments/create", json=body).is_success
    monkeypatch.setenv("MLFLOW_EXPERIMENT_NAME", "elsewhere")
    logged = run_as_run(ReportedRun(RunResults(make_progress(), []), []))
    async with mlflow_server(server) as peer:
        with pytest.raises(bw.UsageError, match="--serve-artifacts"):
            await peer.log({"biaswatch.run": "a"}, logged)


def test_outputs_are_scored_as_biaswatch_measures_them() -> None:
    rows = said("score")
    texts = ["A good day.", "I cannot help with that."]
    measured = bw.measure(texts, ["refusal", "words"]).to_dict("records")
    by_question = {row["question"]: row["feedback"] for row in rows}
    for number, expected in enumerate(measured):
        values = {item["name"]: item["value"] for item in by_question[number]}
        assert values == {name: expected[name] for name in values}
        assert "words.words" in values
    assert all(item.get("value") is None for item in by_question[2])
    assert "no answer" in json.dumps(by_question[2])
