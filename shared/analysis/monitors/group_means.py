"""The means of both groups behind a gap: what alarms tell beside their difference."""

from math import isnan

import numpy as np

from biaswatch.shared.analysis.monitors.methods.matched import DIFFERENCES, LEVELS
from biaswatch.shared.analysis.monitors.methods.two_groups import SIDES, TWINS
from biaswatch.shared.analysis.monitors.pair_counts import GAPS, LEVEL, MATCHED, pair_table
from biaswatch.shared.analysis.monitors.round_answers import Counts
from biaswatch.shared.analysis.monitors.selections import selection_rates_of
from biaswatch.shared.contracts import Comparison
from biaswatch.shared.stats.anytime.two_groups import BINS

PAIRS = ((GAPS, LEVEL), (DIFFERENCES, LEVELS), (MATCHED, LEVEL))
"""The histograms of differences and of levels, in the order in which they are looked for."""
Means = tuple[float, float]


def group_means(comparison: Comparison, counts: Counts) -> Means | None:
    """Return the mean of the first group and of the second, as far as answers came.

    In the feature's units; for methods of selections the shares that are selected. None where the
    rounds keep no levels.
    """
    watched = comparison.watched
    if watched.method.of_selections:
        return _selected(counts) or _of_pairs(counts)
    shares = _of_units(counts) or _of_pairs(counts)
    if shares is None:
        return None
    first, second = (watched.low + share * (watched.high - watched.low) for share in shares)
    return first, second


def _selected(counts: Counts) -> Means | None:
    rates = selection_rates_of(counts)
    if rates is None or not (rates.first_units and rates.second_units):
        return None
    first = rates.first_selected / rates.first_units
    return first, rates.second_selected / rates.second_units


def _of_units(counts: Counts) -> Means | None:
    """Return the means of groups whose units are counted one by one, none of them a twin."""
    if not all(sum(counts.get(side, ())) for side in SIDES) or DIFFERENCES in counts:
        return None
    if sum(counts.get(TWINS, ())):
        return None
    values = np.linspace(0.0, 1.0, BINS)
    first, second = (float(np.average(values, weights=counts[side])) for side in SIDES)
    return first, second


def _of_pairs(counts: Counts) -> Means | None:
    for names in PAIRS:
        if all(name in counts for name in names):
            gap, level = (float(pair_table([counts], [name]).estimates[0]) for name in names)
            return None if isnan(gap + level) else ((1 + level + gap) / 2, (1 + level - gap) / 2)
    return None
