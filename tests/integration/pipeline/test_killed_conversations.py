"""Services are killed during conversations: none is lost, and only calls in flight are repeated."""

import asyncio
import hashlib
import json
import os
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from biaswatch.services.extractor.handlers.loading import load
from biaswatch.shared.bus.jetstream import Admin, Connection, JetStreamPublisher, provision
from biaswatch.shared.bus.server import EmbeddedServer
from biaswatch.shared.contracts import (
    ExtractorPin,
    Features,
    Message,
    Response,
    Role,
    Run,
    Suite,
    SuiteProbe,
    parse_target,
)
from biaswatch.shared.store import Store, migrate
from tests.integration.pipeline.test_killed_services import KILLABLE, done
from tests.support.fleet import Fleet
from tests.support.model_server import model_server, replying
from tests.support.waiting import PATIENCE_S

TURNS, SLOTS, TWINS = 5, 2, 2


class CountingModel:
    """A model whose reply depends on the whole conversation, and which counts the questions."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()

    def reply(self, body: Any) -> tuple[int, object]:
        messages = [{k: m[k] for k in ("role", "content")} for m in body["messages"]]
        self.asked[json.dumps(messages)] += 1
        message = {"role": "assistant", "content": reply_to(messages)}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14}
        return 200, {
            "id": "c", "object": "chat.completion", "created": 0, "model": "m",
            "choices": [choice], "usage": usage,
        }  # fmt: skip


def reply_to(messages: list[dict[str, str]]) -> str:
    digest = hashlib.sha256(json.dumps(messages).encode()).digest()
    return f"Noted as {digest.hex()[:12]}.\nRating: {1 + digest[0] % 5}"


def conversations(sets: int) -> Suite:
    probes = [
        SuiteProbe(
            key=f"s{n}-{group}", set=f"s{n}", groups={"side": group},
            messages=tuple(
                Message(role=Role.USER, content=f"Turn {turn} of {n}{group if turn == 1 else ''}?")
                for turn in range(1, TURNS + 1)
            ),
        )
        for n in range(sets)
        for group in ("a", "b")
    ]  # fmt: skip
    return Suite(
        name="talks", extractors=("rating",), scaffolds=("conversation",), probes=tuple(probes),
        ranges={"rating": (1, 5)},
    )  # fmt: skip


def run_of(suite: Suite, address: str) -> Run:
    pins = tuple(
        ExtractorPin(name=name, version=extractor.version)
        for name, extractor in load(suite.extractors).items()
    )
    return Run(
        at=datetime.now(UTC), suite=suite.name, suite_hash=suite.hash, extractors=pins,
        targets=(parse_target(f"openai:m@{address}"),), scaffolds=suite.scaffolds,
    )  # fmt: skip


def check_conversation(response: Response) -> None:
    """Every reply is that to the whole conversation before it."""
    messages: list[dict[str, str]] = []
    for turn, message in enumerate(response.probe.messages, start=1):
        messages.append({"role": "user", "content": message.content})
        assert response.said[f"turn:{turn}"] == reply_to(messages)
        messages.append({"role": "assistant", "content": response.said[f"turn:{turn}"]})


@pytest.mark.parametrize(
    ("sets", "worker_kills", "server_kills"),
    [(6, 3, 1), pytest.param(200, 40, 4, marks=pytest.mark.slow)],
)
async def test_killed_conversations_lose_nothing_and_repeat_calls_in_flight_alone(
    tmp_path: Path, sets: int, worker_kills: int, server_kills: int
) -> None:
    url, probes, model = f"sqlite:///{tmp_path / 'store.db'}", sets * TWINS, CountingModel()
    migrate(url)
    environment = {
        **os.environ,
        "BIASWATCH_STORE_URL": url,
        "BIASWATCH_HEALTH_PORT": "0",
        "BIASWATCH_ACK_WAIT_S": "2",
        "BIASWATCH_PLANNER_RECONCILE_S": "4",
        "BIASWATCH_GENERATOR_SLOTS": str(SLOTS),
        "BIASWATCH_GENERATOR_PRIVATE_HOSTS": '["127.0.0.1"]',
        "BIASWATCH_EXTRACTOR_BATCH": "8",
    }
    with (
        model_server(replying(model.reply)) as address,
        EmbeddedServer(tmp_path / "nats") as server,
        Store.open(url) as store,
    ):
        suite = conversations(sets)
        run = run_of(suite, address)
        connection = await Connection.open(server.url, name="test")
        await provision(Admin(connection))
        store.suites.keep(suite, datetime.now(UTC))
        await JetStreamPublisher(connection).publish(run)
        commands = [[f"biaswatch.services.{name}.app"] for name in KILLABLE]
        fleet = Fleet(server, commands, {**environment, "NATS_URL": server.url}, seed=5)
        try:
            await fleet.suffer(worker_kills, server_kills)
            async with asyncio.timeout(PATIENCE_S):
                while not await done(store, run, probes):
                    await asyncio.sleep(0.2)
        finally:
            fleet.end()
        await connection.close()
        responses = list(store.records.read(Response, run_id=run.id))
        measured = list(store.records.read(Features, run_id=run.id))
    assert len(responses) == len(measured) == probes
    for response in responses:
        check_conversation(response)
    assert all(len(features.values) == TURNS + 2 for features in measured)
    repeated = model.asked.total() - len(model.asked)
    assert len(model.asked) == probes * TURNS
    assert repeated <= (worker_kills + server_kills) * SLOTS
    print(
        f"\n{sets} sets, {worker_kills} services and {server_kills} servers killed:"
        f" {model.asked.total()} calls, {repeated} of them repeated, in {fleet.age_s:.0f} s."
    )
