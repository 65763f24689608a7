"""Processes and the server are killed at random: nothing is lost, nothing is counted twice."""

import asyncio
import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from biaswatch.shared.bus.dead_letters import dead_letters
from biaswatch.shared.bus.jetstream import Admin, Connection, JetStreamPublisher, provision
from biaswatch.shared.bus.server import EmbeddedServer
from biaswatch.shared.contracts import Features, Probe, Response, subject_of
from biaswatch.shared.errors import BiaswatchError
from biaswatch.shared.store import Store, migrate
from tests.support.fleet import Fleet
from tests.support.records import RUN_ID, make_probe
from tests.support.toy_stages import POISON, STAGES
from tests.support.waiting import PATIENCE_S

POISONED = 10


@dataclass(frozen=True)
class Mayhem:
    """How much is done, and how much is done to it."""

    records: int
    worker_kills: int
    server_kills: int
    seed: int
    failure_rate: float = 0.05


SHORT = Mayhem(records=500, worker_kills=6, server_kills=1, seed=1)
FULL = Mayhem(records=3000, worker_kills=28, server_kills=3, seed=2)


@pytest.mark.parametrize("mayhem", [SHORT, pytest.param(FULL, marks=pytest.mark.slow)])
async def test_every_output_is_stored_exactly_once_and_only_poison_is_dead(
    mayhem: Mayhem, tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    migrate(url)
    with EmbeddedServer(tmp_path / "nats") as server, Store.open(url) as store:
        connection = await Connection.open(server.url, name="test")
        admin = Admin(connection)
        await provision(admin)
        environment = {
            **os.environ,
            "NATS_URL": server.url,
            "BIASWATCH_STORE_URL": url,
            "BIASWATCH_HEALTH_PORT": "0",
            "BIASWATCH_ACK_WAIT_S": "2",
            "BIASWATCH_TOY_FAILURE_RATE": str(mayhem.failure_rate),
        }
        commands = [["tests.support.toy_stages", stage] for stage in STAGES for _ in range(2)]
        fleet = Fleet(server, commands, environment, mayhem.seed)
        try:
            filling = asyncio.create_task(fill(connection, mayhem))
            await fleet.suffer(mayhem.worker_kills, mayhem.server_kills)
            await filling
            await finished(store, admin, mayhem)
        finally:
            codes = fleet.end()
        assert set(codes) <= {0, -15}
        await verify(store, admin, mayhem)
        print(summary(mayhem, fleet.age_s))
        await connection.close()


def summary(mayhem: Mayhem, age_s: float) -> str:
    return (
        f"\n{mayhem.records} records and {POISONED} poison through {len(STAGES)} stages,"
        f" {mayhem.worker_kills} workers and {mayhem.server_kills} servers killed,"
        f" {mayhem.failure_rate:.0%} of handlings failed: all exact after {age_s:.0f} s."
    )


def good(number: int) -> Probe:
    return make_probe(number)


async def fill(connection: Connection, mayhem: Mayhem) -> None:
    """Publish every probe, and between them the poison: half undecodable, half unanswerable."""
    publisher = JetStreamPublisher(connection, timeout_s=2)
    bad = {n * mayhem.records // POISONED: n for n in range(POISONED)}
    for number in range(mayhem.records):
        await until_taken(publisher, subject_of(good(number)), good(number).encode(), f"{number}/0")
        if number in bad:
            key = f"{POISON}-{bad[number]}"
            poison = make_probe(0, key=key)
            data = poison.encode() if bad[number] % 2 else b"\x00 no record"
            await until_taken(publisher, subject_of(poison), data, f"{key}/0")


async def until_taken(
    publisher: JetStreamPublisher, subject: str, data: bytes, message_id: str
) -> None:
    while True:
        try:
            await publisher.publish_copy(subject, data, {"Nats-Msg-Id": message_id})
        except BiaswatchError:
            await asyncio.sleep(0.1)
        else:
            return


async def finished(store: Store, admin: Admin, mayhem: Mayhem) -> None:
    """Return when everything has come out at the end, or fail when it does not."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            features = await asyncio.to_thread(store.records.count, Features)
            responses = await asyncio.to_thread(store.records.count, Response)
            try:
                dead = len([letter async for letter in dead_letters(admin)])
            except BiaswatchError:
                dead = 0
            if min(features, responses) >= mayhem.records and dead >= POISONED:
                return
            await asyncio.sleep(0.2)


async def verify(store: Store, admin: Admin, mayhem: Mayhem) -> None:
    expected = {good(number).id for number in range(mayhem.records)}
    responses = list(store.records.read(Response, run_id=RUN_ID))
    features = list(store.records.read(Features, run_id=RUN_ID))
    assert sorted(r.probe_id for r in responses) == sorted(expected)
    assert sorted(f.probe_id for f in features) == sorted(expected)
    assert {f.response_id for f in features} == {r.id for r in responses}
    assert all(r.text == f"An answer to {r.probe.key}." for r in responses)
    assert {f.values["words"] for f in features} == {4.0}
    letters = [letter async for letter in dead_letters(admin)]
    assert len(letters) == POISONED
    unanswerable = [letter for letter in letters if letter.error == "PoisonError"]
    undecodable = [letter for letter in letters if letter.error == "UndecodableError"]
    assert {letter.reason for letter in unanswerable} == {
        f"The probe {POISON}-{n} cannot be asked." for n in range(1, POISONED, 2)
    }
    assert {letter.data for letter in undecodable} == {b"\x00 no record"}
    assert len(unanswerable) == len(undecodable) == POISONED // 2
