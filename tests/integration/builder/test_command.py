"""The verb `build` as a person types it."""

import json
import subprocess
from pathlib import Path

from tests.support.commands import CommandLine

ROOT = Path(__file__).parents[3]
PLAN = ROOT / "suites" / "countries" / "plan.yaml"


def biaswatch(tmp_path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return CommandLine(tmp_path / "state")(*words)


def test_the_shipped_suite_is_built_and_told_about(tmp_path: Path) -> None:
    result = biaswatch(tmp_path, "build", str(PLAN), "-o", str(tmp_path / "out"), "--json")
    assert result.returncode == 0, result.stderr
    body = json.loads(result.stdout)
    assert (body["prompts"], body["concepts"], body["faults"]) == (1575, 21, {})
    assert (tmp_path / "out" / "suite.yaml").exists()
    assert not (tmp_path / "state").exists()


def test_a_model_that_does_not_do_what_it_is_asked_ends_in_a_sentence(tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = biaswatch(
        tmp_path, "build", str(PLAN), "-o", str(out), "--model", "simulator:unbiased"
    )
    assert result.returncode == 2
    assert "The plan countries yields no prompts" in result.stderr
    assert "questions: 75 x " in result.stderr
    assert "Traceback" not in result.stderr
    assert not out.exists()


def test_a_mistake_in_a_plan_is_a_sentence_and_exit_code_2(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text("name: x\nprompts: {kind: poems}\n")
    result = biaswatch(tmp_path, "build", str(tmp_path / "plan.yaml"), "-o", str(tmp_path / "out"))
    assert result.returncode == 2
    assert result.stderr.startswith(f"biaswatch: {tmp_path / 'plan.yaml'}, line 1, domain: ")
    assert "Traceback" not in result.stderr
