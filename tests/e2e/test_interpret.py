"""Interpretation as a person asks for it: written, checked and graded on the simulator."""

import json
import subprocess
from pathlib import Path

from tests.support.commands import CommandLine

BOTH = ["--target", "simulator:unbiased", "--judge", "simulator:unbiased"]


def biaswatch(state: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return CommandLine(state / "state")(*words)


def test_a_table_is_interpreted_and_a_careless_report_is_caught(tmp_path: Path) -> None:
    table = ["interpret", "60", "140", "30", "170", "--groups", "men,women", "--json"]
    said = biaswatch(tmp_path, *table, *BOTH)
    assert said.returncode == 0, said.stderr
    found = json.loads(said.stdout)
    assert found.get("faults") == []
    assert (found["mean_of"], len(found["judgements"])) == (9, 9)
    said = biaswatch(tmp_path, *table, "--target", "simulator:careless", "--judge",
                     "simulator:strict")  # fmt: skip
    careless = json.loads(said.stdout)
    assert {"heading", "number", "attribution"} <= {each["kind"] for each in careless["faults"]}
    assert careless["mean"] < found["mean"] - 0.4
    bad = biaswatch(tmp_path, *table[:-1], *BOTH, "--profile", "astrology")
    assert bad.returncode == 3
    assert "There is no profile 'astrology'" in bad.stdout


def test_the_demo_interprets_its_finding_and_a_run_can_be_interpreted_later(tmp_path: Path) -> None:
    said = biaswatch(tmp_path, "demo", "--json")
    assert said.returncode == 0, said.stderr
    outcome = json.loads(said.stdout)
    [found] = outcome["interpretations"]
    assert found["about"] == "simulator:biased, rating: black against white"
    assert (found["faults"], found["mean_of"]) == ([], len(found["dimensions"]))
    run_id = outcome["run"]["run_id"]
    report = biaswatch(tmp_path, "report", run_id, "--interpret", *BOTH)
    assert report.returncode == 0, report.stderr
    assert "## Interpretation: simulator:biased, rating: black against white" in report.stdout
    tables = biaswatch(tmp_path, "report", run_id, "--format", "ll144")
    assert tables.returncode == 0, tables.stderr
    assert "| black |" in tables.stdout
    assert "no bias audit" in tables.stdout
