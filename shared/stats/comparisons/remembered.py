"""Samples as keys of `functools.lru_cache`, which keeps digests and results, but no samples."""

from collections.abc import Callable, Hashable
from hashlib import blake2b
from typing import TypeVar

import numpy as np

from biaswatch.shared.stats.samples import Vector

T = TypeVar("T")
DIGEST_BYTES = 16
_NOTHING: Vector = np.empty(0)


class SampleKey:
    """Equal to another where the values, and their order, are the same."""

    __slots__ = ("digest", "values")

    def __init__(self, values: Vector) -> None:
        self.digest = blake2b(values.tobytes(), digest_size=DIGEST_BYTES).digest()
        self.values = values
        """[n], empty as soon as the result is there."""

    def __hash__(self) -> int:
        return hash(self.digest)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SampleKey) and self.digest == other.digest


def remembered(cached: Callable[..., T], values: Vector, *about: Hashable) -> T:
    """Return `cached(key, *about)`, and let go of the values that the cache keeps the key of.

    With values as keys, memory would grow with the size of the samples that were looked at.

    Parameters
    ----------
    cached
        A function under `lru_cache` that takes a `SampleKey`.
    values
        [n], as they are read by it.
    about
        What else the result depends on.
    """
    key = SampleKey(values)
    try:
        return cached(key, *about)
    finally:
        key.values = _NOTHING
