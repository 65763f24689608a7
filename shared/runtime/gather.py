"""Waiting for several records: arrivals are noted, each closing is emitted once."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from pydantic import JsonValue

from biaswatch.shared.bus.port import Publisher
from biaswatch.shared.bus.retry_policy import RetryPolicy, delay_s
from biaswatch.shared.contracts import Record
from biaswatch.shared.errors import ConfigurationError
from biaswatch.shared.runtime.blocking import in_thread
from biaswatch.shared.runtime.follow_up import Republication
from biaswatch.shared.runtime.jobs import Job
from biaswatch.shared.store import Closing, Gathers
from biaswatch.shared.telemetry import RepeatedWarning

CLOSING_AGAIN = RetryPolicy()


@dataclass(frozen=True)
class _Failures:
    times: int
    again_at: datetime


NEVER = _Failures(0, datetime.min.replace(tzinfo=UTC))
OnClose = Callable[[Closing], Sequence[Record]]


class Gather:
    """Waits for the records of a run, a pair, a rubric or a round.

    The state is in the store, so a process may end at any moment: arrivals are keyed, a closing is
    frozen in the transaction that closes it, and it stays due until its records are on the bus. If
    two processes emit a closing, its records have the same ids.
    """

    def __init__(
        self,
        gathers: Gathers,
        on_close: OnClose,
        *,
        now: Callable[[], datetime],
        look_every_s: float = 1.0,
    ) -> None:
        self._gathers = gathers
        self._on_close = on_close
        self._now = now
        self._look_every_s = look_every_s
        self._look = asyncio.Event()
        self._failures: dict[str, _Failures] = {}
        self._warning = RepeatedWarning("gather", "a closing cannot be emitted now")

    async def expect(
        self,
        key: str,
        ids: Iterable[str],
        *,
        deadline: datetime,
        context: Mapping[str, JsonValue] | None = None,
        already: Iterable[str] = (),
    ) -> bool:
        """Start to wait, before anything asks for the records; see `Gathers.expect`."""
        started = await in_thread(
            self._gathers.expect,
            key,
            ids,
            deadline=deadline,
            now=self._now(),
            context=context,
            already=already,
        )
        self._look.set()
        return started

    async def arrive(self, ids: Iterable[str]) -> None:
        """Note arrivals; the job emits what they complete."""
        await in_thread(self._gathers.arrive, ids, self._now())
        self._look.set()

    async def cancel(self, key: str) -> bool:
        """Close now, with what has arrived."""
        closed = await in_thread(self._gathers.cancel, key, self._now())
        self._look.set()
        return closed

    def wake(self) -> None:
        """Have the job look for closings at once."""
        self._look.set()

    @property
    def job(self) -> Job[Publisher]:
        """The job that closes what is overdue and emits what is closed."""
        return Job(self.emit, "emit closings", every_s=self._look_every_s, wake=self._look)

    async def emit(self, publisher: Publisher) -> None:
        """Close what is overdue and emit what is closed; one that fails holds up no other."""
        await in_thread(self._gathers.expire, self._now())
        due = await in_thread(self._gathers.due)
        self._failures = {each.key: self._failures.get(each.key, NEVER) for each in due}
        for closing in due:
            if self._failures[closing.key].again_at > self._now():
                continue
            records = await self._records_of(closing)
            if records is None:
                continue
            for record in records:
                await publisher.publish(record)
            await in_thread(self._gathers.emitted, closing.key, self._now())

    async def _records_of(self, closing: Closing) -> Sequence[Record] | None:
        """Return what follows from a closing; None where that cannot be told now."""
        try:
            return await in_thread(self._on_close, closing)  # it may read from the store
        except ConfigurationError:
            raise
        except Exception as error:  # noqa: BLE001 - other closings must not wait for this one
            times = self._failures[closing.key].times + 1
            wait = timedelta(seconds=delay_s(error, times, CLOSING_AGAIN, 1.0))
            self._failures[closing.key] = _Failures(times, self._now() + wait)
            self._warning.warn(error, closing=closing.key, times_failed=times, exc_info=error)
            return None


Waiting = Callable[[], Mapping[str, set[str]]]
"""Return the missing ids by run; it blocks."""
Remedy = Callable[[str, set[str]], Sequence[Record]]
"""Return the records that lead to the missing ids of one run; it blocks."""


class Reconciliation:
    """Publishes again what a stage waits for, where nothing has arrived since the last look.

    The bus acknowledges before it has synced to disk, so a power cut may lose a record.
    """

    def __init__(self, waiting: Waiting, remedy: Remedy, *, now: Callable[[], datetime]) -> None:
        self._waiting = waiting
        self._remedy = remedy
        self._now = now
        self._before: dict[str, int] = {}

    def job(self, every_s: float) -> Job[Publisher]:
        """Return the job that looks for stuck runs and publishes again."""
        looking = Republication(self.stuck, now=self._now, every_s=every_s)
        return looking.job("publish again what runs wait for")

    def stuck(self) -> list[Record]:
        """Return what to publish again for runs that miss as many records as at the last look."""
        missing = self._waiting()
        before, self._before = self._before, {run: len(ids) for run, ids in missing.items()}
        return [
            record
            for run, ids in missing.items()
            if before.get(run) == len(ids)
            for record in self._remedy(run, ids)
        ]
