"""`biaswatch diagnose` on tables: recorded reference numbers, and every way to ask wrongly."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from tests.support.commands import CommandLine
from tests.support.golden import GOLDEN, golden_rows
from tests.support.recorded import RecordedData

DIFFER = ("kl_divergence",)
"""SAGED's code bins each sample over its own range: docs/statistics.md says why ours does not."""
METRICS = {"Max-Min", "Avg", "Std", "Max Z-Score"}


@pytest.fixture
def command(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path / "state")


def diagnosed(command: CommandLine, *words: str) -> dict[str, Any]:
    result = command("diagnose", *words, "--json")
    assert result.returncode == 0, result.stderr
    diagnosis: dict[str, Any] = json.loads(result.stdout)
    return diagnosis


def rows_of(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text().splitlines()))


def test_what_saged_computed_comes_out_of_the_command(command: CommandLine) -> None:
    expected = golden_rows("saged_summary_by_category.csv")
    names = [n for n in dict.fromkeys(row["statistics"] for row in expected) if DIFFER[0] not in n]
    asked = [word for name in names for word in ("--config", f"statistic={name}")]
    column, baseline = "g1_sentiment_score", "baseline_sentiment_score"
    table = str(GOLDEN / "saged_input.csv")
    diagnosis = diagnosed(
        command,
        table,
        "--group",
        "category",
        "--feature",
        column,
        "--config",
        f"baseline={baseline}",
        *asked,
    )
    values = {(r["statistic"], r["group"]["category"]): r["value"] for r in diagnosis["summary"]}
    for row in expected:
        if row["statistics"] in names:
            assert values[row["statistics"], row["category"]] == pytest.approx(
                float(row[column]), abs=1e-9
            )
    apart = {(r["statistic"], r["metric"]): r["value"] for r in diagnosis["disparity"]}
    rows = golden_rows("saged_disparity_by_category.csv")
    checked = 0
    for row in rows:
        if row["statistics"] in names and row["disparity_metric"] in METRICS:
            known = apart[row["statistics"], row["disparity_metric"]]
            if row[column]:
                assert known == pytest.approx(float(row[column]), abs=1e-9)
            else:
                assert known is None
            checked += 1
    assert checked == len(names) * len(METRICS)


def test_the_recorded_gaps_of_the_hiring_study_come_out_of_the_command(
    command: CommandLine, recorded_data: RecordedData, tmp_path: Path
) -> None:
    variants = json.loads((recorded_data("data/cv") / "cv_variants.json").read_text())
    about = {v["id"]: v for v in variants}
    rows = [
        {**{k: about[r["cv_id"]][k] for k in ("race", "gender")}, "rating": r["ranking"]}
        for block in json.loads((recorded_data("data/cv") / "gpt4turbo.json").read_text())
        if block["pipeline"] == "one_shot"
        for r in block["rankings"]
    ]
    path = tmp_path / "ratings.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows))
    diagnosis = diagnosed(
        command, str(path), "--group", "race", "--group", "gender", "--feature", "rating"
    )
    gaps = {(c["a"], c["b"]): c["gap"] for c in diagnosis["comparisons"]}
    scores = json.loads((recorded_data("golden") / "cv_scaffolds.json").read_text())
    known = next(v for k, v in scores.items() if "gpt" in k and "one_shot" in k)
    assert gaps["black", "white"] == pytest.approx(-known["W-B"]["diff"], abs=1e-9)
    assert gaps["female", "male"] == pytest.approx(-known["M-F"]["diff"], abs=1e-9)


def table_of(tmp_path: Path, ending: str) -> tuple[str, pd.DataFrame]:
    rng = np.random.default_rng(3)
    units = 40
    frame = pd.DataFrame(
        {
            "race": ["black", "white"] * units,
            "gender": (["f"] * 2 + ["m"] * 2) * (units // 2),
            "set": [f"s{n // 2}" for n in range(2 * units)],
            "score": rng.normal(0, 1, 2 * units) + np.tile([0.0, 0.5], units),
        }
    )
    frame.loc[3, "score"] = np.nan
    path = tmp_path / f"table{ending}"
    if ending == ".csv":
        frame.to_csv(path, index=False)
    elif ending == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_json(path, orient="records", lines=True, double_precision=15)
    return str(path), frame


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".jsonl"])
def test_every_kind_of_file_gives_the_same_numbers_as_scipy(
    command: CommandLine, tmp_path: Path, ending: str
) -> None:
    path, frame = table_of(tmp_path, ending)
    diagnosis = diagnosed(command, path, "--group", "race", "--feature", "score", "--set", "set")
    [compared] = diagnosis["comparisons"]
    wide = frame.pivot(index="set", columns="race", values="score").dropna()
    test = stats.ttest_rel(wide["black"], wide["white"])
    interval = test.confidence_interval(0.95)
    assert compared["p_value"] == pytest.approx(test.pvalue, rel=1e-2)
    assert compared["ci"] == pytest.approx([interval.low, interval.high], rel=1e-3)
    assert compared["method"] == "Student's t and relabelling, over pairs"
    assert (compared["n_a"], compared["n_b"]) == (40, 39)
    assert (compared["n_missing_a"], compared["n_missing_b"]) == (0, 1)


def test_several_groupings_give_every_group_once_and_pool_none(
    command: CommandLine, tmp_path: Path
) -> None:
    path, frame = table_of(tmp_path, ".csv")
    diagnosis = diagnosed(
        command, path, "--group", "race", "--group", "gender", "--feature", "score",
        "--config", "statistic=mean",
    )  # fmt: skip
    groups = [tuple(sorted(row["group"].items())) for row in diagnosis["summary"]]
    assert len(groups) == len(set(groups)) == 2 + 2 + 4
    by_both = frame.groupby(["race", "gender"])["score"].mean()
    for row in diagnosis["summary"]:
        if len(row["group"]) == 2:
            expected = by_both[row["group"]["race"], row["group"]["gender"]]
            assert row["value"] == pytest.approx(expected, abs=1e-12)
    assert len(diagnosis["comparisons"]) == 2


def test_repeats_of_a_prompt_are_one_unit(command: CommandLine, tmp_path: Path) -> None:
    rng = np.random.default_rng(8)
    prompts = pd.DataFrame(
        {
            "prompt": [f"p{n}" for n in range(24)],
            "group": ["a", "b"] * 12,
            "level": rng.normal(size=24),
        }
    )
    frame = prompts.loc[prompts.index.repeat(10)]
    frame = frame.assign(score=frame["level"] + rng.normal(0, 0.1, len(frame)))
    path = tmp_path / "repeats.csv"
    frame.to_csv(path, index=False)
    [compared] = diagnosed(
        command, str(path), "--group", "group", "--feature", "score", "--unit", "prompt"
    )["comparisons"]
    means = frame.groupby(["group", "prompt"])["score"].mean()
    test = stats.ttest_ind(means["a"], means["b"], equal_var=False)
    assert compared["p_value"] == pytest.approx(test.pvalue, rel=0.1)
    assert (compared["units_a"], compared["units_b"]) == (12, 12)


def test_every_output_says_what_a_unit_was_and_repeats_without_one_are_warned_of(
    command: CommandLine, tmp_path: Path
) -> None:
    path = tmp_path / "repeats.csv"
    rows = [f"p{n},{'ab'[n % 2]},{n % 5 + r % 2}" for n in range(20) for r in range(3)]
    path.write_text("prompt,group,score\n" + "\n".join(rows))
    words = (str(path), "--group", "group", "--feature", "score")
    unnamed = diagnosed(command, *words)
    assert (unnamed["about"]["unit"], unnamed["about"]["units"]) == (None, 60)
    assert "add --unit prompt" in unnamed["warnings"][0]
    named = diagnosed(command, *words, "--unit", "prompt")
    assert (named["about"]["unit"], named["about"]["units"], named["warnings"]) == (
        "prompt",
        20,
        [],
    )
    assert [row["unit"] for row in named["comparisons"]] == ["prompt"]
    text = " ".join(command("diagnose", *words).stdout.split())
    assert "No unit was named: each of 60 rows is an independent unit." in text
    text = " ".join(command("diagnose", *words, "--unit", "prompt").stdout.split())
    assert "The unit is prompt: 20 in 60 rows; means are over units." in text


def test_parts_are_written_beside_the_named_file(command: CommandLine, tmp_path: Path) -> None:
    path, _ = table_of(tmp_path, ".csv")
    words = ["diagnose", path, "--group", "race", "--feature", "score", "-o"]
    written = command(*words, str(tmp_path / "out.csv"))
    assert written.returncode == 0, written.stderr
    compared = pd.read_csv(tmp_path / "out.csv")
    for part in ("summary", "disparity", "missingness"):
        assert not pd.read_csv(tmp_path / f"out.{part}.csv").empty
    assert command(*words, str(tmp_path / "out.xlsx")).returncode == 0
    sheets = pd.read_excel(tmp_path / "out.xlsx", sheet_name=None)
    assert sheets["comparisons"]["gap"].tolist() == pytest.approx(compared["gap"].tolist())
    assert command(*words, str(tmp_path / "out.svg")).returncode == 0
    assert (tmp_path / "out.svg").read_text().startswith("<?xml")
    refused = command(*words, str(tmp_path / "out.pdf"))
    assert "must end in one of .csv, .parquet, .xlsx, .png, .svg" in refused.stderr


def test_people_get_tables(command: CommandLine, tmp_path: Path) -> None:
    path, _ = table_of(tmp_path, ".csv")
    words = ["diagnose", path, "--group", "race", "--feature", "score"]
    brief = command(*words).stdout
    for word in ("black", "white", "Inconclusive: the only comparison", "Mean score:"):
        assert word in brief
    assert len(brief.splitlines()) <= 15
    whole = command(*words, "--all").stdout
    assert "Disparity" in whole
    assert "median" in whole


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["nowhere.csv", "--group", "g", "--feature", "x"], "There is no file nowhere.csv"),
        (["nowhere.csv"], "There is no file nowhere.csv"),
        (["nowhere.txt"], "There is no file nowhere.txt"),
        (["t.csv"], "with --group and --feature. Its columns are g, x"),
        (["t.txt", "--group", "g", "--feature", "x"], "is not one of .csv, .tsv, .xlsx, .parquet"),
        (["t.csv", "--group", "race", "--feature", "x"], "has no column 'race'. Its columns are"),
        (
            ["t.csv", "--group", "g", "--feature", "word"],
            "column word: 1 of 2 cells is not a number: 'high' (line 3)",
        ),
        (
            ["t.csv", "--group", "g", "--feature", "x", "--config", "alpha=2"],
            "alpha: this must be below",
        ),
        (
            ["t.csv", "--group", "g", "--feature", "x", "--config", "tolerance=-1"],
            "tolerance: this must be at least 0",
        ),
        (
            ["t.csv", "--group", "g", "--feature", "x", "--config", "statistic=men"],
            "no statistic named",
        ),
        (["t.csv", "--group", "g", "--feature", "x", "--config", "correction=none"], "orrection"),
        (["t.csv", "--group", "g", "--feature", "x", "--config", "ddof=2"], "ddof is 0 or 1"),
        (
            ["t.csv", "--group", "g", "--feature", "x", "--config", "calibrate=true"],
            "baseline=COLUMN",
        ),
        (["t.csv", "--group", "g", "--feature", "huge"], "larger units"),
        (
            ["t.csv", "--group", "g", "--feature", "x", "--config", "compare=pair"],
            "compare: this must be one of",
        ),
        (["bad.parquet", "--group", "g", "--feature", "x"], "this is not Parquet"),
        (["bad.jsonl", "--group", "g", "--feature", "x"], "line 1: this is not JSON"),
        (["empty.csv", "--group", "g", "--feature", "x"], "has no rows"),
        (["long.csv", "--group", "g", "--feature", "x"], "more cells than the header has names"),
        (
            ["t.csv", "--group", "g", "--feature", "x", "--config", "output=/no/x.csv"],
            "cannot be written (No",
        ),
    ],
)
def test_a_slip_is_one_sentence(
    command: CommandLine, tmp_path: Path, words: list[str], sentence: str
) -> None:
    (tmp_path / "t.csv").write_text("g,x,word,huge\na,1,2,1e300\nb,2,high,3\n")
    (tmp_path / "t.txt").write_text("g,x\n")
    (tmp_path / "empty.csv").write_text("g,x\n")
    (tmp_path / "long.csv").write_text("g,x\na,1,2\nb,2,3\n")
    (tmp_path / "bad.parquet").write_text("no parquet")
    (tmp_path / "bad.jsonl").write_text("{no json")
    path = words[0] if words[0].startswith("nowhere") else str(tmp_path / words[0])
    result = command("diagnose", path, *words[1:])
    assert result.returncode == 2, result.stdout
    assert sentence in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ("a,1\na,2\n", None),
        ("a,7.5\na,7.5\nb,7.5\nb,7.5\n", "all values are equal"),
        ("a,1\nb,2\n", "a group has one unit"),
        ("a,\na,nan\nb,1\nb,2\n", "a group has no values"),
        ("a,inf\na,1\nb,-inf\nb,2\n", "a group has one unit"),
    ],
)
def test_what_cannot_be_computed_is_null_with_its_reason(
    command: CommandLine, tmp_path: Path, rows: str, reason: str | None
) -> None:
    path = tmp_path / "odd.csv"
    path.write_text("g,x\n" + rows)
    diagnosis = diagnosed(command, str(path), "--group", "g", "--feature", "x")
    if reason is None:
        assert diagnosis["comparisons"] == []
        assert diagnosis["warnings"] == [
            "g has fewer than two groups: there is nothing to compare."
        ]
        return
    [compared] = diagnosis["comparisons"]
    assert compared["ci"] is None
    assert compared["p_value"] in {None, 1.0}
    assert reason in compared["reason"]
    assert compared["verdict"] == "inconclusive"


def test_many_groups_are_compared_with_the_rest_unless_pairs_are_asked_for(
    command: CommandLine, tmp_path: Path
) -> None:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"group": list("abcdefgh") * 20, "score": rng.random(160)})
    frame.to_csv(tmp_path / "t.csv", index=False)
    words = (str(tmp_path / "t.csv"), "--group", "group", "--feature", "score")
    rest = diagnosed(command, *words)["comparisons"]
    assert sorted((row["a"], row["b"]) for row in rest) == [(n, "the rest") for n in "abcdefgh"]
    assert len(diagnosed(command, *words, "--config", "compare=pairs")["comparisons"]) == 8 * 7 / 2


def test_a_declared_range_says_what_a_flat_group_cannot_show(
    command: CommandLine, tmp_path: Path
) -> None:
    ratings = [4.0] * 12 + [4, 4, 5, 3] * 50
    frame = pd.DataFrame({"group": ["a"] * 12 + ["b"] * 200, "rating": ratings})
    frame.to_csv(tmp_path / "t.csv", index=False)
    words = (str(tmp_path / "t.csv"), "--group", "group", "--feature", "rating")
    [narrow] = diagnosed(command, *words, "--range", "rating=3:5")["comparisons"]
    [wide] = diagnosed(command, *words, "--range", "rating=0:100")["comparisons"]
    assert np.ptp(wide["ci"]) > 5 * np.ptp(narrow["ci"])
    [unknown] = diagnosed(command, *words, "--range", "rating=unknown")["comparisons"]
    assert unknown["ci"] is None
    assert "declare the range" in unknown["reason"]
    result = command("diagnose", *words, "--range", "rating=4:5")
    assert result.returncode == 2
    assert result.stderr.splitlines()[-1].endswith(
        "rating has values outside its range from 4 to 5."
    )
    result = command("diagnose", *words, "--range", "rating")
    assert result.returncode == 2
    assert "is not written like rating=1:10" in result.stderr
