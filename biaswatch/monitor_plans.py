"""How long a monitor is likely to need, before it starts: units, rounds, tokens, money."""

from math import ceil

import numpy as np

from services.gateway.domain.monitors import MonitorRequest, plan_of
from shared.contracts import Method, MonitorPlan, Suite, SuiteProbe, WatchedFeature
from shared.errors import UsageError
from shared.stats.anytime.planning import plan_gap

CHARS_PER_TOKEN = 4
MILLION = 1_000_000
Row = dict[str, str | int | float | None]
Prices = tuple[float | None, float | None]


def planned(
    asked: MonitorRequest,
    suite: Suite,
    effect: float,
    sd: float | None,
    answer_tokens: int,
    prices: Prices,
) -> list[Row]:
    """Give one row for each feature that is watched by pairs.

    Raises
    ------
    UsageError
        The effect is within the tolerance, or no feature is watched by pairs.
    """
    plan = plan_of(asked, suite)
    by_pairs = [each for each in plan.features if each.method is Method.PAIRS]
    if not by_pairs:
        raise UsageError("Only features with the method `pairs` can be planned.")
    round_ = _Round(plan, suite, answer_tokens, prices)
    return [_row(each, plan, effect, sd, round_) for each in by_pairs]


class _Round:
    """What one round asks and costs."""

    def __init__(self, plan: MonitorPlan, suite: Suite, answer_tokens: int, prices: Prices) -> None:
        sets = {probe.set for probe in suite.probes if probe.set}
        self.sets = plan.sets_per_round or len(sets)
        share = self.sets / len(sets) if plan.sets_per_round else 1.0
        self.probes = round(len(suite.probes) * share) * plan.repeats
        read = sum(map(_chars, suite.probes)) / len(suite.probes) / CHARS_PER_TOKEN
        self.tokens = ceil(self.probes * (read + answer_tokens))
        self.cost = None
        if prices[0] is not None and prices[1] is not None:
            self.cost = self.probes * (read * prices[0] + answer_tokens * prices[1]) / MILLION


def _chars(probe: SuiteProbe) -> int:
    said = sum(len(message.content) for message in probe.said)
    return said + sum(map(len, probe.variables.values()))


def _row(
    watched: WatchedFeature, plan: MonitorPlan, effect: float, sd: float | None, round_: _Round
) -> Row:
    span = watched.high - watched.low
    try:
        found = plan_gap(
            effect / span,
            (span / 4 if sd is None else sd) / span,
            np.random.default_rng(1),
            alpha=plan.alpha / 2,
            tolerance=watched.tolerance / span,
            family=len(plan.watched),
        )
    except ValueError as error:
        raise UsageError(f"{watched.feature}: {error}.") from None
    rounds = None if found.units is None else ceil(found.units / round_.sets)
    return {
        "feature": watched.feature,
        "effect": effect,
        "units": found.units,
        "looking_once": found.fixed,
        "rounds": rounds,
        "probes": None if rounds is None else rounds * round_.probes,
        "tokens": None if rounds is None else rounds * round_.tokens,
        "cost": None if rounds is None or round_.cost is None else round(rounds * round_.cost, 2),
    }
