"""A gap over rounds that people label, valid however often it is looked at: bets on pairs.

Each drawn answer of one group is paired with the drawn answer of the other that stands at the same
place of the queue. A pair's corrected difference is label less reading of the one, less that of the
other, plus the difference of the mean readings of both groups: on average over the draw it is the
gap that labels of all answers of the round would have. Bets are made on these differences, so the
better the instrument, the less they vary, and the sooner a gap is found.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shared.stats.anytime.pairs import PairHistogram
from shared.stats.anytime.rounding import uniforms
from shared.stats.comparisons.compared_samples import Bounds
from shared.stats.estimate import IntervalEstimate, check_alpha, undefined
from shared.stats.samples import Vector

METHOD = "bets on pairs of label less reading, plus mean readings"
SPAN = 3.0
"""Widths of the scale that a corrected difference spans: of both labels, and of the means."""
BINS = 129


@dataclass(frozen=True)
class LabelledGroup:
    """The drawn answers of one group in one round, in the order of the queue."""

    mean_reading: float
    """Of all answers of the group in this round that were drawn from."""
    readings: Vector
    """[drawn]"""
    labels: Vector
    """[drawn], NaN where nobody has labelled it yet."""


def pair_counts(
    a: LabelledGroup, b: LabelledGroup, bounds: Bounds, names: Sequence[str]
) -> tuple[int, ...]:
    """Return the pairs of a round that are labelled, counted by their corrected difference.

    Parameters
    ----------
    bounds
        The ends of the scale; readings and labels lie within.
    names
        [pairs]: a name for each place of the queue, which decides how its pair is rounded.
    """
    n = min(len(a.labels), len(b.labels))
    off = (a.labels[:n] - a.readings[:n]) - (b.labels[:n] - b.readings[:n])
    known = np.isfinite(off)
    width = SPAN * (bounds[1] - bounds[0])
    found = (a.mean_reading - b.mean_reading + off[known]) / width
    luck = uniforms([name for name, there in zip(names, known, strict=False) if there])
    return PairHistogram.of(found, luck, bins=BINS).counts


def running_gap(counts: Sequence[Sequence[int]], bounds: Bounds, alpha: float) -> IntervalEstimate:
    """Return the gap over rounds from the sum of their counts, at every look at once.

    The claim is about the answers of these rounds: the mean of their gaps, weighed by labelled
    pairs. Draws within a round are without replacement, which makes bets vary less than the bound
    allows for.

    Parameters
    ----------
    counts
        Of each round, as `pair_counts` returns them.
    alpha
        The chance that the interval misses the gap at any look, ever, in (0, 1).

    References
    ----------
    Zrnic and Candes (2024), Active statistical inference, section 4, for bets on label less reading
    plus reading; Waudby-Smith and Ramdas (2024), for the bets; Hoeffding (1963), section 6, for
    draws without replacement.
    """
    check_alpha(alpha)
    summed = PairHistogram(tuple(int(each) for each in np.sum([*counts], axis=0)))
    if not summed.units:
        return undefined("no pair of both groups is labelled")
    width = SPAN * (bounds[1] - bounds[0])
    low, high = summed.interval(alpha)
    value = width * (summed.estimate or 0.0)
    reach = bounds[1] - bounds[0]
    return IntervalEstimate(value, max(width * low, -reach), min(width * high, reach), METHOD)
