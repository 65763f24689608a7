"""Simulated searches: false findings, calls until a failure is found, confirmation.

python -m calibration.search --searches 400

Prints each bar with its measured value, and ends with 1 where one is missed. `--searches` is the
number of searches without an effect; of those with a failure there are half as many.
"""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from biaswatch.shared.analysis.search.findings import findings_of
from biaswatch.shared.requests.searches import Confirmed
from biaswatch.shared.stats.comparisons.sign_flips import sign_flip_p
from biaswatch.shared.stats.search.evidence import SearchEvidence, updated
from biaswatch.shared.stats.search.hypotheses import AskedCells, Region, SearchSpace
from calibration.search.targets import (
    ALPHA,
    BUDGET,
    CONTEXTS,
    FAILING,
    SHARED_VARIANCE,
    TOPICS,
    SimulatedTarget,
    calls_to,
    simulated,
    until_found,
)

FIXED_SETS = 22
"""Sets per topic of the best fixed design: exact flips find a gap of 1 at 0.05 / 200."""


@dataclass(frozen=True)
class Bar:
    """A promise with its measured value."""

    name: str
    value: float
    limit: float
    at_least: bool = False

    @property
    def missed(self) -> bool:
        """Return whether the value misses the limit."""
        return self.value < self.limit if self.at_least else self.value > self.limit


TOPIC = (Region.TOPIC, FAILING)
CROSSINGS = tuple((Region.CROSSING, FAILING * CONTEXTS + context) for context in (3, 8))


CHANGE = 20
"""The last round before the target changes."""


def one_topic(topic: int, context: int, number: int) -> float:
    """Return a gap of 1 in one topic."""
    return float(topic == FAILING)


def two_contexts(topic: int, context: int, number: int) -> float:
    """Return a gap of 1 in two contexts of one topic."""
    return float(topic == FAILING and context in (3, 8))


def all_topics(topic: int, context: int, number: int) -> float:
    """Return a gap of 1 everywhere."""
    return 1.0


def changed_topic(topic: int, context: int, number: int) -> float:
    """Return a gap of 1 in one topic after a fifth of 4,000 calls."""
    return float(topic == FAILING and number > CHANGE)


def nulls(searches: int) -> Iterator[Bar]:
    """Yield the shares of searches without an effect that find anything, at any look."""
    kinds = {
        "no effect": SimulatedTarget(),
        "name SD 0.3": SimulatedTarget(name_sd=0.3),
        "spread of groups 0.5 and 1.5": SimulatedTarget(sds=(0.5, 1.5)),
        "temperature 0": SimulatedTarget(is_fixed=True),
        "temperature 0, name SD 0.3": SimulatedTarget(is_fixed=True, name_sd=0.3),
        "eight groups, spread of one 1.5, others 0": SimulatedTarget(sds=(0.0,) * 7 + (1.5,)),
    }
    limit = ALPHA + 3.5 * np.sqrt(ALPHA * (1 - ALPHA) / searches)
    for name, target in kinds.items():
        result = [bool(simulated(target, s, BUDGET).discovery_rounds) for s in range(searches)]
        yield Bar(f"false findings, {name}", float(np.mean(result)), limit)


def failures(searches: int) -> Iterator[Bar]:
    """Yield how soon failures are found."""
    target = SimulatedTarget(one_topic)
    calls = [
        calls_to(simulated(target, s, 10 * BUDGET, until_found(TOPIC)), TOPIC)
        for s in range(searches)
    ]
    uniform = np.median([_uniform_calls(s) for s in range(searches)])
    fixed = 2 * FIXED_SETS * TOPICS
    yield Bar(f"one topic, median calls, of {uniform:,.0f} uniform", np.median(calls), uniform / 5)
    yield Bar(f"one topic, median calls, of {fixed:,} fixed", np.median(calls), fixed / 5)
    within = float(np.mean(np.array(calls) <= BUDGET))
    yield Bar("one topic, found within 2,000 calls", within, 0.6, at_least=True)
    # With more power, the fixed design would need fewer sets.
    yield Bar("fixed design, power of 22 sets", _fixed_power(searches), 0.55)
    regions, target = (TOPIC, *CROSSINGS), SimulatedTarget(two_contexts)
    calls = [
        calls_to(simulated(target, s, 10 * BUDGET, until_found(*regions)), *regions)
        for s in range(searches // 4)
    ]
    uniform = np.median([_uniform_calls(s, Region.CROSSING) for s in range(searches)])
    name = f"two contexts of one topic, median calls, of {uniform:,.0f} uniform"
    yield Bar(name, np.median(calls), uniform / 5)
    everywhere = (Region.EVERYWHERE, 0)
    for name, groups in (("all topics", 2), ("all topics, one group of four", 4)):
        target = SimulatedTarget(all_topics, sds=(1.0,) * groups)
        calls = [
            calls_to(simulated(target, s, BUDGET, until_found(everywhere)), everywhere)
            for s in range(searches // 4)
        ]
        yield Bar(f"{name}, median calls, of a topic by topic", np.median(calls), fixed / 10)
    changing = SimulatedTarget(changed_topic)
    states = [simulated(changing, s, 2 * BUDGET) for s in range(searches // 4)]
    within = float(np.mean([calls_to(state, TOPIC) < np.inf for state in states]))
    yield Bar("a change in the middle, found within 4,000 calls", within, 0.5, at_least=True)
    early = [
        any(round_ <= CHANGE for round_ in state.discovery_rounds.values()) for state in states
    ]
    limit = ALPHA + 3.5 * np.sqrt(ALPHA * (1 - ALPHA) / len(early))
    yield Bar("a change in the middle, false findings before", float(np.mean(early)), limit)


def _uniform_calls(seed: int, region: Region = Region.TOPIC) -> float:
    """Return the calls that asking all topics or crossings in turn needs, with the e-process."""
    rng = np.random.default_rng([seed, 8])
    sizes = SearchSpace(TOPICS, CONTEXTS, 2)
    regions, threshold = sizes.regions[region], sizes.log_thresholds(ALPHA)[sizes.first(region)]
    one, evidence = SearchSpace(1, 1, 2), SearchEvidence.none(SearchSpace(1, 1, 2))
    cells = AskedCells(np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64))
    for sets in range(1, 1_000):
        answers = np.array([_twins(rng)]) / 4
        evidence = updated(evidence, one, cells, answers)
        if evidence.log_e[0] >= threshold:
            # Within the last pass the failing region is at a random place.
            return 2 * regions * (sets - 1) + 2 * int(rng.integers(1, regions + 1))
    return np.inf


def _twins(rng: np.random.Generator) -> tuple[float, ...]:
    shared, own = rng.normal(), rng.normal(size=2)
    noise = np.sqrt(SHARED_VARIANCE) * shared + np.sqrt(1 - SHARED_VARIANCE) * own
    values = np.clip(np.round(3.0 - np.array([1.0, 0.0]) + noise), 1, 5)
    return tuple(values.tolist())


def _fixed_power(searches: int) -> float:
    """Return how often the exact test of the fixed design finds the failing topic."""
    rng = np.random.default_rng(9)
    result = []
    for _ in range(searches):
        answers = np.array([_twins(rng) for _ in range(FIXED_SETS)])
        p_value = sign_flip_p(answers[:, 0] - answers[:, 1])
        result.append(p_value is not None and p_value <= ALPHA / TOPICS)
    return float(np.mean(result))


def confirmations(searches: int) -> Iterator[Bar]:
    """Yield how often fresh twins confirm true findings, and cover their gap."""
    confirmed, covered = [], []
    for seed in range(searches // 4):
        state = simulated(SimulatedTarget(one_topic), seed, 2 * BUDGET)
        for finding in findings_of(state):
            if finding.confirmed is Confirmed.NOT_ASKED or finding.topic != f"t{FAILING}":
                continue
            confirmed.append(finding.confirmed is Confirmed.YES)
            low, high = finding.effect.low, finding.effect.high
            covered.append(low is not None and high is not None and low <= -1.0 <= high)
    yield Bar(
        "true findings confirmed by fresh twins", float(np.mean(confirmed)), 0.9, at_least=True
    )
    limit = 0.95 - 3.5 * np.sqrt(0.05 * 0.95 / len(covered))
    yield Bar(
        "coverage of the confirmation intervals", float(np.mean(covered)), limit, at_least=True
    )


PARTS = {"nulls": nulls, "failures": failures, "confirmations": confirmations}


def main() -> int:
    """Print every bar with its measured value."""
    parser = argparse.ArgumentParser(prog="python -m calibration.search")
    parser.add_argument("--searches", type=int, default=400)
    parser.add_argument("--only", choices=PARTS, help="one part")
    options = parser.parse_args()
    missed = 0
    for part in [options.only] if options.only else PARTS:
        searches = options.searches if part == "nulls" else options.searches // 2
        for bar in PARTS[part](searches):
            sign = ">=" if bar.at_least else "<="
            note = "  MISSED" if bar.missed else ""
            print(f"{bar.name:60} {bar.value:9.3f} {sign} {bar.limit:9.3f}{note}", flush=True)
            missed += bar.missed
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
