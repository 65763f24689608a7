"""Fixed bets on the differences of twins, within their set."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np

from biaswatch.shared.analysis.monitors.blocks import MAX_BLOCKS
from biaswatch.shared.analysis.monitors.count_columns import CountedComparisons
from biaswatch.shared.analysis.monitors.method import MonitorMethod, PlannedGap, SortedRound
from biaswatch.shared.analysis.monitors.pair_counts import (
    GAPS,
    LEVEL,
    REPEATED,
    UNBALANCED,
    PairBounds,
    block_counts,
    new_counts,
    pair_counts,
    pair_table,
)
from biaswatch.shared.analysis.monitors.round_answers import Counts
from biaswatch.shared.analysis.monitors.selections import selection_counts
from biaswatch.shared.analysis.monitors.set_bounds import (
    SidesOfComparisons,
    feature_values,
    sides_of,
)
from biaswatch.shared.contracts import Claim, Comparison, WatchedFeature
from biaswatch.shared.contracts.column_joins import Block
from biaswatch.shared.contracts.columns import Columns
from biaswatch.shared.stats.anytime.pair_histograms import PairHistograms
from biaswatch.shared.stats.anytime.planning import PlannedUnits, plan_gap
from biaswatch.shared.stats.anytime.units import hashes, uniform_table
from biaswatch.shared.stats.arrays import Floats


def _count(comparisons: Sequence[Comparison], closed: SortedRound) -> CountedComparisons:
    """Count the gap of each set, all features at once.

    A claim about a bank is about all of its sets: where answers are missing, the gap of their set
    lies between bounds. A claim about a population is about sets whose answers are not missing;
    whether answers are missing more often in one group is a comparison of its own.
    """
    blocks, more = list[Block](), defaultdict[int, Counts](dict)
    for chunk, compared in _chunks(comparisons, closed):
        own = [comparisons[place] for place in chunk]
        blocks.append((np.array(chunk), _counted(own, compared, closed)))
        for place, sums in _blocks(own, compared, closed):
            more[chunk[place]] |= sums
    for place, comparison in enumerate(comparisons):
        if comparison.watched.selected_at_least is not None:
            more[place] |= _selections(comparison, closed)
    return CountedComparisons.joined(comparisons, blocks).with_more(more)


def _selections(comparison: Comparison, closed: SortedRound) -> Counts:
    repeated = closed.answers.repeated_sets
    sets = [
        (closed.scope.unit_id(name), twins)
        for name, twins in closed.sets[comparison.key].sets.items()
        if twins.compared and name not in repeated
    ]
    return selection_counts(comparison.watched, sets, comparison.key)


def _chunks(
    comparisons: Sequence[Comparison], closed: SortedRound
) -> Iterator[tuple[range, SidesOfComparisons]]:
    """Return the places of comparisons, and their sides, some at once."""
    features = {id(one.watched): one.watched for one in comparisons}
    column_of_id = {key: n for n, key in enumerate(features)}
    different = {id(one.pair): one.pair for one in comparisons}
    both = {key: sides_of(pair) for key, pair in different.items()}
    sides = {side: n for n, side in enumerate(dict.fromkeys(chain.from_iterable(both.values())))}
    values = feature_values(list(features.values()), closed.answers)
    bounds = closed.rows.bounds(list(sides), values)
    columns = np.array([column_of_id[id(one.watched)] for one in comparisons], dtype=np.int64)
    pairs = {key: [sides[side] for side in pair] for key, pair in both.items()}
    first, second = np.array([pairs[id(one.pair)] for one in comparisons], dtype=np.int64).T
    at_once = max(1, MAX_COUNTED_NUMBERS // max(1, len(closed.rows.sets)))
    for start in range(0, len(comparisons), at_once):
        chunk = slice(start, start + at_once)
        compared = SidesOfComparisons(bounds, first[chunk], second[chunk], columns[chunk])
        yield range(len(comparisons))[chunk], compared


def _counted(
    comparisons: Sequence[Comparison], compared: SidesOfComparisons, closed: SortedRound
) -> Columns:
    bank, keys = closed.scope.claim is Claim.BANK, [comparison.key for comparison in comparisons]
    units = hashes([closed.scope.unit_id(name) for name in closed.rows.sets])
    gaps, histograms = compared.gaps, list[tuple[str, PairBounds, Floats]]()
    jitter = uniform_table(units, hashes(keys))
    histograms.append((GAPS, gaps, jitter))
    of_levels = uniform_table(units, hashes([f"{key}/{LEVEL}" for key in keys]))
    histograms.append((LEVEL, compared.levels, of_levels))
    if (repeated := closed.rows.repeated).any():
        histograms.append((REPEATED, gaps.of_rows(repeated), jitter))
    counts: Columns = {}
    for histogram in histograms:
        counts |= pair_counts(*histogram, with_incomplete=bank)
    if (places := np.flatnonzero(compared.unbalanced)).size:
        counts[UNBALANCED] = {"some": [places, {"array": compared.unbalanced[places, None]}]}
    return {
        "counts": {"parts": counts},
        "missing": {"array": compared.missing},
        "outside": {"array": compared.outside},
    }


def _blocks(
    comparisons: Sequence[Comparison], compared: SidesOfComparisons, closed: SortedRound
) -> Iterator[tuple[int, Counts]]:
    """Return the sums of blocks of names and texts, where random factors are declared."""
    if (suite := closed.scope.blocks) is None:
        return
    gaps = compared.gaps
    for place, comparison in enumerate(comparisons):
        if (pair := suite.of(comparison.pair)) is not None:
            blocks = np.array([pair.of_set.get(name, -1) for name in closed.rows.sets], np.int64)
            is_new = gaps.complete[:, place] & ~closed.rows.repeated
            yield place, block_counts(gaps.lower[:, place], is_new, blocks, MAX_BLOCKS)


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
