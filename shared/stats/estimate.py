"""What statistics return: an estimate with its interval; and the check of a level.

Services without numpy import this, so it imports nothing.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class IntervalEstimate:
    """An estimate; what is undefined is None with a reason, never 0."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    method: str = ""
    reason: str | None = None


def undefined(reason: str, *, value: float | None = None, method: str = "") -> IntervalEstimate:
    """Return an estimate without an interval, or without a value too, and the reason."""
    return IntervalEstimate(value=value, method=method, reason=reason)


def check_alpha(alpha: float) -> None:
    """Raise ValueError, with one sentence, unless alpha lies between 0 and 1."""
    if not 0 < alpha < 1:
        raise ValueError(f"alpha is {alpha:g}, but it has to lie between 0 and 1.")
