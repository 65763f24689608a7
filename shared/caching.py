"""A cache of the latest results."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class LatestResults(Generic[K, V]):
    """Results by key; beyond `max_entries`, the one that was used longest ago is dropped."""

    def __init__(self, max_entries: int) -> None:
        self._results: OrderedDict[K, tuple[V]] = OrderedDict()
        self._max_entries = max_entries

    def __contains__(self, key: K) -> bool:
        return key in self._results

    def get(self, key: K, compute: Callable[[], V]) -> V:
        """Return the result of a key, computed at its first use."""
        # Each step on the dictionary is atomic: threads may compute a result twice, never lose one.
        entry = self._results.pop(key, None) or (compute(),)
        self._results[key] = entry
        if len(self._results) > self._max_entries:
            self._results.popitem(last=False)
        return entry[0]
