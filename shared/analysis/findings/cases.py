"""The cases behind a gap: sets, or else units, with the largest differences of two groups."""

from dataclasses import dataclass

import numpy as np

from biaswatch.shared.analysis.findings.gap_samples import SampledGroups
from biaswatch.shared.analysis.findings.observations import EVERYTHING, Labels, Whole
from biaswatch.shared.analysis.findings.units import KeyedMeans, SideUnits
from biaswatch.shared.stats.arrays import Bools, Floats
from biaswatch.shared.stats.comparisons.compared_samples import MIN_UNITS

NO_ROW = -1


@dataclass(frozen=True)
class GapCases:
    """Sets that both groups have, or units of one group beside the mean of the other."""

    names: Labels | None
    """[rows]: the set or the unit of each row; None where rows have none."""
    rows: Whole
    """[2, cases]: the first row of each group; -1 for the other group of a unit."""
    means: Floats
    """[2, cases]."""

    def largest(self, n: int | None, *, downwards: bool) -> Whole:
        """Return the places of n cases, or all, the largest differences in a direction first."""
        differences = self.means[1] - self.means[0]
        return np.argsort(-differences if downwards else differences, kind="stable")[:n]

    def name(self, row: int) -> str:
        """Return the name of the case of a row, or else the number of the row, from 1."""
        name = self.names[row] if self.names else None
        return f"row {row + 1}" if name is None else name


def gap_cases(groups: SampledGroups, a: str, b: str, domain: str | None, feature: int) -> GapCases:
    """Return the cases behind the gap of two groups, in the order of their names.

    Without two sets that both groups have, each unit is compared with the mean of the other group.
    A name that no group has is that of the rest.
    """
    seen = groups.observations
    sides = [_side(groups, *names, domain or EVERYTHING) for names in ((a, b), (b, a))]
    shared = groups.shared_sets(sides[0].units, sides[1].units, feature)
    if len(shared[0]) >= MIN_UNITS:
        paired = [
            side.measured(side.units.by_set, sets, seen.set_codes, feature)
            for side, sets in zip(sides, shared, strict=True)
        ]
        (rows_a, x), (rows_b, y) = paired
        names = seen.units if seen.sets is None else seen.sets
        return GapCases(names, np.stack([rows_a, rows_b]), np.stack([x, y]))
    (rows_a, x), (rows_b, y) = (
        side.measured(units, np.isfinite(units.values[:, feature]), seen.unit_codes, feature)
        for side in sides
        for units in [side.units.by_unit]
    )
    if not (len(x) and len(y)):
        return GapCases(None, np.empty((2, 0), np.intp), np.empty((2, 0)))
    no_a, no_b = np.full(len(y), NO_ROW), np.full(len(x), NO_ROW)
    rows = [np.append(rows_a, no_a), np.append(no_b, rows_b)]
    means = [np.append(x, np.full(len(y), x.mean())), np.append(np.full(len(x), y.mean()), y)]
    return GapCases(seen.units, np.stack(rows), np.stack(means))


@dataclass(frozen=True)
class _Side:
    units: SideUnits
    rows: Whole

    def measured(
        self, of: KeyedMeans, places: Whole | Bools, codes: Whole, feature: int
    ) -> tuple[Whole, Floats]:
        """Return the first row and the mean of some sets or units."""
        known, first = np.unique(codes[self.rows], return_index=True)
        rows = self.rows[first[np.searchsorted(known, of.keys[places])]]
        return rows, of.values[places, feature]


def _side(groups: SampledGroups, name: str, other: str, domain: str) -> _Side:
    of = groups.grouping
    place = {
        group.name: code
        for code, group in enumerate(of.groups)
        if of.domains[group.domain] == domain
    }
    if name in place:
        units, members = groups.units.groups[place[name]], [place[name]]
    else:
        units, members = groups.units.rest(place[other]), of.members((place[other], None))[1]
    return _Side(units, np.flatnonzero(np.isin(of.codes, members)))
