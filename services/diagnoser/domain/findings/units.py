"""What counts as one unit: a prompt, a set of prompts, or each answer to fixed prompts."""

from collections import defaultdict
from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from services.diagnoser.domain.findings.groupings import Grouping
from services.diagnoser.domain.findings.observations import Floats, Observations, Whole
from shared.stats.comparisons.fixed_prompts import exact_fixed_prompts_difference
from shared.stats.comparisons.means_and_rates import MeanDifference


@dataclass(frozen=True)
class KeyedMeans:
    """Means of a group's values by some key, sorted by key."""

    keys: Whole
    """[n]: codes of prompts or of sets."""
    values: Floats
    """[n, features]: nan where nothing is present."""


@dataclass(frozen=True)
class Units:
    """The units of every group of a grouping."""

    by_unit: tuple[KeyedMeans, ...]
    """By group: the mean of each prompt over its answers."""
    by_set: tuple[KeyedMeans, ...]
    """By group: the mean of each set over its prompts; empty where there are no sets."""

    @classmethod
    def of(cls, observations: Observations, grouping: Grouping) -> "Units":
        """Return the means of every group's prompts and sets."""
        units, sets = observations.unit_codes(), observations.set_codes()
        by_unit, by_set = [], []
        for group in range(len(grouping.groups)):
            mine = np.flatnonzero(grouping.codes == group)
            unit_means, first = _means(observations.values[mine], units[mine])
            by_unit.append(unit_means)
            set_of = sets[mine][first]
            has = set_of >= 0
            by_set.append(_means(unit_means.values[has], set_of[has])[0])
        return cls(tuple(by_unit), tuple(by_set))

    def values(self, group: int, feature: int) -> Floats:
        """Return the means of a group's prompts that have any value."""
        means = self.by_unit[group].values[:, feature]
        return means[np.isfinite(means)]


def _means(values: Floats, keys: Whole) -> tuple[KeyedMeans, Whole]:
    """Return the mean of each key, missing values left out, and the first row of each."""
    found, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    present = np.isfinite(values)
    shape = (len(found), values.shape[1])
    sums, counts = np.zeros(shape), np.zeros(shape)
    np.add.at(sums, inverse, np.where(present, values, 0.0))
    np.add.at(counts, inverse, present)
    means = np.divide(sums, counts, out=np.full(shape, np.nan), where=counts > 0)
    return KeyedMeans(found, means), first


class FixedPrompts:
    """The answers of every group of a grouping, by prompt."""

    def __init__(self, observations: Observations, grouping: Grouping) -> None:
        self._values = observations.values
        self._rows = [np.flatnonzero(grouping.codes == g) for g in range(len(grouping.groups))]
        self._units, sets = observations.unit_codes(), observations.set_codes()
        has = sets >= 0
        codes = zip(self._units[has].tolist(), sets[has].tolist(), strict=True)
        self._sets = dict(codes) if observations.sets is not None and has.any() else None

    def difference(
        self, a: int, b: int, feature: int, alpha: float, tolerance: float, rng: np.random.Generator
    ) -> MeanDifference:
        """Return the difference of two groups on these prompts."""
        of_a, of_b = self.by_prompt(a, feature), self.by_prompt(b, feature)
        return exact_fixed_prompts_difference(
            of_a, of_b, alpha, sets=self._sets, tolerance=tolerance, rng=rng
        )

    def answers(self, group: int, feature: int) -> Floats:
        """Return a group's present answers."""
        values: Floats = self._values[self._rows[group], feature]
        return np.asarray(values[np.isfinite(values)])

    def by_prompt(self, group: int, feature: int) -> dict[Hashable, list[float | None]]:
        """Return a group's answers by prompt, missing ones as nan."""
        found: dict[Hashable, list[float | None]] = defaultdict(list)
        for row in self._rows[group]:
            found[int(self._units[row])].append(float(self._values[row, feature]))
        return found
