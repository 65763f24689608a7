"""What nats-py and JetStream do wrong or surprisingly; each was met, and none may come back."""

import asyncio
from pathlib import Path

import pytest
from nats.errors import MaxPayloadError

from biaswatch.shared.bus.jetstream import JetStreamConsumer
from biaswatch.shared.bus.jetstream.admin import Lag
from biaswatch.shared.bus.retry_policy import RetryPolicy
from biaswatch.shared.bus.stage import Stage
from biaswatch.shared.bus.topology import DurableSpec, StreamLimits, StreamSpec, durable_of, streams
from biaswatch.shared.contracts import Features, Probe, Response, route_of
from biaswatch.shared.contracts.partitions import partition_of
from biaswatch.shared.errors import BackPressureError, OversizeError, TransientError
from tests.support.bus import ProvisionedBus, ReceivedRecords
from tests.support.records import make_probe, make_response, make_target
from tests.support.waiting import eventually

BUS_SOURCES = [p for part in ("shared", "services", "biaswatch") for p in Path(part).rglob("*.py")]


async def test_a_payload_that_fits_only_without_its_headers_does_not_close_the_client(
    bus: ProvisionedBus,
) -> None:
    data = b"x" * (bus.connection.client.max_payload - 10)
    with pytest.raises(OversizeError, match="with its headers"):
        await bus.publisher.publish_copy("bias.v1.response.default.study.x", data, {"A": "b" * 50})
    await bus.publish(make_response(0))
    assert bus.connection.client.is_connected
    assert not bus.connection.lost.is_set()


async def test_the_client_alone_checks_the_payload_without_its_headers(bus: ProvisionedBus) -> None:
    # The reason for our own guard; when this changes, the guard may go.
    with pytest.raises(MaxPayloadError):
        await bus.connection.client.publish("x", b"x" * (bus.connection.client.max_payload + 1))


async def test_a_publisher_hears_that_its_message_was_refused(bus: ProvisionedBus) -> None:
    full = StreamSpec("FULL", ("full.>",), True, 1, 10_000, 60, 1000, 60, 1)
    await bus.admin.ensure_stream(full)
    await bus.publisher.publish_copy("full.a", b"1", {})
    await bus.publisher.publish_copy("full.b", b"2", {})
    with pytest.raises(BackPressureError, match="maximum messages per subject exceeded"):
        await bus.publisher.publish_copy("full.a", b"3", {})
    with pytest.raises(OversizeError, match="message size exceeds maximum allowed"):
        await bus.publisher.publish_copy("full.d", b"4" * 2000, {})


async def test_a_subject_no_stream_takes_is_said_so_instead_of_timing_out(
    bus: ProvisionedBus,
) -> None:
    with pytest.raises(TransientError, match=r"No stream takes.*biaswatch admin provision"):
        await bus.publisher.publish_copy("nobody.listens", b"1", {})


async def test_sparse_messages_never_wait_for_an_orphaned_pull_to_expire(
    bus: ProvisionedBus, monkeypatch: pytest.MonkeyPatch
) -> None:
    never_here = 3600.0
    monkeypatch.setattr("biaswatch.shared.bus.jetstream.inbox.PULL_EXPIRES_S", never_here)
    seen = ReceivedRecords()
    stage = Stage("extractor", Response, seen.handle, slots=10)
    worker = bus.work(stage)
    for n in range(80):
        await bus.publish(make_response(n))
        await seen.wait_for(n + 1)
    assert isinstance(worker._consumer, JetStreamConsumer)
    assert worker._consumer.expired_pulls == 0


async def test_a_durable_deleted_under_a_waiting_worker_comes_back(bus: ProvisionedBus) -> None:
    seen = ReceivedRecords()
    bus.work(Stage("extractor", Response, seen.handle))
    await bus.publish(make_response(0))
    await seen.wait_for(1)
    partition = str(partition_of(make_response(0).tenant))
    name = route_of(Response).durable("extractor", partition=partition)
    await bus.admin._api(f"CONSUMER.DELETE.RESPONSES.{name}")
    await bus.publish(make_response(1))
    await seen.wait_for(3)  # the first one once more: a new durable starts at the oldest record
    assert {r.probe.key for r in seen.records} == {"probe-0", "probe-1"}


async def test_a_stream_made_anew_under_a_waiting_worker_is_read_again(bus: ProvisionedBus) -> None:
    seen = ReceivedRecords()
    worker = bus.work(Stage("extractor", Response, seen.handle))
    await bus.publish(make_response(0))
    await seen.wait_for(1)
    await bus.admin._api("STREAM.DELETE.RESPONSES")
    await eventually(lambda: not worker.ready)
    for spec in streams(StreamLimits()):
        await bus.admin.ensure_stream(spec)
    await bus.publish(make_response(1))
    await seen.wait_for(2)
    assert worker.ready


async def test_a_worker_goes_on_after_the_server_was_killed_and_restarted(
    bus: ProvisionedBus,
) -> None:
    seen = ReceivedRecords()
    bus.work(Stage("extractor", Response, seen.handle))
    await bus.publish(make_response(0))
    await seen.wait_for(1)
    bus.server.kill()
    bus.server.start()
    await bus.publish(make_response(1))
    await seen.wait_for(2)


async def test_provisioning_corrects_a_durable_that_drifted(bus: ProvisionedBus) -> None:
    stage = Stage("extractor", Response, lambda _: [])
    wanted = durable_of(stage)
    await bus.admin.ensure_durable(
        DurableSpec(wanted.stream, wanted.name, wanted.filter, ack_wait_s=5, max_in_hand=7)
    )
    await bus.admin.ensure_durable(wanted)
    config = (await bus.durable_info(wanted.stream, wanted.name))["config"]
    assert config["ack_wait"] == wanted.ack_wait_s * 1e9
    assert config["max_ack_pending"] == wanted.max_in_hand


async def test_headers_given_by_a_caller_are_not_changed(bus: ProvisionedBus) -> None:
    headers = {"Nats-Msg-Id": "a/0"}
    await bus.publisher.publish_copy("bias.v1.response.default.study.x", b"1", headers)
    assert headers == {"Nats-Msg-Id": "a/0"}


async def test_the_client_never_gives_up_reconnecting(bus: ProvisionedBus) -> None:
    assert bus.connection.client.options["max_reconnect_attempts"] == -1


async def test_no_backoff_replaces_the_ack_wait_and_nothing_gets_stuck_on_the_server(
    bus: ProvisionedBus,
) -> None:
    config = (await bus.durable_info("RESPONSES", "extractor-response"))["config"]
    assert "backoff" not in config
    assert config["ack_wait"] == 30e9
    assert config["max_deliver"] == -1


async def test_a_failed_record_waits_its_delay_while_others_pass(bus: ProvisionedBus) -> None:
    seen = ReceivedRecords()

    async def fail_first(response: Response) -> list[Features]:
        seen.note(response)
        if response.probe.key == "probe-0":
            raise TransientError("Later.", retry_after_s=600)
        return []

    bus.work(Stage("extractor", Response, fail_first), RetryPolicy())
    await bus.publish(make_response(0))
    await seen.wait_for(1)
    await bus.publish(*(make_response(n) for n in range(1, 60)))
    await seen.wait_for(60)
    assert [r.probe.key for r in seen.records].count("probe-0") == 1
    await bus.settled(Stage("extractor", Response, fail_first), in_hand=1)


async def test_a_duplicate_is_dropped_and_a_republication_inside_the_window_arrives(
    bus: ProvisionedBus,
) -> None:
    for publication in (0, 0, 0, 1, 1, 2):
        await bus.publisher.publish(make_response(0), publication=publication)
    assert await bus.count(Response) == 3


async def test_a_duplicate_is_known_after_the_server_was_killed(bus: ProvisionedBus) -> None:
    await bus.publisher.publish(make_response(0))
    bus.server.kill()
    bus.server.start()
    await bus.publisher.publish(make_response(0))
    assert await bus.count(Response) == 1


async def test_two_workers_of_one_stage_share_its_records(bus: ProvisionedBus) -> None:
    first, second = ReceivedRecords(), ReceivedRecords()

    async def by_the_first(response: Response) -> list[Features]:
        first.note(response)
        await second.wait_for(1)  # what it holds until then, the other cannot have
        return []

    async def by_the_second(response: Response) -> list[Features]:
        second.note(response)
        await first.wait_for(1)
        return []

    bus.work(Stage("extractor", Response, by_the_first, slots=2))
    bus.work(Stage("extractor", Response, by_the_second, slots=2))
    await bus.publish(*(make_response(n) for n in range(200)))
    await eventually(lambda: len(first.records) + len(second.records) >= 200)
    ids = [r.id for r in first.records + second.records]
    assert len(set(ids)) == len(ids) == 200
    assert first.records
    assert second.records


async def test_a_worker_never_holds_more_than_it_has_hands_for(bus: ProvisionedBus) -> None:
    go_on, begun = asyncio.Event(), ReceivedRecords()

    async def wait(response: Response) -> list[Features]:
        begun.note(response)
        await go_on.wait()
        return []

    stage = Stage("extractor", Response, wait, slots=3)
    bus.work(stage)
    await bus.publish(*(make_response(n) for n in range(20)))
    await begun.wait_for(3)

    async def held() -> bool:  # the server counts a little later than it delivers
        return await bus.lag(stage) == Lag(17, 3)

    await eventually(held)
    assert len(begun.records) == 3
    go_on.set()


async def test_a_throttled_target_blocks_no_other(bus: ProvisionedBus) -> None:
    slow, fast = make_target(name="openai:slow"), make_target(name="openai:fast")
    asked, stuck = ReceivedRecords(), asyncio.Event()

    async def throttled(_: Probe) -> list[Response]:
        await stuck.wait()
        return []

    bus.work(Stage("generator", Probe, throttled, lane=slow.lane, slots=1))
    bus.work(Stage("generator", Probe, asked.handle, lane=fast.lane, slots=1))
    await bus.publish(*(make_probe(n, target=slow) for n in range(20)))
    await bus.publish(*(make_probe(n, target=fast) for n in range(20)))
    await asked.wait_for(20)
    stuck.set()


@pytest.mark.parametrize(
    ("word", "why"),
    [
        ("publish_async", "its refusals never reach the caller"),
        (".fetch(", "it stalls on orphaned pulls"),
        ("key_value", "expired keys come back as live ones, and a watch is blind after a restart"),
        ("object_store", "its get is quadratic; big things travel by reference"),
        ("pull_subscribe", "it ignores that a durable has drifted"),
        ("message.term(", "it takes no reason"),
        ("asyncio.wait_for(", "before Python 3.12 it can swallow a cancellation"),
    ],
)
def test_what_the_client_does_wrong_is_not_used(word: str, why: str) -> None:
    users = [str(path) for path in BUS_SOURCES if word in path.read_text()]
    assert users == [], why
