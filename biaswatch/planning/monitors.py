"""Plan a monitor before it starts: the units, rounds, tokens and money until an alarm."""

from collections.abc import Iterator, Sequence
from math import sqrt

import numpy as np

from biaswatch.planning.costs import ANSWER_TOKENS
from biaswatch.planning.monitor_assumptions import (
    HALF,
    AssumedValues,
    MonitorAssumptions,
    arrivals_of,
    check_options,
    values_of,
)
from biaswatch.planning.round_costs import CallPrices, PlannedRounds, SuiteRound, TrafficWindow
from biaswatch.render.terminal import printable
from biaswatch.shared.analysis.monitors.method import PlannedGap, method_of
from biaswatch.shared.analysis.monitors.notes import least_blocks
from biaswatch.shared.contracts import (
    Claim,
    Comparison,
    Method,
    MonitorPlan,
    Suite,
    Upkeep,
    WatchedFeature,
)
from biaswatch.shared.errors import UsageError
from biaswatch.shared.stats.anytime.horizons import SEQUENTIAL_SHARE, looks_needed
from biaswatch.shared.stats.anytime.judging import FIRST_ROUND_WEIGHT, alpha_of_gap_test
from biaswatch.shared.stats.anytime.planning import PlannedUnits
from biaswatch.shared.stats.anytime.units import MissingAnswers

Row = dict[str, str | int | float | None]


def planned(
    plan: MonitorPlan, upkeep: Upkeep, suite: Suite | None, assumed: MonitorAssumptions
) -> list[Row]:
    """Return a row for each comparison of the planned features.

    Raises
    ------
    UsageError
        The effect is within the tolerance or impossible, the feature is unknown, or an assumption
        does not apply to this monitor.
    """
    names, name = [_name(feature) for feature in plan.features], assumed.feature
    if name is not None and name not in names:
        known = ", ".join(dict.fromkeys(names))
        raise UsageError(f"The monitor watches no feature {name}; it watches {known}.")
    features = [feature for feature in plan.features if name in (None, _name(feature))]
    check_options(assumed, features, traffic=suite is None)
    source: SuiteRound | TrafficWindow
    if suite is None:
        source = TrafficWindow(assumed.new_users, upkeep.most_rounds)
    else:
        tokens = ANSWER_TOKENS if assumed.answer_tokens is None else assumed.answer_tokens
        source = SuiteRound(plan, suite, CallPrices(tokens, assumed.prices), upkeep.most_rounds)
    return [
        _row(comparison, units, values, assumed, source, plan)
        for comparison, units, values in _simulated(plan, features, assumed, source)
    ]


def explained(rows: Sequence[Row], *, traffic: bool) -> str:
    """Return the meaning of the numbers, and the reasons for missing ones, in prose."""
    lines = []
    if any(row["units"] is not None for row in rows):
        gap = f"{rows[0]['effect']:g}"
        lines.append(f"With these units 80 % of monitors with a gap of {gap} raise an alarm")
    if any(row["tokens"] is not None for row in rows):
        lines[-1] += "; tokens are an estimate"
    looks = [int(look) for row in rows if (look := row.get("looks")) is not None]
    if looks:
        lines.append(f"Within the declared rounds, 80 % are found by round {max(looks)}")
    if traffic and any(row["rounds"] is not None for row in rows):
        lines[-1] += "; a round is a window"
    reasons = dict.fromkeys(row["why"] for row in rows if row["why"])
    for why in reasons:
        keys = ", ".join(str(row["comparison"]) for row in rows if row["why"] == why)
        lines.append(f"{keys}: {why}")
    return printable("\n".join(f"{line}." for line in lines))


def _name(watched: WatchedFeature) -> str:
    return f"{watched.extractor}.{watched.feature}"


def _simulated(
    plan: MonitorPlan,
    features: Sequence[WatchedFeature],
    assumed: MonitorAssumptions,
    source: SuiteRound | TrafficWindow,
) -> Iterator[tuple[Comparison, PlannedUnits, AssumedValues]]:
    """Simulate each comparison, and equal ones only once."""
    for watched in features:
        known: dict[PlannedGap, PlannedUnits] = {}
        try:
            values = values_of(watched, assumed)
            for pair in plan.comparisons:
                gap = PlannedGap(
                    assumed.effect, values.sd, values.sd_first, values.level, assumed.binary,
                    alpha=_alpha_of(plan, watched), family=len(plan.all_comparisons),
                    missing=MissingAnswers(assumed.missing, source.shapes(pair)),
                    spread=assumed.spread, arrivals=arrivals_of(plan.traffic, assumed),
                    bank=plan.claim is Claim.BANK, twins=source.twins(pair),
                )  # fmt: skip
                if gap not in known:
                    # A fixed seed makes equal plans give equal results.
                    rng = np.random.default_rng(1)
                    known[gap] = method_of(watched.method).planned_units(watched, gap, rng)
                yield Comparison(watched=watched, pair=pair), known[gap], values
        except ValueError as error:
            raise UsageError(f"{_name(watched)}: {error}.") from None


def _alpha_of(plan: MonitorPlan, watched: WatchedFeature) -> float:
    """Return the alpha of the first test, for gaps that exist from the start."""
    alpha = alpha_of_gap_test(plan.alpha, 1)
    searched = plan.traffic is None and not watched.method.of_selections
    return alpha * FIRST_ROUND_WEIGHT if searched else alpha


def _row(
    comparison: Comparison,
    units: PlannedUnits,
    values: AssumedValues,
    assumed: MonitorAssumptions,
    source: SuiteRound | TrafficWindow,
    plan: MonitorPlan,
) -> Row:
    traffic = isinstance(source, TrafficWindow)
    beyond = _beyond(plan, comparison, source)
    needed = PlannedRounds(why=beyond) if beyond else _needed(comparison, units, source)
    return {
        "comparison": comparison.key,
        "effect": assumed.effect,
        "first_share": (assumed.first_share or HALF) if traffic else None,
        "sd_first": _short(values.sd_first),
        "sd": _short(values.sd),
        "level": _short(values.level),
        "spread": _short(assumed.spread or None),
        "missing": _short(assumed.missing or None),
        "units": None if beyond else units.units,
        "looking_once": None if beyond else units.fixed,
        **vars(needed),
        **_declared_looks(comparison, values, assumed, source, plan),
    }


def _beyond(
    plan: MonitorPlan, comparison: Comparison, source: SuiteRound | TrafficWindow
) -> str | None:
    """Return why no units are known for an alarm beyond names and texts; None where they are."""
    if isinstance(source, TrafficWindow) or comparison.watched.method is not Method.PAIRS:
        return None
    if (blocks := source.blocks(comparison.pair)) is None:
        return None
    factors = " and no ".join(plan.random)
    return (
        f"an alarm is about more than the suite's own values of {', '.join(plan.random)}, which"
        f" needs at least {least_blocks(plan)} blocks of sets that share no {factors}, however many"
        f" rounds ask them; the suite has {blocks.count}. For a plan about its own values alone,"
        " write `random: []` in the monitor's file"
    )


def _needed(
    comparison: Comparison, units: PlannedUnits, source: SuiteRound | TrafficWindow
) -> PlannedRounds:
    if units.units is not None:
        return source.until(units.units, comparison)
    if units.why is not None:
        return PlannedRounds(why=units.why)
    return PlannedRounds(
        why=f"fewer than 80 % of monitors with such a gap raise an alarm within {units.looked}"
        " units, the largest number simulated"
    )


def _declared_looks(
    comparison: Comparison,
    values: AssumedValues,
    assumed: MonitorAssumptions,
    source: SuiteRound | TrafficWindow,
    plan: MonitorPlan,
) -> Row:
    """Return the look by which 80 % of such gaps are found within the declared rounds."""
    watched = comparison.watched
    if plan.looks is None or isinstance(source, TrafficWindow) or plan.random:
        return {}
    if not values.sd or watched.method is not Method.PAIRS:
        return {}
    sets = source.units_per_round(comparison)
    alpha = SEQUENTIAL_SHARE * alpha_of_gap_test(plan.alpha, 1) / len(plan.all_comparisons) / 2
    beyond = (abs(assumed.effect) - watched.tolerance) / values.sd
    return {"looks": looks_needed(beyond * sqrt(sets), plan.looks, alpha)}


def _short(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
