"""Agreement of judges on yes and no, corrected for chance, with its interval over templates."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from biaswatch.shared.stats.arrays import Floats
from biaswatch.shared.stats.estimate import Estimate, undefined
from biaswatch.shared.stats.studies.clusters import jackknife_t

MIN_VOTES = 2


def binary_agreement(
    votes: Sequence[tuple[int, int]], clusters: Sequence[str], alpha: float, *, unit: str
) -> Estimate:
    """Return Krippendorff's alpha of votes for one of two replies.

    Parameters
    ----------
    votes
        (votes for, votes) of each question; questions with fewer than two votes are left out.
    clusters
        The template of each question, or the question itself.
    alpha
        1 minus the coverage, in (0, 1).
    unit
        What the clusters are, in the plural.

    Returns
    -------
    Estimate
        1 is perfect, 0 is chance; undefined where all votes are equal.

    References
    ----------
    Krippendorff (2011), Computing Krippendorff's alpha-reliability; Tukey (1958) for the interval.

    Examples
    --------
    >>> votes = [(2, 2), (0, 2), (1, 2), (2, 2), (0, 2), (0, 2)]
    >>> round(binary_agreement(votes, list("abcdef"), 0.05, unit="pairs").value, 3)
    0.686
    """
    sums = defaultdict[str, Floats](lambda: np.zeros(3))
    for (yes, count), cluster in zip(votes, clusters, strict=True):
        if count >= MIN_VOTES:
            sums[cluster] += (yes * (count - yes) / (count - 1), yes, count)
    table = np.array(list(sums.values())).reshape(-1, 3)
    if not len(table):
        return undefined("no question has two votes")
    if table[:, 1].sum() in (0, table[:, 2].sum()):
        return undefined("all votes are equal, so that chance could give nothing else")
    estimate = jackknife_t(table, _alpha, alpha, clusters=unit)
    return estimate if estimate.high is None else replace(estimate, high=min(1.0, estimate.high))


def _alpha(sums: Floats) -> Floats:
    """Return 1 - observed / expected disagreement of sums of disagreements, yes and votes."""
    disagreements, yes, count = sums.T
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = yes * (count - yes) / (count - 1)
        return np.asarray(1 - disagreements / expected)
