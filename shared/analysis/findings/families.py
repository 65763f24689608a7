"""Families of comparisons that are corrected together: of answers, and of error rates."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from biaswatch.shared.analysis.findings.comparisons import (
    answers_p,
    compare,
    corrected,
    same_treatment_p,
)
from biaswatch.shared.analysis.findings.gap_samples import SampledGroups
from biaswatch.shared.analysis.findings.group_comparison import GroupComparison
from biaswatch.shared.analysis.findings.groupings import THE_REST, ComparedGroups, ComparisonPlan
from biaswatch.shared.analysis.findings.twins import TwinKey, TwinTable, TwinTests, twin_tables
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
    every = [comparison for of_part in comparisons for comparison in of_part]
    places = [place for place, of_part in enumerate(comparisons) for _ in of_part]
    worst = _TwinsAtWorst(parts, plan, size, tests, twins_rng)
    compared = corrected(
        every, plan, size, list(tests.of_all(comparisons)),
        lambda index: worst.p_values(places[index], every[index]),
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


@dataclass(frozen=True)
class _FilledTwins:
    """The twins of a dimension with values for missing answers."""

    groups: list[SampledGroups | None]
    """By part; None for those of other dimensions."""
    tests: TwinTests
    rng: np.random.Generator
    parts: Sequence[ComparedPart]

    @cached_property
    def p_values(self) -> dict[TwinKey, float]:
        """The p-values of the family, by the exchanges that the verdict is read from."""
        tables: list[list[TwinTable]] = [
            list(twin_tables(groups, part.source)) if groups is not None else []
            for groups, part in zip(self.groups, self.parts, strict=True)
        ]
        return self.tests.at_worst(tables, self.rng)


@dataclass
class _TwinsAtWorst:
    """Same treatment with the least favourable missing answers, for the groups of one verdict."""

    parts: Sequence[ComparedPart]
    plan: ComparisonPlan
    family: int
    tests: TwinTests
    rng: np.random.Generator
    _filled: tuple[tuple[str, str, str], list[_FilledTwins]] | None = None

    def p_values(self, place: int, comparison: GroupComparison) -> Iterator[float]:
        """Yield the p-value with either side's missing answers low; 1 for a gap of another sign."""
        names = comparison.dimension, comparison.a, comparison.b
        if self._filled is None or self._filled[0] != names:
            self._filled = names, [self._fill(*names, raised) for raised in (0, 1)]
        for filled in self._filled[1]:
            yield self._p_value(filled, place, comparison)

    def _fill(self, dimension: str, a: str, b: str, raised: int) -> _FilledTwins:
        groups = (part.groups() for part in self.parts)
        filled = [
            of.filled(_named(of, a, b), raised=raised) if of.grouping.name == dimension else None
            for of in groups
        ]
        return _FilledTwins(filled, self.tests, self.rng, self.parts)

    def _p_value(self, filled: _FilledTwins, place: int, of: GroupComparison) -> float:
        groups = filled.groups[place]
        if groups is None:
            return 1.0
        domains = groups.grouping.domains
        [pair] = [
            pair for pair in _named(groups, of.a, of.b)
            if domains[groups.grouping.groups[pair[0]].domain] == of.domain
        ]  # fmt: skip
        feature = groups.observations.features.index(of.feature)
        _, samples, _, _ = groups.compare(pair, feature, 1)
        if float(samples.differences.sum()) * (of.gap.value or 0.0) <= 0:
            return 1.0
        p_sets = filled.p_values.get((place, of.dimension, of.domain, of.feature, of.a, of.b))
        p_answers = answers_p(groups, samples, pair, feature, self.rng)
        p_value = same_treatment_p(p_sets, p_answers, self.plan, self.family)
        return 1.0 if p_value is None else p_value


def _named(groups: SampledGroups, a: str, b: str) -> list[ComparedGroups]:
    """Return the comparisons of these two groups, one for each domain that has both."""
    of = groups.grouping.groups
    return [
        (first, second)
        for first, second in groups.compared
        if (of[first].name, THE_REST if second is None else of[second].name) == (a, b)
    ]
