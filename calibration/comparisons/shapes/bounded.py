"""Two groups of answers between declared bounds: ratings, scores, probabilities."""

from collections.abc import Callable, Sequence

import numpy as np

from calibration.comparisons.study import Bounds, Draw, Floats, Kind, Rng, Shape, Study, two_groups

Sample = Callable[[Rng, int], Floats]
UNIT, RATING, SENTIMENT = (0.0, 1.0), (1.0, 5.0), (-1.0, 1.0)
MOSTLY_FOUR = (0.02, 0.05, 0.08, 0.75, 0.10)
A_LITTLE_LOWER = (0.08, 0.12, 0.15, 0.60, 0.05)


def scale(shares: Sequence[float], first: float = 1.0) -> Sample:
    """Return answers on a scale of steps of 1, with these shares."""
    steps = first + np.arange(len(shares))
    return lambda rng, n: rng.choice(steps, n, p=shares)


def mean_of_scale(shares: Sequence[float], first: float = 1.0) -> float:
    """Return the mean of such answers."""
    return float(np.dot(first + np.arange(len(shares)), shares))


def beta(a: float, b: float) -> Sample:
    """Return scores between 0 and 1."""
    return lambda rng, n: rng.beta(a, b, n)


def percent(a: float, b: float) -> Sample:
    """Return scores between 0 and 100."""
    return lambda rng, n: 100 * rng.beta(a, b, n)


def steady(value: float, spread: float = 0.0) -> Sample:
    """Return scores that are all equal, or nearly."""
    return lambda rng, n: value + spread * (rng.random(n) - 0.5)


def spikes(low: float, high: float, share: float, spread: float = 0.0) -> Sample:
    """Return scores that are low, and high in a small share."""

    def sample(rng: Rng, n: int) -> Floats:
        return np.where(rng.random(n) < share, high, low + spread * (rng.random(n) - 0.5))

    return sample


def drawn(n_a: int, of_a: Sample, n_b: int, of_b: Sample, gap: float = 0.0) -> Draw:
    """Return groups of these sizes."""

    def draw(rng: Rng) -> Study:
        return two_groups(of_a(rng, n_a), of_b(rng, n_b), gap)

    return draw


def _shape(name: str, draw: Draw, bounds: Bounds = UNIT, tolerance: float = 0.0) -> Shape:
    return Shape(f"bounded {name}", Kind.BOUNDED, draw, bounds, tolerance)


def _undeclared(name: str, draw: Draw, bounds: Bounds, tolerance: float = 0.0) -> Shape:
    return Shape(f"undeclared {name}", Kind.BOUNDED, draw, bounds, tolerance, declared=False)


FOUR, LOWER = scale(MOSTLY_FOUR), scale(A_LITTLE_LOWER)
LOWER_GAP = mean_of_scale(A_LITTLE_LOWER) - mean_of_scale(MOSTLY_FOUR)
THREE_VALUED = scale((0.03, 0.94, 0.03), -1.0)
TOXIC = spikes(0.001, 0.8, 0.02, 0.001)
TIED = scale((0.0, 0.1, 0.6, 0.3, 0.0))
MORE_TIED = scale((0.0, 0.02, 0.4, 0.58, 0.0))

BOUNDED = (
    _shape("ratings mostly 4, 10/200", drawn(10, FOUR, 200, FOUR), RATING),
    _shape("ratings mostly 4, 5/100", drawn(5, FOUR, 100, FOUR), RATING),
    _shape("ratings mostly 4, 3/100", drawn(3, FOUR, 100, FOUR), RATING),
    _shape("ratings mostly 4, 2/5", drawn(2, FOUR, 5, FOUR), RATING),
    _shape("ratings heavily tied, 40/40", drawn(40, TIED, 40, TIED), RATING),
    _shape("three values mostly 0, 20/300", drawn(20, THREE_VALUED, 300, THREE_VALUED), SENTIMENT),
    _shape(
        "spikes .04 against steady, 40/40",
        drawn(40, spikes(0.2, 1.0, 0.04, 0.01), 40, steady(0.232, 0.01)),
    ),
    _shape(
        "spikes .02 against steady, 25/400",
        drawn(25, spikes(0.2, 1.0, 0.02, 0.01), 400, steady(0.216, 0.01)),
    ),
    _shape(
        "spikes .01 against steady, 300/300",
        drawn(300, spikes(0.2, 1.0, 0.01, 0.01), 300, steady(0.208, 0.01)),
    ),
    _shape(
        "spikes .04 beside a spread of .1, 40/40",
        drawn(40, spikes(0.2, 1.0, 0.04, 0.1), 40, steady(0.232, 0.1)),
    ),
    _shape(
        "spikes .02 beside a spread of .2, 100/1000",
        drawn(100, spikes(0.3, 1.0, 0.02, 0.2), 1000, steady(0.314, 0.2)),
    ),
    _shape("skewed scores, 20/500", drawn(20, beta(1, 12), 500, beta(1, 12))),
    _shape("skewed scores, even, 15/15", drawn(15, beta(0.5, 8), 15, beta(0.5, 8))),
    _shape("flat against uniform, 20/100", drawn(20, steady(0.5), 100, beta(1, 1))),
    _shape(
        "flat against flat with spikes, 100/15",
        drawn(100, steady(0.25), 15, spikes(0.2, 1.0, 0.0625)),
    ),
    _shape("toxicity 2 % high, 50/500", drawn(50, TOXIC, 500, TOXIC)),
    _shape("toxicity 2 % high, 200/200", drawn(200, TOXIC, 200, TOXIC)),
    _shape("probabilities near 1, 10/100", drawn(10, beta(20, 0.5), 100, beta(20, 0.5))),
    _shape("two peaks, 15/150", drawn(15, beta(0.1, 0.2), 150, beta(0.1, 0.2))),
    _shape("uneven spread, 12/240", drawn(12, beta(0.4, 0.4), 240, beta(40, 40))),
    _shape("gap = tolerance, 30/300", drawn(30, beta(4, 6), 300, beta(3, 7), 0.1), UNIT, 0.1),
    _shape("gap = -tolerance, 30/300", drawn(30, beta(3, 7), 300, beta(4, 6), -0.1), UNIT, 0.1),
    _shape(
        "gap = tolerance by unseen spikes, 25/100",
        drawn(25, spikes(0.2, 1.0, 0.0625, 0.01), 100, steady(0.2, 0.01), 0.05),
        UNIT,
        0.05,
    ),
    _shape(
        "gap = tolerance by unseen spikes beside a spread of .1, 25/100",
        drawn(25, spikes(0.2, 1.0, 0.0625, 0.1), 100, steady(0.2, 0.1), 0.05),
        UNIT,
        0.05,
    ),
    _shape(
        "gap = tolerance, ratings 10/200",
        drawn(10, scale((0, 0, 0.05, 0.60, 0.35)), 200, scale((0, 0, 0.05, 0.85, 0.10)), 0.25),
        RATING,
        0.25,
    ),
    _shape("gap in ratings, 40/40", drawn(40, LOWER, 40, FOUR, LOWER_GAP), RATING),
    _shape("gap in ratings, 100/100", drawn(100, LOWER, 100, FOUR, LOWER_GAP), RATING),
    _shape("gap in ratings, 20/300", drawn(20, LOWER, 300, FOUR, LOWER_GAP), RATING),
    _shape("gap in tied ratings, 40/40", drawn(40, MORE_TIED, 40, TIED, 0.36), RATING),
    _shape("gap .13 in scores, 60/60", drawn(60, beta(2, 3), 60, beta(2, 5.54), 0.4 - 2 / 7.54)),
    _shape(
        "gap in toxicity, 12 % and 2 % high, 200/200",
        drawn(200, spikes(0.001, 0.8, 0.12, 0.001), 200, TOXIC, 0.1 * 0.799),
    ),
    _shape(
        "gap beyond .25 in ratings, 150/150", drawn(150, LOWER, 150, FOUR, LOWER_GAP), RATING, 0.25
    ),
    _shape(
        "gap 13 in scores of 0 to 100, 60/60",
        drawn(60, percent(2, 3), 60, percent(2, 5.54), 40 - 200 / 7.54),
        (0.0, 100.0),
    ),
    _shape("gap 0 within .4 in ratings, 100/100", drawn(100, FOUR, 100, FOUR), RATING, 0.4),
    _shape("gap 0 within .1 in scores, 80/200", drawn(80, beta(2, 3), 200, beta(2, 3)), UNIT, 0.1),
    _shape("gap 0 within .05 in toxicity, 200/400", drawn(200, TOXIC, 400, TOXIC), UNIT, 0.05),
    _undeclared("ratings mostly 4, 10/200", drawn(10, FOUR, 200, FOUR), RATING),
    _undeclared("ratings mostly 4, 3/100", drawn(3, FOUR, 100, FOUR), RATING),
    _undeclared("three values mostly 0, 20/300",
                drawn(20, THREE_VALUED, 300, THREE_VALUED), SENTIMENT),
    _undeclared("toxicity 2 % high, 50/500", drawn(50, TOXIC, 500, TOXIC), UNIT),
    _undeclared("ratings, gap = -tolerance by unseen low ones, 25/100",
                drawn(25, scale((0.06, 0, 0, 0.94, 0)), 100, scale((0, 0, 0, 0.95, 0.05)), -0.23),
                RATING, 0.23),
    _undeclared("gap in ratings, 40/40", drawn(40, LOWER, 40, FOUR, LOWER_GAP), RATING),
)  # fmt: skip
