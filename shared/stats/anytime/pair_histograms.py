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

SPACING = 0.02
"""Of the table, in the artanh of a bet; its cubics are within 1e-9 a unit of the function."""
ERROR = 1e-8
"""Of a unit's log factor: by so much evidence is taken as less than what is read."""


class LogGrowth:
    """What bets on differences earn on histograms, a row each, each against nulls of its own.

    A bet b against the null d has the factor 1 + b (g - d) = A (1 + (b / A) g), with A = 1 - b d.
    So all that a histogram says is one function, the sum of log(1 + x g) over its units, of x in
    (-1, 1): it is kept in a table with its slopes, and read by cubics between.

    Parameters
    ----------
    lower, upper
        Counts per bin of the least and of the most that gaps can be, shape (rows, bins): bets on
        a gap above a null take the former.
    """

    def __init__(self, lower: Floats, upper: Floats, stakes: tuple[float, ...] = STAKES) -> None:
        values, slopes = (
            # A row for bets downwards and one for bets upwards, each outwards from 0.
            np.stack([upper @ each[0], lower @ each[1]], axis=1)
            for each in _tables(lower.shape[1], max(stakes))
        )
        self._cubics, self._cells = _cubics(values, slopes * SPACING), values.shape[2] - 1
        self._units, self._stakes = lower.sum(axis=1), stakes

    def log_es(self, nulls: Floats) -> Floats:
        """Return the log e-value of each row against its null, never above the exact one."""
        bets = both_ways(self._stakes) / (1 + np.abs(nulls))[:, None]
        rest = 1 - bets * nulls[:, None]
        wealths = self._units[:, None] * np.log(rest) + self._sums(bets / rest)
        return np.asarray(log_mean_exp(wealths) - ERROR * self._units, dtype=np.float64)

    def _sums(self, bets: Floats) -> Floats:
        """Return the sum of log(1 + bet g) over the units of a row, for each of its bets."""
        steps = np.abs(np.arctanh(bets)) / SPACING
        cells = steps.astype(np.int64)
        rows = 2 * np.arange(len(bets))[:, None] + (bets > 0)
        constant, linear, squared, cubed = np.moveaxis(
            self._cubics.take(rows * self._cells + cells, axis=0), -1, 0
        )
        part = steps - cells
        return np.asarray(constant + part * (linear + part * (squared + part * cubed)))


def _cubics(values: Floats, slopes: Floats) -> Floats:
    """Return the cubics between the points of tables, shape (tables * cells, 4), from constants on.

    Slopes are those over a whole cell. So all that a bet reads lies together.
    """
    near, far = values[..., :-1], values[..., 1:]
    here, there, rise = slopes[..., :-1], slopes[..., 1:], far - near
    found = [near, here, 3 * rise - 2 * here - there, here + there - 2 * rise]
    return np.asarray(np.stack(found, axis=-1).reshape(-1, 4), dtype=np.float64)


@lru_cache(maxsize=16)
def _tables(bins: int, largest: float) -> tuple[Floats, Floats]:
    """Return log(1 + x g) of every bin, and its slope in artanh |x|, for x downwards and upwards.

    The shape of each is (2, bins, points); points go from x = 0 to beyond the largest bet.
    """
    points = np.arange(int(np.ceil(np.arctanh(largest) / SPACING)) + 2) * SPACING
    signs = np.array([-1.0, 1.0])[:, None, None]
    bets, gaps = signs * np.tanh(points), middles(bins)[:, None]
    return np.log1p(bets * gaps), signs * gaps * (1 - bets**2) / (1 + bets * gaps)


STEPS_PER_SE = 7.5
"""Of the nulls tried for an interval."""
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class PairHistograms:
    """Differences of pairs in [-1, 1], counted: a row for each comparison, a column for each bin.

    What an interval, a verdict or an estimate of a row is, `PairHistogram` says: units of which
    answers are missing have a difference between two bounds, and each bet takes the worse one.
    """

    lower: Floats
    """Counts of all units, at the least that their difference can be."""
    upper: Floats
    """Counts of the same units, at the most."""
    known: Floats
    """Counts of the units with an answer on both sides, by the answers that came."""
    users: Floats | None = None
    """[rows]: the units that the differences stand for, where a difference is of several."""

    @classmethod
    def stacked(cls, tables: Iterable["PairHistograms"]) -> "PairHistograms":
        """Return the rows of all tables, in their order."""
        parts = [(table.lower, table.upper, table.known) for table in tables]
        return cls(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))

    def of_rows(self, rows: Ints) -> "PairHistograms":
        """Return some of the rows."""
        users = None if self.users is None else self.users[rows]
        return PairHistograms(self.lower[rows], self.upper[rows], self.known[rows], users)

    @property
    def together(self) -> "PairHistograms":
        """Return the units of all rows as one row."""
        sums = (each.sum(axis=0)[None] for each in (self.lower, self.upper, self.known))
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
        """Return the least and the most that each mean can be, a row each; NaN without units."""
        sums = np.column_stack([each @ self._middles for each in (self.lower, self.upper)])
        return _shares(sums, self.differences[:, None])

    @cached_property
    def estimates(self) -> Floats:
        """Return the mean of the answers that came, as far as the limits allow; NaN where none."""
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
        """Tell of which rows the interval lies within the tolerance: both ends are rejected."""
        ends = [log_mean_exp(each) >= bounds for each in self._wealths_at_ends(tolerances)]
        return np.logical_and(*ends) & self._centred(tolerances)

    def first_beyond(self, tolerances: Floats, bounds: Floats, multiples: Floats) -> Floats:
        """Return the first multiple of each row's units that rejects its tolerance, or infinity.

        The logarithm of a mean of exponentials is convex in the multiple, and 0 at none: what is
        above the bound stays above it.
        """
        wealths = self._wealths_beyond(tolerances)
        return first_of(multiples, len(bounds), lambda m: _scaled(wealths, m) >= bounds)

    def first_within(self, tolerances: Floats, bounds: Floats, multiples: Floats) -> Floats:
        """Return the first that puts the interval within the tolerance, or infinity."""
        low, high = self._wealths_at_ends(tolerances)

        def decided(times: Floats) -> Bools:
            return np.minimum(_scaled(low, times), _scaled(high, times)) >= bounds

        found = first_of(multiples, len(bounds), decided)
        return np.where(self._centred(tolerances), found, np.inf)

    def intervals(self, alphas: Floats, stakes: tuple[float, ...] = STAKES) -> Floats:
        """Return the means of each row that are not rejected at its alpha, low and high."""
        found = np.tile([-1.0, 1.0], (len(alphas), 1))
        rows = np.flatnonzero(self.differences)
        if rows.size:
            there = self.of_rows(rows)
            steps = np.maximum(there.standard_errors, 1 / (there.differences + 1)) / STEPS_PER_SE
            growth = LogGrowth(there.lower, there.upper, stakes)
            ends = invert_rows(
                growth.log_es, there.limits.sum(axis=1) / 2, steps, (-1.0, 1.0),
                np.log(1 / alphas[rows]),
            )  # fmt: skip
            found[rows] = np.column_stack(ends)
        return found

    def log_factors(self, values: Floats, allowed: Floats, stakes: tuple[float, ...]) -> Floats:
        """Return what each bet earns on each row that its mean is further off than allowed.

        Parameters
        ----------
        values, allowed
            Of each row: the mean that is no change, and how far from it another is none either.
        """
        half, found = len(stakes), np.empty((len(values), 2 * len(stakes)))
        signed = np.concatenate([stakes, np.negative(stakes)])
        for start in range(0, len(values), CHUNK):
            some = slice(start, start + CHUNK)
            bets = signed / (1 + np.abs(values[some]) + allowed[some])[:, None]
            payoffs = (self._middles - values[some, None])[:, None, :] * bets[:, :, None]
            logs = np.log1p(payoffs - (np.abs(bets) * allowed[some, None])[:, :, None])
            sides = (self.lower[some], logs[:, :half]), (self.upper[some], logs[:, half:])
            found[some] = np.concatenate([(b @ c[:, :, None])[:, :, 0] for c, b in sides], axis=1)
        return found

    def _wealths_beyond(self, tolerances: Floats) -> Floats:
        return self._by_value(tolerances, log_wealths_beyond)

    def _wealths_at_ends(self, tolerances: Floats) -> tuple[Floats, Floats]:
        low, high = (self._by_value(sign * tolerances, log_wealths_at) for sign in (-1, 1))
        return low, high

    def _by_value(
        self, values: Floats, wealths: Callable[[Floats, Floats, float], Floats]
    ) -> Floats:
        """Return the wealth of bets, computed for all rows of one value together."""
        found = np.empty((len(values), 2 * len(STAKES)))
        for value in np.unique(values).tolist():
            rows = np.flatnonzero(values == value)
            found[rows] = wealths(self.lower[rows], self.upper[rows], value)
        return found

    def _centred(self, tolerances: Floats) -> Bools:
        """Tell which rows have units, and no mean that is possible beyond the tolerance."""
        return np.asarray(np.abs(self.limits).max(axis=1) < tolerances)

    @property
    def _middles(self) -> Floats:
        return middles(self.lower.shape[1])


CHUNK = 64
"""Rows whose factors are computed together: they fit the processor's cache."""


def first_of(multiples: Floats, rows: int, decided: Callable[[Floats], Bools]) -> Floats:
    """Return the first multiple of each row that decides, or infinity: what decides stays so."""
    before, at = np.full(rows, -1), np.full(rows, len(multiples))
    while (wide := at - before > 1).any():
        middle = np.where(wide, (before + at) // 2, 0)
        yes = decided(multiples[middle])
        at, before = np.where(wide & yes, middle, at), np.where(wide & ~yes, middle, before)
    return np.asarray(np.append(multiples, np.inf)[at], dtype=np.float64)


def _scaled(wealths: Floats, times: Floats) -> Floats:
    return np.asarray(log_mean_exp(wealths * times[:, None]))


def _shares(sums: Floats, of: Floats) -> Floats:
    """Return quotients, NaN where there is nothing to divide by."""
    found: Floats = np.divide(sums, of, out=np.full(np.shape(sums), np.nan), where=of > 0)
    return found
