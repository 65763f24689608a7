"""Two groups of answers without bounds: lengths, counts, log-probabilities."""

from collections.abc import Callable

import numpy as np

from calibration.comparisons.study import Draw, Floats, Kind, Rng, Shape, Study, two_groups

Sample = Callable[[Rng, int], Floats]


def normal(mean: float, sd: float) -> Sample:
    """Return normal answers."""
    return lambda rng, n: rng.normal(mean, sd, n)


def lognormal(sd: float, factor: float = 1.0) -> Sample:
    """Return lengths: skewed, with a mean of 100 times the factor."""
    return lambda rng, n: 100 * factor * np.exp(rng.normal(-(sd**2) / 2, sd, n))


def counts(zero: float, mean: float) -> Sample:
    """Return counts with many zeros, the others geometric from 1 on with this mean."""

    def sample(rng: Rng, n: int) -> Floats:
        return np.where(rng.random(n) < zero, 0.0, rng.geometric(1 / mean, n))

    return sample


def heavy(freedom: float, shift: float = 0.0) -> Sample:
    """Return Student's t."""
    return lambda rng, n: shift + rng.standard_t(freedom, n)


def flat(value: float) -> Sample:
    """Return one value again and again."""
    return lambda rng, n: np.full(n, value)


def drawn(n_a: int, of_a: Sample, n_b: int, of_b: Sample, gap: float = 0.0) -> Draw:
    """Return groups of these sizes."""

    def draw(rng: Rng) -> Study:
        return two_groups(of_a(rng, n_a), of_b(rng, n_b), gap)

    return draw


def _shape(name: str, draw: Draw, tolerance: float = 0.0) -> Shape:
    return Shape(f"unbounded {name}", Kind.UNBOUNDED, draw, None, tolerance)


UNBOUNDED = (
    _shape("normal, 10/40", drawn(10, normal(0, 1), 40, normal(0, 1))),
    _shape("normal, sd 3/1, 10/100", drawn(10, normal(0, 3), 100, normal(0, 1))),
    _shape("normal, sd 2/.5, 15/300", drawn(15, normal(0, 2), 300, normal(0, 0.5))),
    _shape("normal, 3/3", drawn(3, normal(0, 1), 3, normal(0, 1))),
    _shape("normal, sd 2/1, 4/30", drawn(4, normal(0, 2), 30, normal(0, 1))),
    _shape("lengths, sd 1, 40/40", drawn(40, lognormal(1), 40, lognormal(1))),
    _shape("lengths, sd 1, 25/400", drawn(25, lognormal(1), 400, lognormal(1))),
    _shape("lengths, sd .5, 12/120", drawn(12, lognormal(0.5), 120, lognormal(0.5))),
    _shape("counts with 70 % zeros, 30/300", drawn(30, counts(0.7, 4), 300, counts(0.7, 4))),
    _shape("counts with 95 % zeros, 15/300", drawn(15, counts(0.95, 4), 300, counts(0.95, 4))),
    _shape("t with 3 degrees, 20/80", drawn(20, heavy(3), 80, heavy(3))),
    _shape("flat against normal, 20/100", drawn(20, flat(50), 100, normal(50, 10))),
    _shape("gap = tolerance, sd 3/1, 15/100", drawn(15, normal(1, 3), 100, normal(0, 1), 1.0), 1.0),
    _shape("gap = -tolerance, sd 1/2, 30/60",
           drawn(30, normal(-0.5, 1), 60, normal(0, 2), -0.5), 0.5),
    _shape("gap .7, 15/300", drawn(15, normal(0.7, 1), 300, normal(0, 1), 0.7)),
    _shape("gap .6, 50/50", drawn(50, normal(0.6, 1), 50, normal(0, 1), 0.6)),
    _shape("gap .6 beside a million, 50/50",
           drawn(50, normal(1e6 + 0.6, 1), 50, normal(1e6, 1), 0.6)),
    _shape("gap 2.5, sd 3/1, 12/100", drawn(12, normal(2.5, 3), 100, normal(0, 1), 2.5)),
    _shape("gap in lengths, a half more, 60/60",
           drawn(60, lognormal(0.7, 1.5), 60, lognormal(0.7), 50.0)),
    _shape("gap in counts, 60/200",
           drawn(60, counts(0.4, 4), 200, counts(0.7, 4), 1.2)),
    _shape("gap 1 beyond .3, 40/80", drawn(40, normal(1, 1), 80, normal(0, 1), 1.0), 0.3),
    _shape("gap 0 within .5, 100/100", drawn(100, normal(0, 1), 100, normal(0, 1)), 0.5),
    _shape("gap 0 within 20 in lengths, 150/150",
           drawn(150, lognormal(0.5), 150, lognormal(0.5)), 20.0),
    _shape("flat 5 against flat 3, 20/20", drawn(20, flat(5), 20, flat(3), 2.0)),
)  # fmt: skip
