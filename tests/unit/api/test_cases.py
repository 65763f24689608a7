"""The cases behind a gap: which sets, or units, differ most, by `bw.diagnose` and `diagnose`."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from typer.testing import CliRunner

import biaswatch as bw
from biaswatch.cli.application import app
from biaswatch.shared.errors import UsageError

SETS = 30
GAPS = np.random.default_rng(5).permutation(SETS) / 10 - 2.0
"""Of black minus white, in each set; the mean is below 0."""
NUMBERS = ["mean_a", "mean_b", "difference"]


def rows_of(gaps: Any = GAPS, model: str = "m", **more: Any) -> pd.DataFrame:
    rows = [
        {"set": f"s{n:02}", "race": race, "score": 3 + (race == "black") * gap, "model": model,
         "text": f"{race} in s{n:02}"}
        for n, gap in enumerate(gaps)
        for race in ("white", "black")
    ]  # fmt: skip
    return pd.DataFrame(rows).assign(**more)


def diagnosed(frame: Any, **more: Any) -> Any:
    return bw.diagnose(frame, **{"group": "race", "feature": "score", "permutations": 0, **more})


def printed(path: Path, *words: str) -> str:
    words = ("--group", "race", "--feature", "score", "--config", "permutations=0", *words)
    ended = CliRunner().invoke(app, ["diagnose", str(path), *words])
    assert ended.exit_code == 0, ended.output
    return ended.stdout


def test_sets_come_in_the_direction_of_the_gap() -> None:
    diagnosis = diagnosed(rows_of(), set="set")
    cases = diagnosis.cases(n=None)
    expected = np.argsort(GAPS)
    assert cases["case"].tolist() == [f"s{n:02}" for n in expected]
    np.testing.assert_allclose(cases["mean_a"], 3 + GAPS[expected])
    np.testing.assert_allclose(cases["difference"], GAPS[expected])
    turned = diagnosis.cases(a="white", b="black", n=3)
    assert turned["case"].tolist() == cases["case"].tolist()[:3]
    np.testing.assert_allclose(turned["difference"], -GAPS[expected][:3])


def test_their_mean_difference_is_the_gap_with_repeats_and_missing_cells() -> None:
    repeated = pd.concat([rows_of(), rows_of(GAPS[:9] + 0.3)]).reset_index(drop=True)
    repeated.loc[[4, 11], "score"] = np.nan
    repeated.loc[[20, 21], "race"] = None
    repeated.loc[[30], "set"] = None
    repeated["prompt"] = repeated["set"] + repeated["race"]
    diagnosis = diagnosed(repeated.sample(frac=1, random_state=2), set="set", unit="prompt")
    cases, [gap] = diagnosis.cases(n=None), diagnosis.comparisons["gap"]
    assert cases["difference"].mean() == pytest.approx(gap)
    again = diagnosed(repeated, set="set", unit="prompt").cases(n=None)
    pd.testing.assert_frame_equal(cases, again)


def test_without_sets_units_stand_beside_the_mean_of_the_other_group() -> None:
    frame = rows_of(text=None).assign(text=lambda rows: rows["set"] + rows["race"])
    cases = diagnosed(frame, unit="set").cases(n=1)  # both groups have each unit, as a set
    assert cases[["case", "group"]].to_numpy().tolist() == [[f"s{GAPS.argmin():02}", None]]
    cases = diagnosed(frame, text="text").cases(n=None)
    assert len(cases) == 2 * SETS
    assert cases["difference"].is_monotonic_increasing
    first = cases.iloc[0]
    row = int(frame["score"].argmin())
    assert (first["case"], first["group"]) == (f"row {row + 1}", "black")
    assert (first["text_a.text"], first["mean_b"]) == (frame["text"][row], 3.0)
    assert pd.isna(first["text_b.text"])


def test_each_feature_has_its_strongest_comparison_and_each_model_can_be_named() -> None:
    models = pd.concat([rows_of(), rows_of(GAPS / 100, "n")])
    models["words"] = np.arange(len(models)) % 7
    diagnosis = diagnosed(
        models, feature=["score", "words"], set="set", domain="model", ranges={"words": (0, 6)}
    )
    cases = diagnosis.cases()
    strongest = diagnosis.comparisons.drop_duplicates("feature")
    assert cases.groupby("feature", sort=False).size().tolist() == [10, 10]
    for name in ("feature", "domain"):
        assert cases[name].drop_duplicates().tolist() == strongest[name].drop_duplicates().tolist()
    weak = diagnosis.cases("score", domain="n", n=1)
    assert weak[NUMBERS].to_numpy().tolist() == [pytest.approx([2.98, 3.0, -0.02])]
    with pytest.raises(UsageError, match="No comparison of answers has feature 'length'"):
        diagnosis.cases("length")


def test_a_group_beside_the_rest_a_baseline_and_yes_or_no() -> None:
    frame = pd.concat([rows_of(), rows_of(GAPS + 1).replace({"race": {"white": "asian"}})])
    rest = diagnosed(frame, set="set", compare="rest").cases(a="white", n=None)
    assert set(rest["b"]) == {"the rest"}
    others = frame[frame["race"] != "white"].groupby("set")["score"].mean()
    np.testing.assert_allclose(rest["mean_b"], others[rest["case"]])
    calibrated = diagnosed(rows_of(base=1.0), set="set", baseline="base", calibrate=True)
    assert calibrated.cases(n=1)["mean_b"].tolist() == [2.0]
    chosen = rows_of().assign(score=lambda rows: np.where(rows["score"] < 3, "yes", "no"))
    assert diagnosed(chosen, set="set").cases(n=1)["difference"].tolist() == [1.0]


def test_frames_of_other_libraries_and_nothing_to_compare() -> None:
    cases = diagnosed(pl.from_pandas(rows_of()), set="set").cases(n=2)
    assert isinstance(cases, pl.DataFrame)
    assert cases["case"].to_list() == [f"s{n:02}" for n in np.argsort(GAPS)[:2]]
    assert len(diagnosed(rows_of().query("race == 'black'")).cases()) == 0
    unmeasured = rows_of().assign(score=lambda rows: rows["score"].where(rows["race"] == "black"))
    assert len(diagnosed(unmeasured).cases()) == 0


def test_the_command_prints_some_cases_and_writes_all(tmp_path: Path) -> None:
    path, output = tmp_path / "t.csv", tmp_path / "gaps.csv"
    text = "\x1b[31m=1+1[bold]" + "long " * 100
    rows_of(text=text).to_csv(path, index=False)
    words = ("--set", "set", "--cases", "2", "--config", "text=text", "-o", str(output))
    shown = printed(path, *words)
    expected = [f"s{n:02}" for n in np.argsort(GAPS)]
    assert "score, black - white: the largest differences." in shown
    assert [name in shown for name in expected] == [True] * 2 + [False] * (SETS - 2)
    assert "\x1b" not in shown
    assert "=1+1[bold]" in shown
    assert len(json.loads(printed(path, *words, "--json"))["cases"]) == 2
    written = pd.read_csv(tmp_path / "gaps.cases.csv")
    assert written["case"].tolist() == expected
    assert written["text_b.text"][0] == text


def test_the_command_names_rows_and_refuses_columns_that_do_not_exist(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    rows_of().to_csv(path, index=False)
    shown = printed(path, "--cases", "1")
    assert "each row is compared with the mean of the other group" in " ".join(shown.split())
    assert f"row {2 * GAPS.argmin() + 2} " in shown
    for words in (("--cases", "0"), ("--cases", "1", "--config", "text=none")):
        named = ["diagnose", str(path), "--group", "race", "--feature", "score", *words]
        assert isinstance(CliRunner().invoke(app, named).exception, UsageError)
