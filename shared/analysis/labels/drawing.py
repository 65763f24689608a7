"""Draws the answers that people label: the record of a sample, from readings and a request."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from math import inf

import numpy as np

from biaswatch.shared.analysis.labels.read_columns import ReadCell, ReadColumns, Rows, ids_of
from biaswatch.shared.contracts import (
    DrawnAnswer,
    LabelDraw,
    LabelSample,
    LabelStratum,
    Run,
    derived_id,
)
from biaswatch.shared.contracts.judged_items import EVERY
from biaswatch.shared.errors import UsageError
from biaswatch.shared.lookup import first
from biaswatch.shared.requests.labels import SampleRequest
from biaswatch.shared.stats.comparisons.compared_samples import Bounds, implied_bounds_of
from biaswatch.shared.stats.labels.sampling import (
    drawn,
    inclusion,
    mean_of,
    shares_of_groups,
    sizes_by_uncertainty,
    uncertainty,
)
from biaswatch.shared.stats.samples import Vector

UNIFORM_DIGITS = 13
"""Hexadecimal digits of an id that make a uniform number: 52 bits."""
Key = tuple[str, str, str]
"""Target, scaffold, group."""


@dataclass(frozen=True)
class SeenReadings:
    """The scale that the readings have in common."""

    least: float
    largest: float
    whole: bool
    """True if all readings are whole numbers."""


def label_sample(
    run: Run,
    number: tuple[str, str, str],
    readings: ReadColumns,
    request: SampleRequest,
    declared: Bounds | None,
    now: datetime,
) -> LabelSample:
    """Return a sample of a run's answers.

    Parameters
    ----------
    number
        Extractor, feature, and the dimension whose groups get as many labels each.
    declared
        The range that the suite declares for the feature.

    Raises
    ------
    UsageError
        No answer has a reading, or the scale is not known.
    """
    extractor, feature, dimension = number
    counts = {
        key: readings.count(_of(key, dimension)) for key in _keys(readings.cells(), dimension)
    }
    if not counts:
        raise UsageError(f"No answer of the run has a reading of {extractor}.{feature}.")
    seen = _seen(readings.values(lambda cell: cell.level(dimension) is not None))
    bounds = _scale(request, seen, declared, f"{extractor}.{feature}")
    keys = list(counts)
    shares = shares_of_groups([*counts.values()], request.wanted)
    strata, queue = [], []
    for number_, (key, n) in enumerate(zip(keys, shares, strict=True)):
        rows, sizes = _answers_of(readings, key, dimension, request.draw, bounds)
        stratum, answers = _stratum(run, key, counts[key], rows, sizes, n, number)
        strata.append(stratum)
        queue += [(order, one.model_copy(update={"stratum": number_})) for order, one in answers]
    names = {key[2] for key in keys}
    return LabelSample(
        tenant=run.tenant,
        purpose=run.purpose,
        at=now,
        run_id=run.id,
        extractor=extractor,
        feature=feature,
        dimension=dimension,
        draw=request.draw,
        wanted=request.wanted,
        low=bounds[0],
        high=bounds[1],
        choices=tuple(sorted(set(request.choices))) or choices_of(seen, bounds),
        instructions=derived_id("instructions", request.guidance)[:12],
        guidance=request.guidance,
        hidden=tuple(sorted({*names, *request.hidden}, key=lambda word: (-len(word), word))),
        strata=tuple(strata),
        drawn=tuple(answer for _, answer in sorted(queue, key=lambda pair: pair[0])),
    )


def _keys(cells: Collection[ReadCell], dimension: str) -> list[Key]:
    levels = ((cell, cell.level(dimension)) for cell in cells)
    return sorted({(e.target, e.scaffold, level) for e, level in levels if level is not None})


def _of(key: Key, dimension: str) -> Callable[[ReadCell], bool]:
    return lambda cell: (cell.target, cell.scaffold, cell.level(dimension)) == key


def _seen(stretches: Iterator[Vector]) -> SeenReadings:
    least, largest, whole = inf, -inf, True
    for values in stretches:
        least, largest = min(least, float(values.min())), max(largest, float(values.max()))
        whole = whole and bool((values == np.rint(values)).all())
    return SeenReadings(least, largest, whole)


def _scale(
    request: SampleRequest, seen: SeenReadings, declared: Bounds | None, name: str
) -> Bounds:
    if request.low is not None and request.high is not None:
        bounds: Bounds | None = (request.low, request.high)
    else:
        bounds = declared or implied_bounds_of(seen.least, seen.largest, whole=seen.whole)
    if bounds is None:
        raise UsageError(f"The readings of {name} do not say its scale: add --scale LOW:HIGH.")
    if any(not bounds[0] <= choice <= bounds[1] for choice in request.choices):
        raise UsageError(f"A choice lies outside the scale from {bounds[0]:g} to {bounds[1]:g}.")
    return bounds


AnswersOf = Callable[[], Iterator[Rows]]
SizesOf = Callable[[Rows], Vector]


def _answers_of(
    readings: ReadColumns, key: Key, dimension: str, draw: LabelDraw, bounds: Bounds
) -> tuple[AnswersOf, SizesOf]:
    """Return what goes through the answers of one group, and how much each counts in the draw."""

    def rows() -> Iterator[Rows]:
        return readings.rows(_of(key, dimension))

    def unsure(rows_: Rows) -> Vector:
        return uncertainty(np.clip(rows_["value"], *bounds), *bounds)

    if draw is not LabelDraw.UNCERTAINTY:
        return rows, lambda rows_: np.ones(len(rows_))
    mean = mean_of(map(unsure, rows()))
    return rows, lambda rows_: sizes_by_uncertainty(unsure(rows_), mean)


def _stratum(
    run: Run,
    key: Key,
    count: int,
    answers: AnswersOf,
    sizes_of: SizesOf,
    n: int,
    number: tuple[str, str, str],
) -> tuple[LabelStratum, list[tuple[float, DrawnAnswer]]]:
    """Return the answers of one group that are drawn, each with its order in the queue.

    The orders of all groups are uniform numbers, so that the queue does not tell the group.
    """
    chances = inclusion(lambda: map(sizes_of, answers()), max(n, 1))
    taken, least = _first(run, number, answers, sizes_of, n), inf
    for chunk in answers():
        least = min(least, float(chances.of(sizes_of(chunk)).min()))
    last = float(taken.uniform[-1] / taken.sizes[-1]) if n else 1.0
    orders = taken.uniform / taken.sizes / last
    strata = [
        (order, DrawnAnswer(response_id=id_, stratum=0, probability=probability))
        for order, id_, probability in zip(
            orders.tolist(), taken.ids, chances.of(taken.sizes).tolist(), strict=True
        )
    ]
    target, scaffold, group = key
    return LabelStratum(
        target=target,
        scaffold=scaffold,
        group=group,
        answers=count,
        drawn=len(strata),
        least_probability=least,
    ), strata


@dataclass(frozen=True)
class _Taken:
    """Answers in their order of labelling."""

    ids: list[str]
    uniform: Vector
    sizes: Vector


def _first(
    run: Run, number: tuple[str, str, str], answers: AnswersOf, sizes_of: SizesOf, n: int
) -> _Taken:
    """Return the n answers that come first in the queue."""
    extractor, feature, _ = number
    taken = _Taken([], np.empty(0), np.empty(0))
    for chunk in answers():
        ids = ids_of(chunk)
        more = np.array([uniform_of(run.id, extractor, feature, id_) for id_ in ids])
        uniform = np.concatenate([taken.uniform, more])
        sizes = np.concatenate([taken.sizes, sizes_of(chunk)])
        places, known_ids = drawn(sizes, uniform, n), [*taken.ids, *ids]
        taken = _Taken([known_ids[place] for place in places], uniform[places], sizes[places])
    return taken


def uniform_of(run_id: str, extractor: str, feature: str, response_id: str) -> float:
    """Return the uniform number of an answer, in (0, 1): drawn once and for all, from the ids."""
    digits = derived_id("label_draw", run_id, extractor, feature, response_id)[:UNIFORM_DIGITS]
    return (int(digits, 16) + 0.5) / float(16**UNIFORM_DIGITS)


def choices_of(seen: SeenReadings, bounds: Bounds) -> tuple[float, ...]:
    """Return the values to choose from: whole numbers, where all readings are such and few."""
    low, high = bounds
    if not seen.whole or low != round(low) or high != round(high) or high - low > 10:
        return ()
    return tuple(float(value) for value in range(int(low), int(high) + 1))


def dimension_of(dimensions: Collection[str], wanted: str | None) -> str:
    """Return the grouping that is meant: the only one, where none is named.

    Items that judges graded are one group, unless a dimension is named.

    Raises
    ------
    UsageError
        The grouping does not exist, or there are several and none is named.
    """
    if wanted is None and EVERY in dimensions:
        return EVERY
    if wanted is None and len(dimensions) == 1:
        return first(dimensions, "The answers have no grouping.")
    if wanted is None or wanted not in dimensions:
        listed = ", ".join(dimensions) or "none"
        raise UsageError(f"Name a grouping with --group. The answers have: {listed}.")
    return wanted
