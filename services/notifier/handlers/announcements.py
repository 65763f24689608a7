"""Announces the channels in the store, and shows the states of deliveries as metrics."""

from collections.abc import Callable
from datetime import datetime, timedelta

from biaswatch.services.notifier.handlers.operator_channels import OperatorChannels
from biaswatch.shared.bus.port import Publisher
from biaswatch.shared.runtime.blocking import in_thread
from biaswatch.shared.store import Store
from biaswatch.shared.telemetry import ALARM_DELIVERY_STATES, log

SHOWN_FOR = timedelta(days=1)


class AnnounceChannels:
    """Announces channels; metrics are read from the store, so every replica shows the same."""

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
        """Announce the channels, and set every gauge; it blocks."""
        now = self._now()
        statuses = self._channels.statuses(now)
        self._store.channels.announce(statuses)
        for status in statuses:
            if status.trouble and self._troubles.get(status.name) != status.trouble:
                log("notifier").warning(
                    "a channel cannot be used", channel=status.name, why=status.trouble
                )
        self._troubles = {status.name: status.trouble for status in statuses}
        counts = self._store.alarm_deliveries.counts(now - SHOWN_FOR)
        shown = {(channel, state.value): n for (channel, state), n in counts.items()}
        for labels in self._shown - shown.keys():
            ALARM_DELIVERY_STATES.remove(*labels)
        for labels, n in shown.items():
            ALARM_DELIVERY_STATES.labels(*labels).set(n)
        self._shown = set(shown)
