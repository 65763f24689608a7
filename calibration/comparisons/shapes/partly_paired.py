"""Groups that share some counterfactual sets, and have answers of their own besides."""

import numpy as np

from calibration.comparisons.study import (
    Bounds,
    Draw,
    Floats,
    Kind,
    Rng,
    Shape,
    Study,
    partly_twins,
)

UNIT = (0.0, 1.0)
Sizes = tuple[int, int, int]
"""Shared sets, answers of a alone, answers of b alone."""


def scores(
    sizes: Sizes, gap: float, spreads: tuple[float, float] = (0.1, 0.1), *, own_sets: bool = False
) -> Draw:
    """Return scores around .5 with a level of each set, all between 0 and 1."""
    shared, alone_a, alone_b = sizes

    def around(rng: Rng, level: Floats, side: int) -> Floats:
        middle = level + (gap / 2 if side == 0 else -gap / 2)
        return middle + spreads[side] * (2 * rng.beta(2, 2, len(level)) - 1)

    def draw(rng: Rng) -> Study:
        paired, rest_a, rest_b = (0.3 + 0.4 * rng.beta(1, 1, n) for n in (shared, alone_a, alone_b))
        both = (around(rng, paired, 0), around(rng, paired, 1))
        return partly_twins(
            both, (around(rng, rest_a, 0), around(rng, rest_b, 1)), gap, own_sets=own_sets
        )

    return draw


def spikes(sizes: Sizes, share: float, spread: float) -> Draw:
    """Return scores of which a has rare high ones, and b the same mean without them."""
    shared, alone_a, alone_b = sizes

    def draw(rng: Rng) -> Study:
        a, rest_a = (
            np.where(rng.random(n) < share, 1.0, 0.2 + spread * (rng.random(n) - 0.5))
            for n in (shared, alone_a)
        )
        b, rest_b = (0.2 + 0.8 * share + spread * (rng.random(n) - 0.5) for n in (shared, alone_b))
        return partly_twins((a, b), (rest_a, rest_b), 0.0, own_sets=False)

    return draw


def rates(sizes: Sizes, p: float, share_equal: float, q: float | None = None) -> Draw:
    """Return answers of 0 or 1; this share of shared sets has the same answer in both groups.

    With `q` the second group has another rate, and nothing is shared within sets.
    """
    shared, alone_a, alone_b = sizes
    rate_b = p if q is None else q

    def draw(rng: Rng) -> Study:
        a, other = (rng.binomial(1, rate, shared).astype(float) for rate in (p, rate_b))
        b = np.where(rng.random(shared) < share_equal, a, other) if q is None else other
        rest_a = rng.binomial(1, p, alone_a).astype(float)
        rest_b = rng.binomial(1, rate_b, alone_b).astype(float)
        return partly_twins((a, b), (rest_a, rest_b), p - rate_b, own_sets=True)

    return draw


def _shape(name: str, draw: Draw, bounds: Bounds | None = UNIT, tolerance: float = 0.0) -> Shape:
    return Shape(f"partly paired {name}", Kind.PARTLY_PAIRED, draw, bounds, tolerance)


PARTLY_PAIRED = (
    _shape("equal, 300/300 and 2 sets", scores((2, 300, 300), 0.0)),
    _shape("equal, 30/30 and 5 sets", scores((5, 30, 30), 0.0)),
    _shape("equal, 10/100 and 20 sets", scores((20, 10, 100), 0.0)),
    _shape("equal, 3/3 and 50 sets", scores((50, 3, 3), 0.0)),
    _shape("equal, 40/0 and 20 sets", scores((20, 40, 0), 0.0, own_sets=True)),
    _shape("equal, uneven spread, 8/150 and 6 sets", scores((6, 8, 150), 0.0, (0.3, 0.02))),
    _shape("equal rates .05, 20/300 and 10 sets", rates((10, 20, 300), 0.05, 0.6)),
    _shape("equal rates .3, 30/30 and 30 sets", rates((30, 30, 30), 0.3, 0.5)),
    _shape("equal, spikes .04 against steady, 20/20 and 20 sets", spikes((20, 20, 20), 0.04, 0.01)),
    _shape("gap = tolerance, 40/40 and 10 sets", scores((10, 40, 40), 0.05), UNIT, 0.05),
    _shape("gap .1, 300/300 and 2 sets", scores((2, 300, 300), 0.1), UNIT),
    _shape("gap .1, 300/300 and 2 sets, unbounded", scores((2, 300, 300), 0.1), None),
    _shape("gap .06, 60/60 and 20 sets", scores((20, 60, 60), 0.06), UNIT),
    _shape("gap .06, 5/5 and 60 sets, own sets", scores((60, 5, 5), 0.06, own_sets=True), UNIT),
    _shape("gap .25 in rates, 40/40 and 20 sets", rates((20, 40, 40), 0.5, 0.0, 0.25), UNIT),
    _shape("gap 0 within .05, 150/150 and 40 sets", scores((40, 150, 150), 0.0), UNIT, 0.05),
)
