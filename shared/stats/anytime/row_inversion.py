"""Many confidence sequences at once: their ends, found by secants and put on grids."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import log

import numpy as np

from biaswatch.shared.stats.anytime.inversion import Limits
from biaswatch.shared.stats.arrays import Bools, Floats, Ints

GRID_NULLS, FILLS = 48, 2
"""Nulls of a grid, and how often the step with the end is filled by another grid."""
RowLogEs = Callable[[Ints, Floats], Floats]
"""The log e-values of some rows, each against a null of its own."""
RowLogEsOneWay = Callable[[Ints, Floats, Ints], Floats]
"""The same of bets on a number above the null alone (1), or below it (-1)."""


def invert_rows(
    log_es: RowLogEs,
    one_way: RowLogEsOneWay,
    centres: Floats,
    steps: Floats,
    limits: Limits,
    bounds: Floats,
) -> tuple[Floats, Floats]:
    """Return the ends of many intervals at once, as `invert` does for one.

    A grid on each side reaches as far as it has to; two finer ones fill the step with the end. A
    few secants come so near to the end that its place on the grids is tried at once; where they do
    not, it is found by halving.

    Parameters
    ----------
    log_es
        The log e-values of intervals, by their rows, against a null each.
    one_way
        The same of the bets that may gain beyond an end: enough to find most ends.
    centres, steps, bounds
        [rows]: a null that is not rejected, the distance of the nulls tried, and the log e-value
        that rejects.
    limits
        The range of nulls.
    """
    rows: Ints = np.tile(np.arange(len(centres)), 2)
    signed: Floats = np.concatenate([-steps, steps])
    grids = Grids(log_es, one_way, rows, np.tile(centres, 2), signed, limits, np.tile(bounds, 2))
    ends = _ends_by_secants(grids)
    if (left := np.flatnonzero(np.isnan(ends))).size:
        ends[left] = _ends_by_halving(grids.of(left))
    low, high = np.split(ends, 2)
    return low, high


@dataclass(frozen=True)
class Grids:
    """The nulls that are tried for ends, in signed steps from centres."""

    log_es: RowLogEs
    one_way: RowLogEsOneWay
    rows: Ints
    centres: Floats
    steps: Floats
    limits: Limits
    bounds: Floats

    def of(self, ends: Ints) -> "Grids":
        """Return the grids of some ends."""
        return Grids(
            self.log_es, self.one_way, self.rows[ends], self.centres[ends], self.steps[ends],
            self.limits, self.bounds[ends],
        )  # fmt: skip

    def at(self, distances: Floats | Ints) -> Floats:
        """Return the nulls at these numbers of steps."""
        return np.clip(self.centres + self.steps * distances, *self.limits)

    def excess(self, nulls: Floats) -> Floats:
        """Return the log e-values against nulls less the bounds: at least 0 where rejected."""
        return self.log_es(self.rows, nulls) - self.bounds

    def least_excess(self, nulls: Floats) -> Floats:
        """Return the least that it is, from the bets that may gain beyond the centre."""
        return self._one_way(nulls) - log(2) - self.bounds

    def most_excess(self, nulls: Floats) -> Floats:
        """Return the most that it is: the other bets have lost."""
        return np.asarray(np.logaddexp(self._one_way(nulls), 0.0) - log(2) - self.bounds)

    def _one_way(self, nulls: Floats) -> Floats:
        return self.one_way(self.rows, nulls, np.where(self.steps > 0, -1, 1))

    def cells(self, nulls: Floats) -> tuple[Floats, Floats]:
        """Return the cells of the finest grids that contain nulls: the nearer end and the farther.

        The first grid is as many times as coarse as it has to be.
        """
        steps, before = self.steps.copy(), self.centres.copy()
        while (short := (nulls - self.centres) / steps > GRID_NULLS).any():
            before = np.where(short, self.at(steps / self.steps * GRID_NULLS), before)
            steps = np.where(short, steps * GRID_NULLS, steps)
        near, far = self.centres, np.clip(self.centres + steps * GRID_NULLS, *self.limits)
        place = _cell((nulls - near) / steps)
        near, far = (
            np.where(place == 1, before, np.clip(near + steps * (place - 1), *self.limits)),
            np.where(place == GRID_NULLS, far, np.clip(near + steps * place, *self.limits)),
        )
        for _ in range(FILLS):
            width = far - near
            parts = np.divide(nulls - near, width, out=np.zeros_like(near), where=width != 0)
            place = _cell(parts * GRID_NULLS)
            near, far = (
                np.where(place == 1, near, near + width * (place - 1) / GRID_NULLS),
                np.where(place == GRID_NULLS, far, near + width * place / GRID_NULLS),
            )
        return near, far


def _cell(places: Floats) -> Ints:
    return np.clip(np.ceil(places), 1, GRID_NULLS).astype(np.int64)


SECANTS, TRIES = 4, 3
"""Secants before an end is tried, and how often it is."""
SCALE = 2.0
"""An addition to log e-values, whose roots then rise almost linearly with the distance."""
FIRST_STEPS = 10.0
"""Steps of the first null tried, for each unit of the root of the bound."""


def _ends_by_secants(grids: Grids) -> Floats:
    """Return the first rejected nulls; NaN where the last tries have not found them."""
    ends: Floats = np.full(len(grids.rows), np.nan)
    left, own = np.arange(len(ends)), grids
    point = _Secants.first(own)
    for number in range(SECANTS + TRIES):
        nulls = own.at(point.distances)
        if number < SECANTS:
            point = point.after(own, own.least_excess(nulls))
            continue
        near, nulls = own.cells(nulls)
        excess = own.least_excess(nulls)
        is_end = (excess >= 0) & (own.most_excess(near) < 0)
        ends[left[is_end]] = nulls[is_end]
        tried = replace(point, distances=(nulls - own.centres) / own.steps)
        point = tried.after(own, excess).of(~is_end)
        left, own = left[~is_end], own.of(np.flatnonzero(~is_end))
    return ends


@dataclass(frozen=True)
class _Secants:
    """The nulls that are tried next, in steps from centres, and the last ones."""

    distances: Floats
    before: Floats
    roots_before: Floats
    """Roots of the log evidence, which are almost linear in the distance."""

    @classmethod
    def first(cls, grids: Grids) -> "_Secants":
        zeros = np.zeros(len(grids.rows))
        return cls(FIRST_STEPS * np.sqrt(grids.bounds + SCALE), zeros, zeros)

    def after(self, grids: Grids, excess: Floats) -> "_Secants":
        """Return what is tried after these."""
        roots = np.sqrt(np.maximum(excess + grids.bounds + SCALE, 0.0))
        missing = np.sqrt(grids.bounds + SCALE) - roots
        rise, run = roots - self.roots_before, self.distances - self.before
        moves = np.divide(missing * run, rise, out=np.zeros_like(rise), where=rise != 0)
        following = np.clip(self.distances + moves, self.distances / 4, self.distances * 4)
        return _Secants(following, self.distances, roots)

    def of(self, ends: Bools) -> "_Secants":
        """Return those of some ends."""
        return _Secants(self.distances[ends], self.before[ends], self.roots_before[ends])


def _ends_by_halving(grids: Grids) -> Floats:
    centres, limits = grids.centres, grids.limits
    accepted, steps = centres.copy(), grids.steps.copy()
    while True:
        far = np.clip(centres + steps * GRID_NULLS, *limits)
        over = grids.excess(far) >= 0
        short = ~(over | (far == limits[0]) | (far == limits[1]))
        if not short.any():
            break
        accepted[short], steps[short] = far[short], steps[short] * GRID_NULLS

    def coarse(places: Ints) -> Floats:
        return np.clip(centres + steps * places, *limits)

    accepted, rejected = _first_rejected(grids, coarse, accepted, far)
    for _ in range(FILLS):
        near, width, last = accepted, rejected - accepted, rejected

        def filled(places: Ints, near: Floats = near, width: Floats = width) -> Floats:
            return np.asarray(near + width * places / GRID_NULLS, dtype=np.float64)

        accepted, rejected = _first_rejected(grids, filled, near, last)
    return np.where(over, rejected, far)


def _first_rejected(
    grids: Grids, null_at: Callable[[Ints], Floats], before: Floats, last: Floats
) -> tuple[Floats, Floats]:
    """Return the null before the first rejected one of a grid, and that one: by halving."""
    inside, outside = (np.full(len(last), place) for place in (0, GRID_NULLS))
    while (wide := outside - inside > 1).any():
        middle = (inside + outside) // 2
        over = grids.excess(null_at(middle)) >= 0
        inside = np.where(wide & ~over, middle, inside)
        outside = np.where(wide & over, middle, outside)
    accepted = np.where(inside == 0, before, null_at(inside))
    return accepted, np.where(outside == GRID_NULLS, last, null_at(outside))
