"""Answers that are missing because of what they would have been.

A verdict counts as false only where it claims to survive the missing answers.
"""

from dataclasses import replace

import numpy as np

from calibration.comparisons.shapes.binary import rates
from calibration.comparisons.shapes.bounded import drawn, scale
from calibration.comparisons.shapes.paired import rated
from calibration.comparisons.study import Bounds, Draw, Kind, Rng, Shape, Study

UNIT, RATING = (0.0, 1.0), (1.0, 5.0)
EVEN = scale((0.2,) * 5)
HIGHER = scale((0.15, 0.15, 0.2, 0.25, 0.25))


def hiding(draw: Draw, share: float, at_least: float, group: str | None = "a") -> Draw:
    """Let this share of a group's high answers be missing; of every group's where it is None."""

    def hidden(rng: Rng) -> Study:
        study = draw(rng)
        of_group = np.array([group in (None, item) for item in study.groups])[:, None]
        lost = of_group & (study.values >= at_least) & (rng.random(study.values.shape) < share)
        return replace(study, values=np.where(lost, np.nan, study.values))

    return hidden


def _shape(
    name: str, draw: Draw, bounds: Bounds, tolerance: float = 0.0, least_power: float | None = None
) -> Shape:
    return Shape(f"missing {name}", Kind.MISSING, draw, bounds, tolerance, least_power=least_power)


MISSING = (
    _shape("40 % of a's high ratings, equal, 300/300",
           hiding(drawn(300, EVEN, 300, EVEN), 0.4, 4), RATING),
    _shape("40 % of a's selections, equal .3, 100/100",
           hiding(rates(100, 0.3, 100, 0.3), 0.4, 1), UNIT),
    _shape("10 % of a's selections, equal .5, 1000/1000",
           hiding(rates(1000, 0.5, 1000, 0.5), 0.1, 1), UNIT),
    _shape("40 % of a's high ratings, equal twins, n 100",
           hiding(rated(100, 0.0), 0.4, 4), RATING),
    _shape("30 % of a's high ratings hide a gap of .3, within .3",
           hiding(drawn(300, HIGHER, 300, EVEN, 0.3), 0.3, 4), RATING, 0.3),
    _shape("2 % of all, gap .3 in rates, 300/300",
           hiding(rates(300, 0.5, 300, 0.2), 0.02, 0, None), UNIT, 0.0, 0.9),
    _shape("2 % of all, gap 0 within .15 in rates, 600/600",
           hiding(rates(600, 0.3, 600, 0.3), 0.02, 0, None), UNIT, 0.15, 0.8),
)  # fmt: skip
