"""Values of answers as labels correct them: by design unbiased, however wrong the instrument is.

Of N answers an instrument reads all, and people label some, which were drawn with known
probabilities. Each answer gets the value m + w (label - m): m is what the reading lets expect, w is
1 over the probability for an answer that was labelled, and 0 for all others. The mean of these
values is that of the labels that nobody made, up to chance, for every m; a good m makes chance
small. So means, gaps and pairs of corrected values are made as those of readings are.
"""

from dataclasses import dataclass, replace
from math import inf, sqrt

import numpy as np
from numpy.typing import NDArray

from biaswatch.shared.stats.comparisons.compared_samples import Bounds, SamplePart
from biaswatch.shared.stats.samples import Vector, stretches

Bools = np.ndarray[tuple[int], np.dtype[np.bool_]]
Places = NDArray[np.intp]


@dataclass(frozen=True)
class DrawnLabels:
    """What people said of drawn answers, among [N] answers of strata.

    Answers of one stratum that were not drawn were all as probable, so that nothing is kept for
    each of them but its stratum.
    """

    rows: Places
    """[drawn], where the drawn answers stand among all, from the first to the last."""
    labels: Vector
    """[drawn]; NaN for those that nobody labelled."""
    probabilities: Vector
    """[drawn], in (0, 1]: how probable it was that the answer would be labelled; NaN where that is
    not known."""
    strata: NDArray[np.integer]
    """[N]: the stratum of each answer, -1 for none."""
    others: Vector
    """[strata + 1]: the probability of an answer of each stratum that was not drawn, the last one
    for those of no stratum; NaN where it could not be drawn."""

    def among(self, chosen: Bools) -> "DrawnLabels":
        """Return what is known of some of the answers; `chosen` is [N]."""
        there = chosen[self.rows]
        places = np.cumsum(chosen, dtype=np.int32)[self.rows[there]] - 1
        return replace(
            self,
            rows=places.astype(np.intp),
            labels=self.labels[there],
            probabilities=self.probabilities[there],
            strata=self.strata[chosen],
        )

    def labelled(self) -> "DrawnLabels":
        """Return the same without the drawn answers that have no label: for their labels alone."""
        known = np.isfinite(self.labels)
        return replace(
            self,
            rows=self.rows[known],
            labels=self.labels[known],
            probabilities=self.probabilities[known],
        )

    def possible(self) -> Bools:
        """Return [N]: which answers could be drawn, with a known probability."""
        found = np.empty(len(self.strata), dtype=np.bool_)
        could = np.isfinite(self.others)
        for some in stretches(len(found)):
            found[some] = could[self.strata[some]]
        found[self.rows] = np.isfinite(self.probabilities)
        return found

    def probabilities_of(self, some: slice) -> Vector:
        """Return the probabilities of a stretch of all answers."""
        found: Vector = self.others[self.strata[some]]
        first, after = np.searchsorted(self.rows, (some.start, some.stop))
        found[self.rows[first:after] - some.start] = self.probabilities[first:after]
        return found


LEAST_LABELS = 20
"""Of a group: with fewer, how far readings can be relied on is hardly known."""
_FITTED = 2
"""Numbers that are fitted to the labels of a group: the weight of a reading, and an offset."""


@dataclass(frozen=True)
class CorrectedValues:
    """One group's answers, as its labels correct them."""

    values: Vector
    """[N]: one value for each answer that has a reading, in their order; their mean is the group's.
    A single one means nothing, and may lie far outside the range."""
    tuning: float
    """How much a reading counts, from 0 (only labels do) to 1."""
    labelled: int
    bounds: Bounds
    """Within which every corrected value lies, whatever the answers had been labelled."""
    usual_bounds: Bounds
    """The same, for an answer of the usual probability whose reading is the group's mean."""
    regular: bool
    """Whether what labels differ by from their expectation is spread enough for Student's t."""


def corrected_values(readings: Vector, drawn: DrawnLabels, bounds: Bounds) -> CorrectedValues:
    """Return one group's corrected values, with power tuning.

    Parameters
    ----------
    readings
        [N], what the instrument read, finite.
    drawn
        What people said of some of these answers, on the same scale, and how probable it was of
        each answer, in (0, 1], that it would be labelled.
    bounds
        The least and the largest value that a label can be.

    Raises
    ------
    ValueError
        There are fewer labels than `LEAST_LABELS`, or a label or a probability cannot be.

    References
    ----------
    Angelopoulos, Duchi and Zrnic (2023), PPI++: Efficient prediction-powered inference, for power
    tuning: with equal probabilities the mean is theirs, at the tuning that minimises its variance.
    Zrnic and Candes (2024), Active statistical inference, for unequal probabilities (formula 3).
    Särndal, Swensson and Wretman (1992), Model assisted survey sampling, 6.4, for the regression
    estimator, which it is too, and 6.5 for weights in the fit.
    """
    known = drawn.labelled()
    _check(known.labels, drawn, bounds)
    rows, labels, weights = known.rows, known.labels, 1 / known.probabilities
    tuning = tuned(readings[rows], labels, weights)
    share = weights / weights.sum()
    offset = float(share @ (labels - tuning * readings[rows]))
    values = tuning * readings
    values += offset  # what is expected of each answer
    beyond = labels - values[rows]
    mean, ends = float(values.mean()), _ends(values, drawn, bounds)
    # Labels that were fitted lie nearer to the fit than others would; their mean stays 0.
    values[rows] += weights * beyond * sqrt(len(weights) / (len(weights) - _FITTED))
    return CorrectedValues(
        values=values,
        tuning=tuning,
        labelled=len(weights),
        bounds=(min(ends[0], float(values.min())), max(ends[1], float(values.max()))),
        usual_bounds=_usual_bounds(mean, len(readings) / len(weights), bounds),
        regular=SamplePart.of(beyond, (bounds[0] - bounds[1], bounds[1] - bounds[0])).regular,
    )


def tuned(readings: Vector, labels: Vector, weights: Vector) -> float:
    """Return how much a reading should count: the slope of labels on readings, within [0, 1].

    Answers count w (w - 1), as their distance from the line does in the variance of the mean; all
    alike where every answer was labelled. A flat reading says nothing and counts 0.
    """
    counts = weights * (weights - 1)
    counts = counts / counts.sum() if counts.sum() > 0 else np.full(len(weights), 1 / len(weights))
    around = readings - float(counts @ readings)
    spread = float(counts @ (around * around))
    if spread <= 0:
        return 0.0
    return float(np.clip(float(counts @ (around * labels)) / spread, 0.0, 1.0))


def _check(labels: Vector, drawn: DrawnLabels, bounds: Bounds) -> None:
    if len(labels) < LEAST_LABELS:
        raise ValueError(f"a group has {len(labels)} labels; a correction needs {LEAST_LABELS}")
    if not bounds[0] <= float(labels.min()) <= float(labels.max()) <= bounds[1]:
        raise ValueError(f"a label lies outside the scale from {bounds[0]:g} to {bounds[1]:g}")
    every = map(drawn.probabilities_of, stretches(len(drawn.strata)))
    if not all(((each > 0) & (each <= 1)).all() for each in every):
        raise ValueError("a probability of being labelled lies in (0, 1]")


def _ends(expected: Vector, drawn: DrawnLabels, bounds: Bounds) -> Bounds:
    """Return between what values of answers lie, whatever each had been labelled."""
    low, high = inf, -inf
    for some in stretches(len(expected)):
        mine, weights = expected[some], 1 / drawn.probabilities_of(some)
        low = min(low, float((mine + weights * (bounds[0] - mine)).min()))
        high = max(high, float((mine + weights * (bounds[1] - mine)).max()))
    return low, high


def _usual_bounds(mean: float, weight: float, bounds: Bounds) -> Bounds:
    return mean + weight * (bounds[0] - mean), mean + weight * (bounds[1] - mean)
