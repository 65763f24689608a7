"""The four-fifths rule in monitors: how many units of each group are selected, set by set."""

from collections.abc import Iterable
from dataclasses import astuple

import numpy as np

from biaswatch.shared.analysis.monitors.round_answers import Counts, GroupAnswers, SetAnswers
from biaswatch.shared.contracts import Estimate, SelectionRates, WatchedFeature
from biaswatch.shared.stats.anytime.four_fifths import SelectedUnits, SelectionShares
from biaswatch.shared.stats.anytime.units import uniforms

UNITS = "selected_units"
"""First group's units selected, its units, and the same of the second: units with an answer."""
SHARES = "selection_shares"
"""Sets by the shares of their units that are selected."""
INCOMPLETE = ("first_most", "second_most")
"""Counts of sets with missing answers; rounds without any do not keep these parts."""
METHOD = "ratio of the units selected; confidence sequence of the sets' shares, valid at every look"


def selection_counts(
    watched: WatchedFeature, sets: Iterable[tuple[str, SetAnswers]], salt: str
) -> Counts:
    """Count the selected units of a round, by the ids of its sets.

    A unit is selected where the mean of its repeats is. A unit with missing repeats may be
    either, as far as the range allows.
    """
    complete = list(sets)
    sides = [[_shares(side, watched) for side in (twins.a, twins.b)] for _, twins in complete]
    ends = np.array(sides, dtype=np.float64).reshape(-1, 2, 2)
    uniform = [uniforms([name for name, _ in complete], f"{salt}/{SHARES}/{side}") for side in "ab"]
    shares = SelectionShares.of(ends[:, :, 0], ends[:, :, 1], np.column_stack(uniform))
    units = SelectedUnits()
    for _, twins in complete:
        units += SelectedUnits(*_selected(twins.a, watched), *_selected(twins.b, watched))
    counts: Counts = {UNITS: astuple(units), SHARES: shares.complete}
    if any(shares.first_most):
        counts |= {f"{SHARES}_{part}": getattr(shares, part) for part in INCOMPLETE}
    return counts


def _selected(side: GroupAnswers, watched: WatchedFeature) -> tuple[int, int]:
    """Return how many units are selected, of those that have an answer, and how many these are."""
    limit = watched.selected_at_least or 0.0
    return sum(mean >= limit for mean in side.units), len(side.units)


def _shares(side: GroupAnswers, watched: WatchedFeature) -> tuple[float, float]:
    """Return the least and the most that the share of selected units can be."""
    limit = watched.selected_at_least or 0.0
    units = [unit for units in side.by_group.values() for unit in units.values()]
    least, most = (
        sum(unit.mean(end) >= limit for unit in units) / len(units)
        for end in (watched.low, watched.high)
    )
    return least, most


def selection_rates_of(counts: Counts) -> SelectionRates | None:
    """Return how many units of either group were selected; None if the monitor counts none."""
    units = _units(counts)
    if units is None:
        return None
    return SelectionRates(
        first_selected=units.first,
        first_units=units.first_units,
        second_selected=units.second,
        second_units=units.second_units,
    )


def impact_ratio_of(counts: Counts, alpha: float) -> Estimate | None:
    """Return the first group's selection rate over the second's; None without selections.

    The value counts units. In the confidence sequence every set weighs the same, so where sets
    differ in their units it may be about another number: then it is widened to hold the value.
    """
    units = _units(counts)
    if units is None:
        return None
    if units.ratio is None:
        return Estimate(reason=_undefined(units), method=METHOD)
    low, high = _shares_of(counts).interval(alpha)
    low = min(low, units.ratio)
    high = None if high is None else max(high, units.ratio)
    return Estimate(value=units.ratio, low=low, high=high, method=METHOD)


def _undefined(units: SelectedUnits) -> str:
    for number, name in ((units.first_units, "first"), (units.second_units, "second")):
        if not number:
            return f"no unit of the {name} group has an answer"
    return f"none of the second group's {units.second_units} units was selected"


def _units(counts: Counts) -> SelectedUnits | None:
    return SelectedUnits(*counts[UNITS]) if UNITS in counts else None


def _shares_of(counts: Counts) -> SelectionShares:
    names = {part: f"{SHARES}_{part}" for part in INCOMPLETE} | {"complete": SHARES}
    return SelectionShares(**{part: counts[name] for part, name in names.items() if name in counts})
