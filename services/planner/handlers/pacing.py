"""Limits on published questions, so that no run fills the queue of a target.

The questions of a target wait in one queue. A run that put all of its questions there would let a
small run wait for all of them. Each run therefore publishes the next part once an earlier part is
answered, about three seconds of answers ahead, so that runs of one target take turns.
"""

from collections import deque
from collections.abc import Callable, Collection, Set
from dataclasses import dataclass, field
from datetime import datetime, timedelta

AHEAD_S = 3.0
"""Seconds of answers that a run may have waiting at a target, where that is more than a part."""
MAX_PARTS_AHEAD = 40


@dataclass
class _PublishedPart:
    """A part whose answers are awaited."""

    at: datetime
    response_ids: Collection[str]


@dataclass
class _Pace:
    """The published parts of one pass, oldest first."""

    answered_at: datetime
    """When a part was last answered, or published where none waited."""
    progressed_at: datetime
    parts: deque[_PublishedPart] = field(default_factory=deque)
    parts_ahead: int = 1
    missing: int = 0
    """Missing answers of the oldest part at the last look."""


class Pacing:
    """Decides whether a pass may publish its next part; a restarted planner starts over.

    `missing` returns which of some responses are not stored yet.
    """

    def __init__(
        self,
        missing: Callable[[Collection[str]], Set[str]],
        *,
        now: Callable[[], datetime],
        stalled_s: float,
    ) -> None:
        self._missing = missing
        self._now = now
        self._stalled_after = timedelta(seconds=stalled_s)
        self._paces: dict[object, _Pace] = {}

    def published(self, key: object, response_ids: Collection[str]) -> None:
        """Note that a pass has published a part."""
        if not response_ids:
            return
        now = self._now()
        pace = self._paces.setdefault(key, _Pace(now, now))
        if not pace.parts:
            pace.answered_at = now
        pace.parts.append(_PublishedPart(now, response_ids))

    def ended(self, key: object) -> None:
        """Forget a pass."""
        self._paces.pop(key, None)

    def may_publish(self, key: object) -> bool:
        """Return whether a pass may publish its next part.

        Where no answer arrives for long, it may: questions may be lost, and are asked again once
        all are published.
        """
        if (pace := self._paces.get(key)) is None:
            return True
        answered = 0
        while pace.parts and self._is_answered(pace, pace.parts[0]):
            pace.parts.popleft()
            answered += 1
        if answered:
            now = self._now()
            elapsed_s = max((now - pace.answered_at).total_seconds(), AHEAD_S / MAX_PARTS_AHEAD)
            parts_ahead = int(answered * AHEAD_S / elapsed_s)
            pace.parts_ahead = min(max(1, parts_ahead), MAX_PARTS_AHEAD)
            pace.answered_at = now
        return len(pace.parts) < pace.parts_ahead

    def _is_answered(self, pace: _Pace, part: _PublishedPart) -> bool:
        """Return whether half of a part is answered, or nothing has arrived for long."""
        now, missing = self._now(), len(self._missing(part.response_ids))
        if 2 * missing <= len(part.response_ids):
            return True
        if missing != pace.missing:
            pace.missing, pace.progressed_at = missing, now
        if now - max(pace.progressed_at, part.at) < self._stalled_after:
            return False
        pace.progressed_at = now
        return True
