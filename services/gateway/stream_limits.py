"""Limits on event streams that clients keep open."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from fastapi import HTTPException

FOLLOW_EVERY_S = 0.3
MOST_FOLLOWERS = 50
"""How many followers look that often; of more, each looks more rarely, so that all together cost
the same however many connections somebody opens."""


class Followers:
    """Counts them: those of one process, of all runs."""

    def __init__(self) -> None:
        self.now = 0

    @contextmanager
    def one_more(self) -> Iterator[None]:
        """Count somebody while the context lasts."""
        self.now += 1
        try:
            yield
        finally:
            self.now -= 1

    @property
    def look_every_s(self) -> float:
        """How long each of them waits between two looks."""
        return FOLLOW_EVERY_S * max(1.0, self.now / MOST_FOLLOWERS)


MOST, MOST_EACH = 200, 24
"""Of one gateway, and of one person or token."""
LONGEST_S = 300.0
"""Then the browser asks again by itself, and whether it may is looked at anew."""
LOOK_EVERY_S = 2.0
MOST_EVENLY = 20
"""How many look that often; of more, each looks more rarely, so that all cost the same."""
TOO_MANY = "So many pages are kept up to date already. This one loads anew when you ask for it."


class OpenPages:
    """Counts the connections of one process."""

    def __init__(self) -> None:
        self._by_caller: Counter[str] = Counter()

    def refuse_too_many(self, caller: str) -> None:
        """Refuse one more connection than there may be; a browser then leaves the page as it is."""
        if self._by_caller.total() >= MOST or self._by_caller[caller] >= MOST_EACH:
            raise HTTPException(503, TOO_MANY)

    @contextmanager
    def one_more(self, caller: str) -> Iterator[None]:
        """Count somebody while the context lasts."""
        self._by_caller[caller] += 1
        try:
            yield
        finally:
            self._by_caller[caller] -= 1
            self._by_caller += Counter()  # forgets who has none left

    @property
    def look_every_s(self) -> float:
        """How long each of them waits between two looks."""
        return LOOK_EVERY_S * max(1.0, self._by_caller.total() / MOST_EVENLY)
