"""Monitors of planted models through the whole platform, in accelerated time."""

import asyncio
import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from biaswatch.local.client import GatewayClient
from biaswatch.local.platform import embedded_platform
from biaswatch.planted_monitors.cases import (
    HOUR_S,
    PlantedCase,
    Row,
    WatchedModel,
    effect_row,
    relapse_row,
)
from biaswatch.readers.suite_names import DEMO_SUITE
from biaswatch.readers.suites import load_suite
from biaswatch.shared.clock import now
from biaswatch.shared.contracts import Alarm, Monitor, Round, RoundEvidence, Suite
from biaswatch.shared.contracts.evidence_rows import evidence_in
from biaswatch.shared.errors import TransientError
from biaswatch.shared.runtime.settings import Settings
from biaswatch.shared.runtime.threads import in_thread
from biaswatch.shared.store import Store

SPEED = 2.0 * HOUR_S
"""Hours pass in half seconds; a round still takes as long as the bus needs."""
LOOK_S = 0.5
CALLS = 4
"""Calls in flight to a model, which answers at once."""
PATIENCE_S = 600.0
"""Time without a closed round that counts as a failure."""


async def watched_cases(
    settings: Settings, cases: Sequence[PlantedCase], monitors: int, rounds: int
) -> dict[str, list[Row]]:
    """Run monitors of each case and return the rows of each kind.

    Raises
    ------
    TransientError
        No round was closed in time.
    """
    suite = load_suite(DEMO_SUITE)
    plants = {
        case.model(number): case.planted(len(suite.probes))
        for case in cases
        for number in range(monitors)
    }
    async with embedded_platform(
        settings, plants=plants, clock=fast_clock(), calls=CALLS
    ) as platform:
        client = GatewayClient(platform.url)
        try:
            await client.upload_suite(suite)
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
    rows: dict[str, list[Row]] = {"effects": [], "missing": [], "relapses": []}
    for case in cases:
        monitors = [
            monitor
            for monitor in store.records.all(Monitor)
            if monitor.upkeep.owners == (case.name,)
        ]
        watched = [_watched(store, monitor.monitor_id) for monitor in monitors]
        if case.stretches:
            rows["relapses"].append(relapse_row(case.effect, case.stretches, watched))
        else:
            kind = "missing" if case.missing or case.missing_gap else "effects"
            rows[kind].append(effect_row(case, watched, sets, monitors[0].plan))
    return rows


def _watched(store: Store, monitor_id: str) -> WatchedModel:
    evidence = list(evidence_in(store.records.of_monitor(RoundEvidence, monitor_id)))
    last = max(record.round for record in evidence)
    alarms = list(store.records.of_monitor(Alarm, monitor_id))
    return WatchedModel(alarms, [record for record in evidence if record.round == last])


async def measurable(settings: Settings, suite: Suite) -> None:
    """Wait until every extractor of the suite has announced itself."""
    with Store.open(settings.store) as store:
        while True:
            running = {extractor.name for extractor in await in_thread(store.extractors.ever)}
            if running.issuperset(suite.extractors):
                return
            await asyncio.sleep(LOOK_S)


def fast_clock() -> Callable[[], datetime]:
    """Return a clock that starts now and runs faster than time."""
    began, start = now(), time.monotonic()
    return lambda: began + timedelta(seconds=(time.monotonic() - start) * SPEED)


def progress_bar() -> Progress:
    """Return a bar that counts what is done, and disappears at the end."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    return Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True)


async def rounds_added_up(settings: Settings, rounds: int) -> None:
    """Wait until this number of rounds is closed."""
    with Store.open(settings.store) as store, progress_bar() as progress:
        bar, closed = progress.add_task("rounds closed", total=rounds), 0
        while closed < rounds:
            closed = await _more_than(store, closed)
            progress.update(bar, completed=closed)


async def _more_than(store: Store, known: int) -> int:
    try:
        async with asyncio.timeout(PATIENCE_S):
            while True:
                closed = await in_thread(store.records.count, Round)
                if closed > known:
                    return closed
                await asyncio.sleep(LOOK_S)
    except TimeoutError:
        raise TransientError(
            f"No round was closed for {PATIENCE_S / 60:g} minutes, after {known}: this machine is"
            " too busy, or something is broken. Try fewer --monitors."
        ) from None
