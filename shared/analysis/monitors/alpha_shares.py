"""The level and the bound of each test of a monitor, and the promise about its alarms."""

from math import log

from biaswatch.shared.contracts import AlarmKind, MonitorPlan
from biaswatch.shared.stats.anytime.horizons import SEQUENTIAL_SHARE
from biaswatch.shared.stats.anytime.judging import (
    alpha_of_gap_test,
    alpha_of_search,
    share_left,
    share_of_test,
)


def gap_alpha(plan: MonitorPlan, number: int) -> float:
    """Return the chance of a false alarm that one test of the family's gaps may have."""
    return alpha_of_gap_test(plan.alpha, number)


def gap_bound(plan: MonitorPlan, number: int) -> float:
    """Return the log evidence of a gap that alarms, in this test of it."""
    return log(len(plan.all_comparisons) / gap_alpha(plan, number) / share_beyond(plan))


def share_beyond(plan: MonitorPlan) -> float:
    """Return the share of alpha for evidence at any look; a declared horizon spends the rest."""
    return 1.0 if plan.looks is None else 1 - SEQUENTIAL_SHARE


def search_alpha(plan: MonitorPlan, number: int) -> float:
    """Return that of a comparison's search: for the detector, and once more for its references."""
    return alpha_of_search(plan.alpha, len(plan.all_comparisons), number)


def change_bound(plan: MonitorPlan, number: int) -> float:
    """Return the log evidence of a change that alarms."""
    return -log(search_alpha(plan, number))


def promise_of(plan: MonitorPlan, what: AlarmKind, number: int) -> str:
    """Say how probable a false alarm like this one is, ever."""
    kinds, other_kinds = "disparities", "changes of gap or level"
    if what is not AlarmKind.DISPARITY:
        kinds, other_kinds = other_kinds, kinds
    nth = "test" if what is AlarmKind.DISPARITY else "search"
    return (
        f"The probability that this monitor ever raises a false alarm of {kinds}, over its"
        f" {len(plan.all_comparisons)} comparisons, all epochs and all alarms, is at most"
        f" {plan.alpha / 2:g}: this was {nth} {number} of the comparison, with"
        f" {percent(share_of_test(number))} of it, and {percent(share_left(number))} is left for"
        f" later ones. It is half of the monitor's {plan.alpha:g}; the other half is for"
        f" {other_kinds}. The probabilities of several monitors add up"
    )


def percent(share: float) -> str:
    """Return a share in percent, with two digits."""
    return f"{100 * share:.2g} %"
