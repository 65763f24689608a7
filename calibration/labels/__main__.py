"""Prints how often findings that labels correct err, and what they find."""

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from math import sqrt

from biaswatch.planted_labels.rows import LabelledOutcome, LabelledRow, labelled_row
from calibration.labels.cases import CASES, LabelCase
from calibration.labels.monitors import MONITOR_HEAD, monitor_rows
from tests.support.labelled_studies import simulated_outcome

STUDIES, MONITORS = 1000, 400
HEAD = ("by readings", "labels alone", "corrected", "without error", "at most")


def _outcome_of(name: str, seed: int) -> LabelledOutcome:
    """Simulate one study of a case by its name, which can be sent to another process."""
    [case] = [case for case in CASES if case.name == name]
    return simulated_outcome(case.study, case.labels, seed)


def row_of(
    case: LabelCase, studies: int, executor: ProcessPoolExecutor | None = None
) -> LabelledRow:
    """Return the row of a case; the same one every time."""
    run = map if executor is None else executor.map
    result = list(run(_outcome_of, [case.name] * studies, range(studies)))
    return labelled_row(case.name, case.gap, case.labels, result, even=case.even)


def main(given: Sequence[str] | None = None) -> int:
    """Print a table; 1 where there are too many false disparities, or readings help nothing."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--studies", type=int, default=STUDIES, help="of each kind")
    options.add_argument("--monitors", type=int, default=MONITORS, help="of each kind; 0: none")
    options.add_argument("--only", default="", help="kinds with this in their name")
    options.add_argument("--processes", type=int, default=2)
    asked = options.parse_args(given)
    with ProcessPoolExecutor(asked.processes) as executor:
        missed = _studies(asked.studies, asked.only, executor)
        missed += _monitors(asked.monitors, asked.only, executor) if asked.monitors else []
    if missed:
        print(f"Too many false disparities, or too little power: {', '.join(missed)}")
    return 1 if missed else 0


def _studies(studies: int, only: str, executor: ProcessPoolExecutor) -> list[str]:
    """Print the table of finished runs, and return the kinds of studies that are broken."""
    missed = []
    print(f"| study | {' | '.join(HEAD)} | s |\n|---|{'---|' * (len(HEAD) + 1)}")
    for case in CASES:
        if only not in case.name:
            continue
        began = time.monotonic()
        row = row_of(case, studies, executor)
        result: Mapping[str, object] = row
        cells = [result[name.replace(" ", "_")] for name in HEAD]
        text = " | ".join("-" if cell is None else f"{cell}" for cell in cells)
        print(f"| {case.name} | {text} | {time.monotonic() - began:.0f} |", flush=True)
        if _is_broken(row):
            missed.append(case.name)
    return missed


def _is_broken(row: LabelledRow) -> bool:
    """Tell whether a row has too many false or too few true disparities.

    A planted gap must be found at least as often as by labels alone, within 3.5 standard errors.
    """
    if (most := row["at_most"]) is not None:
        return row["corrected"] > most
    if (alone := row["labels_alone"]) is None:
        return False
    return row["corrected"] < alone - 3.5 * sqrt(alone * (1 - alone) / row["studies"])


def _monitors(monitors: int, only: str, executor: ProcessPoolExecutor) -> list[str]:
    """Print the table of monitors whose rounds are labelled, and return those that are broken."""
    missed = []
    print(f"\n| {' | '.join(('monitors', *MONITOR_HEAD))} |\n|---|{'---|' * len(MONITOR_HEAD)}")
    for case, cells, is_broken in monitor_rows(monitors, only, executor.map):
        print(f"| {case.name} | {' | '.join(cells)} |", flush=True)
        missed += [case.name] if is_broken else []
    return missed


if __name__ == "__main__":
    sys.exit(main())
