"""Tables from files of any origin: CSV, Parquet and JSON, bounded before they are read."""

import csv
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import Any

import pandas as pd

from biaswatch.readers.columns import NESTED, REPEATED
from biaswatch.readers.row_ids import exact_frame
from biaswatch.shared.errors import UsageError
from biaswatch.shared.files import json_rows_of_file, not_a_file

SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}
BEGINNINGS = {
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
    b"PK\x03\x04": "a workbook, or another archive",
    b"PAR1": "Parquet",
    b"\x1f\x8b": "compressed",
}
REMEDY = "Save it as CSV in UTF-8."


def not_utf8(path: Path) -> str:
    """Return a sentence for a file that is not UTF-8."""
    return f"{path} is not text in UTF-8{_seen(path)}. {REMEDY}"


def not_text(path: Path) -> str:
    """Return a sentence for a file that contains NUL characters."""
    return f"{path} is not text{_seen(path)}. {REMEDY}"


def other_separator(path: Path, names: Sequence[str]) -> str | None:
    """Return a sentence if the header is a single name that contains another separator."""
    separators = [name for sign, name in SEPARATORS.items() if len(names) == 1 and sign in names[0]]
    if not separators:
        return None
    return (
        f"{path} has {separators[0]} between its columns: save it with commas, and with points as"
        " decimal marks."
    )


def _seen(path: Path) -> str:
    """Return the format that the first bytes indicate, as part of a sentence."""
    with path.open("rb") as file:
        first = file.read(4)
    known = [name for begins, name in BEGINNINGS.items() if first.startswith(begins)]
    return f", but {known[0]}" if known else ""


MIB = 1024 * 1024
LARGEST_BYTES = 512 * MIB
MOST_COLUMNS = 10_000
MOST_CELLS = 50_000_000
RAGGED = re.compile(r"Expected (\d+) fields in line (\d+), saw (\d+)")
"""The message of pandas for a row with more cells than the header."""
LONGEST_LINE = 4 * MIB
"""Characters of a line of the CSV header check, which reads two lines."""
MAX_CELL_CHARACTERS = 128 * 1024
"""Limit for a cell in the header check; the limit of `csv` applies to the whole process."""
SMALLER = "Leave out columns that are not needed, or split it by domain"


def frame_of(path: Path) -> pd.DataFrame:
    """Read a table in the format of its file extension.

    Raises
    ------
    UsageError
        The file is missing, invalid or too large; the message names the reason.
    """
    reader = READERS.get(path.suffix.lower())
    if reader is None and not path.exists():
        raise UsageError(f"There is no file {path}.")
    if why := not_a_file(path):
        raise UsageError(why)
    if reader is None:
        raise UsageError(
            f"The extension of {path} is not one of {', '.join(READERS)}. Save the table in one of"
            " these formats."
        )
    try:
        _check_size(path)
        return reader(path)
    except FileNotFoundError:
        raise UsageError(f"There is no file {path}.") from None
    except MemoryError:
        raise UsageError(f"{path} does not fit into memory. Split it by domain.") from None
    except UsageError:
        raise
    except (OSError, ValueError, csv.Error, OverflowError) as error:
        raise UsageError(_unreadable(path, error)) from None


def _unreadable(path: Path, error: Exception) -> str:
    """Return the reason why a file cannot be read, and the remedy if known."""
    if isinstance(error, UnicodeDecodeError):
        return not_utf8(path)
    if isinstance(error, pd.errors.EmptyDataError):
        return f"{path} is empty: it has no columns and no rows."
    if ragged := RAGGED.search(str(error)):
        expected, line, cells = ragged.groups()
        return (
            f"{path}, line {line}: it has {cells} cells, but the header names {expected} columns."
            " Quote cells that contain a comma."
        )
    reason = str(getattr(error, "strerror", None) or error).strip()
    first = reason.splitlines()[0].rstrip(".") if reason else "no reason"
    return f"{path} cannot be read as {path.suffix[1:]}: {first}."


def _check_size(path: Path) -> None:
    if (size := path.stat().st_size) > LARGEST_BYTES:
        raise UsageError(
            f"{path} has {size // MIB} MiB; the limit is {LARGEST_BYTES // MIB} MiB. {SMALLER}."
        )


def _check_shape(path: Path, columns: int, rows: int) -> None:
    if columns > MOST_COLUMNS:
        raise UsageError(f"{path} has more than {MOST_COLUMNS:,} columns. {SMALLER}.")
    if rows * columns > MOST_CELLS:
        raise UsageError(f"{path} has more than {MOST_CELLS:,} cells. {SMALLER}.")


def _csv(path: Path) -> pd.DataFrame:
    names, columns = _check_first_lines(path)
    with path.open("rb") as file:
        parts = iter(lambda: file.read(MIB), b"")
        _check_shape(path, columns, sum(part.count(b"\n") for part in parts))
    frame = pd.read_csv(path, dtype=str, keep_default_na=False, na_values=[""])
    frame.attrs[REPEATED] = [name for name, times in Counter(names).items() if times > 1]
    if not isinstance(frame.index, pd.RangeIndex):
        # pandas takes the first cell of such rows as an index and shifts the others.
        raise UsageError(
            f"{path}: rows have more cells than the header has names. Name every column, or remove"
            " the comma at the end of the rows."
        )
    return frame


def _check_first_lines(path: Path) -> tuple[list[str], int]:
    """Return the names in the header, and the number of columns of the first two lines."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        first = file.read(2 * LONGEST_LINE)
    if "\0" in first:
        raise UsageError(not_text(path))
    csv.field_size_limit(MAX_CELL_CHARACTERS)
    try:
        rows = list(islice(csv.reader(StringIO(first, newline="")), 2))
    except csv.Error:
        raise UsageError(
            f"{path}: a cell of the first two lines has more than {MAX_CELL_CHARACTERS:,}"
            " characters, or they are not CSV."
        ) from None
    columns, names = max(map(len, rows), default=0), rows[0] if rows else []
    _check_shape(path, columns, 1)
    if reason := other_separator(path, names):
        raise UsageError(reason)
    return names, columns


def _json(path: Path) -> pd.DataFrame:
    rows: list[dict[str, Any]] = []
    names: dict[str, None] = {}
    for where, row in json_rows_of_file(path, "table"):
        if not isinstance(row, dict):
            raise UsageError(f"{where}: a row must be an object with a value for each column.")
        flat = dict(_flat(row))
        names.update(dict.fromkeys(flat))
        rows.append(flat)
        _check_shape(path, len(names), len(rows))
    return exact_frame({name: [row.get(name) for row in rows] for name in names})


def _flat(row: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the fields of a row; fields of a nested object are named `object.field`."""
    for name, value in row.items():
        if isinstance(value, dict) and value:
            yield from ((f"{name}.{inner}", cell) for inner, cell in _flat(value))
        else:
            yield name, value


def _parquet(path: Path) -> pd.DataFrame:
    from biaswatch.readers.parquet_files import nested_columns, read_parquet  # needs an extra

    table = read_parquet(path, MOST_COLUMNS, MOST_CELLS)
    # As floats, different ids beyond 2**53 would become equal.
    frame: pd.DataFrame = table.to_pandas(integer_object_nulls=True)
    frame.attrs[NESTED] = nested_columns(path)
    return frame


READERS: Mapping[str, Callable[[Path], pd.DataFrame]] = {
    ".csv": _csv,
    ".parquet": _parquet,
    ".jsonl": _json,
    ".ndjson": _json,
    ".json": _json,
}
