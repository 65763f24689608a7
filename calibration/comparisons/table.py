"""The printed table, and its files."""

import csv
import hashlib
import inspect
import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from calibration.comparisons.judgement import JudgedCell, ShapeResults, WorstErrors
from calibration.comparisons.simulation import PRODUCT, Tallies
from calibration.comparisons.study import Shape, Tally

PROMISES = (
    "false disparities", "false equivalences", "coverage", "all covered", "contradictions",
    "disparities found", "equivalences found",
)  # fmt: skip
HEADINGS = ("shape", "runs", *PROMISES, "ms", "misses")


def table_lines(
    shapes: Mapping[str, Shape], results: ShapeResults, cells: Sequence[JudgedCell]
) -> list[str]:
    """Return a Markdown table with a line for each shape."""
    by_shape: dict[str, dict[str, JudgedCell]] = {}
    for cell in cells:
        by_shape.setdefault(cell.shape, {})[cell.promise] = cell
    rows = []
    for name in (name for name in shapes if name in results):
        shape, tally = by_shape[name], results[name][PRODUCT]
        rows.append((
            name,
            f"{tally.runs:,}",
            *(_cell_text(shape.get(promise)) for promise in PROMISES),
            f"{1000 * tally.seconds / max(tally.comparisons, 1):.1f}",
            ", ".join(cell.promise for cell in shape.values() if not cell.holds),
        ))  # fmt: skip
    return markdown(HEADINGS, rows)


def comparator_lines(worst: Iterable[WorstErrors]) -> list[str]:
    """Return a table of the comparators' worst errors, by kind of data."""
    rows = [
        (
            item.kind.value,
            item.name,
            "yes" if item.valid else "no",
            f"{_share(item.disparity)} on {item.disparity_shape}",
            "-" if item.equivalence is None
            else f"{_share(item.equivalence)} on {item.equivalence_shape}",
        )
        for item in worst
        if item.name != PRODUCT
    ]  # fmt: skip
    headings = ("kind", "comparator", "a bar", "most false disparities", "most false equivalences")
    return markdown(headings, rows)


def missed_lines(cells: Iterable[JudgedCell]) -> list[str]:
    """Return a line for each cell that misses its bar, the worst first."""
    missed = sorted((cell for cell in cells if not cell.holds), key=lambda c: -abs(c.found - c.bar))
    return [
        f"MISSED  {cell.shape}: {cell.promise} {_cell_text(cell)}, {_bar(cell)}" for cell in missed
    ]


def write_files(folder: Path, cells: Sequence[JudgedCell]) -> None:
    """Write every cell as CSV and as JSON."""
    records = [asdict(cell) for cell in cells]
    (folder / "table.json").write_text(json.dumps(records, indent=1) + "\n")
    with (folder / "table.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(JudgedCell.__dataclass_fields__))
        writer.writeheader()
        writer.writerows(records)


def markdown(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a table whose columns are aligned in plain text too."""
    widths = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]
    rule = ["-" * width for width in widths]
    return [
        "| " + " | ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)) + " |"
        for row in (headings, rule, *rows)
    ]


def _cell_text(cell: JudgedCell | None) -> str:
    if cell is None:
        return "-"
    if cell.best is None:
        return _share(cell.found)
    return f"{_share(cell.found)} of {_share(cell.best)} ({cell.against})"


def _bar(cell: JudgedCell) -> str:
    errs = cell.promise.startswith("false") or cell.promise == "contradictions"
    least = "at most" if errs else "at least"
    return f"{least} {_share(cell.bar)}"


def _share(value: float) -> str:
    return f"{value:.3f}".removeprefix("0") if value < 1 else f"{value:.2f}"


SOURCES = ("study.py", "simulation.py", "tallies.py", "comparators/*.py")
"""What comparators depend on, beside the file of their shape."""
MOST_COMPARED = 500
"""Runs of comparators; the product gets as many as are asked for."""


class StoredResults:
    """A folder with a file for each shape."""

    def __init__(self, folder: Path, runs: int, seed: int) -> None:
        self._folder, self._runs, self._seed = folder, runs, seed
        here = Path(__file__).parent
        files = sorted(path for pattern in SOURCES for path in here.glob(pattern))
        self._source = "\n".join(path.read_text() for path in files)
        self._made: dict[str, str] = {}
        folder.mkdir(parents=True, exist_ok=True)

    def runs_of(self, shape: Shape) -> int:
        """Return how many runs a shape gets."""
        return min(self._runs, shape.most_runs or self._runs)

    def compared_runs_of(self, shape: Shape) -> int:
        """Return in how many of them comparators are simulated too."""
        most = MOST_COMPARED if shape.most_runs is None else shape.most_runs // 4
        return min(self.runs_of(shape), most)

    def load(self, shape: Shape) -> Tallies:
        """Return the stored tallies of a shape; none where it or its source differs."""
        try:
            record = json.loads(self._path(shape).read_text())
        except FileNotFoundError:
            return {}
        if record["made_of"] != self._made_of(shape):
            return {}
        return {name: Tally.of(tally) for name, tally in record["tallies"].items()}

    def save(self, shape: Shape, tallies: Tallies) -> None:
        """Write the tallies of a shape."""
        record = {
            "shape": shape.name,
            "made_of": self._made_of(shape),
            "tallies": {name: asdict(tally) for name, tally in tallies.items()},
        }
        self._path(shape).write_text(json.dumps(record, indent=1) + "\n")

    def is_done(self, shape: Shape) -> bool:
        """Return whether the product was simulated in all runs."""
        tally = self.load(shape).get(PRODUCT)
        return tally is not None and tally.runs >= self.runs_of(shape)

    def comparators(self, shape: Shape) -> Tallies:
        """Return the stored tallies of comparators; none where they had too few runs."""
        result = {name: tally for name, tally in self.load(shape).items() if name != PRODUCT}
        enough = all(tally.runs >= self.compared_runs_of(shape) for tally in result.values())
        return result if enough else {}

    def _path(self, shape: Shape) -> Path:
        return self._folder / (re.sub(r"[^a-z0-9.]+", "-", shape.name.lower()) + ".shape.json")

    def _made_of(self, shape: Shape) -> str:
        if shape.name not in self._made:  # as it was when it was first asked for: files may change
            own = inspect.getsource(sys.modules[shape.draw.__module__])
            settings = f"{self._seed} {shape.tolerance} {shape.bounds}"
            text = self._source + own + settings
            self._made[shape.name] = hashlib.sha256(text.encode()).hexdigest()
        return self._made[shape.name]
