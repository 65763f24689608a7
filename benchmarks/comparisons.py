"""CPU time of `bw.diagnose`, as multiples of three Wilcoxon tests of the same twins.

On an idle machine three tests take 0.85 ms: a multiple of 6 is 5 ms, one of 1,200 is a second.
"""

import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import wilcoxon

import biaswatch as bw
from benchmarks.measuring import fastest_s

SETS, FEATURES, NAMES = 100, 1000, 10
ROUNDS, FEW_ROUNDS = 50, 2
ONE_BAR, MANY_BAR = 6.0, 1200.0
RANGE = (1.0, 5.0)


def twins(sets: int, features: int) -> pd.DataFrame:
    """Make ratings of twins, one row for each answer."""
    ratings = np.random.default_rng(0).normal(3, 1, (2 * sets, features)).round().clip(*RANGE)
    frame = pd.DataFrame(ratings, columns=[f"rating-{n}" for n in range(features)])
    frame["group"] = np.tile(["a", "b"], sets)
    frame["set"] = np.repeat([f"set-{n}" for n in range(sets)], 2)
    frame["unit"] = frame["set"] + frame["group"]
    frame["name"] = frame["group"] + np.repeat([str(n % NAMES) for n in range(sets)], 2)
    return frame


def cases() -> Iterator[tuple[str, Callable[[], object], int, float]]:
    """Yield a name, what is measured, how often, and the largest multiple."""
    one, many = twins(SETS, 1), twins(SETS // 2, FEATURES)
    declared = {"group": "group", "unit": "unit", "set": "set"}
    kinds: dict[str, dict[str, Any]] = {
        "one comparison of twins": declared,
        "one comparison, names are random": {**declared, "random": ["name"]},
        "one comparison without twins": {"group": "group"},
    }
    for name, columns in kinds.items():
        yield name, partial(compared, one, columns), ROUNDS, ONE_BAR
    yield (
        f"{FEATURES:,} comparisons of twins",
        partial(compared, many, declared),
        FEW_ROUNDS,
        MANY_BAR,
    )


def compared(frame: pd.DataFrame, columns: dict[str, Any]) -> pd.DataFrame:
    """Return the comparisons of a table."""
    features = [str(name) for name in frame if str(name).startswith("rating")]
    ranges = dict.fromkeys(features, RANGE)
    comparisons: pd.DataFrame = bw.diagnose(
        frame, feature=features, ranges=ranges, **columns
    ).comparisons
    return comparisons


def main() -> int:
    """Measure and print; 1 where a bar is missed."""
    frame, missed = twins(SETS, 1), 0
    sides = [frame.loc[frame["group"] == group, "rating-0"].to_numpy() for group in "ab"]
    unit_s = fastest_s(lambda: [wilcoxon(*sides) for _ in range(3)], ROUNDS)
    print(f"three Wilcoxon tests {1000 * unit_s:.2f} ms")
    for name, measured, rounds, bar in cases():
        seconds = fastest_s(measured, rounds)
        missed += seconds > bar * unit_s
        print(f"  {name:34}{1000 * seconds:9.2f} ms, {seconds / unit_s:8.1f} times (bar {bar:,g})")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
