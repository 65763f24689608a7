"""Columns of a frame whose ids keep every digit, and warnings about labels that lost some."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from unicodedata import category, normalize

import numpy as np
import pandas as pd

from biaswatch.shared.errors import UsageError
from biaswatch.shared.foreign_text import shown
from biaswatch.shared.lookup import grouped
from biaswatch.shared.parsing.json_objects import without_surrogates
from biaswatch.shared.parsing.texts import label_text

MAX_SHOWN_FORMS = 3
EXACT_FLOAT_LIMIT = 2.0**53
"""From here on, a double holds only some of the whole numbers."""
EXACT_LIMITS = {2: 2.0**11, 4: 2.0**24}
"""The same limit for smaller floats, by their bytes."""
_ROUNDED = re.compile(r"[+-]?\d(?:\.\d+)?[eE]\+\d+")
"""How Python and spreadsheets write a large number whose last digits they dropped."""
_WHOLE_FLOAT = re.compile(r"([+-]?\d+)\.0+")


def exact_frame(columns: Mapping[str, Sequence[Any]]) -> pd.DataFrame:
    """Return a frame of these columns, with every integer exact."""
    return pd.DataFrame({name: _exact_column(values) for name, values in columns.items()})


def _exact_column(values: Sequence[Any]) -> "pd.Series[Any]":
    """Return a column; integers mixed with other values (None, a float) stay Python's integers."""
    kinds = set(map(type, values))
    return pd.Series(values, dtype=object if int in kinds and len(kinds) > 1 else None)


def floats_in(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Return the numbers of a column of anything, NaN for other values."""
    try:
        return pd.to_numeric(column, errors="coerce")
    except OverflowError:  # an integer larger than any float
        return pd.to_numeric(column.map(str, na_action="ignore"), errors="coerce")


def column_labels(column: "pd.Series[Any]") -> list[str | None]:
    """Return the label of each row, None for an empty or blank cell."""
    if column.dtype == object:  # 1, 1.0 and True are equal there, and are different labels
        return [
            None if absent else _label(value)
            for value, absent in zip(column, column.isna(), strict=True)
        ]
    codes, values = pd.factorize(column)
    labels = [*map(_label, values), None]
    return [labels[code] for code in codes.tolist()]


def _label(value: Any) -> str | None:
    label = label_text(value.item() if isinstance(value, np.generic) else value)
    if without_surrogates(label) != label:
        raise UsageError(
            f"The label {shown(label)} has half of a surrogate pair, which no file can hold."
            " Correct its text."
        )
    return label if label.strip() else None


def label_form_warnings(
    frame: pd.DataFrame, groups: Mapping[str, Iterable[str | None]], ids: Iterable[str]
) -> list[str]:
    """Return warnings about the labels of groups and of ids (units, sets)."""
    names = dict.fromkeys([*groups, *ids])
    rounded = [_rounded_sentence(name) for name in names if has_rounded_values(frame[name])]
    return [*rounded, *(line for item in groups.items() for line in label_form_sentences(*item))]


def rounded_id_warnings(ids: Mapping[str, Iterable[object]]) -> list[str]:
    """Return a warning for each kind of id with rounded values."""
    return [
        _rounded_sentence(name) for name, values in ids.items() if any(map(_is_rounded, values))
    ]


def has_rounded_values(column: "pd.Series[Any]") -> bool:
    """Return whether a value is a float too large to hold every integer."""
    if isinstance(column.dtype, np.dtype) and column.dtype.kind == "f":
        limit = EXACT_LIMITS.get(column.dtype.itemsize, EXACT_FLOAT_LIMIT)
        return bool((np.isfinite(column) & (column.abs() >= limit)).any())
    if isinstance(column.dtype, np.dtype) and column.dtype.kind != "O":
        return False
    return any(map(_is_rounded, column.to_numpy(dtype=object)))


def _is_rounded(value: object) -> bool:
    if isinstance(value, str):
        return "+" in value and _ROUNDED.fullmatch(value.strip()) is not None
    return isinstance(value, float) and EXACT_FLOAT_LIMIT <= abs(value) < np.inf


def _rounded_sentence(name: str) -> str:
    return (
        f"Values of {name} are floats too large to be exact, so different ids may have become one."
        f" Write {name} as text or as whole numbers where the table is made."
    )


def label_form_sentences(name: str, labels: Iterable[str | None]) -> Iterator[str]:
    """Yield a warning if labels of a group differ only in case, spaces, Unicode, or as 1 and 1.0.

    The same letter can be one code point or several, and some characters are invisible.
    """
    forms = grouped((_form(label), label) for label in dict.fromkeys(labels) if label is not None)
    variants = [" and ".join(map(_written, same)) for same in forms.values() if len(same) > 1]
    if variants:
        more = (
            f" (and {len(variants) - MAX_SHOWN_FORMS} more)"
            if len(variants) > MAX_SHOWN_FORMS
            else ""
        )
        yield (
            f"Labels of {name} differ only in form, and count as different groups:"
            f" {'; '.join(variants[:MAX_SHOWN_FORMS])}{more}. Write each label in one way."
        )


def _form(label: str) -> str:
    """Return the common form of labels that look alike."""
    visible = "".join(c for c in normalize("NFKC", label) if category(c) != "Cf")
    return _WHOLE_FLOAT.sub(r"\1", visible.strip().casefold())


def _written(label: str) -> str:
    """Return a label in quotes, with code points where it looks like its usual form."""
    return repr(label) if normalize("NFKC", label) == label else ascii(label)
