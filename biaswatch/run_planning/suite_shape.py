"""What a suite's structure gives a comparison: shared sets, single units, the family."""

from dataclasses import dataclass

import numpy as np

from biaswatch.shared.analysis.findings.groupings import (
    THE_REST,
    ComparedGroups,
    Grouping,
    grouping,
)
from biaswatch.shared.analysis.findings.observations import Observations
from biaswatch.shared.analysis.findings.units import SideUnits, Units
from biaswatch.shared.contracts import Against, Suite
from biaswatch.shared.errors import UsageError
from biaswatch.shared.stats.comparisons.compared_samples import LEAST_UNITS
from biaswatch.shared.stats.comparisons.planned_power import StudyShape


@dataclass(frozen=True)
class ComparedShape:
    """One comparison that a run of the suite will make."""

    dimension: str
    a: str
    b: str
    shape: StudyShape

    @property
    def testable(self) -> bool:
        """Whether a run counts the comparison in its family: two shared sets, or units a side."""
        shape = self.shape
        return max(shape.pairs, min(shape.only_a, shape.only_b)) >= LEAST_UNITS


def compared_shapes(suite: Suite) -> list[ComparedShape]:
    """Return every comparison of a suite's groups on one feature, as runs make them."""
    groups = [suite.groups_of(probe) for probe in suite.probes]
    dimensions = sorted({dimension for each in groups for dimension in each})
    sets = [probe.set for probe in suite.probes]
    observed = Observations(
        features=("value",),
        values=np.zeros((len(groups), 1)),
        groups={name: [each.get(name) for each in groups] for name in dimensions},
        units=[probe.unit or probe.key for probe in suite.probes],
        sets=sets if any(sets) else None,
    )
    return observed_shapes(observed, suite.compared)


def observed_shapes(observed: Observations, against: Against) -> list[ComparedShape]:
    """Return every comparison of the groups of some rows on one feature."""
    return [each for name in observed.groups for each in _shapes(observed, name, against)]


def smallest(found: list[ComparedShape], dimension: str | None) -> ComparedShape:
    """Return the comparison with the fewest sets, of which the plan is made.

    Raises
    ------
    UsageError
        There is no such dimension, or nothing is compared.
    """
    known = ", ".join(dict.fromkeys(each.dimension for each in found))
    mine = [each for each in found if dimension in (None, each.dimension) and each.testable]
    if not found or not mine:
        raise UsageError(
            "No comparison of the suite has two sets that both groups have, or two prompts a"
            f" side{f'; its dimensions are {known}' if known else ''}. Nothing can be planned."
        )
    return min(mine, key=lambda each: each.shape.size)


def _shapes(observed: Observations, dimension: str, against: Against) -> list[ComparedShape]:
    found = grouping(observed, (dimension,))
    units = Units(observed, found)
    return [_shape(found, units, pair) for pair in found.compared(against)]


def _shape(found: Grouping, units: Units, pair: ComparedGroups) -> ComparedShape:
    a, b = pair
    first, second = units.groups[a], units.rest(a) if b is None else units.groups[b]
    shared = len(np.intersect1d(first.by_set.keys, second.by_set.keys))
    shape = StudyShape(
        shared,
        len(first.by_set.keys) - shared + len(first.alone),
        len(second.by_set.keys) - shared + len(second.alone),
        _prompts(first),
        _prompts(second),
        _family(first, second),
        _family(second, first),
    )
    names = [group.name for group in found.groups]
    return ComparedShape(found.name, names[a], THE_REST if b is None else names[b], shape)


def _family(side: SideUnits, other: SideUnits) -> int:
    """Return how many prompts of this side a unit without a twin has, on average."""
    alone = ~np.isin(side.by_set.keys, other.by_set.keys)
    prompts = int(np.isin(side.set_of, side.by_set.keys[alone]).sum()) + len(side.alone)
    units = int(alone.sum()) + len(side.alone)
    return max(1, round(prompts / units)) if units else 1


def _prompts(side: SideUnits) -> int:
    """Return how many prompts a set has of this side, on average."""
    sets = len(side.by_set.keys)
    return max(1, round((len(side.by_unit.keys) - len(side.alone)) / sets)) if sets else 1
