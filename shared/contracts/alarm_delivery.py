"""Deliveries of alarms to channels, and the state of channels."""

from datetime import datetime
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, NonNegativeInt

from biaswatch.shared.contracts.alarm import Alarm, AlarmState
from biaswatch.shared.contracts.identity import DEFAULT_TENANT, Name, RecordId, Token, derived_id

WEBHOOK = "webhook"
TRIAL = "trial"
"""The topic of a trial of a channel, without an alarm."""
TRIAL_MONITOR = "trial-of-a-channel"
"""The monitor that the message of a trial names."""


class DeliveryState(StrEnum):
    """How far an alarm has come on its way to one channel."""

    WAITING = "waiting"
    """It is still to be sent, or to be sent again."""
    DELIVERED = "delivered"
    REFUSED = "refused"
    """The channel rejects it: the operator must correct something."""
    EXPIRED = "expired"
    """The channel was unavailable until the alarm was too old to be sent."""


class AlarmDelivery(BaseModel):
    """One alarm on its way to one channel; what is sent follows from the alarm's record."""

    model_config = ConfigDict(frozen=True)

    alarm_id: RecordId
    """The alarm."""
    tenant: Token = DEFAULT_TENANT
    """Whose alarm it is."""
    channel: Name
    """The channel's name; of a webhook in a monitor's file, `webhook/` and the monitor."""
    topic: str
    """The subject of the alarm: deliveries of one topic are sent in order."""
    at: datetime
    """The moment of the alarm, or of its end."""
    over: bool
    """True if it reports the end of the alarm."""
    state: DeliveryState = DeliveryState.WAITING
    """How far it has come."""
    attempts: NonNegativeInt = 0
    """How often it was sent."""
    next_at: datetime
    """When it is due, if it waits; otherwise when it came to its end."""
    why: str | None = None
    """Why the last attempt failed; never an address or a secret."""


class ChannelStatus(BaseModel):
    """A channel of the operator's file, as the notifier last read it."""

    model_config = ConfigDict(frozen=True)

    name: Token
    """The name that monitors refer to."""
    kind: str
    """alertmanager, apprise or webhook."""
    seen_at: datetime
    """When a notifier last announced it."""
    trouble: str | None = None
    """Why it cannot be used now, such as a secret that is not there."""


def trial_of(channel: str, now: datetime, tenant: str) -> AlarmDelivery:
    """Return the delivery that tries a channel, once."""
    trial_id = derived_id(TRIAL, channel, now.isoformat())
    return AlarmDelivery(
        alarm_id=trial_id,
        tenant=tenant,
        channel=channel,
        topic=TRIAL,
        at=now,
        over=False,
        next_at=now,
    )


def deliveries_of(alarm: Alarm, now: datetime) -> list[AlarmDelivery]:
    """Return the deliveries of an alarm: one to each channel, and one to the monitor's webhook."""
    channels = list(dict.fromkeys(alarm.channels))
    if alarm.webhook is not None:
        channels.append(f"{WEBHOOK}/{alarm.monitor}")
    topic = f"{alarm.monitor_id} {alarm.comparison_key} {alarm.what}"
    return [
        AlarmDelivery(
            alarm_id=alarm.id,
            tenant=alarm.tenant,
            channel=channel,
            topic=topic,
            at=alarm.at,
            over=alarm.state is AlarmState.CLEARED,
            next_at=now,
        )
        for channel in channels
    ]
