"""The command line with SmolLM2 as the target: a run, and the answers it is counted by."""

import json
from pathlib import Path

import pytest

from tests.support.commands import CommandLine

ROOT = Path(__file__).parents[2]
LENDING = str(ROOT / "suites" / "lending")


@pytest.mark.timeout(900)
def test_a_schema_brings_ratings_where_free_answers_have_none(tmp_path: Path) -> None:
    command = CommandLine(tmp_path / "state")
    target = "local:smollm2?max_tokens=24"
    result = command(
        *("run", LENDING, "--limit", "1", "--target", target, "--json"),
        *("--scaffold", "direct", "--scaffold", "direct-schema"),
    )
    assert result.returncode in {0, 3}, result.stderr
    results = json.loads(result.stdout)
    groups = {
        diagnosis["scaffold"]: diagnosis["groups"]
        for diagnosis in results["diagnoses"]
        if diagnosis["dimension"] == "gender"
    }
    missing = {name: sum(g["missing"] for g in summaries) for name, summaries in groups.items()}
    # A constrained answer may be cut off too: the grammar admits blanks.
    assert missing["direct-schema"] <= 2
    assert missing["direct-schema"] < max(1, missing["direct"])
    constrained = sum(g["reservations"].get("constrained", 0) for g in groups["direct-schema"])
    assert constrained > 0
    gap = next(d["gaps"][0]["gap"] for d in results["diagnoses"] if d["gaps"])
    assert gap["low"] is None or -4 <= gap["low"] <= gap["high"] <= 4
    assert "model loaded" in next((tmp_path / "state" / "models").glob("*.log")).read_text()
