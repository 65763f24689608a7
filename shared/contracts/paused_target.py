"""A target that is not asked for now, because it refuses every call."""

from datetime import datetime

from pydantic import BaseModel, ConfigDict


class PausedTarget(BaseModel):
    """What the generator found out about one target; its probes wait meanwhile."""

    model_config = ConfigDict(frozen=True)

    lane: str
    """The target's word in subjects."""
    target: str
    """The target as a person wrote it."""
    why: str
    """One sentence: what it answers, and what to correct."""
    since: datetime
    """When it was first refused."""
    refusals: int
    """How often it has been tried since, and refused."""
    next_try_at: datetime
    """When one probe tries it again."""

    def in_words(self) -> str:
        """Return what a person needs to know: what waits, why, until when, and what to do."""
        times = "once" if self.refusals == 1 else f"{self.refusals} times"
        return (
            f"{self.target} is paused since {self.since:%Y-%m-%d %H:%M} UTC, and its probes wait."
            f" {self.why} It was tried {times}; the next try is at {self.next_try_at:%H:%M:%S} UTC,"
            f" or at once after `biaswatch targets resume '{self.target}'`."
        )
