"""Tenants take turns at every stage: one's backlog delays no other; an upgrade loses nothing."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from biaswatch.shared.bus.dead_letters import replay
from biaswatch.shared.bus.jetstream import (
    Admin,
    Connection,
    JetStreamPublisher,
    RecordQueue,
    most_waiting,
    provision,
)
from biaswatch.shared.bus.server import EmbeddedServer
from biaswatch.shared.bus.stage import Stage
from biaswatch.shared.bus.topology import StreamLimits, durable_of, streams
from biaswatch.shared.contracts import (
    ROUTES,
    Exchange,
    Features,
    Record,
    Response,
    route_of,
    subject_of,
)
from biaswatch.shared.contracts.partitions import PARTITIONS, partition_of
from biaswatch.shared.errors import PoisonError, TransientError
from tests.support.bus import ProvisionedBus, ReceivedRecords
from tests.support.records import make_exchange, make_features, make_response
from tests.support.waiting import eventually

FLOOD, QUIET = "flood", "quiet"
MANY, FEW = 3000, 20
BATCH = 64
FAIR = [(service, route.record) for route in ROUTES for service in route.fair]
MAKERS: dict[type[Record], Callable[..., Record]] = {
    Exchange: make_exchange,
    Response: make_response,
    Features: make_features,
}


def records_of(kind: type[Record], tenant: str, many: int) -> list[Record]:
    return [MAKERS[kind](number, tenant=tenant) for number in range(many)]


async def sent(bus: ProvisionedBus, records: Sequence[Record]) -> None:
    """Publish as services do: bundled where the kind is."""
    assert await JetStreamPublisher(bus.connection).publish_all(records) == [None] * len(records)


def ahead_of(handled: Sequence[Record]) -> int:
    """Return how many records of the flood were handled before the last one of the quiet tenant."""
    tenants = [record.tenant for record in handled]
    last = len(tenants) - 1 - tenants[::-1].index(QUIET)
    return tenants[:last].count(FLOOD)


async def test_a_stage_that_fills_large_batches_pulls_on_while_it_waits(
    bus: ProvisionedBus,
) -> None:
    seen, sizes = ReceivedRecords(), list[int]()

    async def handle(batch: Sequence[Record]) -> list[Record]:
        sizes.append(len(batch))
        for record in batch:
            seen.note(record)
        return []

    publisher = JetStreamPublisher(bus.connection, bundled=False)
    await publisher.publish_all(records_of(Response, FLOOD, MANY))
    bus.work(Stage("recorder", Response, handle, slots=1, batch=2000, linger_s=5))
    await seen.wait_for(MANY)
    assert sizes[0] >= 1000  # half a batch; the first pull asks for a sixteenth


@pytest.mark.parametrize(("service", "kind"), FAIR)
async def test_a_backlog_of_one_tenant_is_ahead_of_another_by_a_batch_at_most(
    bus: ProvisionedBus, service: str, kind: type[Record]
) -> None:
    seen = ReceivedRecords()

    async def handle(batch: Sequence[Record]) -> list[Record]:
        for record in batch:
            seen.note(record)
        return []

    await sent(bus, records_of(kind, FLOOD, MANY))
    await sent(bus, records_of(kind, QUIET, FEW))
    bus.work(Stage(service, kind, handle, slots=1, batch=BATCH))
    await seen.wait_for(MANY + FEW)
    assert len({record.id for record in seen.records}) == len(seen.records)
    assert ahead_of(seen.records) <= BATCH + FEW


async def test_answers_that_come_during_a_flood_are_through_all_stages_after_few_of_it(
    bus: ProvisionedBus,
) -> None:
    flood, seen = iter(records_of(Exchange, FLOOD, MANY)), ReceivedRecords()

    def taken(batch: Sequence[Exchange]) -> list[Response]:
        return [make_response(int(e.key.rpartition("-")[2]), tenant=e.tenant) for e in batch]

    def measured(batch: Sequence[Response]) -> list[Features]:
        numbers = [(int(r.probe.key.rpartition("-")[2]), r.tenant) for r in batch]
        return [make_features(number, tenant=tenant) for number, tenant in numbers]

    async def stored(batch: Sequence[Features]) -> list[Record]:
        for record in batch:
            seen.note(record)
        return []

    bus.publisher = JetStreamPublisher(bus.connection)
    await sent(bus, list(flood))
    bus.work(Stage("gateway", Exchange, taken, slots=1, batch=BATCH))
    bus.work(Stage("extractor", Response, measured, slots=1, batch=BATCH))
    bus.work(Stage("recorder", Features, stored, slots=1, batch=BATCH))
    await seen.wait_for(1)
    before = len(seen.records)
    await sent(bus, records_of(Exchange, QUIET, FEW))
    await seen.wait_for(MANY + FEW)
    assert len({record.id for record in seen.records}) == MANY + FEW
    # Of each of three stages: what it has in hand, and a batch that it shares.
    assert ahead_of(seen.records) - before <= 3 * 2 * BATCH + MANY // 3


async def by_the_version_before(bus: ProvisionedBus) -> None:
    """Configure the streams as the version before partitions did."""
    for spec in streams(StreamLimits()):
        await bus.admin.ensure_stream(replace(spec, subjects=spec.subjects[:1]))


async def sent_before(bus: ProvisionedBus, records: Sequence[Record]) -> None:
    """Publish as the version before partitions did, and as live systems on the bus do."""
    for record in records:
        subject = subject_of(record).rpartition(".")[0]
        headers = {"Nats-Msg-Id": f"{record.id}/0"}
        await bus.publisher.publish_copy(subject, record.encode(), headers)


@pytest.mark.parametrize(("service", "kind"), FAIR)
async def test_what_was_published_before_an_upgrade_is_handled_once_with_what_comes_after(
    bus: ProvisionedBus, service: str, kind: type[Record]
) -> None:
    before, after = records_of(kind, FLOOD, 30)[:20], records_of(kind, FLOOD, 30)[20:]
    await by_the_version_before(bus)
    await sent_before(bus, before)
    await provision(bus.admin)
    await provision(bus.admin)
    await sent(bus, after)
    seen = ReceivedRecords()
    stage = Stage(service, kind, seen.handle)
    bus.work(stage)
    await seen.wait_for(30)
    await bus.settled(stage)
    assert sorted(r.id for r in seen.records) == sorted(r.id for r in [*before, *after])
    if route_of(kind).queue:
        assert await bus.count(kind) == 0


async def test_a_service_that_starts_before_the_bus_is_provisioned_waits_and_misses_nothing(
    nats_server: EmbeddedServer,
) -> None:
    connection = await Connection.open(nats_server.url, name="test")
    bus = ProvisionedBus(
        nats_server, connection, Admin(connection), JetStreamPublisher(connection, bundled=False)
    )
    await by_the_version_before(bus)
    await sent_before(bus, records_of(Response, FLOOD, 5))
    seen = ReceivedRecords()
    worker = bus.work(Stage("recorder", Response, seen.handle))
    await provision(bus.admin)
    await sent(bus, records_of(Response, QUIET, 5))
    await seen.wait_for(10)
    assert worker.ready
    assert len({record.id for record in seen.records}) == 10
    await bus.close()


async def test_a_dead_letter_is_replayed_into_its_partition(bus: ProvisionedBus) -> None:
    stage = Stage("extractor", Response, ReceivedRecords().handle)
    seen, refuses = ReceivedRecords(), [True]

    async def handle(response: Response) -> Sequence[Record]:
        if refuses[0]:
            raise PoisonError("It cannot be measured.")
        return await seen.handle(response)

    await bus.publish(make_response(0, tenant=QUIET))
    bus.work(Stage("extractor", Response, handle))
    await bus.settled(stage)
    [letter] = await bus.dead()
    assert letter.subject == subject_of(make_response(0, tenant=QUIET))
    refuses[0] = False
    await replay(letter, bus.admin, bus.publisher)
    await seen.wait_for(1)


async def test_the_position_of_a_tenant_is_not_held_back_by_another(bus: ProvisionedBus) -> None:
    queue = RecordQueue(bus.connection, Exchange)
    await bus.publish(*records_of(Exchange, FLOOD, 3))
    position = await queue.position()
    assert position.first_of(FLOOD) <= 1
    assert position.first_of(QUIET) == position.last + 1 == 4
    assert await queue.waiting() == {FLOOD: 3}
    await bus.publish(*records_of(Exchange, QUIET, 2))

    async def take_quiet(exchange: Exchange) -> list[Record]:
        if exchange.tenant == FLOOD:
            raise TransientError("Not now.", retry_after_s=60)
        return []

    bus.work(Stage("gateway", Exchange, take_quiet))

    async def quiet_is_through() -> bool:
        return await queue.waiting() == {FLOOD: 3}

    await eventually(quiet_is_through)
    position = await queue.position()
    assert position.first_of(FLOOD) <= 1
    assert position.first_of(QUIET) == position.last + 1 == 6


async def test_what_waits_for_the_slowest_service_is_counted_by_partition(
    bus: ProvisionedBus,
) -> None:
    await bus.publish(*records_of(Response, FLOOD, 3))

    async def counted() -> bool:
        waiting = await most_waiting(bus.connection, Response, ["recorder", "extractor"])
        others = sum(waiting) - waiting[partition_of(FLOOD)]
        return len(waiting) == PARTITIONS and waiting[partition_of(FLOOD)] > 0 == others

    await eventually(counted)
    spec = durable_of(Stage("recorder", Response, lambda _: []))
    assert [part.name for part in spec.all] == list(route_of(Response).durables("recorder"))
