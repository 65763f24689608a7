"""The full simulations of anytime-valid evidence: false alarms, both claims, delay."""

import sys
import time
from collections.abc import Iterator
from math import inf

import numpy as np

from biaswatch.shared.contracts import Method
from calibration.incomplete_rounds import ALPHA as ROUND_ALPHA
from calibration.incomplete_rounds import (
    NULLS,
    alarm_units,
    difficult_sets,
    planned_sets,
    planned_units,
    reached,
    with_gap,
)
from tests.support.evidence_checks import (
    CLAIMS,
    DELAYS,
    FALSE_ALARMS,
    delay_ratio,
    most_allowed,
    share_alarmed,
)
from tests.support.evidence_streams import ALPHA
from tests.support.traffic_streams import (
    BY_TOPIC,
    CONFOUNDED,
    EQUAL,
    PLANNED,
    planned_users,
    users_needed,
)
from tests.support.traffic_streams import share_alarmed as share_of_streams

TIMES = 2000
CLAIM_TIMES = 1000
MOST_DELAY = 2.5
NULL_TIMES, NULL_ROUNDS = 300, (20, 40)
PLAN_TIMES, GAP_ROUNDS = 300, (20, 200)
MOST_COST, PLAN_ERROR = 1.5, 0.25
TRAFFIC_TIMES = 100

Line = tuple[str, str, bool]


def false_alarms() -> Iterator[Line]:
    """Simulate streams without a difference."""
    for check in (*FALSE_ALARMS, *CLAIMS):
        times = CLAIM_TIMES if check in CLAIMS else TIMES
        result = share_alarmed(check, np.random.default_rng(1), times, check.length)
        bar = most_allowed(times)
        yield check.name, f"{result:.3f} of {times:,} alarm (at most {bar:.3f})", result <= bar


def traffic() -> Iterator[Line]:
    """Simulate live systems whose groups are equal, by the functions that close windows."""
    bar = most_allowed(TRAFFIC_TIMES)
    for stream in EQUAL:
        share = share_of_streams(stream, TRAFFIC_TIMES)
        message = f"{share:.3f} of {TRAFFIC_TIMES} alarm (at most {bar:.3f})"
        yield f"traffic, {stream.name}", message, share <= bar
    for stream in CONFOUNDED:
        share = share_of_streams(stream, TRAFFIC_TIMES, strata=BY_TOPIC)
        message = f"{share:.3f} of {TRAFFIC_TIMES} alarm (at most {bar:.3f})"
        yield f"traffic by topic, {stream.name}", message, share <= bar
    for stream in (EQUAL[0], EQUAL[2]):
        share = share_of_streams(stream, TRAFFIC_TIMES, Method.TWO_GROUPS)
        message = (
            f"{share:.3f} alarm where users of all windows are pooled (the matched ones do not)"
        )
        yield f"pooled, {stream.name}", message, share > 2 * ALPHA


def planned_traffic() -> Iterator[Line]:
    """Simulate live systems with a gap, and compare with what is planned for them."""
    for item in PLANNED:
        planned, needed = planned_users(item), users_needed(item, TRAFFIC_TIMES)
        ratio = planned / needed
        message = (
            f"planned {planned:,} users, 80 % alarm by {needed:,.0f}: {ratio:.2f} (.75 to 1.33)"
        )
        yield f"plan, {item.stream.name}", message, 0.75 <= ratio <= 1 / 0.75


def delays() -> Iterator[Line]:
    """Simulate differences and compare with the test that looks once and knows them."""
    for delay in DELAYS:
        half, most = delay_ratio(delay, np.random.default_rng(3), TIMES)
        message = f"80 % by {most:.2f} x {delay.fixed:,} pairs, half by {half:.2f} x"
        yield delay.name, f"{message} (at most {MOST_DELAY})", most <= MOST_DELAY


def incomplete() -> Iterator[Line]:
    """Simulate answers that are missing or go together, by the diagnoser's own code."""
    for null in NULLS:
        rng = np.random.default_rng(5)
        alarmed = [alarm_units(null, rng, *NULL_ROUNDS) < inf for _ in range(NULL_TIMES)]
        result, bar = float(np.mean(alarmed)), most_allowed(NULL_TIMES, ROUND_ALPHA)
        yield null.name, f"{result:.3f} of {NULL_TIMES} alarm (at most {bar:.3f})", result <= bar
    whole = 0.0
    for lacking in (0.0, 0.02, 0.05, 0.2):
        rng = np.random.default_rng(6)
        alarmed_at = [alarm_units(with_gap(lacking), rng, *GAP_ROUNDS) for _ in range(PLAN_TIMES)]
        units, planned = reached(alarmed_at), planned_units(lacking) or inf
        whole = whole or units
        message = f"80 % by {units:,.0f} units, {units / whole:.2f} x, planned {planned:,}"
        cheap = lacking > 0.05 or units <= MOST_COST * whole
        near = abs(planned / units - 1) <= PLAN_ERROR
        yield with_gap(lacking).name, message, cheap and near


def difficult() -> Iterator[Line]:
    """Simulate odds ratios over sets that differ in difficulty, and compare with their plan."""
    for spread in (0.0, 2.0):
        rng, planned = np.random.default_rng(7), planned_sets(spread) or inf
        sets = reached([difficult_sets(spread, rng, 6000) for _ in range(PLAN_TIMES)])
        message = f"80 % by {sets:,.0f} sets, planned {planned:,}"
        name = f"odds ratio, log odds of sets deviate by {spread:g}"
        yield name, message, abs(planned / sets - 1) <= PLAN_ERROR


def main() -> int:
    """Print every check; 1 where one misses its bar."""
    missed, start = 0, time.perf_counter()
    for part in (incomplete, difficult, false_alarms, traffic, planned_traffic, delays):
        for name, message, holds in part():
            missed += not holds
            print(f"{'ok' if holds else 'MISSED':7}{name:58}{message}", flush=True)
    print(f"{missed} missed, {time.perf_counter() - start:.0f} s")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
