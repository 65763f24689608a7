"""Families of comparisons that are corrected together: of answers, and of error rates."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from biaswatch.shared.analysis.findings.comparisons import (
    answers_p,
    compare,
    corrected,
    same_treatment_p,
)
from biaswatch.shared.analysis.findings.gap_samples import SampledGroups
from biaswatch.shared.analysis.findings.group_comparison import GroupComparison
from biaswatch.shared.analysis.findings.groupings import THE_REST, ComparisonPlan, GroupPair
from biaswatch.shared.analysis.findings.twins import TwinKey, TwinTests, twin_tables
from biaswatch.shared.analysis.findings.units import MAX_EXCHANGED_ROWS
from biaswatch.shared.contracts import Claim


@dataclass(frozen=True)
class ComparedPart:
    """The groups of one dimension in the answers of one source, or in the rows of a rate."""

    groups: Callable[[], SampledGroups]
    """Groups the answers; of a million, the groups take more memory than all else."""
    is_rate: bool = False
    """True for an error rate against the truth."""
    source: str = ""
    """The target, scaffold and extractor, in a run."""


@dataclass(frozen=True)
class TestedPart:
    """The comparisons of a part, corrected with all others of its family."""

    compared: list[GroupComparison]
    family: int
    """The number of comparisons that were corrected together."""
    p_anywhere: float | None
    """For no twins that are treated differently, in any comparison of the family."""


def tested_parts(
    parts: Sequence[ComparedPart],
    plan: ComparisonPlan,
    rng: np.random.Generator,
    twins_rng: np.random.Generator,
) -> list[TestedPart]:
    """Test every part, in a family of answers and in another of error rates.

    Whether groups are answered differently is one question; whether decisions about them are wrong
    more often is another, which only a declared truth asks.
    """
    tested: dict[int, TestedPart] = {}
    for is_rate in (False, True):
        places = [place for place, part in enumerate(parts) if part.is_rate is is_rate]
        family = [parts[place] for place in places]
        tested |= zip(places, _tested(family, plan, rng, twins_rng), strict=True)
    return [tested[place] for place in range(len(parts))]


def _tested(
    parts: Sequence[ComparedPart],
    plan: ComparisonPlan,
    rng: np.random.Generator,
    twins_rng: np.random.Generator,
) -> Iterator[TestedPart]:
    size = max(1, sum(part.groups().declared for part in parts))
    comparisons, twins = [], []
    for part in parts:
        groups = part.groups()
        comparisons.append(list(compare(groups, rng, size)))
        if groups.observations.rows > MAX_EXCHANGED_ROWS:
            groups.free_units()
        twins.append(list(twin_tables(groups, part.source)))
        groups.free_units()
    tests = TwinTests(twins, twins_rng)
    twins.clear()
    uncorrected = [comparison for of_part in comparisons for comparison in of_part]
    places = [place for place, of_part in enumerate(comparisons) for _ in of_part]
    worst = _TwinsAtWorst(parts, plan, size, tests, twins_rng)
    compared = corrected(
        uncorrected, plan, size, list(tests.of_all(comparisons)),
        lambda index: worst.p_values(places[index], uncorrected[index]),
    )  # fmt: skip
    p_anywhere = _p_anywhere(tests, compared, plan)
    for place in range(len(parts)):
        own = [of for of, its_place in zip(compared, places, strict=True) if its_place == place]
        yield TestedPart(own, size, p_anywhere)


def _p_anywhere(
    tests: TwinTests, compared: Sequence[GroupComparison], plan: ComparisonPlan
) -> float | None:
    """Return the p-value of no twins treated differently; on a bank, the least corrected one."""
    if plan.claim is not Claim.BANK:
        return tests.p_anywhere
    p_values = (of.verdicts.p_same_treatment for of in compared if of.verdicts is not None)
    return min((p for p in p_values if p is not None), default=None)


@dataclass
class _TwinsAtWorst:
    """Same treatment with the least favourable missing answers, for the groups of one verdict."""

    parts: Sequence[ComparedPart]
    plan: ComparisonPlan
    family: int
    tests: TwinTests
    rng: np.random.Generator
    _of: tuple[str, str, str] | None = None
    """Dimension and groups whose missing answers were replaced last."""
    _filled: list[tuple[dict[int, SampledGroups], dict[TwinKey, float]]] = field(
        default_factory=list
    )
    """With either side's missing answers low: the groups by part, and the family's p-values."""

    def p_values(self, place: int, comparison: GroupComparison) -> Iterator[float]:
        """Yield the p-value with either side's missing answers low; 1 for a gap of another sign."""
        names = comparison.dimension, comparison.a, comparison.b
        if self._of != names:
            self._of, self._filled = names, [self._fill(*names, raised) for raised in (0, 1)]
        for groups, p_values in self._filled:
            yield self._p_value(groups[place], p_values, place, comparison)

    def _fill(
        self, dimension: str, a: str, b: str, raised: int
    ) -> tuple[dict[int, SampledGroups], dict[TwinKey, float]]:
        filled = {
            place: groups.filled(_named(groups, a, b), raised=raised)
            for place, part in enumerate(self.parts)
            if (groups := part.groups()).grouping.name == dimension
        }
        tables = [
            list(twin_tables(filled[place], part.source)) if place in filled else []
            for place, part in enumerate(self.parts)
        ]
        return filled, self.tests.at_worst(tables, self.rng)

    def _p_value(
        self, groups: SampledGroups, p_values: dict[TwinKey, float], place: int, of: GroupComparison
    ) -> float:
        grouping = groups.grouping
        [pair] = [
            pair for pair in _named(groups, of.a, of.b)
            if grouping.domains[grouping.groups[pair[0]].domain] == of.domain
        ]  # fmt: skip
        feature = groups.observations.features.index(of.feature)
        samples = groups.samples(pair, feature)
        if float(samples.differences.sum()) * (of.gap.value or 0.0) <= 0:
            return 1.0
        p_sets = p_values.get((place, of.dimension, of.domain, of.feature, of.a, of.b))
        p_answers = answers_p(groups, samples, pair, feature, self.rng)
        p_value = same_treatment_p(p_sets, p_answers, self.plan, self.family)
        return 1.0 if p_value is None else p_value


def _named(groups: SampledGroups, a: str, b: str) -> list[GroupPair]:
    """Return the comparisons of these two groups, one for each domain that has both."""
    of = groups.grouping.groups
    return [
        (first, second)
        for first, second in groups.compared
        if (of[first].name, THE_REST if second is None else of[second].name) == (a, b)
    ]
