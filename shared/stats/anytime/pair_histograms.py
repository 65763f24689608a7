"""Fixed bets on the differences of many comparisons at once: histograms, a row each."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from biaswatch.shared.stats.anytime.bets import (
    STAKES,
    LogGrowth,
    both_ways,
    log_growth,
    log_mean_exp,
    log_wealths_at,
    log_wealths_beyond,
    middles,
)
from biaswatch.shared.stats.anytime.row_inversion import invert_rows
from biaswatch.shared.stats.arrays import Bools, Floats, Ints, adjacent

STEPS_PER_SE = 7.5
"""Nulls per standard error that are tried for an interval."""


@dataclass(frozen=True)
class PairHistograms:
    """Differences of pairs in [-1, 1], counted: a row for each comparison, a column for each bin.

    A unit with missing answers has a difference between two bounds, from the lowest and highest
    possible values of the missing ones. Bets on a gap above a null take the lower bound, bets on
    one below it the upper one. So the evidence is at most that of all answers.
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
    def of_counts(cls, counts: Sequence[int] | Floats) -> "PairHistograms":
        """Return one row of units without a missing answer."""
        row = np.array(counts, dtype=np.float64)[None]
        return cls(row, row, row)

    def of_rows(self, rows: Ints) -> "PairHistograms":
        """Return the table of these rows."""
        if np.array_equal(rows, np.arange(len(self.lower))):
            return self
        at, users = adjacent(rows), None if self.users is None else self.users[rows]
        return PairHistograms(self.lower[at], self.upper[at], self.known[at], users)

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
        sums: Floats = np.einsum("rb,rb->r", counts, squared)
        return _shares(np.sqrt(sums), self.differences)

    def log_es_beyond(self, tolerances: Floats) -> Floats:
        """Return the log e-values against a mean of at most each row's tolerance in size."""
        return log_mean_exp(self.wealths_beyond(tolerances))

    def within(self, tolerances: Floats, bounds: Floats) -> Bools:
        """Return a mask of rows whose interval is inside the tolerance: both ends are rejected."""
        ends = [log_mean_exp(end) >= bounds for end in self._wealths_at_ends(tolerances)]
        return np.logical_and(*ends) & self._centred(tolerances)

    def first_beyond(self, tolerances: Floats, bounds: Floats, multiples: Floats) -> Floats:
        """Return the first multiple of each row's units that rejects its tolerance, or infinity.

        A logarithm of a mean of exponentials is convex in the multiple, and 0 at 0: it crosses the
        bound once.
        """
        wealths = self.wealths_beyond(tolerances)
        return first_of(multiples, bounds, wealths)

    def first_within(self, tolerances: Floats, bounds: Floats, multiples: Floats) -> Floats:
        """Return the first that puts the interval inside the tolerance, or infinity."""
        first = first_of(multiples, bounds, *self._wealths_at_ends(tolerances))
        return np.where(self._centred(tolerances), first, np.inf)

    def intervals(self, alphas: Floats) -> Floats:
        """Return [rows, 2]: the ends of the means that are not rejected at each alpha.

        The accepted nulls are an interval: with u = 1 / (1 + |null|), every factor is linear in
        u on either side of 0, so that the mixture is convex there. No bet gains between the
        limits, so a null between them is not rejected.
        """
        ends = np.tile([-1.0, 1.0], (len(alphas), 1))
        rows = np.flatnonzero(self.differences)
        if rows.size:
            table = self.of_rows(rows)
            steps = np.maximum(table.standard_errors, 1 / (table.differences + 1)) / STEPS_PER_SE
            growth = LogGrowth(table.lower, table.upper)
            bounds_of_rows = invert_rows(
                growth.log_es, growth.log_es_one_way, table.limits.sum(axis=1) / 2, steps,
                (-1.0, 1.0), np.log(1 / alphas[rows]),
            )  # fmt: skip
            ends[rows] = np.column_stack(bounds_of_rows)
        return ends

    def log_factors(self, values: Floats, allowed: Floats) -> Floats:
        """Return [rows, bets]: log wealth of bets that a mean differs by more than allowed.

        Parameters
        ----------
        values, allowed
            [rows]: the reference mean, and the allowed distance from it.
        """
        bets = both_ways(STAKES) / (1 + np.abs(values) + allowed)[:, None]
        counts = np.concatenate([self.lower, self.upper])
        nulls = np.concatenate([values + allowed, values - allowed])
        sides = log_growth(counts, nulls, np.concatenate(np.split(bets, 2, axis=1)))
        return np.concatenate(np.split(sides, 2), axis=1)

    def wealths_beyond(self, tolerances: Floats) -> Floats:
        """Return [rows, bets]: log wealth of bets that a mean is beyond the tolerance."""
        return self._by_value(tolerances, log_wealths_beyond)

    def _wealths_at_ends(self, tolerances: Floats) -> tuple[Floats, Floats]:
        low, high = (self._by_value(sign * tolerances, log_wealths_at) for sign in (-1, 1))
        return low, high

    def _by_value(
        self, values: Floats, wealths: Callable[[Floats, Floats, float], Floats]
    ) -> Floats:
        """Return the wealth of bets, computed together for all rows of one value."""
        by_row = np.empty((2 * len(STAKES), len(values))).T
        for value in np.unique(values).tolist():
            rows = adjacent(np.flatnonzero(values == value))
            by_row[rows] = wealths(self.lower[rows], self.upper[rows], value)
        return by_row

    def _centred(self, tolerances: Floats) -> Bools:
        """Return a mask of rows with units, and both limits inside the tolerance."""
        return np.asarray(np.abs(self.limits).max(axis=1) < tolerances)

    @property
    def _middles(self) -> Floats:
        return middles(self.lower.shape[1])


def first_of(multiples: Floats, bounds: Floats, *sides: Floats) -> Floats:
    """Return the first multiple of each row at which all sides reach its bound, or infinity.

    A logarithm of a mean of exponentials lies between the largest, less the logarithm of their
    number, and the largest: only multiples between these are tried.

    Parameters
    ----------
    sides
        [rows, bets]: log wealth of the bets of each side.
    """
    largest = np.min([wealths.max(axis=1) for wealths in sides], axis=0)
    rows = np.flatnonzero(largest > 0)
    first, bets = np.full(len(bounds), np.inf), sides[0].shape[1]
    lows, highs = bounds[rows] / largest[rows], (bounds[rows] + np.log(bets)) / largest[rows]
    before = np.searchsorted(multiples, lows * (1 - ROUNDING_TOL)) - 1
    at = np.searchsorted(multiples, highs * (1 + ROUNDING_TOL))
    own = [wealths[rows] for wealths in sides]
    while (wide := at - before > 1).any():
        middle = np.where(wide, (before + at) // 2, 0)
        times = multiples[middle][:, None]
        reached = [log_mean_exp(wealths * times) >= bounds[rows] for wealths in own]
        hit = np.logical_and.reduce(reached)
        at, before = np.where(wide & hit, middle, at), np.where(wide & ~hit, middle, before)
    first[rows] = np.append(multiples, np.inf)[at]
    return first


ROUNDING_TOL = 1e-9


def _shares(sums: Floats, of: Floats) -> Floats:
    """Return quotients, NaN for a divisor of 0."""
    shares: Floats = np.divide(sums, of, out=np.full(np.shape(sums), np.nan), where=of > 0)
    return shares
