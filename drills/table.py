"""The table of drills: printed, and as JSON and CSV."""

import csv
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

from drills.outcome import Row, State

HEADINGS = ("drill", "state", "checked", "lost", "twice", "exits", "faults", "peak memory", "s")
WIDTH = 130


def print_table(rows: Sequence[Row]) -> None:
    """Print a line for each drill, then notes and faults."""
    table = Table(*HEADINGS, box=box.MARKDOWN)
    for name in HEADINGS[2:]:
        table.columns[HEADINGS.index(name)].justify = "right"
    for row in rows:
        table.add_row(*cells(row))
    console = Console(width=WIDTH, highlight=False, markup=False)
    console.print(table)
    for row in rows:
        for sentence in filter(None, (row.outcome.note, *row.outcome.faults)):
            console.print(f"{row.drill}: {sentence}", soft_wrap=True)


def cells(row: Row) -> tuple[str, ...]:
    """Return the cells of a line; a drill that was not run has no numbers."""
    if row.state is State.NOT_RUN:
        return (row.drill, row.state.value, *["-"] * 6, f"{row.seconds:.0f}")
    outcome = row.outcome
    counts = (outcome.checked, outcome.lost, outcome.twice, outcome.exits, len(outcome.faults))
    program, peak = max(row.peaks_mib.items(), key=lambda item: item[1], default=("", 0.0))
    memory = f"{peak:.0f} MiB ({program})" if program else "-"
    return (row.drill, row.state.value, *(f"{n:,}" for n in counts), memory, f"{row.seconds:.0f}")


def write_files(rows: Sequence[Row], folder: Path) -> None:
    """Write `drills.json` and `drills.csv`."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps([asdict(row) for row in rows], indent=1, ensure_ascii=False)
    (folder / "drills.json").write_text(text + "\n", encoding="utf-8")
    with (folder / "drills.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*HEADINGS, "note"])
        for row in rows:
            writer.writerow([*cells(row), "; ".join((row.outcome.note, *row.outcome.faults))])
