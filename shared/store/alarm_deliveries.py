"""Alarms on their way to channels: what is due, who sends it, and how each delivery ended."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, Engine, and_, exists, func, not_, or_, select, true, update

from biaswatch.shared.contracts.alarm import TRIAL, AlarmDelivery, ChannelStatus, DeliveryState
from biaswatch.shared.store.engine import (
    ScopeNow,
    chunks,
    everything,
    insert_new,
    read_transaction,
    upsert,
    write_transaction,
)
from biaswatch.shared.store.monitoring_tables import ALARM_DELIVERIES, CHANNELS
from biaswatch.shared.store.statements import among

_MINE = ALARM_DELIVERIES.c
_EARLIER = ALARM_DELIVERIES.alias("earlier")


class AlarmDeliveries:
    """The deliveries of all alarms; replicas share them, and each is sent by one at a time.

    People see and change those of their own tenant alone; services send all.
    """

    def __init__(self, engine: Engine, scope: ScopeNow = everything) -> None:
        self._engine = engine
        self._scope = scope

    def expect(self, deliveries: Sequence[AlarmDelivery]) -> None:
        """Note what is to be sent; what is known already stays as it is."""
        rows = [each.model_dump() for each in deliveries]
        with write_transaction(self._engine) as connection:
            insert_new(connection, ALARM_DELIVERIES, rows)

    def due_channels(self, now: datetime) -> list[str]:
        """Return the channels for which something is due."""
        query = select(_MINE.channel).where(_is_due(now)).distinct().order_by(_MINE.channel)
        with read_transaction(self._engine) as connection:
            return list(connection.scalars(query))

    def claim(self, channel: str, now: datetime, lease_s: float) -> AlarmDelivery | None:
        """Return what is to be sent by a channel next, for this process alone while the lease runs.

        Of one topic the earlier alarm is sent first: nobody hears that an alarm is over before
        hearing of it. None where nothing is due, or another process was quicker.
        """
        query = select(ALARM_DELIVERIES).where(
            _is_due(now), _MINE.channel == channel, ~_earlier_of_topic_waits()
        )
        until = now + timedelta(seconds=lease_s)
        with write_transaction(self._engine) as connection:
            order = (_MINE.next_at, _MINE.at, _MINE.alarm_id)
            row = connection.execute(query.order_by(*order).limit(1)).mappings().first()
            if row is None:
                return None
            found = AlarmDelivery.model_validate(dict(row))
            same = and_(_is(found), _MINE.next_at == found.next_at, _waits())
            changed = {"next_at": until, "attempts": found.attempts + 1}
            taken = connection.execute(update(ALARM_DELIVERIES).where(same).values(**changed))
            if taken.rowcount != 1:
                return None
        return found.model_copy(update=changed)

    def settle(self, delivery: AlarmDelivery) -> None:
        """Note how an attempt ended: its state, why, and when it is due again or came to an end."""
        values = {"state": delivery.state, "next_at": delivery.next_at, "why": delivery.why}
        with write_transaction(self._engine) as connection:
            connection.execute(update(ALARM_DELIVERIES).where(_is(delivery)).values(**values))

    def of_alarms(self, alarm_ids: Iterable[str]) -> list[AlarmDelivery]:
        """Return the deliveries of alarms, by channel."""
        query = select(ALARM_DELIVERIES).where(self._seen())
        query = query.order_by(_MINE.channel, _MINE.alarm_id)
        with read_transaction(self._engine) as connection:
            return [
                AlarmDelivery.model_validate(dict(row))
                for some in chunks(alarm_ids)
                for row in connection.execute(query.where(among(_MINE.alarm_id, some))).mappings()
            ]

    def counts(self, since: datetime) -> dict[tuple[str, DeliveryState], int]:
        """Count the deliveries of alarms since a moment, by channel and state; trials are none."""
        query = select(_MINE.channel, _MINE.state, func.count())
        query = query.where(_MINE.at >= since, _MINE.topic != TRIAL, self._seen())
        with read_transaction(self._engine) as connection:
            rows = connection.execute(query.group_by(_MINE.channel, _MINE.state))
            return {(channel, DeliveryState(state)): n for channel, state, n in rows}

    def latest_trouble(self, channel: str) -> str | None:
        """Return why the last delivery of a channel that is not delivered has failed so far."""
        query = select(_MINE.why).where(
            _MINE.channel == channel,
            _MINE.state != DeliveryState.DELIVERED,
            _MINE.why.is_not(None),
            _MINE.topic != TRIAL,
            self._seen(),
        )
        with read_transaction(self._engine) as connection:
            return connection.scalar(query.order_by(_MINE.next_at.desc()).limit(1))

    def retry(self, channel: str, now: datetime) -> int:
        """Send again what a channel has refused, or not taken in time; return how many those are.

        What waits for its next attempt is due now, too.
        """
        ended = _MINE.state.in_((DeliveryState.REFUSED, DeliveryState.EXPIRED))
        again = and_(ended, _MINE.topic != TRIAL)
        waiting = and_(_waits(), _MINE.attempts > 0)
        values = {"state": DeliveryState.WAITING, "next_at": now}
        with write_transaction(self._engine) as connection:
            statement = update(ALARM_DELIVERIES).where(
                _MINE.channel == channel, again | waiting, self._seen()
            )
            return connection.execute(statement.values(**values)).rowcount

    def _seen(self) -> ColumnElement[bool]:
        tenant = self._scope().tenant
        return true() if tenant is None else _MINE.tenant == tenant


class Channels:
    """The channels that notifiers have, by name."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def announce(self, channels: Sequence[ChannelStatus]) -> None:
        """Note that these channels are there."""
        with write_transaction(self._engine) as connection:
            for each in channels:
                row = each.model_dump()
                statement = upsert(connection, CHANNELS).values(row)
                changed = {name: value for name, value in row.items() if name != "name"}
                connection.execute(
                    statement.on_conflict_do_update(index_elements=["name"], set_=changed)
                )

    def known(self, since: datetime) -> list[ChannelStatus]:
        """Return the channels that a notifier has announced since a moment, by name."""
        query = select(CHANNELS).where(CHANNELS.c.seen_at >= since).order_by(CHANNELS.c.name)
        with read_transaction(self._engine) as connection:
            rows = connection.execute(query).mappings().all()
        return [ChannelStatus.model_validate(dict(row)) for row in rows]


def _waits() -> ColumnElement[bool]:
    return _MINE.state == DeliveryState.WAITING


def _is_due(now: datetime) -> ColumnElement[bool]:
    return and_(_waits(), _MINE.next_at <= now)


def _is(delivery: AlarmDelivery) -> ColumnElement[bool]:
    return and_(_MINE.alarm_id == delivery.alarm_id, _MINE.channel == delivery.channel)


def _earlier_of_topic_waits() -> ColumnElement[bool]:
    return exists().where(
        _EARLIER.c.channel == _MINE.channel,
        _EARLIER.c.topic == _MINE.topic,
        _MINE.topic != TRIAL,
        _EARLIER.c.state == DeliveryState.WAITING,
        or_(
            _EARLIER.c.at < _MINE.at,
            and_(_EARLIER.c.at == _MINE.at, _EARLIER.c.over, not_(_MINE.over)),
        ),
    )
