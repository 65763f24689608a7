"""Folders, pipes and devices in the place of a table; empty cells of the CSV that is written."""

import csv
import hashlib
import io
import os
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from docx import Document
from openpyxl import load_workbook
from typer.testing import CliRunner

import biaswatch
from biaswatch.cli.application import app
from biaswatch.shared.errors import UsageError
from biaswatch.shared.presentation.columns import FindingColumn, Shown
from biaswatch.shared.presentation.finding_tables import findings_csv
from biaswatch.shared.presentation.tables import TableCell, csv_text

TABLE = "table --group grp --groups a,b --outcome x=1"
VERBS = {
    "diagnose": "diagnose --group grp --feature x",
    "table": TABLE,
    "interpret": TABLE.replace("table", "interpret"),
    "ll144": "ll144 --group grp --score x",
    "ingest": "ingest support",
    "diagnose a log": "diagnose --group grp --feature words --extract length",
}


def refused(words: str, *paths: Path) -> str:
    """Return what a command says that ends without a result."""
    ended = CliRunner().invoke(app, [*words.split(), *map(str, paths)])
    assert isinstance(ended.exception, UsageError), ended.output
    return str(ended.exception)


@pytest.mark.parametrize("verb", VERBS)
def test_a_folder_is_no_table_and_no_log(verb: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("grp,x\na,1\nb,0\n")
    sentence = refused(VERBS[verb], tmp_path)
    assert "folder" in sentence or "There is no Parquet file" in sentence
    assert "name a" in sentence


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("name", ["pipe.csv", "pipe.jsonl"])
def test_a_pipe_is_refused_at_once(verb: str, name: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / name)
    assert "is a pipe or a device" in refused(VERBS[verb], tmp_path / name)


@pytest.mark.parametrize("verb", VERBS)
def test_a_device_is_refused_at_once(verb: str, tmp_path: Path) -> None:
    (tmp_path / "zero.csv").symlink_to("/dev/zero")
    assert "is a pipe or a device" in refused(VERBS[verb], tmp_path / "zero.csv")


def parquet(path: Path, **columns: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(columns).to_parquet(path)


def test_a_folder_of_tables_without_a_row_to_measure_is_refused(tmp_path: Path) -> None:
    parquet(tmp_path / "one.parquet", grp=["a", "b"] * 9, x=range(18))
    parquet(tmp_path / "two.parquet", other=["a", "b"] * 9, y=range(18))
    sentence = refused("diagnose --group other --feature x", tmp_path)
    assert "a group (other) and a number (x)" in sentence


def test_files_without_a_named_column_are_counted_in_a_warning(tmp_path: Path) -> None:
    parquet(tmp_path / "one.parquet", grp=["a", "b"] * 9, x=range(18))
    parquet(tmp_path / "two.parquet", grp=["a", "b"] * 9)
    words = [
        "diagnose",
        str(tmp_path),
        "--group",
        "grp",
        "--feature",
        "x",
        "--config",
        "permutations=0",
    ]
    ended = CliRunner().invoke(app, words)
    assert ended.exit_code == 0
    assert "1 of 2 files have no column x" in " ".join(ended.output.split())


def test_files_below_hidden_folders_are_not_read(tmp_path: Path) -> None:
    parquet(tmp_path / "one.parquet", grp=["a", "b"] * 9, x=range(18))
    parquet(tmp_path / ".cache" / "two.parquet", grp=["c"] * 9, x=range(9))
    words = ["diagnose", str(tmp_path), "--group", "grp", "--feature", "x", "--json"]
    ended = CliRunner().invoke(app, [*words, "--config", "permutations=0"])
    assert ended.exit_code == 0
    assert '"c"' not in ended.stdout


def test_an_empty_cell_is_written_as_an_empty_cell() -> None:
    cells = ("", None, "=1+1", "-2", "\tx", "\rx", "plain", 0, -1.5)
    column: FindingColumn[Any] = FindingColumn(
        "n", Shown.CSV, "new", lambda c: TableCell(str(c), c)
    )
    [_, *rows] = csv.reader(io.StringIO(findings_csv((column,), list(cells)), newline=""))
    # A row of one empty cell is written as a line without any, or as two quotes.
    assert [row[0] if row else "" for row in rows] == [
        "", "", "'=1+1", "'-2", "'\tx", "'\rx", "plain", "0", "-1.5",
    ]  # fmt: skip
    assert csv_text(["a", "b", "c"], [("", None, "x")]) == "a,b,c\n,,x\n"


def test_tables_of_local_law_144_have_empty_cells(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("sex,score\n" + "".join(f"{'mf'[n % 2]},{n % 5}\n" for n in range(40)))
    words = ["ll144", str(path), "--group", "sex", "--score", "score", "--format", "csv"]
    ended = CliRunner().invoke(app, words)
    assert ended.exit_code == 0
    assert "'" not in ended.stdout
    [first, _] = csv.DictReader(io.StringIO(ended.stdout))
    assert (first["scaffold"], first["extractor"], first["remark"]) == ("", "", "")


def test_yes_and_no_are_selections_and_word_has_a_cover_to_fill_in(tmp_path: Path) -> None:
    (path := tmp_path / "t.csv").write_text("sex,hired\nm,Yes\nm,no\nf,YES \nf,n/a\nf,No\nf,no\n")
    output = tmp_path / "t.docx"
    words = ["ll144", str(path), "--group", "sex", "--score", "hired", "-o", str(output)]
    assert CliRunner().invoke(app, words).exit_code == 0
    document = Document(str(output))
    cover, table = ([[c.text for c in row.cells] for row in t.rows] for t in document.tables)
    assert ["Independent auditor", "(fill in)"] in cover
    computed = dict(cover)["Tables computed by"]
    assert computed.startswith(f"biaswatch {biaswatch.__version__} on 20")
    assert [row[:5] for row in table[1:]] == [
        ["Female (f)", "3", "1", "33.3 %", "0.67"],
        ["Male (m)", "2", "1", "50.0 %", "1.00"],
    ]
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert any(digest in paragraph.text for paragraph in document.paragraphs)


def test_the_workbook_of_local_law_144_has_a_row_for_each_category(tmp_path: Path) -> None:
    (path := tmp_path / "t.csv").write_text("sex,hired\nm,Yes\nm,no\nf,YES\nf,No\nx,no\n")
    output = tmp_path / "t.xlsx"
    words = ["ll144", str(path), "--group", "sex", "--score", "hired", "-o", str(output)]
    assert CliRunner().invoke(app, words).exit_code == 0
    book = load_workbook(output)
    titles, *rows = book["data"].values
    cells = [dict(zip(titles, row, strict=True)) for row in rows]
    assert [(cell["category"], cell["applicants"], cell["rate"]) for cell in cells] == [
        ("f", 2, 0.5), ("m", 2, 0.5), ("x", 1, 0),
    ]  # fmt: skip
    assert "None" not in {cell for sheet in book for row in sheet.values for cell in row}


def test_a_category_named_as_unknown_has_to_occur(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("sex,score\n" + "".join(f"{'mfx'[n % 3]},{n % 5}\n" for n in range(60)))
    words = f"ll144 --group sex --score score --unknown {{}} {path}"
    assert "Its values are f, m, x." in refused(words.format("Y"))
    for label in ("X", "unspecified"):
        assert CliRunner().invoke(app, words.format(label).split()).exit_code == 0
