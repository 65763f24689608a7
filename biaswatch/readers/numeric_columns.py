"""Read columns of a table as floats; refuse words and numbers that floats would round."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from biaswatch.readers.columns import MISSING_WORDS, YES_NO, as_decisions
from biaswatch.readers.row_ids import EXACT_FLOAT_LIMIT, floats_in
from biaswatch.shared.contracts.response import LARGEST_VALUE
from biaswatch.shared.errors import UsageError
from biaswatch.shared.stats.arrays import Bools, Floats
from biaswatch.shared.stats.samples import FLAT_RTOL

NO_NUMBERS = {
    "M": "dates, not numbers. Write the days or years since a date",
    "m": "durations, not numbers. Write their seconds (in pandas: `.dt.total_seconds()`)",
    "c": "complex numbers. Write the real and the imaginary part in two columns",
}
"""Values other than real numbers, by numpy's kind of a dtype."""
NAMED_CELLS = 3
"""Cells that a message names; it counts the others."""


def numbers_in(path: Path | str, frame: pd.DataFrame, name: str) -> Floats:
    """Return a column as numbers, or raise UsageError with the cells that are not numbers."""
    numbers = _numbers_of_any_size(path, frame, name)
    beyond = np.isfinite(numbers) & (np.abs(numbers) > LARGEST_VALUE)
    if beyond.any():
        row = int(np.flatnonzero(beyond)[0])
        raise UsageError(
            f"{path}, row {row + 1}, column {name}: the squares of values beyond {LARGEST_VALUE:g}"
            " overflow. Write the column in larger units."
        )
    present = numbers[np.isfinite(numbers)]
    if present.size and 1 <= np.ptp(present) <= FLAT_RTOL * np.abs(present).max():
        raise UsageError(
            f"{path}, column {name}: the values are alike in their first 12 digits, and their"
            " differences would be rounded away. Subtract a constant from the column."
        )
    return numbers


def _numbers_of_any_size(path: Path | str, frame: pd.DataFrame, name: str) -> Floats:
    column = as_decisions(frame[name])
    if (kind := NO_NUMBERS.get(getattr(column.dtype, "kind", "O"))) is not None:
        raise UsageError(f"{path}, column {name} holds {kind}.")
    if column.dtype == bool or pd.api.types.is_numeric_dtype(column):
        numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
        _check_digits(path, column, numbers)
        return numbers
    numbers = floats_in(column).to_numpy(dtype=np.float64)
    _check_digits(path, column, numbers)
    words = column.map(lambda value: str(value).strip().lower())
    wrong = np.isnan(numbers) & ~column.isna().to_numpy() & ~words.isin(MISSING_WORDS).to_numpy()
    if wrong.any():
        other_words = wrong & ~words.isin(list(YES_NO)).to_numpy()
        raise UsageError(
            _not_numbers(path, frame, name, other_words if other_words.any() else wrong)
        )
    return numbers


def _not_numbers(path: Path | str, frame: pd.DataFrame, name: str, wrong: Bools) -> str:
    """Return a sentence with the number of wrong cells, and the first of them with their places."""
    rows = np.flatnonzero(wrong).tolist()
    cells = [
        f"{str(frame[name].iloc[row])[:60]!r} ({_place(path, frame, row)})"
        for row in rows[:NAMED_CELLS]
    ]
    more = ", ..." if len(rows) > NAMED_CELLS else "."
    count = "1 cell is not a number"
    if len(frame) > 1:
        are = "is not a number" if len(rows) == 1 else "are not numbers"
        count = f"{len(rows):,} of {len(frame):,} cells {are}"
    return (
        f"{path}, column {name}: {count}: {', '.join(cells)}{more} Write plain numbers such as"
        " 1200.5, without % and separators of thousands, or yes and no in every row. Where a value"
        " is missing, leave the cell empty or write NA."
    )


def _place(path: Path | str, frame: pd.DataFrame, row: int) -> str:
    """Return where a row is in its file: the line of a text, the row of a sheet."""
    match Path(path).suffix.lower():
        case ".csv" | ".tsv":
            above = frame.iloc[:row].to_numpy().ravel().tolist()
            breaks = sum(str(cell).count("\n") for cell in (*frame.columns, *above))
            return f"line {row + 2 + breaks}"
        case ".xlsx":
            return f"row {row + 2}"
        case _:
            return f"row {row + 1}"


def _check_digits(path: Path | str, column: "pd.Series[Any]", numbers: Floats) -> None:
    """Raise UsageError with the first whole number that a float does not hold."""
    large = np.isfinite(numbers) & (np.abs(numbers) >= EXACT_FLOAT_LIMIT)
    for row in np.flatnonzero(large).tolist():
        value = column.iloc[row]
        if isinstance(value, int | np.integer) and int(value) != float(numbers[row]):
            raise UsageError(
                f"{path}, row {row + 1}, column {column.name}: a whole number of"
                f" {len(str(abs(int(value))))} digits would be rounded, and small gaps with it."
                " Subtract a constant from the column, or write it in larger units."
            )
