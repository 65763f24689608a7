"""The full simulations of anytime-valid evidence: false alarms, both claims, detectors, delay."""

import sys
import time
from collections.abc import Iterator

import numpy as np

from tests.support.evidence_checks import (
    CLAIMS,
    DELAYS,
    FALSE_ALARMS,
    ROUNDS,
    delay_ratio,
    detector_times,
    most_allowed,
    share_alarmed,
)
from tests.support.evidence_streams import ALPHA
from tools.false_alarms import STILL, mean_time, plan_of_one, share_of
from tools.false_alarms import false_alarms as changes_alarmed

TIMES = 2000
CLAIM_TIMES = 1000
CHANGE_TIMES, LOOSE = 200, 0.8
DETECTORS, STEPS = 4000, 20_000
MOST_DELAY = 2.5

Line = tuple[str, str, bool]


def false_alarms() -> Iterator[Line]:
    """Simulate streams without a difference."""
    for check in (*FALSE_ALARMS, *CLAIMS):
        times = CLAIM_TIMES if check in CLAIMS else TIMES
        found = share_alarmed(check, np.random.default_rng(1), times, check.length)
        bar = most_allowed(times)
        yield check.name, f"{found:.3f} of {times:,} alarm (at most {bar:.3f})", found <= bar


def detectors() -> Iterator[Line]:
    """Simulate change detectors where nothing changes."""
    for threshold in (1 / ALPHA, 1000):
        found = float(detector_times(np.random.default_rng(2), DETECTORS, STEPS, threshold).mean())
        name = f"change detector at {threshold:,.0f}"
        yield name, f"{found:,.0f} steps to a false alarm", found >= threshold


def changes() -> Iterator[Line]:
    """Simulate a year of monitors whose gap and level stay, by the diagnoser's own code."""
    for still in STILL:
        for alpha in (ALPHA, LOOSE):
            plan = plan_of_one(alpha)
            share, rng = share_of(plan), np.random.default_rng(4)
            found = changes_alarmed(still, plan, rng, CHANGE_TIMES, ROUNDS)
            for detector, alarms in found.items():
                rate, mean = float(np.isfinite(alarms).mean()), mean_time(alarms, ROUNDS)
                bar = most_allowed(CHANGE_TIMES, share)
                told = f"{rate:.4f} alarm (at most {bar:.4f}), mean {mean:.0f} rounds or more"
                name = f"{detector} of {still.name}, share {share:.5f}"
                yield name, f"{told} (at least {1 / share:.0f})", rate <= bar and mean >= 1 / share


def delays() -> Iterator[Line]:
    """Simulate differences and compare with the test that looks once and knows them."""
    for delay in DELAYS:
        half, most = delay_ratio(delay, np.random.default_rng(3), TIMES)
        told = f"80 % by {most:.2f} x {delay.fixed:,} pairs, half by {half:.2f} x"
        yield delay.name, f"{told} (at most {MOST_DELAY})", most <= MOST_DELAY


def main() -> int:
    """Print every check; 1 where one misses its bar."""
    missed, start = 0, time.perf_counter()
    for part in (false_alarms, detectors, changes, delays):
        for name, told, holds in part():
            missed += not holds
            print(f"{'ok' if holds else 'MISSED':7}{name:58}{told}", flush=True)
    print(f"{missed} missed, {time.perf_counter() - start:.0f} s")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
