"""Warnings about columns whose values repeat within groups."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from biaswatch.readers.row_ids import floats_in
from biaswatch.shared.formatting import number
from biaswatch.shared.stats.arrays import Floats, Indices
from biaswatch.shared.stats.estimate import MIN_FACTOR_LEVELS

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
