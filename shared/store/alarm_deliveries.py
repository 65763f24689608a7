"""Deliveries of alarms to channels: what is due, who sends it, and the outcomes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, and_, exists, func, not_, or_, select, update

from biaswatch.shared.contracts.alarm_delivery import (
    TRIAL,
    AlarmDelivery,
    ChannelStatus,
    DeliveryState,
)
from biaswatch.shared.store.database import Database
from biaswatch.shared.store.monitoring_tables import ALARM_DELIVERIES, CHANNELS

CHANNEL_TTL = timedelta(minutes=10)
"""Age of a channel's last announcement beyond which the channel no longer exists."""
DELIVERY = ALARM_DELIVERIES.c
EARLIER = ALARM_DELIVERIES.alias("earlier")
WAITS = DELIVERY.state == DeliveryState.WAITING


@dataclass(eq=False)
class AlarmDeliveries:
    """The deliveries of all alarms; replicas share them, and one sends each at a time.

    A reader with a tenant sees and changes that tenant's only; services send all.
    """

    db: Database

    def expect(self, deliveries: Sequence[AlarmDelivery]) -> None:
        """Add deliveries; known ones stay unchanged."""
        self.db.insert_new(ALARM_DELIVERIES, [delivery.model_dump() for delivery in deliveries])

    def due_channels(self, now: datetime) -> list[str]:
        """Return the channels with due deliveries."""
        query = select(DELIVERY.channel).where(WAITS, DELIVERY.next_at <= now)
        return self.db.scalars(query.distinct().order_by(DELIVERY.channel))

    def claim(self, channel: str, now: datetime, lease_s: float) -> AlarmDelivery | None:
        """Return a channel's next delivery, for this process alone until the lease expires.

        Alarms of one topic are sent in order, so that an alarm ends after it was announced. None
        if no delivery is due, or another process was faster.
        """
        query = select(ALARM_DELIVERIES).where(
            WAITS, DELIVERY.next_at <= now, DELIVERY.channel == channel, ~_earlier_of_topic_waits()
        )
        query = query.order_by(DELIVERY.next_at, DELIVERY.at, DELIVERY.alarm_id).limit(1)
        with self.db.writing() as connection:
            row = connection.execute(query).first()
            if row is None:
                return None
            delivery = AlarmDelivery.model_validate(row._asdict())
            unchanged = (_is(delivery), DELIVERY.next_at == delivery.next_at, WAITS)
            until = now + timedelta(seconds=lease_s)
            changes = {"next_at": until, "attempts": delivery.attempts + 1}
            claim = update(ALARM_DELIVERIES).where(*unchanged).values(**changes)
            if connection.execute(claim).rowcount != 1:
                return None
        return delivery.model_copy(update=changes)

    def settle(self, delivery: AlarmDelivery) -> None:
        """Record the outcome of an attempt, with the time of the next or of the end."""
        values = delivery.model_dump(include={"state", "next_at", "why", "attempts"})
        self.db.execute(update(ALARM_DELIVERIES).where(_is(delivery)).values(**values))

    def of_alarms(self, alarm_ids: Iterable[str]) -> list[AlarmDelivery]:
        """Return the deliveries of alarms, by channel."""
        query = select(ALARM_DELIVERIES).where(*self.db.visible(ALARM_DELIVERIES))
        query = query.order_by(DELIVERY.channel, DELIVERY.alarm_id)
        rows = self.db.rows_in(query, DELIVERY.alarm_id, alarm_ids)
        return [AlarmDelivery.model_validate(row._asdict()) for row in rows]

    def counts(self, since: datetime) -> dict[tuple[str, DeliveryState], int]:
        """Count the deliveries of alarms since a time, by channel and state, without trials."""
        query = select(DELIVERY.channel, DELIVERY.state, func.count().label("deliveries")).where(
            DELIVERY.at >= since, DELIVERY.topic != TRIAL, *self.db.visible(ALARM_DELIVERIES)
        )
        rows = self.db.rows(query.group_by(DELIVERY.channel, DELIVERY.state))
        return {(row.channel, DeliveryState(row.state)): row.deliveries for row in rows}

    def latest_trouble(self, channel: str) -> str | None:
        """Return the reason of a channel's latest failed delivery."""
        query = select(DELIVERY.why).where(
            DELIVERY.channel == channel,
            DELIVERY.state != DeliveryState.DELIVERED,
            DELIVERY.why.is_not(None),
            DELIVERY.topic != TRIAL,
            *self.db.visible(ALARM_DELIVERIES),
        )
        why: str | None = self.db.scalar(query.order_by(DELIVERY.next_at.desc()).limit(1))
        return why

    def retry(self, channel: str, now: datetime) -> int:
        """Retry refused, expired and waiting deliveries of a channel now; return their number."""
        ended = DELIVERY.state.in_((DeliveryState.REFUSED, DeliveryState.EXPIRED))
        failed = or_(and_(ended, DELIVERY.topic != TRIAL), and_(WAITS, DELIVERY.attempts > 0))
        statement = update(ALARM_DELIVERIES).where(
            DELIVERY.channel == channel, failed, *self.db.visible(ALARM_DELIVERIES)
        )
        return self.db.execute(statement.values(state=DeliveryState.WAITING, next_at=now))


@dataclass(eq=False)
class Channels:
    """The channels of notifiers, by name."""

    db: Database

    def announce(self, channels: Sequence[ChannelStatus]) -> None:
        """Record that channels exist."""
        self.db.upsert(CHANNELS, [channel.model_dump() for channel in channels])

    def known(self, at: datetime) -> list[ChannelStatus]:
        """Return the channels that exist at a time, by name."""
        announced = CHANNELS.c.seen_at >= at - CHANNEL_TTL
        query = select(CHANNELS).where(announced).order_by(CHANNELS.c.name)
        return [ChannelStatus.model_validate(row._asdict()) for row in self.db.rows(query)]


def _is(delivery: AlarmDelivery) -> ColumnElement[bool]:
    return and_(DELIVERY.alarm_id == delivery.alarm_id, DELIVERY.channel == delivery.channel)


def _earlier_of_topic_waits() -> ColumnElement[bool]:
    return exists().where(
        EARLIER.c.channel == DELIVERY.channel,
        EARLIER.c.topic == DELIVERY.topic,
        DELIVERY.topic != TRIAL,
        EARLIER.c.state == DeliveryState.WAITING,
        or_(
            EARLIER.c.at < DELIVERY.at,
            and_(EARLIER.c.at == DELIVERY.at, EARLIER.c.over, not_(DELIVERY.over)),
        ),
    )
