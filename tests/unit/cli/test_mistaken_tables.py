"""Tables as tired people save them: each mistake is one sentence that says what to do."""

from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

from biaswatch.cli.application import app
from biaswatch.readers.labels import labels_in
from biaswatch.readers.row_ids import column_labels
from biaswatch.readers.tables import TableColumns
from biaswatch.shared.errors import UsageError
from tests.support.tables import observations

COLUMNS = TableColumns(groups=["name"], features=["rating"])
PLAIN = "prompt,name,rating\n" + "".join(
    f"p{n},{name},{n % 4}\n" for n in range(12) for name in ("Zoë", "Müller")
)


def said_of(path: Path, content: bytes) -> str:
    """Return what is said of a file with this content."""
    path.write_bytes(content)
    with pytest.raises(UsageError) as refused:
        observations(path, COLUMNS)
    return str(refused.value).removeprefix(str(path))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (PLAIN.encode("utf-16-le"), " is not text. Save it as CSV in UTF-8."),
        ("name,rating\na,1\n".encode("utf-16-le"), " is not text. Save it as CSV in UTF-8."),
        (PLAIN.encode().replace(b"Zo", b"\x81"), " is not text in UTF-8. Save it as CSV in UTF-8."),
        (
            b"PK\x03\x04" + bytes(200),
            " is not text, but a workbook, or another archive. Save it as CSV in UTF-8.",
        ),
        (b"", " is empty: it has no columns and no rows."),
        (b"prompt,name,rating\n", " has no rows."),
        (
            b"name,rating\na,1\nb,2,3,4\n",
            (
                ", line 3: it has 4 cells, but the header names 2 columns. Quote cells that contain"
                " a comma."
            ),
        ),
        (
            b"prompt, name,rating\np,a,1\n",
            (
                " has no column 'name'. Its column ' name' has an extra space: remove it in the"
                " file. Its columns are prompt,  name, rating."
            ),
        ),
        (
            b"name;rating\na;1,5\nb;k.A.\na;2\n",
            (
                ", column rating: 1 of 3 cells is not a number: 'k.A.' (line 3). Write plain"
                " numbers such as 1200.5, without % and separators of thousands, or yes and no in"
                " every row. Where a value is missing, leave the cell empty or write NA."
            ),
        ),
        (
            b"name,rating,note\na,1,\nb,?,x\n",
            (
                ", column rating: 1 of 2 cells is not a number: '?' (line 3). Write plain"
                " numbers such as 1200.5, without % and separators of thousands, or yes and no in"
                " every row. Where a value is missing, leave the cell empty or write NA."
            ),
        ),
        (
            b"name,rating\na,yes\nb,maybe\na,no\n",
            (
                ", column rating: 1 of 3 cells is not a number: 'maybe' (line 3). Write plain"
                " numbers such as 1200.5, without % and separators of thousands, or yes and no in"
                " every row. Where a value is missing, leave the cell empty or write NA."
            ),
        ),
        (
            b'name,rating\n"a\nb",3/7\nb,4/7\nc,?\nd,1\ne,-\n',
            (
                ", column rating: 4 of 5 cells are not numbers: '3/7' (line 2), '4/7' (line 4),"
                " '?' (line 5), ... Write plain numbers such as 1200.5, without % and separators of"
                " thousands, or yes and no in every row. Where a value is missing, leave the cell"
                " empty or write NA."
            ),
        ),
        (
            b"names,rating\na,1\n",
            " has no column 'name'. Is 'names' meant? Its columns are names, rating.",
        ),
        (
            b"Name,rating\na,1\n",
            " has no column 'name'. Is 'Name' meant? Its columns are Name, rating.",
        ),
        (
            b"name,rating,name\na,1,b\n",
            " has several columns named 'name'. Give each column a different name.",
        ),
    ],
)
def test_a_mistake_is_named_with_its_remedy(tmp_path: Path, content: bytes, message: str) -> None:
    assert said_of(tmp_path / "t.csv", content) == message


@pytest.mark.parametrize(
    ("content", "detected"),
    [
        (PLAIN.encode(), None),
        (PLAIN.encode("utf-16"), "UTF-16"),
        (PLAIN.encode("latin-1"), "Windows-1252"),
        (PLAIN.replace(",", "\t").encode(), "tabs between columns"),
        (
            PLAIN.replace(",", ";").replace("0\n", "0,0\n").encode("latin-1"),
            "Windows-1252, semicolons between columns, decimal commas in rating",
        ),
        (
            f"{PLAIN}p12,Zoë,n/a\n".replace(",", ";").replace("0\n", "0,0\n").encode(),
            "semicolons between columns, decimal commas in rating",
        ),
    ],
)
def test_the_form_of_a_text_table_is_detected(
    tmp_path: Path, content: bytes, detected: str | None
) -> None:
    (path := tmp_path / "t.csv").write_bytes(content)
    rows, warnings = observations(path, COLUMNS)
    assert rows.values[:24, 0].tolist() == [n % 4 for n in range(12) for _ in range(2)]
    assert set(rows.groups["name"]) == {"Müller", "Zoë"}
    sentence = f"Detected in {path}: {detected}."
    assert [text for text in warnings if "Detected" in text] == [sentence] * bool(detected)


def test_the_first_sheet_of_a_workbook_is_read(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    with pd.ExcelWriter(path) as book:
        pd.DataFrame({"name": ["a", "b", None], "rating": [1, 2.5, None]}).to_excel(
            book, sheet_name="ratings", index=False
        )
        pd.DataFrame({"other": [1]}).to_excel(book, sheet_name="notes", index=False)
    rows, warnings = observations(path, COLUMNS)
    assert rows.values[:, 0].tolist() == [1, 2.5]
    assert f"{path} has 2 sheets; 'ratings' is read." in warnings


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"name,rating\na,1\n", " is not an Excel workbook."),
        (None, ": column 2 of the first row has no name."),
    ],
)
def test_workbooks_that_cannot_be_read(tmp_path: Path, content: bytes | None, message: str) -> None:
    path = tmp_path / "t.xlsx"
    if content is None:
        pd.DataFrame([["name", None, "rating"], ["a", "b", 1]]).to_excel(
            path, header=False, index=False
        )
        content = path.read_bytes()
    assert said_of(path, content) == message


def test_json_lines_without_a_line_are_empty(tmp_path: Path) -> None:
    assert said_of(tmp_path / "t.jsonl", b"\n") == " is empty: it has no columns and no rows."


def test_columns_of_one_name_that_nobody_asks_for_do_no_harm(tmp_path: Path) -> None:
    (path := tmp_path / "t.csv").write_text("name,rating,x,x\na,1,2,3\nb,2,3,4\n")
    assert observations(path, COLUMNS)[0].rows == 2


def test_a_frame_with_two_columns_of_one_name_is_refused() -> None:
    from biaswatch.readers.tables import frame_observations

    frame = pd.DataFrame([["a", "b", 1]], columns=["name", "name", "rating"])
    with pytest.raises(UsageError, match="the frame has several columns named 'name'"):
        frame_observations(frame, COLUMNS, "the frame")


def test_a_label_with_half_of_a_surrogate_pair_is_refused() -> None:
    labels = pd.Series(["a\ud800", "b"], dtype=object)
    with pytest.raises(UsageError, match=r"^The label a⟨U\+D800⟩ has half of a surrogate pair"):
        column_labels(labels)


def test_a_column_without_any_value_is_doubted(tmp_path: Path) -> None:
    (path := tmp_path / "t.csv").write_text("name,rating\na,NaN\nb,\n")
    assert "No row has a value of rating: is it the right column?" in observations(path, COLUMNS)[1]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (PLAIN.encode("utf-16"), " is not text in UTF-8. Save it as CSV in UTF-8."),
        (b"response_id;value\n1;2\n", " has semicolons between its columns: save it with commas"),
    ],
)
def test_files_of_labels_are_told_the_same(tmp_path: Path, content: bytes, message: str) -> None:
    (path := tmp_path / "labels.csv").write_bytes(content)
    with pytest.raises(UsageError) as refused:
        labels_in(path)
    assert str(refused.value).removeprefix(str(path)).startswith(message)


def test_rates_of_a_table_without_any_score_are_refused(tmp_path: Path) -> None:
    (path := tmp_path / "t.csv").write_text("name,rating\na,NaN\nb,\n")
    ended = CliRunner().invoke(app, ["ll144", str(path), "--group", "name", "--score", "rating"])
    assert str(ended.exception) == f"No row of {path} has a value of rating: name another --score."
