"""Check that columns of a table exist once, and suggest the likely name where one does not."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import compress, islice
from typing import TYPE_CHECKING

from biaswatch.shared.errors import UsageError
from biaswatch.shared.lookup import similar_name

if TYPE_CHECKING:
    import pandas as pd
import re
from typing import TYPE_CHECKING, Any

import numpy as np

MOST_SHOWN, MOST_CHARACTERS = 40, 60
"""Limits of a listing in a message: columns, and characters of each name."""
REPEATED = "repeated columns"
"""The attribute of a frame that holds the names its file gave to several columns."""

NESTED = "nested columns"
"""The attribute of a frame that holds the columns of its file with lists or structures."""


DETECTED = "detected"
"""The attribute of a frame that holds sentences about how its file was read."""


def check_columns(wanted: Iterable[str], frame: "pd.DataFrame", source: object) -> None:
    """Raise UsageError if a column is missing, nested, or not unique."""
    wanted, present = list(wanted), list(map(str, frame.columns))
    for name in wanted:
        if name in frame.attrs.get(NESTED, ()):
            raise UsageError(
                f"{source}: column {name!r} holds lists or structures. Write one value in each"
                " cell."
            )
    check_names(wanted, present, source)
    repeated = {name for name, times in Counter(present).items() if times > 1}
    for name in set(wanted) & (repeated | set(frame.attrs.get(REPEATED, ()))):
        raise UsageError(
            f"{source} has several columns named {name!r}. Give each column a different name."
        )


def check_names(wanted: Iterable[str], present: Sequence[str], source: object) -> None:
    """Raise UsageError if a wanted column is not present."""
    if not present:
        raise UsageError(f"{source} is empty: it has no columns and no rows.")
    for name in wanted:
        if name not in present:
            listed = f"Its columns are {listed_names(present)}."
            raise UsageError(
                f"{source} has no column {name!r}.{_similar_column(name, present)} {listed}"
            )


def listed_names(names: Sequence[str]) -> str:
    """Return the first names as a list in prose, with the number of the others."""
    shown = [name[:MOST_CHARACTERS] for name in islice(names, MOST_SHOWN)]
    more = f" and {len(names) - len(shown)} more" if len(names) > len(shown) else ""
    return ", ".join(shown) + more


def _similar_column(name: str, present: Sequence[str]) -> str:
    """Return a sentence with the column likely meant, or an empty text."""
    names = name.split(",")
    if set(names) <= set(present):
        return f" Repeat the option for each column, or write [{', '.join(names)}] in --config."
    for candidate in present:
        if candidate != name and candidate.strip() == name.strip():
            return f" Its column {candidate!r} has an extra space: remove it in the file."
    return similar_name(name, present)


BOOLEANS = {"true": True, "false": False}
YES_NO = {"yes": 1.0, "no": 0.0, "y": 1.0, "n": 0.0}
NAME = "{name}"
"""Placeholder in a message for the value that a user named."""
MISSING_WORDS = {"", "nan", "na", "n/a", "null", "none"}
_DECIMAL = re.compile(r"(-?(?:0|[1-9]\d*))(?:\.0*|(\.\d*[1-9])0*)")
"""A decimal number without leading zeros: codes such as 007 do not match."""


def value_key(value: object) -> str:
    """Return a canonical text for comparing values: `true` for TRUE, `1` for 1.0."""
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
    """Raise UsageError if no row of a column has a named value.

    Raises
    ------
    UsageError
        The message lists the values that occur.
    """
    keys = list(dict.fromkeys(column_keys(column).dropna()))
    check_value_keys(names, keys, f"No row of {source} has {NAME} in its column {column.name}.")


def check_value_keys(names: Sequence[str], keys: Sequence[str], sentence: str) -> None:
    """Raise UsageError for the first name that is not among the keys.

    Raises
    ------
    UsageError
        The sentence, with the name in place of NAME, followed by the values that occur.
    """
    for name in names:
        if value_key(name) not in keys:
            values = f"Its values are {listed_names(_in_order(keys))}." if keys else "It is empty."
            reason = sentence.replace(NAME, repr(name))
            raise UsageError(f"{reason}{similar_name(name, keys)} {values}")


def _in_order(keys: Sequence[str]) -> list[str]:
    """Return keys sorted as numbers, or else as texts."""
    try:
        return sorted(keys, key=float)
    except ValueError:
        return sorted(keys)


def is_boolean(column: "pd.Series[Any]") -> bool:
    """Return whether every value of a column is true or false, in any spelling."""
    from pandas.api.types import is_bool_dtype

    return is_bool_dtype(column.dtype) or _has_only(column, BOOLEANS)


def is_yes_no(column: "pd.Series[Any]") -> bool:
    """Return whether every value of a column is yes or no, in any spelling."""
    return _has_only(column, YES_NO)


def _has_only(column: "pd.Series[Any]", words: Mapping[str, object]) -> bool:
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    if is_bool_dtype(column.dtype) or is_numeric_dtype(column.dtype):
        return False
    cells = compress(column.to_numpy(dtype=object), column.notna())
    keys = (value_key(cell).casefold() for cell in cells)
    present = (key for key in keys if key not in MISSING_WORDS)
    return next(present, None) in words and all(key in words for key in present)


def as_booleans(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Convert a column of booleans in any spelling; return any other column unchanged."""
    if column.dtype == bool or not is_boolean(column):
        return column
    return column_keys(column).map(BOOLEANS).astype(object)


def as_decisions(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Convert a column of booleans, or of yes and no; return any other column unchanged."""
    if not is_yes_no(column):
        return as_booleans(column)
    return column_keys(column).str.casefold().map(YES_NO)
