"""Prints how often simulated monitors alarm, and whether their promises are kept."""

import argparse
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from calibration.monitors.scenarios import FALSE_ALARMS, FOUND, WOBBLES, Scenario
from tests.support.decided_rounds import DecidedRounds
from tests.support.evidence_checks import least_allowed, most_allowed

PARTS = {"false alarms": FALSE_ALARMS, "found": FOUND, "wobbles": WOBBLES}


def happened(scenario: Scenario, seed: int) -> bool:
    """Simulate one monitor."""
    rng = np.random.default_rng(seed)
    result = DecidedRounds(scenario.monitor)
    for number, counts in enumerate(scenario.bank.rounds(scenario.gaps(rng), rng)):
        epoch = number // scenario.epoch_rounds if scenario.epoch_rounds else 0
        result.close(counts, model=f"m-{epoch}")
    return scenario.judged(result)


def share_of(scenario: Scenario, times: int, executor: ProcessPoolExecutor | None = None) -> float:
    """Return the share of so many simulated monitors to which it happened; always the same."""
    if executor is None:
        return sum(happened(scenario, seed) for seed in range(times)) / times
    named = [scenario.name] * times
    return sum(executor.map(_happened_to, named, range(times), chunksize=5)) / times


def _happened_to(name: str, seed: int) -> bool:
    """Simulate a monitor of a scenario by its name, which can be sent to another process."""
    [scenario] = [item for part in PARTS.values() for item in part if item.name == name]
    return happened(scenario, seed)


def kept(scenario: Scenario, share: float, times: int) -> bool:
    """Tell whether a share of so many monitors keeps the promise."""
    if scenario.at_most is not None:
        return share <= most_allowed(times, scenario.at_most)
    if scenario.at_least is not None:
        return share >= least_allowed(times, scenario.at_least)
    return True


def promise(scenario: Scenario) -> str:
    """Say what the share has to be."""
    if scenario.at_most is not None:
        return f"at most {scenario.at_most:g}"
    return "-" if scenario.at_least is None else f"at least {scenario.at_least:g}"


def main(given: Sequence[str] | None = None) -> int:
    """Print a table; 1 where a promise is broken."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--only", choices=PARTS, nargs="*", default=list(PARTS))
    options.add_argument("--share", type=float, default=1.0, help="of the monitors simulated")
    options.add_argument("--workers", type=int, default=2)
    asked, missed, start = options.parse_args(given), 0, time.perf_counter()
    print("| monitors | simulated | share | promise | |\n|---|---|---|---|---|")
    with ProcessPoolExecutor(asked.workers) as executor:
        for scenario in (item for part in asked.only for item in PARTS[part]):
            times = max(1, round(scenario.times * asked.share))
            share = share_of(scenario, times, executor)
            holds = kept(scenario, share, times)
            missed += not holds
            message = (scenario.name, times, f"{share:.3f}", promise(scenario))
            print(
                "|", *(f"{item} |" for item in message), "ok |" if holds else "MISSED |", flush=True
            )
    print(f"\n{missed} missed, {time.perf_counter() - start:.0f} s")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
