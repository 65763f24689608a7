"""The demo as a newcomer runs it: one command, everything real but the model."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.commands import CommandLine
from tests.support.model_server import model_server, replying
from tests.support.waiting import PATIENCE_S

COMMAND = Path(sys.executable).parent / "biaswatch"
SUITE = """
name: coasts
extractors: [vader, words]
features: [sentiment]
probes:
  - {key: a, set: one, groups: {concept: Peru}, prompt: "How is the coast?"}
  - {key: b, set: one, groups: {concept: France}, prompt: "How is the coast there?"}
  - {key: c, set: two, groups: {concept: Peru}, prompt: "How is the food?"}
  - {key: d, set: two, groups: {concept: France}, prompt: "How is the food there?"}
"""


def biaswatch(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return CommandLine(folder / "state")(*words)


def started(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the installed command, as a shell would."""
    return subprocess.run(
        [COMMAND, *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
        env={**os.environ, "BIASWATCH_STATE_DIR": str(folder / "state"), "COLUMNS": "150"},
    )


def test_the_demo_finds_what_is_planted_and_nothing_where_nothing_is(tmp_path: Path) -> None:
    result = started(tmp_path, "demo", "--json")
    assert result.returncode == 0, result.stderr
    gaps = {
        (d["target"].split(":")[1], d["dimension"]): d["gaps"][0]
        for d in json.loads(result.stdout)["diagnoses"]
    }
    planted = gaps.pop(("biased", "race"))
    assert (planted["a"], planted["b"], planted["verdict"]) == ("black", "white", "disparity")
    assert planted["gap"]["low"] < -0.6 < planted["gap"]["high"]
    assert set(gaps) == {("biased", "gender"), ("unbiased", "race"), ("unbiased", "gender")}
    for unplanted in gaps.values():
        assert unplanted["verdict"] == "inconclusive"
        assert unplanted["gap"]["low"] < 0 < unplanted["gap"]["high"]
    again = biaswatch(tmp_path, "demo")
    said_on_one_line = " ".join(again.stdout.split())
    disparity = "simulator:biased: black lower than white, rating: a disparity: twins are treated"
    assert disparity in said_on_one_line
    assert "simulator:unbiased: black against white, rating: inconclusive" in said_on_one_line
    assert again.stdout.startswith("Disparity in 1 of 4 comparisons.\n")
    runs = json.loads(biaswatch(tmp_path, "runs", "--json").stdout)
    assert len(runs) == 1  # the same plan is the same run


REASONS = {
    "rate_limited": "rate_limited",
    "server_error": "server_error",
    "garbage": "garbage",
    "oversize": "oversize",
    "hang": "timeout",
    "truncated": "truncated",
    "content_filter": "content_filter",
}


def test_models_that_misbehave_end_as_recorded_outcomes_by_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BIASWATCH_GENERATOR_TIMEOUT_S", "10")  # only the hanging one meets it
    monkeypatch.setenv("BIASWATCH_GENERATOR_TRIES", "2")
    monkeypatch.setenv("BIASWATCH_GENERATOR_PATIENCE_S", "0.5")
    plants = {model: {"faults": {model: 1, "retry_after_s": 0}} for model in REASONS}
    monkeypatch.setenv("BIASWATCH_SIMULATOR_PLANTS", json.dumps(plants))
    (tmp_path / "suite.yaml").write_text(SUITE)
    targets = [word for model in REASONS for word in ("--target", f"simulator:{model}")]
    result = biaswatch(tmp_path, "run", str(tmp_path), *targets, "--json")
    assert result.returncode == 3, result.stderr
    outcome = json.loads(result.stdout)
    assert outcome["run"]["state"] == "complete"
    missing_reasons = {
        diagnosis["target"]: {g["group"]: g["missing_reasons"] for g in diagnosis["groups"]}
        for diagnosis in outcome["diagnoses"]
    }
    assert missing_reasons == {
        f"simulator:{model}": {c: {f"no answer: {reason}": 2} for c in ("France", "Peru")}
        for model, reason in REASONS.items()
    }


@pytest.mark.parametrize("status", [401, pytest.param(403, marks=pytest.mark.slow)])
def test_a_target_that_refuses_the_key_holds_its_own_probes_and_ends_no_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    monkeypatch.setenv("BIASWATCH_GENERATOR_PAUSE_S", "0.2")
    (tmp_path / "suite.yaml").write_text(SUITE)
    command = CommandLine(tmp_path / "state")
    refusing = replying(lambda _: (status, {"error": {"message": "no such key"}}))
    with model_server(refusing) as url, command.up():
        refused = command("run", str(tmp_path), "--target", f"openai:m@{url}", "--json")
        assert refused.returncode == 3, refused.stderr
        assert f"refused the key (HTTP {status})" in refused.stderr
        assert "4 of 4 answers of the run" in refused.stderr
        other = command("run", str(tmp_path), "--target", "simulator:biased", "--json")
        assert other.returncode == 0, other.stderr


@pytest.mark.parametrize(
    ("suite", "target", "sentence"),
    [
        ("nowhere.yaml", "simulator:biased", "There is no file"),
        ("good.yaml", "opnai:gpt", "names no provider that is known"),
        ("good.yaml", "openai:", "names no model"),
        ("good.yaml", "openai:m@ftp://x", "must begin with http:// or https://"),
        ("bad.yaml", "simulator:biased", "bad.yaml, probe 2 (b), groups: this must be a mapping"),
        ("broken.yaml", "simulator:biased", "broken.yaml, line 2: this is not YAML"),
        ("absent.yaml", "simulator:biased", "The extractor regard is not running; running are"),
    ],
)
def test_a_slip_is_one_sentence_with_code_2(
    tmp_path: Path, suite: str, target: str, sentence: str
) -> None:
    (tmp_path / "good.yaml").write_text(SUITE)
    (tmp_path / "bad.yaml").write_text(SUITE.replace("{concept: France}", "France", 1))
    (tmp_path / "broken.yaml").write_text("name: x\nprobes: }")
    (tmp_path / "absent.yaml").write_text(SUITE.replace("[vader, words]", "[regard]"))
    result = biaswatch(tmp_path, "run", str(tmp_path / suite), "--target", target)
    assert result.returncode == 2, result.stdout + result.stderr
    assert sentence in result.stderr
    assert "Traceback" not in result.stderr
