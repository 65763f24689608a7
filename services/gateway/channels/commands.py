"""What people ask of channels: a trial, and another attempt at what was refused."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from biaswatch.services.gateway.channels.queries import ChannelQueries
from biaswatch.shared.contracts.alarm_delivery import AlarmDelivery, trial_of
from biaswatch.shared.requests.channel_views import RetriedChannel
from biaswatch.shared.store import Store


@dataclass(frozen=True)
class ChannelCommands:
    """Writes to the store what the diagnoser then sends; it blocks, so call it in a thread."""

    store: Store
    queries: ChannelQueries
    now: Callable[[], datetime]

    def try_channel(self, name: str) -> AlarmDelivery:
        """Have the diagnoser send a trial, once; its deliveries tell what became of it."""
        trial = trial_of(name, self.now(), self.store.tenant)
        self.store.alarm_deliveries.expect([trial])
        return trial

    def retry(self, name: str) -> RetriedChannel:
        """Send again what a channel refused or did not take, and at once what waits for it."""
        return RetriedChannel(alarms=self.store.alarm_deliveries.retry(name, self.now()))
