"""Sends alarms to each channel until the delivery ends, and open alarms to Alertmanager."""

import asyncio
import traceback
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from random import random

from biaswatch.services.notifier.channels.alertmanager import AlertmanagerChannel
from biaswatch.services.notifier.domain.attempts import (
    BACKOFF,
    Attempt,
    Delivered,
    Refused,
    Unavailable,
    is_stale,
    settled,
    trial_alarm,
)
from biaswatch.services.notifier.handlers.operator_channels import OperatorChannels
from biaswatch.services.notifier.secrets import NoSecretError
from biaswatch.shared.bus.port import Publisher
from biaswatch.shared.contracts import Alarm, AuditAction, MonitorState, Record
from biaswatch.shared.contracts.alarm_delivery import (
    TRIAL,
    AlarmDelivery,
    DeliveryState,
    deliveries_of,
)
from biaswatch.shared.errors import ConfigurationError, TransientError
from biaswatch.shared.presentation.alarm_items import silences
from biaswatch.shared.presentation.alarm_messages import moment
from biaswatch.shared.runtime.threads import in_thread
from biaswatch.shared.store import Store
from biaswatch.shared.telemetry import ALARM_ATTEMPTS, RepeatedWarning, log

LEASE_S = 90.0
"""Longer than any attempt: after the death of a process, another one takes over."""
SILENCE_CHECK = timedelta(minutes=5)
"""Longest time until a message goes out after its silence was ended early."""
MAX_CHANNELS_AT_ONCE = 16
MAX_REST_S = 60.0
TOO_OLD = "It was not taken within seven days."
FAULT = "It could not be sent because of a fault in biaswatch; its log says more."


@dataclass(frozen=True)
class DueAlarm:
    """An alarm that a channel must receive, with the other alarms of its monitor."""

    alarm: Alarm | None
    """None if it is not in the store yet."""
    history: Sequence[Alarm] = ()
    """Alarms of the monitor about comparisons that are not silenced."""
    silenced_until: datetime | None = None


class DeliverAlarms:
    """Sends due alarms; a channel that fails rests, and delays no other.

    The row of a delivery is written with its alarm. A message on the bus has it sent at once; what
    the bus has lost, a retry or a trial is found by `run_once`.
    """

    def __init__(
        self, store: Store, channels: OperatorChannels, *, now: Callable[[], datetime]
    ) -> None:
        self._store = store
        self._deliveries = store.alarm_deliveries
        self._channels = channels
        self._now = now
        self._busy: dict[str, asyncio.Task[None]] = {}
        self._failures: dict[str, tuple[int, float]] = {}
        """By channel: failures in a row, and the moment of the next try."""
        self._slots = asyncio.Semaphore(MAX_CHANNELS_AT_ONCE)
        self._warning = RepeatedWarning("notifier", "alarms cannot be sent now")

    async def __call__(self, alarm: Alarm) -> Sequence[Record]:
        """Record the deliveries of an alarm, and begin to send them."""
        await in_thread(self._deliveries.expect, deliveries_of(alarm, self._now()))
        await self.run_once()
        return ()

    async def close(self) -> None:
        """Cancel attempts under way: after their leases, another process sends the alarms."""
        for task in self._busy.values():
            task.cancel()
        await asyncio.gather(*self._busy.values(), return_exceptions=True)

    async def run_once(self, _: Publisher | None = None) -> None:
        """Begin to send to every channel that has a due delivery and does not rest."""
        clock = asyncio.get_running_loop().time()
        for channel in await in_thread(self._deliveries.due_channels, self._now()):
            rests = self._failures.get(channel, (0, 0.0))[1] > clock
            if channel not in self._busy and not rests:
                task = asyncio.create_task(self._drain(channel))
                self._busy[channel] = task
                task.add_done_callback(partial(self._ended, channel))

    def _ended(self, channel: str, _: "asyncio.Task[None]") -> None:
        self._busy.pop(channel, None)

    async def idle(self) -> None:
        """Wait for the attempts under way."""
        await asyncio.gather(*self._busy.values())

    async def _drain(self, channel: str) -> None:
        """Send one alarm after the other to a channel, until nothing is due or it fails."""
        async with self._slots:
            try:
                while due := await in_thread(self._claim, channel):
                    if not await self._deliver(due):
                        return
            except TransientError as error:
                self._warning.warn(error)
            except Exception as error:  # noqa: BLE001 - an alarm must not be lost silently
                # A claim that was not settled ends with its lease; then the alarm is sent again.
                self._log_fault(channel, error)
                self._rest(channel, Unavailable(FAULT))

    def _log_fault(self, channel: str, error: Exception) -> None:
        """Log and count an error of our own without its text, which may contain a secret."""
        frame = traceback.extract_tb(error.__traceback__)[-1]
        ALARM_ATTEMPTS.labels(channel, "failed").inc()
        log("notifier").error(
            "an alarm could not be sent because of a fault in biaswatch; it is tried again",
            channel=channel,
            error=type(error).__name__,
            where=f"{Path(frame.filename).name}:{frame.lineno}",
        )

    def _claim(self, channel: str) -> AlarmDelivery | None:
        return self._deliveries.claim(channel, self._now(), LEASE_S)

    async def _deliver(self, due: AlarmDelivery) -> bool:
        """Send an alarm and record the outcome; return whether the channel takes more."""
        due_alarm = await in_thread(self._due_alarm, due)
        if (end := due_alarm.silenced_until) is not None:
            why = f"It is silenced until {moment(end)}."
            again = min(end, self._now() + SILENCE_CHECK)
            changes = {"next_at": again, "why": why, "attempts": due.attempts - 1}
            silenced = due.model_copy(update=changes)
            await in_thread(self._deliveries.settle, silenced)
            return True
        stale = is_stale(due, self._now())
        attempt = Unavailable(TOO_OLD) if stale else await self._attempt(due.channel, due_alarm)
        after = settled(due, attempt, self._now(), random())  # noqa: S311 - no secret
        await in_thread(self._deliveries.settle, after)
        is_waiting = after.state is DeliveryState.WAITING
        outcome = "unavailable" if is_waiting else after.state.value
        ALARM_ATTEMPTS.labels(due.channel, outcome).inc()
        if after.why is not None:
            log("notifier").warning(
                f"alarm {after.state}",
                channel=due.channel,
                alarm=due.alarm_id,
                attempts=due.attempts,
                why=after.why,
            )
        return stale or self._rest(due.channel, attempt)

    async def _attempt(self, channel: str, due: DueAlarm) -> Attempt:
        if due.alarm is None:
            return Unavailable("The alarm is not in the store yet.")
        try:
            return await self._channels.send(due.alarm, channel, due.history, self._now())
        except Exception as error:  # noqa: BLE001 - a fault of one channel must not stop others
            return Unavailable(f"It could not be sent ({type(error).__name__}).")

    def _due_alarm(self, due: AlarmDelivery) -> DueAlarm:
        if due.topic == TRIAL:
            trial = trial_alarm(due)
            return DueAlarm(trial, [trial])
        alarm = next(iter(self._store.records.get(Alarm, [due.alarm_id])), None)
        if alarm is None:
            return DueAlarm(None)
        history = list(self._store.records.of_monitor(Alarm, alarm.monitor_id))
        ends = silenced(self._store, history, self._now())
        audible = [other for other in history if other.comparison_key not in ends]
        return DueAlarm(alarm, audible, ends.get(alarm.comparison_key))

    def _rest(self, channel: str, attempt: Attempt) -> bool:
        """Pause a channel after a failure, longer each time; return whether it accepts more."""
        if not isinstance(attempt, Unavailable):
            self._failures.pop(channel, None)
            return True
        times = self._failures.get(channel, (0, 0.0))[0] + 1
        pause_s = BACKOFF.requested_s(attempt.retry_after_s, times, random())  # noqa: S311
        rest_s = min(MAX_REST_S, pause_s)
        self._failures[channel] = (times, asyncio.get_running_loop().time() + rest_s)
        return False


def silenced(store: Store, history: Sequence[Alarm], now: datetime) -> dict[str, datetime]:
    """Return until when comparisons are silenced, from the audit trail of their alarms."""
    keys = {alarm.id: alarm.comparison_key for alarm in history}
    entries = store.audit.of_subjects(keys, AuditAction.ALARM_SILENCE)
    return {key: end for key, end in silences(entries, keys).items() if end > now}


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

    async def run_once(self, _: Publisher | None = None) -> None:
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
                silent = silenced(self._store, history, self._now())
                history = [alarm for alarm in history if alarm.comparison_key not in silent]
                for name in names:
                    histories[name].append(history)
        return histories
