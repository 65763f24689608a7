"""Monitors of planted models through the whole platform, in accelerated time."""

import asyncio
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from biaswatch.local.client import GatewayClient
from biaswatch.local.platform import embedded_platform
from biaswatch.planted_monitors.cases import HOUR_S, PlantedCase
from biaswatch.planted_monitors.rows import Row, WatchedModel, effect_row, relapse_row
from biaswatch.readers.suites import DEMO_SUITE, load_suite
from biaswatch.shared.contracts import Alarm, Monitor, Round, RoundEvidence, Suite, evidence_in
from biaswatch.shared.errors import TransientError
from biaswatch.shared.runtime.blocking import in_thread
from biaswatch.shared.runtime.settings import Settings
from biaswatch.shared.store import Store

SPEED = 2.0 * HOUR_S
"""Hours pass in half seconds; a round still takes as long as the bus needs."""
LOOK_S = 0.5
CALLS = 4
"""In flight to a model: it answers at once, and every open connection costs each call time."""
PATIENCE_S = 600.0
"""How long no round may end before that is taken for a fault."""


async def watched_cases(
    settings: Settings, cases: Sequence[PlantedCase], monitors: int, rounds: int
) -> dict[str, list[Row]]:
    """Run so many monitors of each case, of so many rounds, and return the rows of each kind.

    Raises
    ------
    TransientError
        No round was added up for a long while.
    """
    suite = load_suite(DEMO_SUITE)
    plants = {
        case.model(number): case.planted(len(suite.probes))
        for case in cases
        for number in range(monitors)
    }
    began, start = datetime.now(UTC), time.monotonic()

    def clock() -> datetime:
        return began + timedelta(seconds=(time.monotonic() - start) * SPEED)

    async with embedded_platform(settings, plants=plants, clock=clock, calls=CALLS) as here:
        client = GatewayClient(here.url)
        try:
            await client.keep(suite)
            await measurable(settings, suite)
            for case in cases:
                for number in range(monitors):
                    await client.apply_monitor(case.monitor(number, suite, rounds))
            await rounds_added_up(settings, monitors * sum(case.rounds(rounds) for case in cases))
        finally:
            await client.close()
    with Store.open(settings.store) as store:
        return _rows(store, cases, suite)


def _rows(store: Store, cases: Sequence[PlantedCase], suite: Suite) -> dict[str, list[Row]]:
    sets = len({probe.set for probe in suite.probes})
    found: dict[str, list[Row]] = {"effects": [], "missing": [], "relapses": []}
    for case in cases:
        mine = [each for each in store.records.all(Monitor) if each.upkeep.owners == (case.name,)]
        watched = [_watched(store, each.monitor_id) for each in mine]
        if case.stretches:
            found["relapses"].append(relapse_row(case.effect, case.stretches, watched))
        else:
            kind = "missing" if case.missing or case.missing_gap else "effects"
            found[kind].append(effect_row(case, watched, sets, mine[0].plan))
    return found


def _watched(store: Store, monitor_id: str) -> WatchedModel:
    evidence = list(evidence_in(store.records.of_monitor(RoundEvidence, monitor_id)))
    last = max(each.round for each in evidence)
    alarms = list(store.records.of_monitor(Alarm, monitor_id))
    return WatchedModel(alarms, [each for each in evidence if each.round == last])


async def measurable(settings: Settings, suite: Suite) -> None:
    """Wait until every extractor of the suite has said that it runs."""
    with Store.open(settings.store) as store:
        while True:
            running = {each.name for each in await in_thread(store.extractors.ever)}
            if running.issuperset(suite.extractors):
                return
            await asyncio.sleep(LOOK_S)


async def rounds_added_up(settings: Settings, rounds: int) -> None:
    """Wait until so many rounds are added up; counting them costs little, however many they are."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    progress = Progress(
        *columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True
    )
    with Store.open(settings.store) as store, progress:
        bar, there = progress.add_task("rounds added up", total=rounds), 0
        while there < rounds:
            there = await _more_than(store, there)
            progress.update(bar, completed=there)


async def _more_than(store: Store, known: int) -> int:
    try:
        async with asyncio.timeout(PATIENCE_S):
            while True:
                there = await in_thread(store.records.count, Round)
                if there > known:
                    return there
                await asyncio.sleep(LOOK_S)
    except TimeoutError:
        raise TransientError(
            f"No round was added up for {PATIENCE_S / 60:g} minutes, after {known}: this machine is"
            " too busy, or something is broken. Try fewer --monitors."
        ) from None
