"""Every real service is killed at random during a run: the run ends as if nothing had happened."""

import asyncio
import json
import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from biaswatch.services.extractor.handlers.loading import load
from biaswatch.shared.analysis.findings import AnalysisPlan, MeasuredResponse, diagnose, folded
from biaswatch.shared.bus.jetstream import Admin, Connection, JetStreamPublisher, provision
from biaswatch.shared.bus.server import EmbeddedServer
from biaswatch.shared.contracts import (
    Diagnosis,
    ExtractorPin,
    Features,
    Response,
    Run,
    Suite,
    SuiteProbe,
    parse_target,
)
from biaswatch.shared.errors import TransientError
from biaswatch.shared.store import Store, migrate
from tests.support.fleet import Fleet
from tests.support.waiting import PATIENCE_S

KILLABLE = ("planner", "generator", "extractor", "recorder", "diagnoser")
EXTRACTORS = ("rating", "words")


@pytest.mark.parametrize(
    ("probes", "worker_kills", "server_kills"),
    [(300, 5, 1), pytest.param(2000, 20, 3, marks=pytest.mark.slow)],
)
async def test_a_run_survives_the_death_of_every_service_with_the_same_statistics(
    tmp_path: Path, probes: int, worker_kills: int, server_kills: int
) -> None:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    migrate(url)
    suite, run = study(tmp_path, probes)
    environment = {
        **os.environ,
        "BIASWATCH_STORE_URL": url,
        "BIASWATCH_GENERATOR_RECORDINGS_DIR": "/",
        "BIASWATCH_HEALTH_PORT": "0",
        "BIASWATCH_ACK_WAIT_S": "2",
        "BIASWATCH_PLANNER_RECONCILE_S": "4",
        "BIASWATCH_GENERATOR_SLOTS": "2",
        "BIASWATCH_EXTRACTOR_BATCH": "8",
        "BIASWATCH_RECORDER_BATCH": "16",
    }
    with EmbeddedServer(tmp_path / "nats") as server, Store.open(url) as store:
        connection = await Connection.open(server.url, name="test")
        await provision(Admin(connection))
        store.suites.keep(suite, datetime.now(UTC))
        await JetStreamPublisher(connection).publish(run)
        commands = [[f"biaswatch.services.{name}.app"] for name in KILLABLE]
        fleet = Fleet(server, commands, {**environment, "NATS_URL": server.url}, seed=3)
        try:
            await fleet.suffer(worker_kills, server_kills)
            async with asyncio.timeout(PATIENCE_S):
                while not await done(store, run, probes):
                    await asyncio.sleep(0.2)
        finally:
            fleet.end()
        await connection.close()
        assert store.records.count(Response, run_id=run.id) == probes
        assert store.records.count(Features, run_id=run.id) == probes * len(EXTRACTORS)
        result = {d.dimension: d.gaps for d in store.records.read(Diagnosis, run_id=run.id)}
    assert result == undisturbed(suite, run)
    print(
        f"\n{probes} probes, {worker_kills} services and {server_kills} servers killed:"
        f" all exact after {fleet.age_s:.0f} s."
    )


async def done(store: Store, run: Run, probes: int) -> bool:
    """Return whether a run has its findings and, which may come a little later, its answers."""

    def there() -> bool:
        records = store.records
        answered = records.count(Response, run_id=run.id) >= probes
        return answered and records.count(Diagnosis, run_id=run.id) > 0

    try:
        return await asyncio.to_thread(there)
    except TransientError:
        return False


def rating_of(number: int) -> float:
    return 2.0 + (number * 7 % 11) / 10 + (0.3 if number % 2 else 0.0)


def study(folder: Path, probes: int) -> tuple[Suite, Run]:
    """Make a suite of pairs and recorded answers whose ratings are known."""
    items = [
        SuiteProbe(
            key=f"p{n}",
            set=f"s{n // 2}",
            groups={"side": "b" if n % 2 else "a"},
            prompt=f"Rate {n}.",
        )
        for n in range(probes)
    ]
    answers = folder / "answers.jsonl"
    answers.write_text(
        "\n".join(
            json.dumps({"key": f"p{n}", "text": f"Rating: {rating_of(n):.2f}"})
            for n in range(probes)
        )
    )
    suite = Suite(name="pairs", extractors=EXTRACTORS, features=("rating",), probes=tuple(items))
    run = Run(
        at=datetime.now(UTC),
        suite=suite.name,
        suite_hash=suite.hash,
        targets=(parse_target(f"replay:{answers}"),),
        extractors=tuple(
            ExtractorPin(name=name, version=extractor.version)
            for name, extractor in load(EXTRACTORS).items()
        ),
    )
    return suite, run


def undisturbed(suite: Suite, run: Run) -> dict[str, Sequence[object]]:
    """Compute the statistics without any service."""
    target = run.targets[0].name
    cases = [
        MeasuredResponse(
            target,
            "direct",
            p.key,
            p.set,
            p.groups,
            "rating",
            {"rating": round(rating_of(n), 2)},
            None,
        )
        for n, p in enumerate(suite.probes)
    ]
    diagnosis = diagnose(
        folded(cases), AnalysisPlan(features=("rating",)), np.random.default_rng(int(run.id, 16))
    )
    return {f.key.dimension: f.gaps for f in diagnosis}
