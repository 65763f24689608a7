"""Cuts a table into blocks of cells small enough for the processor's cache."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from shared.stats.groups.cells import Cells, Columns
from shared.stats.groups.reasons import Floats
from shared.stats.groups.table import Table

VALUES = 1 << 16
"""In one block: half a megabyte, so that what is computed from it stays in the cache."""

GROWTH = 1.25
"""The largest group of a block has at most so many times the rows of its smallest."""

Groups = NDArray[np.intp]


def blocks(table: Table, ddof: int) -> Iterator[tuple[Groups, Cells]]:
    """Return blocks of groups that have rows, with their cells.

    Cells are ordered by group, then by feature. Groups of like size share a block, so that little
    is filled up with nan. Rows keep their order inside a group.
    """
    order = np.argsort(table.codes, kind="stable")
    sizes = np.bincount(table.codes, minlength=len(table.groups))
    starts = np.cumsum(sizes) - sizes
    columns = Columns(table.values)
    for groups in _cut(sizes, len(table.features)):
        places = np.arange(sizes[groups[-1]])
        beyond = places >= sizes[groups][:, None]
        rows = order[np.where(beyond, 0, starts[groups][:, None] + places)]
        baseline = None if table.baseline is None else _cells(table.baseline, rows, beyond)
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


def _cut(sizes: NDArray[np.intp], features: int) -> Iterator[Groups]:
    """Return the groups that have rows, by size, in blocks of like size and bounded volume."""
    ascending = np.argsort(sizes, kind="stable")
    ascending = ascending[sizes[ascending] > 0]
    first = 0
    while first < len(ascending):
        smallest = sizes[ascending[first]]
        most = max(1, VALUES // max(1, int(GROWTH * smallest) * features))
        ahead = sizes[ascending[first : first + most]]
        last = first + int(np.searchsorted(ahead, GROWTH * smallest, side="right"))
        yield ascending[first:last]
        first = last


def _cells(values: Floats, rows: NDArray[np.intp], beyond: NDArray[np.bool_]) -> Cells:
    return Cells(_values(values, rows, beyond))


def _values(values: Floats, rows: NDArray[np.intp], beyond: NDArray[np.bool_]) -> Floats:
    """Return [cells, places]; nan beyond a group's end and where a value is not finite."""
    block = values[rows]
    if beyond.any():
        block[beyond] = np.nan
    block = np.ascontiguousarray(block.transpose(0, 2, 1)).reshape(-1, rows.shape[1])
    infinite = np.isinf(block)
    if infinite.any():
        block[infinite] = np.nan
    return block
