"""Columns of a frame whose ids keep every digit, and warnings about labels that lost some."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from unicodedata import category, normalize

import numpy as np
import pandas as pd
from scipy import special

from biaswatch.shared.errors import UsageError
from biaswatch.shared.formatting import number, shown
from biaswatch.shared.lookup import grouped
from biaswatch.shared.parsing.json_objects import without_surrogates
from biaswatch.shared.parsing.texts import label_text
from biaswatch.shared.stats.arrays import Floats, Indices
from biaswatch.shared.stats.estimate import MIN_FACTOR_LEVELS

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


NAMED_SO = re.compile(
    r"(^|[_\W])(prompt|question|item|case|stem|template|probe|unit|key|cv|vignette|scenario"
    r"|sentence|stimulus|user|conversation|id)s?([_\W]|$)"
)
"""Usual names of columns that identify prompts."""
NAMED_AS_FACTOR = re.compile(
    r"(^|[_\W])(name|applicant|candidate|persona|text|template|stimulus|vignette|cv|scenario|company|account|organi[sz]ation"
    r"|customer|firm|school)s?([_\W]|$)"
)
"""Usual names of columns of random factors."""
LEAST_SHARE = 0.5
"""Minimum share of rows with the same group and value as another row."""
LEAST_VALUES = 5
"""Minimum number of values of a prompt column without a usual name."""
SURE = 0.001
"""Maximum p-value of its intraclass correlation."""
MOST_COLUMNS = 100


@dataclass(frozen=True)
class RepeatedColumn:
    """A column whose values repeat within groups."""

    name: str
    values: int
    """Number of distinct values."""
    is_named_so: bool
    """True if its name is usual for a column of prompts."""
    correlation: float | None
    """Intraclass correlation of the feature within the values."""
    p_value: float | None
    """P-value of the correlation, under the null of none."""


def repeats_warning(
    frame: pd.DataFrame,
    *,
    used: Sequence[str],
    groups: Sequence[str],
    feature: str,
    values: Floats,
    clusters: str | None = None,
    random: Sequence[str] = (),
) -> str | None:
    """Return a warning if an unused column appears to identify prompts.

    Given the column of sets, or units: if one repeats within groups across these. A column within
    a random factor needs no warning, since the factor's clusters contain its own.
    """
    columns = [
        column
        for column in _repeated(frame, used, groups, values, clusters)
        if not any(_lies_within(frame, column.name, factor) for factor in random)
    ]
    if not columns:
        return None
    best = max(columns, key=lambda column: (column.is_named_so, column.correlation or 0.0))
    if clusters is not None:
        return (
            f"The same {best.values} values of {best.name} occur under many values of {clusters}."
            f" Conclusions are about these values alone. With {MIN_FACTOR_LEVELS} or more a group,"
            f" --random {best.name} tests others that could have been drawn (names, texts,"
            " templates, companies)."
        )
    similarity = ""
    if best.correlation is not None and best.p_value is not None and best.p_value < SURE:
        similarity = (
            f", and {feature} is similar within them (correlation {number(best.correlation, 2)})"
        )
    option, what, otherwise = f"--unit {best.name}", "answer the same prompt", "are too small"
    if frame.groupby(best.name)[list(groups)].nunique().to_numpy().max() > 1:
        option, what, otherwise = f"--set {best.name} {option}", "are about one case", "are wrong"
    return (
        f"Each row counts as independent, but {len(frame)} rows share {best.values} values of"
        f" {best.name}{similarity}. If rows with the same {best.name} {what}, add {option};"
        f" otherwise p-values {otherwise}."
    )


def _repeated(
    frame: pd.DataFrame,
    used: Sequence[str],
    groups: Sequence[str],
    values: Floats,
    clusters: str | None,
) -> Iterator[RepeatedColumn]:
    names = [name for name in frame.columns if name not in used][:MOST_COLUMNS]
    if not names:
        return
    group = _joined_codes(frame, groups)
    pattern = NAMED_SO if clusters is None else NAMED_AS_FACTOR
    within = None if clusters is None else pd.factorize(frame[clusters])[0]
    for name in names:
        named_so = pattern.search(str(name).lower()) is not None
        labels = _labels(frame[name], named_so)
        if labels is None:
            continue
        count = int(labels.max()) + 1
        _, cell, sizes = np.unique(group * count + labels, return_inverse=True, return_counts=True)
        if within is not None:
            # Count the sets, or units, in which a group has a value, and not its rows.
            pairs = np.unique(np.stack([cell, within]), axis=1)[0]
            sizes = np.bincount(pairs, minlength=len(sizes))
            if len(sizes) < 2 * (int(group.max()) + 1):  # one value a group is the group itself
                continue
        if np.mean(sizes[cell] > 1) < LEAST_SHARE:
            continue
        correlation, p_value = intraclass_correlation(values, group, cell)
        is_correlated = p_value is not None and p_value < SURE and count >= LEAST_VALUES
        if named_so or is_correlated:
            yield RepeatedColumn(str(name), count, named_so, correlation, p_value)


def _lies_within(frame: pd.DataFrame, inner: str, outer: str) -> bool:
    """Return whether each value of a column has a single value of another."""
    return not frame[outer].isna().any() and bool(
        (frame.groupby(inner)[outer].nunique() == 1).all()
    )


def _joined_codes(frame: pd.DataFrame, groups: Sequence[str]) -> Indices:
    """Return one code for each combination of groups."""
    joined = np.zeros(len(frame), dtype=np.intp)
    for column in groups:
        codes = pd.factorize(frame[column])[0] + 1  # 0 for an empty cell
        joined = np.unique(joined * (int(codes.max(initial=0)) + 1) + codes, return_inverse=True)[1]
    return joined


def _labels(column: "pd.Series[Any]", named_so: bool) -> Indices | None:
    """Return codes of the values; None if they are numeric or all distinct."""
    if column.isna().any():
        return None
    try:
        codes, uniques = pd.factorize(column)
    except TypeError:  # lists and mappings
        return None
    if not 2 <= len(uniques) < len(column):
        return None
    numeric = not floats_in(pd.Series(uniques)).isna().any()
    return None if numeric and not named_so else codes


def intraclass_correlation(
    values: Floats, groups: Indices, cells: Indices
) -> tuple[float | None, float | None]:
    """Return the intraclass correlation of cells within groups, and its p-value.

    ICC(1) of a one-way analysis of variance of cells within groups (Shrout and Fleiss 1979), with
    its F test; None where it is undefined.
    """
    present = np.isfinite(values)
    value, group, cell = values[present], groups[present], cells[present]
    if not len(value):
        return None, None
    _, of_cell, sizes = np.unique(cell, return_inverse=True, return_counts=True)
    means = np.bincount(of_cell, value) / sizes
    group_means = np.bincount(group, value) / np.maximum(np.bincount(group), 1)
    k, n, g = len(sizes), len(value), len(np.unique(group))
    if k <= g or n <= k:
        return None, None
    between = float(np.sum((means[of_cell] - group_means[group]) ** 2)) / (k - g)
    within = float(np.sum((value - means[of_cell]) ** 2)) / (n - k)
    size = (n - float(np.sum(sizes**2)) / n) / (k - 1)
    if between + (size - 1) * within <= 0:
        return None, None
    p_value = float(special.fdtrc(k - g, n - k, between / within)) if within > 0 else 0.0
    return (between - within) / (between + (size - 1) * within), p_value
