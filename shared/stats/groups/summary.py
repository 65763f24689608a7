"""Summary statistics: mean, spread, shape and ranges of many groups and features at once."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from biaswatch.shared.stats.arrays import Bools, Floats, Indices, Ints
from biaswatch.shared.stats.groups.cells import (
    Cells,
    Codes,
    Column,
    Columns,
    Measurements,
    Reason,
    with_reasons,
)

BLOCK_VALUES = 1 << 16
"""Values of one block: half a megabyte, which keeps temporaries in the processor's cache."""
MAX_GROWTH = 1.25
"""Largest quotient of the sizes of two groups in one block."""


def blocks(
    table: Measurements, ddof: int, columns: Columns | None = None
) -> Iterator[tuple[Indices, Cells]]:
    """Yield blocks of groups that have rows, with their cells.

    Cells are ordered by group, then by feature. Groups of similar size share a block, which keeps
    the padding with nan small. Rows keep their order inside a group.
    """
    order = np.argsort(table.codes, kind="stable")
    sizes = np.bincount(table.codes, minlength=len(table.groups))
    starts = np.cumsum(sizes) - sizes
    columns = columns or Columns(table.values)
    for groups in _cut(sizes, len(table.features)):
        places = np.arange(sizes[groups[-1]])
        beyond = places >= sizes[groups][:, None]
        rows = order[np.where(beyond, 0, starts[groups][:, None] + places)]
        baseline = None
        if table.baseline is not None:
            baseline = Cells(_values(table.baseline, rows, beyond))
        yield (
            groups,
            Cells(
                _values(table.values, rows, beyond),
                baseline,
                table.baseline_name,
                np.tile(np.arange(len(table.features)), len(groups)),
                columns,
                ddof,
            ),
        )


def _cut(sizes: Indices, features: int) -> Iterator[Indices]:
    """Return the groups that have rows, by size, in blocks of like size and bounded volume."""
    ascending = np.argsort(sizes, kind="stable")
    ascending = ascending[sizes[ascending] > 0]
    first = 0
    while first < len(ascending):
        smallest = sizes[ascending[first]]
        most = max(1, BLOCK_VALUES // max(1, int(MAX_GROWTH * smallest) * features))
        ahead = sizes[ascending[first : first + most]]
        last = first + int(np.searchsorted(ahead, MAX_GROWTH * smallest, side="right"))
        yield ascending[first:last]
        first = last


def _values(values: Floats, rows: Indices, beyond: Bools) -> Floats:
    """Return [cells, places]; nan beyond a group's end and where a value is not finite."""
    block = values[rows]
    if beyond.any():
        block[beyond] = np.nan
    block = np.ascontiguousarray(block.transpose(0, 2, 1)).reshape(-1, rows.shape[1])
    infinite = np.isinf(block)
    if infinite.any():
        block[infinite] = np.nan
    return block


class Statistic(Protocol):
    """A named function of cells; a team's own is one too (entry points `biaswatch.statistics`)."""

    @property
    def name(self) -> str:
        """Return the unique name in tables."""
        ...

    def __call__(self, cells: Cells) -> Column:
        """Return a value for each cell, nan where undefined, and codes of `Reason` in parallel."""
        ...


@dataclass(frozen=True)
class Summary:
    """Statistics of groups; nan in `values` has its reason at the same place."""

    statistics: tuple[str, ...]
    groups: tuple[str, ...]
    features: tuple[str, ...]
    values: Floats
    """[statistics, groups, features]"""
    reasons: Codes
    """[statistics, groups, features]: codes of `Reason`."""
    n: Ints
    """[groups, features]: values that are present."""
    n_missing: Ints
    """[groups, features]: rows without a finite value."""


def summarise(
    table: Measurements,
    statistics: Sequence[Statistic],
    ddof: int = 0,
    columns: Columns | None = None,
) -> Summary:
    """Return each statistic of each group on each feature.

    Parameters
    ----------
    table
        Groups may be unequal, unsorted and empty; missing values are left out and counted.
    statistics
        From `parse_statistic`, or a team's own.
    ddof
        0 (as SAGED) or 1: subtracted from n by variance and standard deviation.
    columns
        Whole columns for standards; by default the table's own values.

    Raises
    ------
    ValueError
        For another ddof, a statistic named twice, or one that returns an array of another length.
    """
    if ddof not in (0, 1):
        raise ValueError(f"ddof is 0 or 1, not {ddof}")
    names = tuple(statistic.name for statistic in statistics)
    if len(set(names)) < len(names):
        raise ValueError("a statistic is named twice")
    shape = (len(names), len(table.groups), len(table.features))
    values = np.full(shape, np.nan)
    reasons = np.full(shape, Reason.NO_VALUES, dtype=np.int8)
    n = np.zeros(shape[1:], dtype=np.int64)
    # Overflow of huge values is not silent: `with_reasons` gives infinite results a reason.
    with np.errstate(over="ignore", invalid="ignore"):
        for groups, cells in blocks(table, ddof, columns):
            n[groups] = cells.count.reshape(len(groups), -1)
            for index, statistic in enumerate(statistics):
                column, codes = statistic(cells)
                if not column.shape == codes.shape == (len(cells.values),):
                    raise ValueError(
                        f"the statistic {statistic.name!r} did not return one value per cell"
                    )
                values[index, groups] = column.reshape(len(groups), -1)
                reasons[index, groups] = codes.reshape(len(groups), -1)
    rows = np.bincount(table.codes, minlength=len(table.groups))[:, None]
    return Summary(names, table.groups, table.features, values, reasons, n, rows - n)


@dataclass(frozen=True)
class Mean:
    """The arithmetic mean, in the feature's unit."""

    name: str = "mean"

    def __call__(self, cells: Cells) -> Column:
        """Undefined without values."""
        return with_reasons(cells.mean, first_of=[(cells.count == 0, Reason.NO_VALUES)])


@dataclass(frozen=True)
class Variance:
    """The sum of squared deviations over n - ddof, in the square of the feature's unit."""

    name: str = "variance"

    def __call__(self, cells: Cells) -> Column:
        """Undefined for fewer than two values."""
        return with_reasons(_variance(cells), first_of=few_values(cells))


@dataclass(frozen=True)
class StandardDeviation:
    """The root of the variance, in the feature's unit."""

    name: str = "standard_deviation"

    def __call__(self, cells: Cells) -> Column:
        """Undefined for fewer than two values."""
        return with_reasons(np.sqrt(_variance(cells)), first_of=few_values(cells))


@dataclass(frozen=True)
class Skewness:
    """The biased coefficient g1 = m3 / m2^1.5, where m_r is the mean r-th power of deviations.

    References
    ----------
    Joanes and Gill (1998), Comparing measures of sample skewness and kurtosis.
    """

    name: str = "skewness"

    def __call__(self, cells: Cells) -> Column:
        """Undefined for fewer than two values, and for equal ones."""
        third = (cells.squares * cells.centred).sum(axis=1)
        n = np.maximum(cells.count, 1)
        spread = np.where(cells.square_sum > 0, cells.square_sum, np.nan)
        return with_reasons(np.sqrt(n / spread) * (third / spread), first_of=without_shape(cells))


@dataclass(frozen=True)
class Kurtosis:
    """The biased excess coefficient g2 = m4 / m2^2 - 3: 0 for a normal distribution.

    References
    ----------
    Joanes and Gill (1998), Comparing measures of sample skewness and kurtosis.
    """

    name: str = "kurtosis"

    def __call__(self, cells: Cells) -> Column:
        """Undefined for fewer than two values, and for equal ones."""
        fourth = (cells.squares * cells.squares).sum(axis=1)
        spread = np.where(cells.square_sum > 0, cells.square_sum, np.nan)
        return with_reasons(
            cells.count * (fourth / spread / spread) - 3, first_of=without_shape(cells)
        )


Conditions = list[tuple[Bools, Reason]]


def few_values(cells: Cells) -> Conditions:
    """Return where there are too few values for any spread."""
    return [(cells.count == 0, Reason.NO_VALUES), (cells.count == 1, Reason.ONE_VALUE)]


def without_shape(cells: Cells) -> Conditions:
    """Return where there are too few values, or too equal ones, for a distribution's shape."""
    return [*few_values(cells), (cells.flat, Reason.CONSTANT)]


def _variance(cells: Cells) -> Floats:
    return cells.square_sum / np.maximum(cells.count - cells.ddof, 1)


@dataclass(frozen=True)
class Median:
    """The middle value, or the mean of the two middle ones, in the feature's unit."""

    name: str = "median"

    def __call__(self, cells: Cells) -> Column:
        """Undefined without values."""
        return with_reasons(cells.quantile(0.5), first_of=[(cells.count == 0, Reason.NO_VALUES)])


@dataclass(frozen=True)
class Range:
    """The largest value minus the smallest, in the feature's unit."""

    name: str = "range"

    def __call__(self, cells: Cells) -> Column:
        """Undefined for fewer than two values."""
        return with_reasons(cells.high - cells.low, first_of=few_values(cells))


@dataclass(frozen=True)
class QuantileRange:
    """The distance between two quantiles, each linear between order statistics.

    The q-quantile of n values is at place q (n - 1), counted from 0, of their ascending order:
    definition 7 of Hyndman and Fan (1996), numpy's default.
    """

    name: str
    low: float
    """In [0, 1], below `high`."""
    high: float

    def __post_init__(self) -> None:
        if not 0 <= self.low < self.high <= 1:
            raise ValueError(f"{self.name!r} does not name two ascending quantiles")

    def __call__(self, cells: Cells) -> Column:
        """Undefined for fewer than two values."""
        width = cells.quantile(self.high) - cells.quantile(self.low)
        return with_reasons(np.maximum(width, 0.0), first_of=few_values(cells))
