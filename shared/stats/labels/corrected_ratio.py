"""The ratio of two groups' corrected rates: which ratios the curve of their difference allows."""

from dataclasses import replace
from math import exp, inf, isfinite, log

import numpy as np
from scipy import special

from biaswatch.shared.stats.comparisons.compared_samples import ComparedSamples
from biaswatch.shared.stats.comparisons.confidence_curve import score_at
from biaswatch.shared.stats.estimate import IntervalEstimate, check_alpha, undefined
from biaswatch.shared.stats.labels.corrected_gap import CorrectedSide, corrected_curve
from biaswatch.shared.stats.samples import Vector

METHOD = "ratio of corrected rates, by the curve of a - ratio x b"
WIDEST = 1000.0
"""Ratios beyond it, or below its inverse, are not told apart from none and endless."""
_STEPS = 40
"""Halvings of the range of logarithms: to the ninth digit."""


def corrected_ratio(
    samples: ComparedSamples, a: CorrectedSide, b: CorrectedSide, *, alpha: float
) -> IntervalEstimate:
    """Return mean(a) / mean(b) of corrected values, with the interval of Fieller's kind.

    A ratio r is in the interval where the curve of a - r b, made as that of a gap is, does not rule
    0 out at alpha. So it holds where corrected gaps hold, and knows when the rate of b could be 0:
    then there is no upper limit, and no interval.

    Parameters
    ----------
    samples
        Corrected values of both groups by unit, of numbers that are at least 0; pairs by sets.
    a, b
        What is known of both sides' values.
    alpha
        1 minus the coverage, in (0, 1).

    References
    ----------
    Fieller (1954), Some problems in interval estimation; here with the curves of `corrected_gap` in
    place of Student's alone.
    """
    check_alpha(alpha)
    if not samples.testable:
        return undefined("a group has too few units")
    top, below = _mean(samples, first=True), _mean(samples, first=False)
    if below <= 0:
        return undefined("the corrected rate of the second group is not above 0")
    value = max(0.0, top / below)
    reach = -float(special.ndtri(alpha / 2))
    low = _crossing(samples, a, b, -reach)
    high = _crossing(samples, a, b, reach)
    if not isfinite(high):
        return undefined("the rate of the second group could be 0", value=value)
    return IntervalEstimate(value, min(low, value), max(high, value), METHOD)


def _crossing(samples: ComparedSamples, a: CorrectedSide, b: CorrectedSide, score: float) -> float:
    """Return the ratio at which 0 has this score; the surer it is that a - r b < 0, the higher."""
    low, high = -log(WIDEST), log(WIDEST)
    if _score(samples, a, b, exp(low)) >= score:
        return 0.0
    if _score(samples, a, b, exp(high)) <= score:
        return inf
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if _score(samples, a, b, exp(middle)) < score:
            low = middle
        else:
            high = middle
    return exp((low + high) / 2)


def _score(samples: ComparedSamples, a: CorrectedSide, b: CorrectedSide, ratio: float) -> float:
    scaled = replace(
        samples, paired_b=ratio * samples.paired_b, only_b=ratio * samples.only_b, bounds=None
    )
    return float(score_at(corrected_curve(scaled, a, b.times(ratio)), 0.0)[0])


def _mean(samples: ComparedSamples, *, first: bool) -> float:
    """Return a side's mean with the weights that the gap gives to pairs and single units."""
    paired, only = (
        (samples.paired_a, samples.only_a) if first else (samples.paired_b, samples.only_b)
    )
    parts: list[tuple[float, Vector]] = [
        (samples.weight if samples.pairs else 0.0, paired),
        (1 - samples.weight, only),
    ]
    return sum(weight * float(np.sort(values).mean()) for weight, values in parts if weight)
