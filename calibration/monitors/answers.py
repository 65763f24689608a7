"""What simulated models answer to twins: how sets differ, and how answers vary."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from biaswatch.shared.analysis.monitors.round_answers import Counts
from tests.support.decided_rounds import Floats, of_pairs

Draw = Callable[[np.random.Generator, Floats], Floats]
"""Answers with these means, each in [0, 1]."""


def rates(rng: np.random.Generator, means: Floats) -> Floats:
    """Draw answers that are right or wrong."""
    return rng.binomial(1, means).astype(np.float64)


def ratings(rng: np.random.Generator, means: Floats) -> Floats:
    """Draw answers on a scale, most near its ends."""
    inside = np.clip(means, 0.02, 0.98)
    return rng.beta(inside, 1 - inside)


def steady(rng: np.random.Generator, means: Floats) -> Floats:
    """Draw answers with a deviation of .18, so that gaps deviate by a quarter of the range."""
    return np.clip(means + rng.uniform(-0.31, 0.31, means.shape), 0.0, 1.0)


def flat(_: np.random.Generator, means: Floats) -> Floats:
    """Return answers that never vary."""
    return means


@dataclass(frozen=True)
class Bank:
    """Sets of twins that are asked again every round, each with a level of its own."""

    draw: Draw
    sets: int
    level: float = 0.5
    spread: float = 0.0
    """Standard deviation of the sets' levels, and of their own gaps, which cancel."""

    def rounds(
        self, gaps: Floats, rng: np.random.Generator, levels: Floats | None = None
    ) -> list[Counts]:
        """Return the counts of rounds with these gaps, and these shifts of level."""
        own = rng.normal(0, self.spread, (2, self.sets)) if self.spread else np.zeros((2, 1))
        own -= own.mean(axis=1, keepdims=True)
        shifts = np.zeros(len(gaps)) if levels is None else levels
        result = []
        for gap, shift in zip(gaps, shifts, strict=True):
            sides = np.array([[gap / 2], [-gap / 2]]) + self.level + shift + own
            means = np.clip(np.broadcast_to(sides, (2, self.sets)), 0.0, 1.0)
            a, b = self.draw(rng, means)
            result.append(of_pairs(a - b, a + b - 1, rng))
        return result
