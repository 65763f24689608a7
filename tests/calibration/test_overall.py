"""The test over all groups rejects true nulls as often as it says, also flat, tiny and blocked."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from biaswatch.shared.stats.groups.cells import Measurements
from biaswatch.shared.stats.groups.overall import overall_test

TABLES, TIMES, ALPHA = 400, 99, 0.05
MOST = ALPHA + 3.5 * (ALPHA * (1 - ALPHA) / TABLES) ** 0.5

Rng = np.random.Generator
Data = tuple[Any, Any, Any]


def apart(sizes: list[int], draw: Callable[[Rng, int, int], Any]) -> Callable[[Rng], Data]:
    codes = np.repeat(np.arange(len(sizes)), sizes)

    def data(rng: Rng) -> Data:
        values = [draw(rng, group, size) for group, size in enumerate(sizes)]
        return np.concatenate(values), codes, None

    return data


def normal(*sd: float) -> Callable[[Rng, int, int], Any]:
    return lambda rng, group, size: rng.normal(0, sd[group % len(sd)], size)


def rate(p: float) -> Callable[[Rng, int, int], Any]:
    return lambda rng, _, size: rng.random(size) < p


def in_sets(groups: int, sets: int, lost: float = 0.0) -> Callable[[Rng], Data]:
    codes, of = np.tile(np.arange(groups), sets), np.repeat(np.arange(sets), groups)

    def data(rng: Rng) -> Data:
        values = rng.normal(0, 2, sets)[of] + rng.normal(0, 0.5, len(of))
        kept = rng.random(len(of)) >= lost
        return values[kept], codes[kept], of[kept]

    return data


def families(groups: int, units: int) -> Callable[[Rng], Data]:
    of = np.repeat(np.arange(groups * units), 10)

    def data(rng: Rng) -> Data:
        values = rng.normal(0, 1, groups * units)[of] + rng.normal(0, 0.5, len(of))
        kept = (of >= units) | (rng.random(len(of)) < 0.4)  # the first group's are smaller
        return values[kept], (of // units)[kept], of[kept]

    return data


def two_shared_sets(rng: Rng) -> Data:
    values, codes, sets = in_sets(3, 2)(rng)
    rest = np.repeat([0, 1, 2], [30, 30, 5])
    parts = (values, rng.normal(0, 1, 65)), (codes, rest), (sets, np.full(65, -1))
    first, second, third = (np.concatenate(part) for part in parts)
    return first, second, third


SHAPES: dict[str, Callable[[Rng], Data]] = {
    "rare, unequal sizes": apart([2000, 300, 50, 25, 15], rate(0.03)),
    "very rare": apart([25, 1000, 1000], rate(0.01)),
    "21 groups": apart([75] * 21, rate(0.5)),
    "tiny": apart([3, 3, 3], normal(1)),
    "nearly flat": apart([5, 100, 100], lambda r, _, n: r.choice([3, 4, 5], n, p=[0.1, 0.8, 0.1])),
    "a small group spreads more": apart([10, 100, 100], normal(3, 1, 1)),
    "a small group spreads much more": apart([15, 300, 300], normal(2, 0.5, 0.5)),
    "skewed": apart([10, 40, 200], lambda r, _, n: r.lognormal(0, 1.2, n)),
    "sets": in_sets(4, 12),
    "sets with holes": in_sets(4, 12, 0.3),
    "families": families(3, 6),
    "two shared sets and many others": two_shared_sets,
}  # fmt: skip


def rejected(data: Callable[[Rng], Data], seed: int, tables: int = TABLES) -> float:
    rng = np.random.default_rng(seed)
    result = []
    for _ in range(tables):
        values, codes, sets = data(rng)
        names = tuple(str(place) for place in range(codes.max() + 1))
        table = Measurements(values.astype(float)[:, None], codes, names, ("x",))
        domain_of = np.zeros(len(names), dtype=int)
        result.append(overall_test(table, domain_of, ["d"], rng, TIMES, sets).p_values[0, 0])
    return float(np.mean(np.array(result) <= ALPHA))


@pytest.mark.parametrize("shape", SHAPES)
def test_null_tables_are_rejected_at_most_as_often_as_promised(shape: str) -> None:
    assert rejected(SHAPES[shape], 11) <= MOST


def test_one_group_of_21_that_differs_is_found() -> None:
    def one_differs(rng: Rng) -> Data:
        values, codes, sets = in_sets(21, 40)(rng)
        return values + 0.4 * (codes == 4), codes, sets

    assert rejected(one_differs, 12, tables=100) > 0.7
