"""What a suite's structure gives a comparison: shared sets, single units, the family."""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from biaswatch.shared.analysis.findings.groupings import (
    THE_REST,
    ComparedGroups,
    Grouping,
    grouping,
)
from biaswatch.shared.analysis.findings.observations import Floats, Observations, Whole, coded
from biaswatch.shared.analysis.findings.units import SideUnits, Units
from biaswatch.shared.contracts import Against, Suite
from biaswatch.shared.errors import UsageError
from biaswatch.shared.stats.comparisons.compared_samples import MIN_UNITS, Bounds
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
        return max(shape.pairs, min(shape.only_a, shape.only_b)) >= MIN_UNITS


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


LEAST_CELL = 2
USUAL_SHARE = 0.5
"""Of the deviation within a prompt: that between prompts, where no repeat tells them apart."""
NEVER_ALIKE = 0.99
"""Of the most that prompts can differ: a plan needs answers that vary a little."""


@dataclass(frozen=True)
class ObservedSpread:
    """What a run says of one feature."""

    feature: str
    mean: float
    """Over prompts, of all groups."""
    sd: float | None
    """Of answers to one prompt; None where all are 0 or 1."""
    between_sd: float
    set_correlation: float | None
    """Of the means of twins; None where no set has two groups."""
    missing: float
    bounds: Bounds | None
    repeats: int
    """Answers to a prompt, the median over prompts."""
    repeated: bool
    """Whether any prompt has two answers with a value, which tell both deviations apart."""


def observed_spread(observed: Observations, dimension: str) -> ObservedSpread:
    """Return how the first feature of a run was spread within the groups of a dimension.

    The deviation within prompts is pooled over prompts, that between prompts over groups of a
    domain, less what repeats explain. Without repeats the whole deviation is divided as a plan
    assumes it: that between prompts is half of that within.

    Raises
    ------
    UsageError
        The run has too few values to say anything.
    """
    feature, values = observed.features[0], observed.values[:, 0]
    there = np.isfinite(values)
    cells = _cells(observed, dimension)
    groups = np.flatnonzero(there & (cells >= 0))
    prompts = _Prompts.of(values[groups], cells[groups], observed.unit_codes[groups])
    if prompts.freedom_between < 1:
        raise UsageError(
            f"{feature} has no group of {dimension} with two answered prompts: the run does not say"
            " how answers are spread. Give --sd or --rate instead of --like."
        )
    bounds = observed.bounds(0)
    known = bounds[0] if len(set(bounds)) == 1 else None
    binary = bool(np.isin(values[there], (0.0, 1.0)).all())
    within, between = prompts.variances(binary=binary)
    mean = float(prompts.means.mean())
    if binary:
        between = min(between, NEVER_ALIKE * mean * (1 - mean))
    asked = np.column_stack([cells, observed.unit_codes])[cells >= 0]
    counts = np.unique(asked, axis=0, return_counts=True)[1]
    return ObservedSpread(
        feature,
        mean,
        None if binary else sqrt(within),
        sqrt(between),
        _correlation(prompts, observed.set_codes[groups], between),
        float(1 - there.mean()),
        (0.0, 1.0) if binary else known,
        int(np.median(counts)),
        prompts.freedom_within > 0,
    )


@dataclass(frozen=True)
class _Prompts:
    means: Floats
    cells: Whole
    """The group of each prompt, in its domain."""
    first: Whole
    """A row of each prompt."""
    answers: Whole
    within: float
    """The sum of squares within prompts."""

    @classmethod
    def of(cls, values: Floats, cells: Whole, units: Whole) -> "_Prompts":
        keys = cells * (units.max(initial=0) + 1) + units
        _, first, of_row, counts = np.unique(
            keys, return_index=True, return_inverse=True, return_counts=True
        )
        means = np.bincount(of_row, weights=values) / np.maximum(counts, 1)
        squares = float(((values - means[of_row]) ** 2).sum())
        return cls(means, cells[first], first, counts, squares)

    @property
    def freedom_within(self) -> int:
        return int((self.answers - 1).sum())

    @property
    def freedom_between(self) -> int:
        return len(self.means) - len(np.unique(self.cells))

    @property
    def centred(self) -> Floats:
        """Each prompt's mean less that of its group."""
        _, of_cell, sizes = np.unique(self.cells, return_inverse=True, return_counts=True)
        return np.asarray(self.means - (np.bincount(of_cell, self.means) / sizes)[of_cell])

    def variances(self, *, binary: bool) -> tuple[float, float]:
        """Return those within and between prompts."""
        total = float((self.centred**2).sum()) / self.freedom_between
        if not self.freedom_within:
            if binary:
                return 0.0, 0.01
            return total / (1 + USUAL_SHARE**2), total / (1 + USUAL_SHARE**-2)
        within = self.within / self.freedom_within
        return within, max(0.0, total - within * float((1 / self.answers).mean()))


def _correlation(prompts: _Prompts, sets: Whole, between: float) -> float | None:
    """Return the correlation of twins' means, from products within the sets of several groups."""
    of_set, centred = sets[prompts.first], prompts.centred
    products, pairs = 0.0, 0
    for one in np.unique(of_set[of_set >= 0]):
        mine = of_set == one
        cells, values = prompts.cells[mine], centred[mine]
        apart = cells[:, None] != cells[None, :]
        products += float((np.outer(values, values) * apart).sum())
        pairs += int(apart.sum())
    if not pairs:
        return None
    covariance = products / pairs
    return min(1.0, max(0.0, covariance / between)) if between else 1.0


def _cells(observed: Observations, dimension: str) -> Whole:
    groups, names = coded(observed.groups[dimension])
    domains, _ = coded(observed.domains or [""] * observed.rows)
    return np.where(groups >= 0, domains * len(names) + groups, -1)
