"""Each service with its own key on a real server: it can do its job and nothing else."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from biaswatch.shared.bus.accounts import server_config
from biaswatch.shared.bus.dead_letters import dead_letters
from biaswatch.shared.bus.jetstream import (
    Admin,
    Connection,
    JetStreamConsumer,
    JetStreamPublisher,
    NoReply,
    Requester,
    provision,
    serve_endpoints,
)
from biaswatch.shared.bus.jetstream.keys import ensure_keys
from biaswatch.shared.bus.permissions import INGEST, OPERATOR, service_names
from biaswatch.shared.bus.server import EmbeddedServer
from biaswatch.shared.bus.stage import Stage
from biaswatch.shared.bus.topology import DurableSpec, dead_subject, durable_of
from biaswatch.shared.contracts import ROUTES, Purpose, Record, Response, Route, subject_of
from biaswatch.shared.contracts.dropin import ENDPOINTS
from biaswatch.shared.errors import BiaswatchError, ConfigurationError, TransientError
from tests.support.records import make_exchange, make_probe, make_response, one_of_each_kind
from tests.support.waiting import PATIENCE_S, eventually

MADE: dict[str, Record] = {record.kind: record for record in one_of_each_kind()}
DROP_INS = ["dropin", "dropin-toy"]
TENANT_OF = {INGEST: "default", f"{INGEST}-hiring": "hiring"}
PRODUCING = [(service, route) for route in ROUTES for service in route.producers]
CONSUMING = [(service, route) for route in ROUTES for service in route.consumers]
NOT_PRODUCING = [
    (s, route) for route in ROUTES for s in service_names() if s not in route.producers
]
NOT_CONSUMING = [
    (s, route) for route in ROUTES for s in service_names() if s not in route.consumers
]


def named(pair: tuple[str, Route]) -> str:
    return f"{pair[0]}-{pair[1].record.kind}"


class Guarded:
    """A server that knows the keys, and connections of each service."""

    def __init__(self, server: EmbeddedServer, keys: Path) -> None:
        self.url = server.url
        self._keys = keys

    @asynccontextmanager
    async def as_service(self, name: str, key: str | None = None) -> AsyncIterator[Connection]:
        connection = await Connection.open(
            self.url, name=name, seed_file=self._keys / f"{key or name}.seed"
        )
        try:
            yield connection
        finally:
            await connection.close()


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> object:
    directory = tmp_path_factory.mktemp("guarded")
    public = ensure_keys(directory / "keys", [*service_names(), OPERATOR, *TENANT_OF, *DROP_INS])
    server = EmbeddedServer(directory / "nats", extra_config=server_config(public))
    with server:
        yield Guarded(server, directory / "keys")


@pytest.fixture(scope="module")
def provisioned(guarded: Guarded) -> Guarded:
    async def prepare() -> None:
        async with guarded.as_service(OPERATOR) as connection:
            await provision(Admin(connection))

    asyncio.run(prepare())  # once: two dozen streams for each of hundreds of tests take a while
    return guarded


@pytest.mark.parametrize("pair", PRODUCING, ids=named)
async def test_a_producer_can_publish_its_record(
    provisioned: Guarded, pair: tuple[str, Route]
) -> None:
    async with provisioned.as_service(pair[0]) as connection:
        await JetStreamPublisher(connection).publish(MADE[pair[1].record.kind])


@pytest.mark.parametrize("pair", NOT_PRODUCING, ids=named)
async def test_nobody_else_can_publish_it(provisioned: Guarded, pair: tuple[str, Route]) -> None:
    async with provisioned.as_service(pair[0]) as connection:
        publisher = JetStreamPublisher(connection, timeout_s=0.2, tries=1)
        with pytest.raises(TransientError):
            await publisher.publish(MADE[pair[1].record.kind])


@pytest.mark.parametrize("pair", CONSUMING, ids=named)
async def test_a_consumer_can_make_read_and_settle_its_durable_and_bury_what_is_poison(
    provisioned: Guarded, pair: tuple[str, Route]
) -> None:
    service, route = pair
    record = MADE[route.record.kind]
    if service in route.judgings:
        judging = {"purpose": Purpose.JUDGE, "probe": make_probe(1, purpose=Purpose.JUDGE)}
        record = make_response(1, **judging)
    async with provisioned.as_service(route.producers[0]) as connection:
        await JetStreamPublisher(connection).publish(record)
    lane = record.lane if route.by_lane else None
    stage = Stage(service, route.record, lambda _: [], lane=lane)
    async with provisioned.as_service(service) as connection:
        consumer = JetStreamConsumer(connection, durable_of(stage), 1)
        await consumer.restore()
        [delivery] = await consumer.take(1)
        await consumer.in_progress()
        await consumer.ack(delivery)
        await connection.flush()
        assert await consumer.lag() >= 0
        await consumer.close()
        await JetStreamPublisher(connection).publish_copy(
            dead_subject(service, stage.durable), b"x", {}
        )


@pytest.mark.parametrize("pair", NOT_CONSUMING, ids=named)
async def test_nobody_else_can_read_it_or_make_a_durable_to_read_it_with(
    provisioned: Guarded, pair: tuple[str, Route]
) -> None:
    service, route = pair
    spec = DurableSpec(route.stream, f"{service}-spy", route.filter(), 30, 10)
    async with provisioned.as_service(service) as connection:
        with pytest.raises(TransientError):
            await Admin(connection, timeout_s=0.2).ensure_durable(spec)


@pytest.mark.parametrize("service", service_names())
async def test_no_service_can_make_empty_or_remove_a_stream(
    provisioned: Guarded, service: str
) -> None:
    async with provisioned.as_service(service) as connection:
        admin = Admin(connection, timeout_s=0.2)
        with pytest.raises(BiaswatchError):
            await admin.delete_message("RESPONSES", 1)
        with pytest.raises(TransientError):
            await admin._api("STREAM.DELETE.RESPONSES")
        with pytest.raises(TransientError):
            await admin._api("STREAM.PURGE.RESPONSES")


async def test_a_service_cannot_read_dead_letters_or_the_replies_of_another(
    provisioned: Guarded,
) -> None:
    async with provisioned.as_service("extractor") as connection:
        with pytest.raises(TransientError):
            await Admin(connection, timeout_s=0.2).next_message("DEAD_LETTERS", "dead.v1.>", 1)
        heard = []

        async def hear(message: object) -> None:
            heard.append(message)

        await connection.client.subscribe("_INBOX_recorder.>", cb=hear)
        await connection.client.subscribe(f"{subject_of(MADE['response'])}", cb=hear)
        async with provisioned.as_service("recorder") as other:
            await other.client.publish("_INBOX_recorder.x", b"secret")
            await other.flush()
        await connection.flush()
        assert heard == []


async def test_the_operator_can_provision_list_and_replay_but_not_pull_records(
    provisioned: Guarded,
) -> None:
    async with provisioned.as_service(OPERATOR) as connection:
        admin = Admin(connection)
        _ = [letter async for letter in dead_letters(admin, durable="none")]
        await JetStreamPublisher(connection).publish(make_response(77))
        stage = Stage("recorder", Response, lambda _: [])
        consumer = JetStreamConsumer(connection, durable_of(stage), 1)
        taking = consumer.take(1)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(taking, 0.3)
        await consumer.close()


async def test_a_stranger_and_a_keyless_client_are_refused_in_one_sentence(
    guarded: Guarded, tmp_path: Path
) -> None:
    ensure_keys(tmp_path, ["stranger"])
    for seed_file in (tmp_path / "stranger.seed", None):
        with pytest.raises(ConfigurationError, match=r"refuses extractor.*`biaswatch admin keys`"):
            await Connection.open(guarded.url, name="extractor", seed_file=seed_file)


def test_keys_are_made_once_and_readable_by_their_owner_alone(tmp_path: Path) -> None:
    first = ensure_keys(tmp_path / "keys", ["extractor"])
    assert ensure_keys(tmp_path / "keys", ["extractor"]) == first
    path = tmp_path / "keys" / "extractor.seed"
    assert path.stat().st_mode & 0o077 == 0
    assert path.read_text().strip() not in server_config({"extractor": first["extractor"]})


def test_every_service_of_the_routes_has_a_folder(request: pytest.FixtureRequest) -> None:
    folders = {p.parent.name for p in (request.config.rootpath / "services").glob("*/__init__.py")}
    assert set(service_names()) <= folders | {"builder"}  # the key of `biaswatch build`


@pytest.mark.parametrize("key", TENANT_OF)
async def test_a_live_system_can_send_the_answers_of_its_tenant_in_and_nothing_else(
    provisioned: Guarded, key: str
) -> None:
    [other] = {*TENANT_OF.values()} - {TENANT_OF[key]}
    refused = (
        make_exchange(8, tenant=other),
        make_exchange(9, tenant=TENANT_OF[key], purpose=Purpose.STUDY),
    )
    own = make_exchange(7, tenant=TENANT_OF[key])
    async with provisioned.as_service(key) as connection:
        publisher = JetStreamPublisher(connection, timeout_s=0.2, tries=1)
        plain, _, _ = subject_of(own).rpartition(".")
        await publisher.publish_copy(plain, own.encode(), {"Nats-Msg-Id": own.id})
        for record in (MADE["response"], MADE["run"], *refused):
            whole = subject_of(record)
            for subject in {whole, ".".join(whole.split(".")[:6])}:
                with pytest.raises(TransientError):
                    await publisher.publish_copy(subject, record.encode(), {})
        with pytest.raises(BiaswatchError):
            await Admin(connection, timeout_s=0.2).subjects("EXCHANGES", "bias.>")
    async with provisioned.as_service(OPERATOR) as connection:
        # The server adds the partition of the tenant, which a live system does not know.
        assert subject_of(own) in await Admin(connection).subjects("EXCHANGES", "bias.>")


@pytest.mark.parametrize("key", ["dropin", "dropin-toy"])
async def test_a_drop_in_can_be_found_and_asked_and_nothing_else(
    provisioned: Guarded, key: str
) -> None:
    echo = dict.fromkeys(ENDPOINTS, lambda data: data)
    async with (
        provisioned.as_service(key) as connection,
        provisioned.as_service("extractor") as asking,
        serve_endpoints(connection, "toy", "1.0.0", echo),
    ):
        caller = Requester(asking)

        async def found() -> bool:
            return len(await caller.ask_all("$SRV.INFO", within_s=0.3)) == 1

        await eventually(found)
        asked = await caller.ask("ext.v1.toy.extract", b"x", timeout_s=PATIENCE_S)
        assert asked.data == b"x"
        with pytest.raises(BiaswatchError):
            await Admin(connection, timeout_s=0.2).lag("RESPONSES", "extractor-response")
        publisher = JetStreamPublisher(connection, timeout_s=0.2, tries=1)
        with pytest.raises(TransientError):
            await publisher.publish(MADE["features"])
        with pytest.raises(NoReply):
            await Requester(connection).ask("ext.v1.toy.extract", timeout_s=0.2)


@pytest.mark.parametrize("key", ["dropin", "dropin-toy"])
@pytest.mark.parametrize("other_key", ["dropin", "dropin-toy"])
async def test_a_drop_in_sees_another_of_its_name_whatever_their_keys(
    provisioned: Guarded, key: str, other_key: str
) -> None:
    echo = dict.fromkeys(ENDPOINTS, lambda data: data)
    async with (
        provisioned.as_service("dropin.toy", key) as one,
        provisioned.as_service("dropin.toy", other_key) as other,
        serve_endpoints(one, "toy", "1.0.0", echo, code="a"),
    ):
        async with serve_endpoints(other, "toy", "1.0.0", echo, code="a"):
            pass
        with pytest.raises(ConfigurationError, match="Another drop-in toy is running"):
            async with serve_endpoints(other, "toy", "1.0.0", echo, code="b"):
                pass


async def test_a_drop_in_with_a_key_of_its_own_hears_no_question_to_another(
    provisioned: Guarded,
) -> None:
    heard = []

    async def hear(message: object) -> None:
        heard.append(message)

    async with provisioned.as_service("dropin-toy") as toy:
        await toy.client.subscribe("ext.v1.other.extract", cb=hear)
        await toy.client.subscribe("bias.v1.>", cb=hear)
        await toy.flush()
        async with provisioned.as_service("extractor") as asking:
            with pytest.raises(NoReply):
                await Requester(asking).ask("ext.v1.other.extract", b"secret", timeout_s=0.3)
        await toy.flush()
    assert heard == []


async def test_the_extractor_can_read_for_a_guest_and_not_in_the_name_of_another_reader(
    provisioned: Guarded,
) -> None:
    toy = Stage("extractor", Response, lambda _: [], drop_in="toy")
    async with provisioned.as_service("extractor") as connection:
        consumer = JetStreamConsumer(connection, durable_of(toy), 1)
        await consumer.restore()
        async with provisioned.as_service("generator") as writing:
            await JetStreamPublisher(writing).publish(make_response(501))
        [delivery] = await consumer.take(1)
        assert Response.decode(delivery.data).id == make_response(501).id
        await consumer.ack(delivery)
        await consumer.close()
        for other in ("recorder", "oracle", "evaluator"):
            durable = durable_of(Stage(other, Response, lambda _: []))
            with pytest.raises(TransientError):
                await Admin(connection, timeout_s=0.2).ensure_durable(durable)
