"""Channels as the store has them; what became of a trial."""

from collections.abc import Callable
from datetime import datetime, timedelta

from biaswatch.shared.contracts.alarm_delivery import AlarmDelivery
from biaswatch.shared.errors import NotFoundError
from biaswatch.shared.requests.channel_views import ChannelView
from biaswatch.shared.store import Store

ANNOUNCED_WITHIN = timedelta(minutes=10)
"""A channel that no diagnoser has announced for so long is gone."""
COUNTED = timedelta(days=7)


class ChannelQueries:
    """Reads channels for people; it blocks, so call it in a thread."""

    def __init__(self, store: Store, *, now: Callable[[], datetime]) -> None:
        self._store = store
        self._now = now

    def channels(self) -> list[ChannelView]:
        """Return every channel that there is, or to which alarms were sent within seven days."""
        now = self._now()
        known = {each.name: each for each in self._store.channels.known(now - ANNOUNCED_WITHIN)}
        counts = self._store.alarm_deliveries.counts(now - COUNTED)
        names = sorted(known.keys() | {channel for channel, _ in counts})
        return [
            ChannelView(
                name=name,
                status=known.get(name),
                alarms={state: n for (channel, state), n in counts.items() if channel == name},
                last_failure=self._store.alarm_deliveries.latest_trouble(name),
            )
            for name in names
        ]

    def delivery(self, alarm_id: str) -> list[AlarmDelivery]:
        """Return what became of an alarm, or of the trial of a channel, by channel."""
        return self._store.alarm_deliveries.of_alarms([alarm_id])

    def check_known(self, name: str) -> None:
        """Raise NotFoundError where no diagnoser has the channel."""
        known = [each.name for each in self.channels() if each.status is not None]
        if name not in known:
            raise NotFoundError(
                f"There is no channel of this name; the diagnoser has {', '.join(known) or 'none'}."
                " BIASWATCH_DIAGNOSER_CHANNELS_FILE names the file that declares them."
            )
