"""The evidence of a large deployment, evaluated again: 18,480 bets and as many odds ratios.

From the stored states (whole numbers) to log e-values, on one core. Naive is one state after
another by its own method, on a tenth of them, times ten. Intervals are
computed when shown, and their time is printed for one.
"""

import sys
import time
from collections.abc import Callable

import numpy as np

from biaswatch.shared.stats.anytime.bets import log_es, log_es_beyond
from biaswatch.shared.stats.anytime.odds import Batch, CommonOdds
from biaswatch.shared.stats.anytime.odds import log_es as log_es_of_odds
from biaswatch.shared.stats.anytime.pairs import PairHistogram

COMPARISONS = 18_480
UNITS, BATCHES = 300, 30
TENTH = 10
ROUNDS = 5
BAR_S = 1.0
TOLERANCE = 0.02


def bounded() -> list[PairHistogram]:
    """Make states of bounded pairs."""
    rng = np.random.default_rng(1)
    return [
        PairHistogram.of(rng.uniform(-1, 1, UNITS), rng.random(UNITS)) for _ in range(COMPARISONS)
    ]


def odds() -> list[CommonOdds]:
    """Make states of odds ratios over batches of ten and ten."""
    rng = np.random.default_rng(2)
    one = [
        [Batch(int(a), 10, int(b), 10) for a, b in rng.binomial(10, 0.3, (BATCHES, 2))]
        for _ in range(COMPARISONS // TENTH)
    ]
    return [CommonOdds.of(batches) for batches in one] * TENTH


def all_bets(states: list[PairHistogram]) -> None:
    """Evaluate fixed bets against no gap and against the tolerance."""
    counts = np.array([state.counts for state in states], dtype=np.float64)
    log_es(counts, counts)
    log_es_beyond(counts, counts, TOLERANCE)


def all_odds(states: list[CommonOdds]) -> None:
    """Evaluate odds ratios against 1."""
    selected = np.array([state.selected for state in states], dtype=np.float64)
    log_es_of_odds(selected, np.array([state.normalisers for state in states], dtype=np.float64))


def seconds(work: Callable[[], object], rounds: int = ROUNDS) -> float:
    """Return the shortest of some rounds, which other work on the machine disturbed least."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> int:
    """Measure and print; 1 where the bar is missed."""
    pairs, ratios = bounded(), odds()
    bets, batches = seconds(lambda: all_bets(pairs)), seconds(lambda: all_odds(ratios))
    some = COMPARISONS // TENTH
    naive_bets = TENTH * seconds(
        lambda: [(one.log_e(), one.log_e_beyond(TOLERANCE)) for one in pairs[:some]], 1
    )
    naive_odds = TENTH * seconds(lambda: [one.log_e() for one in ratios[:some]], 1)
    interval, bounds = (
        seconds(lambda: pairs[0].interval(0.05)),
        seconds(lambda: ratios[0].interval(0.05)),
    )
    print(f"{COMPARISONS:,} comparisons, from stored states to log e-values, {ROUNDS} rounds:")
    print(f"  fixed bets, two nulls {bets:8.3f} s   {naive_bets / bets:6.1f} times that one by one")
    print(
        f"  odds ratios           {batches:8.3f} s   {naive_odds / batches:6.1f} times one by one"
    )
    print(f"  together              {bets + batches:8.3f} s   (bar: {BAR_S} s)")
    print(
        f"  one interval: {interval * 1000:.1f} ms of bets, {bounds * 1000:.1f} ms of odds ratios"
    )
    return 0 if bets + batches <= BAR_S else 1


if __name__ == "__main__":
    sys.exit(main())
