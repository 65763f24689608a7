"""Conditions as people write them: `admitted=yes`, `score>=3`, `department=A|B`."""

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from shared.errors import UsageError

_CONDITION = re.compile(r"^(?P<column>.+?)\s*(?P<sign>>=|<=|!=|=|>|<)\s*(?P<value>.+)$")
_ORDER: dict[str, Callable[[Any, Any], Any]] = {
    ">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt,
}  # fmt: skip


@dataclass(frozen=True)
class RowFilter:
    """A column compared with a value."""

    column: str
    sign: str
    value: str

    def met(self, frame: pd.DataFrame, path: object) -> "pd.Series[Any]":
        """Return for each row 1.0, 0.0, or NaN where the column is empty."""
        if self.column not in frame.columns:
            there = ", ".join(map(str, frame.columns))
            raise UsageError(f"{path} has no column {self.column!r}. Its columns are {there}.")
        column = frame[self.column]
        found = self._ordered(column, path) if self.sign in _ORDER else self._equal(column)
        return found.astype(float).where(~column.isna(), np.nan)

    def _ordered(self, column: "pd.Series[Any]", path: object) -> "pd.Series[Any]":
        try:
            threshold = float(self.value)
        except ValueError:
            raise UsageError(
                f"{self.column}{self.sign} needs a number, not {self.value!r}."
            ) from None
        numbers = pd.to_numeric(column, errors="coerce")
        wrong = numbers.isna() & ~column.isna()
        if wrong.any():
            row = int(np.flatnonzero(wrong.to_numpy())[0])
            raise UsageError(
                f"{path}, row {row + 1}, column {self.column}: {str(column.iloc[row])[:60]!r} is no"
                " number, but it is compared with one."
            )
        met: pd.Series[Any] = _ORDER[self.sign](numbers, threshold)
        return met

    def _equal(self, column: "pd.Series[Any]") -> "pd.Series[Any]":
        wanted = [each.strip() for each in self.value.split("|")]
        met = column.map(lambda value: _text(value) in wanted)
        return ~met.astype(bool) if self.sign == "!=" else met.astype(bool)

    def __str__(self) -> str:
        return f"{self.column}{self.sign}{self.value}"


def _text(value: object) -> str:
    """Return a cell as a person would type it: 3.0 of a Parquet column is 3."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def row_filter(written: str) -> RowFilter:
    """Read a condition.

    Raises
    ------
    UsageError
        It has no column, no comparison or no value.
    """
    found = _CONDITION.match(written.strip())
    if not found:
        raise UsageError(
            f"{written!r} is no condition. Write COLUMN=VALUE, COLUMN=A|B, COLUMN!=VALUE, or"
            " COLUMN>=NUMBER (also >, <=, <)."
        )
    return RowFilter(found["column"].strip(), found["sign"], found["value"].strip())
