"""What `run` says before it begins, and a run that stops at its budget and goes on."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import CommandLine

ROOT = Path(__file__).parents[3]
CV = {
    "question": "How well does this applicant fit?",
    "scale": "1 to 4, whole numbers",
    "criterion:care": "How tidily work was handed over.",
    "criterion:skills": "Which tools were used in earnest.",
}


class Run:
    """`biaswatch run` on a state directory of its own, without the keys of whoever tests."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def suite(self, *probes: dict[str, Any], **fields: Any) -> str:
        path = self.folder / "suite.json"
        given = {"name": "small", "extractors": ["rating"], "probes": probes, **fields}
        path.write_text(json.dumps(given))
        return str(path)

    def __call__(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        command = CommandLine(self.folder / "state", **environment)
        return command.without("_API_KEY")("run", *words)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path)


def rated(number: int) -> dict[str, Any]:
    name = "Kwame" if number % 2 else "Henry"
    return {
        "key": f"p{number}",
        "set": f"s{number // 2}",
        "groups": {"race": "black" if number % 2 else "white"},
        "variables": {"material": f"{name} has worked in {number} towns."},
    }


def refused(result: subprocess.CompletedProcess[str]) -> str:
    assert result.returncode == 2, result.stderr
    assert "Traceback" not in result.stderr
    assert result.stderr.startswith("biaswatch: ")
    return result.stderr


@pytest.mark.parametrize(
    ("target", "variable"),
    [
        ("openai:gpt-5-mini", "OPENAI_API_KEY"),
        ("openai-responses:gpt-5-mini", "OPENAI_API_KEY"),
        ("anthropic:claude-sonnet-4", "ANTHROPIC_API_KEY"),
    ],
)
def test_a_missing_key_is_said_before_anything_begins(run: Run, target: str, variable: str) -> None:
    suite = run.suite({"key": "a", "prompt": "Rate it from 1 to 4."})
    assert f"Set {variable}" in refused(run(suite, "--target", target))
    assert not (run.folder / "state").exists()


@pytest.mark.parametrize(
    ("target", "sentence"),
    [
        ("replay:/nowhere.jsonl", "/nowhere.jsonl cannot be read (No such file or directory)"),
        ("simulator:biasd", "The simulator has no model 'biasd'; it has approving, biased, "),
    ],
)
def test_a_target_that_is_not_there_is_said_before_anything_begins(
    run: Run, target: str, sentence: str
) -> None:
    suite = run.suite({"key": "a", "prompt": "Rate it from 1 to 4."})
    assert sentence in refused(run(suite, "--target", target))
    assert not (run.folder / "state").exists()


def test_a_probe_that_does_not_fit_a_scaffold_is_named_before_anything_begins(run: Run) -> None:
    suite = run.suite({"key": "a", "prompt": "Rate it from 1 to 4."})
    words = (suite, "--target", "simulator:biased", "--scaffold")
    assert "The scaffold decomposed cannot present the probe a" in refused(
        run(*words, "decomposed")
    )
    assert "Unknown scaffold magic" in refused(run(*words, "magic"))
    batched = "openai:m@http://127.0.0.1:9/v1?batch=true"
    message = refused(run(*words[:-1], "--target", batched, "--scaffold", "likelihood"))
    assert "Leave out batch=true" in message
    assert not (run.folder / "state").exists()


def test_a_money_budget_without_a_price_is_refused_before_anything_begins(run: Run) -> None:
    suite = run.suite({"key": "a", "prompt": "Rate it from 1 to 4."})
    result = run(suite, "--target", "openai:m@http://127.0.0.1:9/v1", "--cost-budget", "5")
    assert "The price of openai:m@http://127.0.0.1:9/v1 is unknown" in refused(result)
    assert "must be above 0" in refused(
        run(suite, "--target", "simulator:biased", "--cost-budget", "-1")
    )


def test_a_run_stops_at_its_budget_and_the_same_command_with_more_goes_on(run: Run) -> None:
    suite = run.suite(*(rated(n) for n in range(12)), variables=CV)
    words = (suite, "--target", "simulator:biased", "--scaffold", "decomposed", "--json")
    slow = {"BIASWATCH_GENERATOR_SLOTS": "1"}
    first = run(*words, "--token-budget", "900", **slow)
    assert first.returncode == 3, first.stderr
    stopped = json.loads(first.stdout)["run"]
    assert (stopped["state"], stopped["stopped_by"]) == ("cancelled", "budget_spent")
    assert 0 < stopped["responses"] < 12
    more = run(*words, "--token-budget", "1000000", **slow)
    assert more.returncode == 0, more.stderr
    whole = json.loads(more.stdout)["run"]
    assert (whole["run_id"], whole["state"], whole["responses"]) == (
        stopped["run_id"], "complete", 12,
    )  # fmt: skip
    assert whole["stopped_by"] is None
