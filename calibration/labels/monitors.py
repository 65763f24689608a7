"""Monitors that people label: how often they alarm falsely, and how soon truly."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import sqrt
from typing import Any

import numpy as np

from calibration.labels.cases import WRONG
from tests.support.labelled_monitors import watched, without_error
from tests.support.labelled_studies import LabelledStudy, rates, ratings

ALPHA = 0.05
MONITOR_HEAD = ("alarmed", "at most", "at least", "rounds until half", "mean gap by readings")
ANSWERS = 200
ROUNDS = 60


@dataclass(frozen=True)
class MonitorCase:
    """One kind of monitor: what is true, how many answers of each group a round has labelled."""

    name: str
    study: LabelledStudy
    labels: int = 40
    gap: bool = False
    rounds: int = ROUNDS
    at_least: float = 0.8
    """The share of monitors that are to find a gap that is there."""


@dataclass(frozen=True)
class WatchedOnce:
    """What one monitor did."""

    alarmed_after: int | None
    reading: float


def _rates(a: float, b: float) -> LabelledStudy:
    return replace(rates({"a": a, "b": b}, WRONG), answers=ANSWERS)


def _ratings(gap: float) -> LabelledStudy:
    return replace(ratings(gap, 0.4), answers=ANSWERS)


NO_GAP = _rates(0.2, 0.2)
GAP_OF_TWO = _rates(0.2, 0.4)
MONITOR_CASES: Sequence[MonitorCase] = (
    MonitorCase("monitor, rates", NO_GAP),
    MonitorCase("monitor, rates, 180 of 200 labelled", NO_GAP, labels=180),
    MonitorCase("monitor, rates, an instrument without error", without_error(NO_GAP)),
    MonitorCase("monitor, rates, two people who differ", replace(NO_GAP, people=2,
                                                                 person_error=0.1)),
    MonitorCase("monitor, rare rates", _rates(0.02, 0.02)),
    MonitorCase("monitor, ratings", _ratings(0.0)),
    MonitorCase("monitor, rates, gap .1", _rates(0.2, 0.3), gap=True),
    MonitorCase("monitor, rates, gap .2", GAP_OF_TWO, gap=True, rounds=10),
    MonitorCase("monitor, ratings, gap .3", _ratings(0.3), gap=True),
)  # fmt: skip


def watched_once(name: str, seed: int) -> WatchedOnce:
    """Simulate one monitor of a case by its name, which can be sent to another process."""
    [case] = [case for case in MONITOR_CASES if case.name == name]
    result = watched(case.study, case.labels, seed, case.rounds)
    after = result.raised[0].round + 1 if result.raised else None
    return WatchedOnce(after, float(np.mean(result.readings)))


def monitor_row(
    case: MonitorCase, monitors: int, run: Callable[..., Any] = map
) -> tuple[list[str], bool]:
    """Return the cells of a case, and whether it breaks what is promised."""
    result: list[WatchedOnce] = list(run(partial(watched_once, case.name), range(monitors)))
    soon = sorted(item.alarmed_after for item in result if item.alarmed_after is not None)
    alarmed = len(soon) / monitors
    most = ALPHA + 3.5 * sqrt(ALPHA * (1 - ALPHA) / monitors)
    half = soon[(monitors + 1) // 2 - 1] if alarmed >= 0.5 else None
    cells = [
        f"{alarmed:.3f}",
        "-" if case.gap else f"{most:.3f}",
        f"{case.at_least:g}" if case.gap else "-",
        "-" if half is None else str(half),
        f"{np.mean([study.reading for study in result]):.3f}",
    ]
    return cells, alarmed < case.at_least if case.gap else alarmed > most


def monitor_rows(
    monitors: int, only: str, run: Callable[..., Any] = map
) -> Iterator[tuple[MonitorCase, list[str], bool]]:
    """Return every case whose name holds `only`, its cells, and whether it is broken."""
    for case in MONITOR_CASES:
        if only in case.name:
            cells, broken = monitor_row(case, monitors, run)
            yield case, cells, broken
