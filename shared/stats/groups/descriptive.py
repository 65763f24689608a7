"""Descriptive statistics of cells: mean, median, spread, shape and ranges."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biaswatch.shared.stats.groups.cells import Cells, Column, Floats, Reason, with_reasons


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


Conditions = list[tuple[NDArray[np.bool_], Reason]]


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
