"""Statistics of a cell against its baseline: divergence, correlation, precision; and the mode."""

from dataclasses import dataclass

import numpy as np
from scipy.special import rel_entr

from biaswatch.shared.stats.arrays import Bools, Floats, Indices
from biaswatch.shared.stats.groups.cells import Cells, Column, Reason, with_reasons

SMOOTHING = 0.5
"""Added to each bin's count: Jeffreys' prior; without it one empty bin makes KL infinite."""
MODE_WIDTH = 0.1
"""Default width of a bin, as in SAGED's recorded numbers."""


def bin_of(values: Floats, low: Floats, step: Floats) -> Floats:
    """Return the index of each value's bin, nan for nan; bin i holds low + i step <= x.

    The rounding of a quotient can move a value on an edge by one bin, so it is compared with the
    edges themselves.
    """
    index = np.floor((values - low) / step)
    index -= values < low + index * step
    index += values >= low + (index + 1) * step
    return index


def binned_mode(cells: Cells, width: float) -> Floats:
    """Return the middle of the fullest bin of each cell; the lowest where several are as full.

    Bins begin at the cell's smallest value, as numpy.arange(low, high + width, width) would lay
    them, and are closed on the left. Nan without values.
    """
    if not cells.values.shape[1]:
        return np.full(len(cells.values), np.nan)
    low = cells.low[:, None]
    step = (low + width) - low
    step = np.where(step > 0, step, width)
    index = bin_of(cells.ordered, low, step)
    places = np.arange(index.shape[1])
    begins = np.zeros(index.shape, dtype=np.intp)
    begins[:, 1:] = np.where(index[:, 1:] == index[:, :-1], 0, places[1:])
    run = places - np.maximum.accumulate(begins, axis=1)
    fullest = np.argmax(np.where(np.isnan(index), -1, run), axis=1)[:, None]
    modal = np.take_along_axis(index, fullest, axis=1)
    return np.asarray((low + modal * step + width / 2)[:, 0])


def smoothed(counts: Floats) -> Floats:
    """Return shares from counts along the last axis, each bin's count raised by one half."""
    raised = counts + SMOOTHING
    return np.asarray(raised / raised.sum(axis=-1, keepdims=True))


def kl_divergence(p: Floats, q: Floats) -> Floats:
    """Return the Kullback-Leibler divergence of p from q along the last axis, in nats.

    p and q are shares that sum to 1; infinite where q has an empty bin that p has not.

    References
    ----------
    Kullback and Leibler (1951), On information and sufficiency: sum of p log(p / q).
    """
    return np.asarray(rel_entr(p, q).sum(axis=-1))


def js_divergence(p: Floats, q: Floats) -> Floats:
    """Return the Jensen-Shannon divergence along the last axis, in nats, in [0, log 2].

    Its root, over log 2, is the Jensen-Shannon distance of base 2.

    References
    ----------
    Lin (1991), Divergence measures based on the Shannon entropy.
    """
    middle = (p + q) / 2
    return (kl_divergence(p, middle) + kl_divergence(q, middle)) / 2


@dataclass(frozen=True)
class Mode:
    """The middle of the fullest bin, in the feature's unit."""

    name: str = "mode"
    width: float = MODE_WIDTH
    """Width of a bin, above 0, in the feature's unit."""

    def __post_init__(self) -> None:
        if not 0 < self.width < np.inf:
            raise ValueError(f"the bins of a mode have a width above 0, not {self.width}")

    def __call__(self, cells: Cells) -> Column:
        """Undefined without values."""
        mode = binned_mode(cells, self.width)
        return with_reasons(mode, first_of=[(cells.count == 0, Reason.NO_VALUES)])


@dataclass(frozen=True)
class Divergence:
    """How far the cell's distribution lies from its baseline's, in nats.

    Both are counted in the same bins of equal width, from the smallest to the largest value of
    the two together, and smoothed. The samples need not be paired; each drops its own missing
    values.
    """

    name: str
    baseline: str
    bins: int
    symmetric: bool = False
    """Jensen-Shannon instead of Kullback-Leibler."""

    def __post_init__(self) -> None:
        if self.bins < 2:
            raise ValueError(f"{self.name!r} needs at least 2 bins")

    def __call__(self, cells: Cells) -> Column:
        """Undefined without values, without a baseline or without values of it."""
        other = cells.against(self.baseline)
        if other is None:
            missing = np.full(len(cells.values), np.nan)
            return with_reasons(missing, first_of=[(np.isnan(missing), Reason.NO_BASELINE)])
        low, high = np.fmin(cells.low, other.low), np.fmax(cells.high, other.high)
        bounded = np.isfinite(high - low)
        step = (high - low) / self.bins
        step = np.where(bounded & (step > 0), step, 1.0)
        p, q = (smoothed(_counts(c, low, step, self.bins)) for c in (cells, other))
        diverge = js_divergence if self.symmetric else kl_divergence
        first_of = [
            (cells.count == 0, Reason.NO_VALUES),
            (other.count == 0, Reason.NO_BASELINE_VALUES),
            (~bounded, Reason.NOT_FINITE),
        ]
        return with_reasons(np.maximum(diverge(p, q), 0.0), first_of=first_of)


def _counts(cells: Cells, low: Floats, step: Floats, bins: int) -> Floats:
    """Return [cells, bins]; the last bin is closed on both sides."""
    index = np.minimum(bin_of(cells.values, low[:, None], step[:, None]), bins - 1)
    if not cells.complete:
        index = np.where(cells.present, index, bins)
    flat: Indices = index.astype(np.intp)
    flat += np.arange(len(index))[:, None] * (bins + 1)
    counts = np.bincount(flat.ravel(), minlength=len(index) * (bins + 1))
    return counts.reshape(-1, bins + 1)[:, :bins].astype(np.float64)


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
    """In the feature's unit, 0 or more; a distance equal to it is within."""

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
    everywhere: Bools = np.ones(len(cells.values), dtype=bool)
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
    from scipy.stats import rankdata  # slow to load

    if cells.complete:
        return Cells(rankdata(cells.values, axis=1))
    ranks = rankdata(np.where(cells.present, cells.values, np.inf), axis=1)
    return Cells(np.where(cells.present, ranks, np.nan))


def _kendall(x: Cells, y: Cells) -> Floats:
    """Return tau-b cell by cell: scipy has no vectorised one, and its own is n log n."""
    from scipy import stats  # slow to load

    taus = np.full(len(x.values), np.nan)
    for cell in np.flatnonzero((x.count > 1) & ~x.flat & ~y.flat):
        kept = x.present[cell]
        a, b = x.values[cell, kept], y.values[cell, kept]
        # Only the statistic is used: the cheap p-value, which fails for two pairs.
        method = "asymptotic" if len(a) > 2 else "exact"
        taus[cell] = stats.kendalltau(a, b, method=method).statistic
    return taus
