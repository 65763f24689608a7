"""Counterfactual pairs of answers that are 0 or 1."""

import numpy as np

from calibration.comparisons.study import Draw, Kind, Rng, Shape, Study, twins


def discordant(n: int, only_a: float, only_b: float, both: float = 0.3) -> Draw:
    """Return pairs of which these shares are 1 in one group alone, and in both."""
    shares = [both, only_a, only_b, 1 - both - only_a - only_b]

    def draw(rng: Rng) -> Study:
        kind = rng.choice(4, n, p=shares)
        a, b = np.isin(kind, (0, 1)).astype(float), np.isin(kind, (0, 2)).astype(float)
        return twins(a, b, only_a - only_b)

    return draw


def _shape(
    name: str, draw: Draw, tolerance: float = 0.0, least_power: float | None = None
) -> Shape:
    return Shape(
        f"binary pairs {name}", Kind.PAIRED_BINARY, draw, (0.0, 1.0), tolerance,
        least_power=least_power,
    )  # fmt: skip


PAIRED_BINARY = (
    _shape("equal, 5 % discordant each way, n 40", discordant(40, 0.05, 0.05)),
    _shape("equal, 20 % discordant each way, n 30", discordant(30, 0.2, 0.2)),
    _shape("equal, 1 % discordant each way, n 200", discordant(200, 0.01, 0.01, 0.0)),
    _shape("equal, 30 % discordant each way, n 8", discordant(8, 0.3, 0.3)),
    _shape("equal, 25 % discordant each way, n 4", discordant(4, 0.25, 0.25)),
    _shape("equal, rates of .98, n 60", discordant(60, 0.019, 0.019, 0.961)),
    _shape("gap = tolerance, all one way, n 20", discordant(20, 0.1, 0.0), 0.1),
    _shape("gap = -tolerance, all one way, n 60", discordant(60, 0.0, 0.05), 0.05),
    _shape("gap = tolerance, both ways, n 200", discordant(200, 0.2, 0.1), 0.1),
    _shape("gap .2, n 60", discordant(60, 0.3, 0.1)),
    _shape("gap .15, all one way, n 60", discordant(60, 0.15, 0.0)),
    _shape("gap .2 beyond .05, n 150", discordant(150, 0.25, 0.05), 0.05),
    _shape("gap 0 within .1, n 200", discordant(200, 0.06, 0.06), 0.1),
    _shape("no discordant pair within .05, n 200", discordant(200, 0.0, 0.0), 0.05),
    _shape("all of a and none of b, n 60", discordant(60, 1.0, 0.0, 0.0), least_power=1.0),
    _shape("all of a and none of b, n 60, tolerance .1", discordant(60, 1.0, 0.0, 0.0), 0.1, 1.0),
)
