"""All ranks together lie in their confidence sets, whatever the data look like."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from biaswatch.shared.stats.groups.group_means import group_means
from biaswatch.shared.stats.groups.mean_ranks import ranks_of_means

TABLES, ALPHA = 500, 0.05
LEAST = 1 - ALPHA - 3.5 * (ALPHA * (1 - ALPHA) / TABLES) ** 0.5

Rng = np.random.Generator
Draw = Callable[[Rng, Any, Any], Any]
Data = Callable[[Rng, Any], tuple[Any, Any, Any]]


def apart(sizes: list[int], draw: Draw) -> Data:
    codes = np.repeat(np.arange(len(sizes)), sizes)
    return lambda rng, truth: (draw(rng, truth[codes], codes), codes, np.full(len(codes), -1))


def in_sets(groups: int, sets: int, lost: float, *sd: float) -> Data:
    codes, of = np.tile(np.arange(groups), sets), np.repeat(np.arange(sets), groups)
    spread = np.resize(sd, groups)[codes]

    def data(rng: Rng, truth: Any) -> tuple[Any, Any, Any]:
        values = rng.normal(0, 1, sets)[of] + truth[codes] + rng.normal(0, spread)
        kept = rng.random(len(of)) >= lost
        return values[kept], codes[kept], of[kept]

    return data


def families(groups: int, units: int) -> Data:
    of = np.repeat(np.arange(groups * units), 10)
    codes = of // units

    def data(rng: Rng, truth: Any) -> tuple[Any, Any, Any]:
        values = rng.normal(0, 1, groups * units)[of] + truth[codes] + rng.normal(0, 0.5, len(of))
        kept = (of % 2 == 1) | (rng.random(len(of)) < 0.4)
        return values[kept], codes[kept], of[kept]

    return data


def bernoulli(rng: Rng, rates: Any, _codes: Any) -> Any:
    return (rng.random(len(rates)) < rates).astype(float)


def normal(*sd: float) -> Draw:
    return lambda rng, truth, codes: rng.normal(truth, np.resize(sd, codes.max() + 1)[codes])


SHAPES: dict[str, tuple[list[float], Data]] = {
    "21 equal groups": ([0.0] * 21, apart([75] * 21, normal(1))),
    "steps": (np.linspace(0, 2, 8).tolist(), apart([50] * 8, normal(1))),
    "tiny": ([0.0] * 5, apart([3] * 5, normal(1))),
    "unequal spreads and sizes": ([0.0] * 4, apart([10, 100, 100, 100], normal(3, 1, 1, 1))),
    "rare, 10 to 400": ([0.1] * 21, apart(list(range(10, 430, 20)), bernoulli)),
    "very rare": ([0.005] * 3, apart([200, 20_000, 20_000], bernoulli)),
    "rates that differ": ([0.02, 0.05, 0.1, 0.1, 0.05], apart([25, 1000, 1000, 50, 15], bernoulli)),
    "skewed": ([0.0] * 4, apart([10, 40, 40, 200], lambda r, t, _: r.lognormal(t, 1.2))),
    "sets": (np.linspace(0, 1, 21).tolist(), in_sets(21, 40, 0, 0.5)),
    "few sets": ([0.0] * 4, in_sets(4, 5, 0, 0.5)),
    "sets with holes": ([0.0] * 4, in_sets(4, 20, 0.4, 0.5)),
    "one group spreads more within sets": ([0.0] * 4, in_sets(4, 10, 0, 0.1, 0.1, 0.1, 2)),
    "families": ([0.0] * 4, families(4, 4)),
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_all_true_ranks_are_covered_together(shape: str) -> None:
    truth, data = np.array(SHAPES[shape][0]), SHAPES[shape][1]
    rng = np.random.default_rng(13)
    first = 1 + np.sum(truth[None, :] > truth[:, None], axis=1)
    last = len(truth) - np.sum(truth[None, :] < truth[:, None], axis=1)
    covered = 0
    for _ in range(TABLES):
        values, codes, sets = data(rng, truth)
        ranks = ranks_of_means(group_means(values, codes, sets, len(truth)), ALPHA)
        # Where true means are equal, any of their ranks is one of the true ones.
        covered += bool(((ranks.low <= first) & (ranks.high >= last))[ranks.ranks > 0].all())
    assert covered / TABLES >= LEAST
