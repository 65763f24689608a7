"""A stage: the records that one part of a service reads, and their handler."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, ParamSpec, TypeVar

from biaswatch.shared.contracts import Record, route_of

R = TypeVar("R", bound=Record)

STUCK_AFTER_S = 300.0

Outputs = Sequence[Record]
Handler = Callable[[R], Awaitable[Outputs]] | Callable[[R], Outputs]
BatchHandler = Callable[[Sequence[R]], Awaitable[Outputs]] | Callable[[Sequence[R]], Outputs]


@dataclass(frozen=True)
class Stage(Generic[R]):
    """One durable and its handler.

    A handler takes a record and returns records; it never touches the bus, so its test is one call
    and one comparison. A plain function (`def`) is run in a thread, off the event loop: that is the
    form for whatever computes. A coroutine function (`async def`) is for what waits. With `batch`,
    the handler takes up to that many records at once; if it fails on several, each is tried alone,
    so that one bad record costs one record.
    """

    service: str
    reads: type[R]
    handler: Handler[R] | BatchHandler[R]
    slots: int = 16
    """How many calls of the handler run at once in this process."""
    batch: int | None = None
    """The most records in one call, or None for a handler of single records."""
    linger_s: float = 0
    """How long a batch that is not half full waits for more: one transaction serves many."""
    lane: str | None = None
    """The lane, where this record has one durable per lane."""
    drop_in: str | None = None
    """The drop-in whose durable this is; a new one starts at the next record."""
    on_stop: Callable[[], None] | None = None
    """Called when the stage is stopped: a handler that waits for something else may then end with
    `asyncio.CancelledError`, and its record goes back to the bus at once."""
    ack_wait_s: float = 30
    """How long the bus waits for an acknowledgement before it delivers again."""
    stuck_after_s: float | None = STUCK_AFTER_S
    """Time without a finished record, while records are being handled, after which the stage is
    unready; None for handlers that may wait without limit."""
    most_in_hand: int | None = None
    """The most unacknowledged records over all replicas; by default at least 1,000."""

    @property
    def durable(self) -> str:
        """The durable's name on the stream."""
        return route_of(self.reads).durable(self.service, self.lane or self.drop_in)

    @property
    def name(self) -> str:
        """The stage's name in metrics and logs: bounded, so without lane or drop-in."""
        return route_of(self.reads).durable(self.service)

    @property
    def capacity(self) -> int:
        """The most records this process holds; never more than it can work on."""
        return self.slots * (self.batch or 1)


Call = Callable[[Sequence[Record]], Awaitable[Outputs]]
P = ParamSpec("P")
T = TypeVar("T")


def without_stop_iteration(call: Callable[P, T]) -> Callable[P, T]:
    """Return a call for a thread that raises RuntimeError instead of StopIteration.

    Up to Python 3.12 a future refuses StopIteration, and the coroutine that awaits it never wakes.
    """

    def raising(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return call(*args, **kwargs)
        except StopIteration as error:
            raise RuntimeError("A call in a thread raised StopIteration.") from error

    return raising


def call_of(stage: Stage[Any], pool: ThreadPoolExecutor) -> Call:
    """Return the handler as a coroutine of records; plain functions run in the thread pool."""
    handler: Any = stage.handler
    waits = inspect.iscoroutinefunction(handler) or inspect.iscoroutinefunction(
        getattr(handler, "__call__", None)  # noqa: B004 - asks how it is defined, not whether
    )

    async def call(records: Sequence[Record]) -> Outputs:
        argument = records if stage.batch else records[0]
        if waits:
            outputs: Outputs = await handler(argument)
            return outputs
        in_context = partial(copy_context().run, without_stop_iteration(handler), argument)
        return await asyncio.get_running_loop().run_in_executor(pool, in_context)

    return call


def contexts_of(
    outputs: Sequence[Record], inputs: Sequence[Record], contexts: Sequence[str]
) -> list[str]:
    """Return the trace context of each output: that of the input that it names, or of the only one.

    An output of a batch that names no input starts its own trace. Without contexts, tracing is off.
    """
    if not contexts:
        return [""] * len(outputs)
    if len(inputs) == 1:
        return [contexts[0]] * len(outputs)
    by_name: dict[str, str] = {}
    for record, context in zip(inputs, contexts, strict=True):
        by_name |= dict.fromkeys(_names(record), context)
    return [_context_of(output, by_name) for output in outputs]


def _names(record: Record) -> list[str]:
    """Return what others call a record: its id, and the key under which its owner sent it."""
    key = getattr(record, "key", None)
    return [record.id, key] if isinstance(key, str) else [record.id]


def _context_of(output: Record, by_name: Mapping[str, str]) -> str:
    named = [getattr(output, name) for name in type(output).identity]
    named += [record.key for record in output.embedded if hasattr(record, "key")]
    return next((by_name[name] for name in named if name in by_name), "")


TROUBLED_S = 8.0
"""A stage makes no progress after failing for this long without finishing a record."""
FORGOTTEN_AFTER_S = 90.0
"""A failure this old is ignored: the record was delivered again since, to another process."""


@dataclass
class Progress:
    """The events of one stage; all times are in seconds of the same clock."""

    finished_at: float = 0.0
    """When a record was last handled or dead-lettered."""
    troubled_at: float | None = None
    """When the first record after `finished_at` failed."""
    failed_at: float = 0.0
    """When the last record failed."""
    trouble: str | None = None
    """Why the last record failed; None after a success."""
    waits: bool = False
    """The last failure was a planned wait, for another stage or for room on the bus."""

    def finish(self, now: float) -> None:
        """Record that a record was handled or dead-lettered."""
        self.finished_at, self.troubled_at, self.trouble, self.waits = now, None, None, False

    def fail(self, now: float, why: str, *, waits: bool) -> None:
        """Record that a record was returned to the bus."""
        self.troubled_at = now if self.troubled_at is None else self.troubled_at
        self.failed_at, self.trouble, self.waits = now, why, waits

    def standstill(
        self, now: float, oldest_began: float | None, stuck_after_s: float | None
    ) -> str | None:
        """Return why the stage makes no progress; None while it works or is idle.

        Parameters
        ----------
        oldest_began
            When the oldest running handler started; None while no handler runs.
        stuck_after_s
            The longest time without a finished record; None disables the check.
        """
        if self._fails(now):
            return self.trouble
        if oldest_began is None or stuck_after_s is None:
            return None
        still_s = now - max(oldest_began, self.finished_at)
        if still_s < stuck_after_s:
            return None
        return f"The handler is busy, but no record was finished for {still_s:.0f} s."

    def _fails(self, now: float) -> bool:
        if self.troubled_at is None or self.waits:
            return False
        return now - self.troubled_at >= TROUBLED_S and now - self.failed_at < FORGOTTEN_AFTER_S
