"""Fixed bets on the differences of twins, within their set."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from services.diagnoser.domain.monitors.method import MonitorMethod, PlannedGap, SortedRound
from services.diagnoser.domain.monitors.pair_counts import (
    GAPS,
    LEVEL,
    PairBounds,
    pair_counts,
    pair_histogram,
)
from services.diagnoser.domain.monitors.round_answers import Counts, RoundCounts, RoundScope
from services.diagnoser.domain.monitors.selections import selection_counts
from services.diagnoser.domain.monitors.set_bounds import (
    FeatureValues,
    PairRows,
    SideBounds,
    feature_values,
)
from shared.contracts import Claim, Comparison, WatchedFeature
from shared.stats.anytime.pairs import PairHistogram
from shared.stats.anytime.planning import PlannedUnits, plan_gap
from shared.stats.anytime.rounding import hashes, uniform_table


def _count(comparisons: Sequence[Comparison], closed: SortedRound) -> dict[str, RoundCounts]:
    """Count the gap of each set, all features of an extractor at once.

    A claim about a bank is about all of its sets: where answers are missing, the gap of their set
    lies between bounds. A claim about a population is about sets whose answers are not missing;
    whether answers are missing more often in one group is a comparison of its own.
    """
    rows = {pair: closed.rows.of_pair(pair) for pair in dict.fromkeys(c.pair for c in comparisons)}
    found: dict[str, RoundCounts] = {}
    for values, columns, mine in _by_extractor(comparisons, closed):
        for pair, pair_rows in rows.items():
            here = [each for each in mine if each.pair == pair]
            chosen = values.of([columns[each.watched] for each in here])
            found.update(_of_pair(here, pair_rows, chosen, closed.scope))
    for each in comparisons:
        if each.watched.selected_at_least is not None:
            compared = closed.sets[each.key].sets
            sets = [
                (closed.scope.unit_id(n), twins) for n, twins in compared.items() if twins.compared
            ]
            found[each.key].counts.update(selection_counts(each.watched, sets, each.key))
    return found


Columns = Mapping[WatchedFeature, int]


def _by_extractor(
    comparisons: Sequence[Comparison], closed: SortedRound
) -> Iterator[tuple[FeatureValues, Columns, list[Comparison]]]:
    for extractor in dict.fromkeys(each.watched.extractor for each in comparisons):
        mine = [each for each in comparisons if each.watched.extractor == extractor]
        features = list(dict.fromkeys(each.watched for each in mine))
        columns = {watched: column for column, watched in enumerate(features)}
        yield feature_values(features, closed.answers.values[extractor]), columns, mine


def _of_pair(
    comparisons: Sequence[Comparison], compared: PairRows, values: FeatureValues, scope: RoundScope
) -> dict[str, RoundCounts]:
    """Count all features of one pair of groups, a column each."""
    a, b = compared.a.bounds(values.shares), compared.b.bounds(values.shares)
    units = hashes([scope.unit_id(name) for name in compared.sets])
    bank, keys = scope.claim is Claim.BANK, [each.key for each in comparisons]
    parts = [
        pair_counts(name, bounds, uniform_table(units, hashes(salts)), with_incomplete=bank)
        for name, bounds, salts in (
            (GAPS, _gaps(a, b), keys),
            (LEVEL, _levels(a, b), [f"{key}/{LEVEL}" for key in keys]),
        )
    ]
    missing = (~(a.complete & b.complete)).sum(axis=0).tolist()
    outside = values.outside[compared.all_rows].sum(axis=0).tolist()
    return {
        key: RoundCounts({**gaps, **levels}, *lacking)
        for key, gaps, levels, *lacking in zip(keys, *parts, missing, outside, strict=True)
    }


def _gaps(a: SideBounds, b: SideBounds) -> PairBounds:
    """Return first less second: least where the first is lowest and the second highest."""
    return PairBounds(a.low - b.high, a.high - b.low, a.seen - b.seen, a.complete & b.complete)


def _levels(a: SideBounds, b: SideBounds) -> PairBounds:
    """Return the mean of both sides, from -1 to 1."""
    sums = (a.low + b.low - 1, a.high + b.high - 1, a.seen + b.seen - 1)
    return PairBounds(*sums, a.complete & b.complete)


def _evidence(counts: Counts) -> PairHistogram:
    found = pair_histogram(counts, GAPS)
    if found is None:
        raise ValueError("these counts are not those of a comparison of twins")
    return found


def _planned_units(
    watched: WatchedFeature, gap: PlannedGap, rng: np.random.Generator
) -> PlannedUnits:
    span = watched.high - watched.low
    found = plan_gap(
        gap.effect / span, (gap.sd or 0.0) / span, rng,
        alpha=gap.alpha, family=gap.family, tolerance=watched.tolerance / span, binary=gap.binary,
        missing=gap.missing if gap.bank else None,
    )  # fmt: skip
    return found if gap.bank else found.of_every(gap.missing.complete_sets)


METHOD = MonitorMethod(_count, _evidence, _planned_units)
