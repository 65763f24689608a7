"""The groups of a dimension as samples, and their comparison."""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from biaswatch.shared.analysis.findings.groupings import ComparisonPlan, Grouping, GroupPair
from biaswatch.shared.analysis.findings.observations import Observations, Whole, ends_of
from biaswatch.shared.analysis.findings.units import (
    MAX_EXCHANGED_ROWS,
    FixedPrompts,
    SideUnits,
    Units,
    counted_units,
    shared_positions,
    twin_sets,
)
from biaswatch.shared.contracts import Claim
from biaswatch.shared.stats.arrays import Floats
from biaswatch.shared.stats.comparisons.answer_exchange import answer_exchange_p
from biaswatch.shared.stats.comparisons.compared_samples import (
    MIN_FAMILIES,
    MIN_UNITS,
    Bounds,
    ComparedSamples,
)
from biaswatch.shared.stats.comparisons.fixed_prompts import fixed_prompts_gap
from biaswatch.shared.stats.comparisons.gap_test import GapResult, compare_samples
from biaswatch.shared.stats.estimate import undefined
from biaswatch.shared.stats.samples import Sample

FEW_CLUSTERS = "prompts come in families, and fewer than five families of a group were answered"
FixedAnswers = Mapping[Hashable, Sample]
"""A side's answers, by prompt."""


@dataclass(frozen=True)
class ComparedGroupPair:
    """The comparison of a pair of groups on one feature."""

    result: GapResult
    samples: ComparedSamples
    """Pairs within sets, and single units."""
    units: tuple[Floats, Floats]
    """Values of each side's units of the claim."""
    by_set: GapResult | None = None
    """The result by set, where the claim takes answers as units."""


class SampledGroups:
    """The groups of a grouping, ready to be compared."""

    def __init__(
        self, observations: Observations, grouping: Grouping, plan: ComparisonPlan
    ) -> None:
        self.observations, self.grouping = observations, grouping
        self.plan = replace(plan, claim=observations.claimed(plan.claim))
        self.compared = grouping.compared(plan.against)
        self._bounds = [observations.bounds(index) for index in range(len(observations.features))]
        of_group = [grouping.codes == group for group in range(len(grouping.groups))]
        self._rows = np.array([rows.sum() for rows in of_group])
        self._there = np.array([np.isfinite(observations.values[r]).sum(0) for r in of_group])
        self._counted: dict[tuple[int, ...], Whole] = {}
        self._filled: tuple[GroupPair, tuple[SampledGroups, SampledGroups]] | None = None

    @cached_property
    def units(self) -> Units:
        """The units of every group."""
        return Units(self.observations, self.grouping)

    @cached_property
    def twin_sets(self) -> Whole:
        """The set of each answer, within which labels are exchanged."""
        return twin_sets(self.observations, self.grouping)

    @cached_property
    def prompts(self) -> FixedPrompts | None:
        """The answers by prompt, where the claim is about these prompts alone."""
        if self.plan.claim is not Claim.BANK:
            return None
        return FixedPrompts(self.observations, self.grouping)

    @cached_property
    def declared(self) -> int:
        """How many comparisons this makes, of sides that have two units each."""
        return sum(
            int((np.minimum(*self._unit_counts(pair)) >= MIN_UNITS).sum()) for pair in self.compared
        )

    def _unit_counts(self, pair: GroupPair) -> tuple[Whole, ...]:
        """Return by feature how many units each side has: answers, where prompts are fixed."""
        if self.plan.claim is Claim.BANK:
            return tuple(self._there[side].sum(axis=0) for side in self.members(pair))
        return tuple(self._units_of(*side) for side in self.members(pair))

    def unit_counts(self) -> Whole:
        """Return [groups, features]: how many prompts have a value."""
        return np.array([self._units_of(group) for group in range(len(self.grouping.groups))])

    def _units_of(self, *groups: int) -> Whole:
        """Return by feature how many prompts of some groups together have a value."""
        if groups not in self._counted:
            rows = np.isin(self.grouping.codes, groups)
            seen = self.observations
            self._counted[groups] = counted_units(seen.values, seen.unit_codes, rows)
        return self._counted[groups]

    def free_units(self) -> None:
        """Free the units, which may be millions; the next access computes them again."""
        self.__dict__.pop("units", None)

    def members(self, pair: GroupPair) -> tuple[list[int], list[int]]:
        """Return the groups of both sides."""
        return self.grouping.members(pair)

    def compare(self, pair: GroupPair, feature: int, family: int) -> ComparedGroupPair:
        """Compare a pair on one feature."""
        clustered = any(side.clustered for side in self.pair_of(pair))
        samples = self.samples(pair, feature)
        result = self.result(samples, clustered, family)
        if self.prompts is None:
            return ComparedGroupPair(result, samples, self.unit_values(pair, feature))
        answers = self.answers(pair, feature)
        of_a, of_b = (
            _present(np.concatenate([*map(np.array, side.values()), []])) for side in answers
        )
        fixed = self.fixed_gap(*answers, pair, feature, family)
        return ComparedGroupPair(fixed, samples, (of_a, of_b), by_set=result)

    def gap(self, pair: GroupPair, feature: int, family: int) -> GapResult:
        """Return the result of `compare` alone; compare the last pair last, as it frees units."""
        if self.prompts is not None:
            return self.fixed_gap(*self.answers(pair, feature), pair, feature, family)
        clustered = any(side.clustered for side in self.pair_of(pair))
        samples = self.samples(pair, feature)
        samples.only_a.sort()  # in place, so that no sorted copy is needed later
        samples.only_b.sort()
        if pair == self.compared[-1]:
            self.free_units()
        return self.result(samples, clustered, family)

    def at_worst(self, pair: GroupPair, feature: int) -> tuple[GapResult, GapResult]:
        """Return the comparison with the missing answers least favourable for a, then for b."""
        if self._filled is None or self._filled[0] != pair:
            filled = (self.filled([pair], raised=1), self.filled([pair], raised=0))
            self._filled = pair, filled
        first, second = (groups.compare(pair, feature, 1).result for groups in self._filled[1])
        return first, second

    def filled(self, pairs: Iterable[GroupPair], *, raised: int) -> "SampledGroups":
        """Return the groups with missing answers of one side, 0 or 1, high and the other's low."""
        values = self.observations.values.copy()
        ends = np.array([self.ends(index) for index in range(values.shape[1])]).T
        for pair in pairs:
            for side, members in enumerate(self.members(pair)):
                lacking = ~np.isfinite(values) & np.isin(self.grouping.codes, members)[:, None]
                values = np.where(lacking, ends[int(side == raised)], values)
        return SampledGroups(replace(self.observations, values=values), self.grouping, self.plan)

    def bounds_of(self, pair: GroupPair, feature: int) -> Bounds | None:
        """Return the range of a feature in the domain of a pair."""
        return self._bounds[feature][self.grouping.groups[pair[0]].domain]

    def pair_of(self, pair: GroupPair) -> tuple[SideUnits, SideUnits]:
        """Return the units of both sides."""
        a, b = pair
        return self.units.groups[a], self.units.rest(a) if b is None else self.units.groups[b]

    def unit_values(self, pair: GroupPair, feature: int) -> tuple[Floats, Floats]:
        """Return the values of both sides, one for each prompt."""
        a, b = self.pair_of(pair)
        return _present(a.by_unit.values[:, feature]), _present(b.by_unit.values[:, feature])

    def samples(self, pair: GroupPair, feature: int) -> ComparedSamples:
        """Return the units of a pair, within sets and singly."""
        return self.paired_samples(*self.pair_of(pair), feature, self.bounds_of(pair, feature))

    def paired_samples(
        self, a: SideUnits, b: SideUnits, feature: int, bounds: Bounds | None
    ) -> ComparedSamples:
        """Pair within the sets that both sides have; what is left over is compared singly."""
        of_a, of_b = self.shared_sets(a, b, feature)
        x, y = a.by_set.values[:, feature], b.by_set.values[:, feature]
        paired = (x[of_a], y[of_b])
        single = (
            _present(np.concatenate([np.delete(x, of_a), a.alone[:, feature]])),
            _present(np.concatenate([np.delete(y, of_b), b.alone[:, feature]])),
        )
        least = MIN_FAMILIES if a.clustered or b.clustered else MIN_UNITS
        return ComparedSamples(*paired, *single, bounds, least)

    def shared_sets(self, a: SideUnits, b: SideUnits, feature: int) -> tuple[Whole, Whole]:
        """Return the positions of the sets in which both sides have a value."""
        of_a, of_b = shared_positions(a.by_set.keys, b.by_set.keys)
        x, y = a.by_set.values[of_a, feature], b.by_set.values[of_b, feature]
        both = np.isfinite(x) & np.isfinite(y)
        return of_a[both], of_b[both]

    def result(self, sampled: ComparedSamples, clustered: bool, family: int = 1) -> GapResult:
        """Return the gap of two sides over units; families of prompts need five a side.

        Where there are pairs too, fewer single families are left out, as a lone unit is.
        """
        single = min(len(sampled.only_a), len(sampled.only_b))
        gap = compare_samples(
            sampled, alpha=self.plan.alpha, tolerance=self.plan.tolerance, family=family
        )
        few = not sampled.testable and single >= MIN_UNITS
        if few and clustered:
            no_interval = undefined(FEW_CLUSTERS, value=gap.marginal.value)
            return GapResult(no_interval, no_interval, None, None)
        return gap

    def fixed_gap(
        self,
        a: FixedAnswers,
        b: FixedAnswers,
        pair: GroupPair,
        feature: int,
        family: int = 1,
        *,
        plan: ComparisonPlan | None = None,
    ) -> GapResult:
        """Return the gap of two sides on the prompts that they answered."""
        plan, prompts = plan or self.plan, self.prompts
        return fixed_prompts_gap(
            a, b, sets=prompts.sets if prompts else None, bounds=self.bounds_of(pair, feature),
            alpha=plan.alpha, tolerance=plan.tolerance, family=family,
            guessed=self.observations.is_guessed(feature),
        )  # fmt: skip

    def answers(self, pair: GroupPair, feature: int) -> tuple[FixedAnswers, FixedAnswers]:
        """Return the answers of both sides by prompt."""
        if self.prompts is None:
            return {}, {}
        a, b = pair
        other = self.prompts.by_prompt(a if b is None else b, feature, rest=b is None)
        return self.prompts.by_prompt(a, feature), other

    def answer_exchange_p(
        self, pair: GroupPair, feature: int, rng: np.random.Generator
    ) -> float | None:
        """Return the p-value of twins treated alike, by exchange of answers.

        None for a population whose twins have equally many answers, where flips are exact, and for
        large tables.
        """
        is_bank = self.plan.claim is Claim.BANK
        if not is_bank and (
            self.observations.rows > MAX_EXCHANGED_ROWS or self._equal_twins(pair, feature)
        ):
            return None
        prompts = self.prompts or FixedPrompts(self.observations, self.grouping)
        a, b = pair
        of_a = prompts.by_prompt(a, feature)
        of_b = prompts.by_prompt(a if b is None else b, feature, rest=b is None)
        if is_bank and not self.observations.is_guessed(feature):
            at_zero = replace(self.plan, tolerance=0.0)
            gap = self.fixed_gap(of_a, of_b, pair, feature, plan=at_zero)
            if gap.is_constant:  # then the declared range alone bounds how far they could vary
                return gap.p_disparity
        return answer_exchange_p(of_a, of_b, prompts.sets, rng=rng)

    def _equal_twins(self, pair: GroupPair, feature: int) -> bool:
        """Return whether both groups have equally many answers in every shared set."""
        sets = self.twin_sets
        present = np.isfinite(self.observations.values[:, feature]) & (sets >= 0)
        size = int(sets.max(initial=-1)) + 1
        of_a, of_b = (
            np.bincount(sets[present & np.isin(self.grouping.codes, side)], minlength=size)
            for side in self.members(pair)
        )
        return bool(((of_a == of_b) | (of_a == 0) | (of_b == 0)).all())

    def answer_counts(self, pair: GroupPair, feature: int) -> tuple[tuple[int, int], ...]:
        """Return, for each side, the number of answers and of those with a value."""
        return tuple(
            (int(self._rows[side].sum()), int(self._there[side, feature].sum()))
            for side in self.members(pair)
        )

    def ends(self, feature: int) -> Bounds:
        """Return the range of a feature over all domains, or else of the values that were seen."""
        known = [bounds for bounds in self._bounds[feature] if bounds is not None]
        if len(known) == len(self._bounds[feature]) and known:
            return min(low for low, _ in known), max(high for _, high in known)
        return ends_of(None, self.observations.values[:, feature])


def _present(values: Floats) -> Floats:
    return values[np.isfinite(values)]
