"""A gap over rounds that people label, valid however often it is looked at: bets on pairs.

Each drawn answer of one group is paired with the drawn answer of the other at the same place of the
queue. Every drawn answer has a block of its own: itself, and an equal share of the answers of its
group that were not drawn. Its corrected value is label less reading plus the mean reading of its
block: its expectation is the mean label of the model's answers to the group. No answer
is in two blocks, so that pairs are independent, and bets on their differences hold for the model,
not only for the answers that it happened to give. The better the instrument, the less they vary,
and the sooner a gap is found.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from biaswatch.shared.stats.anytime.bets import log_mean_exp, log_wealths_beyond, middles
from biaswatch.shared.stats.anytime.pair_histograms import PairHistograms
from biaswatch.shared.stats.anytime.units import DIFFERENCE_BINS, binned_differences, uniforms
from biaswatch.shared.stats.comparisons.compared_samples import Bounds
from biaswatch.shared.stats.estimate import Estimate, check_alpha, undefined
from biaswatch.shared.stats.samples import Vector, chunks

METHOD = "bets on pairs of label less reading, plus mean readings of their blocks"
SPAN = 3.0
"""Widths of the scale that a corrected difference spans: of both labels, and of the means."""
Counts = Sequence[int]


@dataclass(frozen=True)
class LabelledGroup:
    """The answers of one group in one round."""

    readings: Vector
    """[drawn], in the order of the queue."""
    labels: Vector
    """[drawn], NaN without a label."""
    undrawn: Vector
    """[not drawn], the readings of all other answers, in an order independent of their content."""

    def corrected(self, places: int) -> Vector:
        """Return [places]: the corrected values of the first drawn answers."""
        sums, rest = np.zeros(places), 0
        for part in (self.readings[places:], self.undrawn):
            for chunk in chunks(len(part)):
                blocks = (rest + np.arange(chunk.start, chunk.stop)) % places
                np.add.at(sums, blocks, part[chunk])
            rest += len(part)
        counts = rest // places + (np.arange(places) < rest % places)
        means = (self.readings[:places] + sums) / (1 + counts)
        return np.asarray(self.labels[:places] - self.readings[:places] + means)


def pair_counts(
    a: LabelledGroup, b: LabelledGroup, bounds: Bounds, names: Sequence[str]
) -> tuple[int, ...]:
    """Return the labelled pairs of a round, counted by their corrected difference.

    Parameters
    ----------
    a, b
        The answers of both groups.
    bounds
        The ends of the scale of readings and labels.
    names
        [pairs]: a name for each place of the queue, which seeds the rounding of its pair.
    """
    places = min(len(a.labels), len(b.labels))
    if not places:
        return (0,) * DIFFERENCE_BINS
    differences = a.corrected(places) - b.corrected(places)
    known = np.isfinite(differences)
    jitter = uniforms([name for name, labelled in zip(names, known, strict=False) if labelled])
    return binned_differences(differences[known] / _width(bounds), jitter)


def running_gap(counts: Sequence[Counts], bounds: Bounds, alpha: float) -> Estimate:
    """Return the gap over rounds from the sum of their counts, at every look at once.

    The claim is about the model as it answered in these rounds: the mean of their gaps, weighted by
    labelled pairs.

    Parameters
    ----------
    counts
        The counts of each round, from `pair_counts`.
    bounds
        The ends of the scale.
    alpha
        Probability that the interval misses the gap at any look, ever, in (0, 1).

    References
    ----------
    Zrnic and Candes (2024), Active statistical inference, section 4, for bets on label less reading
    plus reading; Waudby-Smith and Ramdas (2024), for the bets; Hoeffding (1963), section 6, for
    draws without replacement.
    """
    check_alpha(alpha)
    total = _summed(counts)
    if not total.any():
        return undefined("no pair of both groups is labelled")
    width, reach = _width(bounds), bounds[1] - bounds[0]
    low, high = PairHistograms.of_counts(total).intervals(np.array([alpha]))[0].tolist()
    value = width * float(total @ middles(DIFFERENCE_BINS) / total.sum())
    return Estimate(value, max(width * low, -reach), min(width * high, reach), METHOD)


def running_log_e(counts: Sequence[Counts], bounds: Bounds, tolerance: float) -> float:
    """Return the log e-value against gaps of at most the tolerance in every one of these rounds.

    Parameters
    ----------
    counts, bounds
        As in `running_gap`.
    tolerance
        In the unit of the scale, at least 0.
    """
    total = _summed(counts)
    if not total.any():
        return 0.0
    share = min(tolerance, bounds[1] - bounds[0]) / _width(bounds)
    return float(log_mean_exp(log_wealths_beyond(total, total, share)))


def _summed(counts: Sequence[Counts]) -> Vector:
    return np.asarray(np.sum([(0,) * DIFFERENCE_BINS, *counts], axis=0), dtype=np.float64)


def _width(bounds: Bounds) -> float:
    return SPAN * (bounds[1] - bounds[0])
