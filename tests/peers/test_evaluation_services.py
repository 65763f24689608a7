"""A suite is run by the real NeMo Evaluator, and by a real EvalHub server, on simulated models."""

import asyncio
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml

from biaswatch.integrations import evalhub, nemo_evaluator
from biaswatch.integrations.evaluation_jobs import SCORES
from biaswatch.integrations.formats import ExportRequest
from biaswatch.services.simulator.app import build
from biaswatch.services.simulator.settings import SimulatorSettings
from biaswatch.shared.runtime.web import free_port
from tests.support.model_server import model_server
from tests.support.waiting import until

ROOT = Path(__file__).parents[2]
PEER = ROOT / ".venv-evaluators" / "bin"
SUITE = "hiring-demo"
ENVIRONMENT = {**os.environ, "PATH": f"{PEER}:{os.environ['PATH']}"}
pytestmark = [pytest.mark.timeout(900), pytest.mark.skipif(
    not PEER.exists(), reason="no peers: make test-peers installs them"
)]  # fmt: skip


@pytest.fixture(scope="module")
def models() -> Iterator[str]:
    """Serve simulated models."""
    with model_server(build(SimulatorSettings())) as url:
        yield url


def exported(module: Any, destination: Path) -> None:
    asyncio.run(module.export(ExportRequest(SUITE, str(destination), None, None)))  # type: ignore[arg-type]


def nemo(*words: object, path: Path, **variables: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [str(PEER / "nemo-evaluator"), *map(str, words)],
        env={**ENVIRONMENT, "PYTHONPATH": str(path), **variables},
        capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip


def test_nemo_evaluator_runs_a_suite_and_reads_its_gaps(models: str, tmp_path: Path) -> None:
    exported(nemo_evaluator, tmp_path)
    assert f"* {SUITE}" in nemo("ls", path=tmp_path).stdout
    output = tmp_path / "out"
    done = nemo(
        *("run_eval", "--eval_type", SUITE, "--model_id", "biased", "--model_type", "chat"),
        *("--model_url", f"{models}/chat/completions", "--output_dir", output),
        *("--overrides", "config.params.extra.repeats=2", "--api_key_name", "MODEL_KEY"),
        path=tmp_path,
        MODEL_KEY="secret-of-the-model",
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    tasks = yaml.safe_load((output / "results.yml").read_text())["results"]["tasks"]
    metrics = tasks[SUITE]["metrics"]
    written = json.loads((output / SCORES).read_text())["scores"]
    read = {
        (comparison if comparison != "run" else "", name): score["value"]
        for comparison, metric in metrics.items()
        for name, score in metric["scores"].items()
    }
    assert read == {(score["comparison"], score["name"]): score["value"] for score in written}
    assert read["", "comparisons"] == 2
    assert read["", "answers"] == read["", "answers_asked"]
    assert (output / "report.html").exists()
    texts = [path.read_text(errors="replace") for path in output.rglob("*") if path.is_file()]
    assert not any("secret-of-the-model" in text for text in [*texts, done.stdout, done.stderr])


def test_a_model_that_cannot_be_reached_fails_the_evaluation(tmp_path: Path) -> None:
    exported(nemo_evaluator, tmp_path)
    done = nemo(
        *("run_eval", "--eval_type", SUITE, "--model_id", "biased", "--model_type", "chat"),
        *("--model_url", "ftp://host/v1", "--output_dir", tmp_path / "out"),
        path=tmp_path,
    )
    assert done.returncode != 0
    assert not (tmp_path / "out" / "results.yml").exists()


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run an EvalHub server in local mode, with our provider."""
    folder, port = tmp_path_factory.mktemp("evalhub"), free_port("127.0.0.1")
    (folder / "providers").mkdir()
    exported(evalhub, folder / "providers" / "biaswatch.yaml")
    settings = {
        "service": {"port": port, "host": "127.0.0.1"},
        "database": {"driver": "sqlite", "url": "file::eval_hub:?mode=memory&cache=shared"},
    }
    (folder / "config.yaml").write_text(yaml.safe_dump(settings))
    address = f"http://127.0.0.1:{port}/api/v1"
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [PEER / "eval-hub", "--local", "--configdir", str(folder)],
            env={**ENVIRONMENT, "PORT": str(port)}, stdout=log, stderr=log, cwd=folder,
        )  # fmt: skip
    try:
        until(lambda: _answers(f"{address}/health"))
        yield address
    finally:
        process.kill()
        process.wait()
        print((folder / "log").read_text()[-3000:])


def _answers(address: str) -> bool:
    try:
        return httpx2.get(address).is_success
    except httpx2.HTTPError:
        return False


def ended_job(hub: str, models: str, **parameters: object) -> dict[str, Any]:
    """Submit a job to EvalHub, and return it when it has ended."""
    benchmark = {"id": SUITE, "provider_id": evalhub.PROVIDER, "parameters": parameters}
    body = {
        "name": "bias", "model": {"url": models, "name": "biased"}, "benchmarks": [benchmark],
    }  # fmt: skip
    submitted = httpx2.post(f"{hub}/evaluations/jobs", json=body)
    assert submitted.is_success, submitted.text
    address = f"{hub}/evaluations/jobs/{submitted.json()['resource']['id']}"
    job: dict[str, Any] = {}

    def has_ended() -> bool:
        job.update(httpx2.get(address).json())
        return job["status"]["state"] in {"completed", "failed", "partially_failed"}

    until(has_ended)
    return job


def test_evalhub_runs_a_suite_and_reads_its_gaps(hub: str, models: str) -> None:
    providers = httpx2.get(f"{hub}/evaluations/providers").json()["items"]
    assert evalhub.PROVIDER in {provider["resource"]["id"] for provider in providers}
    job = ended_job(hub, models, repeats=2)
    assert job["status"]["state"] == "completed", job
    [benchmark] = job["results"]["benchmarks"]
    metrics = benchmark["metrics"]
    assert metrics["comparisons"] == 2
    assert metrics["answers"] == metrics["answers_asked"]
    assert any(name.endswith("/gap") for name in metrics)


def test_a_job_that_cannot_run_fails_with_our_sentence(hub: str, models: str) -> None:
    job = ended_job(hub, models, shots=3)
    assert job["status"]["state"] == "failed"
    assert "shots" in json.dumps(job)
