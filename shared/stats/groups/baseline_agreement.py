"""How far a cell agrees with its baseline, row by row: correlation and precision."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from biaswatch.shared.stats.groups.cells import Cells
from biaswatch.shared.stats.groups.reasons import Column, Floats, Reason, with_reasons

METHODS = ("pearson", "spearman", "kendall")


@dataclass(frozen=True)
class Correlation:
    """The correlation with the baseline over the rows that have both, in [-1, 1].

    References
    ----------
    Pearson (1895); Spearman (1904), Pearson's on midranks; Kendall (1945), tau-b for ties.
    """

    name: str
    baseline: str
    method: str

    def __call__(self, cells: Cells) -> Column:
        """Undefined for fewer than two pairs, and where either side is constant."""
        cells.against(self.baseline)
        if cells.pairs is None:
            return _without_baseline(cells)
        x, y = cells.pairs
        measure = {"pearson": _pearson, "spearman": _spearman, "kendall": _kendall}[self.method]
        first_of = [
            (cells.count == 0, Reason.NO_VALUES),
            (x.count == 0, Reason.NO_PAIRS),
            (x.count == 1, Reason.ONE_PAIR),
            (x.flat, Reason.CONSTANT),
            (y.flat, Reason.CONSTANT_BASELINE),
        ]
        return with_reasons(measure(x, y), first_of=first_of)


@dataclass(frozen=True)
class Precision:
    """The share of rows whose value lies within a tolerance of the baseline's, in [0, 1]."""

    name: str
    baseline: str
    tolerance: float
    """In the feature's unit, 0 or more; a distance of just so much is within."""

    def __call__(self, cells: Cells) -> Column:
        """Undefined where no row has both; a row that lacks one is not counted at all."""
        cells.against(self.baseline)
        if cells.pairs is None:
            return _without_baseline(cells)
        x, y = cells.pairs
        within = np.count_nonzero(np.abs(x.values - y.values) <= self.tolerance, axis=1)
        first_of = [(cells.count == 0, Reason.NO_VALUES), (x.count == 0, Reason.NO_PAIRS)]
        return with_reasons(within / np.maximum(x.count, 1), first_of=first_of)


def _without_baseline(cells: Cells) -> Column:
    everywhere: NDArray[np.bool_] = np.ones(len(cells.values), dtype=bool)
    return with_reasons(
        np.full(len(cells.values), np.nan), first_of=[(everywhere, Reason.NO_BASELINE)]
    )


def _pearson(x: Cells, y: Cells) -> Floats:
    products = (x.centred * y.centred).sum(axis=1)
    scale = np.sqrt(x.square_sum) * np.sqrt(y.square_sum)
    # Held to [-1, 1] because only rounding can leave it.
    return np.asarray(np.clip(products / np.where(scale > 0, scale, np.nan), -1.0, 1.0))


def _spearman(x: Cells, y: Cells) -> Floats:
    return _pearson(_ranks(x), _ranks(y))


def _ranks(cells: Cells) -> Cells:
    """Return midranks; what is missing is ranked last, which moves no other, and stays missing."""
    if cells.complete:
        return Cells(stats.rankdata(cells.values, axis=1))
    ranks = stats.rankdata(np.where(cells.present, cells.values, np.inf), axis=1)
    return Cells(np.where(cells.present, ranks, np.nan))


def _kendall(x: Cells, y: Cells) -> Floats:
    """Return tau-b cell by cell: scipy has no vectorised one, and its own is n log n."""
    found = np.full(len(x.values), np.nan)
    for cell in np.flatnonzero((x.count > 1) & ~x.flat & ~y.flat):
        kept = x.present[cell]
        a, b = x.values[cell, kept], y.values[cell, kept]
        # The method is that of a p-value nobody reads: the cheap one, which fails for two pairs.
        method = "asymptotic" if len(a) > 2 else "exact"
        found[cell] = stats.kendalltau(a, b, method=method).statistic
    return found
