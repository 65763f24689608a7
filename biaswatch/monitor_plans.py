"""How long a monitor is likely to need, before it starts: units, rounds, tokens, money."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt

import numpy as np
from scipy.special import expit, logit

from biaswatch.monitor_rounds import Prices, Rounds, SuiteRound, TrafficWindow
from shared.contracts import Comparison, Method, MonitorPlan, Suite, WatchedFeature
from shared.errors import UsageError
from shared.stats.anytime.planning import Plan, plan_gap, plan_rates
from shared.stats.anytime.unpaired_planning import plan_two_groups

Row = dict[str, str | int | float | None]


@dataclass(frozen=True)
class Assumed:
    """What whoever plans believes of the answers; None is the default that the row then shows."""

    effect: float
    """The gap to be found: in the feature's units, or in log odds."""
    sd: float | None = None
    """Of a set's gap, or of the values within a group: a quarter of the range."""
    level: float | None = None
    """The second group's mean, or the share of it that is selected: the middle, or a half."""
    feature: str | None = None
    """The only feature to plan for, as `extractor.feature`."""
    answer_tokens: int = 200
    """Of one answer."""
    prices: Prices = (None, None)
    """Of a million tokens."""
    new_users: int | None = None
    """Users with one of the two groups whom a window of traffic brings for the first time."""


@dataclass(frozen=True)
class _Values:
    """The values of a feature as the simulation takes them, and as the row shows them."""

    sd: float | None
    level: float | None


def planned(plan: MonitorPlan, suite: Suite | None, assumed: Assumed) -> list[Row]:
    """Give one row for each comparison of the features that are planned for.

    Raises
    ------
    UsageError
        The effect is within the tolerance or cannot be, or there is no such feature.
    """
    brought = (
        TrafficWindow(assumed.new_users)
        if suite is None
        else SuiteRound(plan, suite, assumed.answer_tokens, assumed.prices)
    )
    return [
        _row(Comparison(watched=watched, pair=pair), found, values, assumed, brought)
        for watched, found, values in _simulated(plan, assumed)
        for pair in plan.comparisons
    ]


def _simulated(
    plan: MonitorPlan, assumed: Assumed
) -> Iterator[tuple[WatchedFeature, Plan, _Values]]:
    names = {f"{each.extractor}.{each.feature}": each for each in plan.features}
    if assumed.feature is not None and assumed.feature not in names:
        raise UsageError(
            f"The monitor watches no feature {assumed.feature}; it watches {', '.join(names)}."
        )
    for name, watched in names.items():
        if assumed.feature in (None, name):
            values = _values(watched, assumed)
            yield watched, _plan(name, watched, plan, assumed.effect, values), values


def _values(watched: WatchedFeature, assumed: Assumed) -> _Values:
    span = watched.high - watched.low
    sd = span / 4 if assumed.sd is None else assumed.sd
    if watched.method is Method.PAIRS:
        return _Values(sd, None)
    if watched.method.of_selections:
        return _Values(None, 0.5 if assumed.level is None else assumed.level)
    level = watched.low + span / 2 if assumed.level is None else assumed.level
    return _Values(sd if assumed.sd is not None else _possible(sd, level, watched, assumed), level)


def _possible(sd: float, level: float, watched: WatchedFeature, assumed: Assumed) -> float:
    """Give the default deviation, or the largest that both groups can have near an end."""
    low, high = watched.low, watched.high
    means = (level, level + assumed.effect)
    return min(sd, *(sqrt(max(0.0, (mean - low) * (high - mean))) for mean in means))


def _plan(
    name: str, watched: WatchedFeature, plan: MonitorPlan, effect: float, values: _Values
) -> Plan:
    simulate = _selections if watched.method.of_selections else _gap
    try:
        return simulate(watched, plan, effect, values)
    except ValueError as error:
        raise UsageError(f"{name}: {error}.") from None


def _selections(watched: WatchedFeature, plan: MonitorPlan, effect: float, values: _Values) -> Plan:
    level = values.level or 0.0
    if not 0 < level < 1:
        raise ValueError(f"a share that is selected lies between 0 and 1, not at {level:g}")
    if abs(effect) <= watched.tolerance:
        raise ValueError("an effect within the tolerance is none that an alarm waits for")
    first = float(expit(logit(level) + effect))
    rng, alpha, family = _family(plan)
    return plan_rates(first, level, rng, alpha=alpha, family=family, tolerance=watched.tolerance)


def _gap(watched: WatchedFeature, plan: MonitorPlan, effect: float, values: _Values) -> Plan:
    span = watched.high - watched.low
    effect, sd, tolerance = effect / span, (values.sd or 0.0) / span, watched.tolerance / span
    rng, alpha, family = _family(plan)
    if values.level is None:
        return plan_gap(effect, sd, rng, alpha=alpha, family=family, tolerance=tolerance)
    level = (values.level - watched.low) / span
    return plan_two_groups(effect, sd, level, rng, alpha=alpha, family=family, tolerance=tolerance)


def _family(plan: MonitorPlan) -> tuple[np.random.Generator, float, int]:
    """Give luck, always the same, the half of alpha that is for gaps, and what shares it."""
    return np.random.default_rng(1), plan.alpha / 2, len(plan.watched)


def _row(
    comparison: Comparison,
    found: Plan,
    values: _Values,
    assumed: Assumed,
    brought: SuiteRound | TrafficWindow,
) -> Row:
    needed = Rounds() if found.units is None else brought.until(found.units, comparison)
    return {
        "comparison": comparison.key,
        "effect": assumed.effect,
        "sd": _short(values.sd),
        "level": _short(values.level),
        "units": found.units,
        "looking_once": found.fixed,
        **vars(needed),
    }


def _short(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
