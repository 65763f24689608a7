"""Results that are looked up by a digest of the sample they came from, which is not kept itself."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from hashlib import blake2b
from threading import Lock
from typing import Generic, TypeVar

from shared.stats.samples import Vector

T = TypeVar("T")
DIGEST_BYTES = 16


class Remembered(Generic[T]):
    """The latest results; memory does not grow with the samples, as with them as keys it would.

    Threads may share it. Two that miss the same sample both compute it.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._results: OrderedDict[Hashable, T] = OrderedDict()
        self._lock = Lock()

    def result(self, values: Vector, about: Hashable, compute: Callable[[], T]) -> T:
        """Return what was computed before for these values, in this order, or compute it now.

        Parameters
        ----------
        values
            [n], as they are read by `compute`.
        about
            What else the result depends on.
        """
        digest = blake2b(values.tobytes(), digest_size=DIGEST_BYTES).digest()
        with self._lock:
            if (digest, about) in self._results:
                self._results.move_to_end((digest, about))
                return self._results[digest, about]
        found = compute()
        with self._lock:
            self._results[digest, about] = found
            if len(self._results) > self._most:
                self._results.popitem(last=False)
        return found

    def __len__(self) -> int:
        return len(self._results)
