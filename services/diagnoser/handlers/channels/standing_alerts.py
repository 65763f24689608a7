"""The job that tells Alertmanager what stands, again and again: it keeps nothing over a restart."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime

from biaswatch.services.diagnoser.domain.channels.attempts import Delivered, Refused
from biaswatch.services.diagnoser.domain.channels.declarations import AlertmanagerChannel
from biaswatch.services.diagnoser.handlers.channels.declared import OperatorChannels
from biaswatch.services.diagnoser.handlers.channels.secrets import NoSecretError
from biaswatch.shared.contracts import Alarm, MonitorState
from biaswatch.shared.errors import ConfigurationError, TransientError
from biaswatch.shared.runtime.blocking import in_thread
from biaswatch.shared.store import Store
from biaswatch.shared.telemetry import RepeatedWarning


class ResendAlerts:
    """Sends each Alertmanager the alarms that stand of the monitors that name it.

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
            name: each
            for name, each in channels.channels.items()
            if isinstance(each, AlertmanagerChannel)
        }
        self._warnings = {
            name: RepeatedWarning("diagnoser", f"the channel {name} does not hear what stands")
            for name in self._alertmanagers
        }

    async def look(self) -> None:
        """Send what stands now; an Alertmanager that fails holds up no other."""
        if not self._alertmanagers:
            return
        alarms = await in_thread(self._by_channel)
        names = [name for name in self._alertmanagers if alarms.get(name)]
        await asyncio.gather(*(self._send(name, alarms[name]) for name in names))

    async def _send(self, name: str, alarms: list[list[Alarm]]) -> None:
        try:
            attempt = await self._channels.resend(self._alertmanagers[name], alarms, self._now())
        except NoSecretError as error:
            self._warnings[name].warn(TransientError(str(error)))
            return
        if isinstance(attempt, Refused):
            self._warnings[name].warn(ConfigurationError(attempt.why))
        elif not isinstance(attempt, Delivered):
            self._warnings[name].warn(TransientError(attempt.why))

    def _by_channel(self) -> Mapping[str, list[list[Alarm]]]:
        """Return the histories of the monitors that name a channel, by the channel's name."""
        found: dict[str, list[list[Alarm]]] = {}
        for name, history in self._histories():
            found.setdefault(name, []).append(history)
        return found

    def _histories(self) -> Iterator[tuple[str, list[Alarm]]]:
        for scheduled in self._store.schedule.monitors():
            monitor = scheduled.monitor
            named = self._alertmanagers.keys() & set(monitor.upkeep.channels)
            if monitor.state is MonitorState.DELETED or not named:
                continue
            history = list(self._store.records.of_monitor(Alarm, monitor.monitor_id))
            yield from ((name, history) for name in named)
