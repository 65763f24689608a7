"""Says which channels there are, and shows how many alarms each has taken, refused or not taken."""

from collections.abc import Callable
from datetime import datetime, timedelta

from biaswatch.services.diagnoser.handlers.channels.declared import OperatorChannels
from biaswatch.shared.bus.port import Publisher
from biaswatch.shared.runtime.blocking import in_thread
from biaswatch.shared.store import Store
from biaswatch.shared.telemetry import ALARM_DELIVERY_STATES, log

SHOWN_FOR = timedelta(days=1)


class ChannelMetrics:
    """Reads the store, so that every replica shows the same."""

    def __init__(
        self, store: Store, channels: OperatorChannels, *, now: Callable[[], datetime]
    ) -> None:
        self._store = store
        self._channels = channels
        self._now = now
        self._shown: set[tuple[str, str]] = set()
        self._troubles: dict[str, str | None] = {}

    async def show(self, _: Publisher) -> None:
        """Announce the channels and count their deliveries."""
        await in_thread(self.look)

    def look(self) -> None:
        """Announce the channels, and set every gauge."""
        now = self._now()
        statuses = self._channels.statuses(now)
        self._store.channels.announce(statuses)
        for each in statuses:
            if each.trouble and self._troubles.get(each.name) != each.trouble:
                log("diagnoser").warning(
                    "a channel cannot be used", channel=each.name, why=each.trouble
                )
        self._troubles = {each.name: each.trouble for each in statuses}
        counts = self._store.alarm_deliveries.counts(now - SHOWN_FOR)
        found = {(channel, state.value): n for (channel, state), n in counts.items()}
        for labels in self._shown - found.keys():
            ALARM_DELIVERY_STATES.remove(*labels)
        for labels, n in found.items():
            ALARM_DELIVERY_STATES.labels(*labels).set(n)
        self._shown = set(found)
