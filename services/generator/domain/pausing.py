"""How long a target that refuses every call is left alone."""

from datetime import datetime, timedelta

from biaswatch.shared.contracts import Target
from biaswatch.shared.contracts.completion import PausedTarget

LONGEST_WAIT_S = 900.0
MOST_REFUSALS = 6
"""How often one probe is refused while it tries a paused target; then that is its outcome."""


def paused_after(
    before: PausedTarget | None, target: Target, why: str, now: datetime, wait_s: float
) -> PausedTarget:
    """Return the pause after one more refusal: the waits double, up to a quarter of an hour.

    Parameters
    ----------
    before
        The pause so far; None at the first refusal.
    target
        Who refuses.
    why
        What it said, and what to correct.
    now
        The moment of the refusal.
    wait_s
        The first wait.
    """
    refusals = before.refusals + 1 if before else 1
    doubled = min(LONGEST_WAIT_S, wait_s * 2.0 ** min(refusals - 1, 20))
    return PausedTarget(
        lane=target.lane,
        target=target.name,
        why=why,
        since=before.since if before else now,
        refusals=refusals,
        next_try_at=now + timedelta(seconds=doubled),
    )
