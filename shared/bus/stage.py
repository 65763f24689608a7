"""A stage: the records that one part of a service reads, and their handler."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

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
    """How long a batch waits for more records, so that one transaction serves many."""
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
    """How long the stage may finish nothing while it has records in hand, until it is unready;
    None for a handler that waits for something else as long as it takes."""
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
