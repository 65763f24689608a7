"""Confidence sequences from e-values: the nulls not rejected, with ends rounded outwards."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import log

import numpy as np

from biaswatch.shared.stats.arrays import Bools, Floats, Ints
from biaswatch.shared.stats.estimate import check_alpha

CELLS = 64
PARTS = 4
MAX_LOSS = 0.01
"""Log evidence that a lower bound may give away."""
MAX_ROUNDS = 40
BLOCK_NULLS = 32
"""Nulls evaluated together."""
DOUBLING_HALVINGS = 6
"""Halvings of the first step to which an end is located by `invert` with `doubling`."""
STEP_HALVINGS = 20
"""Halvings of the step that holds the end, by `invert`."""
GRID_NULLS, FILLS = 48, 2
"""Nulls of a grid, and how often the step with the end is filled by another grid."""
CellBound = Callable[[Floats, Floats], Floats]
"""A lower bound on cells, from their low and high ends, tight where these are equal."""
LogE = Callable[[Floats], Floats]
"""The log e-value against each of some nulls."""
Limits = tuple[float, float]


def threshold(alpha: float, *, family: int = 1) -> float:
    """Return the log e-value that rejects: ln(1/alpha), Bonferroni's share for a family."""
    check_alpha(alpha)
    return log(family / alpha)


def lowest(bound: CellBound, low: float, high: float) -> float:
    """Return a lower bound of a function that comes within 0.01 of its minimum.

    Cells are split while their bound lies below an observed value. A fixed grid would miss the dip
    between two of its points: evidence too high, 7.5 % false alarms where 5 are allowed.

    Parameters
    ----------
    bound
        Lower bounds of the function on cells.
    low, high
        The interval of its argument.

    Raises
    ------
    ArithmeticError
        Where the function is steeper than floating point can follow.
    """
    edges = np.linspace(low, high, CELLS + 1)
    lows, highs = edges[:-1], edges[1:]
    best = np.inf
    for _ in range(MAX_ROUNDS):
        bounds = bound(lows, highs)
        middles = (lows + highs) / 2
        best = min(best, float(bound(middles, middles).min()))
        least = float(bounds.min())
        if best - least <= MAX_LOSS:
            return least
        parts = np.linspace(lows[bounds < best], highs[bounds < best], PARTS + 1)
        lows, highs = parts[:-1].ravel(), parts[1:].ravel()
    raise ArithmeticError("the lowest evidence was not found: the values lie too close to an end")


def invert(
    log_e: LogE, centre: float, step: float, limits: Limits, alpha: float, *, doubling: bool = False
) -> tuple[float, float]:
    """Return the interval of nulls that are not rejected, around a centre that is not.

    The ends are nulls that *are* rejected, or the limits, so nothing is left out by rounding.

    Parameters
    ----------
    log_e
        Log e-values of an array of nulls; the nulls it does not reject have to be an interval.
    centre
        A null that is not rejected, such as the estimate.
    step
        Distance of the nulls tried, on the scale of a standard error.
    limits
        The range of nulls.
    alpha
        In (0, 1).
    doubling
        Whether steps double, and the end is located to 1/64 of the first step: few evaluations,
        for evidence that is expensive to compute.
    """
    bound = threshold(alpha)
    low, high = (
        _end(log_e, centre, sign * step, limits, bound, doubling=doubling) for sign in (-1, 1)
    )
    return low, high


def _end(
    log_e: LogE, centre: float, step: float, limits: Limits, bound: float, *, doubling: bool
) -> float:
    """Return the first rejected null on one side, located by halving, or the limit."""
    search = _doubling_bracket if doubling else bracket
    accepted, rejected = search(log_e, centre, step, limits, bound)
    # Half a halving more than the target keeps rounding from adding or dropping the last one.
    width = abs(step) / 2**DOUBLING_HALVINGS
    if not doubling:
        width = 1.5 * abs(rejected - accepted) / 2**STEP_HALVINGS
    while abs(rejected - accepted) > width:
        middle = (accepted + rejected) / 2
        if log_e(np.array([middle]))[0] >= bound:
            rejected = middle
        else:
            accepted = middle
    return rejected


def bracket(
    log_e: LogE, centre: float, step: float, limits: Limits, bound: float
) -> tuple[float, float]:
    """Return the last accepted null and the first rejected one, in steps from the centre.

    Both are the limit where no null up to it is rejected.
    """
    limit = limits[1] if step > 0 else limits[0]
    accepted = centre
    for start in range(1, int(abs(limit - centre) / abs(step)) + 2, BLOCK_NULLS):
        nulls = np.clip(centre + step * np.arange(start, start + BLOCK_NULLS), *limits)
        over = np.flatnonzero(log_e(nulls) >= bound)
        if over.size:
            first = int(over[0])
            return float(nulls[first - 1]) if first else accepted, float(nulls[first])
        accepted = float(nulls[-1])
    return limit, limit


def _doubling_bracket(
    log_e: LogE, centre: float, step: float, limits: Limits, bound: float
) -> tuple[float, float]:
    """Return what `bracket` does, in steps that double."""
    accepted, distance = centre, step
    while True:
        null = float(np.clip(centre + distance, *limits))
        if log_e(np.array([null]))[0] >= bound:
            return accepted, null
        if null in limits:
            return null, null
        accepted, distance = null, 2 * distance


RowLogEs = Callable[[Ints, Floats], Floats]
"""The log e-values of some rows, each against a null of its own."""


def invert_rows(
    log_es: RowLogEs, centres: Floats, steps: Floats, limits: Limits, bounds: Floats
) -> tuple[Floats, Floats]:
    """Return the ends of many intervals at once, as `invert` does for one.

    A grid on each side reaches as far as it has to; two finer ones fill the step with the end. A
    few secants come so near to the end that its place on the grids is tried at once; where they do
    not, it is found by halving.

    Parameters
    ----------
    log_es
        The log e-values of intervals, by their rows, against a null each.
    centres, steps, bounds
        [rows]: a null that is not rejected, the distance of the nulls tried, and the log e-value
        that rejects.
    limits
        The range of nulls.
    """
    rows: Ints = np.tile(np.arange(len(centres)), 2)
    signed: Floats = np.concatenate([-steps, steps])
    grids = Grids(log_es, rows, np.tile(centres, 2), signed, limits, np.tile(bounds, 2))
    ends = _ends_by_secants(grids)
    if (left := np.flatnonzero(np.isnan(ends))).size:
        ends[left] = _ends_by_halving(grids.of(left))
    low, high = np.split(ends, 2)
    return low, high


@dataclass(frozen=True)
class Grids:
    """The nulls that are tried for ends, in signed steps from centres."""

    log_es: RowLogEs
    rows: Ints
    centres: Floats
    steps: Floats
    limits: Limits
    bounds: Floats

    def of(self, ends: Ints) -> "Grids":
        """Return the grids of some ends."""
        return Grids(
            self.log_es, self.rows[ends], self.centres[ends], self.steps[ends], self.limits,
            self.bounds[ends],
        )  # fmt: skip

    def at(self, distances: Floats | Ints) -> Floats:
        """Return the nulls at these numbers of steps."""
        return np.clip(self.centres + self.steps * distances, *self.limits)

    def excess(self, nulls: Floats) -> Floats:
        """Return the log e-values against nulls less the bounds: at least 0 where rejected."""
        return self.log_es(self.rows, nulls) - self.bounds

    def cells(self, nulls: Floats) -> tuple[Floats, Floats]:
        """Return the cells of the finest grids that nulls lie in: the nearer end and the farther.

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
"""What is added to log e-values, whose roots then rise almost linearly with the distance."""
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
            point = point.after(own, own.excess(nulls))
            continue
        near, nulls = own.cells(nulls)
        excess = own.excess(nulls)
        is_end = (excess >= 0) & (own.excess(near) < 0)
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
        nothing = np.zeros(len(grids.rows))
        return cls(FIRST_STEPS * np.sqrt(grids.bounds + SCALE), nothing, nothing)

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
