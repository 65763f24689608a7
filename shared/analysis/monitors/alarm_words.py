"""Alarms in words: which group is worse off, by how much, since when, how sure, what to look at."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import isnan

import numpy as np

from biaswatch.shared.analysis.monitors.methods.matched import DIFFERENCES, LEVELS
from biaswatch.shared.analysis.monitors.methods.two_groups import SIDES, TWINS
from biaswatch.shared.analysis.monitors.pair_counts import GAPS, LEVEL, MATCHED, pair_table
from biaswatch.shared.analysis.monitors.round_answers import Counts
from biaswatch.shared.analysis.monitors.selections import selection_rates_of
from biaswatch.shared.contracts import MISSING, Comparison, Direction, Estimate, Method
from biaswatch.shared.formatting import number, number_name
from biaswatch.shared.stats.anytime.two_groups import VALUE_BINS

REST = "the others"
PERCENT_DIGITS = 2
Numbers = Collection[tuple[str, str]]
"""The extractors and features that a monitor watches."""
Sides = tuple[float, float]
"""The means of the first group and of the second: in the feature's units, or shares selected."""


@dataclass(frozen=True)
class AlarmedGap:
    """The numbers behind an alarm of a disparity."""

    gap: Estimate
    """First group minus second with its interval, in the feature's units or as a log odds ratio."""
    sides: Sides | None
    """Whose difference it is; None where rounds of an older version do not keep them."""
    units: int
    rounds: int
    since: datetime | None
    """The start of the first of these rounds, or of its window."""


SHARES = {("refusal", "refused"): Direction.WORSE}
"""Shares of answers by what a higher one is; for others, a monitor's file may declare it."""


def gap_sentence(comparison: Comparison, alarmed: AlarmedGap, watched: Numbers = ()) -> str:
    """Return who is worse off and by how much, or whose number is higher where that is not known.

    It contains text of users as they wrote it: the code that shows the sentence escapes it.
    """
    counted = f"over {alarmed.units:,} units and {_rounds(alarmed.rounds)}{_since(alarmed.since)}"
    head, gap = _head(comparison, alarmed, watched), _gap_text(comparison, alarmed.gap)
    return f"{comparison.pair.dimension}: {head}. {gap}, {counted}."


def labelled_sentence(comparison: Comparison, alarmed: AlarmedGap, watched: Numbers = ()) -> str:
    """Return the same of a gap as labels of people correct it; a unit is a pair of answers."""
    corrected = (
        f"as labels of {2 * alarmed.units:,} answers of {_rounds(alarmed.rounds)} correct what"
        f" {comparison.watched.extractor.replace('_', ' ')} reads"
    )
    head, gap = _head(comparison, alarmed, watched), _gap_text(comparison, alarmed.gap)
    return f"{comparison.pair.dimension}: {head}, {corrected}. {gap}."


def _head(comparison: Comparison, alarmed: AlarmedGap, watched: Numbers) -> str:
    first, second = names_of(comparison)
    up = (alarmed.gap.value or 0.0) > 0
    higher, lower = (first, second) if up else (second, first)
    direction = _direction(comparison)
    named = (lower, higher) if direction is Direction.BETTER else (higher, lower)
    word = "higher" if direction is None else "worse"
    head = f"{_subject(comparison, watched)} is {word} for {named[0]} than for {named[1]}"
    return head + _group_means(comparison, alarmed, named)


def change_sentence(
    comparison: Comparison,
    watched: Numbers = (),
    *,
    level: bool,
    reference: float | None,
    allowed: float | None,
) -> str:
    """Return which quantity changed; the alarm of a change does not know its direction."""
    first, second = names_of(comparison)
    feature, dimension = _feature(comparison, watched), comparison.pair.dimension
    what = f"the level of {feature} for {first} and {second} together"
    if not level:
        what = f"the gap in {feature} between {first} and {second}"
    was = ""
    if reference is not None and allowed is not None:
        was = (
            f": it was {number(reference)}, give or take {number(allowed)}, as a share of the range"
        )
    return f"{dimension}: {what} has changed{was}."


def cleared_sentence(comparison: Comparison, reason: str, watched: Numbers = ()) -> str:
    """Return that an alarm is over, and why."""
    first, second = names_of(comparison)
    about = f"{_feature(comparison, watched)} for {first} and {second}"
    return f"{comparison.pair.dimension}: the alarm about {about} is over: {reason}."


def names_of(comparison: Comparison) -> tuple[str, str]:
    """Return what both groups are called."""
    return comparison.pair.a, comparison.pair.b or REST


def _direction(comparison: Comparison) -> Direction | None:
    watched = comparison.watched
    return watched.higher_is or SHARES.get((watched.extractor, watched.feature))


def _is_share(comparison: Comparison) -> bool:
    watched = comparison.watched
    is_known = (watched.extractor, watched.feature) in SHARES
    return is_known or watched.feature == MISSING or watched.method.of_selections


def _feature(comparison: Comparison, shown_with: Numbers) -> str:
    """Return what people call the number, among those that the monitor watches."""
    watched = comparison.watched
    if watched.feature == MISSING:
        return f"the share of answers that {watched.extractor.replace('_', ' ')} could not read"
    return number_name(watched.extractor, watched.feature, shown_with)


def _subject(comparison: Comparison, shown_with: Numbers) -> str:
    if comparison.watched.feature == MISSING:
        return _feature(comparison, shown_with)
    if comparison.watched.method.of_selections:
        return f"the share that is selected by {_feature(comparison, shown_with)}"
    return _feature(comparison, shown_with)


def _group_means(comparison: Comparison, alarmed: AlarmedGap, named: Sequence[str]) -> str:
    """Return the means of both groups, in the order named."""
    if alarmed.sides is None:
        return ""
    means = dict(zip(names_of(comparison), alarmed.sides, strict=True))
    one, other = (means[name] for name in named)
    among = ", among matched users" if comparison.watched.method is Method.MATCHED else ""
    if _is_share(comparison):
        return f": {_percent(one)} of the time against {_percent(other)}{among}"
    return f": {number(one)} on average against {number(other)}{among}"


def _gap_text(comparison: Comparison, gap: Estimate) -> str:
    """Return a gap with its direction, sign and interval, as tables and pictures have it."""
    show, unit = _shown_as(comparison)
    value = "not defined yet" if gap.value is None else f"{show(gap.value)}{unit}"
    first, second = names_of(comparison)
    details = []
    if gap.low is not None and gap.high is not None:
        details.append(f"{show(gap.low)} to {show(gap.high)}")
    if tolerance := comparison.watched.tolerance:
        details.append(f"tolerance {show(tolerance)}")
    sentence = f"The gap, {first} minus {second}, is {value}"
    return f"{sentence} ({'; '.join(details)})" if details else sentence


def _shown_as(comparison: Comparison) -> tuple[Callable[[float], str], str]:
    if comparison.watched.method.of_selections:
        return number, " in log odds"
    if _is_share(comparison):
        return (lambda share: number(100 * share, PERCENT_DIGITS)), " percentage points"
    return number, ""


def _percent(share: float) -> str:
    return f"{number(100 * share, PERCENT_DIGITS)} %"


def _rounds(rounds: int) -> str:
    return f"{rounds} round{'' if rounds == 1 else 's'}"


def _since(since: datetime | None) -> str:
    return "" if since is None else f" since {since:%d %b %Y %H:%M} {since.tzname()}"


PAIRS = ((GAPS, LEVEL), (DIFFERENCES, LEVELS), (MATCHED, LEVEL))
"""The histograms of differences and of levels, in the order of lookup."""
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
    values = np.linspace(0.0, 1.0, VALUE_BINS)
    first, second = (float(np.average(values, weights=counts[side])) for side in SIDES)
    return first, second


def _of_pairs(counts: Counts) -> Means | None:
    for names in PAIRS:
        if all(name in counts for name in names):
            gap, level = (float(pair_table([counts], [name]).estimates[0]) for name in names)
            return None if isnan(gap + level) else ((1 + level + gap) / 2, (1 + level - gap) / 2)
    return None
