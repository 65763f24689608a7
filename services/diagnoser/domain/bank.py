"""Answers to a bank of prompts that is itself the subject: each answer is a unit."""

from collections import defaultdict
from collections.abc import Hashable

import numpy as np

from services.diagnoser.domain.groupings import Grouping
from services.diagnoser.domain.observations import Floats, Observations
from shared.stats.comparisons.bank import exact_within_bank
from shared.stats.comparisons.means import Difference


class Bank:
    """The answers of every group of a grouping, by prompt."""

    def __init__(self, seen: Observations, grouping: Grouping) -> None:
        self._values = seen.values
        self._rows = [np.flatnonzero(grouping.codes == g) for g in range(len(grouping.groups))]
        self._units, sets = seen.unit_codes(), seen.set_codes()
        has = sets >= 0
        codes = zip(self._units[has].tolist(), sets[has].tolist(), strict=True)
        self._sets = dict(codes) if seen.sets is not None and has.any() else None

    def difference(
        self,
        a: int,
        b: int,
        feature: int,
        alpha: float,
        tolerance: float,
        rng: np.random.Generator,
    ) -> Difference:
        """Compare two groups within the bank."""
        of_a, of_b = self.by_prompt(a, feature), self.by_prompt(b, feature)
        return exact_within_bank(of_a, of_b, alpha, sets=self._sets, tolerance=tolerance, rng=rng)

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
