"""Targets that refuse every call: their probes wait in hand, and one of them tries again."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta

from biaswatch.services.generator.handlers.endpoints import metric_name
from biaswatch.shared.bus.port import Publisher
from biaswatch.shared.contracts import Target
from biaswatch.shared.contracts.completion import PausedTarget
from biaswatch.shared.errors import TransientError
from biaswatch.shared.runtime.blocking import in_thread
from biaswatch.shared.runtime.jobs import Job
from biaswatch.shared.store import PausedTargets
from biaswatch.shared.telemetry import TARGET_PAUSED, RepeatedWarning, log

LONGEST_WAIT_S = 900.0
MOST_REFUSALS = 6
"""How often one probe is refused while it tries a paused target; then that is its outcome."""


def paused_after(
    before: PausedTarget | None, target: Target, why: str, now: datetime, wait_s: float
) -> PausedTarget:
    """Return the pause after one more refusal: the waits double, up to a quarter of an hour.

    Parameters
    ----------
    before
        The pause so far; None at the first refusal.
    target
        Who refuses.
    why
        What it said, and what to correct.
    now
        The moment of the refusal.
    wait_s
        The first wait.
    """
    refusals = before.refusals + 1 if before else 1
    doubled = min(LONGEST_WAIT_S, wait_s * 2.0 ** min(refusals - 1, 20))
    return PausedTarget(
        lane=target.lane,
        target=target.name,
        why=why,
        since=before.since if before else now,
        refusals=refusals,
        next_try_at=now + timedelta(seconds=doubled),
    )


LOOK_EVERY_S = 1.0
"""How often a probe that waits looks whether its time has come, and the store whether a person has
ended a pause."""


class TargetRefused(Exception):  # noqa: N818 - a state of the target, not an accident
    """The target accepts no call; the message says why, and what to correct."""

    def __init__(self, why: str, *, began: float | None = None) -> None:
        super().__init__(why)
        self.began = began
        """When the refused call began; None where the key is missing and nothing was asked."""


class TargetPause:
    """The state of one target in this process, in step with the store."""

    def __init__(
        self, target: Target, pauses: PausedTargets, *, now: Callable[[], datetime], wait_s: float
    ) -> None:
        self.paused: PausedTarget | None = None
        self.kept = False
        """Whether the store knows of the pause, so that its end there ends it here."""
        self._target, self._pauses = target, pauses
        self._now, self._wait_s = now, wait_s
        self._away = RepeatedWarning("generator", "a pause cannot be read or written")
        self._loading: asyncio.Lock | None = asyncio.Lock()
        self._open = asyncio.Event()
        self._trying = self._leaving = False
        self._waiting = 0
        self._shown: bool | None = None

    async def turn(self, check: Callable[[], Awaitable[None]]) -> bool:
        """Return once a probe may be asked; True for the one that tries a paused target.

        `check` raises where the probe need not wait any more. A probe that waits while the process
        is stopped is cancelled, so that the bus gives it to another.
        """
        if self._loading is not None:
            await self._load()
        if self.paused is None:  # the usual case
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
        """Pause, or go on pausing; calls that were under way when it paused change nothing."""
        if self.paused is not None and not trial:
            return
        self.paused = paused_after(self.paused, self._target, why, self._now(), self._wait_s)
        self._open.clear()
        if self.paused.refusals == 1:
            log("generator").warning("a target is paused", target=self._target.name, why=why)
        with self._in_the_store():
            await in_thread(self._pauses.keep, self.paused)
            self.kept = True

    async def resume(self) -> None:
        """End the pause, here and in the store."""
        self.open()
        with self._in_the_store():
            await in_thread(self._pauses.resume, [self._target.lane])

    def open(self) -> None:
        """Let all probes go on."""
        if self.paused is not None:
            log("generator").info("a target is asked again", target=self._target.name)
        self.paused, self.kept, self._trying = None, False, False
        self._open.set()
        self._show()

    def end_trial(self) -> None:
        """Let another probe try: the one that was to has made no call."""
        self._trying = False

    def leave(self) -> None:
        """Cancel the probes that wait: the process is stopped."""
        self._leaving = True
        self._open.set()

    async def _load(self) -> None:
        """Take over the pause that the store knows; a process that starts tries it at once."""
        if self._loading is None:
            return
        async with self._loading:
            if self._loading is not None:
                for known in await in_thread(self._pauses.read, {self._target.lane}):
                    self.paused = known.model_copy(update={"next_try_at": self._now()})
                    self.kept = True
        self._loading = None

    def _show(self) -> None:
        waits = self.paused is not None and self._waiting > 0
        if waits != self._shown:
            self._shown = waits
            TARGET_PAUSED.labels(metric_name(self._target)).set(waits)

    @contextmanager
    def _in_the_store(self) -> Iterator[None]:
        """Go on where the store is away: the pause holds in this process all the same."""
        try:
            yield
        except TransientError as error:
            self._away.warn(error)


class TargetPauses:
    """The pauses of all targets that this process asks."""

    def __init__(
        self, pauses: PausedTargets, *, now: Callable[[], datetime], wait_s: float
    ) -> None:
        self._pauses, self._now, self._wait_s = pauses, now, wait_s
        self._lanes: dict[str, TargetPause] = {}

    def of(self, target: Target) -> TargetPause:
        """Return the state of a target."""
        if target.lane not in self._lanes:
            made = TargetPause(target, self._pauses, now=self._now, wait_s=self._wait_s)
            self._lanes[target.lane] = made
        return self._lanes[target.lane]

    def leave(self) -> None:
        """Cancel all probes that wait, so that stopping takes no longer for them."""
        for each in self._lanes.values():
            each.leave()

    @property
    def job(self) -> Job[Publisher]:
        """The job that ends pauses here which have ended in the store."""
        return Job(self.watch, "watch the pauses of targets", every_s=LOOK_EVERY_S)

    async def watch(self, _: Publisher) -> None:
        """End the pauses that a person or another process has ended."""
        held = [lane for lane, each in self._lanes.items() if each.paused and each.kept]
        if not held:
            return
        known = {each.lane for each in await in_thread(self._pauses.read, held)}
        for lane in held:
            if lane not in known:
                self._lanes[lane].open()
