"""Intervals of group means and rates cover on rare, flat, tiny, skewed and clustered data."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from biaswatch.shared.analysis.findings.group_statistics import GroupIntervals
from biaswatch.shared.analysis.findings.groupings import grouping
from biaswatch.shared.analysis.findings.observations import Observations
from biaswatch.shared.contracts import Claim

RUNS, ALPHA = 1000, 0.05
LEAST = 1 - ALPHA - 3.5 * (ALPHA * (1 - ALPHA) / RUNS) ** 0.5
Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator], Floats]
"""Returns [families, prompts] of one group."""


def rates(n: int, p: float) -> Draw:
    return lambda rng: (rng.random((n, 1)) < p).astype(float)


def beta(n: int, a: float, b: float) -> Draw:
    return lambda rng: rng.beta(a, b, (n, 1))


def spikes(n: int, share: float) -> Draw:
    return lambda rng: np.where(rng.random((n, 1)) < share, 1.0, 0.2 + 0.1 * rng.random((n, 1)))


def families(n: int, size: int) -> Draw:
    def draw(rng: np.random.Generator) -> Floats:
        return rng.beta(40 * (level := rng.beta(3, 3, (n, 1))), 40 * (1 - level), (n, size))

    return draw


SHAPES: dict[str, tuple[float, Draw]] = {
    "rates of .01, 25": (0.01, rates(25, 0.01)),
    "rates of .3, 3": (0.3, rates(3, 0.3)),
    "rates of .95, 40": (0.95, rates(40, 0.95)),
    "skewed, 12": (1 / 9, beta(12, 1, 8)),
    "two peaks, 8": (0.4, beta(8, 0.2, 0.3)),
    "spread, 60": (0.4, beta(60, 2, 3)),
    "rare spikes, 30": (0.05 + 0.95 * 0.25, spikes(30, 0.05)),
    "families, 12 of 6": (0.5, families(12, 6)),
}


@pytest.mark.parametrize("name", SHAPES)
def test_intervals_of_a_group_cover_as_often_as_they_say(name: str) -> None:
    truth, draw = SHAPES[name]
    rng, covered = np.random.default_rng(7), 0
    for _ in range(RUNS):
        values = draw(rng)
        sets = [f"set{family}" for family in range(len(values)) for _ in values[family]]
        observations = Observations(
            features=("x",),
            values=values.reshape(-1, 1),
            groups={"group": ["a"] * values.size},
            units=[f"prompt{row}" for row in range(values.size)],
            sets=sets,
            ranges={"x": (0.0, 1.0)},
        )
        groups = grouping(observations, ("group",))
        result = GroupIntervals(observations, groups, Claim.POPULATION, ALPHA).mean(0, 0)
        assert result.low is not None
        assert result.high is not None
        covered += result.low <= truth <= result.high
    assert covered / RUNS >= LEAST
