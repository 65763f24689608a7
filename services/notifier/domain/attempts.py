"""Outcomes of attempts to deliver alarms."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from biaswatch.shared.backoff import Backoff
from biaswatch.shared.contracts import Alarm, AlarmKind, AlarmState, Estimate, Purpose
from biaswatch.shared.contracts.alarm_delivery import (
    TRIAL,
    TRIAL_MONITOR,
    AlarmDelivery,
    DeliveryState,
)

STALE_AFTER_S = 7 * 24 * 3600
"""An older alarm is kept and shown, but not sent."""
BACKOFF = Backoff(5.0, 300.0)
"""Pauses between attempts."""
RETRYABLE_STATUS = frozenset({408, 425, 429})
PERMANENT_FROM, TEMPORARY_FROM = 300, 500


@dataclass(frozen=True)
class Delivered:
    """The channel has taken the alarm."""


@dataclass(frozen=True)
class Refused:
    """The channel rejects the alarm for good."""

    why: str


@dataclass(frozen=True)
class Unavailable:
    """The channel cannot take the alarm now."""

    why: str
    retry_after_s: float | None = None
    """The pause that the channel requested, if any."""


Attempt = Delivered | Refused | Unavailable


def attempt_of(status: int, where: str, retry_after_s: float | None = None) -> Attempt:
    """Return the outcome of an attempt that got an HTTP status."""
    if status in RETRYABLE_STATUS or status >= TEMPORARY_FROM:
        return Unavailable(f"{where} answered {status}.", retry_after_s)
    if status >= PERMANENT_FROM:
        return Refused(f"{where} answered {status}.")
    return Delivered()


def is_stale(delivery: AlarmDelivery, now: datetime) -> bool:
    """Return whether an alarm is too old to be sent."""
    return (now - delivery.at).total_seconds() > STALE_AFTER_S


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
        pause = BACKOFF.requested_s(attempt.retry_after_s, delivery.attempts, jitter)
        ended["next_at"] = now + timedelta(seconds=pause)
    return delivery.model_copy(update=ended)


def trial_alarm(delivery: AlarmDelivery) -> Alarm:
    """Return the alarm that is sent to try a channel; its text says that it is a trial."""
    return Alarm(
        tenant=delivery.tenant,
        purpose=Purpose.MONITOR,
        at=delivery.at,
        monitor_id=delivery.alarm_id,
        monitor=TRIAL_MONITOR,
        epoch=0,
        round=0,
        run_id=delivery.alarm_id,
        comparison_key="words.words:group:first-second",
        title="words: first minus second, by group",
        what=AlarmKind.DISPARITY,
        state=AlarmState.RAISED,
        words="This is a trial of the channel, and no alarm: nothing was found.",
        reason="nothing, in a trial",
        gap=Estimate(value=0.0),
        log_evidence=0.0,
        channels=(delivery.channel,),
    )
