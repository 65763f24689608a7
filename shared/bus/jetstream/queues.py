"""Counts of waiting messages: by tenant in a queue, by partition for a service."""

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from biaswatch.shared.bus.bundles import MOST_RECORDS
from biaswatch.shared.bus.jetstream.admin import Admin, JetStreamRefusal
from biaswatch.shared.bus.jetstream.connection import Connection
from biaswatch.shared.bus.port import QueuePosition
from biaswatch.shared.contracts import Record, Route, route_of
from biaswatch.shared.contracts.partitions import SUBJECT_TOKENS
from biaswatch.shared.errors import TransientError


class RecordQueue:
    """The queue of one kind of record."""

    def __init__(self, connection: Connection, record: type[Record]) -> None:
        self._admin = Admin(connection)
        self._route = route_of(record)
        [self._consumer] = self._route.consumers

    async def position(self) -> QueuePosition:
        """See `Queue.position`.

        In this order: what is waiting, or not settled, after the end was read is a safe bound.
        """
        try:
            position = await self._admin.position(self._route.stream)
            waiting = list(
                await self._admin.subjects(self._route.stream, self._route.every_subject)
            )
            settled = await self._settled({_partition_in(subject) for subject in waiting})
        except JetStreamRefusal as refusal:
            raise TransientError(
                f"The queue {self._route.stream} cannot be read: {refusal} Run `biaswatch admin"
                " provision` on this server."
            ) from refusal
        firsts: dict[str, int] = {}
        for subject in waiting:
            tenant = _tenant_in(subject)
            first = max(position.first, settled[_partition_in(subject)] + 1)
            firsts[tenant] = min(first, firsts.get(tenant, first))
        return replace(position, firsts=firsts)

    async def waiting(self) -> dict[str, int]:
        """Count the unacknowledged messages, by tenant.

        Raises
        ------
        TransientError
            The bus did not answer.
        """
        counts: Counter[str] = Counter()
        try:
            subjects = await self._subjects()
        except JetStreamRefusal as refusal:
            raise TransientError(f"The bus does not say what waits: {refusal}") from refusal
        for subject, count in subjects.items():
            counts[_tenant_in(subject)] += count
        return dict(counts)

    async def _subjects(self) -> dict[str, int]:
        return await self._admin.subjects(self._route.stream, self._route.every_subject)

    async def _settled(self, partitions: Iterable[str | None]) -> dict[str | None, int]:
        """Return the sequence up to which all messages of each partition are acknowledged."""
        names = {number: self._route.durable(self._consumer, None, number) for number in partitions}
        floors = await asyncio.gather(
            *(self._admin.settled(self._route.stream, name) for name in names.values())
        )
        return dict(zip(names, floors, strict=True))


def _tenant_in(subject: str) -> str:
    return subject.split(".")[3]


def _partition_in(subject: str) -> str | None:
    """Return the partition in a subject; None without one."""
    tokens = subject.split(".", SUBJECT_TOKENS)
    return tokens[-1] if len(tokens) > SUBJECT_TOKENS else None


async def most_waiting(
    connection: Connection, record: type[Record], services: Sequence[str]
) -> list[int]:
    """Return, for each partition, the records that wait for the service furthest behind, at most.

    The bus counts messages; where records are bundled, each is taken to be as full as it may be.

    Raises
    ------
    TransientError
        The bus did not answer.
    """
    admin, route = Admin(connection), route_of(record)
    lags = [await _lags(admin, route, service) for service in services]
    records_a_message = MOST_RECORDS if route.bundled else 1
    return [records_a_message * max(waiting) for waiting in zip(*lags, strict=True)]


async def _lags(admin: Admin, route: Route, service: str) -> list[int]:
    """Return the unacknowledged messages of each partition, of one service."""
    names = route.durables(service)
    try:
        lags = await asyncio.gather(*(admin.lag(route.stream, name) for name in names))
    except JetStreamRefusal as refusal:
        raise TransientError(f"The bus does not say what waits: {refusal}") from refusal
    unpartitioned, *partitions = (lag.waiting + lag.in_hand for lag in lags)
    return [unpartitioned + partition for partition in partitions]
