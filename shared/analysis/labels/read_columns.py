"""Readings of an instrument in a run's answers, as rows in a file: a window may have millions.

In memory are the groups that there are, how many answers each has, and some rows at a time.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from math import fsum
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from biaswatch.shared.stats.anytime.units import hashes
from biaswatch.shared.stats.arrays import Floats
from biaswatch.shared.stats.samples import CHUNK_VALUES

ROW = np.dtype([("id", "V16"), ("value", "<f8"), ("unit", "<u8"), ("cell", "<u4")])
"""The id, the reading, 64 bits of the name of the unit, and which cell."""
WRITTEN_TOGETHER = 4096
Rows = NDArray[Any]


@dataclass(frozen=True)
class ReadAnswer:
    """One answer with its reading."""

    response_id: str
    target: str
    scaffold: str
    groups: Mapping[str, str]
    value: float
    unit: str = ""
    """The prompt, or the user: several answers of one vary together."""


@dataclass(frozen=True)
class ReadCell:
    """Answers of one target and scaffold that have the same groups."""

    target: str
    scaffold: str
    groups: tuple[tuple[str, str], ...]

    def level(self, dimension: str) -> str | None:
        """Return the group that they have of a dimension."""
        return dict(self.groups).get(dimension)


class ReadColumns:
    """The answers of a run that have a reading, gone through as often as is wanted."""

    def __init__(self, answers: Iterable[ReadAnswer], file: IO[bytes]) -> None:
        """Write the answers into an empty file, which the caller closes."""
        self._file = file
        self._counts: dict[ReadCell, int] = {}
        places: dict[ReadCell, int] = {}
        coming = iter(answers)
        while batch := list(islice(coming, WRITTEN_TOGETHER)):
            rows = np.empty(len(batch), dtype=ROW)
            for place, reading in enumerate(batch):
                cell = ReadCell(reading.target, reading.scaffold, tuple(reading.groups.items()))
                self._counts[cell] = self._counts.get(cell, 0) + 1
                rows["cell"][place] = places.setdefault(cell, len(places))
            rows["id"] = np.frombuffer(bytes.fromhex("".join(e.response_id for e in batch)), "V16")
            rows["value"] = [reading.value for reading in batch]
            rows["unit"] = hashes([reading.unit or reading.response_id for reading in batch])
            file.write(rows.tobytes())

    @property
    def dimensions(self) -> list[str]:
        """The groupings that any answer has a group of, sorted."""
        return sorted({name for cell in self._counts for name, _ in cell.groups})

    def count(self, of: Callable[[ReadCell], bool]) -> int:
        """Return how many answers some cells have."""
        return sum(count for cell, count in self._counts.items() if of(cell))

    def cells(self) -> list[ReadCell]:
        """Return every cell that has an answer."""
        return [*self._counts]

    def rows(self, of: Callable[[ReadCell], bool]) -> Iterator[Rows]:
        """Yield the rows of some cells in their order, some at a time, and never none."""
        wanted = np.array([of(cell) for cell in self._counts], dtype=np.bool_)
        self._file.seek(0)
        while chunk := self._file.read(CHUNK_VALUES * ROW.itemsize):
            rows = np.frombuffer(chunk, dtype=ROW)
            own = rows[wanted[rows["cell"]]]
            if len(own):
                yield own

    def values(self, of: Callable[[ReadCell], bool]) -> Iterator[Floats]:
        """Yield the readings of some cells in their order, some at a time."""
        for rows in self.rows(of):
            yield rows["value"].copy()

    def units(self, of: Callable[[ReadCell], bool]) -> int:
        """Return how many units the answers of some cells are of."""
        keys, filled = np.empty(self.count(of), dtype=np.uint64), 0
        for rows in self.rows(of):
            keys[filled : filled + len(rows)] = rows["unit"]
            filled += len(rows)
        keys.sort()
        return int((keys[1:] != keys[:-1]).sum()) + min(1, len(keys))


@dataclass(frozen=True)
class ReadGroup:
    """The answers of one group, over all targets."""

    answers: int
    units: int
    variance: float | None
    """Mean and standard deviation of the readings; None for a single one."""


def groups_of(readings: ReadColumns, dimension: str) -> dict[str, ReadGroup]:
    """Return what was read of each group of a grouping, by its name."""
    levels = {
        group for cell in readings.cells() for name, group in cell.groups if name == dimension
    }
    cells = {}
    for level in sorted(levels):

        def of(cell: ReadCell, level: str = level) -> bool:
            return cell.level(dimension) == level

        count = readings.count(of)
        mean = fsum(float(values.sum()) for values in readings.values(of)) / count
        squares = fsum(float(((values - mean) ** 2).sum()) for values in readings.values(of))
        variance = squares / (count - 1) if count > 1 else None
        cells[level] = ReadGroup(count, readings.units(of), variance)
    return cells


def ids_of(rows: Rows) -> list[str]:
    """Return the ids of answers."""
    return [id_.tobytes().hex() for id_ in rows["id"]]
