"""Whether rows of a table repeat a prompt that nobody named: then they are not independent."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from biaswatch.readers.exact_columns import floats_in
from biaswatch.shared.formatting import number

NAMED_SO = re.compile(
    r"(^|[_\W])(prompt|question|item|case|stem|template|probe|unit|key|cv|vignette|scenario"
    r"|sentence|stimulus|user|conversation|id)s?([_\W]|$)"
)
"""What columns of prompts are called, among other words."""
LEAST_SHARE = 0.5
"""Of the rows that share their group and the column's value with another row."""
LEAST_VALUES = 5
"""A column of another name needs so many values, alike so surely, to be taken for prompts."""
SURE = 0.001
MOST_COLUMNS = 100


@dataclass(frozen=True)
class RepeatedColumn:
    """A column whose values repeat within groups."""

    name: str
    values: int
    """How many different ones."""
    is_named_so: bool
    """Whether its name says that it names prompts."""
    correlation: float | None
    """How alike the feature is within them: the intraclass correlation."""
    p_value: float | None
    """For no such correlation."""


def repeats_warning(
    frame: pd.DataFrame,
    *,
    used: Sequence[str],
    groups: Sequence[str],
    feature: str,
    values: NDArray[np.float64],
) -> str | None:
    """Return a sentence where a column that is not used looks as if it named the prompts."""
    found = list(_repeated(frame, used, groups, values))
    if not found:
        return None
    best = max(found, key=lambda each: (each.is_named_so, each.correlation or 0.0))
    alike = ""
    if best.correlation is not None and best.p_value is not None and best.p_value < SURE:
        alike = f", and {feature} is alike within them (correlation {number(best.correlation, 2)})"
    return (
        f"Every row counted as independent, but {len(frame)} rows share {best.values} values of"
        f" {best.name}{alike}. If rows with the same {best.name} answer the same prompt, add"
        f" --unit {best.name}; otherwise p-values are too small."
    )


def _repeated(
    frame: pd.DataFrame, used: Sequence[str], groups: Sequence[str], values: NDArray[np.float64]
) -> Iterator[RepeatedColumn]:
    group = pd.factorize(pd.MultiIndex.from_frame(frame[list(groups)].astype(str)))[0]
    for name in [name for name in frame.columns if name not in used][:MOST_COLUMNS]:
        named_so = NAMED_SO.search(str(name).lower()) is not None
        labels = _labels(frame[name], named_so)
        if labels is None:
            continue
        count = int(labels.max()) + 1
        _, cell, sizes = np.unique(group * count + labels, return_inverse=True, return_counts=True)
        if np.mean(sizes[cell] > 1) < LEAST_SHARE:
            continue
        correlation, p_value = intraclass_correlation(values, group, cell)
        alike = p_value is not None and p_value < SURE and count >= LEAST_VALUES
        if named_so or alike:
            yield RepeatedColumn(str(name), count, named_so, correlation, p_value)


def _labels(column: "pd.Series[Any]", named_so: bool) -> NDArray[np.intp] | None:
    """Return codes of the values; None where they cannot name prompts: they differ, or measure."""
    if column.isna().any():
        return None
    try:
        codes, found = pd.factorize(column)
    except TypeError:  # lists and mappings
        return None
    if not 2 <= len(found) < len(column):
        return None
    numeric = not floats_in(pd.Series(found)).isna().any()
    return None if numeric and not named_so else codes


def intraclass_correlation(
    values: NDArray[np.float64], groups: NDArray[np.intp], cells: NDArray[np.intp]
) -> tuple[float | None, float | None]:
    """Return the correlation of values in one cell, beyond that of their group, and its p-value.

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
    p_value = float(stats.f.sf(between / within, k - g, n - k)) if within > 0 else 0.0
    return (between - within) / (between + (size - 1) * within), p_value
