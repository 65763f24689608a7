"""Batches: like lengths together, sizes found by measurement, and one bad item costs one item."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

CLASSES = (16, 32, 64, 128, 256, 512)
"""Tokens a text has at most, by class of length: what pays for short texts does not for long."""
WORTH = 1.05
"""A larger batch is taken where it is this much quicker a text; within noise, the smaller one."""


class OutOfMemory(Exception):  # noqa: N818 - what became of a batch, answered by halving it
    """The device has too little memory for a batch of this size."""


def length_class(tokens: int) -> int:
    """Return the class of a length."""
    return next((each for each in CLASSES if tokens <= each), CLASSES[-1])


def best_size(seconds_for: Callable[[int], float], sizes: Sequence[int]) -> int:
    """Return the batch size with the quickest text; stop looking once two in a row are no better.

    Parameters
    ----------
    seconds_for
        How long a batch of this size takes; raises OutOfMemory where it does not fit.
    sizes
        Those to try, from the smallest, which is taken to fit.
    """
    best, quickest, misses = sizes[0], float("inf"), 0
    for size in sizes:
        try:
            each_s = seconds_for(size) / size
        except OutOfMemory:
            break
        if each_s * WORTH < quickest:
            best, quickest, misses = size, each_s, 0
        else:
            misses += 1
        if misses == 2:
            break
    return best


class BatchSizes:
    """The batch size for each class of length: measured when first needed, halved when too much."""

    def __init__(self, measure: Callable[[int], int]) -> None:
        self._measure = measure
        self._sizes: dict[int, int] = {}

    def of(self, tokens: int) -> int:
        """Return the size for texts of this length."""
        found = length_class(tokens)
        if found not in self._sizes:
            self._sizes[found] = self._measure(found)
        return self._sizes[found]

    def halve(self, tokens: int, tried: int) -> None:
        """Take half of what did not fit, for this length and all longer ones."""
        for each in CLASSES:
            if each >= length_class(tokens):
                self._sizes[each] = max(1, min(self._sizes.get(each, tried), tried // 2))


def batches(lengths: Sequence[int], size_of: Callable[[int], int]) -> Iterator[list[int]]:
    """Return the indices of the items, the longest first: what does not fit shows at once."""
    order = sorted(range(len(lengths)), key=lambda index: -lengths[index])
    start = 0
    while start < len(order):
        size = size_of(lengths[order[start]])
        yield order[start : start + size]
        start += size


def run_in_batches(
    items: Sequence[T],
    lengths: Sequence[int],
    forward: Callable[[Sequence[T]], Sequence[R]],
    sizes: BatchSizes,
) -> list[R | Exception]:
    """Return each item's result in their order, or what went wrong with it."""
    results: dict[int, R | Exception] = {}
    for indices in batches(lengths, sizes.of):
        longest = lengths[indices[0]]
        outcomes = _forward([items[index] for index in indices], longest, forward, sizes)
        results.update(zip(indices, outcomes, strict=True))
    return [results[index] for index in range(len(items))]


def _forward(
    items: Sequence[T],
    longest: int,
    forward: Callable[[Sequence[T]], Sequence[R]],
    sizes: BatchSizes,
) -> Sequence[R | Exception]:
    try:
        return forward(items)
    except OutOfMemory as full:
        if len(items) == 1:
            return [full]
        sizes.halve(longest, len(items))
        step = len(items) // 2
    except Exception as error:  # noqa: BLE001 - given back as the item's own result
        if len(items) == 1:
            return [error]
        step = 1
    return [
        result
        for start in range(0, len(items), step)
        for result in _forward(items[start : start + step], longest, forward, sizes)
    ]
