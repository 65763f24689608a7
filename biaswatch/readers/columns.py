"""Columns of a table by name: that each is there once, and what is likely meant where it is not."""

from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from itertools import islice
from typing import TYPE_CHECKING

from biaswatch.shared.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd
import re
from typing import TYPE_CHECKING, Any

import numpy as np

MOST_SHOWN, MOST_CHARACTERS = 40, 60
"""Columns that a sentence lists, and of the name of each."""
REPEATED = "repeated columns"
"""The attribute of a frame that holds the names its file gave to several columns."""

NESTED = "nested columns"
"""The attribute of a frame that holds the columns of its file with lists or structures."""


def check_columns(wanted: Iterable[str], frame: "pd.DataFrame", source: object) -> None:
    """Raise UsageError where a column is not there, or several have its name."""
    wanted, there = list(wanted), list(map(str, frame.columns))
    for name in wanted:
        if name in frame.attrs.get(NESTED, ()):
            raise UsageError(
                f"{source}: column {name!r} holds lists or structures. Write one value in each"
                " cell."
            )
    check_names(wanted, there, source)
    repeated = {name for name, times in Counter(there).items() if times > 1}
    for name in set(wanted) & (repeated | set(frame.attrs.get(REPEATED, ()))):
        raise UsageError(
            f"{source} has several columns named {name!r}. Give each a name of its own."
        )


def check_names(wanted: Iterable[str], there: Sequence[str], source: object) -> None:
    """Raise UsageError where a column is not among those that are there."""
    if not there:
        raise UsageError(f"{source} is empty: it has no columns and no rows.")
    for name in wanted:
        if name not in there:
            listed = f"Its columns are {listed_names(there)}."
            raise UsageError(
                f"{source} has no column {name!r}.{_similar_column(name, there)} {listed}"
            )


def listed_names(there: Sequence[str]) -> str:
    """Return the names of columns for a sentence; of very many the first."""
    shown = [name[:MOST_CHARACTERS] for name in islice(there, MOST_SHOWN)]
    more = f" and {len(there) - len(shown)} more" if len(there) > len(shown) else ""
    return ", ".join(shown) + more


def _similar_column(name: str, there: Sequence[str]) -> str:
    """Return the column that is likely meant, as a sentence of its own; empty where none is."""
    for each in there:
        if each != name and each.strip() == name.strip():
            return f" There is {each!r}, with a space beside it: take it away in the file."
    close = get_close_matches(name, there, 1, 0.8)
    return f" Is {close[0]!r} meant?" if close else ""


BOOLEANS = {"true": True, "false": False}
NAME = "{name}"
"""In a sentence, the place of the value that a user named."""
MISSING_WORDS = {"", "nan", "na", "n/a", "null", "none"}
_DECIMAL = re.compile(r"(-?(?:0|[1-9]\d*))(?:\.0*|(\.\d*[1-9])0*)")
"""A number as people and CSV files write it; codes such as 007 are none."""


def value_key(value: object) -> str:
    """Return the text by which values are compared: `true` for TRUE, `1` for 1.0."""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    text = str(value).strip()
    if text.casefold() in BOOLEANS:
        return text.casefold()
    decimal = _DECIMAL.fullmatch(text)
    return decimal[1] + (decimal[2] or "") if decimal else text


def column_keys(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Return the key of every cell; empty cells stay empty."""
    return column.map(value_key, na_action="ignore")


def check_values(names: Sequence[str], column: "pd.Series[Any]", source: object) -> None:
    """Raise UsageError where no row of a column has a named value.

    Raises
    ------
    UsageError
        The sentence lists the values that occur.
    """
    keys = list(dict.fromkeys(column_keys(column).dropna()))
    check_value_keys(names, keys, f"No row of {source} has {NAME} in its column {column.name}.")


def check_value_keys(names: Sequence[str], keys: Sequence[str], sentence: str) -> None:
    """Raise UsageError with the sentence about the first name without a key, in place of NAME.

    Raises
    ------
    UsageError
        The sentence is followed by the values that occur.
    """
    for name in names:
        if value_key(name) not in keys:
            values = f"Its values are {listed_names(_in_order(keys))}." if keys else "It is empty."
            said = sentence.replace(NAME, repr(name))
            raise UsageError(f"{said}{_similar_value(name, keys)} {values}")


def _in_order(keys: Sequence[str]) -> list[str]:
    """Return keys sorted as numbers, or else as texts."""
    try:
        return sorted(keys, key=float)
    except ValueError:
        return sorted(keys)


def _similar_value(name: str, keys: Sequence[str]) -> str:
    """Return the value that is likely meant, as a sentence of its own; empty without one."""
    by_case = {key.casefold(): key for key in keys}
    close = get_close_matches(name.casefold(), by_case, 1, 0.8)
    return f" Is {by_case[close[0]]!r} meant?" if close else ""


def is_boolean(column: "pd.Series[Any]") -> bool:
    """Return whether every value of a column is true or false, in whatever form."""
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    if is_bool_dtype(column.dtype) or is_numeric_dtype(column.dtype):
        return bool(is_bool_dtype(column.dtype))
    cells = column[~column.isna()]
    present = (key for key in map(value_key, cells) if key.casefold() not in MISSING_WORDS)
    return next(present, None) in BOOLEANS and all(key in BOOLEANS for key in present)


def as_booleans(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Return a column of booleans in whatever form as Python's; any other column unchanged."""
    if column.dtype == bool or not is_boolean(column):
        return column
    return column_keys(column).map(BOOLEANS).astype(object)
