"""A stage: which records one part of a service reads, and what it does with them."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from shared.contracts import Record, route_of

R = TypeVar("R", bound=Record)

Outputs = Sequence[Record]
Handler = Callable[[R], Awaitable[Outputs]] | Callable[[R], Outputs]
BatchHandler = Callable[[Sequence[R]], Awaitable[Outputs]] | Callable[[Sequence[R]], Outputs]


@dataclass(frozen=True)
class Stage(Generic[R]):
    """One durable and its handler.

    A handler takes a record and returns records; it never touches the bus, so its test is one call
    and one comparison. A plain function (`def`) is run in a thread, off the event loop: that is the
    form for whatever computes. A coroutine function (`async def`) is for what waits. With `batch`,
    the handler takes as many records as are there, up to that number; if it fails on several, each
    is tried alone, so that one bad record costs one record.
    """

    service: str
    reads: type[R]
    handler: Handler[R] | BatchHandler[R]
    slots: int = 16
    """How many calls of the handler run at once in this process."""
    batch: int | None = None
    """The most records in one call, or None for a handler of single records."""
    linger_s: float = 0
    """How long a batch waits for company: a transaction costs the same for one and for many."""
    lane: str | None = None
    """The lane, where this record has one durable per lane."""
    drop_in: str | None = None
    """A drop-in that the service reads for, with a durable of its own that begins now."""
    ack_wait_s: float = 30
    """How long the bus waits for a sign of life before it delivers to somebody else."""
    most_in_hand: int | None = None
    """The most records in the hands of all replicas together; without it, plenty."""

    @property
    def durable(self) -> str:
        """The durable's name on the stream."""
        return route_of(self.reads).durable(self.service, self.lane or self.drop_in)

    @property
    def name(self) -> str:
        """The stage's name in metrics and logs: bounded, so without lane or guest."""
        return route_of(self.reads).durable(self.service)

    @property
    def capacity(self) -> int:
        """How many records may be in this process's hands; never more than it can work on."""
        return self.slots * (self.batch or 1)
