"""Cases in a file become a table: groups, outcome, filters, strata, covariates, and every slip."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from biaswatch.cli.application import app
from biaswatch.readers.cases import Cases, CasesQuestion, count_cases, row_filter
from biaswatch.shared.errors import UsageError
from biaswatch.shared.stats.tables.odds_ratio import adjusted_odds_ratio
from tests.support.golden import golden

ROWS = {
    "sex": ["m", "m", "m", "f", "f", "f", "x", None],
    "score": ["1", "2", "3", "1", "2", "", "3", "3"],
    "hired": ["yes", "no", "yes", "no", "no", "yes", "yes", "yes"],
    "dept": ["a", "a", "b", "a", "b", "b", "a", "a"],
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "cases.csv"
    pd.DataFrame(ROWS).to_csv(path, index=False)
    return path


def asked(path: Path, outcome: str = "hired=yes", **more: Any) -> Cases:
    return count_cases(path, CasesQuestion("sex", ("m", "f"), row_filter(outcome), **more))


def test_two_groups_and_a_category_are_counted_and_other_groups_left_out(file: Path) -> None:
    assert asked(file).counts == (2, 1, 1, 2)


def test_a_threshold_counts_and_says_how_many_have_no_number(file: Path) -> None:
    result = asked(file, "score>=2")
    assert result.counts == (2, 1, 1, 1)
    assert result.notes == ["1 cases without an outcome or a stratum are excluded."]


@pytest.mark.parametrize(
    ("where", "counts"),
    [
        ("dept=a", (1, 1, 0, 1)), ("dept=a|b", (2, 1, 1, 2)), ("dept!=a", (1, 0, 1, 1)),
        ("score<3", (1, 1, 0, 2)),
    ],
)  # fmt: skip
def test_filters_keep_the_rows_that_meet_them(
    file: Path, where: str, counts: tuple[int, ...]
) -> None:
    assert asked(file, where=[row_filter(where)]).counts == counts


def test_a_parquet_file_gives_the_same_table(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "cases.parquet"
    pd.read_csv(file).to_parquet(other)
    assert asked(other).counts == asked(file).counts
    assert asked(other, "score=2").counts == asked(file, "score=2").counts


@pytest.mark.parametrize(
    ("outcome", "more", "sentence"),
    [
        ("hired=yes", {"strata": "place"}, "no column 'place'"),
        ("wages>3", {}, "no column 'wages'"),
        ("hired>3", {}, "row 1, column hired: 'yes' is not a number"),
        ("score>high", {}, "needs a number, not 'high'"),
    ],
)
def test_a_slip_is_a_sentence(
    file: Path, outcome: str, more: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(UsageError, match=sentence):
        asked(file, outcome, **more)


def test_a_group_nobody_belongs_to_and_a_condition_that_is_none_are_named(file: Path) -> None:
    with pytest.raises(UsageError, match="no group 'men'"):
        count_cases(file, CasesQuestion("sex", ("men", "f"), row_filter("hired=yes")))
    with pytest.raises(UsageError, match="is not a condition"):
        row_filter("hired")


def test_berkeley_is_pooled_stratified_and_adjusted(tmp_path: Path) -> None:
    known = golden("berkeley_1973.json")
    rows = [
        (name, sex, outcome)
        for name, (a, b, c, d) in known["departments"].items()
        for n, sex, outcome in ((a, "m", "y"), (b, "m", "n"), (c, "w", "y"), (d, "w", "n"))
        for _ in range(n)
    ]
    path = tmp_path / "berkeley.csv"
    pd.DataFrame(rows, columns=["dept", "sex", "admitted"]).to_csv(path, index=False)
    words = ["table", str(path), "--group", "sex", "--groups", "m,w", "--outcome", "admitted=y"]
    result = CliRunner().invoke(app, [*words, "--strata", "dept", "--adjust", "dept", "--json"])
    assert result.exit_code == 0, result.output
    body = json.loads(result.stdout)
    assert body["odds_ratio"]["estimate"] == pytest.approx(1.8411, abs=5e-5)
    assert body["stratified"]["odds_ratio"]["value"] == pytest.approx(0.9047, abs=5e-5)
    assert "Simpson's paradox" in body["stratified"]["note"]
    # The textbook's logistic regression of these data gives women a log-odds of 0.0999.
    assert body["adjusted_odds_ratio"]["value"] == pytest.approx(np.exp(-0.0999), abs=2e-3)
    assert body["similarity"]["says"] == "moderate difference"


def test_without_covariates_the_adjusted_odds_ratio_is_that_of_the_table() -> None:
    outcome = [True] * 60 + [False] * 140 + [True] * 30 + [False] * 170
    group = [True] * 200 + [False] * 200
    result = adjusted_odds_ratio(outcome, group, np.zeros((400, 0)))
    assert result.value == pytest.approx(60 * 170 / (140 * 30), rel=1e-6)
    assert (result.low, result.high) == pytest.approx((1.4848, 3.9723), abs=2e-4)


@pytest.mark.parametrize(
    ("covariate", "reason"),
    [
        ([[1.0]] * 4 + [[0.0]] * 4, "follows from the others"),
        ([[1.0], [1.0], [0.0], [0.0]] * 2, "part the outcome"),
    ],
)
def test_a_model_that_cannot_be_fitted_is_undefined_with_its_reason(
    covariate: list[list[float]], reason: str
) -> None:
    outcome = [True, True, False, False] * 2
    result = adjusted_odds_ratio(outcome, [True] * 4 + [False] * 4, np.array(covariate))
    assert result.value is None
    assert reason in (result.reason or "")


def test_four_counts_take_no_options_of_a_file(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["table", "1", "2", "3", "4", "--strata", "dept"])
    assert isinstance(result.exception, UsageError)
    (file := tmp_path / "cases.csv").touch()
    result = CliRunner().invoke(app, ["table", str(file)])
    assert "need --group" in str(result.exception)
