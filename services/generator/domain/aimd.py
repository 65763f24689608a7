"""AIMD: a limit of calls in flight that grows with answers and drops by a fifth after a 429."""

from dataclasses import dataclass, field, replace

KEPT_AFTER_429 = 0.8
RECOVERY = 0.5
"""Share of the lost limit that a round of answers restores after a 429."""
GROWTH_PAST_CUT = 0.2
"""Growth per round of answers above the limit before the cut, as a share of the limit."""
LEAST_GROWTH = 2.0
"""Minimum growth per round of answers."""
EPISODE_S = 1.0
"""429s within this time, and those of calls started before the cut, cut the limit once."""
GROWTH_PAUSE_S = 10.0
"""Time without growth after a 5xx."""
START_SPREAD = 1.1
"""Starts are spread evenly over the latency, at this multiple of the even rate; calls that started
at once would end at once, and come in bursts that a rate limit rejects."""
TIMER_SLACK_S = 0.02
"""Lateness of a timer that the next start makes up for."""
LATENCY_WEIGHT = 0.1
"""Weight of the last answer in the moving average of the latency."""


@dataclass(frozen=True)
class AimdBounds:
    """Range of the limit and its initial value."""

    start: float = 20
    most: float = 100
    least: float = 1


@dataclass(frozen=True)
class AimdLimit:
    """The limit and its state; times are in seconds of one clock."""

    bounds: AimdBounds = field(default_factory=AimdBounds)
    limit: float = 20
    cut_at: float | None = None
    """Start of the last episode; None before the first 429."""
    cut_from: float = 0.0
    """The limit before the last cut."""
    paused_until: float = float("-inf")
    """End of the pause in growth after a 5xx."""
    latency_s: float = 0.0
    """Moving average of the latency; 0 before the first answer."""

    @classmethod
    def of(cls, bounds: AimdBounds) -> "AimdLimit":
        """Return the initial limit."""
        return cls(bounds, limit=min(bounds.start, bounds.most))

    @property
    def allowed(self) -> int:
        """Calls allowed in flight."""
        return int(self.limit)

    def next_start(self, now: float, due: float) -> float:
        """Return the earliest start of the next call, after one due at `due` that starts now."""
        return max(due, now - TIMER_SLACK_S) + self.latency_s / (self.limit * START_SPREAD)

    def answered(self, now: float, *, started: float, in_use: int) -> "AimdLimit":
        """Return the limit after an answer; it grows only when it is used up."""
        weight = LATENCY_WEIGHT if self.latency_s else 1.0
        latency_s = self.latency_s + weight * (now - started - self.latency_s)
        held = now < self.paused_until or in_use < self.allowed
        limit = self.limit if held else min(self.bounds.most, self.limit + self._gain())
        # Faster than `replace`; this runs for every answer.
        return AimdLimit(
            self.bounds, limit, self.cut_at, self.cut_from, self.paused_until, max(0.0, latency_s)
        )

    def _gain(self) -> float:
        """Return the growth per answer: one until the first 429, then less."""
        if self.cut_at is None:
            return 1.0
        lost = self.cut_from - self.limit
        round_gain = lost * RECOVERY if lost > 0 else self.limit * GROWTH_PAST_CUT
        return max(LEAST_GROWTH, round_gain) / self.limit

    def limited(self, now: float, *, started: float) -> "AimdLimit":
        """Return the limit after a 429 to a call that began at `started`."""
        if self.cut_at is not None and (started <= self.cut_at or now < self.cut_at + EPISODE_S):
            return self
        kept = max(self.bounds.least, self.limit * KEPT_AFTER_429)
        return replace(self, limit=kept, cut_at=now, cut_from=self.limit)

    def faulted(self, now: float) -> "AimdLimit":
        """Return the limit after a 5xx."""
        return replace(self, paused_until=now + GROWTH_PAUSE_S)
