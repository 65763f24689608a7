"""The job that sends alarms: each channel for itself, in order, again until it ends one way."""

import asyncio
import traceback
from collections.abc import Callable
from datetime import datetime
from functools import partial
from pathlib import Path
from random import random

from biaswatch.services.diagnoser.domain.channels.attempts import (
    Attempt,
    Unavailable,
    is_stale,
    pause_s,
    settled,
)
from biaswatch.services.diagnoser.domain.channels.trials import trial_alarm
from biaswatch.services.diagnoser.handlers.channels.declared import OperatorChannels
from biaswatch.shared.contracts import Alarm
from biaswatch.shared.contracts.alarm import TRIAL, AlarmDelivery, DeliveryState
from biaswatch.shared.errors import TransientError
from biaswatch.shared.runtime.blocking import in_thread
from biaswatch.shared.store import Store
from biaswatch.shared.telemetry import ALARM_ATTEMPTS, RepeatedWarning, log

LEASE_S = 90.0
"""Longer than any attempt: if its process dies, another one tries then."""
MOST_CHANNELS_AT_ONCE = 16
LONGEST_REST_S = 60.0
TOO_OLD = "It was not taken within seven days."
FAULT = "It could not be sent because of a fault in biaswatch; its log says more."


class DeliverAlarms:
    """Sends what is due; a channel that fails rests, and holds up no other."""

    def __init__(
        self, store: Store, channels: OperatorChannels, *, now: Callable[[], datetime]
    ) -> None:
        self._store = store
        self._deliveries = store.alarm_deliveries
        self._channels = channels
        self._now = now
        self._busy: dict[str, asyncio.Task[None]] = {}
        self._failures: dict[str, tuple[int, float]] = {}
        """By channel: how often it has failed in a row, and when it may be tried again."""
        self._slots = asyncio.Semaphore(MOST_CHANNELS_AT_ONCE)
        self._warning = RepeatedWarning("diagnoser", "alarms cannot be sent now")

    async def close(self) -> None:
        """End what is being sent: its lease runs out, and another process sends it."""
        for task in self._busy.values():
            task.cancel()
        await asyncio.gather(*self._busy.values(), return_exceptions=True)

    async def look(self) -> None:
        """Begin to send to every channel for which something is due and that does not rest."""
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
        """Wait until nothing is being sent."""
        await asyncio.gather(*self._busy.values())

    async def _drain(self, channel: str) -> None:
        """Send to one channel, one alarm after the other, until nothing is due or it fails."""
        async with self._slots:
            try:
                while due := await in_thread(self._claim, channel):
                    if not await self._deliver(due):
                        return
            except TransientError as error:
                self._warning.warn(error)
            except Exception as error:  # noqa: BLE001 - no alarm may be lost without a word
                # A claim that was not settled ends with its lease; then the alarm is sent again.
                self._failed(channel, error)
                self._note(channel, Unavailable(FAULT))

    def _failed(self, channel: str, error: Exception) -> None:
        """Log and count an error that no channel can cause; its text may hold a secret."""
        frame = traceback.extract_tb(error.__traceback__)[-1]
        ALARM_ATTEMPTS.labels(channel, "failed").inc()
        log("diagnoser").error(
            "an alarm could not be sent because of a fault in biaswatch; it is tried again",
            channel=channel,
            error=type(error).__name__,
            where=f"{Path(frame.filename).name}:{frame.lineno}",
        )

    def _claim(self, channel: str) -> AlarmDelivery | None:
        return self._deliveries.claim(channel, self._now(), LEASE_S)

    async def _deliver(self, due: AlarmDelivery) -> bool:
        """Send an alarm and note how that ended; tell whether the channel takes more."""
        stale = is_stale(due, self._now())
        attempt = Unavailable(TOO_OLD) if stale else await self._attempt(due)
        after = settled(due, attempt, self._now(), random())  # noqa: S311 - no secret
        await in_thread(self._deliveries.settle, after)
        ALARM_ATTEMPTS.labels(due.channel, _outcome(after)).inc()
        if after.why is not None:
            said = {"alarm": due.alarm_id, "attempts": due.attempts, "why": after.why}
            log("diagnoser").warning(f"alarm {after.state}", channel=due.channel, **said)
        return stale or self._note(due.channel, attempt)

    async def _attempt(self, due: AlarmDelivery) -> Attempt:
        try:
            alarm, history = await in_thread(self._found, due)
        except TransientError:
            raise
        except Exception as error:  # noqa: BLE001 - it is settled, so that its turn comes again
            self._failed(due.channel, error)
            return Unavailable(FAULT)
        if alarm is None:
            return Unavailable("The alarm is not in the store yet.")
        try:
            return await self._channels.send(alarm, due.channel, history, self._now())
        except Exception as error:  # noqa: BLE001 - a channel's trouble is no other's
            return Unavailable(f"It could not be sent ({type(error).__name__}).")

    def _found(self, due: AlarmDelivery) -> tuple[Alarm | None, list[Alarm]]:
        """Return an alarm and all alarms of its monitor; a trial has no other."""
        if due.topic == TRIAL:
            trial = trial_alarm(due)
            return trial, [trial]
        alarm = next(iter(self._store.records.get(Alarm, [due.alarm_id])), None)
        if alarm is None:
            return None, []
        return alarm, list(self._store.records.of_monitor(Alarm, alarm.monitor_id))

    def _note(self, channel: str, attempt: Attempt) -> bool:
        """Let a channel rest after a failure, longer each time."""
        if not isinstance(attempt, Unavailable):
            self._failures.pop(channel, None)
            return True
        times = self._failures.get(channel, (0, 0.0))[0] + 1
        rest_s = min(LONGEST_REST_S, pause_s(times, attempt.retry_after_s, random()))  # noqa: S311
        self._failures[channel] = (times, asyncio.get_running_loop().time() + rest_s)
        return False


def _outcome(after: AlarmDelivery) -> str:
    return "unavailable" if after.state is DeliveryState.WAITING else after.state.value
