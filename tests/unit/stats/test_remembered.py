"""Results are looked up by what they came from, and what they came from is let go."""

import gc
import weakref
from collections.abc import Callable

import numpy as np

from shared.stats.comparisons.remembered import Remembered
from shared.stats.samples import Vector


def counted(calls: list[float]) -> Callable[[Vector], Callable[[], float]]:
    def of(values: Vector) -> Callable[[], float]:
        def compute() -> float:
            calls.append(float(values.sum()))
            return calls[-1]

        return compute

    return of


def test_a_sample_is_computed_once_and_again_for_another_range() -> None:
    calls: list[float] = []
    total, kept = counted(calls), Remembered[float](8)
    for values in (np.array([1.0, 2.0]), np.array([1.0, 2.0])):
        assert kept.result(values, (0, 5), total(values)) == 3
    assert len(calls) == 1
    kept.result(np.array([1.0, 2.0]), (0, 7), total(np.array([1.0, 2.0])))
    assert len(calls) == 2


def test_the_result_that_was_wanted_longest_ago_goes_first() -> None:
    calls: list[float] = []
    total, kept = counted(calls), Remembered[float](2)
    first, second, third = (np.array([value]) for value in (1.0, 2.0, 3.0))
    for values in (first, second, first, third, first):
        kept.result(values, None, total(values))
    assert calls == [1, 2, 3]
    kept.result(second, None, total(second))
    assert calls == [1, 2, 3, 2]
    assert len(kept) == 2


def test_a_large_sample_is_not_kept_in_memory() -> None:
    kept = Remembered[float](8)
    values = np.arange(100_000, dtype=np.float64)
    there = weakref.ref(values)
    kept.result(values, None, lambda: 0.0)
    del values
    gc.collect()
    assert there() is None
