"""The worker on a real server: what it promises of every record it takes."""

import asyncio
import threading
from collections.abc import Sequence

import pytest

from biaswatch.shared.backoff import Backoff
from biaswatch.shared.bus.jetstream import consumer, provision
from biaswatch.shared.bus.retry_policy import RetryPolicy
from biaswatch.shared.bus.stage import Stage
from biaswatch.shared.bus.topology import StreamLimits
from biaswatch.shared.contracts import Features, Probe, Response, Run, subject_of
from biaswatch.shared.errors import ConfigurationError, PoisonError, TransientError
from tests.support.bus import ProvisionedBus, ReceivedRecords
from tests.support.records import make_features, make_probe, make_response, make_run, make_target
from tests.support.waiting import PATIENCE_S, eventually

MEASURING: Stage[Response] = Stage("extractor", Response, lambda _: [])
SIGNS_OF_TWO_ACK_WAITS = 7
"""A worker says three times in an ack wait that it lives."""


async def test_what_a_handler_returns_is_published_and_the_input_is_settled(
    bus: ProvisionedBus,
) -> None:
    seen = ReceivedRecords()

    async def measure(response: Response) -> list[Features]:
        return [make_features(int(response.probe.key.split("-")[1]))]

    bus.work(Stage("extractor", Response, measure))
    bus.work(Stage("recorder", Features, seen.handle))
    await bus.publish(*(make_response(n) for n in range(20)))
    await seen.wait_for(20)
    assert {f.id for f in seen.records} == {make_features(n).id for n in range(20)}
    await bus.settled(MEASURING)


async def test_a_plain_function_runs_off_the_event_loop(bus: ProvisionedBus) -> None:
    seen, loop_thread = ReceivedRecords(), threading.get_ident()
    threads: set[int] = set()
    loop = asyncio.get_running_loop()

    def compute(response: Response) -> list[Features]:
        threads.add(threading.get_ident())
        loop.call_soon_threadsafe(seen.note, response)
        return []

    bus.work(Stage("extractor", Response, compute))
    await bus.publish(make_response(0))
    await seen.wait_for(1)
    assert threads
    assert loop_thread not in threads


async def test_a_failure_that_may_pass_is_tried_again_until_it_does(bus: ProvisionedBus) -> None:
    seen, tries = ReceivedRecords(), 0

    async def flaky(response: Response) -> list[Features]:
        nonlocal tries
        tries += 1
        if tries < 4:
            raise TransientError("The model is down.")
        seen.note(response)
        return []

    bus.work(Stage("extractor", Response, flaky))
    await bus.publish(make_response(0))
    await seen.wait_for(1)
    assert tries == 4
    assert await bus.dead() == []


async def test_poison_goes_to_the_dead_letters_with_its_reason_after_one_attempt(
    bus: ProvisionedBus,
) -> None:
    seen = ReceivedRecords()

    async def refuse(response: Response) -> list[Features]:
        seen.note(response)
        if response.probe.key == "probe-1":
            raise PoisonError("This text cannot be measured:\r\nit is not text.")
        return []

    bus.work(Stage("extractor", Response, refuse))
    await bus.publish(*(make_response(n) for n in range(3)))
    await seen.wait_for(3)
    await bus.settled(MEASURING)
    [letter] = await bus.dead()
    assert letter.reason == "This text cannot be measured: it is not text."
    assert (letter.attempts, letter.error, letter.durable) == (
        1,
        "PoisonError",
        "extractor-response",
    )
    assert Response.decode(letter.data) == make_response(1)


@pytest.mark.parametrize(
    "data",
    [
        b"\xff\xfe\x00garbage",
        b"",
        b"[]",
        b'{"a": 1}',
        make_features(1).encode(),
        b"null",
        b"{" * 999,
    ],
)
async def test_undecodable_bytes_are_dead_lettered_as_they_came(
    bus: ProvisionedBus, data: bytes
) -> None:
    seen = ReceivedRecords()

    bus.work(Stage("extractor", Response, seen.handle))
    await bus.publisher.publish_copy("bias.v1.response.default.study.x", data, {})
    await bus.publish(make_response(0))
    await seen.wait_for(1)
    await bus.settled(MEASURING)
    [letter] = await bus.dead()
    assert letter.data == data
    assert letter.error == "UndecodableError"
    assert letter.reason.startswith("These bytes are not a response record: ")


@pytest.mark.parametrize(
    ("subject_scope", "record_scope"),
    [("hiring.study", "default.study"), ("default.judge", "default.study")],
)
async def test_a_record_on_the_subject_of_another_tenant_or_purpose_is_a_dead_letter(
    bus: ProvisionedBus, subject_scope: str, record_scope: str
) -> None:
    seen = ReceivedRecords()
    bus.work(Stage("extractor", Response, seen.handle))
    subject = f"bias.v1.response.{subject_scope}.x"
    await bus.publisher.publish_copy(subject, make_response(1).encode(), {})
    await bus.publish(make_response(0))
    await seen.wait_for(1)
    await bus.settled(MEASURING)
    [letter] = await bus.dead()
    assert letter.reason == (
        f"This response says {record_scope} of itself, and came on the subject of {subject_scope}."
    )
    assert seen.records == [make_response(0)]


async def test_an_unforeseen_error_is_given_up_after_its_attempts(bus: ProvisionedBus) -> None:
    seen = ReceivedRecords()

    async def crash(response: Response) -> list[Features]:
        seen.note(response)
        raise ZeroDivisionError("division by zero")

    bus.work(
        Stage("extractor", Response, crash),
        RetryPolicy(unexpected_attempts=3, backoff=Backoff(0.01, 1.0)),
    )
    await bus.publish(make_response(0))
    await seen.wait_for(3)
    await bus.settled(MEASURING)
    [letter] = await bus.dead()
    assert len(seen.records) == 3
    assert letter.reason == (
        "Given up after 3 attempts. The last one failed: ZeroDivisionError: division by zero"
    )


async def test_an_output_too_large_for_the_bus_dead_letters_its_input(bus: ProvisionedBus) -> None:
    seen = ReceivedRecords()

    async def bloat(probe: Probe) -> list[Response]:
        seen.note(probe)
        return [make_response(0, text="x" * 600_000)]

    lane = make_probe(0).lane
    bus.work(Stage("generator", Probe, bloat, lane=lane))
    await bus.publish(make_probe(0))
    await seen.wait_for(1)
    await bus.settled(Stage("generator", Probe, bloat, lane=lane))
    [letter] = await bus.dead()
    assert letter.error == "OversizeError"
    assert "the bus carries 512 KiB" in letter.reason
    assert not bus.connection.client.is_closed


async def test_one_bad_record_in_a_batch_costs_one_record(bus: ProvisionedBus) -> None:
    seen = ReceivedRecords()
    sizes: list[int] = []

    async def measure(batch: list[Response]) -> list[Features]:
        sizes.append(len(batch))
        if any(response.probe.key == "probe-3" for response in batch):
            raise ValueError("one text is bad")
        for response in batch:
            seen.note(response)
        return []

    await bus.publish(*(make_response(n) for n in range(8)))
    bus.work(
        Stage("extractor", Response, measure, slots=1, batch=8), RetryPolicy(unexpected_attempts=1)
    )
    await seen.wait_for(7)
    await bus.settled(MEASURING)
    [letter] = await bus.dead()
    assert Response.decode(letter.data).probe.key == "probe-3"
    assert max(sizes) > 1


async def test_a_record_handed_out_too_often_is_dead_lettered_without_being_handled(
    bus: ProvisionedBus,
) -> None:
    consumer = bus.consumer(Stage("extractor", Response, lambda _: []))
    await bus.publish(make_response(0))
    for _ in range(3):
        await consumer.restore()
        [delivery] = await consumer.take(1)
        await consumer.nak(delivery, 0)
    await consumer.close()
    handled = ReceivedRecords()
    bus.work(Stage("extractor", Response, handled.handle), RetryPolicy(transient_attempts=3))
    await bus.settled(MEASURING)
    [letter] = await bus.dead()
    assert letter.reason == (
        "Delivered 3 times and never acknowledged: its worker crashes or hangs on it."
    )
    assert handled.records == []


async def test_a_wrong_setting_ends_the_worker_and_gives_the_record_back(
    bus: ProvisionedBus,
) -> None:
    async def misconfigured(_: Response) -> list[Features]:
        raise ConfigurationError("The key is wrong. Set OPENAI_API_KEY.")

    worker = bus.work(Stage("extractor", Response, misconfigured))
    await bus.publish(make_response(0))
    _, task = bus._running[0]
    await task
    assert str(worker.fatal) == "The key is wrong. Set OPENAI_API_KEY."
    assert await bus.dead() == []
    seen = ReceivedRecords()
    bus.work(Stage("extractor", Response, seen.handle))
    await seen.wait_for(1)


async def test_stopping_lets_begun_work_finish_and_gives_the_rest_back_at_once(
    bus: ProvisionedBus,
) -> None:
    begun, go_on, elsewhere = ReceivedRecords(), asyncio.Event(), ReceivedRecords()

    async def slow(response: Response) -> list[Features]:
        begun.note(response)
        await go_on.wait()
        return []

    worker = bus.work(Stage("extractor", Response, slow, slots=2, batch=None))
    await bus.publish(*(make_response(n) for n in range(10)))
    await begun.wait_for(2)
    stopping = asyncio.create_task(worker.stop(grace_s=PATIENCE_S))
    await asyncio.sleep(0)
    assert not worker.ready
    go_on.set()
    await stopping
    bus.work(Stage("extractor", Response, elsewhere.handle))
    await elsewhere.wait_for(8)
    both = [r.id for r in begun.records] + [r.id for r in elsewhere.records]
    assert sorted(both) == sorted(make_response(n).id for n in range(10))


async def test_what_does_not_finish_within_the_grace_is_given_back(bus: ProvisionedBus) -> None:
    begun, elsewhere = ReceivedRecords(), ReceivedRecords()

    async def hang(response: Response) -> list[Features]:
        begun.note(response)
        await asyncio.Event().wait()
        return []

    worker = bus.work(Stage("extractor", Response, hang))
    await bus.publish(make_response(0))
    await begun.wait_for(1)
    await worker.stop(grace_s=0.01)
    bus.work(Stage("extractor", Response, elsewhere.handle))
    await elsewhere.wait_for(1)


async def test_a_long_call_is_not_delivered_to_anybody_else_while_it_lives(
    bus: ProvisionedBus,
) -> None:
    begun, go_on, done = ReceivedRecords(), asyncio.Event(), ReceivedRecords()

    async def slow(response: Response) -> list[Features]:
        begun.note(response)
        if response.probe.key == "probe-0":
            await go_on.wait()
        done.note(response)
        return []

    acks = "$JS.ACK.RESPONSES.>"
    subscription = await bus.connection.client.subscribe(acks)
    bus.work(Stage("extractor", Response, slow, ack_wait_s=3))
    await bus.publish(*(make_response(n) for n in range(13)))
    await done.wait_for(12)
    signs = 0
    while signs < SIGNS_OF_TWO_ACK_WAITS:
        message = await subscription.next_msg(timeout=PATIENCE_S)
        signs += message.data == b"+WPI"
    assert [r.probe.key for r in begun.records].count("probe-0") == 1
    go_on.set()
    await done.wait_for(13)


async def test_a_republication_on_purpose_passes_the_next_stage_too(bus: ProvisionedBus) -> None:
    seen = ReceivedRecords()

    async def measure(response: Response) -> list[Features]:
        return [make_features(int(response.probe.key.split("-")[1]))]

    bus.work(Stage("extractor", Response, measure))
    bus.work(Stage("recorder", Features, seen.handle))
    await bus.publisher.publish(make_response(0), publication=0)
    await seen.wait_for(1)
    await bus.publisher.publish(make_response(0), publication=0)
    await bus.publisher.publish(make_response(0), publication=1)
    await seen.wait_for(2)
    assert await bus.count(Response) == 2
    assert await bus.count(Features) == 2


async def test_a_lane_without_room_keeps_no_record_from_the_other_lanes(
    bus: ProvisionedBus,
) -> None:
    await provision(bus.admin, StreamLimits(outstanding=1))
    other = make_target(name="openai:other")
    probes = [make_probe(0), make_probe(1), make_probe(2, target=other)]

    async def plan(_: Run) -> list[Probe]:
        return probes

    async def free_lane_has_its_record() -> bool:
        result = await bus.admin.subjects("PROBES", "bias.>")
        return result == {subject_of(probes[0]): 1, subject_of(probes[2]): 1}

    bus.work(Stage("planner", Run, plan))
    await bus.publish(make_run())
    await eventually(free_lane_has_its_record)


async def test_a_batch_is_bounded_in_bytes_and_nothing_is_left_behind(
    bus: ProvisionedBus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumer, "MAX_TAKEN_BYTES", 1)  # so that one record reaches it
    seen, sizes = ReceivedRecords(), list[int]()

    async def measure(batch: Sequence[Response]) -> list[Features]:
        sizes.append(len(batch))
        for response in batch:
            seen.note(response)
        return []

    await bus.publish(*(make_response(n) for n in range(12)))
    bus.work(Stage("extractor", Response, measure, slots=1, batch=8))
    await seen.wait_for(12)
    assert sizes == [1] * 12
    await bus.settled(MEASURING)
