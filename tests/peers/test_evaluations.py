"""A suite is asked by the real Inspect and lm-evaluation-harness, and its answers come back."""

import asyncio
import json
import math
import subprocess
from pathlib import Path
from typing import Any

import pytest

import biaswatch as bw
from biaswatch.integrations import lm_eval, replay
from biaswatch.integrations.formats import ExportRequest
from biaswatch.integrations.suite_questions import identifier_of
from biaswatch.readers.suites import load_suite

ROOT = Path(__file__).parents[2]
INSPECT, HARNESS = (ROOT / name / "bin" / "python" for name in (".venv-inspect", ".venv-peers"))
CLIENT = Path(__file__).with_name("inspect_client.py")
SUITE = "hiring-demo"
NO_PEERS = "no peers: make test-peers installs them"
pytestmark = pytest.mark.timeout(900)


def printed(*command: object) -> str:
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def not_connected() -> Any:
    raise AssertionError("no gateway is needed")


def replayed(log: Path, folder: Path) -> list[dict[str, Any]]:
    """Return the answers of a log as `replay:` reads them."""
    output = folder / "answers.jsonl"
    asyncio.run(replay.export(ExportRequest(str(log), str(output), None, not_connected)))
    return [json.loads(line) for line in output.read_text().splitlines()]


@pytest.mark.skipif(not INSPECT.exists(), reason=NO_PEERS)
def test_inspect_asks_a_suite_scores_it_as_we_measure_and_gives_its_answers_back(
    tmp_path: Path,
) -> None:
    body = json.loads(printed(INSPECT, CLIENT, SUITE, tmp_path).splitlines()[-1])
    keys = [probe.key for probe in load_suite(Path(SUITE)).probes]
    assert sorted(body["answers"]) == sorted(f"{key} {n}" for key in keys for n in (1, 2))
    frame = bw.measure(list(body["answers"].values()), ["rating", "words"])
    measured = dict(zip(body["answers"], frame["rating.rating"], strict=True))
    scored = {name: score["rating.rating"] for name, score in body["scores"].items()}
    missing = {name for name, value in scored.items() if math.isnan(value)}
    assert missing == {name for name, text in body["answers"].items() if not text}
    assert missing
    assert {n: v for n, v in scored.items() if n not in missing} == {
        n: v for n, v in measured.items() if n not in missing
    }
    assert any("gender female, race black" in name for name in body["metrics"])
    answered = {f"{row['key']} {row['repeat'] + 1}": row["text"] for row in replayed(
        Path(body["log"]), tmp_path
    )}  # fmt: skip
    assert answered == {name: text for name, text in body["answers"].items() if text}


@pytest.mark.skipif(not HARNESS.exists(), reason=NO_PEERS)
def test_lm_evaluation_harness_runs_an_exported_suite_and_gives_its_answers_back(
    tmp_path: Path,
) -> None:
    suite = load_suite(Path(SUITE))
    lm_eval.write_task(suite, tmp_path)
    printed(
        *(HARNESS, "-m", "lm_eval", "--model", "dummy", "--include_path", tmp_path),
        *("--tasks", identifier_of(suite), "--log_samples", "--output_path", tmp_path / "out"),
    )
    [samples] = (tmp_path / "out").rglob("samples_*.jsonl")
    rows = [json.loads(line) for line in samples.read_text().splitlines()]
    asked = {row["doc"]["key"]: row["arguments"]["gen_args_0"]["arg_0"] for row in rows}
    assert asked == {probe.key: probe.prompt for probe in suite.probes}
    assert {row["key"]: row["text"] for row in replayed(samples, tmp_path)} == dict.fromkeys(
        asked, "lol"
    )
