"""Records that go in one message: each is handled, refused, given up and purged by itself."""

import asyncio
from collections import Counter
from collections.abc import Sequence

import pytest

from biaswatch.shared.bus.dead_letters import replay
from biaswatch.shared.bus.jetstream import JetStreamPublisher
from biaswatch.shared.bus.purging import purge_messages
from biaswatch.shared.bus.retry_policy import RetryPolicy
from biaswatch.shared.bus.stage import Stage
from biaswatch.shared.contracts import Features, Record, Response
from biaswatch.shared.errors import BackPressureError, OversizeError, PoisonError, TransientError
from tests.support.bus import ProvisionedBus, ReceivedRecords
from tests.support.records import make_features, make_response

MEASURING = Stage("extractor", Response, lambda _: [])
MANY = 150


@pytest.fixture
def together(bus: ProvisionedBus) -> JetStreamPublisher:
    """Return a publisher as services have it."""
    return JetStreamPublisher(bus.connection)


def responses(many: int) -> list[Response]:
    return [make_response(number) for number in range(many)]


async def test_what_is_published_at_the_same_time_goes_in_few_messages_and_arrives_whole(
    bus: ProvisionedBus, together: JetStreamPublisher
) -> None:
    seen = ReceivedRecords()
    assert await together.publish_all(responses(MANY)) == [None] * MANY
    assert await bus.count(Response) == 3  # 64, 64, 22
    bus.work(Stage("extractor", Response, seen.handle))
    await seen.wait_for(MANY)
    await bus.settled(MEASURING)
    assert sorted(seen.records, key=_number) == responses(MANY)
    assert len(seen.records) == MANY


async def test_many_that_publish_one_each_share_messages_and_one_alone_does_not_wait(
    bus: ProvisionedBus, together: JetStreamPublisher
) -> None:
    await together.publish(make_response(999))
    assert await bus.count(Response) == 1
    await asyncio.gather(*(together.publish(response) for response in responses(MANY)))
    assert await bus.count(Response) <= 1 + 4


async def test_what_a_bundle_leads_to_is_bundled_in_turn(
    bus: ProvisionedBus, together: JetStreamPublisher
) -> None:
    bus.publisher = together

    def measure(batch: Sequence[Response]) -> list[Features]:
        return [make_features(_number(item)) for item in batch]

    await together.publish_all(responses(MANY))
    bus.work(Stage("extractor", Response, measure, slots=1, batch=64))
    await bus.settled(MEASURING)
    seen = ReceivedRecords()
    bus.work(Stage("recorder", Features, seen.handle))
    await seen.wait_for(MANY)
    assert len({record.id for record in seen.records}) == MANY
    assert await bus.count(Features) <= 6


async def test_one_that_cannot_be_handled_is_one_dead_letter_and_comes_back_alone(
    bus: ProvisionedBus, together: JetStreamPublisher
) -> None:
    seen, refused = ReceivedRecords(), {3, 7}

    async def refuse(response: Response) -> Sequence[Record]:
        if _number(response) in refused:
            raise PoisonError("This text cannot be measured.")
        return seen.note(response)

    await together.publish_all(responses(10))
    bus.work(Stage("extractor", Response, refuse))
    await bus.settled(MEASURING)
    letters = await bus.dead()
    assert [_number(Response.decode(letter.data)) for letter in letters] == [3, 7]
    assert len(seen.records) == 8
    refused.clear()
    for letter in letters:
        await replay(letter, bus.admin, together)
    await seen.wait_for(10)
    assert Counter(map(_number, seen.records)) == Counter(range(10))


async def test_after_a_failure_that_passes_only_what_failed_is_handled_again(
    bus: ProvisionedBus, together: JetStreamPublisher
) -> None:
    seen, tries = ReceivedRecords(), Counter[int]()

    async def flaky(response: Response) -> Sequence[Record]:
        tries[_number(response)] += 1
        if _number(response) == 4 and tries[4] < 3:
            raise TransientError("The model is down.")
        return seen.note(response)

    await together.publish_all(responses(10))
    bus.work(Stage("extractor", Response, flaky))
    await seen.wait_for(10)
    await bus.settled(MEASURING)
    assert tries == Counter({**dict.fromkeys(range(10), 1), 4: 3})
    assert await bus.dead() == []


async def test_another_process_gets_all_of_a_message_that_was_not_finished(
    bus: ProvisionedBus, together: JetStreamPublisher
) -> None:
    first = bus.consumer(Stage("extractor", Response, lambda _: [], slots=10))
    await together.publish_all(responses(10))
    await first.restore()
    taken = [item for _ in range(10) for item in await first.take(1)]
    for delivery in taken[:6]:
        await first.ack(delivery)
        await first.ack(delivery)  # an answer counts once
    for delivery in [*await first.close(), *taken[6:]]:
        await first.nak(delivery, 0)
    seen = ReceivedRecords()
    bus.work(Stage("extractor", Response, seen.handle))
    await seen.wait_for(10)
    await bus.settled(MEASURING)
    assert Counter(map(_number, seen.records)) == Counter(range(10))


async def test_a_message_handed_out_too_often_is_a_dead_letter_for_each_of_its_records(
    bus: ProvisionedBus, together: JetStreamPublisher
) -> None:
    consumer = bus.consumer(Stage("extractor", Response, lambda _: [], slots=3))
    await together.publish_all(responses(3))
    await consumer.restore()
    for _ in range(3):
        for delivery in [item for _ in range(3) for item in await consumer.take(1)]:
            await consumer.nak(delivery, 0)
    await consumer.close()
    bus.work(MEASURING, RetryPolicy(transient_attempts=3))
    await bus.settled(MEASURING)
    assert [_number(Response.decode(item.data)) for item in await bus.dead()] == [0, 1, 2]


async def test_a_message_that_is_not_what_it_says_is_one_dead_letter(bus: ProvisionedBus) -> None:
    subject, data = "bias.v1.response.default.study.x", b"{}\n" * 500
    await bus.publisher.publish_copy(subject, data, {"Biaswatch-Records": "501"})
    bus.work(MEASURING)
    await bus.settled(MEASURING)
    [letter] = await bus.dead()
    assert letter.data == data


async def test_one_too_large_and_one_that_is_refused_keep_nothing_from_the_others(
    bus: ProvisionedBus, together: JetStreamPublisher
) -> None:
    await bus.admin._api("STREAM.DELETE.FEATURES")
    large = make_response(1, text="x" * 600_000)
    oversize, none, refused = await together.publish_all([large, make_response(2), make_features()])
    assert isinstance(oversize, OversizeError)
    assert none is None
    assert isinstance(refused, TransientError)
    assert not isinstance(refused, BackPressureError)
    assert await bus.count(Response) == 1


async def test_who_gives_up_waiting_takes_nothing_from_those_who_wait(
    bus: ProvisionedBus, together: JetStreamPublisher
) -> None:
    waiting = [asyncio.create_task(together.publish(response)) for response in responses(10)]
    await asyncio.sleep(0)
    waiting[0].cancel()
    ended = await asyncio.gather(*waiting, return_exceptions=True)
    assert isinstance(ended[0], asyncio.CancelledError)
    assert ended[1:] == [None] * 9
    seen = ReceivedRecords()
    bus.work(Stage("extractor", Response, seen.handle))
    await seen.wait_for(9)


async def test_a_purge_removes_one_record_and_leaves_those_beside_it(
    bus: ProvisionedBus, together: JetStreamPublisher
) -> None:
    await together.publish_all(responses(10))
    gone = {make_response(n).probe.unit_id for n in (2, 5)}
    purged = await purge_messages(bus.admin, together, lambda record: record.unit in gone)
    assert purged.messages == Counter({"RESPONSES": 2})
    seen = ReceivedRecords()
    bus.work(Stage("extractor", Response, seen.handle))
    await bus.settled(MEASURING)
    assert [_number(record) for record in seen.records] == [0, 1, 3, 4, 6, 7, 8, 9]
    again = await purge_messages(bus.admin, together, lambda record: record.unit in gone)
    assert not again.messages


def _number(response: Response) -> int:
    return int(response.probe.key.rpartition("-")[2])
