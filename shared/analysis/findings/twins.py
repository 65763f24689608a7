"""Are twins treated differently? Exchange of labels within sets, over all features at once."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from biaswatch.shared.analysis.findings.gap_samples import SampledGroups
from biaswatch.shared.analysis.findings.groupings import THE_REST
from biaswatch.shared.analysis.findings.observations import Whole
from biaswatch.shared.analysis.findings.units import KeyedMeans, SideUnits
from biaswatch.shared.stats.arrays import Floats
from biaswatch.shared.stats.comparisons.joint_exchange import (
    EXCHANGES,
    JointExchange,
    joint_exchange,
    pairwise_flips,
)
from biaswatch.shared.stats.comparisons.multiplicity import holm, holm_of_families
from biaswatch.shared.stats.comparisons.sign_flips import sign_flip_p

NO_TWINS = "the groups share no set: they received different questions, and labels were not random"
PLACEBO = "placebo"
"""The dimension whose groups differ in nothing that matters."""
MAX_EXCHANGED = 2**29
"""Answers moved in all exchanges of a family; larger families are tested pair by pair."""


TwinKey = tuple[int, str, str, str, str, str]
"""Part, dimension, domain, feature and both groups of a comparison."""


@dataclass(frozen=True)
class TwinTable:
    """The mean answers of each group of a dimension in each set, within one domain."""

    source: str
    """Whose answers they are: the target, scaffold and extractor, or the domain."""
    dimension: str
    domain: str
    features: tuple[str, ...]
    levels: tuple[str, ...]
    sets: Whole
    """[sets]: their codes, sorted."""
    means: Floats
    """[sets, levels, features]: NaN where missing."""
    against_rest: bool
    drawn: bool = True
    """False for answers that a repeat would not change."""
    has_factors: bool = False
    """True if every answer has a value of each random factor: it has a name, too."""

    @property
    def placebo_rates(self) -> dict[str, float]:
        """The share of sets in which the two groups were answered differently, by feature."""
        first, second = self.means[:, 0], self.means[:, 1]
        both = np.isfinite(first) & np.isfinite(second)
        differ = (first != second) & both
        counts = both.sum(axis=0)
        return {
            name: float(differ[:, place].sum() / counts[place])
            for place, name in enumerate(self.features)
            if counts[place]
        }


@dataclass(frozen=True)
class TwinTest:
    """The answer to the question of same treatment, for one comparison."""

    p_value: float | None = None
    """Corrected within the family; None without twins."""
    placebo_rate: float | None = None
    """The share of placebo twins that were answered differently."""


def twin_tables(groups: SampledGroups, source: str = "") -> Iterator[TwinTable]:
    """Yield the twins of every domain of a grouping."""
    of, features = groups.grouping, groups.observations.features
    of_twins = groups.twin_sets
    for domain, name in enumerate(of.domains):
        members = np.flatnonzero(of.domain_of == domain).tolist()
        pairs = [pair for pair in groups.compared if pair[0] in members]
        sides = [_side(groups, member, of_twins) for member in members]
        if not pairs or not any(len(side.keys) for side in sides):
            continue
        sets = np.unique(np.concatenate([side.keys for side in sides]))
        means = np.full((len(sets), len(members), len(features)), np.nan)
        for place, side in enumerate(sides):
            means[np.searchsorted(sets, side.keys), place] = side.values
        present = np.zeros(len(sets), dtype=np.int16)
        for side in sides:
            present[np.searchsorted(sets, side.keys)] += 1
        if not (shared := present > 1).all():  # a copy of a million answers would be large
            sets, means = sets[shared], means[shared]
        levels = tuple(of.groups[member].name for member in members)
        yield TwinTable(
            source or name, of.name, name, features, levels, sets, means,
            against_rest=pairs[0][1] is None,
            drawn=groups.observations.drawn,
            has_factors=_has_factors(groups),
        )  # fmt: skip


def _has_factors(groups: SampledGroups) -> bool:
    belongs = groups.grouping.codes >= 0
    return all((codes[belongs] >= 0).all() for codes in groups.observations.factor_codes.values())


def _side(groups: SampledGroups, member: int, sets: Whole) -> KeyedMeans:
    """Return the mean answers of a group in each set of twins."""
    observations = groups.observations
    if sets is observations.set_codes:
        return groups.units.groups[member].by_set
    units = observations.unit_codes * (int(sets.max()) + 2) + sets
    return SideUnits.of(observations, units, sets, groups.grouping.codes == member).by_set


class TwinTests:
    """The tests of all twins of an analysis, corrected together.

    Comparisons of one dimension share their sets, over features, models and domains alike: their
    labels are exchanged jointly. Dimensions are corrected by Holm's method; since twins share their
    labels of all other dimensions, few sets have enough exchanges for that.
    """

    def __init__(self, parts: Sequence[Sequence[TwinTable]], rng: np.random.Generator) -> None:
        # No table is kept: those of a million answers are large.
        blocks = _blocks(parts)
        tested = [_exchanged([table for _, table in block], rng) for block in blocks]
        self._by_block = [
            dict(_named(block, exchange)) for block, exchange in zip(blocks, tested, strict=True)
        ]
        overall = [exchange.overall_p for exchange in tested if exchange.overall_p is not None]
        self.p_anywhere = min((min(1.0, p * len(overall)) for p in overall), default=None)
        """For "no twins are treated differently, in any comparison"."""
        self._p_values = _by_holm(self._by_block)
        against_placebo = dict(_against_placebo(parts))
        adjusted = holm(list(against_placebo.values()))
        self._p_values.update(
            (key, p) for key, p in zip(against_placebo, adjusted, strict=True) if p is not None
        )
        self._placebo_rates = dict(_placebo_rates(parts))

    def of_all(self, parts: Sequence[Sequence[Any]]) -> Iterator[TwinTest]:
        """Yield the test of each comparison of each part."""
        for part, comparisons in enumerate(parts):
            for of in comparisons:
                key = part, of.dimension, of.domain, of.feature
                yield TwinTest(self._p_values.get((*key, of.a, of.b)), self._placebo_rates.get(key))

    def at_worst(
        self, parts: Sequence[Sequence[TwinTable]], rng: np.random.Generator
    ) -> dict[TwinKey, float]:
        """Return the p-values with other tables in place of those of one dimension."""
        own = [
            dict(_named(block, _exchanged([table for _, table in block], rng)))
            for block in _blocks(parts)
        ]
        dimensions = {key[1] for p_values in own for key in p_values}
        other_blocks = [of for of in self._by_block if not dimensions & {key[1] for key in of}]
        return _by_holm([*own, *other_blocks])


def _by_holm(named: Sequence[dict[TwinKey, float]]) -> dict[TwinKey, float]:
    adjusted = holm_of_families([list(p_values.values()) for p_values in named])
    return {
        key: p
        for p_values, row in zip(named, adjusted, strict=True)
        for key, p in zip(p_values, row, strict=True)
    }


def _blocks(parts: Sequence[Sequence[TwinTable]]) -> list[list[tuple[int, TwinTable]]]:
    """Return tables with the number of their part, those with the same groups together."""
    blocks: dict[tuple[str, tuple[str, ...], bool], list[tuple[int, TwinTable]]] = {}
    for part, tables in enumerate(parts):
        for table in tables:
            if len(table.sets) and table.drawn:
                key = table.dimension, table.levels, table.against_rest
                blocks.setdefault(key, []).append((part, table))
    return list(blocks.values())


def _named(
    block: Sequence[tuple[int, TwinTable]], exchange: JointExchange
) -> Iterator[tuple[TwinKey, float]]:
    """Yield the corrected p-value of each comparison: part, dimension, domain, feature, groups."""
    columns = [(part, table, name) for part, table in block for name in table.features]
    for pair, row in zip(exchange.pairs, exchange.adjusted, strict=True):
        for (part, table, feature), p in zip(columns, row.tolist(), strict=True):
            a, b = (THE_REST if code < 0 else table.levels[code] for code in pair)
            if np.isfinite(p):
                yield (part, table.dimension, table.domain, feature, a, b), p


def _placebo_rates(
    parts: Sequence[Sequence[TwinTable]],
) -> Iterator[tuple[tuple[int, str, str, str], float]]:
    """Yield, for each table and feature, the rate of the placebo twins of the same model."""
    rates = {
        table.source: table.placebo_rates
        for tables in parts
        for table in tables
        if table.dimension == PLACEBO and len(table.levels) == 2 and table.drawn
    }
    for part, tables in enumerate(parts):
        for table in tables:
            if table.dimension != PLACEBO:
                for feature, rate in rates.get(table.source, {}).items():
                    yield (part, table.dimension, table.domain, feature), rate


def _against_placebo(
    parts: Sequence[Sequence[TwinTable]],
) -> Iterator[tuple[tuple[int, str, str, str, str, str], float | None]]:
    """Yield the p-value of each pair of groups whose answers are not drawn.

    It is for twins that differ no more than the placebo twins of their set, names of one group:
    which of the two differences is the larger one is then as likely as not.
    """
    placebos = {
        table.source: table
        for tables in parts
        for table in tables
        if table.dimension == PLACEBO and len(table.levels) == 2 and table.has_factors
    }
    for part, tables in enumerate(parts):
        for table in tables:
            placebo = placebos.get(table.source)
            if table.drawn or table.dimension == PLACEBO or placebo is None or table.against_rest:
                continue
            _, own, other = np.intersect1d(table.sets, placebo.sets, return_indices=True)
            usual = np.abs(placebo.means[other, 0] - placebo.means[other, 1])
            for a, b in combinations(range(len(table.levels)), 2):
                excess = np.abs(table.means[own, a] - table.means[own, b]) - usual
                key = part, table.dimension, table.domain
                for name, column in zip(table.features, excess.T, strict=True):
                    yield (*key, name, table.levels[a], table.levels[b]), _one_sided(column)


def _one_sided(excess: Floats) -> float | None:
    """Return the sign flip p-value against a positive mean; None without sets."""
    excess = excess[np.isfinite(excess)]
    p_value = sign_flip_p(excess)
    if p_value is None:
        return None
    return p_value / 2 if excess.sum() > 0 else 1.0


def _exchanged(tables: Sequence[TwinTable], rng: np.random.Generator) -> JointExchange:
    """Return the p-values of tables with the same levels, columns side by side."""
    if len(tables) == 1:
        return _tested(tables[0].means, tables[0].against_rest, rng)
    sets = np.unique(np.concatenate([table.sets for table in tables]))
    columns = sum(len(table.features) for table in tables)
    values = np.full((len(sets), len(tables[0].levels), columns), np.nan)
    start = 0
    for table in tables:
        end = start + len(table.features)
        values[np.searchsorted(sets, table.sets), :, start:end] = table.means
        start = end
    return _tested(values, tables[0].against_rest, rng)


def _tested(values: Floats, against_rest: bool, rng: np.random.Generator) -> JointExchange:
    if values.size * EXCHANGES > MAX_EXCHANGED and not against_rest:
        return pairwise_flips(values)
    return joint_exchange(values, against_rest=against_rest, rng=rng)
