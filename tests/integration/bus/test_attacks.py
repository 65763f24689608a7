"""Each key in the hands of an attacker: it reaches nothing that its service has no right to."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from shared.bus.accounts import server_config
from shared.bus.jetstream import Admin, Connection, JetStreamPublisher, provision
from shared.bus.jetstream.keys import ensure_keys
from shared.bus.permissions import (
    DROP_IN,
    INGEST,
    OPERATOR,
    key_names,
    permissions_of_key,
    service_names,
)
from shared.bus.server import EmbeddedServer
from shared.bus.topology import durables
from tests.support.bus_attacks import Attacker, BusState, raw_client, settle, targets
from tests.support.records import one_of_each_kind

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
        operator = await Connection.open(
            self._url, name=OPERATOR, seed_file=self._keys / f"{OPERATOR}.seed"
        )
        admin = Admin(operator)
        await provision(admin)
        for record in one_of_each_kind():
            await JetStreamPublisher(operator).publish(record)
        for each in durables():
            if each.name.startswith(f"{key}-"):
                await admin._api(f"CONSUMER.DELETE.{each.stream}.{each.name}")
        before = await BusState.read(admin)
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
            harm = before.harm_by(key, await BusState.read(admin))
            heard = {message.subject for message in attacker.heard}
        await operator.close()
        TRIED[key] = attacker.tried
        return [*harm, *(f"it heard {subject}" for subject in sorted(heard))]

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
