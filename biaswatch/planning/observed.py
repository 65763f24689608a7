"""Structure of a suite's comparisons (shared sets, single units, family), and spread of a run."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from biaswatch.shared.analysis.findings.factors import RandomFactors
from biaswatch.shared.analysis.findings.groupings import THE_REST, Grouping, GroupPair, grouping
from biaswatch.shared.analysis.findings.observations import Observations, Whole, coded
from biaswatch.shared.analysis.findings.units import SideUnits, Units
from biaswatch.shared.contracts import Against, Suite
from biaswatch.shared.errors import UsageError
from biaswatch.shared.stats.arrays import Floats
from biaswatch.shared.stats.comparisons.compared_samples import MIN_UNITS, Bounds
from biaswatch.shared.stats.comparisons.random_factors import LevelCounts
from biaswatch.shared.stats.comparisons.simulated_studies import StudyShape


@dataclass(frozen=True)
class ComparedShape:
    """One comparison that a run of the suite will make."""

    dimension: str
    a: str
    b: str
    shape: StudyShape

    @property
    def testable(self) -> bool:
        """True for at least two shared sets, or two units per side: the family counts it."""
        shape = self.shape
        return max(shape.pairs, min(shape.only_a, shape.only_b)) >= MIN_UNITS


def compared_shapes(suite: Suite) -> list[ComparedShape]:
    """Return every comparison of a suite's groups on one feature, as runs make them."""
    groups = [suite.groups_of(probe) for probe in suite.probes]
    dimensions = sorted({dimension for labels in groups for dimension in labels})
    sets = [probe.set for probe in suite.probes]
    observed = Observations(
        features=("value",),
        values=np.zeros((len(groups), 1)),
        groups={name: [labels.get(name) for labels in groups] for name in dimensions},
        units=[probe.unit or probe.key for probe in suite.probes],
        sets=sets if any(sets) else None,
        random={
            name: [suite.random_of(probe).get(name) for probe in suite.probes]
            for name in suite.random
        },
    )
    return observed_shapes(observed, suite.compared)


def observed_shapes(observed: Observations, against: Against) -> list[ComparedShape]:
    """Return every comparison of the groups of some rows on one feature."""
    return [shape for name in observed.groups for shape in _shapes(observed, name, against)]


def smallest(shapes: list[ComparedShape], dimension: str | None) -> ComparedShape:
    """Return the testable comparison with the fewest sets.

    Raises
    ------
    UsageError
        The dimension is unknown, or has no testable comparison.
    """
    testable = [
        shape for shape in shapes if dimension in (None, shape.dimension) and shape.testable
    ]
    if not testable:
        known = ", ".join(dict.fromkeys(shape.dimension for shape in shapes))
        raise UsageError(
            "No comparison of the suite has two sets with both groups, or two prompts per"
            f" side{f'; its dimensions are {known}' if known else ''}. Nothing can be planned."
        )
    return min(testable, key=lambda compared: compared.shape.size)


def _shapes(observed: Observations, dimension: str, against: Against) -> list[ComparedShape]:
    groups = grouping(observed, (dimension,))
    units = Units(observed, groups)
    random = RandomFactors(observed, groups) if observed.random else None
    return [_shape(groups, units, pair, random) for pair in groups.compared(against)]


def _shape(
    groups: Grouping, units: Units, pair: GroupPair, random: RandomFactors | None
) -> ComparedShape:
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
        *(_factor_levels(random.levels(pair), shared) if random else ()),
    )
    names = [group.name for group in groups.groups]
    return ComparedShape(groups.name, names[a], THE_REST if b is None else names[b], shape)


def _factor_levels(
    levels: Sequence[LevelCounts], shared: int
) -> tuple[tuple[int, int], int | None]:
    """Return the fewest names of both groups, and the number of texts if below that of sets."""
    names = min(
        ((level.a, level.b) for level in levels if not level.crossed), key=min, default=(0, 0)
    )
    texts = min((level.shared for level in levels if level.crossed), default=shared)
    return names, texts if texts < shared else None


def _family(side: SideUnits, other: SideUnits) -> int:
    """Return the mean number of prompts per unit without a twin, on this side."""
    alone = ~np.isin(side.by_set.keys, other.by_set.keys)
    prompts = int(np.isin(side.set_of, side.by_set.keys[alone]).sum()) + len(side.alone)
    units = int(alone.sum()) + len(side.alone)
    return max(1, round(prompts / units)) if units else 1


def _prompts(side: SideUnits) -> int:
    """Return the mean number of prompts per set, on this side."""
    sets = len(side.by_set.keys)
    return max(1, round((len(side.by_unit.keys) - len(side.alone)) / sets)) if sets else 1


USUAL_SHARE = 0.5
"""Assumed ratio of the deviations between and within prompts, for runs without repeats."""
NEVER_ALIKE = 0.99
"""Maximum share of the variance between prompts: a plan needs some variation within."""


@dataclass(frozen=True)
class ObservedSpread:
    """Mean and spread of one feature in a run."""

    feature: str
    mean: float
    """Mean over prompts of all groups."""
    sd: float | None
    """Deviation of answers to one prompt; None if all answers are 0 or 1."""
    between_sd: float
    set_correlation: float | None
    """Correlation of the means of twins; None if no set has two groups."""
    missing: float
    bounds: Bounds | None
    repeats: int
    """Median number of answers per prompt."""
    repeated: bool
    """True if a prompt has two values, so that both deviations can be estimated."""
    whole: bool = False
    """True if all values are whole numbers."""

    @property
    def unrounded_sd(self) -> float | None:
        """The deviation that answers had before rounding to whole numbers (Sheppard, 1898)."""
        if self.sd is None or not self.whole:
            return self.sd
        return sqrt(max(self.sd**2 - 1 / 12, self.sd**2 / 4))


def observed_spread(observed: Observations, dimension: str) -> ObservedSpread:
    """Estimate the spread of the first feature within the groups of a dimension.

    The deviation within prompts is pooled over prompts; the deviation between prompts is pooled
    over groups and domains, minus the part explained by repeats. Without repeats the deviation
    between prompts is assumed to be half of that within.

    Raises
    ------
    UsageError
        The run has too few values.
    """
    feature, values = observed.features[0], observed.values[:, 0]
    present = np.isfinite(values)
    cells = _cells(observed, dimension)
    groups = np.flatnonzero(present & (cells >= 0))
    prompts = _Prompts.of(values[groups], cells[groups], observed.unit_codes[groups])
    if prompts.freedom_between < 1:
        raise UsageError(
            f"{feature} has no group of {dimension} with two answered prompts, so the run does not"
            " show the spread of answers. Use --sd or --rate instead of --like."
        )
    bounds = observed.bounds(0)
    known = bounds[0] if len(set(bounds)) == 1 else None
    binary = bool(np.isin(values[present], (0.0, 1.0)).all())
    within, between = prompts.variances(binary=binary, drawn=observed.drawn)
    mean = float(prompts.means.mean())
    if binary:
        between = min(between, NEVER_ALIKE * mean * (1 - mean))
    prompt_keys = np.column_stack([cells, observed.unit_codes])[cells >= 0]
    counts = np.unique(prompt_keys, axis=0, return_counts=True)[1]
    return ObservedSpread(
        feature,
        mean,
        None if binary else sqrt(within),
        sqrt(between),
        _correlation(prompts, observed.set_codes[groups], between),
        float(1 - present.mean()),
        (0.0, 1.0) if binary else known,
        int(np.median(counts)),
        prompts.freedom_within > 0 or not observed.drawn,
        bool((values[present] == np.rint(values[present])).all()),
    )


@dataclass(frozen=True)
class _Prompts:
    means: Floats
    cells: Whole
    """Code of each prompt's domain and group."""
    first: Whole
    """Index of the first row of each prompt."""
    answers: Whole
    within: float
    """Sum of squares within prompts."""

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
        """Each prompt's mean minus the mean of its group."""
        _, of_cell, sizes = np.unique(self.cells, return_inverse=True, return_counts=True)
        return np.asarray(self.means - (np.bincount(of_cell, self.means) / sizes)[of_cell])

    def variances(self, *, binary: bool, drawn: bool) -> tuple[float, float]:
        """Return the variances within and between prompts; none within if answers are not drawn."""
        total = float((self.centred**2).sum()) / self.freedom_between
        if not drawn:
            return 0.0, total
        if not self.freedom_within:
            if binary:
                return 0.0, 0.01
            return total / (1 + USUAL_SHARE**2), total / (1 + USUAL_SHARE**-2)
        within = self.within / self.freedom_within
        return within, max(0.0, total - within * float((1 / self.answers).mean()))


def _correlation(prompts: _Prompts, sets: Whole, between: float) -> float | None:
    """Return the correlation of twins' means, from products across groups within sets."""
    of_set, centred = sets[prompts.first], prompts.centred
    products, pairs = 0.0, 0
    for set_code in np.unique(of_set[of_set >= 0]):
        members = of_set == set_code
        cells, values = prompts.cells[members], centred[members]
        differs = cells[:, None] != cells[None, :]
        products += float((np.outer(values, values) * differs).sum())
        pairs += int(differs.sum())
    if not pairs:
        return None
    covariance = products / pairs
    return min(1.0, max(0.0, covariance / between)) if between else 1.0


def _cells(observed: Observations, dimension: str) -> Whole:
    groups, names = coded(observed.groups[dimension])
    domains, _ = coded(observed.domains or [""] * observed.rows)
    return np.where(groups >= 0, domains * len(names) + groups, -1)
