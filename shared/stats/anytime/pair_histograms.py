"""Fixed bets on the differences of many comparisons at once: histograms, a row each."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from biaswatch.shared.stats.anytime.bets import (
    STAKES,
    Bools,
    Floats,
    both_ways,
    log_mean_exp,
    log_wealths_at,
    log_wealths_beyond,
    middles,
)
from biaswatch.shared.stats.anytime.inversion import invert_rows

TABLE_STEP = 0.02
"""Step of the table, in the artanh of a bet; its cubics are within 1e-9 a unit of the function."""
MAX_TABLE_ERROR = 1e-8
"""Error of a unit's log factor, which is subtracted from the evidence."""


class LogGrowth:
    """Wealth of bets on histograms of differences, a row each, each against its own nulls.

    A bet b against the null d has the factor 1 + b (g - d) = A (1 + (b / A) g), with A = 1 - b d.
    So a histogram is summarised by one function of x in (-1, 1), the sum of log(1 + x g) over its
    units: tabulated with its slopes, and interpolated by cubics.

    Parameters
    ----------
    lower, upper
        Counts per bin of the lower and upper bounds of gaps, shape (rows, bins): bets on a gap
        above a null take the former.
    """

    def __init__(self, lower: Floats, upper: Floats, stakes: tuple[float, ...] = STAKES) -> None:
        values, slopes = (
            # A row for bets downwards and one for bets upwards, each outwards from 0.
            np.stack([upper @ table[0], lower @ table[1]], axis=1)
            for table in _tables(lower.shape[1], max(stakes))
        )
        self._cubics, self._cells = _cubics(values, slopes * TABLE_STEP), values.shape[2] - 1
        self._units, self._stakes = lower.sum(axis=1), stakes

    def log_es(self, nulls: Floats) -> Floats:
        """Return the log e-value of each row against its null, never above the exact one."""
        bets = both_ways(self._stakes) / (1 + np.abs(nulls))[:, None]
        rest = 1 - bets * nulls[:, None]
        wealths = self._units[:, None] * np.log(rest) + self._sums(bets / rest)
        return np.asarray(log_mean_exp(wealths) - MAX_TABLE_ERROR * self._units, dtype=np.float64)

    def _sums(self, bets: Floats) -> Floats:
        """Return the sum of log(1 + bet g) over the units of a row, for each of its bets."""
        steps = np.abs(np.arctanh(bets)) / TABLE_STEP
        cells = steps.astype(np.int64)
        rows = 2 * np.arange(len(bets))[:, None] + (bets > 0)
        constant, linear, squared, cubed = np.moveaxis(
            self._cubics.take(rows * self._cells + cells, axis=0), -1, 0
        )
        part = steps - cells
        return np.asarray(constant + part * (linear + part * (squared + part * cubed)))


def _cubics(values: Floats, slopes: Floats) -> Floats:
    """Return [tables * cells, 4]: coefficients of the cubics between points, constants first.

    Slopes are per cell. The coefficients of one bet are adjacent in memory.
    """
    near, far = values[..., :-1], values[..., 1:]
    start_slopes, end_slopes, rise = slopes[..., :-1], slopes[..., 1:], far - near
    coefficients = [
        near,
        start_slopes,
        3 * rise - 2 * start_slopes - end_slopes,
        start_slopes + end_slopes - 2 * rise,
    ]
    return np.asarray(np.stack(coefficients, axis=-1).reshape(-1, 4), dtype=np.float64)


@lru_cache(maxsize=16)
def _tables(bins: int, largest: float) -> tuple[Floats, Floats]:
    """Return log(1 + x g) of every bin, and its slope in artanh |x|, for x downwards and upwards.

    The shape of each is (2, bins, points); points go from x = 0 to beyond the largest bet.
    """
    points = np.arange(int(np.ceil(np.arctanh(largest) / TABLE_STEP)) + 2) * TABLE_STEP
    signs = np.array([-1.0, 1.0])[:, None, None]
    bets, gaps = signs * np.tanh(points), middles(bins)[:, None]
    return np.log1p(bets * gaps), signs * gaps * (1 - bets**2) / (1 + bets * gaps)


STEPS_PER_SE = 7.5
"""Nulls per standard error that are tried for an interval."""
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class PairHistograms:
    """Differences of pairs in [-1, 1], counted: a row for each comparison, a column for each bin.

    A row is a `PairHistogram`: units with missing answers have a difference between two bounds,
    and each bet takes the less favourable one.
    """

    lower: Floats
    """Counts of all units, by the lower bound of their difference."""
    upper: Floats
    """Counts of the same units, by the upper bound."""
    known: Floats
    """Counts of the units with an answer on both sides, by the observed difference."""
    users: Floats | None = None
    """[rows]: the number of units, where a difference is of several."""

    @classmethod
    def stacked(cls, tables: Iterable["PairHistograms"]) -> "PairHistograms":
        """Return the rows of all tables, in their order."""
        parts = [(table.lower, table.upper, table.known) for table in tables]
        return cls(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))

    def of_rows(self, rows: Ints) -> "PairHistograms":
        """Return the table of these rows."""
        users = None if self.users is None else self.users[rows]
        return PairHistograms(self.lower[rows], self.upper[rows], self.known[rows], users)

    @property
    def total(self) -> "PairHistograms":
        """Return the units of all rows as one row."""
        sums = (counts.sum(axis=0)[None] for counts in (self.lower, self.upper, self.known))
        return PairHistograms(*sums)

    @property
    def units(self) -> Floats:
        """Return the number of units of each row, incomplete ones included."""
        return self.differences if self.users is None else self.users

    @cached_property
    def differences(self) -> Floats:
        """Return the number of differences of each row, incomplete ones included."""
        return np.asarray(self.lower.sum(axis=1), dtype=np.float64)

    @cached_property
    def limits(self) -> Floats:
        """Return [rows, 2]: the lower and upper bounds of each mean; NaN without units."""
        sums = np.column_stack([counts @ self._middles for counts in (self.lower, self.upper)])
        return _shares(sums, self.differences[:, None])

    @cached_property
    def estimates(self) -> Floats:
        """Return the means of observed differences, clipped to the limits; NaN without any."""
        means = _shares(self.known @ self._middles, self.known.sum(axis=1))
        return np.clip(means, self.limits[:, 0], self.limits[:, 1])

    @cached_property
    def standard_errors(self) -> Floats:
        """Return the standard error of each mean: a scale, not an inference."""
        counts = (self.lower + self.upper) / 2
        means = _shares(counts @ self._middles, self.differences)
        squared = (self._middles - means[:, None]) ** 2
        return _shares(np.sqrt((counts * squared).sum(axis=1)), self.differences)

    def log_es_beyond(self, tolerances: Floats) -> Floats:
        """Return the log e-values against a mean of at most each row's tolerance in size."""
        return log_mean_exp(self._wealths_beyond(tolerances))

    def within(self, tolerances: Floats, bounds: Floats) -> Bools:
        """Return a mask of rows whose interval is inside the tolerance: both ends are rejected."""
        ends = [log_mean_exp(end) >= bounds for end in self._wealths_at_ends(tolerances)]
        return np.logical_and(*ends) & self._centred(tolerances)

    def first_beyond(self, tolerances: Floats, bounds: Floats, multiples: Floats) -> Floats:
        """Return the first multiple of each row's units that rejects its tolerance, or infinity.

        A logarithm of a mean of exponentials is convex in the multiple, and 0 at 0: it crosses the
        bound once.
        """
        wealths = self._wealths_beyond(tolerances)
        return first_of(multiples, len(bounds), lambda m: _scaled(wealths, m) >= bounds)

    def first_within(self, tolerances: Floats, bounds: Floats, multiples: Floats) -> Floats:
        """Return the first that puts the interval inside the tolerance, or infinity."""
        low, high = self._wealths_at_ends(tolerances)

        def decided(times: Floats) -> Bools:
            return np.minimum(_scaled(low, times), _scaled(high, times)) >= bounds

        first = first_of(multiples, len(bounds), decided)
        return np.where(self._centred(tolerances), first, np.inf)

    def intervals(self, alphas: Floats, stakes: tuple[float, ...] = STAKES) -> Floats:
        """Return [rows, 2]: the ends of the means that are not rejected at each alpha."""
        ends = np.tile([-1.0, 1.0], (len(alphas), 1))
        rows = np.flatnonzero(self.differences)
        if rows.size:
            table = self.of_rows(rows)
            steps = np.maximum(table.standard_errors, 1 / (table.differences + 1)) / STEPS_PER_SE
            growth = LogGrowth(table.lower, table.upper, stakes)
            bounds_of_rows = invert_rows(
                growth.log_es, table.limits.sum(axis=1) / 2, steps, (-1.0, 1.0),
                np.log(1 / alphas[rows]),
            )  # fmt: skip
            ends[rows] = np.column_stack(bounds_of_rows)
        return ends

    def log_factors(self, values: Floats, allowed: Floats, stakes: tuple[float, ...]) -> Floats:
        """Return [rows, bets]: log wealth of bets that a mean differs by more than allowed.

        Parameters
        ----------
        values, allowed
            [rows]: the reference mean, and the allowed distance from it.
        stakes
            The stakes of the bets.
        """
        half, factors = len(stakes), np.empty((len(values), 2 * len(stakes)))
        signed = np.concatenate([stakes, np.negative(stakes)])
        for start in range(0, len(values), CHUNK_ROWS):
            rows = slice(start, start + CHUNK_ROWS)
            bets = signed / (1 + np.abs(values[rows]) + allowed[rows])[:, None]
            payoffs = (self._middles - values[rows, None])[:, None, :] * bets[:, :, None]
            logs = np.log1p(payoffs - (np.abs(bets) * allowed[rows, None])[:, :, None])
            sides = (self.lower[rows], logs[:, :half]), (self.upper[rows], logs[:, half:])
            factors[rows] = np.concatenate([(b @ c[:, :, None])[:, :, 0] for c, b in sides], axis=1)
        return factors

    def _wealths_beyond(self, tolerances: Floats) -> Floats:
        return self._by_value(tolerances, log_wealths_beyond)

    def _wealths_at_ends(self, tolerances: Floats) -> tuple[Floats, Floats]:
        low, high = (self._by_value(sign * tolerances, log_wealths_at) for sign in (-1, 1))
        return low, high

    def _by_value(
        self, values: Floats, wealths: Callable[[Floats, Floats, float], Floats]
    ) -> Floats:
        """Return the wealth of bets, computed together for all rows of one value."""
        by_row = np.empty((len(values), 2 * len(STAKES)))
        for value in np.unique(values).tolist():
            rows = np.flatnonzero(values == value)
            by_row[rows] = wealths(self.lower[rows], self.upper[rows], value)
        return by_row

    def _centred(self, tolerances: Floats) -> Bools:
        """Return a mask of rows with units, and both limits inside the tolerance."""
        return np.asarray(np.abs(self.limits).max(axis=1) < tolerances)

    @property
    def _middles(self) -> Floats:
        return middles(self.lower.shape[1])


CHUNK_ROWS = 64
"""Rows whose factors are computed together, to fit the processor's cache."""


def first_of(multiples: Floats, rows: int, decided: Callable[[Floats], Bools]) -> Floats:
    """Return the first multiple of each row that decides, or infinity; decisions are monotone."""
    before, at = np.full(rows, -1), np.full(rows, len(multiples))
    while (wide := at - before > 1).any():
        middle = np.where(wide, (before + at) // 2, 0)
        hit = decided(multiples[middle])
        at, before = np.where(wide & hit, middle, at), np.where(wide & ~hit, middle, before)
    return np.asarray(np.append(multiples, np.inf)[at], dtype=np.float64)


def _scaled(wealths: Floats, times: Floats) -> Floats:
    return np.asarray(log_mean_exp(wealths * times[:, None]))


def _shares(sums: Floats, of: Floats) -> Floats:
    """Return quotients, NaN for a divisor of 0."""
    shares: Floats = np.divide(sums, of, out=np.full(np.shape(sums), np.nan), where=of > 0)
    return shares
