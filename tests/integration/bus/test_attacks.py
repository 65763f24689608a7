"""Each key in the hands of an attacker: it reaches nothing that its service has no right to."""

import asyncio
import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from biaswatch.shared.bus.accounts import server_config
from biaswatch.shared.bus.dead_letters import dead_letters
from biaswatch.shared.bus.jetstream import (
    Admin,
    Connection,
    JetStreamConsumer,
    JetStreamPublisher,
    provision,
)
from biaswatch.shared.bus.jetstream.keys import ensure_keys
from biaswatch.shared.bus.permissions import (
    DROP_IN,
    INGEST,
    OPERATOR,
    key_names,
    permissions_of_key,
    service_names,
)
from biaswatch.shared.bus.server import EmbeddedServer
from biaswatch.shared.bus.stage import Stage
from biaswatch.shared.bus.topology import (
    DEAD_STREAMS,
    StreamLimits,
    dead_exchange_subject,
    dead_subject,
    durable_of,
    durables,
    limits_within,
)
from biaswatch.shared.bus.worker import Worker
from biaswatch.shared.contracts import Exchange, Response
from biaswatch.shared.errors import PoisonError
from tests.support.bus_attacks import Attacker, BusState, raw_client, settle, targets
from tests.support.records import one_of_each_kind
from tests.support.waiting import PATIENCE_S, eventually

ATTACKERS = [*service_names(), INGEST, f"{INGEST}-hiring", DROP_IN, f"{DROP_IN}-toy"]
TRIED: dict[str, int] = {}


def permissions_alone(public: dict[str, str]) -> str:
    """Return settings with the same permissions and one account for all: the control."""
    users = []
    for name, key in public.items():
        allowed = permissions_of_key(name)
        grants = {"publish": {"allow": allowed.publish or ["none"]}, "subscribe": allowed.subscribe}
        users.append({"nkey": key, "permissions": grants})
    return f"authorization {json.dumps({'users': users})}\n"


class GuardedBus:
    """A server with keys, and attacks on it."""

    def __init__(self, url: str, keys: Path) -> None:
        self._url, self._keys = url, keys

    async def harm_by(self, key: str) -> list[str]:
        """Return what an attacker with this key could do that it has no right to."""
        async with self.connected(OPERATOR) as operator:
            admin = Admin(operator, timeout_s=PATIENCE_S)
            await provision(admin)
            for record in one_of_each_kind():
                await JetStreamPublisher(operator, timeout_s=PATIENCE_S).publish(record)
            for durable in durables():
                if durable.name.startswith(f"{key}-"):
                    await admin._api(f"CONSUMER.DELETE.{durable.stream}.{durable.name}")
            before = await BusState.read(admin)
            heard = await self._attack(key, admin)
            harm = before.harm_by(key, await BusState.read(admin))
        return [*harm, *(f"it heard {subject}" for subject in sorted(heard))]

    async def _attack(self, key: str, admin: Admin) -> set[str]:
        """Try every attack with a key, and return the subjects heard."""
        seed = (self._keys / f"{key}.seed").read_text().strip()
        async with raw_client(self._url, key, seed) as client:
            attacker = Attacker(key, client)
            await attacker.listen()
            await attacker.send_everywhere()
            await attacker.have_replies_sent_everywhere()
            await attacker.mark_own_records()
            await attacker.make_durables_deliver_everywhere(admin)
            if key.startswith(DROP_IN):
                await self._have_it_answer(attacker)
            await settle(client)
            TRIED[key] = attacker.tried
            return {message.subject for message in attacker.heard}

    @asynccontextmanager
    async def connected(self, key: str) -> AsyncIterator[Connection]:
        """Connect with a key."""
        seed_file = self._keys / f"{key}.seed"
        connection = await Connection.open(self._url, name=key, seed_file=seed_file)
        try:
            yield connection
        finally:
            await connection.close()

    async def send_wrong_answers(self, key: str, subject: str, body: bytes, times: int) -> None:
        """Publish on a subject that the key may publish on, as fast as the bus takes it."""
        seed = (self._keys / f"{key}.seed").read_text().strip()
        async with raw_client(self._url, key, seed) as client:
            for number in range(times):
                await client.publish(f"{subject}-{number % 7}", body)
                if number % 200 == 199:
                    await client.flush()
            await settle(client)

    async def _have_it_answer(self, attacker: Attacker) -> None:
        """Have the extractor call a drop-in, which answers with subjects to reply to."""
        asking = await Connection.open(
            self._url, name="extractor", seed_file=self._keys / "extractor.seed"
        )
        await attacker.serve("ext.v1.toy.extract")
        for target in targets():
            await asking.client.publish("ext.v1.toy.extract", target.encode(), "_INBOX_extractor.x")
        await settle(asking.client)
        await asking.close()


@pytest.fixture
def keys(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    folder = tmp_path / "keys"
    return folder, ensure_keys(folder, {*key_names(), *ATTACKERS})


@pytest.fixture
def guarded(tmp_path: Path, keys: tuple[Path, dict[str, str]]) -> Iterator[GuardedBus]:
    folder, public = keys
    with EmbeddedServer(tmp_path / "nats", extra_config=server_config(public)) as server:
        yield GuardedBus(server.url, folder)


@pytest.mark.parametrize("key", ATTACKERS)
async def test_no_key_reaches_what_is_not_its_own(guarded: GuardedBus, key: str) -> None:
    assert await guarded.harm_by(key) == []
    print(f"{key}: {TRIED[key]} attacks, none succeeded")


@pytest.mark.parametrize("key", ["evaluator", INGEST])
async def test_the_attacks_succeed_where_permissions_are_all_that_holds_a_key(
    tmp_path: Path, keys: tuple[Path, dict[str, str]], key: str
) -> None:
    folder, public = keys
    with EmbeddedServer(tmp_path / "nats", extra_config=permissions_alone(public)) as server:
        harm = await GuardedBus(server.url, folder).harm_by(key)
    assert "VERDICTS has" in " ".join(harm)
    assert "a dead letter was written on dead.v1.gateway" in " ".join(harm)


LARGEST = b"\xff" * (500 * 1024)
"""No record, and nearly as large as the bus carries."""


@asynccontextmanager
async def gateway_at_work(connection: Connection) -> AsyncIterator[None]:
    """Handle exchanges as a gateway does that finds nobody who watches their live systems."""

    def unwatched(_: object) -> list[Response]:
        raise PoisonError("No monitor watches this live system.")

    stage = Stage("gateway", Exchange, unwatched)
    consumer = JetStreamConsumer(connection, durable_of(stage), stage.capacity)
    publisher = JetStreamPublisher(connection)
    worker = Worker(stage, consumer, publisher, jitter=lambda: 0.5, clock=time.time)
    running = asyncio.create_task(worker.run())
    try:
        yield
    finally:
        await worker.stop()
        await running


@dataclass(frozen=True)
class Flood:
    """What is sent in by one key, and how much of it the bus keeps."""

    limits: StreamLimits
    body: bytes
    times: int

    async def kept(self, guarded: GuardedBus) -> Counter[str]:
        """Return the subjects of the dead letters after it, one of a service among those before."""
        async with (
            guarded.connected(OPERATOR) as operator,
            guarded.connected("gateway") as gateway,
            guarded.connected("recorder") as recorder,
        ):
            admin = Admin(operator)
            await provision(admin, self.limits)
            await JetStreamPublisher(recorder).publish_copy(RECORDERS, b"{}", {})

            async def handled() -> bool:
                return not await admin.subjects("EXCHANGES", ">")

            async with gateway_at_work(gateway):
                hiring_subject, default_subject = (
                    f"bias.v1.exchange.{tenant}.production.x" for tenant in TENANTS
                )
                await guarded.send_wrong_answers(f"{INGEST}-hiring", hiring_subject, b"{}", 1)
                await eventually(handled)
                await guarded.send_wrong_answers(INGEST, default_subject, self.body, self.times)
                await eventually(handled)
            [kept, kept_apart] = [await admin.subjects(stream, ">") for stream in DEAD_STREAMS]
            listed = [letter.stream async for letter in dead_letters(admin)]
        assert Counter(listed) == {"DEAD_LETTERS": 1, "DEAD_EXCHANGES": sum(kept_apart.values())}
        return Counter(kept) + Counter(kept_apart)


TENANTS = ("hiring", "default")
RECORDERS = dead_subject("recorder", "recorder-response")
THEIRS, OURS = (
    dead_exchange_subject("gateway", "gateway-exchange", f"bias.v1.exchange.{tenant}.production.x")
    for tenant in TENANTS
)


async def test_wrong_answers_of_one_live_system_push_out_the_dead_letters_of_nobody_else(
    guarded: GuardedBus,
) -> None:
    flood = Flood(StreamLimits(dead_per_tenant=50), b"{}", 400)
    assert await flood.kept(guarded) == {RECORDERS: 1, THEIRS: 1, OURS: 50}


async def test_wrong_answers_that_fill_their_stream_push_out_no_dead_letter_of_a_service(
    guarded: GuardedBus,
) -> None:
    flood = Flood(limits_within(400_000_000), LARGEST, 120)
    kept = await flood.kept(guarded)
    assert kept[RECORDERS] == 1
    assert 0 < kept[OURS] < 60, "the stream has no room for more"
