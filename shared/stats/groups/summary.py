"""Statistics of each group on each feature, for many groups and features at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from shared.stats.groups.blocks import blocks
from shared.stats.groups.cells import Cells
from shared.stats.groups.reasons import Codes, Column, Floats, Reason
from shared.stats.groups.table import Table


class Statistic(Protocol):
    """A named function of cells; a team's own is one too (entry points `biaswatch.statistics`)."""

    @property
    def name(self) -> str:
        """What a table calls it; unique."""
        ...

    def __call__(self, cells: Cells) -> Column:
        """Return a value for each cell, nan where undefined, and codes of `Reason` in parallel."""
        ...


@dataclass(frozen=True)
class Summary:
    """What `summarise` found; nan in `values` has its reason at the same place."""

    statistics: tuple[str, ...]
    groups: tuple[str, ...]
    features: tuple[str, ...]
    values: Floats
    """[statistics, groups, features]"""
    reasons: Codes
    """[statistics, groups, features]: codes of `Reason`."""
    n: NDArray[np.int64]
    """[groups, features]: values that are present."""
    n_missing: NDArray[np.int64]
    """[groups, features]: rows without a finite value."""

    def columns(self) -> dict[str, NDArray[np.generic]]:
        """Return the result as columns of equal length; names as indices into the tuples above."""
        statistic, group, feature = np.indices(self.values.shape, dtype=np.int32)
        return {
            "statistic": statistic.ravel(),
            "group": group.ravel(),
            "feature": feature.ravel(),
            "value": self.values.ravel(),
            "reason": self.reasons.ravel(),
            "n": np.broadcast_to(self.n, self.values.shape).ravel(),
            "n_missing": np.broadcast_to(self.n_missing, self.values.shape).ravel(),
        }


def summarise(table: Table, statistics: Sequence[Statistic], ddof: int = 0) -> Summary:
    """Return each statistic of each group on each feature.

    Parameters
    ----------
    table
        Groups may be unequal, unsorted and empty; missing values are left out and counted.
    statistics
        From `parse_statistic`, or a team's own.
    ddof
        0 (as SAGED) or 1: what variance and standard deviation subtract from n.

    Raises
    ------
    ValueError
        For another ddof, a statistic named twice, or one that gives an array of another length.
    """
    if ddof not in (0, 1):
        raise ValueError(f"ddof is 0 or 1, not {ddof}")
    names = tuple(statistic.name for statistic in statistics)
    if len(set(names)) < len(names):
        raise ValueError("a statistic is asked for twice")
    shape = (len(names), len(table.groups), len(table.features))
    values = np.full(shape, np.nan)
    reasons = np.full(shape, Reason.NO_VALUES, dtype=np.int8)
    n = np.zeros(shape[1:], dtype=np.int64)
    # Overflow of huge values is not silent: `settle` turns what is not finite into a reason.
    with np.errstate(over="ignore", invalid="ignore"):
        for groups, cells in blocks(table, ddof):
            n[groups] = cells.count.reshape(len(groups), -1)
            for index, statistic in enumerate(statistics):
                column = _checked(statistic, cells)
                values[index, groups], reasons[index, groups] = (
                    part.reshape(len(groups), -1) for part in column
                )
    rows = np.bincount(table.codes, minlength=len(table.groups))[:, None]
    return Summary(names, table.groups, table.features, values, reasons, n, rows - n)


def _checked(statistic: Statistic, cells: Cells) -> Column:
    found, codes = statistic(cells)
    if found.shape != codes.shape or found.shape != (len(cells.values),):
        raise ValueError(f"the statistic {statistic.name!r} did not give one value per cell")
    return found, codes
