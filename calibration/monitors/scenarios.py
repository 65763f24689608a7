"""The scenarios: what happens to a simulated monitor, and what it has promised."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from biaswatch.shared.contracts import AlarmKind, AlarmState, Monitor
from calibration.monitors.answers import Bank, flat, rates, ratings, steady
from tests.support.decided_rounds import DecidedRounds, Floats, watching

ALPHA = 0.05
DISPARITY, CHANGE, LEVEL = AlarmKind.DISPARITY, AlarmKind.CHANGE, AlarmKind.LEVEL
ANY = tuple(AlarmKind)
Gaps = Callable[[np.random.Generator], Floats]
Judged = Callable[[DecidedRounds], bool]


@dataclass(frozen=True)
class Scenario:
    """A kind of monitor, simulated many times, and the share of them for which something holds."""

    name: str
    bank: Bank
    gaps: Gaps
    judged: Judged
    """Whether it happened to a monitor."""
    at_most: float | None = None
    """The largest share that keeps the promise; None where there is none."""
    at_least: float | None = None
    """The smallest share that keeps it."""
    tolerance: float = 0.05
    alpha: float = ALPHA
    change_tolerance: float = 0.0
    epoch_rounds: int | None = None
    """After how many rounds another model begins an epoch; None: never."""
    times: int = 200

    @property
    def monitor(self) -> Monitor:
        """Return the monitor."""
        return watching(self.tolerance, alpha=self.alpha, change_tolerance=self.change_tolerance)


def constant(*stretches: tuple[int, float]) -> Gaps:
    """Return gaps that stay for so many rounds each."""
    values = np.concatenate([np.full(rounds, gap) for rounds, gap in stretches])
    return lambda _: values


def wobbling(rounds: int, sd: float) -> Gaps:
    """Return gaps around 0 that differ from round to round."""
    return lambda rng: rng.normal(0.0, sd, rounds)


def drifting(rounds: int, sd: float) -> Gaps:
    """Return gaps around 0, each near to the one before."""

    def gaps(rng: np.random.Generator) -> Floats:
        result = [0.0]
        for step in rng.normal(0, sd * (1 - 0.8**2) ** 0.5, rounds - 1):
            result.append(0.8 * result[-1] + step)
        return np.array(result)

    return gaps


def alternating(rounds: int, size: float) -> Gaps:
    """Return gaps that change their sign every round."""
    values = size * np.resize([1.0, -1.0], rounds)
    return lambda _: values


def raised(*kinds: AlarmKind) -> Judged:
    """Tell whether any alarm of these kinds was raised."""
    return lambda outcome: any(outcome.told(kind) for kind in kinds)


def raised_between(kind: AlarmKind, first: int, last: int) -> Judged:
    """Tell whether such an alarm was raised in these rounds."""
    return lambda outcome: any(first <= item <= last for item in outcome.told(kind))


def cleared_between(first: int, last: int) -> Judged:
    """Tell whether an alarm of a disparity was cleared in these rounds."""
    message = AlarmState.CLEARED
    return lambda outcome: any(first <= item <= last for item in outcome.told(DISPARITY, message))


FIFTY, TWELVE = Bank(steady, 50), Bank(steady, 12)
NOTHING = constant((60, 0.0))
FALSE_ALARMS = [
    Scenario("60 rounds, 50 sets", FIFTY, NOTHING, raised(*ANY), ALPHA),
    Scenario("60 rounds, 12 sets", TWELVE, NOTHING, raised(*ANY), ALPHA),
    Scenario("60 rounds, 1 set", Bank(rates, 1), NOTHING, raised(*ANY), ALPHA),
    Scenario("60 rounds, 50 sets, tolerance 0", FIFTY, NOTHING, raised(*ANY), ALPHA, tolerance=0.0),
    Scenario(
        "60 rounds, gap at the tolerance", FIFTY, constant((60, 0.05)), raised(DISPARITY), ALPHA
    ),
    Scenario("60 rounds, answers that never vary", Bank(flat, 20), NOTHING, raised(*ANY), ALPHA),
    Scenario(
        "60 rounds, rare answers", Bank(rates, 40, level=0.03), NOTHING, raised(*ANY), ALPHA,
        tolerance=0.02,
    ),
    Scenario(
        "60 rounds, ratings, sets that differ", Bank(ratings, 20, 0.4, 0.2), NOTHING,
        raised(*ANY), ALPHA,
    ),
    Scenario(
        "60 rounds, rates, sets that differ", Bank(rates, 100, 0.4, 0.2), NOTHING, raised(*ANY),
        ALPHA,
    ),
    Scenario(
        "60 rounds, gap alternates +-.03", FIFTY, alternating(60, 0.03), raised(DISPARITY), ALPHA
    ),
    Scenario(
        "52 epochs of 6 rounds", FIFTY, constant((312, 0.0)), raised(*ANY), ALPHA, epoch_rounds=6,
        times=100,
    ),
    Scenario(
        "52 epochs of 6 rounds, tolerance 0, alpha .5", FIFTY, constant((312, 0.0)),
        raised(*ANY), 0.5, tolerance=0.0, alpha=0.5, epoch_rounds=6, times=100,
    ),
]  # fmt: skip
"""Monitors of which every alarm is false; one promise covers all kinds, epochs and rounds."""

SHORT = constant((4, 0.45), (16, 0.0), (6, 0.45))
LASTS = constant((10, 0.15), (25, 0.0), (25, 0.15))
FOUND = [
    Scenario(
        "change of .1 after 10 rounds, within 30", FIFTY, constant((10, 0.0), (30, 0.1)),
        raised_between(CHANGE, 10, 39), at_least=0.8, tolerance=0.2,
    ),
    Scenario(
        "change of .1 after 30 rounds, within 30", FIFTY, constant((30, 0.0), (30, 0.1)),
        raised_between(CHANGE, 30, 59), at_least=0.8, tolerance=0.2,
    ),
    Scenario(
        "change of .2 after 30 rounds, 12 sets, within 30", TWELVE, constant((30, 0.0), (30, 0.2)),
        raised_between(CHANGE, 30, 59), at_least=0.8, tolerance=0.4,
    ),
    Scenario(
        "gap of .15 alarms within 10", FIFTY, LASTS, raised_between(DISPARITY, 0, 9), at_least=0.8
    ),
    Scenario(
        "gap of .15 that ended after 10 is cleared within 25", FIFTY, LASTS,
        cleared_between(10, 34), at_least=0.8,
    ),
    Scenario(
        "it comes back after 25 and alarms within 25", FIFTY, LASTS,
        raised_between(DISPARITY, 35, 59), at_least=0.8,
    ),
    Scenario(
        "the same at tolerance 0", FIFTY, LASTS, raised_between(DISPARITY, 35, 59), at_least=0.8,
        tolerance=0.0,
    ),
    Scenario(
        "gap of .45 that ended after 4 is cleared within 16, 12 sets, tolerance 0", TWELVE, SHORT,
        cleared_between(4, 19), at_least=0.75, tolerance=0.0,
    ),
    Scenario(
        "it comes back after 16 and alarms within 6, 12 sets, tolerance 0", TWELVE, SHORT,
        raised_between(DISPARITY, 20, 25), at_least=0.75, tolerance=0.0,
    ),
    Scenario(
        "gap of .3 that falls to .1 is cleared, tolerance 0", FIFTY, constant((5, 0.3), (35, 0.1)),
        cleared_between(5, 39), ALPHA, tolerance=0.0, times=60,
    ),
    Scenario(
        "gap of .3 that falls to .1 is cleared within 35, tolerance .15", FIFTY,
        constant((5, 0.3), (35, 0.1)), cleared_between(5, 39), at_least=0.8, tolerance=0.15,
        times=60,
    ),
    Scenario(
        "gap of .15 after 60 quiet rounds alarms within 15", FIFTY, constant((60, 0.0), (15, 0.15)),
        raised_between(DISPARITY, 60, 74), at_least=0.8,
    ),
    Scenario(
        "gap of .15 that stays is cleared", FIFTY, constant((60, 0.15)), cleared_between(0, 59),
        ALPHA,
    ),
]  # fmt: skip
"""Gaps and changes that are to be found, cleared, and found again."""

WOBBLES = [
    Scenario(
        f"wobble of .02, {kind}, {sets} sets, tolerance {tolerance}", Bank(steady, sets), gaps,
        raised(DISPARITY), ALPHA if tolerance == 0.05 else None, tolerance=tolerance,
        change_tolerance=tolerance,
    )
    for kind, gaps in (("each round", wobbling(60, 0.02)), ("drifting", drifting(60, 0.02)))
    for sets in (50, 300)
    for tolerance in (0.0, 0.02, 0.05)
]  # fmt: skip
"""Gaps around 0 that are not exactly 0 in any round: why a tolerance is chosen."""
