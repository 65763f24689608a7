"""Rates of flags corrected by labels of people on a random sample of the study's own texts."""

from dataclasses import replace
from math import sqrt

import numpy as np
from numpy.typing import NDArray
from scipy import special

from biaswatch.shared.stats.estimate import Estimate
from biaswatch.shared.stats.labels.corrected_gap import CorrectedSide, corrected_mean
from biaswatch.shared.stats.labels.corrected_values import DrawnLabels, corrected_values
from biaswatch.shared.stats.samples import Vector

ENDS = (0.0, 1.0)


def labelled_rate(
    readings: Vector, drawn: DrawnLabels, clusters: NDArray[np.integer], alpha: float
) -> Estimate:
    """Return the true rate behind a judge's flags, however often the judge errs.

    The estimate and its interval are those of prediction-powered inference for independent texts.
    Where flags cluster in templates, the interval is widened by the square root of the design
    effect of the templates, and by Student's t over templates.

    Parameters
    ----------
    readings
        [texts]: 1 for a flag of the judge, 0 for none.
    drawn
        The labels of a random sample of these texts, 1 for a true flag, at least 20.
    clusters
        [texts]: the template of each text, as codes from 0; below 0 where texts are independent.
    alpha
        1 minus the coverage, in (0, 1).

    References
    ----------
    Angelopoulos, Duchi and Zrnic (2023), PPI++: Efficient prediction-powered inference; Kish
    (1965), Survey sampling, 5.4, for the design effect.

    Examples
    --------
    >>> flags = np.tile([1.0, 0.0, 0.0, 0.0], 25)
    >>> all_labelled = DrawnLabels(np.arange(100), flags, np.ones(100), np.zeros(100, int), flags)
    >>> rate = labelled_rate(flags, all_labelled, np.full(100, -1), 0.05)
    >>> rate.value
    0.25
    """
    corrected = corrected_values(readings, drawn, ENDS)
    rate = corrected_mean(corrected.values, CorrectedSide.of(corrected), ENDS, alpha)
    if rate.value is None or rate.low is None or rate.high is None or clusters.min() < 0:
        return rate
    factor = _widening(corrected.values, clusters, alpha)
    low, high = rate.value - factor * (rate.value - rate.low), (rate.high - rate.value) * factor
    return replace(rate, low=max(low, 0.0), high=min(rate.value + high, 1.0))


def _widening(values: Vector, clusters: NDArray[np.integer], alpha: float) -> float:
    """Return the ratio of widths of intervals with clusters and without, at least 1."""
    around = values - values.mean()
    sums = np.bincount(clusters, around)
    count, variance = len(sums), float(np.square(around).sum())
    if count < 2 or not variance:
        return 1.0
    effect = float(np.square(sums).sum()) / variance * count / (count - 1)
    student = special.stdtrit(count - 1, 1 - alpha / 2) / special.ndtri(1 - alpha / 2)
    return sqrt(max(1.0, effect)) * float(student)
