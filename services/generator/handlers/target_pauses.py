"""Pauses of targets that refuse every call: probes wait, and one of them tries again."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta

from biaswatch.services.generator.handlers.endpoints import metric_name
from biaswatch.shared.backoff import Backoff
from biaswatch.shared.bus.port import Publisher
from biaswatch.shared.contracts import Target
from biaswatch.shared.contracts.waiting_calls import PausedTarget
from biaswatch.shared.errors import TransientError
from biaswatch.shared.runtime.jobs import Job
from biaswatch.shared.runtime.threads import in_thread
from biaswatch.shared.store import PausedTargets
from biaswatch.shared.telemetry import TARGET_PAUSED, RepeatedWarning, log

MAX_WAIT_S = 900.0
MAX_REFUSALS = 6
"""Refusals of one probe by a paused target before it gets a failed response."""
LOOK_EVERY_S = 1.0
"""Interval at which waiting probes check their time, and the store is checked for ended pauses."""


def paused_after(
    before: PausedTarget | None, target: Target, why: str, now: datetime, wait_s: float
) -> PausedTarget:
    """Return the pause after one more refusal; its waits double up to 15 minutes.

    Parameters
    ----------
    before
        The current pause; None at the first refusal.
    target
        The target that refuses.
    why
        The target's message, and what to correct.
    now
        The time of the refusal.
    wait_s
        The first wait in seconds.
    """
    refusals = before.refusals + 1 if before else 1
    delay_s = Backoff(wait_s, MAX_WAIT_S).delay_s(refusals)
    return PausedTarget(
        lane=target.lane,
        target=target.name,
        why=why,
        since=before.since if before else now,
        refusals=refusals,
        next_try_at=now + timedelta(seconds=delay_s),
    )


class TargetRefused(Exception):  # noqa: N818 - a state of the target, not an accident
    """The target accepts no calls; the message says why and what to correct."""

    def __init__(self, why: str, *, began: float | None = None) -> None:
        super().__init__(why)
        self.began = began
        """Start of the refused call; None if the key is missing and no call was made."""


class TargetPause:
    """The pause of one target in this process, synchronised with the store."""

    def __init__(
        self, target: Target, pauses: PausedTargets, *, now: Callable[[], datetime], wait_s: float
    ) -> None:
        self.paused: PausedTarget | None = None
        self.stored = False
        """True if the store has the pause, so that deleting it there ends it here."""
        self._target, self._pauses = target, pauses
        self._now, self._wait_s = now, wait_s
        self._unavailable = RepeatedWarning("generator", "a pause cannot be read or written")
        self._loaded, self._load_lock = False, asyncio.Lock()
        self._open = asyncio.Event()
        self._trying = self._leaving = False
        self._waiting = 0
        self._shown: bool | None = None

    async def wait_until_allowed(self, check: Callable[[], Awaitable[None]]) -> bool:
        """Wait until a probe may go on; return True for the probe that tries a paused target.

        `check` raises when the probe must not wait any longer. Waiting probes are cancelled when
        the process stops, so that the bus redelivers them.
        """
        if not self._loaded:
            await self.load()
        if self.paused is None:
            self._show()
            return False
        self._waiting += 1
        try:
            while self.paused is not None:
                self._show()
                if self._leaving:
                    raise asyncio.CancelledError
                if not self._trying and self._now() >= self.paused.next_try_at:
                    self._trying = True
                    return True
                await check()
                with suppress(TimeoutError):
                    async with asyncio.timeout(LOOK_EVERY_S):
                        await self._open.wait()
        finally:
            self._waiting -= 1
            self._show()
        return False

    async def refuse(self, why: str, *, trial: bool) -> None:
        """Pause the target, or prolong the pause; refusals of calls made before it are ignored."""
        if self.paused is not None and not trial:
            return
        self.paused = paused_after(self.paused, self._target, why, self._now(), self._wait_s)
        self._open.clear()
        if self.paused.refusals == 1:
            log("generator").warning("a target is paused", target=self._target.name, why=why)
        with self._tolerating_outage():
            await in_thread(self._pauses.keep, self.paused)
            self.stored = True

    async def resume(self) -> None:
        """End the pause here and in the store."""
        self.open()
        with self._tolerating_outage():
            await in_thread(self._pauses.resume, [self._target.lane])

    def open(self) -> None:
        """Release all waiting probes."""
        if self.paused is not None:
            log("generator").info("a target is no longer paused", target=self._target.name)
        self.paused, self.stored, self._trying = None, False, False
        self._open.set()
        self._show()

    def end_trial(self) -> None:
        """Let another probe try the target."""
        self._trying = False

    def leave(self) -> None:
        """Cancel the waiting probes, as the process stops."""
        self._leaving = True
        self._open.set()

    async def load(self) -> None:
        """Load the pause from the store; a process that starts tries the target at once."""
        async with self._load_lock:
            if not self._loaded:
                for stored in await in_thread(self._pauses.read, {self._target.lane}):
                    self.paused = stored.model_copy(update={"next_try_at": self._now()})
                    self.stored = True
                self._loaded = True

    def _show(self) -> None:
        waits = self.paused is not None and self._waiting > 0
        if waits != self._shown:
            self._shown = waits
            TARGET_PAUSED.labels(metric_name(self._target)).set(waits)

    @contextmanager
    def _tolerating_outage(self) -> Iterator[None]:
        """Continue when the store is unavailable; the pause still holds in this process."""
        try:
            yield
        except TransientError as error:
            self._unavailable.warn(error)


class TargetPauses:
    """The pauses of all targets of this process."""

    def __init__(
        self, pauses: PausedTargets, *, now: Callable[[], datetime], wait_s: float
    ) -> None:
        self._pauses, self._now, self._wait_s = pauses, now, wait_s
        self._lanes: dict[str, TargetPause] = {}

    def of(self, target: Target) -> TargetPause:
        """Return the pause of a target."""
        if target.lane not in self._lanes:
            pause = TargetPause(target, self._pauses, now=self._now, wait_s=self._wait_s)
            self._lanes[target.lane] = pause
        return self._lanes[target.lane]

    def leave(self) -> None:
        """Cancel all waiting probes, so that they do not delay the stop."""
        for pause in self._lanes.values():
            pause.leave()

    @property
    def job(self) -> Job[Publisher]:
        """The job that ends the pauses that were ended in the store."""
        return Job(self.watch, "watch the pauses of targets", every_s=LOOK_EVERY_S)

    async def watch(self, _: Publisher) -> None:
        """End the pauses that a person or another process ended."""
        held = [lane for lane, pause in self._lanes.items() if pause.paused and pause.stored]
        if not held:
            return
        known = {pause.lane for pause in await in_thread(self._pauses.read, held)}
        for lane in held:
            if lane not in known:
                self._lanes[lane].open()
