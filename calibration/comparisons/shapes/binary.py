"""Two groups of answers that are 0 or 1."""

import numpy as np

from calibration.comparisons.study import Draw, Kind, Rng, Shape, Study, two_groups


def rates(n_a: int, p_a: float, n_b: int, p_b: float) -> Draw:
    """Return groups of these sizes and rates."""

    def draw(rng: Rng) -> Study:
        a, b = (rng.binomial(1, p, n).astype(float) for n, p in ((n_a, p_a), (n_b, p_b)))
        return two_groups(a, b, p_a - p_b)

    return draw


def all_and_none(n: int) -> Draw:
    """Return a group of which all are selected and one of which none is, every time."""

    def draw(_rng: Rng) -> Study:
        return two_groups(np.ones(n), np.zeros(n), 1.0)

    return draw


def _shape(
    name: str,
    draw: Draw,
    tolerance: float = 0.0,
    least_power: float | None = None,
    most_runs: int | None = None,
) -> Shape:
    return Shape(
        f"binary {name}", Kind.BINARY, draw, (0.0, 1.0), tolerance,
        least_power=least_power, most_runs=most_runs,
    )  # fmt: skip


BINARY = (
    _shape("equal .01, 25/1000", rates(25, 0.01, 1000, 0.01)),
    _shape("equal .05, 25/1000", rates(25, 0.05, 1000, 0.05)),
    _shape("equal .02, 50/1000", rates(50, 0.02, 1000, 0.02)),
    _shape("equal .005, 25/1000", rates(25, 0.005, 1000, 0.005)),
    _shape("equal .005, 200/20000", rates(200, 0.005, 20000, 0.005), most_runs=500),
    _shape("equal .1, 15/200", rates(15, 0.1, 200, 0.1)),
    _shape("equal .99, 25/1000", rates(25, 0.99, 1000, 0.99)),
    _shape("equal .5, 30/30", rates(30, 0.5, 30, 0.5)),
    _shape("equal .5, 3/3", rates(3, 0.5, 3, 0.5)),
    _shape("equal .3, 2/40", rates(2, 0.3, 40, 0.3)),
    _shape("equal .1, 5/50", rates(5, 0.1, 50, 0.1)),
    _shape("gap = tolerance, .07/.02, 10/1000", rates(10, 0.07, 1000, 0.02), 0.05),
    _shape("gap = -tolerance, .02/.07, 10/1000", rates(10, 0.02, 1000, 0.07), 0.05),
    _shape("gap = tolerance, .05/0, 25/1000", rates(25, 0.05, 1000, 0.0), 0.05),
    _shape("gap = tolerance, .35/.30, 400/400", rates(400, 0.35, 400, 0.30), 0.05),
    _shape("gap = tolerance, 1/.9, 20/300", rates(20, 1.0, 300, 0.9), 0.1),
    _shape("gap .2, .1/.3, 50/50", rates(50, 0.1, 50, 0.3)),
    _shape("gap .2, .3/.5, 100/100", rates(100, 0.3, 100, 0.5)),
    _shape("gap .25, .3/.05, 25/1000", rates(25, 0.3, 1000, 0.05)),
    _shape("gap .5, .6/.1, 25/1000", rates(25, 0.6, 1000, 0.1)),
    _shape("gap .4, .5/.1, 12/60", rates(12, 0.5, 60, 0.1)),
    _shape("gap .15 beyond .05, .4/.25, 300/300", rates(300, 0.40, 300, 0.25), 0.05),
    _shape("gap 0 within .1, .3/.3, 500/500", rates(500, 0.3, 500, 0.3), 0.1),
    _shape("gap 0 within .05, .02/.02, 150/2000", rates(150, 0.02, 2000, 0.02), 0.05),
    _shape("gap 0 within .1, .98/.98, 60/400", rates(60, 0.98, 400, 0.98), 0.1),
    _shape("all of 40 against none of 40", all_and_none(40), least_power=1.0),
    _shape("all of 40 against none of 40, tolerance .1", all_and_none(40), 0.1, 1.0),
    _shape("all of 8 against none of 8", all_and_none(8)),
)
