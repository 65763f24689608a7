"""Counterfactual pairs on a scale, and without bounds."""

from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np

from calibration.comparisons.study import (
    Bounds,
    Draw,
    Floats,
    Kind,
    Labels,
    Rng,
    Shape,
    Study,
    twins,
)

UNIT, RATING = (0.0, 1.0), (1.0, 5.0)
Noise = Callable[[Rng, int], Floats]


def beside(n: int, differences: Noise, gap: float = 0.0, level: float = 0.0) -> Draw:
    """Return pairs whose differences are drawn; the second of each pair lies in the middle."""

    def draw(rng: Rng) -> Study:
        b = np.full(n, level)
        return twins(b + differences(rng, n), b, gap)

    return draw


def rare(usual: float, far: float, share: float) -> Noise:
    """Return differences that are small one way, and far the other way in a small share."""
    return lambda rng, n: np.where(rng.random(n) < share, far, usual)


def noisy(differences: Noise, spread: float) -> Noise:
    """Return the same differences beside noise that is evenly spread."""
    return lambda rng, n: differences(rng, n) + spread * (rng.random(n) - 0.5)


def rated(n: int, shift: float, sd: float = 0.7, groups: Sequence[str] = "ab") -> Draw:
    """Return ratings of 1 to 5 around a level of each set, in mean exactly `shift` apart.

    The shift moves a share of the first group's ratings below 5 up by one.
    """

    def draw(rng: Rng) -> Study:
        level = rng.normal(3, 0.8, n)
        rows = [np.clip(np.rint(level + rng.normal(0, sd, n)), 1, 4) for _ in groups]
        rows[0] = rows[0] + (rng.random(n) < shift)
        sets: Labels = [f"set{place}" for _ in groups for place in range(n)]
        truth = {
            (a, b): np.array([shift if a == groups[0] else 0.0]) for a, b in combinations(groups, 2)
        }
        named: Labels = [group for group in groups for _ in range(n)]
        return Study(np.concatenate(rows)[:, None], named, truth, sets=sets)

    return draw


def _bounded(
    name: str,
    draw: Draw,
    bounds: Bounds = UNIT,
    tolerance: float = 0.0,
    least_power: float | None = None,
) -> Shape:
    return Shape(
        f"pairs {name}", Kind.PAIRED_BOUNDED, draw, bounds, tolerance, least_power=least_power
    )


def _unbounded(name: str, draw: Draw, tolerance: float = 0.0) -> Shape:
    return Shape(f"unbounded pairs {name}", Kind.PAIRED_UNBOUNDED, draw, None, tolerance)


def lengths(n: int, factor: float = 1.0) -> Draw:
    """Return lengths that share a level of their set; the first group's are longer by a factor."""

    def draw(rng: Rng) -> Study:
        level = np.exp(rng.normal(4, 0.6, n))
        a, b = (level * np.exp(rng.normal(-0.08, 0.4, n)) for _ in range(2))
        return twins(factor * a, b, (factor - 1) * float(np.exp(4 + 0.18)))

    return draw


def _normal(gap: float, sd: float) -> Noise:
    return lambda rng, n: rng.normal(gap, sd, n)


def _mixed_spread(rng: Rng, n: int) -> Floats:
    return rng.normal(0, 1, n) * np.where(rng.random(n) < 0.2, 5.0, 1.0)


PAIRED = (
    _bounded("skewed with mean 0, n 20", beside(20, rare(-0.02, 0.38, 0.05), level=0.5)),
    _bounded("skewed with mean 0, n 60", beside(60, rare(-0.01, 0.49, 0.02), level=0.5)),
    _bounded("skewed with mean 0, n 300", beside(300, rare(-0.005, 0.495, 0.01), level=0.5)),
    _bounded("skewed beside noise, mean 0, n 40",
             beside(40, noisy(rare(-0.02, 0.38, 0.05), 0.1), level=0.5)),
    _bounded("ratings equal, n 12", rated(12, 0.0), RATING),
    _bounded("ratings equal, n 30", rated(30, 0.0), RATING),
    _bounded("ratings equal, mostly the same, n 15", rated(15, 0.0, 0.15), RATING),
    _bounded("ratings equal, n 4", rated(4, 0.0), RATING),
    _bounded("12 sets, one repeat, 3 equal groups", rated(12, 0.0, groups="abc"), RATING),
    _bounded("gap = tolerance, ratings, n 40", rated(40, 0.3), RATING, 0.3),
    _bounded(
        "gap = tolerance, skewed, n 30",
        beside(30, rare(0.0, 0.5, 0.1), 0.05, level=0.5), UNIT, 0.05,
    ),
    _bounded(
        "gap = tolerance, skewed beside noise, n 40",
        beside(40, noisy(rare(0.0, 0.4, 0.125), 0.1), 0.05, level=0.5), UNIT, 0.05,
    ),
    _bounded(
        "gap = -tolerance, skewed, n 60",
        beside(60, rare(-0.03, -0.43, 0.05), -0.05, level=0.5), UNIT, 0.05,
    ),
    _bounded("gap .4 in ratings, n 50", rated(50, 0.4), RATING),
    _bounded("gap .8 in ratings, 12 sets, 3 groups", rated(12, 0.8, 0.5, "abc"), RATING),
    _bounded("gap .2 in ratings mostly the same, n 60", rated(60, 0.2, 0.15), RATING),
    _bounded("gap .6 beyond .25 in ratings, n 100", rated(100, 0.6), RATING, 0.25),
    _bounded("gap 0 within .3 in ratings, n 150", rated(150, 0.0), RATING, 0.3),
    _bounded("gap exactly 1, n 300", beside(300, rare(1, 1, 0), 1.0, 3.0), RATING, 0.0, 1.0),
    _bounded("gap exactly 1, n 300, tolerance .25",
             beside(300, rare(1, 1, 0), 1.0, 3.0), RATING, 0.25, 1.0),
    _bounded("gap exactly 0 within .25, n 300", beside(300, rare(0, 0, 0), 0.0, 3.0), RATING, 0.25),
    _unbounded("normal, n 8", beside(8, _normal(0, 1))),
    _unbounded("normal, n 3", beside(3, _normal(0, 1))),
    _unbounded("mixed spread, n 20", beside(20, _mixed_spread)),
    _unbounded("lengths, n 15", lengths(15)),
    _unbounded("lengths, n 60", lengths(60)),
    _unbounded("gap = tolerance, n 25", beside(25, _normal(0.5, 1), 0.5), 0.5),
    _unbounded("gap .5, n 40", beside(40, _normal(0.5, 1), 0.5)),
    _unbounded("gap in lengths, a fourth more, n 60", lengths(60, 1.25)),
    _unbounded("gap 0 within .5, n 50", beside(50, _normal(0, 1)), 0.5),
)  # fmt: skip
