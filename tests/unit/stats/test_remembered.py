"""Results are looked up by what they came from, and what they came from is let go."""

import gc
import weakref
from functools import lru_cache

import numpy as np

from biaswatch.shared.stats.comparisons.confidence_curve import SampleKey, remembered


def test_a_sample_is_computed_once_and_again_for_another_range_or_order() -> None:
    calls: list[list[float]] = []

    @lru_cache
    def total(sample: SampleKey, _end: float) -> float:
        calls.append(sample.values.tolist())
        return float(sample.values.sum())

    for _ in range(2):
        assert remembered(total, np.array([1.0, 2.0]), 5) == 3
    assert calls == [[1, 2]]
    assert remembered(total, np.array([1.0, 2.0]), 7) == 3
    assert remembered(total, np.array([2.0, 1.0]), 5) == 3
    assert calls == [[1, 2], [1, 2], [2, 1]]


def test_a_large_sample_is_not_kept_in_memory() -> None:
    @lru_cache
    def largest(sample: SampleKey) -> float:
        return float(sample.values.max())

    values = np.arange(100_000, dtype=np.float64)
    there = weakref.ref(values)
    assert remembered(largest, values) == 99_999
    del values
    gc.collect()
    assert there() is None
