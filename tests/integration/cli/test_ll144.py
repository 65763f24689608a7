"""Tables in the format of Local Law 144, from a file of applicants and from a run's answers."""

import csv
import io
import json
import re
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pandas as pd
import pytest

from biaswatch.shared.contracts import Response
from biaswatch.shared.store import Store
from tests.support.commands import CommandLine

REPEATS = 10


@pytest.fixture
def applicants(tmp_path: Path) -> Path:
    path = tmp_path / "applicants.csv"
    rows = [("sex", "race", "score")]
    rows += [("male", "a", str(n % 10)) for n in range(60)]
    rows += [("female", "b", str(n % 8)) for n in range(40)]
    rows += [("", "b", "9"), ("", "b", "9"), ("male", "a", ""), ("other", "a", "9")]
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


def test_scoring_rates_are_of_scores_above_the_median_of_all(
    applicants: Path, tmp_path: Path
) -> None:
    result = CommandLine(tmp_path / "state")(
        "ll144",
        str(applicants),
        "--group",
        "sex",
        "--group",
        "race",
        "--score",
        "score",
        "--format",
        "md",
    )
    assert result.returncode == 0, result.stderr
    scores = [n % 10 for n in range(60)] + [n % 8 for n in range(40)] + [9, 9, 9]
    middle = median(scores)
    male = sum(n % 10 > middle for n in range(60))
    female = sum(n % 8 > middle for n in range(40))
    rates = (f"{100 * male / 60:.1f} %", f"{100 * female / 40:.1f} %")
    ratio = f"{(female / 40) / (male / 60):.2f}"
    assert "| sex | applicants | above median | scoring rate | impact ratio |" in result.stdout
    assert f"| male | 60 | {male} | {rates[0]} | 1.00 |" in result.stdout
    assert f"| female | 40 | {female} | {rates[1]} | {ratio} |" in result.stdout
    assert "| other | 1 | 1 | 100.0 % | - |  | left out: under 2 %" in result.stdout
    assert "because a category is unknown: 2." in result.stdout
    assert "Of 104 applicants, 1 has no score." in result.stdout
    for title in ("## sex\n", "## race\n", "## sex x race\n", "They are not a bias audit"):
        assert title in result.stdout


def test_printed_tables_fit_80_columns_and_cut_nothing(applicants: Path, tmp_path: Path) -> None:
    result = CommandLine(tmp_path / "state", COLUMNS="80")(
        "ll144", str(applicants), "--group", "sex", "--group", "race", "--score", "score"
    )
    assert result.returncode == 0, result.stderr
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert "\u2026" not in result.stdout
    assert re.search(r"^male +60 +\d+ +\d+\.\d % +1\.00", result.stdout, re.MULTILINE)
    for words in (
        "They are not a bias audit",
        "because a category is unknown: 2.",
        "Of 104 applicants",
    ):
        assert words in " ".join(result.stdout.split())


def test_selection_rates_count_from_a_score_on(applicants: Path, tmp_path: Path) -> None:
    command = CommandLine(tmp_path / "state")
    words = ("ll144", str(applicants), "--group", "sex", "--score", "score", "--format", "md")
    selected = (*words, "--selected-at-least", "7")
    result = command(*selected, "-o", str(tmp_path / "out.md"))
    assert result.returncode == 0, result.stderr
    assert "| male | 60 | 18 | 30.0 % | 1.00 |" in (tmp_path / "out.md").read_text()
    everybody = command(*selected, "--small-share", "0")
    assert "| other | 1 | 1 | 100.0 % | 1.00 |" in everybody.stdout
    hidden = command(*selected, "--unknown", "Other")
    assert "because a category is unknown: 3." in hidden.stdout
    assert "Applicants without a label, or with other, count as unknown." in hidden.stdout
    wrong = command("ll144", str(applicants), "--group", "age", "--score", "score")
    assert wrong.returncode == 2
    assert "has no column 'age'" in wrong.stderr
    assert "There is no file a.csv" in command("ll144", "a.csv").stderr
    unnamed = command("ll144", str(applicants)).stderr
    assert "with --group and --score. Its columns are" in unnamed


def test_a_tool_that_scores_and_selects_has_both_rates_in_one_document(
    applicants: Path, tmp_path: Path
) -> None:
    command = CommandLine(tmp_path / "state")
    words = (
        "ll144",
        str(applicants),
        "--group",
        "sex",
        "--score",
        "score",
        "--config",
        "both=true",
    )
    both = command(*words, "--selected-at-least", "5", "--format", "md")
    assert both.returncode == 0, both.stderr
    selection, scoring = both.stdout.split("## Scoring rates")
    assert "## Selection rates" in selection
    assert "| sex | applicants | selected | selection rate |" in selection
    assert "| sex | applicants | above median | scoring rate |" in scoring
    alone = command(*words)
    assert alone.returncode == 2
    assert "needs --selected-at-least" in alone.stderr


def test_an_applicant_with_several_rows_counts_once_by_their_mean(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("who,sex,score\n1,m,1\n1,m,5\n2,m,2\n2,m,3\n3,f,3\n3,f,\n4,f,2\n4,f,2\n")
    words = ("ll144", str(path), "--group", "sex", "--score", "score", "--selected-at-least", "3")
    result = CommandLine(tmp_path / "state")(*words, "--unit", "who", "--format", "csv")
    by_category = {row["category"]: row for row in csv.DictReader(io.StringIO(result.stdout))}
    assert [by_category[sex]["applicants"] for sex in "mf"] == ["2", "2"]
    assert [by_category[sex]["selected"] for sex in "mf"] == ["1", "1"]


def test_an_applicant_of_two_categories_is_refused_and_not_counted_twice(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("who,sex,score\n1,m,1\n1,,5\n2,f,2\n")
    words = ("ll144", str(path), "--group", "sex", "--score", "score", "--unit", "who")
    result = CommandLine(tmp_path / "state")(*words)
    assert result.returncode == 2
    assert "applicant 1 has several categories of sex: m and none" in result.stderr


def hiring_suite() -> dict[str, Any]:
    """Return 60 applicants; some of unknown sex, some without any race, a small category."""
    races = ["white", "black", "asian"]
    return {
        "name": "hiring",
        "extractors": ["rating"],
        "features": ["rating"],
        "selected_at_least": {"rating": 3},
        "probes": [
            {
                "key": f"cv{n:02}",
                "prompt": f"Rate CV {n} from 1 to 4.",
                "groups": {
                    "sex": "unknown" if n % 13 == 0 else "female" if n % 2 else "male",
                    **({} if n % 17 == 0 else {"race": "other" if n == 1 else races[n % 3]}),
                },
            }
            for n in range(60)
        ],
    }


def recording(path: Path, suite: dict[str, Any]) -> None:
    """Write ratings that often lie on both sides of the threshold; some answers have none."""
    rng = np.random.default_rng(7)
    lines = []
    for probe in suite["probes"]:
        level = rng.normal(2.9, 0.5)
        for repeat in range(REPEATS):
            rating = int(np.clip(round(rng.normal(level, 0.8)), 1, 4))
            text = f"Fine.\n\nRating: {rating}" if rng.random() > 0.05 else "I would rather not."
            text = "I would rather not." if probe["key"] == "cv05" else text
            lines.append({"key": probe["key"], "repeat": repeat, "text": text})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def stored_answers(state: Path, run_id: str) -> pd.DataFrame:
    """Read what the store has of a run, with a regular expression instead of the extractor."""
    rows = []
    with Store.open(f"sqlite:///{state / 'store.db'}") as store:
        for response in store.records.read(Response, run_id=run_id):
            rated = re.search(r"Rating: (\d)", response.text or "")
            score = float(rated.group(1)) if rated else np.nan
            groups = {name: response.probe.groups.get(name) for name in ("sex", "race")}
            rows.append({"cv": response.probe.key, "score": score, **groups})
    return pd.DataFrame(rows)


def by_pandas(answers: pd.DataFrame, dimensions: list[str]) -> tuple[pd.DataFrame, int]:
    """Return the table of some dimensions and how many applicants are of unknown category."""
    applicants = answers.groupby("cv").agg({"score": "mean", "sex": "first", "race": "first"})
    scored = applicants.dropna(subset="score")
    known = scored[~scored[dimensions].isin(["unknown", None]).any(axis=1)]
    table = (
        (known["score"] >= 3)
        .groupby([known[name] for name in dimensions])
        .agg(["size", "sum", "mean"])
    )
    large = table["size"] >= 0.02 * table["size"].sum()
    table["ratio"] = (table["mean"] / table["mean"][large].max()).where(large)
    return table, len(scored) - len(known)


def test_a_run_with_ten_repeats_has_the_numbers_of_an_independent_script(tmp_path: Path) -> None:
    command, suite = CommandLine(tmp_path / "state"), hiring_suite()
    (tmp_path / "suite.json").write_text(json.dumps(suite))
    recording(tmp_path / "answers.jsonl", suite)
    run = ("run", str(tmp_path / "suite.json"), "--target", f"replay:{tmp_path}/answers.jsonl")
    result = command(*run, "--repeats", str(REPEATS), "--json")
    assert result.returncode == 0, result.stderr
    run_id = json.loads(result.stdout)["run"]["run_id"]
    answers = stored_answers(tmp_path / "state", run_id)
    assert len(answers) == 60 * REPEATS
    result = command("ll144", run_id, "--format", "json")
    assert result.returncode == 0, result.stderr
    [audit] = json.loads(result.stdout)
    impact = audit["impact"]
    assert (impact["measure"], impact["applicants"], impact["without_score"]) == (
        "selection",
        60,
        1,
    )
    assert [table["dimensions"] for table in impact["tables"]] == [
        ["race"],
        ["sex"],
        ["race", "sex"],
    ]
    for table in impact["tables"]:
        expected, unknown = by_pandas(answers, table["dimensions"])
        assert table["unknown"] == unknown
        assert len(table["rows"]) == len(expected)
        for row in table["rows"]:
            names = row["categories"]
            known = expected.loc[tuple(names) if len(names) > 1 else names[0]]
            assert (row["applicants"], row["selected"]) == (known["size"], known["sum"])
            assert row["rate"] == known["mean"]
            ratio = None if np.isnan(known["ratio"]) else known["ratio"]
            assert row["impact_ratio"] == ratio
    report = command("report", run_id, "--format", "ll144").stdout
    assert report == command("ll144", run_id, "--format", "md").stdout
    women = by_pandas(answers, ["sex"])[0].loc["female"]
    counts = f"| female | {women['size']:.0f} | {women['sum']:.0f} | {100 * women['mean']:.1f} %"
    assert counts in report
    assert "600 of 600 answers" in report
    scoring = command("ll144", run_id, "--group", "sex", "--selected-at-least", "4")
    assert "Selected: applicants with a score of 4 or more." in scoring.stdout
    assert "\nrace\n" not in scoring.stdout
    assert "it has race, sex." in command("ll144", run_id, "--group", "age").stderr
    assert "it has rating." in command("ll144", run_id, "--score", "length").stderr


def test_a_run_whose_suite_names_no_selection_gets_scoring_rates(tmp_path: Path) -> None:
    command, suite = CommandLine(tmp_path / "state"), hiring_suite()
    del suite["selected_at_least"]
    (tmp_path / "suite.json").write_text(json.dumps(suite))
    recording(tmp_path / "answers.jsonl", suite)
    run = ("run", str(tmp_path / "suite.json"), "--target", f"replay:{tmp_path}/answers.jsonl")
    run_id = json.loads(command(*run, "--repeats", "3", "--json").stdout)["run"]["run_id"]
    answers = stored_answers(tmp_path / "state", run_id)
    middle = answers.groupby("cv")["score"].mean().median()
    result = command("ll144", run_id, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert {(row["measure"], float(row["threshold"])) for row in rows} == {("scoring", middle)}
