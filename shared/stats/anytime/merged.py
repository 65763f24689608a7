"""Merged evidence of a family: one verdict for anything, anywhere, and what stands out."""

from dataclasses import dataclass
from math import log

import numpy as np

from biaswatch.shared.stats.anytime.bets import log_mean_exp
from biaswatch.shared.stats.arrays import Bools, Floats
from biaswatch.shared.stats.estimate import check_alpha

AVERAGE_SHARE, OWN_SHARE, COMMON_SHARE = 1 / 2, 1 / 4, 1 / 4
"""Shares of the capital: the average of e-values, and bets on the whole vector of a set with each
comparison's own direction and with one direction for all."""
SHRINKAGE = (0.1, 0.3, 1.0)
"""Multiples of the bets on own directions."""
COMMON_STAKES = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
"""Bets on a common direction, upwards and downwards; of each comparison's difference."""
OWN_BETS, COMMON_BETS = len(SHRINKAGE), 2 * len(COMMON_STAKES)
PRIOR_SETS = 4.0
"""Sets without difference, whose spread is a quarter of the range, that own directions begin
with."""
PRIOR_VARIANCE = 1 / 16


@dataclass(frozen=True)
class PastDifferences:
    """The differences of earlier sets: counts, sums and sums of squares, [comparisons] each."""

    sets: Floats
    sums: Floats
    squares: Floats

    @property
    def own_bets(self) -> Floats:
        """Return [comparisons]: mean over mean square, shrunk to 0 while there are few sets."""
        spread = (self.squares + PRIOR_SETS * PRIOR_VARIANCE) / (self.sets + PRIOR_SETS)
        return np.asarray(self.sums / (self.sets + PRIOR_SETS) / spread, dtype=np.float64)


def vector_bets(past: PastDifferences) -> tuple[Floats, Floats]:
    """Return the bets on the differences of a set: of own directions, then of a common one.

    Both depend on earlier sets alone.

    Returns
    -------
    tuple
        [own bets, comparisons] and [common bets, comparisons]
    """
    own = np.multiply.outer(SHRINKAGE, past.own_bets)
    stakes = np.concatenate([COMMON_STAKES, np.negative(COMMON_STAKES)])
    return own, np.repeat(stakes[:, None], len(past.sets), axis=1)


def merged_log_e(log_es: Floats, own: Floats, common: Floats) -> float:
    """Return the log e-value that in no comparison of a family anything differs.

    Half of the capital lies on the average of the comparisons' e-values, which a single large gap
    raises; a quarter each on bets on the whole vector of each set, which many small gaps raise.
    The merge is valid under any dependence between comparisons and between the three parts.

    Parameters
    ----------
    log_es
        [comparisons]: log e-values of the comparisons; at least one.
    own, common
        [bets]: log wealth of the bets on vectors; empty where sets have none.

    References
    ----------
    Vovk and Wang (2021), E-values: calibration, combination and applications.

    Examples
    --------
    >>> round(merged_log_e(np.zeros(28), np.zeros(3), np.zeros(12)), 9)
    0.0
    """
    parts = [(AVERAGE_SHARE, log_es), (OWN_SHARE, own), (COMMON_SHARE, common)]
    terms = [log(share) + (log_mean_exp(logs) if len(logs) else 0.0) for share, logs in parts]
    return float(np.logaddexp.reduce(np.array(terms, dtype=np.float64)))


def stands_out(log_es: Floats, merged: float, alpha: float) -> Bools:
    """Return which comparisons stand out: closed testing on averages of e-values.

    A comparison stands out if every set of comparisons that contains it is rejected: the whole
    family by the merged evidence, smaller ones by the average of their e-values, and the
    comparison by itself. The chance of any false one is at most alpha.

    Parameters
    ----------
    log_es
        [comparisons]
    merged
        The merged log e-value of the whole family.
    alpha
        In (0, 1).

    References
    ----------
    Marcus, Peritz and Gabriel (1976); Vovk and Wang (2021), sections 3 and 4.

    Examples
    --------
    >>> stands_out(np.array([6.0, 0.0]), 5.0, 0.05)
    array([ True, False])
    """
    check_alpha(alpha)
    if merged < -log(alpha):
        return np.zeros(len(log_es), dtype=np.bool_)
    es = np.exp(np.minimum(log_es, 700.0))
    order = np.argsort(es)
    ranks = np.empty(len(es), dtype=np.int64)
    ranks[order] = np.arange(len(es))
    sums = np.concatenate([[0.0], np.cumsum(es[order])])
    return np.array([_rejected(es[i], ranks[i], es[order], sums, alpha) for i in range(len(es))])


def _rejected(own: float, rank: int, ordered: Floats, sums: Floats, alpha: float) -> bool:
    """Return whether the comparison with any smaller ones has an average of 1 / alpha."""
    family = len(ordered)
    others = np.arange(family - 1 if family > 1 else 1)  # the whole family is rejected already
    smallest = np.where(others <= rank, sums[others], sums[np.minimum(others + 1, family)] - own)
    return bool(((own + smallest) / (others + 1) >= 1 / alpha).all())
