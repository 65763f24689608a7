"""Waits for several records and emits a closing once they have arrived."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from pydantic import JsonValue

from biaswatch.shared.bus.port import Publisher
from biaswatch.shared.bus.retry_policy import RetryPolicy, delay_s
from biaswatch.shared.contracts import Record
from biaswatch.shared.errors import ConfigurationError
from biaswatch.shared.runtime.jobs import Job, WakeEvent
from biaswatch.shared.runtime.threads import in_thread
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

    All state is in the store, so a process may end at any moment. A closing is frozen in the
    transaction that closes it, and stays due until its records are on the bus; if two processes
    emit it, the records have the same ids.
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
        self._look = WakeEvent()
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
        """Start to wait, before the records are requested; see `Gathers.expect`."""
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
        """Record arrivals; the job emits the closings that they complete."""
        await in_thread(self._gathers.arrive, ids, self._now())
        self._look.set()

    async def cancel(self, key: str) -> bool:
        """Close now, with the arrivals so far."""
        closed = await in_thread(self._gathers.cancel, key, self._now())
        self._look.set()
        return closed

    def wake(self) -> None:
        """Let the job check for closings at once."""
        self._look.set()

    @property
    def job(self) -> Job[Publisher]:
        """The job that closes overdue gathers and emits closings."""
        return Job(self.emit, "emit closings", every_s=self._look_every_s, wake=self._look)

    async def emit(self, publisher: Publisher) -> None:
        """Close overdue gathers and emit closings; a failure does not delay the others."""
        await in_thread(self._gathers.expire, self._now())
        due = await in_thread(self._gathers.due)
        self._failures = {closing.key: self._failures.get(closing.key, NEVER) for closing in due}
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
        """Return the records of a closing; None if they cannot be made now."""
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
