"""Messages about alarms, and outcomes of attempts to deliver them."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

from biaswatch.shared.backoff import Backoff
from biaswatch.shared.contracts import Alarm, AlarmKind, AlarmState, Estimate, Purpose
from biaswatch.shared.contracts.alarm import TRIAL, AlarmDelivery, DeliveryState
from biaswatch.shared.formatting import isolated, number, on_one_line

STALE_AFTER_S = 7 * 24 * 3600
"""An older alarm is kept and shown, but not sent."""
FIRST_PAUSE_S = 5.0
MAX_PAUSE_S = 300.0
MAX_RETRY_AFTER_S = 3600.0
"""The longest pause that a channel may request."""
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
        pause = pause_s(delivery.attempts, attempt.retry_after_s, jitter)
        ended["next_at"] = now + timedelta(seconds=pause)
    return delivery.model_copy(update=ended)


def pause_s(attempts: int, retry_after_s: float | None, jitter: float) -> float:
    """Return the seconds to wait after a number of attempts; they double up to five minutes."""
    backoff_s = Backoff(FIRST_PAUSE_S, MAX_PAUSE_S).delay_s(attempts, jitter)
    return max(min(retry_after_s or 0.0, MAX_RETRY_AFTER_S), backoff_s)


MAX_LINE_CHARACTERS = 500
TRIAL_MONITOR = "trial-of-a-channel"
_HARMLESS = str.maketrans({"<": "\u2039", ">": "\u203a", "`": "'"})
"""Characters that open a tag or code in some medium, and their replacements."""
_MENTION = re.compile(r"(?<!\w)@")
_JOINER = "\u2060"


@dataclass(frozen=True)
class AlarmMessage:
    """A message for a person."""

    title: str
    """The subject: the same when an alarm is raised and when it is over."""
    body: str
    """The event, in a few lines."""
    over: bool
    """True if the alarm is over."""


def message_of(alarm: Alarm, dashboard_url: str | None) -> AlarmMessage:
    """Return an alarm in words."""
    over = alarm.state is AlarmState.CLEARED
    lines = [
        *([alarm.words] if alarm.words else []),
        f"{'Over' if over else 'Raised'}: {alarm.reason}",
        f"Gap, first group minus second: {in_numbers(alarm.gap)}",
        f"Round {alarm.round}, {moment(alarm.at)}",
    ]
    if alarm.declared_after_data:
        lines.append("The comparison was declared when the answers were known already")
    if alarm.owners:
        lines.append(f"For {', '.join(alarm.owners)}")
    written = [isolated(plain(line)) for line in lines]
    written.append(_evidence_line(alarm, dashboard_url))
    title = isolated(plain(f"{alarm.monitor}: {alarm.what} in {alarm.called}"))
    return AlarmMessage(title, "\n".join(written), over)


def plain(text: str) -> str:
    """Return text of suites, models and people as one line without markup of any medium.

    Angle brackets become others, so that neither tags nor mentions like <!channel> remain; a word
    joiner, which is invisible, breaks mentions like @everyone, and addresses that would be links.
    """
    line = " ".join(on_one_line(text).split())
    line = _MENTION.sub(f"@{_JOINER}", line.translate(_HARMLESS))
    line = line.replace("://", f":{_JOINER}//").replace("](", f"]{_JOINER}(")
    return line if len(line) <= MAX_LINE_CHARACTERS else line[: MAX_LINE_CHARACTERS - 1] + "…"


def in_numbers(gap: Estimate) -> str:
    """Return an estimate with its interval, where it has them."""
    if gap.value is None:
        return "undefined"
    if gap.low is None or gap.high is None:
        return number(gap.value)
    return f"{number(gap.value)} ({number(gap.low)} to {number(gap.high)})"


def moment(at: datetime) -> str:
    """Return a moment as people read it."""
    return f"{at:%Y-%m-%d %H:%M} UTC"


def link_of(alarm: Alarm, dashboard_url: str | None) -> str | None:
    """Return the page with the answers behind an alarm, if the gateway's address is known."""
    if dashboard_url is None:
        return None
    return f"{dashboard_url.rstrip('/')}/monitors/{alarm.monitor}/alarms#{alarm.id}"


def _evidence_line(alarm: Alarm, dashboard_url: str | None) -> str:
    """Return the link, or the command that shows the same; both are made of tokens alone."""
    link = link_of(alarm, dashboard_url)
    return f"The answers behind it: {link or f'biaswatch monitor show {alarm.monitor} --alarms'}"


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
        reason="this is a trial of the channel, and no alarm: nothing was found",
        gap=Estimate(value=0.0),
        log_evidence=0.0,
        channels=(delivery.channel,),
    )
