"""Provisioning on a real server: idempotent, complete, and clear when it cannot be done."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from biaswatch.shared.bus.jetstream import Admin, Connection, JetStreamPublisher, provision
from biaswatch.shared.bus.jetstream.admin import stream_config
from biaswatch.shared.bus.server import EmbeddedServer, disk_usage_bytes, find_binary
from biaswatch.shared.bus.stage import Stage
from biaswatch.shared.bus.topology import StreamLimits, durables, limits_within, streams
from biaswatch.shared.contracts import ROUTES, Probe, Purpose, Response
from biaswatch.shared.errors import BackPressureError, ConfigurationError, TransientError
from tests.support.bus import ProvisionedBus
from tests.support.records import make_probe, make_response, make_target


async def test_provisioning_again_changes_nothing_and_keeps_the_records(
    bus: ProvisionedBus,
) -> None:
    await bus.publish(make_response(0))
    before = [await bus.durable_info(d.stream, d.name) for d in durables()]
    await provision(bus.admin)
    after = [await bus.durable_info(d.stream, d.name) for d in durables()]
    assert [d["config"] for d in before] == [d["config"] for d in after]
    assert [d["created"] for d in before] == [d["created"] for d in after]
    assert await bus.admin.subjects("RESPONSES", "bias.>")


async def test_other_sizes_are_brought_to_an_existing_stream(bus: ProvisionedBus) -> None:
    await provision(bus.admin, StreamLimits(outstanding=2))
    await bus.publish(make_probe(0), make_probe(1))
    with pytest.raises(BackPressureError):
        await bus.publish(make_probe(2))
    assert await bus.count(Probe) == 2


async def test_a_target_that_takes_no_probes_fills_the_queue_of_no_other(
    bus: ProvisionedBus,
) -> None:
    await provision(bus.admin, StreamLimits(outstanding=1))
    other = make_target(name="openai:other")
    await bus.publish(make_probe(0))
    with pytest.raises(BackPressureError):
        await bus.publish(make_probe(1))
    await bus.publish(make_probe(1, target=other))


async def test_a_stream_that_bounded_all_targets_together_is_brought_to_bounds_of_each(
    bus: ProvisionedBus,
) -> None:
    [probes] = [stream for stream in streams(StreamLimits()) if stream.name == "PROBES"]
    before = {**stream_config(probes), "max_msgs": 1, "max_msgs_per_subject": -1}
    await bus.admin._api("STREAM.UPDATE.PROBES", {**before, "discard_new_per_subject": False})
    await provision(bus.admin)
    await bus.publish(make_probe(0), make_probe(1))
    assert await bus.count(Probe) == 2


async def test_a_stream_of_another_make_is_refused_with_what_to_do(bus: ProvisionedBus) -> None:
    await bus.admin._api("STREAM.DELETE.PROBES")
    await bus.admin._api(
        "STREAM.CREATE.PROBES",
        {"name": "PROBES", "subjects": ["bias.v1.probe.*.*.*"], "storage": "memory"},
    )
    with pytest.raises(ConfigurationError, match=r"The stream PROBES cannot be updated"):
        await provision(bus.admin)


async def test_a_server_without_room_for_the_streams_is_named_with_what_to_raise(
    bus: ProvisionedBus,
) -> None:
    with pytest.raises(ConfigurationError, match=r"no space left .* Raise max_file_store"):
        await provision(bus.admin, StreamLimits(stream_bytes=2**55))


async def reserved_bytes(admin: Admin) -> int:
    infos = [await admin._api(f"STREAM.INFO.{stream.name}") for stream in streams(StreamLimits())]
    return sum(info["config"]["max_bytes"] for info in infos)


async def test_a_bus_of_a_large_disk_fits_one_with_1_gb_free_and_keeps_its_records(
    bus: ProvisionedBus, tmp_path: Path
) -> None:
    await provision(
        bus.admin, StreamLimits(stream_bytes=100 * 1024**3)
    )  # more than most disks here
    await bus.publish(make_response(0))
    room_bytes = 10**9 + disk_usage_bytes(tmp_path / "nats")
    bus.server.stop()
    bus.server.start()
    await provision(bus.admin, limits_within(room_bytes))
    assert await reserved_bytes(bus.admin) <= room_bytes / 2
    await bus.publish(make_response(1), make_probe(1))
    assert await bus.count(Response) == 2


async def test_a_server_with_700_mb_takes_the_streams_of_a_disk_with_1_gb_free(
    tmp_path: Path,
) -> None:
    with EmbeddedServer(tmp_path / "nats", max_file_store_bytes=700_000_000) as server:
        connection = await Connection.open(server.url, name="test")
        admin = Admin(connection)
        with pytest.raises(ConfigurationError, match="no space left"):
            await provision(admin)
        await provision(admin, limits_within(10**9))
        await JetStreamPublisher(connection).publish(make_response(0))
        await connection.close()


def test_a_large_disk_gets_the_usual_sizes_and_a_tiny_one_a_sentence() -> None:
    assert limits_within(10**12) == StreamLimits()
    with pytest.raises(ConfigurationError, match=r"needs \d+ MB of disk, and has 50 MB.*STATE_DIR"):
        limits_within(50 * 10**6)


async def test_a_server_without_jetstream_is_named_as_the_problem() -> None:
    process = subprocess.Popen([find_binary(), "-p", "14229"], stderr=subprocess.DEVNULL)
    try:
        connection = await Connection.open("nats://127.0.0.1:14229", name="test")
        with pytest.raises(TransientError, match="or it is switched off"):
            await provision(Admin(connection))
        await connection.close()
    finally:
        process.terminate()
        process.wait()


async def test_lanes_with_probes_waiting_can_be_listed(bus: ProvisionedBus) -> None:
    await bus.publish(make_probe(0), make_probe(1))
    [(subject, waiting)] = (await bus.admin.subjects("PROBES", "bias.v1.probe.>")).items()
    assert subject.endswith(make_probe(0).lane)
    assert waiting == 2


def test_every_stream_and_durable_of_the_address_book_is_provisioned() -> None:
    assert {route.stream for route in ROUTES} < {stream.name for stream in streams(StreamLimits())}
    expected = {
        (r.stream, name)
        for r in ROUTES
        if not r.by_lane
        for c in r.consumers
        for name in r.durables(c)
    }
    assert {(d.stream, d.name) for d in durables()} == expected


async def test_who_reads_replies_of_judges_is_given_no_other_answers(bus: ProvisionedBus) -> None:
    judging = {"purpose": Purpose.JUDGE, "probe": make_probe(1, purpose=Purpose.JUDGE)}
    await bus.publish(make_response(0), make_response(1, **judging))
    waiting = {
        reader: (await bus.lag(Stage(reader, Response, lambda _: []))).waiting
        for reader in ("recorder", "oracle", "evaluator")
    }
    assert waiting == {"recorder": 2, "oracle": 1, "evaluator": 1}


async def test_a_durable_that_was_given_every_answer_is_narrowed(bus: ProvisionedBus) -> None:
    [wide] = [durable for durable in durables() if durable.name == "oracle-all-response"]
    await bus.admin.ensure_durable(replace(wide, filter="bias.v1.response.*.*.*.*"))
    await bus.publish(make_response(0))
    await provision(bus.admin)
    assert (await bus.admin.lag("RESPONSES", "oracle-all-response")).waiting == 0


async def test_nobody_at_the_address_is_one_sentence_without_the_password() -> None:
    with pytest.raises(TransientError) as caught:
        await Connection.open("nats://user:hunter2@127.0.0.1:1", name="test", patience_s=0.1)
    assert str(caught.value) == (
        "No NATS server answers at 127.0.0.1:1. Start one with `biaswatch up`, or set NATS_URL to"
        " the address of yours."
    )
