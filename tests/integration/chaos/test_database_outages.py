"""PostgreSQL stops, dies, takes no writes or falls silent: nothing is lost, no process ends."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from biaswatch.shared.contracts import Response, Run, window_at
from biaswatch.shared.errors import TransientError
from biaswatch.shared.store import migrate
from tests.support.chaos_platform import ChaosPlatform, chaos_platform, now
from tests.support.database_outages import OwnPostgresql, down_for, own_postgresql
from tests.support.disturbed_traffic import Senders, TrafficPlan, watching
from tests.support.exact_study import ExactStudy
from tests.support.silent_proxy import SilentProxy, silent_proxy
from tests.support.waiting import eventually

SERVICES = (
    *("planner", "generator", "extractor", "recorder", "diagnoser"),
    *("oracle", "evaluator", "gateway"),
)
LATENESS_S = 2.0
ANSWERS_A_SECOND = 10
NAMED_WITHIN_S = 30.0
"""How soon every service says that the database is not available."""


@dataclass(frozen=True)
class Outages:
    """What befalls the database, and how often or how long."""

    times: int
    hold_s: float
    probes: int
    window_s: int = 20
    """How long a window of traffic is."""
    statement_s: float | None = None
    """How long a statement may take; None for what every service takes by default."""


SHORT = Outages(times=2, hold_s=8.0, probes=60, window_s=5, statement_s=4.0)
FULL = Outages(times=10, hold_s=60.0, probes=150)


class Scene:
    """Services on a database that is disturbed while runs and traffic go on."""

    def __init__(
        self,
        platform: ChaosPlatform,
        database: OwnPostgresql,
        proxy: SilentProxy,
        study: ExactStudy,
        outages: Outages,
    ) -> None:
        self.platform, self.database, self.proxy = platform, database, proxy
        self.study, self.outages = study, outages
        self.runs: list[Run] = []

    async def begin_run(self) -> None:
        """Begin another run, and let some of it be measured."""
        self.runs.append(self.study.run(len(self.runs)))
        await self.platform.publish(self.runs[-1])
        await asyncio.sleep(self.platform.luck.uniform(0.2, 2.0))


async def stopped(scene: Scene) -> None:
    for number in range(scene.outages.times):
        await scene.begin_run()
        mode = ("fast", "immediate")[number % 2]
        seconds = scene.platform.luck.uniform(1, 8)
        await down_for(scene.database, seconds, killed=False, mode=mode)


async def killed(scene: Scene) -> None:
    for _ in range(scene.outages.times):
        await scene.begin_run()
        seconds = scene.platform.luck.uniform(0.5, 4)
        await down_for(scene.database, seconds, killed=True, mode="")


async def read_only(scene: Scene) -> None:
    await scene.begin_run()
    scene.database.read_only(True)
    named = asyncio.create_task(_all_name_it(scene, "read-only"))
    await asyncio.sleep(scene.outages.hold_s)
    await named
    scene.database.read_only(False)


async def connections_silently_dead(scene: Scene) -> None:
    await scene.begin_run()
    assert scene.proxy.swallow() > 0
    await asyncio.sleep(scene.outages.hold_s)


async def database_silently_dead(scene: Scene) -> None:
    await scene.begin_run()
    assert scene.proxy.swallow(new=True) > 0
    await _all_name_it(scene, "store")
    await asyncio.sleep(scene.outages.hold_s)
    scene.proxy.serve_new()


async def down(scene: Scene) -> None:
    await scene.begin_run()
    await asyncio.to_thread(scene.database.stop, "fast")
    await _all_name_it(scene, "store")
    await asyncio.sleep(scene.outages.hold_s)
    await asyncio.to_thread(scene.database.start)


async def _all_name_it(scene: Scene, word: str) -> None:
    """Wait until every service is unready and names its database."""

    async def named() -> bool:
        states = [await scene.platform.readiness(name) for name in SERVICES]
        return all(code == 503 and word in (state["store_trouble"] or "") for code, state in states)

    async with asyncio.timeout(NAMED_WITHIN_S):
        await eventually(named)


Outage = Callable[[Scene], Awaitable[None]]
OUTAGES: tuple[Outage, ...] = (
    *(stopped, killed, read_only, connections_silently_dead),
    *(database_silently_dead, down),
)


@pytest.mark.parametrize("outage", [stopped, connections_silently_dead], ids=lambda o: o.__name__)
async def test_an_outage_of_the_database_loses_nothing_and_ends_no_process(
    outage: Outage, tmp_path: Path
) -> None:
    await survived(outage, tmp_path, SHORT)


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("outage", OUTAGES, ids=lambda outage: outage.__name__)
async def test_many_and_long_outages_of_the_database_lose_nothing_and_end_no_process(
    outage: Outage, tmp_path: Path
) -> None:
    await survived(outage, tmp_path, FULL)


async def survived(outage: Outage, folder: Path, outages: Outages) -> None:
    """Let an outage befall runs and traffic; afterwards everything is there, once."""
    began = time.monotonic()
    with ExitStack() as stack:
        database = stack.enter_context(own_postgresql())
        database.create("disturbed")
        migrate(database.url("disturbed"))
        async with (
            silent_proxy(database.socket) as proxy,
            chaos_platform(folder, database.url("disturbed"), supervised=False) as platform,
        ):
            study = ExactStudy(folder, outages.probes)
            platform.store.suites.keep(study.suite, now())
            platform.store_url = database.url("disturbed", proxy.port)
            platform.more["BIASWATCH_EXTRACTOR_NAMES"] = "rating,words"
            platform.more["BIASWATCH_RECORDER_BATCH"] = "128"
            if outages.statement_s:
                platform.more["BIASWATCH_STORE_STATEMENT_S"] = str(outages.statement_s)
            scene = Scene(platform, database, proxy, study, outages)
            sent = await _disturbed(scene, outage)
            seconds = time.monotonic() - began
            print(f"\n{outage.__name__}: {await _report(scene, sent)}; {seconds:.0f} s")


async def _disturbed(scene: Scene, outage: Outage) -> Senders:
    platform = scene.platform
    platform.start(SERVICES)
    await platform.working()
    window_s = scene.outages.window_s
    first = window_at(datetime.now(UTC), window_s).begins
    schedule = TrafficPlan(10**6, window_s, ANSWERS_A_SECOND * window_s, LATENESS_S, ())
    monitor = watching(schedule, first)
    await platform.publish(monitor)
    senders = Senders(platform.gateway_url, schedule)
    sending = asyncio.create_task(senders.send())
    await eventually(lambda: _taken(senders) > 0)
    await outage(scene)
    for run in scene.runs:
        await platform.diagnosed(run)
        await platform.recorded(run, scene.study.probes)
    await senders.stop(sending)
    await eventually(lambda: _accounted(platform, monitor.monitor_id, len(senders.answers)))
    platform_answers(scene, monitor.monitor_id, senders)
    assert [fault for run in scene.runs for fault in scene.study.faults(platform.store, run)] == []
    assert [item.reason for item in await platform.dead()] == []
    assert platform.exits() == {}
    return senders


def _taken(senders: Senders) -> int:
    return sum(answer.taken_at is not None for answer in senders.answers)


async def _accounted(platform: ChaosPlatform, monitor_id: str, answers: int) -> bool:
    try:
        result = await asyncio.to_thread(platform.store.window_answers.accounts, monitor_id)
    except TransientError:
        return False
    return not result.waiting and result.sent - result.duplicate >= answers


def platform_answers(scene: Scene, monitor_id: str, senders: Senders) -> None:
    """Check that every answer that was sent is in one account, and stored once."""
    store = scene.platform.store
    accounts = store.window_answers.accounts(monitor_id)
    assert accounts.sent - accounts.duplicate == len(senders.answers)
    assert accounts.refused == 0
    names: list[str] = []
    for item in store.window_answers.latest(monitor_id, 1000):
        ids = set(store.window_answers.members(item.of.run_id) or ())
        stored = list(store.records.get(Response, ids))
        assert len(stored) == len(ids)
        names += [response.probe.key for response in stored]
    assert len(names) == len(set(names))
    assert set(names) <= {answer.id for answer in senders.answers}
    assert len(names) + accounts.late == len(senders.answers)


async def _report(scene: Scene, senders: Senders) -> str:
    probes = len(scene.runs) * scene.study.probes
    return (
        f"{len(scene.runs)} runs of {scene.study.probes} probes ({probes} answers) exact,"
        f" {len(senders.answers)} answers of traffic each in one account,"
        f" 0 lost, 0 twice, 0 dead letters, {len(scene.platform.exits())} of {len(SERVICES)}"
        " processes ended"
    )
