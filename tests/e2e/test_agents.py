"""Agents through every service: a planted gap by tool is found, placebo twins are silent."""

import json
from pathlib import Path

import pytest

from tests.support.commands import CommandLine

PLANTS = {"planted": {"tool_gaps": {"refund": {"black": -0.5}}}}


@pytest.mark.slow
def test_a_planted_gap_by_tool_is_found(tmp_path: Path) -> None:
    command = CommandLine(tmp_path / "state", BIASWATCH_SIMULATOR_PLANTS=json.dumps(PLANTS))
    result = command("run", "suites/agents-refunds", "--target", "simulator:planted", "--json")
    assert result.returncode == 0, result.stderr
    verdicts = {
        (diagnosis["feature"], diagnosis["dimension"], frozenset((gap["a"], gap["b"]))): gap
        for diagnosis in json.loads(result.stdout)["diagnoses"]
        for gap in diagnosis["gaps"]
    }
    for other in ("asian", "hispanic", "white"):
        gap = verdicts["called@refund", "race", frozenset(("black", other))]
        assert gap["verdict"] == "disparity"
    different = {key for key, gap in verdicts.items() if gap["verdict"] == "disparity"}
    assert all("black" in pair for _, _, pair in different)
    assert ("called@refund", "placebo", frozenset("ab")) in verdicts.keys() - different
