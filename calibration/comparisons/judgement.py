"""Whether the product keeps its errors, its coverage and its power, cell by cell."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt

from calibration.comparisons.simulation import ALPHA, PRODUCT, Tallies
from calibration.comparisons.study import Kind, Shape, Tally

ERRORS_ALLOWED = 3.5
"""Standard errors of a simulated share."""
LEAST_SHARE_OF_BEST = 0.85
LEAST_POWER_JUDGED = 0.02
"""Below, nothing finds anything, and a share of it says nothing."""
POWER = {"disparities found": "disparities", "equivalences found": "equivalences"}
ShapeResults = Mapping[str, Tallies]
"""By the name of a shape."""


@dataclass(frozen=True)
class JudgedCell:
    """One promise on one shape."""

    shape: str
    promise: str
    found: float
    bar: float
    holds: bool
    against: str = ""
    """The comparator that sets the bar."""
    best: float | None = None


@dataclass(frozen=True)
class WorstErrors:
    """How a comparator errs on the shapes of a kind of data."""

    kind: Kind
    name: str
    disparity: float
    disparity_shape: str
    equivalence: float | None
    equivalence_shape: str
    valid: bool


def most_errors(runs: int) -> float:
    """Return the most errors that luck allows a procedure that errs in alpha."""
    return ALPHA + ERRORS_ALLOWED * sqrt(ALPHA * (1 - ALPHA) / runs)


def least_coverage(runs: int) -> float:
    """Return the least coverage that luck allows an interval that covers in 1 - alpha."""
    return 1 - most_errors(runs)


def judged(shapes: Mapping[str, Shape], results: ShapeResults) -> list[JudgedCell]:
    """Return every cell of the shapes that were simulated."""
    valid = {(error.kind, error.name) for error in worst_errors(shapes, results) if error.valid}
    return [
        cell
        for name, tallies in results.items()
        for cell in (
            *kept(tallies[PRODUCT], shapes[name]),
            *_power(
                name, tallies, shapes[name], {n for kind, n in valid if kind is shapes[name].kind}
            ),
        )
    ]


def worst_errors(shapes: Mapping[str, Shape], results: ShapeResults) -> list[WorstErrors]:
    """Return, of every comparator, its worst errors on the shapes of each kind of data."""
    by_procedure: dict[tuple[Kind, str], dict[str, Tally]] = {}
    for shape, tallies in results.items():
        for name, tally in tallies.items():
            by_procedure.setdefault((shapes[shape].kind, name), {})[shape] = tally
    return [_worst(kind, name, by_shape) for (kind, name), by_shape in by_procedure.items()]


def _worst(kind: Kind, name: str, by_shape: Mapping[str, Tally]) -> WorstErrors:
    on = max(by_shape, key=lambda shape: by_shape[shape].disparity_error)
    equivalences = {s: e for s, t in by_shape.items() if (e := t.equivalence_error) is not None}
    other = max(equivalences, key=lambda shape: equivalences[shape], default="")
    valid = all(
        tally.disparity_error <= most_errors(tally.runs)
        and (tally.equivalence_error or 0) <= most_errors(max(tally.beyond, 1))
        for tally in by_shape.values()
    )
    return WorstErrors(
        kind, name, by_shape[on].disparity_error, on, equivalences.get(other), other, valid
    )


def kept(tally: Tally, shape: Shape) -> list[JudgedCell]:
    """Return the cells that need no comparator: errors and coverage."""
    name = shape.name
    bar = most_errors(tally.runs)
    error = tally.disparity_error
    cells = [JudgedCell(name, "false disparities", error, bar, error <= bar)]
    if (error_within := tally.equivalence_error) is not None:
        bar = most_errors(tally.beyond)
        cells.append(JudgedCell(name, "false equivalences", error_within, bar, error_within <= bar))
    if shape.kind is Kind.MISSING:  # intervals are about the answers that are there
        return cells
    other_words = tally.contradictions.share or 0.0
    cells.append(JudgedCell(name, "contradictions", other_words, 0.0, other_words == 0))
    for promise, mean in (("coverage", tally.covered), ("all covered", tally.all_covered)):
        if mean.share is not None:
            bar = least_coverage(mean.runs)
            cells.append(JudgedCell(name, promise, mean.share, bar, mean.share >= bar))
    return cells


def _power(name: str, tallies: Tallies, shape: Shape, valid: set[str]) -> list[JudgedCell]:
    cells = []
    for promise, attribute in POWER.items():
        shares = {n: getattr(tally, attribute).share for n, tally in tallies.items()}
        share = shares.pop(PRODUCT)
        if share is None:
            continue
        rivals = {n: share for n, share in shares.items() if n in valid}
        against = max(rivals, key=lambda n: rivals[n], default="")
        best = rivals.get(against)
        bar = shape.least_power or 0.0
        if best is not None and best >= LEAST_POWER_JUDGED:
            bar = max(bar, LEAST_SHARE_OF_BEST * best)
        cells.append(JudgedCell(name, promise, share, bar, share >= bar - 1e-9, against, best))
    return cells
