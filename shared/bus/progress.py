"""Progress of a stage: its failures, its last finished record, and its slowest handler."""

from dataclasses import dataclass

TROUBLED_S = 30.0
"""A stage makes no progress after failing for this long without finishing a record."""
FORGOTTEN_AFTER_S = 90.0
"""A failure this old is ignored: the record was delivered again since, to another process."""


@dataclass
class Progress:
    """The events of one stage; all times are in seconds of the same clock."""

    finished_at: float = 0.0
    """When a record was last handled or dead-lettered."""
    troubled_at: float | None = None
    """When the first record after `finished_at` failed."""
    failed_at: float = 0.0
    """When the last record failed."""
    trouble: str | None = None
    """Why the last record failed; None after a success."""
    waits: bool = False
    """The last failure was a planned wait, for another stage or for room on the bus."""

    def finish(self, now: float) -> None:
        """Record that a record was handled or dead-lettered."""
        self.finished_at, self.troubled_at, self.trouble, self.waits = now, None, None, False

    def fail(self, now: float, why: str, *, waits: bool) -> None:
        """Record that a record was returned to the bus."""
        self.troubled_at = now if self.troubled_at is None else self.troubled_at
        self.failed_at, self.trouble, self.waits = now, why, waits

    def standstill(
        self, now: float, oldest_began: float | None, stuck_after_s: float | None
    ) -> str | None:
        """Return why the stage makes no progress; None while it works or is idle.

        Parameters
        ----------
        oldest_began
            When the oldest running handler started; None while no handler runs.
        stuck_after_s
            The longest time without a finished record; None disables the check.
        """
        if self._fails(now):
            return self.trouble
        if oldest_began is None or stuck_after_s is None:
            return None
        still_s = now - max(oldest_began, self.finished_at)
        if still_s < stuck_after_s:
            return None
        return f"The handler is busy, but no record was finished for {still_s:.0f} s."

    def _fails(self, now: float) -> bool:
        if self.troubled_at is None or self.waits:
            return False
        return now - self.troubled_at >= TROUBLED_S and now - self.failed_at < FORGOTTEN_AFTER_S
