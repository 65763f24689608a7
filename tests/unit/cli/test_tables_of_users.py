"""Tables as users have them: numbers that no change may move."""

import json
import math
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from typer.testing import CliRunner

from biaswatch.cli.application import app
from biaswatch.readers.tables import TableColumns
from biaswatch.shared.errors import UsageError
from tests.support.recorded import RecordedData
from tests.support.tables import observations

COUNTS = [("s1", "a", 10, 5), ("s1", "b", 8, 12), ("s2", "a", 4, 6), ("s2", "b", 2, 8)]
"""Of each site and group: how many are selected, and how many are not."""


def printed(*words: str) -> Any:
    ended = CliRunner().invoke(app, [*words, "--json"])
    assert ended.exit_code == 0, ended.output
    return json.loads(ended.stdout)


def table_of(path: Path, outcome: str = "sel=1", *more: str) -> Any:
    words = ("--group", "grp", "--groups", "a,b", "--outcome", outcome)
    return printed("table", str(path), *words, *more)


def mean_of(path: Path, feature: str) -> dict[str, float]:
    words = ("--group", "grp", "--feature", feature, "--config", "permutations=0")
    rows = printed("diagnose", str(path), *words)["summary"]
    return {row["group"]["grp"]: row["value"] for row in rows if row["statistic"] == "mean"}


def test_strata_equal_independent_formulas(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    rows = [(grp, sel, site) for site, grp, yes, no in COUNTS for sel in [1] * yes + [0] * no]
    pd.DataFrame(rows, columns=["grp", "sel", "site"]).to_csv(path, index=False)
    stratified = table_of(path, "sel=1", "--strata", "site")["stratified"]
    cells = {(site, grp): (yes, no) for site, grp, yes, no in COUNTS}
    upper = lower = centred = variance = 0.0
    for site in ("s1", "s2"):
        (a, b), (c, d) = cells[site, "a"], cells[site, "b"]
        n = a + b + c + d
        upper, lower = upper + a * d / n, lower + b * c / n
        centred += a - (a + b) * (a + c) / n
        variance += (a + b) * (c + d) * (a + c) * (b + d) / n**2 / (n - 1)
    assert stratified["odds_ratio"]["value"] == pytest.approx(upper / lower)
    p_value = math.erfc(math.sqrt(centred**2 / variance / 2))
    assert stratified["cmh"]["p_value"] == pytest.approx(p_value)


def test_the_listed_strata_have_the_listed_numbers(recorded_data: RecordedData) -> None:
    table = table_of(recorded_data("cases") / "t17_strata.csv", "sel=1", "--strata", "site")
    within = table["stratified"]
    assert within["odds_ratio"]["value"] == pytest.approx(3.2727, abs=5e-5)
    assert within["cmh"]["p_value"] == pytest.approx(0.09945, abs=5e-6)
    # Of statsmodels' StratifiedTable.test_equal_odds(adjust=True).
    assert within["tarone"]["p_value"] == pytest.approx(0.777797, abs=5e-7)


def test_the_listed_booleans_are_read_and_counted_alike(recorded_data: RecordedData) -> None:
    path = recorded_data("cases") / "t09_bool_text.csv"
    assert mean_of(path, "sel") == {"a": 0.675, "b": 0.65}
    rates = [rate["estimate"] for rate in table_of(path, "sel=true")["rates"]]
    assert rates == [0.675, 0.65]


def test_the_listed_words_have_to_occur(recorded_data: RecordedData) -> None:
    path = recorded_data("cases") / "t09_yesno.csv"
    words = ["table", str(path), "--group", "grp", "--groups", "a,b", "--outcome"]
    ended = CliRunner().invoke(app, [*words, "sel=Yes"])
    assert isinstance(ended.exception, UsageError)
    assert "Its values are no, yes." in str(ended.exception)
    rates = [rate["estimate"] for rate in table_of(path, "sel=yes")["rates"]]
    assert rates == [0.675, 0.65]


@pytest.mark.parametrize("cell", ["40%", '"1,000"', "1 000", "$5", '"1.000,5"'])
def test_a_cell_that_is_no_number_is_named(tmp_path: Path, cell: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"grp,score\nb,7\na,{cell}\n")
    with pytest.raises(UsageError, match="column score: 1 of 2 cells is not a number"):
        observations(path, TableColumns(["grp"], ["score"]))


@pytest.mark.parametrize("missing", ["NaN", "inf", "-inf", "", "n/a"])
def test_what_is_no_finite_number_is_missing(tmp_path: Path, missing: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text("grp,score\n" + "a,1\na,3\nb,4\nb,8\n" * 5 + f"a,{missing}\n")
    assert mean_of(path, "score") == {"a": 2.0, "b": 6.0}


def test_json_without_a_number_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    rows = ['{"grp":"a","score":NaN}', '{"grp":"a","score":2}', '{"grp":"b","score":null}']
    path.write_text("\n".join([*rows, '{"grp":"b","score":3}', '{"grp":"b","score":5}']))
    assert mean_of(path, "score") == {"a": 2.0, "b": 4.0}


def test_groups_that_an_outcome_parts_have_finite_intervals(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("grp,sel,x\n" + "".join(f"a,1,{n}\nb,0,{n}\n" for n in range(40)))
    table = table_of(path, "sel=1", "--adjust", "x")
    assert table["risk_difference"]["estimate"] == 1
    assert table["odds_ratio"]["estimate"] > 1000
    assert "part the outcome" in table["adjusted_odds_ratio"]["reason"]


@pytest.mark.parametrize(
    ("scores", "rates"),
    [
        ({"m": [3] * 50, "f": [3] * 50}, {"m": 0.0, "f": 0.0}),
        ({"m": [3] * 25 + [5] * 25, "f": [3] * 40 + [1] * 10}, {"m": 0.5, "f": 0.0}),
    ],
)
def test_scores_at_the_median_are_not_above_it(
    tmp_path: Path, scores: dict[str, list[int]], rates: dict[str, float]
) -> None:
    path = tmp_path / "t.csv"
    lines = [f"{sex},{score}\n" for sex, some in scores.items() for score in some]
    path.write_text("sex,score\n" + "".join(lines))
    words = ["ll144", str(path), "--group", "sex", "--score", "score", "--format", "json"]
    body = json.loads(CliRunner().invoke(app, words).stdout)
    [part] = body if isinstance(body, list) else [body]
    [table] = part["impact"]["tables"]
    assert {row["categories"][0]: row["rate"] for row in table["rows"]} == rates
