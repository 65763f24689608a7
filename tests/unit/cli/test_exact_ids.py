"""Ids keep every digit from the first read on, in each kind of table; labels have one form."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow.parquet import write_table
from typer.testing import CliRunner

import biaswatch as bw
from biaswatch.cli.application import app
from biaswatch.diagnosis.large_tables import dataset_input
from biaswatch.readers.labels import labels_in
from biaswatch.readers.tables import TableColumns
from biaswatch.shared.analysis.findings.observations import Observations
from tests.support.fuzzing import succeeds_or_says_why
from tests.support.tables import observations

BASE = 2**60
ROWS = 40
Row = dict[str, Any]
COLUMNS = TableColumns(groups=["grp"], features=["score"], unit="uid", set="pair")


def rows_with_gaps() -> list[Row]:
    """Return rows with ids that doubles cannot tell apart; one id of each kind is missing."""
    rows: list[Row] = [
        {"uid": BASE + n, "pair": BASE + n // 2, "grp": BASE + n % 2, "score": float(n % 5)}
        for n in range(ROWS)
    ]
    rows[7]["uid"] = rows[8]["pair"] = rows[9]["grp"] = None
    return rows


def as_lines(folder: Path, rows: Sequence[Row]) -> Path:
    (path := folder / "t.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    return path


def as_array(folder: Path, rows: Sequence[Row]) -> Path:
    (path := folder / "t.json").write_text(json.dumps(rows))
    return path


def as_csv(folder: Path, rows: Sequence[Row]) -> Path:
    pd.DataFrame(rows, dtype=object).to_csv(path := folder / "t.csv", index=False)
    return path


def as_parquet(folder: Path, rows: Sequence[Row]) -> Path:
    exact = {name: [row[name] for row in rows] for name in rows[0]}
    write_table(pa.table(exact), path := folder / "t.parquet")
    return path


def has_exact_ids(rows: Observations) -> bool:
    assert rows.units is not None
    assert rows.sets is not None
    assert set(rows.units) == {str(BASE + n) for n in range(ROWS) if n != 7} | {None}
    assert set(rows.sets) == {str(BASE + n) for n in range(ROWS // 2)} | {None}
    assert set(rows.groups["grp"]) == {str(BASE), str(BASE + 1), None}
    return len(set(rows.unit_codes.tolist())) == ROWS


@pytest.mark.parametrize("write", [as_lines, as_array, as_csv, as_parquet])
def test_a_missing_id_leaves_the_others_exact(
    tmp_path: Path, write: Callable[[Path, Sequence[Row]], Path]
) -> None:
    result, warnings = observations(write(tmp_path, rows_with_gaps()), COLUMNS)
    assert has_exact_ids(result)
    assert not any("floats" in warning for warning in warnings)


def test_a_folder_of_parquet_keeps_them_too(tmp_path: Path) -> None:
    as_parquet(tmp_path, rows_with_gaps())
    assert has_exact_ids(dataset_input(str(tmp_path), COLUMNS).rows)


def test_frames_of_every_library_keep_them() -> None:
    rows = rows_with_gaps()
    exact = {name: [row[name] for row in rows] for name in rows[0]}
    pandas = pd.DataFrame(exact, dtype=object).astype({"score": float, "uid": "Int64"})
    asked: dict[str, Any] = {"group": "grp", "feature": "score", "unit": "uid", "permutations": 0}
    result = [
        bw.diagnose(frame, **asked) for frame in (pandas, pl.DataFrame(exact), pa.table(exact))
    ]
    assert result[0].parts == result[1].parts == result[2].parts
    assert {row["a"] for row in result[0].parts["comparisons"]} == {str(BASE)}


def test_ids_that_are_already_rounded_are_one_sentence(tmp_path: Path) -> None:
    sentence = (
        "Values of uid are floats too large to be exact, so different ids may have become one"
    )
    frame = pd.DataFrame(rows_with_gaps())  # pandas makes floats of integers beside a gap
    asked: dict[str, Any] = {"group": "grp", "feature": "score", "unit": "uid", "permutations": 0}
    [warning] = [w for w in bw.diagnose(frame, **asked).warnings if w.startswith("Values of uid")]
    assert warning.startswith(sentence)
    frame.to_csv(path := tmp_path / "t.csv", index=False)
    assert any(warning.startswith(sentence) for warning in observations(path, COLUMNS)[1])
    short = bw.diagnose(frame.assign(uid=np.arange(ROWS, dtype=np.float32), grp="a"), **asked)
    assert not any("floats" in warning for warning in short.warnings)


@pytest.mark.parametrize("ids", [[1.0, None, 3.0], [1, None, 3], ["1", None, "3"]])
def test_whole_numbers_are_the_same_labels_however_a_frame_has_them(ids: list[Any]) -> None:
    frame = pd.DataFrame({"grp": ids * 4, "score": range(12)})
    [row] = bw.diagnose(frame, group="grp", feature="score", permutations=0).parts["comparisons"]
    assert {row["a"], row["b"]} == {"1", "3"}


def test_one_and_one_point_zero_are_one_group(tmp_path: Path) -> None:
    rows = [{"grp": label, "score": n} for n, label in enumerate([1, "b", 1.0, "b"] * 5)]
    result, warnings = observations(as_lines(tmp_path, rows), TableColumns(["grp"], ["score"]))
    assert set(result.groups["grp"]) == {"1", "b"}
    assert not any("differ only in form" in warning for warning in warnings)


@pytest.mark.parametrize(
    ("labels", "named"),
    [
        (["1", "b", "1.0", "b"], "'1' and '1.0'"),
        (["F", "m", "f ", "m"], "'F' and 'f '"),
        (["caf\u00e9", "b", "cafe\u0301", "b"], "'caf\u00e9' and 'cafe\\u0301'"),
        (["F", "m", "\uff26\u200b", "m"], r"'F' and '\uff26\u200b'"),
    ],
)
def test_labels_of_text_that_differ_only_in_form_are_named(
    tmp_path: Path, labels: list[str], named: str
) -> None:
    rows = [{"grp": label, "score": n} for n, label in enumerate(labels * 5)]
    _, warnings = observations(as_csv(tmp_path, rows), TableColumns(["grp"], ["score"]))
    assert any(f"count as different groups: {named}." in warning for warning in warnings)


def test_a_blank_unit_is_no_unit_that_rows_share(tmp_path: Path) -> None:
    rows = [{"uid": "", "grp": "ab"[n % 2], "score": n} for n in range(8)]
    columns = TableColumns(["grp"], ["score"], unit="uid")
    result, _ = observations(as_lines(tmp_path, rows), columns)
    assert len(set(result.unit_codes.tolist())) == 8


def test_applicants_keep_their_ids_and_rows_without_one_are_said(tmp_path: Path) -> None:
    rows = [{"uid": BASE + n // 3, "sex": "MF"[n // 3 % 2], "score": n % 5} for n in range(30 * 3)]
    rows[0]["uid"] = None
    asked = ["ll144", str(as_lines(tmp_path, rows)), "--group", "sex", "--score", "score"]
    ended = CliRunner().invoke(app, [*asked, "--unit", "uid", "--format", "md"])
    assert ended.exit_code == 0, ended.output
    assert "1 of 90 rows have no uid and are left out." in ended.stderr
    assert "no score" not in ended.stdout
    assert "Not in this table, because a category is unknown: 0." in ended.stdout


@pytest.mark.parametrize("value", [0, 10**400])
def test_numbers_of_any_size_are_no_traceback(tmp_path: Path, value: int) -> None:
    rows = [{"grp": "ab"[n % 2], "score": value if n == 3 else n} for n in range(8)]
    result, _ = observations(as_lines(tmp_path, rows), TableColumns(["grp"], ["score"]))
    assert np.isfinite(result.values).sum() == (8 if value == 0 else 7)


NESTED = [{"meta": {"sex": "fm"[n % 2]}, "scores": {"tox": n}, "tags": ["x"]} for n in range(8)]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(NESTED),
        "\n\n" + json.dumps(NESTED, indent=1),
        "\n".join(json.dumps(row) for row in NESTED),
        "\n".join(json.dumps(row, indent=1) for row in NESTED),
        " ".join(json.dumps(row) for row in NESTED),
    ],
    ids=["array", "array over lines", "lines", "objects over lines", "objects on one line"],
)
@pytest.mark.parametrize("name", ["t.json", "t.jsonl"])
def test_json_of_every_layout_is_read_with_dots_into_objects(
    tmp_path: Path, text: str, name: str
) -> None:
    (path := tmp_path / name).write_text(text)
    result, _ = observations(path, TableColumns(["meta.sex"], ["scores.tox"]))
    assert result.groups["meta.sex"] == ["f", "m"] * 4
    assert result.values[:, 0].tolist() == list(range(8))


@pytest.mark.parametrize("value", [7, 7.0, "7"])
def test_people_and_answers_of_labels_may_be_numbers(tmp_path: Path, value: Any) -> None:
    line = {"response_id": value, "value": 1, "person": 0}
    assert labels_in(as_lines(tmp_path, [line])) == [
        {"response_id": "7", "value": 1.0, "person": "0"}
    ]


@pytest.mark.parametrize(
    "row",
    [
        {"id": "a", "responses": {"q": 3}},
        {"id": "a", "responses": 3},
        {"data": {"response_id": "a"}, "annotations": 3},
        {"data": {"response_id": "a"}, "annotations": [{"result": {"a": 1}}]},
        {"response_id": "a", "value": 10**400},
        {"response_id": ["a"], "value": 1},
    ],
)
def test_labels_of_odd_shapes_are_no_traceback(tmp_path: Path, row: Row) -> None:
    succeeds_or_says_why(lambda: labels_in(as_lines(tmp_path, [row])))


def test_integers_beyond_any_float_in_other_columns_are_no_traceback(tmp_path: Path) -> None:
    rows = [{**row, "uid": 10**400 + n // 4} for n, row in enumerate(rows_with_gaps())]
    result, _ = observations(as_lines(tmp_path, rows), TableColumns(["grp"], ["score"]))
    assert result.values.shape == (ROWS, 1)


def test_ids_of_one_digit_and_an_exponent_are_called_rounded(tmp_path: Path) -> None:
    (path := tmp_path / "t.csv").write_text("uid,grp,score\n" + "1e+18,a,1\n1E+18,b,2\n" * 8)
    _, warnings = observations(path, TableColumns(["grp"], ["score"], unit="uid"))
    assert warnings[0].startswith("Values of uid are floats too large to be exact")
