"""Values that a user names: found in every form they have in a file, and refused where none is."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from typer.testing import CliRunner

import biaswatch as bw
from biaswatch.cli.application import app
from biaswatch.readers.cases import Cases, CasesQuestion, count_cases, row_filter
from biaswatch.readers.columns import as_booleans, is_boolean, value_key
from biaswatch.readers.tables import TableColumns
from biaswatch.shared.errors import UsageError
from tests.support.tables import observations

ANSWERS = [True, True, True, False, True, False, False, False]
"""Of four rows of group a, then of four of b: 3 against 1."""
GROUPS = ["a"] * 4 + ["b"] * 4
WORDS = ["yes" if answer else "no" for answer in ANSWERS]


def saved(path: Path, outcomes: Sequence[Any], **columns: Sequence[Any]) -> Path:
    """Write a table with a group and an outcome; the ending says in which format."""
    rows: dict[str, Sequence[Any]] = {"grp": GROUPS, "sel": outcomes, **columns}
    if path.suffix == ".jsonl":
        lines = [dict(zip(rows, row, strict=True)) for row in zip(*rows.values(), strict=True)]
        path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    elif path.suffix == ".parquet":
        pd.DataFrame(rows).to_parquet(path)
    else:
        pd.DataFrame(rows).to_csv(path, index=False)
    return path


def counted(path: Path, outcome: str, groups: tuple[str, str] = ("a", "b"), **more: Any) -> Cases:
    return count_cases(path, CasesQuestion("grp", groups, row_filter(outcome), **more))


@pytest.mark.parametrize("typed", ["true", "True", "TRUE"])
@pytest.mark.parametrize(
    ("name", "outcomes"),
    [
        ("t.jsonl", ANSWERS),
        ("t.csv", ANSWERS),
        ("t.csv", [str(answer).lower() for answer in ANSWERS]),
        ("t.csv", [str(answer).upper() for answer in ANSWERS]),
        ("t.jsonl", ["true", True, "TRUE", "False", " True", False, "false", "FALSE"]),
        ("t.parquet", ANSWERS),
    ],
)
def test_booleans_of_every_format_are_the_same_values(
    tmp_path: Path, name: str, outcomes: Sequence[Any], typed: str
) -> None:
    path = saved(tmp_path / name, outcomes)
    assert counted(path, f"sel={typed}").counts == (3, 1, 1, 3)
    assert counted(path, f"sel!={typed}").counts == (1, 3, 3, 1)


@pytest.mark.parametrize("typed", ["1", "1.0", "1.00"])
@pytest.mark.parametrize(
    ("name", "outcomes"),
    [
        ("t.jsonl", [int(answer) for answer in ANSWERS]),
        ("t.jsonl", [float(answer) for answer in ANSWERS]),
        ("t.csv", [float(answer) for answer in ANSWERS]),
        ("t.csv", ["1", "1.0", "1.00", "0", "1", "0", "0.0", "0"]),
        ("t.parquet", np.array(ANSWERS, dtype=np.float32)),
    ],
)
def test_a_number_is_found_however_it_is_written(
    tmp_path: Path, name: str, outcomes: Sequence[Any], typed: str
) -> None:
    assert counted(saved(tmp_path / name, outcomes), f"sel={typed}").counts == (3, 1, 1, 3)


@pytest.mark.parametrize(
    ("value", "key"),
    [
        ("007", "007"),
        ("7.0", "7"),
        (0.5, "0.5"),
        ("0.50", "0.5"),
        ("1e3", "1e3"),
        ("yes ", "yes"),
        (12345678901234567890, "12345678901234567890"),
        (2**53 + 1, "9007199254740993"),
        (np.bool_(True), "true"),
    ],
)
def test_the_key_of_a_value(value: object, key: str) -> None:
    assert value_key(value) == key


@pytest.mark.parametrize(
    ("outcome", "more", "sentences"),
    [
        ("sel=Yes", {}, ["'Yes'", "column sel", "Is 'yes' meant?", "Its values are no, yes."]),
        ("sel=true", {}, ["'true'", "Its values are no, yes."]),
        ("sel!=maybe", {}, ["'maybe'", "Its values are no, yes."]),
        ("sel=yes|maybe", {}, ["'maybe'", "Its values are no, yes."]),
        ("sel=yes", {"where": [row_filter("site=9")]}, ["'9'", "Its values are 2, 10."]),
        ("sel=yes", {"where": [row_filter("site!=9")]}, ["'9'", "Its values are 2, 10."]),
        ("sel=yes", {"groups": ("a", "c")}, ["no group 'c'", "Its values are a, b."]),
        ("sel=yes", {"groups": ("A", "b")}, ["no group 'A'", "Is 'a' meant?"]),
        ("empty=yes", {}, ["'yes'", "It is empty."]),
    ],
)
def test_a_value_that_no_row_has_is_refused_with_the_values_that_occur(
    tmp_path: Path, outcome: str, more: dict[str, Any], sentences: Sequence[str]
) -> None:
    columns: dict[str, Sequence[Any]] = {"site": [10, 2] * 4, "empty": [None] * 8}
    path = saved(tmp_path / "t.csv", WORDS, **columns)
    with pytest.raises(UsageError) as refused:
        counted(path, outcome, **more)
    assert [part for part in sentences if part not in str(refused.value)] == []


def test_the_list_of_values_is_bounded(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    words = [f"{number:03d}" + "x" * 500 for number in range(900)]
    pd.DataFrame({"grp": ["a", "b"] * 450, "sel": words}).to_csv(path, index=False)
    with pytest.raises(UsageError, match="and 860 more") as refused:
        counted(path, "sel=yes")
    assert len(str(refused.value)) < 4_000


def test_a_value_that_only_other_groups_or_left_out_rows_have_counts_as_zero(
    tmp_path: Path,
) -> None:
    path = tmp_path / "t.csv"
    rows = {
        "grp": ["a", "a", "b", "b", "c"],
        "sel": ["no", "no", "no", "no", "yes"],
        "site": [1, 1, 1, 1, 2],
    }
    pd.DataFrame(rows).to_csv(path, index=False)
    assert counted(path, "sel=yes").counts == (0, 2, 0, 2)
    assert counted(path, "sel=yes", where=[row_filter("site=1")]).counts == (0, 2, 0, 2)
    with pytest.raises(UsageError, match="no row of the group 'a' meets site=2"):
        counted(path, "sel=yes", where=[row_filter("site=2")])


def test_two_names_of_one_group_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    pd.DataFrame({"grp": [1, 2] * 4, "sel": WORDS}).to_csv(path, index=False)
    with pytest.raises(UsageError, match="are the same"):
        counted(path, "sel=yes", ("1", "1.0"))


@pytest.mark.parametrize("verb", ["table", "interpret"])
def test_verbs_end_with_2_and_the_values(tmp_path: Path, verb: str) -> None:
    path = saved(tmp_path / "t.csv", WORDS)
    words = [verb, str(path), "--group", "grp", "--groups", "a,b", "--outcome", "sel=Yes"]
    ended = CliRunner().invoke(app, words)
    assert isinstance(ended.exception, UsageError)
    assert "Its values are no, yes." in str(ended.exception)


def test_strata_are_the_same_in_any_form_of_their_values(tmp_path: Path) -> None:
    first, second = (
        counted(saved(tmp_path / "t.jsonl", WORDS, site=sites), "sel=yes", strata="site")
        for sites in ([1, 1, 2, 2] * 2, [1, 1.0, 2.0, "2"] * 2)
    )
    assert first.by_stratum == second.by_stratum
    assert list(first.by_stratum) == ["1", "2"]


@pytest.mark.parametrize(
    "outcomes",
    [
        ANSWERS,
        [str(answer) for answer in ANSWERS],
        [str(answer).lower() for answer in ANSWERS],
        ["TRUE", "true", True, "false", "True", False, False, "False"],
        pd.Series(ANSWERS, dtype="boolean"),
        pd.Series(ANSWERS, dtype="category"),
    ],
)
def test_a_feature_of_booleans_is_numbers_and_its_range_is_known(outcomes: Any) -> None:
    column = pd.Series(outcomes)
    assert is_boolean(column)
    diagnosis = bw.diagnose(
        pd.DataFrame({"grp": GROUPS, "sel": column}), group="grp", feature="sel", permutations=0
    )
    means = [row["value"] for row in diagnosis.parts["summary"] if row["statistic"] == "mean"]
    assert means == [0.75, 0.25]


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.parquet"])
def test_booleans_with_missing_cells_are_read(tmp_path: Path, name: str) -> None:
    path = saved(tmp_path / name, [True, None, *ANSWERS[2:]])
    seen, _ = observations(path, TableColumns(["grp"], ["sel"]))
    assert np.isnan(seen.values[1, 0])
    assert np.nansum(seen.values) == 3
    assert seen.ranges == {"sel": (0.0, 1.0)}


@pytest.mark.parametrize("outcomes", [[0, 1] * 4, ["0", "1"] * 4, WORDS, [None] * 8, ["NA"] * 8])
def test_other_columns_are_no_booleans(outcomes: Sequence[Any]) -> None:
    column = pd.Series(outcomes)
    assert not is_boolean(column)
    assert as_booleans(column) is column


def test_groups_of_booleans_have_the_same_names_in_every_frame() -> None:
    rows = {"grp": ANSWERS, "x": [1.0, 2, 3, 4, 5, 6, 7, 8]}
    texts = [str(answer).lower() for answer in ANSWERS]
    frames = [pd.DataFrame(rows), pl.DataFrame(rows), pd.DataFrame({**rows, "grp": texts})]
    for frame in frames:
        diagnosis = bw.diagnose(frame, group="grp", feature="x", permutations=0)
        [row] = diagnosis.parts["comparisons"]
        assert (row["a"], row["b"]) == ("False", "True")


def test_words_that_are_no_numbers_are_still_refused(tmp_path: Path) -> None:
    path = saved(tmp_path / "t.csv", [*WORDS[:-1], "perhaps"])
    with pytest.raises(UsageError, match=r"1 of 8 cells is not a number: 'perhaps' \(line 9\)\."):
        observations(path, TableColumns(["grp"], ["sel"]))


def bank(scale: float = 1.0) -> pd.DataFrame:
    """Return twenty sets of twins that a model at temperature 0 always answers apart."""
    rows = [
        (g, f"{g}{n}", n, scale * (g == "a")) for g in "ab" for n in range(20) for _ in range(3)
    ]
    return pd.DataFrame(rows, columns=["grp", "prompt", "twins", "sel"])


@pytest.mark.parametrize(
    ("sel", "ranges", "verdict"),
    [
        (bool, None, "disparity"),
        (str, None, "inconclusive"),
        (float, None, "inconclusive"),
        (float, {"sel": None}, "inconclusive"),
        (float, {"sel": (0, 1)}, "disparity"),
        (float, {"sel": (0, 50)}, "inconclusive"),
    ],
)
def test_a_bank_always_answered_alike_is_known_by_a_declared_range_or_by_booleans(
    sel: type, ranges: Any, verdict: str
) -> None:
    frame = bank()
    frame["sel"] = frame["sel"].map(sel)
    diagnosis = bw.diagnose(
        frame, group="grp", feature="sel", unit="prompt", set="twins", claim="bank",
        ranges=ranges, permutations=0,
    )  # fmt: skip
    assert [row["verdict"] for row in diagnosis.parts["comparisons"]] == [verdict]


@pytest.mark.parametrize("ends", [(0, None), (0, np.inf), (np.nan, 1), (5, 1), (1, 1), "ab", 3])
def test_a_range_without_two_finite_ends_is_refused(ends: Any) -> None:
    with pytest.raises(UsageError, match="needs a number and a larger one"):
        bw.diagnose(bank(), group="grp", feature="sel", ranges={"sel": ends})


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.parquet"])
def test_booleans_of_every_file_can_be_compared_with_a_number(tmp_path: Path, name: str) -> None:
    assert counted(saved(tmp_path / name, ANSWERS), "sel>=1").counts == (3, 1, 1, 3)


def test_a_column_of_lists_in_parquet_is_named_as_such(tmp_path: Path) -> None:
    path = saved(tmp_path / "t.parquet", [[answer] for answer in ANSWERS])
    with pytest.raises(UsageError, match="column 'sel' holds lists or structures"):
        counted(path, "sel=true")
