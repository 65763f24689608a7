"""The verb calibrate: plants effects of known sizes, and none, and counts what monitors say."""

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from biaswatch.cli.options import Json
from biaswatch.planted_monitors.cases import cases_of
from biaswatch.planted_monitors.rows import relapse_in_words
from biaswatch.render.output import print_json, print_rows
from shared.errors import UsageError
from shared.runtime.settings import Settings, load_settings
from shared.telemetry import configure_logs

EFFECTS = (0.3, 0.6)
EFFECTS_SAID = "The effect 0 shows false alarms; units are sets asked until the alarm."
MISSING_SAID = (
    "Missing is the share of answers refused to everybody, missing gap what is refused to one group"
    " beyond that, and missing alarmed the share of monitors with an alarm about missing answers."
)
ABOUT_MISSING = ("missing", "missing_gap", "missing_alarmed")
"""Columns that say nothing where none is planted."""
ABOUT_ERRORS = ("monitors", "standard_error", "looking_once", "ratio")
"""Columns that stand in the first table alone, so that the second fits a terminal."""


def calibrate(
    effect: Annotated[
        list[float] | None, typer.Option(help="Points less for one group, of 5; may be repeated.")
    ] = None,
    missing: Annotated[
        float,
        typer.Option(
            help="Share of answers refused to everybody, with no effect and the largest; 0: not."
        ),
    ] = 0.02,
    missing_gap: Annotated[
        float, typer.Option(help="Share of answers refused to one group alone; 0: not.")
    ] = 0.3,
    relapse: Annotated[
        float, typer.Option(help="Points less for one group, which end and come back; 0: not.")
    ] = 2.0,
    monitors: Annotated[int, typer.Option(min=1, help="Monitors of each kind.")] = 10,
    rounds: Annotated[
        int, typer.Option(min=1, help="Rounds of each monitor, but for a relapse.")
    ] = 12,
    as_json: Json = False,
) -> None:
    """Plant effects in simulated models, watch them over the whole bus, and count the alarms."""
    effects = [*EFFECTS] if effect is None else effect
    if min([*effects, relapse]) < 0:
        raise UsageError("An effect is at least 0: it is taken from one group's ratings.")
    if not (0 <= missing < 1 and 0 <= missing_gap <= 1):
        raise UsageError("A share of missing answers is at least 0 and below 1: 0.02 for 2 %.")
    configure_logs("ERROR")
    from biaswatch.planted_monitors.watching import watched_cases

    cases = cases_of(effects, missing, missing_gap, relapse)
    with TemporaryDirectory(prefix="biaswatch-calibrate-") as folder:
        settings = load_settings(Settings).model_copy(
            update={"state_dir": Path(folder), "store_url": None, "log_level": "ERROR"}
        )
        found = asyncio.run(watched_cases(settings, cases, monitors, rounds))
    if as_json:
        print_json(found)
        return
    print_rows(found["effects"], EFFECTS_SAID, as_json=False, left_out=ABOUT_MISSING)
    if found["missing"]:
        print_rows(found["missing"], MISSING_SAID, as_json=False, left_out=ABOUT_ERRORS)
    for relapsed in found["relapses"]:
        typer.echo(relapse_in_words(relapsed))
