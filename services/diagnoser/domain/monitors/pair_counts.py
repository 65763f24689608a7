"""Histograms of pairs among the counts of a comparison: complete units, and what bounds others."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from services.diagnoser.domain.monitors.round_answers import Counts
from shared.stats.anytime.pairs import BINS, PairHistogram
from shared.stats.anytime.rounding import binned_columns

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
GAPS = "counts"
"""The differences of twins, from -1 to 1."""
MATCHED = "matched"
"""The differences of pairs, from -1 to 1, of methods that keep no histogram of them."""
LEVEL = "level"
"""The means over both groups, from -1 to 1: a model may change and its gap stay."""
INCOMPLETE = ("seen", "lower", "upper")
"""Of units of which answers are missing; rounds without any do not keep these parts."""
ABSENT = "absent"
"""Before there were bounds, how many units counted as the worst case whole."""


@dataclass(frozen=True)
class PairBounds:
    """What a number of pairs can be, in [-1, 1]: a row a pair, a column a comparison."""

    lower: Floats
    upper: Floats
    seen: Floats
    """By the answers that came; NaN where a side has none."""
    complete: Bools
    """Nothing is missing, so that all three are the number."""


def pair_counts(
    name: str, bounds: PairBounds, jitter: Floats, *, with_incomplete: bool
) -> list[Counts]:
    """Return the parts of every column: without incomplete pairs where they are no evidence."""
    complete = bounds.complete
    lower, upper, seen = (
        np.clip(each, -1.0, 1.0) for each in (bounds.lower, bounds.upper, bounds.seen)
    )
    found: list[Counts] = [{name: row} for row in _rows(lower, complete, jitter)]
    if not with_incomplete or complete.all():
        return found
    there = (~complete & np.isfinite(seen), ~complete, ~complete)
    parts = [_rows(*each, jitter) for each in zip((seen, lower, upper), there, strict=True)]
    for column in np.flatnonzero(~complete.all(axis=0)):
        for part, rows in zip(INCOMPLETE, parts, strict=True):
            found[column][f"{name}_{part}"] = rows[column]
    return found


def _rows(values: Floats, there: Bools, jitter: Floats) -> list[tuple[int, ...]]:
    return [tuple(row) for row in binned_columns(values, there, BINS, jitter).tolist()]


def pair_histogram(counts: Counts, name: str) -> PairHistogram | None:
    """Return the state that summed counts are; None where rounds keep no such pairs."""
    complete = counts.get(name)
    if complete is None:
        return None
    state = PairHistogram(complete, *(counts.get(f"{name}_{part}", ()) for part in INCOMPLETE))
    (absent,) = counts.get(ABSENT, (0,))
    return state + PairHistogram.unknown(absent, state.bins) if absent else state
