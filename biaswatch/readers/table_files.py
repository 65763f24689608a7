"""Tables from files of any origin: CSV, Parquet and JSON lines, bounded before they are read."""

import csv
from collections.abc import Callable, Mapping
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import Any

import pandas as pd

from shared.errors import UsageError
from shared.files import json_lines_of_file

MIB = 1024 * 1024
LARGEST_BYTES = 512 * MIB
MOST_COLUMNS = 10_000
MOST_CELLS = 50_000_000
LONGEST_LINE = 4 * MIB
"""Of the first two lines of a CSV file, which say how many columns there are."""
SMALLER = "Leave out columns that are not needed, or split it by domain"


def frame_of(path: Path) -> pd.DataFrame:
    """Read a table; its ending says what it is.

    Raises
    ------
    UsageError
        It is no such file, or larger than a table may be; the sentence says which.
    """
    reader = READERS.get(path.suffix.lower())
    if reader is None and not path.exists():
        raise UsageError(f"There is no file {path}.")
    if reader is None:
        raise UsageError(f"{path} is none of {', '.join(READERS)}; its ending says what it is.")
    try:
        _check_size(path)
        return reader(path)
    except FileNotFoundError:
        raise UsageError(f"There is no file {path}.") from None
    except MemoryError:
        raise UsageError(f"{path} does not fit into memory. Split it by domain.") from None
    except (OSError, ValueError, csv.Error, OverflowError) as error:
        said = str(getattr(error, "strerror", None) or error).strip()
        first = said.splitlines()[0].rstrip(".") if said else "no reason"
        raise UsageError(f"{path} cannot be read as {path.suffix[1:]}: {first}.") from None


def _check_size(path: Path) -> None:
    if (size := path.stat().st_size) > LARGEST_BYTES:
        raise UsageError(
            f"{path} has {size // MIB} MiB, and a table at most {LARGEST_BYTES // MIB}. {SMALLER}."
        )


def _check_shape(path: Path, columns: int, rows: int) -> None:
    if columns > MOST_COLUMNS:
        raise UsageError(f"{path} has more than {MOST_COLUMNS:,} columns. {SMALLER}.")
    if rows * columns > MOST_CELLS:
        raise UsageError(f"{path} has more than {MOST_CELLS:,} cells. {SMALLER}.")


def _csv(path: Path) -> pd.DataFrame:
    columns = _check_first_lines(path)
    with path.open("rb") as file:
        parts = iter(lambda: file.read(MIB), b"")
        _check_shape(path, columns, sum(part.count(b"\n") for part in parts))
    frame = pd.read_csv(path, dtype=str, keep_default_na=False, na_values=[""])
    if not isinstance(frame.index, pd.RangeIndex):
        # pandas takes the first cells of such rows for names, and every other for its neighbour.
        raise UsageError(
            f"{path}: rows have more cells than the first line has names. Name every column, or"
            " take away the comma at the end of the rows."
        )
    return frame


def _check_first_lines(path: Path) -> int:
    """Return how many columns there are; pandas takes that from these lines, however many."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        first = file.read(2 * LONGEST_LINE)
    try:
        sizes = [len(row) for row in islice(csv.reader(StringIO(first, newline="")), 2)]
    except csv.Error:
        raise UsageError(
            f"{path}: a cell of the first two lines has more than {csv.field_size_limit():,}"
            " characters, or they are not CSV."
        ) from None
    columns = max(sizes, default=0)
    _check_shape(path, columns, 1)
    return columns


def _json_lines(path: Path) -> pd.DataFrame:
    rows: list[dict[str, Any]] = []
    names: set[str] = set()
    for where, row in json_lines_of_file(path, "table"):
        if not isinstance(row, dict):
            raise UsageError(f"{where}: a row is an object with a value for each column.")
        names.update(row)
        rows.append(row)
        _check_shape(path, len(names), len(rows))
    return pd.DataFrame(rows)


def _parquet(path: Path) -> pd.DataFrame:
    from biaswatch.readers.parquet_files import read_parquet  # its library is an extra

    frame: pd.DataFrame = read_parquet(path, MOST_COLUMNS, MOST_CELLS).to_pandas()
    return frame


READERS: Mapping[str, Callable[[Path], pd.DataFrame]] = {
    ".csv": _csv,
    ".parquet": _parquet,
    ".jsonl": _json_lines,
}
