"""Values of answers corrected by labels: unbiased by design, however wrong the instrument is.

An instrument reads all N answers, and people label some of them, drawn with known probabilities.
Each answer gets the value m + w (label - m): m is the expectation given the reading, w is 1 over
the probability for an answer that was labelled, and 0 for all others. The mean of these values is
an unbiased estimate of the mean label of all answers, for every m; a good m makes its variance
small. Means, gaps and pairs of corrected values are computed like those of readings.
"""

from dataclasses import dataclass, replace
from math import inf, sqrt

import numpy as np
from numpy.typing import NDArray

from biaswatch.shared.stats.arrays import Indices
from biaswatch.shared.stats.comparisons.compared_samples import Bounds, SamplePart
from biaswatch.shared.stats.samples import Vector, chunks

Bools = np.ndarray[tuple[int], np.dtype[np.bool_]]


@dataclass(frozen=True)
class DrawnLabels:
    """Labels of drawn answers, among [N] answers of strata.

    Answers of one stratum that were not drawn all had the same probability, so that only the
    stratum of each is stored.
    """

    rows: Indices
    """[drawn]: the rows of the drawn answers, ascending."""
    labels: Vector
    """[drawn]; NaN without a label."""
    probabilities: Vector
    """[drawn], in (0, 1]: the probability that the answer would be labelled; NaN where unknown."""
    strata: NDArray[np.integer]
    """[N]: the stratum of each answer, -1 for none."""
    undrawn: Vector
    """[strata + 1]: the probability of an answer of each stratum that was not drawn, the last one
    for those without a stratum; NaN where it could not be drawn."""

    def subset(self, chosen: Bools) -> "DrawnLabels":
        """Return the labels of the chosen answers; `chosen` is [N]."""
        kept = chosen[self.rows]
        places = np.cumsum(chosen, dtype=np.int32)[self.rows[kept]] - 1
        return replace(
            self,
            rows=places.astype(np.intp),
            labels=self.labels[kept],
            probabilities=self.probabilities[kept],
            strata=self.strata[chosen],
        )

    def labelled(self) -> "DrawnLabels":
        """Return the drawn answers that have a label."""
        known = np.isfinite(self.labels)
        return replace(
            self,
            rows=self.rows[known],
            labels=self.labels[known],
            probabilities=self.probabilities[known],
        )

    def possible(self) -> Bools:
        """Return [N]: a mask of answers that could be drawn, with a known probability."""
        mask = np.empty(len(self.strata), dtype=np.bool_)
        could = np.isfinite(self.undrawn)
        for chunk in chunks(len(mask)):
            mask[chunk] = could[self.strata[chunk]]
        mask[self.rows] = np.isfinite(self.probabilities)
        return mask

    def probabilities_of(self, chunk: slice) -> Vector:
        """Return the probabilities of a chunk of all answers."""
        probabilities: Vector = self.undrawn[self.strata[chunk]]
        first, after = np.searchsorted(self.rows, (chunk.start, chunk.stop))
        probabilities[self.rows[first:after] - chunk.start] = self.probabilities[first:after]
        return probabilities


MIN_LABELS = 20
"""Labels of a group that a correction needs."""
_FITTED = 2
"""Parameters fitted to the labels of a group: the weight of a reading, and an offset."""


@dataclass(frozen=True)
class CorrectedValues:
    """The answers of one group, corrected by its labels."""

    values: Vector
    """[N]: one value for each answer that has a reading, in their order; their mean is the group's.
    A single value has no meaning, and may lie far outside the range."""
    tuning: float
    """Weight of a reading, from 0 (labels alone) to 1."""
    labelled: int
    bounds: Bounds
    """The range of corrected values over all possible labels."""
    usual_bounds: Bounds
    """The same for an answer with the mean probability and the group's mean reading."""
    regular: bool
    """True where the residuals of labels are spread enough for Student's t."""


def corrected_values(readings: Vector, drawn: DrawnLabels, bounds: Bounds) -> CorrectedValues:
    """Return one group's corrected values, with power tuning.

    Parameters
    ----------
    readings
        [N], the instrument's readings, finite.
    drawn
        Labels of some of these answers, on the same scale, and the probability of each answer to be
        labelled, in (0, 1].
    bounds
        The range of labels.

    Raises
    ------
    ValueError
        There are fewer labels than `MIN_LABELS`, or a label or a probability cannot be.

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
    tuning = tuned_weight(readings[rows], labels, weights)
    share = weights / weights.sum()
    offset = float(share @ (labels - tuning * readings[rows]))
    values = tuning * readings
    values += offset  # the expectation of each label
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


def tuned_weight(readings: Vector, labels: Vector, weights: Vector) -> float:
    """Return the weight of a reading: the slope of labels on readings, within [0, 1].

    Answers count w (w - 1), like their distance from the line in the variance of the mean; equally
    where every answer was labelled. A flat reading has weight 0.
    """
    counts = weights * (weights - 1)
    counts = counts / counts.sum() if counts.sum() > 0 else np.full(len(weights), 1 / len(weights))
    around = readings - float(counts @ readings)
    spread = float(counts @ (around * around))
    if spread <= 0:
        return 0.0
    return float(np.clip(float(counts @ (around * labels)) / spread, 0.0, 1.0))


def _check(labels: Vector, drawn: DrawnLabels, bounds: Bounds) -> None:
    if len(labels) < MIN_LABELS:
        raise ValueError(f"a group has {len(labels)} labels; a correction needs {MIN_LABELS}")
    if not bounds[0] <= float(labels.min()) <= float(labels.max()) <= bounds[1]:
        raise ValueError(f"a label lies outside the scale from {bounds[0]:g} to {bounds[1]:g}")
    parts = map(drawn.probabilities_of, chunks(len(drawn.strata)))
    if not all(((part > 0) & (part <= 1)).all() for part in parts):
        raise ValueError("a probability of being labelled is not in (0, 1]")


def _ends(expected: Vector, drawn: DrawnLabels, bounds: Bounds) -> Bounds:
    """Return the range of corrected values over all possible labels."""
    low, high = inf, -inf
    for chunk in chunks(len(expected)):
        values, weights = expected[chunk], 1 / drawn.probabilities_of(chunk)
        low = min(low, float((values + weights * (bounds[0] - values)).min()))
        high = max(high, float((values + weights * (bounds[1] - values)).max()))
    return low, high


def _usual_bounds(mean: float, weight: float, bounds: Bounds) -> Bounds:
    return mean + weight * (bounds[0] - mean), mean + weight * (bounds[1] - mean)
