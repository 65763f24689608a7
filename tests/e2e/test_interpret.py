"""Interpretation as a person asks for it: written, checked and graded on the simulator."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.support.commands import CommandLine

pytestmark = pytest.mark.slow

BOTH = ["--target", "simulator:unbiased", "--judge", "simulator:unbiased"]


def biaswatch(state: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return CommandLine(state / "state")(*words)


def test_a_table_is_interpreted_and_a_careless_report_is_caught(tmp_path: Path) -> None:
    table = ["interpret", "60", "140", "30", "170", "--groups", "men,women", "--json"]
    result = biaswatch(tmp_path, *table, *BOTH)
    assert result.returncode == 0, result.stderr
    body = json.loads(result.stdout)
    assert body.get("faults") == []
    assert (body.get("failed"), body.get("repairs")) == (False, 0)
    assert "The odds ratio of 2.429 shows more" in body["report"]
    assert (body["mean_of"], len(body["judgements"])) == (9, 9)
    result = biaswatch(tmp_path, *table, "--target", "simulator:careless", "--judge",
                     "simulator:strict")  # fmt: skip
    assert result.returncode == 3
    careless = json.loads(result.stdout)
    kinds = {"structure", "number", "slot", "claim", "attribution"}
    assert kinds <= {fault["kind"] for fault in careless["faults"]}
    assert (careless["failed"], careless["repairs"]) == (True, 2)
    assert "7.77" not in careless["report"]
    bad = biaswatch(tmp_path, *table[:-1], *BOTH, "--config", "profile=astrology")
    assert bad.returncode == 3
    assert "Unknown profile 'astrology'" in bad.stdout


def test_a_board_gets_a_report_without_any_model_and_a_text_of_others_is_checked(
    tmp_path: Path,
) -> None:
    table = ["interpret", "60", "140", "30", "170", "--groups", "men,women"]
    page = tmp_path / "board.html"
    result = biaswatch(tmp_path, *table, "--config", "profile=board", "-o", str(page))
    assert result.returncode == 0, result.stderr
    html = page.read_text("utf-8")
    assert "about 30 in 100 of men and about 15 in 100 of women" in html
    title, report, checks = (
        html.index(words) for words in ("<h1", "Comparison</h4>", "No judge was asked.")
    )
    assert title < report < checks
    report_file = tmp_path / "text.md"
    report_file.write_text(
        "The odds ratio is 2.43. The relative risk is 2.43. Men fare better.", "utf-8"
    )
    judged = ["--report", str(report_file)]
    result = biaswatch(tmp_path, *table, *judged, "--structure", "none", "--json")
    assert result.returncode == 3, result.stderr
    body = json.loads(result.stdout)
    assert [fault["kind"] for fault in body["faults"]] == ["place"]
    assert [item["number"] for item in body["unchecked"]] == [3]
    assert (body["calls"], body["judges"]) == (0, [])
    empty = tmp_path / "empty.md"
    empty.write_text("\n")
    refused = biaswatch(tmp_path, *table, "--report", str(empty))
    assert (refused.returncode, f"The report {empty} is empty" in refused.stderr) == (2, True)
    result = biaswatch(tmp_path, *table, *judged, "-o", "report.odt")
    assert result.returncode == 2
    assert "must end in one of .md, .html" in result.stderr


def test_a_missing_key_is_named_at_once(tmp_path: Path) -> None:
    result = biaswatch(tmp_path, "interpret", "60", "140", "30", "170", "--groups", "men,women")
    assert result.returncode == 3
    assert "There is no key for openai-responses" in result.stderr
    assert "Without a model, code writes a page: add --config profile=board." in result.stderr


@pytest.mark.slow
def test_judges_that_read_nothing_are_named_and_do_not_count(tmp_path: Path) -> None:
    table = [
        "interpret",
        "60",
        "140",
        "30",
        "170",
        "--groups",
        "men,women",
        "--config",
        "controls_per_kind=8",
    ]
    judges = ["approving", "guessing", "copying", "unbiased"]
    named = [word for judge in judges for word in ("--judge", f"simulator:{judge}")]
    result = biaswatch(tmp_path, *table, "--json", "--target", "simulator:unbiased", *named)
    assert result.returncode == 0, result.stderr
    body = json.loads(result.stdout)
    fails = {
        judge["judge"]: {kind["reason"] for kind in judge["kinds"] if kind.get("reason")}
        for judge in body["judges"]
    }
    assert fails["simulator:approving"] == {"it always says 1"}
    assert any("where the right reply is" in reason for reason in fails["simulator:guessing"])
    assert fails["simulator:copying"] == {"it copies the text back"}
    assert fails["simulator:unbiased"] == set()
    counted = {
        judgement["judge"] for judgement in body["judgements"] if judgement.get("counts", True)
    }
    assert counted == {"simulator:unbiased"}
    assert body["calls"] == 1 + 4 * (9 + 208 + 1)
    report = biaswatch(tmp_path, *table, "--target", "simulator:unbiased", *named)
    assert "it always says 1; not counted." in " ".join(report.stdout.split())
    assert "Votes that do not count:" in report.stdout
    off = biaswatch(tmp_path, *table, "--target", "simulator:unbiased", *named, "--no-controls")
    assert "not put to the test: controls were switched off" in off.stdout


def test_the_demo_interprets_its_finding_and_a_run_can_be_interpreted_later(tmp_path: Path) -> None:
    result = biaswatch(tmp_path, "demo", "--json")
    assert result.returncode == 0, result.stderr
    outcome = json.loads(result.stdout)
    [result] = outcome["interpretations"]
    assert result["about"] == "simulator:biased, rating: black against white"
    assert (result["faults"], result["mean_of"]) == ([], len(result["dimensions"]))
    run_id = outcome["run"]["run_id"]
    report = biaswatch(tmp_path, "report", run_id, "--interpret", *BOTH)
    assert report.returncode == 0, report.stderr
    assert "### simulator:biased, rating: black against white" in report.stdout
    tables = biaswatch(tmp_path, "report", run_id, "--format", "ll144")
    assert tables.returncode == 0, tables.stderr
    assert "| Black or African American |" in tables.stdout
    assert "not a bias audit" in tables.stdout
