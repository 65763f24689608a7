"""Simulate the three questions and print the table; 1 where a cell misses its bar.

python -m calibration.questions --studies 300 --only "templates"
"""

import argparse
import sys
from collections.abc import Sequence
from math import sqrt
from pathlib import Path
from zlib import crc32

import numpy as np

from calibration.questions.shapes import SHAPES, Shape, Test

ALPHA = 0.05
STANDARD_ERRORS = 3.5
LEAST_SHARE_OF_BEST = 0.9
HEADINGS = ("shape", "question", "errs", "finds", "best comparator", "misses")
Row = tuple[str, ...]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a Markdown table with a line for each shape."""
    options = _options(arguments)
    shapes = [shape for shape in SHAPES if options.only in shape.name]
    result = {}
    for shape in shapes:
        result[shape.name] = _shares(shape, options.studies)
        print(shape.name, result[shape.name], file=sys.stderr, flush=True)
    valid = _valid(shapes, result, options.studies)
    rows = [_row(shape, result[shape.name], valid, options.studies) for shape in shapes]
    limits = {shape.limit for shape in shapes}
    missed = [row for row in rows if row[-1] and row[-1] not in limits]
    lines = [" | ".join(row) for row in (HEADINGS, ("---",) * len(HEADINGS), *rows)]
    text = "\n".join(f"| {line} |" for line in lines)
    summary = f"{len(rows)} shapes, {len(missed)} miss a bar; {options.studies} studies each."
    options.output.write_text(f"{summary}\n\n{text}\n") if options.output else print(text)
    print(summary)
    return 1 if missed else 0


def _shares(shape: Shape, studies: int) -> dict[str, float]:
    """Return the share of studies with p at most alpha, by test."""
    tests: dict[str, Test] = {"product": shape.test, **shape.comparators}
    rejected = dict.fromkeys(tests, 0)
    for number in range(studies):
        key = [crc32(shape.name.encode()), number]
        study = shape.draw(np.random.default_rng(key))
        for name, test in tests.items():
            rejected[name] += test(study, np.random.default_rng([*key, 1])) <= ALPHA
    return {name: count / studies for name, count in rejected.items()}


def _most_errors(studies: int) -> float:
    return ALPHA + STANDARD_ERRORS * sqrt(ALPHA * (1 - ALPHA) / studies)


def _valid(
    shapes: Sequence[Shape], found: dict[str, dict[str, float]], studies: int
) -> set[tuple[str, str]]:
    """Return the comparators that keep the level on every null of their kind of design."""
    errors: dict[tuple[str, str], float] = {}
    for shape in shapes:
        for name, share in found[shape.name].items():
            key = (_kind(shape), name)
            errors[key] = max(errors.get(key, 0.0), 0.0 if shape.effect else share)
    return {key for key, error in errors.items() if error <= _most_errors(studies)}


def _kind(shape: Shape) -> str:
    return shape.name.split(":")[0]


def _row(shape: Shape, rates: dict[str, float], valid: set[tuple[str, str]], studies: int) -> Row:
    share = rates["product"]
    start = (shape.name, shape.question)
    if not shape.effect:
        misses = (shape.limit or "error") if share > _most_errors(studies) else ""
        return (*start, f"{share:.3f}", "", "", misses)
    rivals = {
        name: value
        for name, value in rates.items()
        if name != "product" and (_kind(shape), name) in valid
    }
    best = max(rivals, key=lambda name: rivals[name], default="")
    least = LEAST_SHARE_OF_BEST * rivals.get(best, 0.0)
    against = f"{rivals[best]:.3f} ({best})" if best else ""
    return (*start, "", f"{share:.3f}", against, "power" if share < least else "")


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m calibration.questions")
    parser.add_argument("--only", default="", metavar="TEXT", help="shapes whose name contains it")
    parser.add_argument("--studies", type=int, default=1000, help="of each shape; 1,000")
    parser.add_argument("--output", type=Path, help="file for the table, in Markdown")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
