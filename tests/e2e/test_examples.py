"""The examples of a gate in CI run as a team runs them, and stop what they are to stop."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "failed"),
    [("biased", ["race"]), pytest.param("unbiased", [], marks=pytest.mark.slow)],
)
def test_the_gate_fails_for_the_group_that_is_treated_differently_and_no_other(
    tmp_path: Path, target: str, failed: list[str]
) -> None:
    (tmp_path / "suites").symlink_to(ROOT / "suites")
    (tmp_path / "test_hiring.py").symlink_to(ROOT / "examples" / "ci-gate" / "test_hiring.py")
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_hiring.py",
         "--biaswatch-target", f"simulator:{target}", "--rootdir", str(tmp_path)],
        cwd=tmp_path, capture_output=True, text=True,
        env={**os.environ, "BIASWATCH_STATE_DIR": str(tmp_path / "state")},
    )  # fmt: skip
    assert result.returncode == bool(failed), result.stdout + result.stderr
    text = "FAILED test_hiring.py::test_ratings_do_not_differ[groups."
    stopped = [line.removeprefix(text).partition("]")[0] for line in result.stdout.splitlines()
               if line.startswith(text)]  # fmt: skip
    assert stopped == failed
    if failed:
        assert "black lower than white" in result.stdout


def test_the_workflow_runs_what_the_gate_needs() -> None:
    workflow = yaml.safe_load((ROOT / "examples" / "github" / "bias.yml").read_text())
    [job] = workflow["jobs"].values()
    runs = [step["run"] for step in job["steps"] if "run" in step]
    assert any("pytest" in run and "--biaswatch-target" in run for run in runs)


@pytest.mark.slow
def test_the_action_comments_the_headline_with_its_picture_and_fails(tmp_path: Path) -> None:
    client = tmp_path / "gh"  # GitHub itself is not asked: each call is written down
    client.write_text(
        f'#!/bin/sh\nprintf "%s " "$@" >>{tmp_path}/calls; echo >>{tmp_path}/calls\n'
        'case "$*" in *contents/*ref=*) exit 1;; esac\n'
    )
    client.chmod(0o755)
    action = ROOT / "examples" / "github" / "action"
    declared = yaml.safe_load((action / "action.yml").read_text())
    summary = tmp_path / "summary.md"
    result = subprocess.run(
        ["bash", str(action / "comment.sh")], capture_output=True, text=True, cwd=tmp_path,
        env={
            **os.environ, "PATH": f"{tmp_path}:{Path(sys.executable).parent}:{os.environ['PATH']}",
            "BIASWATCH_STATE_DIR": str(tmp_path / "state"), "GITHUB_STEP_SUMMARY": str(summary),
            "SUITE": "hiring-demo", "TARGET": "simulator:biased", "REPEATS": "5",
            "FAIL_ON": "disparity", "PULL_REQUEST": "7", "GH_REPO": "owner/app",
            "BRANCH": declared["inputs"]["picture-branch"]["default"],
        },
    )  # fmt: skip
    assert result.returncode == 1, result.stdout + result.stderr
    comment = summary.read_text()
    assert "Disparity in 1 of 2 comparisons" in comment
    assert "https://github.com/owner/app/blob/biaswatch-pictures/pull-7-" in comment
    calls = (tmp_path / "calls").read_text()
    assert "--method PUT repos/owner/app/contents/pull-7-" in calls
    assert "pr comment 7 --repo owner/app" in calls


def test_the_hook_refuses_a_suite_whose_twins_differ(tmp_path: Path) -> None:
    settings = yaml.safe_load((ROOT / "examples/github/pre-commit-config.yaml").read_text())
    [hook] = settings["repos"][0]["hooks"]
    (tmp_path / "twins.yaml").write_text(
        "name: twins\nextractors: [words]\nprobes:\n"
        "  - {key: a, set: one, groups: {name: Emily}, prompt: 'Emily asks for a loan.'}\n"
        "  - {key: b, set: one, groups: {name: Lakisha}, prompt: 'Lakisha wants more money now.'}\n"
    )
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    result = subprocess.run(
        [*shlex.split(hook["entry"]), str(tmp_path / "twins.yaml")],
        capture_output=True, text=True, env={**os.environ, "PATH": path},
    )  # fmt: skip
    assert result.returncode == 1, result.stdout + result.stderr


def test_every_example_is_in_the_table_of_examples_and_what_tries_it_is_there() -> None:
    table = (ROOT / "examples" / "README.md").read_text()
    there = {
        path.name for path in (ROOT / "examples").iterdir()
        if path.name not in {"README.md", "__pycache__", ".ipynb_checkpoints"}
    }  # fmt: skip
    assert {name for name in there if f"({name}" not in table} == set()
    tried = [word for word in table.split("`") if word.startswith("tests/")]
    assert tried
    assert [item for item in tried if not (ROOT / item).exists()] == []
