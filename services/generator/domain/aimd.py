"""AIMD: how many calls may be in flight, more while answers come, a fifth fewer after a 429."""

from dataclasses import dataclass, field, replace

KEPT_AFTER_429 = 0.8
RECOVERY = 0.5
"""What a full round of answers gives back after a 429, as a share of the way to where the limit was
cut: quick at first, and slow where the next 429 is to be expected."""
GROWTH_PAST_CUT = 0.2
"""What a round adds once the limit is past that, as a share of it: the cut was too deep then."""
LEAST_GROWTH = 2.0
"""What a round of answers adds at least."""
EPISODE_S = 1.0
"""All 429s within this, and those of calls started before the cut, are one episode."""
GROWTH_PAUSE_S = 10.0
"""How long a 5xx stops growth: a server in trouble is not asked for more."""
START_SPREAD = 1.1
"""How much faster than evenly calls may begin: calls that all began at once would all end at once,
and for ever come in bursts that a limit of calls a second turns away."""
TIMER_SLACK_S = 0.02
"""How much of its time a start may make up for: timers are late, and must not slow the calls."""
LATENCY_WEIGHT = 0.1
"""How much of the last answer's time goes into what is expected of the next."""


@dataclass(frozen=True)
class AimdBounds:
    """Between what the limit moves."""

    start: float = 20
    most: float = 100
    least: float = 1


@dataclass(frozen=True)
class AimdLimit:
    """The limit and what is remembered to move it; times are those of one clock."""

    bounds: AimdBounds = field(default_factory=AimdBounds)
    limit: float = 20
    cut_at: float | None = None
    """When the last episode began; None before the first 429."""
    cut_from: float = 0.0
    """Where the limit stood before the cut."""
    paused_until: float = float("-inf")
    """Until when a fault of the server holds growth back."""
    latency_s: float = 0.0
    """How long an answer takes, as far as is known."""

    @classmethod
    def of(cls, bounds: AimdBounds) -> "AimdLimit":
        """Return the limit a target begins with."""
        return cls(bounds, limit=min(bounds.start, bounds.most))

    @property
    def allowed(self) -> int:
        """How many calls may be in flight."""
        return int(self.limit)

    def next_start(self, now: float, due: float) -> float:
        """Return when the next call may begin, after one that was due at `due` and begins now."""
        return max(due, now - TIMER_SLACK_S) + self.latency_s / (self.limit * START_SPREAD)

    def answered(self, now: float, *, started: float, in_use: int) -> "AimdLimit":
        """Return the limit after an answer; one that is not used up is not raised."""
        took = now - started
        weight = LATENCY_WEIGHT if self.latency_s else 1.0
        seen = self.latency_s + weight * (took - self.latency_s)
        held = now < self.paused_until or in_use < self.allowed
        limit = self.limit if held else min(self.bounds.most, self.limit + self._gain())
        # Not by `replace`, which looks at every field: each answer comes here.
        return AimdLimit(
            self.bounds, limit, self.cut_at, self.cut_from, self.paused_until, max(0.0, seen)
        )

    def _gain(self) -> float:
        """Return what one answer adds: a whole call until the first 429, then a part of one."""
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
