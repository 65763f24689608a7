"""Processes and the server are killed at random: nothing is lost, nothing is counted twice."""

import asyncio
import os
import random
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from shared.bus.deadletters import dead_letters
from shared.bus.jetstream import Admin, Connection, JetStreamPublisher
from shared.bus.provision import provision
from shared.bus.server import EmbeddedServer
from shared.contracts import Features, Probe, Response, subject_of
from shared.errors import BiaswatchError
from shared.store import Store, migrate
from shared.testing.records import RUN_ID, make_probe
from shared.testing.toy_stages import POISON, STAGES

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


@pytest.mark.parametrize(
    "mayhem", [SHORT, pytest.param(FULL, marks=[pytest.mark.slow, pytest.mark.timeout(600)])]
)
async def test_every_output_is_stored_exactly_once_and_only_poison_is_dead(
    mayhem: Mayhem, tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    migrate(url)
    with EmbeddedServer(tmp_path / "nats") as server, Store.open(url) as store:
        connection = await Connection.open(server.url, name="test")
        admin = Admin(connection)
        await provision(admin)
        fleet = Fleet(server, url, mayhem)
        try:
            filling = asyncio.create_task(fill(connection, mayhem))
            await fleet.suffer()
            await filling
            await finished(store, admin, mayhem)
        finally:
            fleet.end()
        await verify(store, admin, mayhem)
        print(fleet.summary())
        await connection.close()


class Fleet:
    """Two processes of each toy stage, and what befalls them."""

    def __init__(self, server: EmbeddedServer, store_url: str, mayhem: Mayhem) -> None:
        self._server = server
        self._mayhem = mayhem
        self._rng = random.Random(mayhem.seed)
        self._began = time.monotonic()
        self._environment = {
            **os.environ,
            "NATS_URL": server.url,
            "BIASWATCH_STORE_URL": store_url,
            "BIASWATCH_HEALTH_PORT": "0",
            "BIASWATCH_LOG_LEVEL": "ERROR",
            "BIASWATCH_TOY_FAILURE_RATE": str(mayhem.failure_rate),
        }
        self._processes = [self._start(stage) for stage in STAGES for _ in range(2)]

    def _start(self, stage: str) -> tuple[str, subprocess.Popen[bytes]]:
        command = [sys.executable, "-m", "shared.testing.toy_stages", stage]
        return stage, subprocess.Popen(
            command, env=self._environment, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        )

    async def suffer(self) -> None:
        """Kill at random moments, start again what was killed."""
        events = ["worker"] * self._mayhem.worker_kills + ["server"] * self._mayhem.server_kills
        self._rng.shuffle(events)
        await asyncio.sleep(1.0)
        for event in events:
            await asyncio.sleep(self._rng.uniform(0.1, 0.9))
            self._kill_server() if event == "server" else self._kill_worker()

    def _kill_worker(self) -> None:
        victim = self._rng.randrange(len(self._processes))
        stage, process = self._processes[victim]
        process.kill()
        process.wait()
        self._processes[victim] = self._start(stage)

    def _kill_server(self) -> None:
        self._server.kill()
        self._server.start()

    def end(self) -> None:
        """Stop every process in good order; one that does not stop fails the test."""
        for _, process in self._processes:
            process.terminate()
        codes = [process.wait(40) for _, process in self._processes]
        assert set(codes) <= {0, -15}, codes

    def summary(self) -> str:
        return (
            f"\n{self._mayhem.records} records and {POISONED} poison through 3 stages,"
            f" {self._mayhem.worker_kills} workers and {self._mayhem.server_kills} servers killed,"
            f" {self._mayhem.failure_rate:.0%} of handlings failed:"
            f" all exact after {time.monotonic() - self._began:.0f} s."
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
    async with asyncio.timeout(240):
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
