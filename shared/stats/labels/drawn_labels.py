"""Labels of the few answers that were drawn among many, and how probable each label was."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

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
