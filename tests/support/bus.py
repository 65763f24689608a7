"""A real nats-server for each test that asks for one, and what stands on it."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from biaswatch.shared.backoff import Backoff
from biaswatch.shared.bus.dead_letters import DeadLetter, dead_letters
from biaswatch.shared.bus.jetstream import (
    Admin,
    Connection,
    JetStreamConsumer,
    JetStreamPublisher,
    provision,
)
from biaswatch.shared.bus.jetstream.admin import Lag
from biaswatch.shared.bus.retry_policy import RetryPolicy
from biaswatch.shared.bus.server import EmbeddedServer
from biaswatch.shared.bus.stage import Stage
from biaswatch.shared.bus.topology import durable_of
from biaswatch.shared.bus.worker import Worker
from biaswatch.shared.contracts import Record, route_of
from tests.support.waiting import PATIENCE_S, eventually

QUICK = RetryPolicy(backoff=Backoff(0.02, 0.1))
"""Retries that a test need not wait for."""


@dataclass
class ProvisionedBus:
    """A provisioned bus and the means to use it in a test."""

    server: EmbeddedServer
    connection: Connection
    admin: Admin
    publisher: JetStreamPublisher
    _running: list[tuple[Worker, asyncio.Task[None]]] = field(default_factory=list)

    def consumer(self, stage: Stage[Any]) -> JetStreamConsumer:
        """Open the consumer of a stage."""
        return JetStreamConsumer(self.connection, durable_of(stage), stage.capacity)

    def work(self, stage: Stage[Any], policy: RetryPolicy = QUICK) -> Worker:
        """Start a worker; it is stopped when the test ends."""
        worker = Worker(
            stage,
            self.consumer(stage),
            self.publisher,
            jitter=lambda: 0.5,
            clock=time.time,
            policy=policy,
        )
        self._running.append((worker, asyncio.create_task(worker.run())))
        return worker

    async def publish(self, *records: Record) -> None:
        """Put records on the bus."""
        await asyncio.gather(*(self.publisher.publish(record) for record in records))

    async def dead(self) -> list[DeadLetter]:
        """Return all dead letters."""
        return [letter async for letter in dead_letters(self.admin)]

    async def count(self, record: type[Record]) -> int:
        """Count the messages on the stream of a kind of record."""
        route = route_of(record)
        return sum((await self.admin.subjects(route.stream, route.every_subject)).values())

    async def durable_info(self, stream: str, name: str) -> dict[str, Any]:
        """Return the server's own description of a durable."""
        return await self.admin._api(f"CONSUMER.INFO.{stream}.{name}")

    async def settled(self, stage: Stage[Any], in_hand: int = 0) -> None:
        """Return when nothing waits for the stage and `in_hand` records are held or delayed."""
        await eventually(lambda: self._settled(stage, in_hand))

    async def _settled(self, stage: Stage[Any], in_hand: int) -> bool:
        """Compare with the stream too: a durable hears a little later of what was published."""
        held = 0
        for durable in durable_of(stage).all:
            info = await self.durable_info(durable.stream, durable.name)
            after = info["delivered"]["stream_seq"] + 1
            if await self.admin.next_message(durable.stream, durable.filter, after) is not None:
                return False
            if info["num_pending"]:
                return False
            held += info["num_ack_pending"]
        return held == in_hand

    async def lag(self, stage: Stage[Any]) -> Lag:
        """Return how far all durables of a stage are behind, together."""
        spec = durable_of(stage)
        lags = [await self.admin.lag(spec.stream, durable.name) for durable in spec.all]
        return Lag(sum(lag.waiting for lag in lags), sum(lag.in_hand for lag in lags))

    async def close(self) -> None:
        """Stop every worker, then the connection."""
        for worker, task in self._running:
            await worker.stop(grace_s=2)
            await task
        await self.connection.close()


class ReceivedRecords:
    """Records what a handler was given, and wakes the test when there is enough of it."""

    def __init__(self) -> None:
        self.records: list[Any] = []
        self._more = asyncio.Event()

    def note(self, record: Record) -> Sequence[Record]:
        """Remember; to be called on the event loop."""
        self.records.append(record)
        self._more.set()
        return ()

    async def handle(self, record: Record) -> Sequence[Record]:
        """Be a handler that only remembers."""
        return self.note(record)

    async def wait_for(self, number: int) -> None:
        """Return when `number` records were seen."""
        async with asyncio.timeout(PATIENCE_S):
            while len(self.records) < number:
                self._more.clear()
                await self._more.wait()


@pytest.fixture
def nats_server(tmp_path: Path) -> Iterator[EmbeddedServer]:
    """Return an isolated server with its own data."""
    with EmbeddedServer(tmp_path / "nats") as server:
        yield server


@pytest_asyncio.fixture
async def bus(nats_server: EmbeddedServer) -> AsyncIterator[ProvisionedBus]:
    """Return a provisioned bus."""
    connection = await Connection.open(nats_server.url, name="test")
    admin = Admin(connection)
    await provision(admin)
    # Each record in a message of its own, so that what lies on the bus can be counted.
    publisher = JetStreamPublisher(connection, bundled=False)
    made = ProvisionedBus(nats_server, connection, admin, publisher)
    yield made
    await made.close()
