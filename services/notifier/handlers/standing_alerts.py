"""Sends open alarms to Alertmanager again and again, which keeps nothing over a restart."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping
from datetime import datetime

from biaswatch.services.notifier.channels.alertmanager import AlertmanagerChannel
from biaswatch.services.notifier.domain.attempts import Delivered, Refused
from biaswatch.services.notifier.handlers.operator_channels import OperatorChannels
from biaswatch.services.notifier.secrets import NoSecretError
from biaswatch.shared.contracts import Alarm, MonitorState
from biaswatch.shared.errors import ConfigurationError, TransientError
from biaswatch.shared.runtime.blocking import in_thread
from biaswatch.shared.store import Store
from biaswatch.shared.telemetry import RepeatedWarning


class ResendAlerts:
    """Sends each Alertmanager the open alarms of the monitors that name it.

    So an alert goes on firing; it ends when the alarm is cleared, and within minutes when its
    monitor is deleted or no longer names the channel.
    """

    def __init__(
        self, store: Store, channels: OperatorChannels, *, now: Callable[[], datetime]
    ) -> None:
        self._store = store
        self._channels = channels
        self._now = now
        self._alertmanagers = {
            name: channel
            for name, channel in channels.channels.items()
            if isinstance(channel, AlertmanagerChannel)
        }
        self._warnings = {
            name: RepeatedWarning("notifier", f"open alarms cannot be sent to the channel {name}")
            for name in self._alertmanagers
        }

    async def look(self) -> None:
        """Send the open alarms; an Alertmanager that fails delays no other."""
        if not self._alertmanagers:
            return
        histories = await in_thread(self._histories)
        await asyncio.gather(*(self._send(name, of) for name, of in histories.items()))

    async def _send(self, name: str, histories: list[list[Alarm]]) -> None:
        channel, channels = self._alertmanagers[name], self._channels
        try:
            attempt = await channel.send_alerts(
                histories, channels.secrets, self._now(), channels.dashboard_url
            )
        except NoSecretError as error:
            self._warnings[name].warn(TransientError(str(error)))
            return
        if isinstance(attempt, Refused):
            self._warnings[name].warn(ConfigurationError(attempt.why))
        elif not isinstance(attempt, Delivered):
            self._warnings[name].warn(TransientError(attempt.why))

    def _histories(self) -> Mapping[str, list[list[Alarm]]]:
        """Return, by channel, the alarms of each monitor that names it."""
        histories: dict[str, list[list[Alarm]]] = defaultdict(list)
        for scheduled in self._store.schedule.monitors():
            monitor = scheduled.monitor
            names = self._alertmanagers.keys() & set(monitor.upkeep.channels)
            if names and monitor.state is not MonitorState.DELETED:
                history = list(self._store.records.of_monitor(Alarm, monitor.monitor_id))
                for name in names:
                    histories[name].append(history)
        return histories
