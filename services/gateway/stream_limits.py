"""Limits on event streams that clients keep open."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from fastapi import HTTPException

MAX_STREAMS, MAX_STREAMS_PER_CALLER = 200, 24
"""Streams of pages of one gateway, and of one person or token."""
MAX_STREAM_S = 300.0
"""Then the browser reconnects, and its right to read is checked again."""
TOO_MANY_STREAMS = (
    "Too many pages are kept up to date already. This one updates when you reload it."
)


class OpenStreams:
    """Counts the open streams of this process, and slows down polling when there are many."""

    def __init__(self, poll_s: float, full_rate_streams: int) -> None:
        """Poll every `poll_s`, less often when there are more than `full_rate_streams`."""
        self._poll_s = poll_s
        self._full_rate_streams = full_rate_streams
        self._by_caller: Counter[str] = Counter()

    @property
    def total(self) -> int:
        """The number of open streams."""
        return self._by_caller.total()

    @property
    def poll_s(self) -> float:
        """The time between two polls of one stream; all streams together cost the same."""
        return self._poll_s * max(1.0, self.total / self._full_rate_streams)

    def check_limits(self, caller: str) -> None:
        """Refuse a stream beyond the limits; a browser then leaves the page as it is."""
        if self.total >= MAX_STREAMS or self._by_caller[caller] >= MAX_STREAMS_PER_CALLER:
            raise HTTPException(503, TOO_MANY_STREAMS)

    @contextmanager
    def counted(self, caller: str = "") -> Iterator[None]:
        """Count a stream while the context lasts."""
        self._by_caller[caller] += 1
        try:
            yield
        finally:
            self._by_caller[caller] -= 1
            self._by_caller += Counter()  # removes callers without streams


def run_streams() -> OpenStreams:
    """Return the counter for clients that follow runs over the API."""
    return OpenStreams(poll_s=0.3, full_rate_streams=50)


def page_streams() -> OpenStreams:
    """Return the counter for pages that update themselves."""
    return OpenStreams(poll_s=2.0, full_rate_streams=20)
