"""Planner and diagnoser, with keys, die at random while monitors run: evidence does not show it."""

import asyncio
import json
import os
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pytest

from biaswatch.services.diagnoser.handlers import CloseRounds
from biaswatch.shared.bus.accounts import server_config
from biaswatch.shared.bus.jetstream import Admin, Connection, JetStreamPublisher, provision
from biaswatch.shared.bus.jetstream.keys import ensure_keys
from biaswatch.shared.bus.permissions import OPERATOR, key_names
from biaswatch.shared.bus.server import EmbeddedServer
from biaswatch.shared.contracts import (
    Alarm,
    Claim,
    Monitor,
    MonitorState,
    Probe,
    Record,
    Round,
    RoundEvidence,
    Run,
    Suite,
    SuiteProbe,
    Upkeep,
    WatchedFeature,
    WatchedPair,
    parse_target,
)
from biaswatch.shared.errors import TransientError
from biaswatch.shared.store import Store, migrate
from tests.support.fleet import Fleet, app_of
from tests.support.monitored import answered, closing
from tests.support.records import AT, make_monitor, make_plan

STEADY = ("generator", "extractor", "recorder")
KILLED = ("planner", "diagnoser")
MODEL = "m-1"
CADENCE_S = 0.7
SETS_PER_ROUND = 2
BANK_SETS = 28
"""Recorded answers count once, so that the first round alone must raise an alarm."""
CATCHING_UP_S = 420
"""A round that came before its turn is tried again ever more rarely, at the end once a minute."""
KINDS: tuple[type[Record], ...] = (Round, RoundEvidence, Alarm)


LONG = (pytest.mark.slow, pytest.mark.timeout(1800))


@pytest.mark.parametrize(
    ("empty_store_url", "duration_s", "least_rounds"),
    [
        pytest.param("sqlite", 6, 3),
        pytest.param("sqlite", 600, 60, marks=LONG),
        pytest.param("postgresql", 600, 60, marks=LONG),
    ],
    indirect=["empty_store_url"],
)
async def test_evidence_equals_an_undisturbed_runs_however_planner_and_diagnoser_die(
    store_url: str, tmp_path: Path, duration_s: float, least_rounds: int
) -> None:
    url = store_url
    monitors = [bank(tmp_path), population(tmp_path, int(duration_s))]
    environment = {
        **os.environ,
        "BIASWATCH_STORE_URL": url,
        "BIASWATCH_GENERATOR_RECORDINGS_DIR": "/",
        "BIASWATCH_HEALTH_PORT": "0",
        "BIASWATCH_ACK_WAIT_S": "2",
        "BIASWATCH_PLANNER_RECONCILE_S": "2",
        "BIASWATCH_PLANNER_LOOK_S": "0.2",
    }
    keys = tmp_path / "keys"
    config = server_config(ensure_keys(keys, key_names()))
    with EmbeddedServer(tmp_path / "nats", extra_config=config) as server, Store.open(url) as store:
        environment["NATS_URL"] = server.url
        operator, gateway = [
            await Connection.open(server.url, name=name, seed_file=keys / f"{name}.seed")
            for name in (OPERATOR, "gateway")
        ]
        await provision(Admin(operator))
        publisher = JetStreamPublisher(gateway)
        for suite, monitor in monitors:
            store.suites.keep(suite, datetime.now(UTC))
            await publisher.publish(monitor)
        steady, killed = [
            Fleet(server, [[app_of(name)] for name in names], environment, seed, keys=keys)
            for seed, names in enumerate((STEADY, KILLED), start=1)
        ]
        kills = 0
        try:
            while killed.age_s < duration_s:
                await killed.suffer(1, 0)
                kills += 1
            async with asyncio.timeout(CATCHING_UP_S):
                while not await shown(store, monitors, least_rounds):
                    await asyncio.sleep(0.2)
            for _, monitor in monitors:
                await publisher.publish(paused(monitor))
            async with asyncio.timeout(CATCHING_UP_S):
                while not all([await at_rest(store, monitor) for _, monitor in monitors]):
                    await asyncio.sleep(0.2)
        finally:
            killed.end()
            steady.end()
        for connection in (operator, gateway):
            await connection.close()
        rounds = [compare(store, tmp_path, suite, monitor) for suite, monitor in monitors]
        alarms = len(list(store.records.all(Alarm)))
    print(
        f"\n{kills} planners and diagnosers killed: {sum(rounds)} rounds and {alarms} alarms exact"
        f" after {killed.age_s:.0f} s."
    )


def compare(store: Store, folder: Path, suite: Suite, monitor: Monitor) -> int:
    """Close the same rounds once each, in order, without any service; give how many there were."""
    rounds = sorted(store.records.of_monitor(Round, monitor.monitor_id), key=lambda r: r.round)
    assert [item.round for item in rounds] == list(range(len(rounds)))
    assert len({item.run_id for item in rounds}) == len(rounds)
    url = f"sqlite:///{folder / f'{monitor.name}.db'}"
    migrate(url)
    with Store.open(url) as apart:
        apart.suites.keep(suite, AT)
        apart.records.write([monitor])
        watch = CloseRounds(apart, now=lambda: AT)
        for item in rounds:
            [run] = store.records.get(Run, [item.run_id])
            records = answered(apart, run, said, MODEL)
            apart.records.write([run, *records])
            watch(closing(run, records), run)
        assert left_behind(store, monitor) == left_behind(apart, monitor)
    return len(rounds)


def left_behind(store: Store, monitor: Monitor) -> list[str]:
    """Return all that rounds left, as text, but for the moments at which it was written."""
    kinds = [item for kind in KINDS for item in store.records.of_monitor(kind, monitor.monitor_id)]
    return sorted(item.model_dump_json(exclude={"at"}) for item in kinds)


async def shown(store: Store, monitors: Sequence[tuple[Suite, Monitor]], least_rounds: int) -> bool:
    """Tell whether each monitor has closed enough rounds, and any has alarmed."""
    rounds = [await left(store, Round, monitor) for _, monitor in monitors]
    alarms = [await left(store, Alarm, monitor) for _, monitor in monitors]
    return min(rounds) >= least_rounds and any(alarms)


async def left(store: Store, kind: type[Record], monitor: Monitor) -> int:
    """Count the records of a monitor; none where the store is too busy to say."""
    try:
        return await asyncio.to_thread(
            lambda: len(list(store.records.of_monitor(kind, monitor.monitor_id)))
        )
    except TransientError:
        return 0


async def at_rest(store: Store, monitor: Monitor) -> bool:
    """Tell whether the pause has reached the planner and every round begun has been added up."""
    try:
        place = await asyncio.to_thread(store.schedule.get, monitor.name)
    except TransientError:
        return False
    if place is None or place.monitor.state is not MonitorState.PAUSED:
        return False
    return await left(store, Round, monitor) == place.next_round


def paused(monitor: Monitor) -> Monitor:
    fields = {"state": MonitorState.PAUSED, "moment_ms": monitor.moment_ms + 1}
    return Monitor.model_validate({**monitor.model_dump(exclude={"id"}), **fields})


def rating_of(key: str) -> float:
    """Return a rating that the bins of a histogram round by jitter, lower for one group."""
    jitter = Random(key).uniform(-0.4, 0.4)
    return round(3.0 + jitter + (0.9 if key.endswith("a") else -0.9), 2)


def said(probe: Probe, _: int) -> dict[str, float | None]:
    return {"rating": rating_of(probe.key)}


def bank(folder: Path) -> tuple[Suite, Monitor]:
    return watched(folder, "bank", BANK_SETS, {})


def population(folder: Path, duration_s: int) -> tuple[Suite, Monitor]:
    sets = max(40, 2 * duration_s) * SETS_PER_ROUND
    fields = {"claim": Claim.POPULATION, "sets_per_round": SETS_PER_ROUND}
    return watched(folder, "population", sets, fields)


def watched(folder: Path, name: str, sets: int, fields: dict[str, object]) -> tuple[Suite, Monitor]:
    """Make a suite of twins, recorded answers to them, and a monitor that asks in fast time."""
    items = [
        SuiteProbe(key=f"{n}-{side}", set=f"s{n}", groups={"side": side}, prompt="?")
        for n in range(sets)
        for side in ("a", "b")
    ]
    lines = [
        json.dumps({"key": p.key, "text": f"Rating: {rating_of(p.key):.2f}", "model": MODEL})
        for p in items
    ]
    answers = folder / f"{name}.jsonl"
    answers.write_text("\n".join(lines))
    suite = Suite(name=name, extractors=("rating",), probes=tuple(items))
    plan = make_plan(
        suite=name,
        suite_hash=suite.hash,
        target=parse_target(f"replay:{answers}"),
        features=(WatchedFeature(extractor="rating", feature="rating", low=1.0, high=5.0),),
        comparisons=(WatchedPair(dimension="side", a="a", b="b"),),
        reference_rounds=2,
        **fields,
    )
    since = datetime.now(UTC) - timedelta(seconds=1)
    upkeep = Upkeep(cadence_s=CADENCE_S)
    return suite, make_monitor(name=name, plan=plan, upkeep=upkeep, since=since)
