"""A limit of calls a second, as providers have them: what is over it is turned away at once."""

import math
from collections.abc import Callable


class Limiter:
    """A bucket that fills at a steady rate and holds a quarter of a second's worth, or one call."""

    def __init__(self, per_s: float, *, clock: Callable[[], float]) -> None:
        self._per_s = per_s
        self._most = max(1.0, per_s / 4)
        self._clock = clock
        self._held = self._most
        self._at = clock()

    def let_in(self) -> bool:
        """Tell whether one more call is within the limit."""
        now = self._clock()
        self._held = min(self._most, self._held + (now - self._at) * self._per_s)
        self._at = now
        # A hair's breadth is forgiven: sums of many small parts miss a whole by that much.
        if self._held < 1 and not math.isclose(self._held, 1):
            return False
        self._held -= 1
        return True
