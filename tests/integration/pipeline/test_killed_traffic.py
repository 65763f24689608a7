"""Services are killed while traffic flows: every answer counts once, in rows and in files."""

import asyncio
import json
import os
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from biaswatch.shared.bus.jetstream import Admin, Connection, JetStreamPublisher, provision
from biaswatch.shared.bus.server import EmbeddedServer
from biaswatch.shared.contracts import (
    Alarm,
    AlarmKind,
    Description,
    Features,
    Monitor,
    Probe,
    Response,
    RoundEvidence,
    Traffic,
    Upkeep,
)
from biaswatch.shared.contracts.evidence_rows import evidence_in
from biaswatch.shared.errors import TransientError
from biaswatch.shared.parquet.files import rows_of
from biaswatch.shared.parquet.folder import ParquetFolder
from biaswatch.shared.store import Store, migrate
from tests.support.fleet import Fleet, app_of
from tests.support.records import make_traffic_monitor
from tests.support.waiting import PATIENCE_S

STEADY = {"rows": ("extractor", "recorder"), "files": ("extractor",)}
KILLED = {
    "rows": ("gateway", "planner", "diagnoser"),
    "files": ("gateway", "recorder", "planner", "diagnoser"),
}
USERS = 240
ANSWERS = 3
LATENESS_S = 60.0
"""Who is killed every second or so takes answers in late, on a busy machine much later."""


def watching(since: datetime) -> Monitor:
    """Make a monitor whose windows are two seconds long."""
    traffic_monitor = make_traffic_monitor()
    plan = traffic_monitor.plan.model_copy(update={"traffic": Traffic(window_s=2)})
    upkeep = Upkeep(cadence_s=2, lateness_s=LATENESS_S, deadline_s=60)
    return make_traffic_monitor(plan=plan, upkeep=upkeep, since=since)


def exchange(user: int, answer: int) -> tuple[str, bytes]:
    """Return what a live system in any language publishes, and where."""
    words = "yes" if user % 2 else "yes " * 6
    payload = {
        "at": datetime.now(UTC).isoformat(), "said_at": datetime.now(UTC).isoformat(),
        "purpose": "production", "source": "support", "key": f"{user}/{answer}",
        "text": words.strip(), "unit_id": f"user-{user}",
        "groups": {"gender": "female" if user % 2 else "male"},
    }  # fmt: skip
    return "bias.v1.exchange.default.production.support", json.dumps(payload).encode()


@pytest.mark.parametrize("kept_in", [pytest.param("rows", marks=pytest.mark.slow), "files"])
async def test_every_answer_is_described_and_every_user_is_evidence_once(
    tmp_path: Path, kept_in: str
) -> None:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    migrate(url)
    environment = {
        **os.environ,
        "BIASWATCH_STORE_URL": url,
        "BIASWATCH_HEALTH_PORT": "0",
        "BIASWATCH_GATEWAY_PORT": "0",
        "BIASWATCH_ACK_WAIT_S": "2",
        "BIASWATCH_PLANNER_RECONCILE_S": "2",
        "BIASWATCH_PLANNER_LOOK_S": "0.2",
    }
    if kept_in == "files":
        files = {"ANSWER_FILES": str(tmp_path / "live"), "FILE_S": "0.3"}
        environment |= {f"BIASWATCH_RECORDER_{name}": value for name, value in files.items()}
    monitor = watching(datetime.now(UTC))
    with EmbeddedServer(tmp_path / "nats") as server, Store.open(url) as store:
        environment["NATS_URL"] = server.url
        connection = await Connection.open(server.url, name="test")
        await provision(Admin(connection))
        publisher = JetStreamPublisher(connection)
        store.records.write([monitor])
        await publisher.publish(monitor)
        steady = Fleet(server, [[app_of(name)] for name in STEADY[kept_in]], environment, seed=1)
        killed = Fleet(server, [[app_of(name)] for name in KILLED[kept_in]], environment, seed=2)
        try:
            misfortune = asyncio.create_task(killed.suffer(8, 0))
            for answer in range(ANSWERS):
                for user in range(USERS):
                    await publisher.publish_copy(*exchange(user, answer), {})
                    await asyncio.sleep(0)
                await asyncio.sleep(1.5)  # users come back in other windows
            await misfortune
            async with asyncio.timeout(PATIENCE_S):
                while sum(item.answers for item in await described(store)) < USERS * ANSWERS:
                    await asyncio.sleep(0.2)
        finally:
            killed.end()
            steady.end()
        await connection.close()
        check(store, monitor)
        if kept_in == "files":
            check_files(store)


def check_files(store: Store) -> None:
    """Check that each answer, and what was measured of it, is in one file."""
    ids = {kind.kind: Counter[str]() for kind in (Response, Probe, Features)}
    for file in store.archive_files.in_insertion_order():
        if (kind := str(file.kind)) in ids:
            path = ParquetFolder(str(file.uri))
            result = (row["id"] for rows in rows_of(path, file.path, ["id"]) for row in rows)
            ids[kind].update(result)
    assert {kind: len(result) for kind, result in ids.items()} == dict.fromkeys(
        ids, USERS * ANSWERS
    )
    assert {count for item in ids.values() for count in item.values()} == {1}


async def described(store: Store) -> Sequence[Description]:
    try:
        return await asyncio.to_thread(lambda: list(store.records.all(Description)))
    except TransientError:
        return ()


def check(store: Store, monitor: Monitor) -> None:
    descriptions = sorted(store.records.all(Description), key=lambda description: description.round)
    assert [description.round for description in descriptions] == list(range(len(descriptions)))
    assert sum(description.answers for description in descriptions) == USERS * ANSWERS
    assert len([description for description in descriptions if description.answers]) > 1
    evidence = evidence_in(store.records.of_monitor(RoundEvidence, monitor.monitor_id))
    words = [item for item in evidence if item.comparison.watched.feature == "words"]
    last = max(words, key=lambda item: item.round)
    assert (last.units, last.missing) == (USERS, 0)
    assert last.gap.value == pytest.approx(-5, abs=0.1)  # bins keep means as an expectation
    raised = [item.what for item in store.records.all(Alarm)]
    assert raised == [AlarmKind.DISPARITY]
