"""A number with its interval, or the reason why there is none."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Estimate:
    """An estimate; what is undefined is None with a reason, never 0."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    method: str = ""
    reason: str | None = None


def undefined(reason: str, *, value: float | None = None, method: str = "") -> Estimate:
    """Return an estimate without an interval, or without anything, and say why."""
    return Estimate(value=value, method=method, reason=reason)
