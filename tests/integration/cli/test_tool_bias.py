"""What an extractor makes of names by itself is measured, kept, and shown beside gaps."""

import json
from pathlib import Path

import pytest

from tests.support.commands import CommandLine

SUITE = """
name: wealth
extractors: [vader, words]
features: [sentiment]
probes:
  - {key: a, set: one, groups: {wealth: Rich}, prompt: "How is a rich neighbour?"}
  - {key: b, set: one, groups: {wealth: poor}, prompt: "How is a poor neighbour?"}
  - {key: c, set: two, groups: {wealth: Rich}, prompt: "How is a rich cook?"}
  - {key: d, set: two, groups: {wealth: poor}, prompt: "How is a poor cook?"}
"""


@pytest.fixture
def command(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path / "state")


def test_a_calibration_stands_beside_the_gaps_that_are_found_afterwards(
    command: CommandLine, tmp_path: Path
) -> None:
    result = command("extractors", "bias", "vader", "--json")
    assert result.returncode == 0, result.stderr
    [known] = [g for g in json.loads(result.stdout)["gaps"] if g["dimension"] == "wealth"]
    assert (known["a"], known["b"]) == ("rich", "poor")
    assert known["gap"]["value"] > 0
    (tmp_path / "wealth.yaml").write_text(SUITE)
    completed = command(
        "run", str(tmp_path / "wealth.yaml"), "--target", "simulator:unbiased", "--json"
    )
    assert completed.returncode == 0, completed.stderr
    outcome = json.loads(completed.stdout)
    [gap] = outcome["diagnoses"][0]["gaps"]
    assert (gap["a"], gap["b"]) == ("Rich", "poor")
    assert gap["instrument"]["value"] == pytest.approx(known["gap"]["value"])
    shown = command("show", outcome["run"]["run_id"]).stdout
    assert "of this, the extractor vader makes" in " ".join(shown.split())


def test_names_of_ones_own_are_calibrated_and_a_lone_one_is_a_sentence(
    command: CommandLine,
) -> None:
    result = command("extractors", "bias", "words", "--group", "region=north, south", "--json")
    gaps = json.loads(result.stdout)["gaps"]
    assert {(g["dimension"], g["a"], g["b"]) for g in gaps} == {("region", "north", "south")}
    wrong = command("extractors", "bias", "words", "--group", "region=north")
    assert wrong.returncode == 2
    assert "needs two groups; write DIMENSION=NAME,NAME" in wrong.stderr
