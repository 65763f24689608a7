"""The verb `admin simulate`: plant known effects and errors, and count the verdicts."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from biaswatch.cli.options import Json
from biaswatch.planted_monitors.cases import PlantedCase, Row, planted_cases, relapse_in_words
from biaswatch.render.terminal import print_json, print_rows
from biaswatch.shared.errors import UsageError
from biaswatch.shared.runtime.settings import Settings, load_settings
from biaswatch.shared.telemetry import configure_logs

if TYPE_CHECKING:
    from biaswatch.planted_labels.monitors import LabelledMonitorRow
    from biaswatch.planted_labels.rows import LabelledRow


EFFECTS = (0.3, 0.6)
EFFECTS_NOTE = "The effect 0 shows false alarms; units are the sets until the alarm."
MISSING_NOTE = (
    "Missing is the share of answers refused to both groups, missing gap the additional share"
    " refused to one group, and missing alarmed the share of monitors with an alarm about missing"
    " answers."
)
LABELS = (100, 150, 300)
LABELLED_NOTE = (
    "Shares of studies with a disparity between two groups, by the number of labels per group. The"
    " instrument has larger errors for one group. Readings alone find disparities that do not"
    " exist; corrected by labels, false disparities are at most the share of the last column. True"
    " gaps are found more often than by labels alone, and at most as often as without errors."
)
LABELLED_MONITORS_NOTE = (
    "Shares of monitors with an alarm in any of their rounds, all labelled and analysed. The"
    " instrument has larger errors for one group: by readings they raise false alarms, by labels in"
    " at most the share of the last column."
)
ANSWERS_OF_A_ROUND, LABELS_OF_A_ROUND = 100, 40
"""Numbers per group."""
ABOUT_MISSING = ("missing", "missing_gap", "missing_alarmed")
"""Columns left out of tables without missing answers."""
ABOUT_ERRORS = ("monitors", "standard_error", "looking_once", "ratio")
"""Columns shown only in the first table, so that the second fits a terminal."""


def simulate(
    gap: Annotated[
        list[float] | None,
        typer.Option(help="Points (of 5) subtracted from one group; may be repeated."),
    ] = None,
    missing: Annotated[
        float,
        typer.Option(
            help="Share of answers refused to both groups, without and with the largest effect."
        ),
    ] = 0.02,
    missing_gap: Annotated[
        float, typer.Option(help="Share of answers refused to one group only.")
    ] = 0.3,
    relapse: Annotated[
        float, typer.Option(help="Points subtracted from one group, with an interruption.")
    ] = 2.0,
    monitors: Annotated[int, typer.Option(min=0, help="Number of monitors per case.")] = 10,
    rounds: Annotated[
        int, typer.Option(min=1, help="Rounds per monitor, except for a relapse.")
    ] = 12,
    labelled: Annotated[
        int,
        typer.Option(min=0, help="Number of labelled studies per case, with instrument errors."),
    ] = 2,
    labels: Annotated[
        list[int] | None, typer.Option(min=20, help="Labels per group; may be repeated.")
    ] = None,
    answers: Annotated[int, typer.Option(min=40, help="Answers per group of a study.")] = 300,
    labelled_rounds: Annotated[
        int, typer.Option(min=0, help="Rounds per labelled monitor, as many monitors as studies.")
    ] = 6,
    as_json: Json = False,
) -> None:
    """Plant effects in models, and errors in an instrument; count alarms and false disparities."""
    effects = [*EFFECTS] if gap is None else gap
    if min([*effects, relapse]) < 0:
        raise UsageError("A gap must be at least 0: it is subtracted from one group's ratings.")
    if not (0 <= missing < 1 and 0 <= missing_gap <= 1):
        raise UsageError("A share of missing answers must be at least 0 and below 1: 0.02 for 2 %.")
    steps = sorted({*(labels or LABELS)})
    if labelled and steps[-1] > answers:
        raise UsageError(f"{steps[-1]} labels per group need more than {answers} answers.")
    configure_logs("ERROR")
    cases = planted_cases(effects, missing, missing_gap, relapse)
    watched = _watched(cases, monitors, rounds) if monitors else {}
    studies = _labelled(labelled, answers, steps) if labelled else []
    by_labels = _labelled_monitors(labelled, labelled_rounds) if labelled * labelled_rounds else []
    if as_json:
        print_json({**watched, "labelled": studies, "labelled_monitors": by_labels})
    else:
        _print(watched, studies)
        if by_labels:
            print_rows(by_labels, LABELLED_MONITORS_NOTE, as_json=False)


def _watched(cases: Sequence[PlantedCase], monitors: int, rounds: int) -> dict[str, list[Row]]:
    from biaswatch.planted_monitors.watching import watched_cases

    with _empty_state() as settings:
        return asyncio.run(watched_cases(settings, cases, monitors, rounds))


def _labelled(studies: int, answers: int, labels: Sequence[int]) -> "list[LabelledRow]":
    from biaswatch.planted_labels.studies import CASES, labelled_cases

    with _empty_state() as settings:
        return asyncio.run(
            labelled_cases(settings, CASES, studies=studies, answers=answers, labels=labels)
        )


def _labelled_monitors(monitors: int, rounds: int) -> "list[LabelledMonitorRow]":
    from biaswatch.planted_labels.monitors import RoundsToLabel, labelled_monitors

    plan = RoundsToLabel(rounds, answers=ANSWERS_OF_A_ROUND, labels=LABELS_OF_A_ROUND)
    with _empty_state() as settings:
        return asyncio.run(labelled_monitors(settings, monitors, plan))


def _print(watched: Mapping[str, Sequence[Row]], studies: "Sequence[LabelledRow]") -> None:
    if watched.get("effects"):
        print_rows(watched["effects"], EFFECTS_NOTE, as_json=False, left_out=ABOUT_MISSING)
    if watched.get("missing"):
        print_rows(watched["missing"], MISSING_NOTE, as_json=False, left_out=ABOUT_ERRORS)
    for relapsed in watched.get("relapses", []):
        typer.echo(relapse_in_words(relapsed))
    if studies:
        print_rows(studies, LABELLED_NOTE, as_json=False)


@contextmanager
def _empty_state() -> Iterator[Settings]:
    """Yield settings of a platform with an empty state."""
    with TemporaryDirectory(prefix="biaswatch-calibrate-") as folder:
        yield load_settings(Settings).model_copy(
            update={"state_dir": Path(folder), "store_url": None, "log_level": "ERROR"}
        )
