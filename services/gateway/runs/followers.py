"""Who follows runs now, and how often each of them looks."""

from collections.abc import Iterator
from contextlib import contextmanager

LOOK_EVERY_S = 0.3
MOST_EVENLY = 50
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
        return LOOK_EVERY_S * max(1.0, self.now / MOST_EVENLY)
