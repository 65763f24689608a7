"""Statistics for tests: one from a plain function, and the moments of values in memory."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biaswatch.shared.stats.arrays import Floats
from biaswatch.shared.stats.comparisons.gaps_from_sums import Moments
from biaswatch.shared.stats.groups.cells import Cells, Column, Reason, with_reasons


@dataclass(frozen=True)
class PerCell:
    """A statistic that applies a function to the present values of each cell."""

    name: str
    function: Callable[[Floats], float | None]

    def __call__(self, cells: Cells) -> Column:
        """Return the function's value for each cell; NaN where it is None."""
        values = np.full(len(cells.values), np.nan)
        for cell in np.flatnonzero(cells.count):
            value = self.function(cells.values[cell, cells.present[cell]])
            values[cell] = np.nan if value is None else value
        return with_reasons(values, first_of=[(cells.count == 0, Reason.NO_VALUES)])


def moments_of(values: Floats, codes: NDArray[np.integer], groups: int, shift: Floats) -> Moments:
    """Return the moments of groups; `values` is [rows, features], `shift` is [features]."""
    values = np.where(np.isfinite(values), values, np.nan)
    columns = [values[codes == group] for group in range(groups)]

    def each(measure: Callable[[Floats], Floats]) -> Floats:
        return np.array([measure(column) for column in columns], dtype=np.float64)

    return Moments(
        shift=np.broadcast_to(shift, (groups, values.shape[1])),
        rows=np.array([np.full(len(shift), len(column)) for column in columns]),
        n=np.array([np.isfinite(column).sum(axis=0) for column in columns]),
        first=each(lambda x: np.nansum(x - shift, axis=0)),
        second=each(lambda x: np.nansum((x - shift) ** 2, axis=0)),
        third=each(lambda x: np.nansum((x - shift) ** 3, axis=0)),
        low=each(lambda x: np.fmin.reduce(x, axis=0, initial=np.nan)),
        high=each(lambda x: np.fmax.reduce(x, axis=0, initial=np.nan)),
    )
