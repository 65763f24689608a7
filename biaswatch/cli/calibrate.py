"""The verb calibrate: plants effects of known sizes, and none, and counts what monitors say."""

import asyncio
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from math import ceil, isnan, sqrt
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from biaswatch.cli.options import Json
from biaswatch.local.client import GatewayClient
from biaswatch.readers.suites import DEMO_SUITE, load_suite
from biaswatch.render.output import print_rows
from services.simulator.domain.planted_bias import PlantedModel
from shared.contracts import (
    Alarm,
    AlarmKind,
    AlarmState,
    Evidence,
    Monitor,
    MonitorPlan,
    Round,
    RoundEvidence,
    Suite,
    evidence_in,
)
from shared.errors import TransientError, UsageError
from shared.runtime.blocking import in_thread
from shared.runtime.settings import Settings, load_settings
from shared.telemetry import configure_logs

if TYPE_CHECKING:
    from shared.store import Store

HOUR_S = 3600
SPEED = 7200.0
"""Hours pass in half seconds; a round still takes as long as the bus needs."""
LOOK_S = 0.5
CALLS = 4
"""In flight to a model: it answers at once, and every open connection costs each call time."""
PATIENCE_S = 600.0
"""How long no round may end before that is taken for a fault."""
Row = dict[str, float | int | None]
POWER = 0.8
TOLERANCE = {"tolerance": 0.0}
"""Any gap: so that the numbers say what a gap of this size needs by itself."""


def calibrate(
    effect: Annotated[
        list[float] | None, typer.Option(help="Points less for one group, of 5; may be repeated.")
    ] = None,
    monitors: Annotated[int, typer.Option(min=1, help="Monitors of each effect.")] = 10,
    rounds: Annotated[int, typer.Option(min=1, help="Rounds of each monitor.")] = 12,
    as_json: Json = False,
) -> None:
    """Plant effects in simulated models, watch them over the whole bus, and count the alarms."""
    effects = sorted({0.0, *(effect or [0.3, 0.6])})
    if effects[0] < 0:
        raise UsageError("An effect is at least 0: it is taken from one group's ratings.")
    configure_logs("ERROR")
    with TemporaryDirectory(prefix="biaswatch-calibrate-") as folder:
        settings = load_settings(Settings).model_copy(
            update={"state_dir": Path(folder), "store_url": None, "log_level": "ERROR"}
        )
        rows = asyncio.run(_calibrated(settings, effects, monitors, rounds))
    explained = "The effect 0 shows false alarms; units are sets asked until the alarm."
    print_rows(rows, explained, as_json=as_json)


async def _calibrated(
    settings: Settings, effects: Sequence[float], monitors: int, rounds: int
) -> list[Row]:
    from biaswatch.local.platform import embedded_platform

    plants = {_model(effect): PlantedModel(rating_gaps={"black": -effect}) for effect in effects}
    suite = load_suite(DEMO_SUITE)
    began, start = datetime.now(UTC), time.monotonic()

    def clock() -> datetime:
        return began + timedelta(seconds=(time.monotonic() - start) * SPEED)

    async with embedded_platform(settings, plants=plants, clock=clock, calls=CALLS) as here:
        client = GatewayClient(here.url)
        try:
            await client.keep(suite)
            await _measurable(settings, suite)
            for effect in effects:
                for number in range(monitors):
                    await client.apply_monitor(_monitor(effect, number, suite, rounds))
            await _ended(settings, len(effects) * monitors * rounds)
        finally:
            await client.close()
    from shared.store import Store

    with Store.open(settings.store) as store:
        return [_row(store, effect, suite) for effect in effects]


async def _measurable(settings: Settings, suite: Suite) -> None:
    """Wait until every extractor of the suite has said that it runs."""
    from shared.store import Store

    with Store.open(settings.store) as store:
        while True:
            running = {each.name for each in await in_thread(store.extractors.ever)}
            if running.issuperset(suite.extractors):
                return
            await asyncio.sleep(LOOK_S)


async def _ended(settings: Settings, rounds: int) -> None:
    """Wait until so many rounds are added up; counting them costs little, however many they are.

    Raises
    ------
    TransientError
        None was added up for a long while.
    """
    from shared.store import Store

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    progress = Progress(
        *columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True
    )
    with Store.open(settings.store) as store, progress:
        bar, there = progress.add_task("rounds added up", total=rounds), 0
        while there < rounds:
            there = await _more_than(store, there)
            progress.update(bar, completed=there)


async def _more_than(store: "Store", known: int) -> int:
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


def _model(effect: float) -> str:
    return f"planted-{effect:g}"


def _monitor(effect: float, number: int, suite: Suite, rounds: int) -> dict[str, object]:
    return {
        "name": f"effect-{effect:g}-{number}".replace(".", "_"),
        "suite_hash": suite.hash,
        "target": f"simulator:{_model(effect)}",
        "features": [
            {"extractor": "rating", "feature": "rating", "low": 1, "high": 5, **TOLERANCE}
        ],
        "comparisons": [{"dimension": "race", "a": "black", "b": "white"}],
        "cadence": HOUR_S,
        "deadline": "365d",
        "most_rounds": rounds,
        "owners": [f"{effect:g}"],
    }


def _row(store: "Store", effect: float, suite: Suite) -> Row:
    sets = len({probe.set for probe in suite.probes})
    alarmed_at: list[int | None] = []
    evidence: list[Evidence] = []
    for monitor in _of(store, effect):
        raised = [
            alarm.round
            for alarm in store.records.of_monitor(Alarm, monitor.monitor_id)
            if alarm.what is AlarmKind.DISPARITY and alarm.state is AlarmState.RAISED
        ]
        alarmed_at.append((min(raised) + 1) * sets if raised else None)
        found = list(evidence_in(store.records.of_monitor(RoundEvidence, monitor.monitor_id)))
        last = max(each.round for each in found)
        evidence += [
            e for e in found if e.round == last and e.comparison.watched.feature == "rating"
        ]
    return effect_row(effect, alarmed_at, evidence, _of(store, effect)[0].plan)


def _of(store: "Store", effect: float) -> list[Monitor]:
    found = store.records.all(Monitor)
    return [each for each in found if each.upkeep.owners == (f"{effect:g}",)]


def effect_row(
    effect: float, alarmed_at: Sequence[int | None], evidence: Sequence[Evidence], plan: MonitorPlan
) -> Row:
    """Return the row of one effect.

    Parameters
    ----------
    alarmed_at
        For each monitor the units it had asked when it alarmed; None where it never did.
    evidence
        The last of each monitor, from which the spread of a set's gap is taken.
    """
    share = sum(units is not None for units in alarmed_at) / len(alarmed_at)
    by_80 = _reached(alarmed_at, POWER)
    gaps = [each.gap.value for each in evidence if each.gap.value is not None]
    fixed = _fixed(evidence, plan) if effect else None
    return {
        "effect": effect,
        "monitors": len(alarmed_at),
        "alarmed": round(share, 3),
        "standard_error": round(sqrt(share * (1 - share) / len(alarmed_at)), 3),
        "gap_found": round(mean(gaps), 3) if gaps else None,
        "median_units": _reached(alarmed_at, 0.5),
        "units_of_80_percent": by_80,
        "looking_once": fixed,
        "ratio": round(by_80 / fixed, 2) if by_80 and fixed else None,
    }


def _reached(alarmed_at: Sequence[int | None], share: float) -> int | None:
    """Return the units by which this share of all monitors had alarmed; None where it never had."""
    alarmed = sorted(units for units in alarmed_at if units is not None)
    place = ceil(share * len(alarmed_at)) - 1
    return alarmed[place] if place < len(alarmed) else None


def _fixed(evidence: Sequence[Evidence], plan: MonitorPlan) -> int | None:
    """Return the units of the test that looks once, at 80 % power, and knows effect and spread."""
    from services.diagnoser.domain.monitors.pair_counts import GAPS, pair_table
    from shared.stats.anytime.planning import fixed_size

    whole = pair_table([each.counts for each in evidence], [GAPS] * len(evidence)).together
    units, estimate = float(whole.units[0]), float(whole.estimates[0])
    if not units or not estimate or isnan(estimate):  # an estimate of no answers is no number
        return None
    sd = float(whole.standard_errors[0]) * sqrt(units)
    alpha = plan.alpha / 2 / len(plan.watched)
    return fixed_size(estimate, sd, alpha=alpha, power=POWER, tolerance=0.0)
