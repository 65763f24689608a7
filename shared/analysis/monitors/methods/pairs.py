"""Fixed bets on the differences of twins, within their set."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

import numpy as np

from biaswatch.shared.analysis.monitors.blocks import MAX_BLOCKS
from biaswatch.shared.analysis.monitors.method import MonitorMethod, PlannedGap, SortedRound
from biaswatch.shared.analysis.monitors.pair_counts import (
    GAPS,
    LEVEL,
    REPEATED,
    UNBALANCED,
    block_counts,
    new_counts,
    pair_counts,
    pair_table,
)
from biaswatch.shared.analysis.monitors.round_answers import Counts, RoundCounts, Values
from biaswatch.shared.analysis.monitors.selections import selection_counts
from biaswatch.shared.analysis.monitors.set_bounds import (
    SidesOfComparisons,
    feature_values,
    sides_of,
)
from biaswatch.shared.contracts import Claim, Comparison, WatchedFeature
from biaswatch.shared.stats.anytime.pair_histograms import PairHistograms
from biaswatch.shared.stats.anytime.planning import PlannedUnits, plan_gap
from biaswatch.shared.stats.anytime.units import Hashes, hashes, uniform_table


def _count(comparisons: Sequence[Comparison], closed: SortedRound) -> dict[str, RoundCounts]:
    """Count the gap of each set, all features of an extractor at once.

    A claim about a bank is about all of its sets: where answers are missing, the gap of their set
    lies between bounds. A claim about a population is about sets whose answers are not missing;
    whether answers are missing more often in one group is a comparison of its own.
    """
    counts: dict[str, RoundCounts] = {}
    for extractor in dict.fromkeys(comparison.watched.extractor for comparison in comparisons):
        own = [
            comparison for comparison in comparisons if comparison.watched.extractor == extractor
        ]
        counts.update(_of_extractor(own, closed, closed.answers.values[extractor]))
    repeated = closed.answers.repeated_sets
    for comparison in comparisons:
        if comparison.watched.selected_at_least is not None:
            sets = [
                (closed.scope.unit_id(name), twins)
                for name, twins in closed.sets[comparison.key].sets.items()
                if twins.compared and name not in repeated
            ]
            counts[comparison.key].counts.update(
                selection_counts(comparison.watched, sets, comparison.key)
            )
    return counts


def _of_extractor(
    comparisons: Sequence[Comparison], closed: SortedRound, read: Sequence[Values]
) -> Iterator[tuple[str, RoundCounts]]:
    """Count the comparisons of all that one extractor has read, some at once."""
    features = {
        watched: n for n, watched in enumerate(dict.fromkeys(c.watched for c in comparisons))
    }
    both = [sides_of(comparison.pair) for comparison in comparisons]
    sides = {side: n for n, side in enumerate(dict.fromkeys(chain.from_iterable(both)))}
    bounds = closed.rows.bounds(list(sides), feature_values(list(features), read))
    units = hashes([closed.scope.unit_id(name) for name in closed.rows.sets])
    columns = np.array([features[comparison.watched] for comparison in comparisons], dtype=np.int64)
    first, second = np.array([[sides[side] for side in pair] for pair in both], dtype=np.int64).T
    at_once = max(1, MAX_COUNTED_NUMBERS // max(1, len(units)))
    for start in range(0, len(comparisons), at_once):
        chunk = slice(start, start + at_once)
        compared = SidesOfComparisons(bounds, first[chunk], second[chunk], columns[chunk])
        counted = dict(_counted(comparisons[chunk], compared, units, closed))
        _add_blocks(comparisons[chunk], compared, closed, counted)
        yield from counted.items()


def _counted(
    comparisons: Sequence[Comparison],
    compared: SidesOfComparisons,
    units: Hashes,
    closed: SortedRound,
) -> Iterator[tuple[str, RoundCounts]]:
    bank, keys = closed.scope.claim is Claim.BANK, [comparison.key for comparison in comparisons]
    histograms = [
        (GAPS, compared.gaps, keys),
        (LEVEL, compared.levels, [f"{key}/{LEVEL}" for key in keys]),
    ]
    if (repeated := closed.rows.repeated).any():
        histograms.append((REPEATED, compared.gaps.of_rows(repeated), keys))
    parts = [
        pair_counts(name, bounds, uniform_table(units, hashes(salts)), with_incomplete=bank)
        for name, bounds, salts in histograms
    ]
    columns = (
        keys, compared.missing.tolist(), compared.outside.tolist(), compared.unbalanced.tolist(),
        *parts,
    )  # fmt: skip
    for key, missing, outside, unbalanced, *counts in zip(*columns, strict=True):
        added = {name: row for part in counts for name, row in part.items()}
        if unbalanced:
            added[UNBALANCED] = (unbalanced,)
        yield key, RoundCounts(added, missing, outside)


def _add_blocks(
    comparisons: Sequence[Comparison],
    compared: SidesOfComparisons,
    closed: SortedRound,
    counted: Mapping[str, RoundCounts],
) -> None:
    """Add the sums of blocks of names and texts, where random factors are declared."""
    if (suite := closed.scope.blocks) is None:
        return
    gaps = compared.gaps
    for place, comparison in enumerate(comparisons):
        if (pair := suite.of(comparison.pair)) is not None:
            blocks = np.array([pair.of_set.get(name, -1) for name in closed.rows.sets], np.int64)
            is_new = gaps.complete[:, place] & ~closed.rows.repeated
            sums = block_counts(gaps.lower[:, place], is_new, blocks, MAX_BLOCKS)
            counted[comparison.key].counts.update(sums)


def _evidence(counts: Sequence[Counts]) -> PairHistograms:
    return pair_table([new_counts(row) for row in counts], [GAPS] * len(counts))


def _planned_units(
    watched: WatchedFeature, gap: PlannedGap, rng: np.random.Generator
) -> PlannedUnits:
    span = watched.high - watched.low
    planned = plan_gap(
        gap.effect / span, (gap.sd or 0.0) / span, rng,
        alpha=gap.alpha, family=gap.family, tolerance=watched.tolerance / span, binary=gap.binary,
        missing=gap.missing if gap.bank else None,
    )  # fmt: skip
    return planned if gap.bank else planned.of_every(gap.missing.complete_sets)


MAX_COUNTED_NUMBERS = 1_000_000
"""Limit of sets times comparisons that are counted together; bounds memory."""
METHOD = MonitorMethod(_count, _evidence, _planned_units)
