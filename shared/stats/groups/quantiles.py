"""Median, range and ranges between quantiles of cells."""

from dataclasses import dataclass

import numpy as np

from shared.stats.groups.cells import Cells
from shared.stats.groups.moments import few
from shared.stats.groups.reasons import Column, Reason, settle


@dataclass(frozen=True)
class Median:
    """The middle value, or the mean of the two middle ones, in the feature's unit."""

    name: str = "median"

    def __call__(self, cells: Cells) -> Column:
        """Undefined without values."""
        return settle(cells.quantile(0.5), first_of=[(cells.count == 0, Reason.NO_VALUES)])


@dataclass(frozen=True)
class Range:
    """The largest value minus the smallest, in the feature's unit."""

    name: str = "range"

    def __call__(self, cells: Cells) -> Column:
        """Undefined for fewer than two values."""
        return settle(cells.high - cells.low, first_of=few(cells))


@dataclass(frozen=True)
class QuantileRange:
    """The distance between two quantiles, each linear between order statistics.

    The q-quantile of n values lies at place q (n - 1), counted from 0, of their ascending order:
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
        return settle(np.maximum(width, 0.0), first_of=few(cells))
