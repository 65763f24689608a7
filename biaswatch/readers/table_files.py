"""Tables from files of any origin: CSV, Excel, Parquet and JSON, bounded before they are read."""

import csv
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from biaswatch.readers.columns import NESTED
from biaswatch.readers.row_ids import exact_frame
from biaswatch.readers.table_limits import MOST_CELLS, MOST_COLUMNS, check_shape, check_size
from biaswatch.readers.text_tables import not_utf8, read_csv
from biaswatch.readers.workbooks import read_workbook
from biaswatch.shared.errors import UsageError
from biaswatch.shared.files import json_rows_of_file, not_a_file

RAGGED = re.compile(r"Expected (\d+) fields in line (\d+), saw (\d+)")
"""The message of pandas for a row with more cells than the header."""


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
        check_size(path)
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


def _json(path: Path) -> pd.DataFrame:
    rows: list[dict[str, Any]] = []
    names: dict[str, None] = {}
    for where, row in json_rows_of_file(path, "table"):
        if not isinstance(row, dict):
            raise UsageError(f"{where}: a row must be an object with a value for each column.")
        flat = dict(_flat(row))
        names.update(dict.fromkeys(flat))
        rows.append(flat)
        check_shape(path, len(names), len(rows))
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
    ".csv": read_csv,
    ".tsv": read_csv,
    ".xlsx": read_workbook,
    ".parquet": _parquet,
    ".jsonl": _json,
    ".ndjson": _json,
    ".json": _json,
}
