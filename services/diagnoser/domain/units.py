"""Units: the answers to one prompt are one unit, and the prompts of one set belong together."""

from dataclasses import dataclass

import numpy as np

from services.diagnoser.domain.groupings import Grouping
from services.diagnoser.domain.observations import Floats, Observations, Whole


@dataclass(frozen=True)
class Means:
    """Means of a group's values by some key, sorted by key."""

    keys: Whole
    """[n]: codes of prompts or of sets."""
    values: Floats
    """[n, features]: nan where nothing is present."""


@dataclass(frozen=True)
class Units:
    """The units of every group of a grouping."""

    by_unit: tuple[Means, ...]
    """By group: the mean of each prompt over its answers."""
    by_set: tuple[Means, ...]
    """By group: the mean of each set over its prompts; empty where there are no sets."""

    @classmethod
    def of(cls, seen: Observations, grouping: Grouping) -> "Units":
        """Bring answers to units."""
        units, sets = seen.unit_codes(), seen.set_codes()
        by_unit, by_set = [], []
        for group in range(len(grouping.groups)):
            mine = np.flatnonzero(grouping.codes == group)
            unit_means, first = _means(seen.values[mine], units[mine])
            by_unit.append(unit_means)
            set_of = sets[mine][first]
            has = set_of >= 0
            by_set.append(_means(unit_means.values[has], set_of[has])[0])
        return cls(tuple(by_unit), tuple(by_set))


def _means(values: Floats, keys: Whole) -> tuple[Means, Whole]:
    """Return the mean of each key, missing values left out, and the first row of each."""
    found, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    present = np.isfinite(values)
    shape = (len(found), values.shape[1])
    sums, counts = np.zeros(shape), np.zeros(shape)
    np.add.at(sums, inverse, np.where(present, values, 0.0))
    np.add.at(counts, inverse, present)
    means = np.divide(sums, counts, out=np.full(shape, np.nan), where=counts > 0)
    return Means(found, means), first
