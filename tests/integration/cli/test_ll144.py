"""Tables in the format of Local Law 144 from a file of cases."""

import csv
from pathlib import Path
from statistics import median

import pytest

from tests.support.commands import CommandLine


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    path = tmp_path / "cases.csv"
    rows = [("sex", "race", "score")]
    rows += [("male", "a", str(n % 10)) for n in range(60)]
    rows += [("female", "b", str(n % 8)) for n in range(40)]
    rows += [("", "b", "9"), ("", "b", "9"), ("male", "a", ""), ("other", "a", "9")]
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


def test_scoring_rates_are_of_scores_above_the_median_of_all(cases: Path, tmp_path: Path) -> None:
    said = CommandLine(tmp_path / "state")(
        "ll144", str(cases), "--group", "sex", "--group", "race", "--score", "score"
    )
    assert said.returncode == 0, said.stderr
    scores = [n % 10 for n in range(60)] + [n % 8 for n in range(40)] + [9, 9, 9]
    middle = median(scores)
    male = sum(n % 10 > middle for n in range(60)) / 60
    female = sum(n % 8 > middle for n in range(40)) / 40
    assert f"| male | 60 | {100 * male:.1f} % | 1.00 |" in said.stdout
    assert f"| female | 40 | {100 * female:.1f} % | {female / male:.2f} |" in said.stdout
    assert "| other | 1 | 100.0 % | - | fewer than 2 % of the cases" in said.stdout
    assert "unknown category, in no row: 2. Cases without a score, in no row: 1." in said.stdout
    for title in ("## sex\n", "## race\n", "## sex x race\n", "They are no bias audit"):
        assert title in said.stdout


def test_selection_rates_count_from_a_score_on(cases: Path, tmp_path: Path) -> None:
    command = CommandLine(tmp_path / "state")
    words = ("ll144", str(cases), "--group", "sex", "--score", "score")
    said = command(*words, "--selected-at-least", "7", "-o", str(tmp_path / "out.md"))
    assert said.returncode == 0, said.stderr
    assert "| male | 60 | 30.0 % | 1.00 |" in (tmp_path / "out.md").read_text()
    wrong = command("ll144", str(cases), "--group", "age", "--score", "score")
    assert wrong.returncode == 2
    assert "has no column 'age'" in wrong.stderr
