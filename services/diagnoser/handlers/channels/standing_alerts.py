"""The job that tells Alertmanager what stands, again and again: it keeps nothing over a restart."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime

from services.diagnoser.domain.channels.attempts import Delivered, Refused
from services.diagnoser.domain.channels.declarations import AlertmanagerChannel
from services.diagnoser.handlers.channels.declared import OperatorChannels
from services.diagnoser.handlers.channels.secrets import NoSecretError
from shared.bus.port import Publisher
from shared.contracts import Alarm, MonitorState
from shared.errors import ConfigurationError, TransientError
from shared.runtime.blocking import in_thread
from shared.store import Store
from shared.telemetry import RepeatedWarning


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
        self._store_warning = RepeatedWarning("diagnoser", "alerts cannot be sent again now")

    async def run(self, publisher: Publisher, every_s: float) -> None:
        """Be the service's job: send what stands, for ever."""
        while self._alertmanagers:
            try:
                await self.look()
            except TransientError as error:
                self._store_warning.warn(error)
            await asyncio.sleep(every_s)
        await asyncio.Event().wait()  # a job that ends would end the service

    async def look(self) -> None:
        """Send what stands now; an Alertmanager that fails holds up no other."""
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
