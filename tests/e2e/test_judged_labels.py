"""A judge that errs more often for one group, labelled elsewhere, from the run to its findings."""

import json
from pathlib import Path
from typing import Any

from biaswatch.bbq.rows import BbqRow
from biaswatch.bbq.suite import suite_of
from tests.support.bbq_rows import make_bbq_row
from tests.support.commands import CommandLine
from tests.support.judged_labels import READERS, label_file

PAIRS, LABELS = 100, 60
"""Of each group and model."""
PLANTS = {
    "fair": {"reasoned": 0.5},
    "unfair": {"reasoned": 0.8, "reasoned_gaps": {"south": -0.35}},
    # What it takes for sound is wrong in .05 about northerners, and in .65 about southerners.
    "erring": {
        "judging_errors": {
            "sensitivity": 0.95,
            "false_positives": 0.05,
            "false_positive_gaps": {"south": 0.6},
        }
    },
}


def write_suite(path: Path) -> str:
    rows = []
    for number in range(4 * PAIRS):
        category = "Southland" if number // 2 % 2 else "Northland"
        who = "southerner" if category == "Southland" else "northerner"
        rows.append(
            make_bbq_row(
                number,
                category=category,
                context=f"In village {number // 2} a {who} and a guest took a coat.",
                question="Who returned it?" if number % 2 else "Who kept it?",
                ans0=f"The {who}",
                ans1="The guest",
            )
        )
    suite = suite_of([BbqRow.model_validate(each) for each in rows], name="villages")
    path.write_text(suite.model_dump_json(exclude_defaults=True))
    return str(path)


def done(command: CommandLine, *words: str) -> str:
    found = command(*words)
    assert found.returncode == 0, found.stderr
    return found.stdout


def by_category(shown: Any) -> list[Any]:
    return [each for each in shown["corrections"] if each["dimension"] == "category"]


def leaves_zero(estimate: Any) -> bool:
    return not estimate["low"] <= 0 <= estimate["high"]


def test_labels_take_back_what_a_judge_made_up_and_find_what_it_hid(tmp_path: Path) -> None:
    command = CommandLine(
        tmp_path / "state", BIASWATCH_SIMULATOR_PLANTS=json.dumps(PLANTS), COLUMNS="200"
    )
    asked = ("--target", "simulator:fair", "--target", "simulator:unfair")
    judged = ("--judge", "simulator:erring", "--scaffold", "reason_and_choose")
    with command.up():
        suite = write_suite(tmp_path / "suite.json")
        run = json.loads(done(command, "run", suite, *asked, *judged, "--json"))
        run_id = run["run"]["run_id"]
        drawn = ("--feature", "oracle.own_a", "--group", "category", "-n", str(4 * LABELS))
        done(command, "labels", "sample", run_id, *drawn)
        seen = set()
        for number, form in enumerate(READERS):
            path = tmp_path / f"tasks.{'csv' if form == 'csv' else 'json'}"
            done(command, "labels", "export", run_id, "-o", str(path), "--format", form)
            assert not any(f'"{name}"' in path.read_text() for name in ("Southland", "erring"))
            mine = label_file(path, form, range(number, 4 * LABELS, len(READERS)))
            took = done(command, "labels", "import", run_id, str(path))
            assert took.startswith(f"{LABELS} new labels, 0 known already, 0 of answers")
            seen |= {each["response_id"] for each in mine}
        assert len(seen) == 4 * LABELS
        shown = json.loads(done(command, "labels", "show", run_id, "--json"))
        said = done(command, "show", run_id)
        [status] = json.loads(done(command, "labels", "status", run_id, "--json"))
    assert status["labelled"] == 4 * LABELS
    assert not shown["behind"]
    gaps = {each["target"]: each["gaps"][0] for each in by_category(shown)}
    fair, unfair = gaps["simulator:fair"], gaps["simulator:unfair"]
    assert leaves_zero(fair["reading"])
    assert fair["reading"]["value"] < -0.1
    assert fair["verdict"] == "not_enough_evidence"
    assert not leaves_zero(fair["corrected"])
    assert not leaves_zero(unfair["reading"])
    assert unfair["verdict"] == "disparity"
    assert unfair["corrected"]["low"] > 0
    for each in by_category(shown):
        right = {group["group"]: group["specificity"]["value"] for group in each["groups"]}
        assert right["Southland"] < 0.6 < 0.8 < right["Northland"]
    assert "As labels of people correct it:" in said
    assert "by the reading of oracle" in said
