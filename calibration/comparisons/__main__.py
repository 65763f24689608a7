"""Simulate every shape and print the table; 1 where a cell misses its bar.

`make calibration` runs all of it. While working on one kind of data:

    python -m calibration.comparisons --only "binary" --runs 500
"""

import argparse
import os
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from functools import reduce
from operator import add
from pathlib import Path

from calibration.comparisons.judgement import judged, least_coverage, most_errors, worst_errors
from calibration.comparisons.shapes import SHAPES
from calibration.comparisons.simulation import PRODUCT, Tallies, simulate
from calibration.comparisons.study import Shape
from calibration.comparisons.table import (
    StoredResults,
    comparator_lines,
    missed_lines,
    table_lines,
    write_files,
)

RUNS, PART = 2000, 250
FOLDER = Path("build/calibration")
BY_NAME = {shape.name: shape for shape in SHAPES}


def main(arguments: Sequence[str] | None = None) -> int:
    """Simulate, print, and tell whether every cell holds."""
    options = _options(arguments)
    start = time.perf_counter()
    chosen = [s for s in SHAPES if any(part in s.name for part in options.only or ("",))]
    if options.list or not chosen:
        print("\n".join(shape.name for shape in (chosen or SHAPES)))
        return 0 if chosen else 2
    stored = StoredResults(options.folder, options.runs, options.seed)
    waiting = [s for s in chosen if not (options.resume and stored.is_done(s))]
    failed = _simulated(waiting, stored, options)
    result = {name: t for name, s in BY_NAME.items() if PRODUCT in (t := stored.load(s))}
    _print_results(result, [shape.name for shape in chosen], options.folder)
    for name, error in failed.items():
        print(f"FAILED  {name}: {type(error).__name__}: {error}")
    print(f"{time.perf_counter() - start:.0f} s")
    cells = [cell for cell in judged(BY_NAME, result) if BY_NAME[cell.shape] in chosen]
    return 1 if failed or not all(cell.holds for cell in cells) else 0


def _print_results(by_shape: dict[str, Tallies], chosen: Sequence[str], folder: Path) -> None:
    """Print the chosen shapes, each judged beside all results that are stored."""
    cells = judged(BY_NAME, by_shape)
    write_files(folder, cells)
    of_chosen = [cell for cell in cells if cell.shape in chosen]
    shown = {name: by_shape[name] for name in by_shape if name in chosen}
    kinds = {BY_NAME[name].kind for name in chosen}
    worst = [error for error in worst_errors(BY_NAME, by_shape) if error.kind in kinds]
    tables = [*table_lines(BY_NAME, shown, of_chosen), "", *comparator_lines(worst), ""]
    (folder / "table.md").write_text("\n".join(tables))
    print("\n".join(tables))
    for runs in sorted({tallies[PRODUCT].runs for tallies in shown.values()}, reverse=True):
        bars = (
            f"errors at most {most_errors(runs):.3f}, coverage at least {least_coverage(runs):.3f}"
        )
        print(f"{runs:,} runs (standard error {(0.05 * 0.95 / runs) ** 0.5:.4f}): {bars}")
    print("\n".join(missed_lines(of_chosen)))
    missed = {cell.shape for cell in of_chosen if not cell.holds}
    print(f"{len(shown)} shapes, {len(of_chosen)} cells, {len(missed)} shapes miss a bar")


def _simulated(
    shapes: Iterable[Shape], stored: StoredResults, options: argparse.Namespace
) -> dict[str, BaseException]:
    """Simulate and store shapes, each as soon as all its parts are there; return what failed."""
    failed: dict[str, BaseException] = {}
    waiting: dict[str, list[Tallies]] = {}
    with ProcessPoolExecutor(options.processes) as pool:
        parts: dict[Future[Tallies], Shape] = {}
        for shape in shapes:
            there = options.alone or stored.comparators(shape)
            compared = 0 if there else stored.compared_runs_of(shape)
            for runs in _parts(stored.runs_of(shape)):
                parts[pool.submit(_part, shape.name, runs, options.seed, compared)] = shape
        for done, part in enumerate(as_completed(parts), 1):
            shape = parts[part]
            print(f"{done} of {len(parts)} parts: {shape.name}", file=sys.stderr, flush=True)
            if error := part.exception():
                failed[shape.name] = error
                continue
            waiting_parts = waiting.setdefault(shape.name, [])
            waiting_parts.append(part.result())
            if len(waiting_parts) == len(list(_parts(stored.runs_of(shape)))):
                stored.save(shape, {**stored.comparators(shape), **_sum(waiting_parts)})
    return failed


def _part(name: str, runs: range, seed: int, compared: int) -> Tallies:
    """Simulate the product in these runs, and comparators in those of them below a number."""
    both = range(runs.start, min(runs.stop, compared))
    result = simulate(BY_NAME[name], runs, seed=seed, compared=False)
    return {**result, **simulate(BY_NAME[name], both, seed=seed, product=None)}


def _parts(runs: int) -> Iterator[range]:
    for first in range(0, runs, PART):
        yield range(first, min(first + PART, runs))


def _sum(parts: Sequence[Tallies]) -> Tallies:
    names = {name: None for part in parts for name in part}
    return {name: reduce(add, (part[name] for part in parts if name in part)) for name in names}


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m calibration.comparisons", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--only", nargs="+", metavar="TEXT", help="shapes whose name contains it")
    parser.add_argument("--runs", type=int, default=RUNS, help=f"of each shape; {RUNS:,}")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=FOLDER, help="for results and the table")
    parser.add_argument("--resume", action="store_true", help="leave shapes that are there")
    parser.add_argument("--alone", action="store_true", help="the product without comparators")
    parser.add_argument("--list", action="store_true", help="names of shapes, and no more")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
