"""Draws the answers that people label: the record of a sample, from readings and a request."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from services.gateway.labels.requests import SampleRequest
from shared.contracts import DrawnAnswer, LabelDraw, LabelSample, LabelStratum, Run, derived_id
from shared.contracts.judged_item import EVERY
from shared.errors import UsageError
from shared.stats.comparisons.compared_samples import Bounds, implied_bounds
from shared.stats.labels.sampling import (
    drawn,
    inclusion_probabilities,
    shares_of_groups,
    sizes_by_uncertainty,
)

UNIFORM_DIGITS = 13
"""Hexadecimal digits of an id that make a uniform number: 52 bits."""
Key = tuple[str, str, str]
"""Target, scaffold, group."""


@dataclass(frozen=True)
class ReadAnswer:
    """One answer with its reading."""

    response_id: str
    target: str
    scaffold: str
    groups: Mapping[str, str]
    value: float
    unit: str = ""
    """The prompt, or the user: several answers of one vary together."""


def label_sample(
    run: Run,
    number: tuple[str, str, str],
    readings: Sequence[ReadAnswer],
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
        No answer has a reading, or nobody knows the scale.
    """
    extractor, feature, dimension = number
    grouped: dict[Key, list[ReadAnswer]] = defaultdict(list)
    for each in readings:
        if (group := each.groups.get(dimension)) is not None:
            grouped[each.target, each.scaffold, group].append(each)
    if not grouped:
        raise UsageError(f"No answer of the run has a reading of {extractor}.{feature}.")
    values = [each.value for some in grouped.values() for each in some]
    bounds = _scale(request, values, declared, f"{extractor}.{feature}")
    keys = sorted(grouped)
    shares = shares_of_groups([len(grouped[key]) for key in keys], request.wanted)
    strata, queue = [], []
    for number_, (key, n) in enumerate(zip(keys, shares, strict=True)):
        stratum, answers = _stratum(run, key, grouped[key], n, request.draw, bounds, number)
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
        choices=tuple(sorted(set(request.choices))) or choices_of(values, bounds),
        instructions=derived_id("instructions", request.guidance)[:12],
        guidance=request.guidance,
        hidden=tuple(sorted({*names, *request.hidden}, key=lambda word: (-len(word), word))),
        strata=tuple(strata),
        drawn=tuple(each for _, each in sorted(queue, key=lambda pair: pair[0])),
    )


def _scale(
    request: SampleRequest, values: list[float], declared: Bounds | None, name: str
) -> Bounds:
    if request.low is not None and request.high is not None:
        bounds: Bounds | None = (request.low, request.high)
    else:
        bounds = scale_of(values, declared)
    if bounds is None:
        raise UsageError(f"The readings of {name} do not say its scale: add --scale LOW:HIGH.")
    if any(not bounds[0] <= each <= bounds[1] for each in request.choices):
        raise UsageError(f"A choice lies outside the scale from {bounds[0]:g} to {bounds[1]:g}.")
    return bounds


def _stratum(
    run: Run,
    key: Key,
    answers: Sequence[ReadAnswer],
    n: int,
    draw: LabelDraw,
    bounds: Bounds,
    number: tuple[str, str, str],
) -> tuple[LabelStratum, list[tuple[float, DrawnAnswer]]]:
    """Return the answers of one group that are drawn, each with its order in the queue.

    The orders of all groups are uniform numbers, so that the queue does not tell the group.
    """
    extractor, feature, _ = number
    values = np.clip(np.array([each.value for each in answers]), *bounds)
    sizes = np.ones(len(answers))
    if draw is LabelDraw.UNCERTAINTY:
        sizes = sizes_by_uncertainty(values, *bounds)
    uniform = np.array([uniform_of(run.id, extractor, feature, e.response_id) for e in answers])
    probabilities = inclusion_probabilities(sizes, max(n, 1))
    taken = drawn(sizes, uniform, n)
    last = float(uniform[taken[-1]] / sizes[taken[-1]]) if taken else 1.0
    found = [
        (
            float(uniform[each] / sizes[each]) / last,
            DrawnAnswer(
                response_id=answers[each].response_id,
                stratum=0,
                probability=float(probabilities[each]),
            ),
        )
        for each in taken
    ]
    target, scaffold, group = key
    return LabelStratum(
        target=target,
        scaffold=scaffold,
        group=group,
        answers=len(answers),
        drawn=len(taken),
        least_probability=float(probabilities.min()),
    ), found


def uniform_of(run_id: str, extractor: str, feature: str, response_id: str) -> float:
    """Return the uniform number of an answer, in (0, 1): drawn once and for all, from the ids."""
    digits = derived_id("label_draw", run_id, extractor, feature, response_id)[:UNIFORM_DIGITS]
    return (int(digits, 16) + 0.5) / float(16**UNIFORM_DIGITS)


def scale_of(readings: list[float], declared: Bounds | None) -> Bounds | None:
    """Return the declared scale, or that of which readings speak by themselves."""
    return declared or implied_bounds(np.array(readings, dtype=np.float64))


def choices_of(readings: list[float], bounds: Bounds) -> tuple[float, ...]:
    """Return the values to choose from: whole numbers, where all readings are such and few."""
    low, high = bounds
    whole = all(value == round(value) for value in readings) and low == round(low)
    if not whole or high != round(high) or high - low > 10:
        return ()
    return tuple(float(value) for value in range(int(low), int(high) + 1))


def dimension_of(readings: Sequence[ReadAnswer], wanted: str | None) -> str:
    """Return the grouping that is meant: the only one, where none is named.

    What judges judged is one group, unless something else is asked for.

    Raises
    ------
    UsageError
        There is no such grouping, or there are several and none is named.
    """
    found = sorted({name for each in readings for name in each.groups})
    if wanted is None and EVERY in found:
        return EVERY
    if wanted is None and len(found) == 1:
        return found[0]
    if wanted is None or wanted not in found:
        there = ", ".join(found) or "none"
        raise UsageError(f"Say by which grouping, with --group. The answers have: {there}.")
    return wanted


def units_by_group(readings: Sequence[ReadAnswer], dimension: str) -> dict[str, set[str]]:
    """Return the prompts of each group."""
    found: dict[str, set[str]] = defaultdict(set)
    for each in readings:
        if dimension in each.groups:
            found[each.groups[dimension]].add(each.unit or each.response_id)
    return found
