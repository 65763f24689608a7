"""How an attempt to deliver an alarm ended, and what follows: done, given up, or when again."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from biaswatch.shared.backoff import Backoff
from biaswatch.shared.contracts.alarm import TRIAL, AlarmDelivery, DeliveryState

STALE_S = 7 * 24 * 3600
"""What is older wakes nobody; it is kept and shown all the same."""
FIRST_PAUSE_S = 5.0
LONGEST_PAUSE_S = 300.0
LONGEST_ASKED_S = 3600.0
COME_AGAIN = frozenset({408, 425, 429})
PERMANENT_FROM, TEMPORARY_FROM = 300, 500


@dataclass(frozen=True)
class Delivered:
    """The channel has taken the alarm."""


@dataclass(frozen=True)
class Refused:
    """The channel will not take it, however often it is asked."""

    why: str


@dataclass(frozen=True)
class Unavailable:
    """The channel cannot take it now."""

    why: str
    retry_after_s: float | None = None
    """What the channel asked for, if it did."""


Attempt = Delivered | Refused | Unavailable


def attempt_of(status: int, where: str, retry_after_s: float | None = None) -> Attempt:
    """Return how an attempt ended that was answered with an HTTP status."""
    if status in COME_AGAIN or status >= TEMPORARY_FROM:
        return Unavailable(f"{where} answered {status}.", retry_after_s)
    if status >= PERMANENT_FROM:
        return Refused(f"{where} answered {status}.")
    return Delivered()


def is_stale(delivery: AlarmDelivery, now: datetime) -> bool:
    """Tell whether an alarm is too old to be sent."""
    return (now - delivery.at).total_seconds() > STALE_S


def settled(
    delivery: AlarmDelivery, attempt: Attempt, now: datetime, jitter: float
) -> AlarmDelivery:
    """Return a delivery after an attempt; a trial is tried once. `jitter` is within [0, 1)."""
    ended = {"next_at": now, "why": None if isinstance(attempt, Delivered) else attempt.why}
    if isinstance(attempt, Delivered):
        ended["state"] = DeliveryState.DELIVERED
    elif isinstance(attempt, Refused) or delivery.topic == TRIAL:
        ended["state"] = DeliveryState.REFUSED
    elif is_stale(delivery, now):
        ended["state"] = DeliveryState.EXPIRED
    else:
        pause = pause_s(delivery.attempts, attempt.retry_after_s, jitter)
        ended["next_at"] = now + timedelta(seconds=pause)
    return delivery.model_copy(update=ended)


def pause_s(attempts: int, asked_s: float | None, jitter: float) -> float:
    """Return how long to wait after that many attempts; it doubles up to five minutes."""
    backoff_s = Backoff(FIRST_PAUSE_S, LONGEST_PAUSE_S).delay_s(attempts, jitter)
    return max(min(asked_s or 0.0, LONGEST_ASKED_S), backoff_s)
