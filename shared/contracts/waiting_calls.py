"""Why calls of a run wait: a paused target, or a batch at the provider."""

from datetime import datetime

from pydantic import BaseModel, ConfigDict


class PausedTarget(BaseModel):
    """The error of the target, as the generator saw it; its probes wait meanwhile."""

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


class BatchProgress(BaseModel):
    """A batch of a run at its provider."""

    model_config = ConfigDict(frozen=True)

    target: str
    """The target as a person wrote it."""
    requests: int
    """How many calls are in the batch."""
    done: int
    """How many of them are answered, as far as the provider says."""
    submitted_at: datetime
    """When it was sent."""
    expires_at: datetime | None
    """When the provider ends it; null until the provider has confirmed it."""

    def in_words(self) -> str:
        """Return one sentence: how much is answered, and until when the rest may take."""
        since = f"{self.target}: {self.requests:,} calls in a batch"
        if self.expires_at is None:
            return f"{since}, which is being submitted since {self.submitted_at:%H:%M} UTC."
        return (
            f"{since}, {self.done:,} of them answered; submitted {self.submitted_at:%H:%M} UTC,"
            f" expires {self.expires_at:%Y-%m-%d %H:%M} UTC."
        )
