"""The plan of an analysis, and the groups it compares."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from biaswatch.shared.analysis.findings.observations import Observations, Whole, coded
from biaswatch.shared.contracts import Against, Claim
from biaswatch.shared.contracts.derived_features import Scale, base_of, is_among, is_drift, range_of
from biaswatch.shared.lookup import first
from biaswatch.shared.stats.arrays import Indices

MAX_PAIRED_GROUPS = 6
"""With more groups in a domain, each is compared with all others: 21 groups are 210 pairs."""
THE_REST = "the rest"
GroupPair = tuple[int, int | None]
"""One group and another; None means all others of its domain together."""


@dataclass(frozen=True)
class Group:
    """One group of one domain."""

    levels: dict[str, str]
    """By dimension."""
    domain: int

    @property
    def name(self) -> str:
        """Its level; with several dimensions, each named: `race=black, gender=female`."""
        if len(self.levels) == 1:
            return first(self.levels.values(), "A group has no level.")
        return ", ".join(f"{dimension}={level}" for dimension, level in self.levels.items())


@dataclass(frozen=True)
class Grouping:
    """Groups that exclude one another."""

    dimensions: tuple[str, ...]
    groups: tuple[Group, ...]
    codes: Whole
    """[rows]: the group of each row, -1 where it belongs to none."""
    domains: tuple[str, ...]

    @property
    def name(self) -> str:
        """The dimensions it is made of."""
        return crossed_name(self.dimensions)

    @property
    def domain_of(self) -> Indices:
        """[groups]: the domain of each."""
        return np.array([group.domain for group in self.groups], dtype=np.intp)

    def members(self, pair: GroupPair) -> tuple[list[int], list[int]]:
        """Return the groups of both sides of a comparison."""
        a, b = pair
        if b is not None:
            return [a], [b]
        domains = self.domain_of
        members = np.flatnonzero(domains == domains[a]).tolist()
        return [a], [group for group in members if group != a]

    def compared(self, against: Against) -> list[GroupPair]:
        """Return which groups are compared: within a domain, in pairs or each with the rest."""
        pairs: list[GroupPair] = []
        for domain in range(len(self.domains)):
            members = np.flatnonzero(self.domain_of == domain).tolist()
            in_pairs = against is Against.PAIRS or (
                against is Against.AUTO and len(members) <= MAX_PAIRED_GROUPS
            )
            if in_pairs or len(members) <= 2:
                pairs.extend(combinations(members, 2))
            else:
                pairs.extend((group, None) for group in members)
        return pairs


def crossed_name(dimensions: Sequence[str]) -> str:
    """Return the name of crossed dimensions: `race x gender`."""
    return " x ".join(dimensions)


def groupings(observations: Observations) -> list[Grouping]:
    """Return a grouping for each dimension, and for every crossing of several of them."""
    dimensions = list(observations.groups)
    sizes = range(1, len(dimensions) + 1)
    return [
        grouping(observations, combination)
        for size in sizes
        for combination in combinations(dimensions, size)
    ]


def grouping(observations: Observations, dimensions: tuple[str, ...]) -> Grouping:
    """Return the groups that these dimensions make; combinations without any row are not groups."""
    domain_codes, domains = observations.domain_codes
    levels = [coded(observations.groups[dimension]) for dimension in dimensions]
    if len(domains) == len(dimensions) == 1:
        codes, names = levels[0]
        return Grouping(
            dimensions, tuple(Group({dimensions[0]: name}, 0) for name in names), codes, domains
        )
    columns = np.column_stack([domain_codes, *(codes for codes, _ in levels)])
    belongs = (columns >= 0).all(axis=1)
    combinations_, inverse = np.unique(columns[belongs], axis=0, return_inverse=True)
    codes = np.full(observations.rows, -1, dtype=np.intp)
    codes[belongs] = inverse.ravel()
    groups = tuple(
        Group(
            {
                d: levels[i][1][code]
                for i, (d, code) in enumerate(zip(dimensions, rest, strict=True))
            },
            int(domain),
        )
        for domain, *rest in combinations_
    )
    return Grouping(dimensions, groups, codes, domains)


@dataclass(frozen=True)
class ComparisonPlan:
    """How groups are compared."""

    alpha: float = 0.05
    tolerance: float = 0.0
    correction: str = "bonferroni"
    """A single-step correction, so that intervals of the whole family agree with the verdicts."""
    permutations: int = 0
    """Relabellings of each comparison for a p-value beside the declared one; a run shows none."""
    claim: Claim = Claim.POPULATION
    against: Against = Against.AUTO
    assigned: bool = False
    """True if labels were assigned to units at random."""

    @property
    def single_step(self) -> bool:
        """True if each interval can be widened for the whole family, and verdicts read from it."""
        return self.correction == "bonferroni"


@dataclass(frozen=True)
class AnalysisPlan:
    """How a run is diagnosed."""

    alpha: float = 0.05
    tolerance: float = 0.0
    features: tuple[str, ...] = ()
    """Which are diagnosed; all, unless named."""
    measured: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The features of each extractor: known even where it could measure nothing."""
    ranges: Mapping[str, tuple[float, float] | None] = field(default_factory=dict)
    """By feature: the least and the largest value there can be; a value beyond is missing."""
    scale: Mapping[str, Scale] = field(default_factory=dict)
    """Features that are compared on logarithms or ranks."""
    selected_at_least: Mapping[str, float] | None = None
    assessed: tuple[str, ...] = ()
    """Features that are assessed beyond their gaps."""
    error_rates: tuple[str, ...] = ()
    """Features whose decisions are compared with the expected answers."""
    gaps_by: tuple[str, ...] = ()
    """Strata by whose levels groups are compared, too."""
    claim: Claim = Claim.POPULATION
    against: Against = Against.AUTO
    permutations: int = 1000
    """How often labels are exchanged at random, where three or more groups are compared."""

    def features_of(self, extractor: str, seen: Iterable[str]) -> list[str]:
        """Return the features that an extractor measures and the plan wants, sorted."""
        return self.wanted({*seen, *self.measured.get(extractor, ())})

    def wanted(self, names: Iterable[str]) -> list[str]:
        """Return the features that the plan wants, sorted; those by turn with their base."""
        return sorted(name for name in names if not self.features or is_among(name, self.features))

    def with_derived(self, names: Iterable[str]) -> "AnalysisPlan":
        """Return the plan with ranges and selections of features by turn and by level."""
        derived = {name for name in names if name != base_of(name)}
        if not derived:
            return self
        ranges = {
            name: range_of(name, self.ranges) for name in derived if base_of(name) in self.ranges
        }
        selected = self.selected_at_least or {}
        thresholds = {
            name: selected[base_of(name)]
            for name in derived
            if base_of(name) in selected and not is_drift(name)
        }
        return replace(
            self,
            ranges={**ranges, **self.ranges},
            selected_at_least={**thresholds, **selected} if selected else None,
        )

    @property
    def comparisons(self) -> ComparisonPlan:
        """Return how the run's groups are compared."""
        return ComparisonPlan(self.alpha, self.tolerance, claim=self.claim, against=self.against)
