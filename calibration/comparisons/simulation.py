"""Studies of a shape, drawn one by one and judged by the product and by every comparator."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import copysign
from time import process_time
from zlib import crc32

import numpy as np

from biaswatch.shared.stats.estimate import Verdict
from calibration.comparisons.comparators import comparators_of
from calibration.comparisons.comparators.tails import GapPValues, holm_rejects, p_values_of
from calibration.comparisons.product import Interval, ProductVerdict, product_verdicts
from calibration.comparisons.study import Kind, Rng, Shape, Study, Tally

ALPHA = 0.05
PRODUCT = "product"
SLACK = 1e-9
Tallies = dict[str, Tally]
Procedure = Callable[[Study, Shape, float, Rng], list[ProductVerdict]]


@dataclass(frozen=True)
class Outcome:
    """One verdict beside the truth."""

    truth: float
    verdict: Verdict
    gap: float
    marginal: Interval | None = None
    simultaneous: Interval | None = None


def simulate(
    shape: Shape,
    runs: range,
    *,
    seed: int = 1,
    product: Procedure | None = product_verdicts,
    compared: bool = True,
) -> Tallies:
    """Return what the product and the comparators did in these runs of a shape.

    A run depends on the seed, the shape's name and its own number alone, so that runs may be
    simulated in any parts and in any order.
    """
    tallies: Tallies = {}
    for run in runs:
        key = [seed, crc32(shape.name.encode()), run]
        study = shape.draw(np.random.default_rng(key))
        if product is not None:
            start = process_time()
            result = product(study, shape, ALPHA, np.random.default_rng([*key, 1]))
            seconds = process_time() - start
            tally = tallies.setdefault(PRODUCT, Tally())
            _count(tally, list(_outcomes(study, shape, result)), shape.tolerance, seconds)
        if compared:
            for name, outcomes in _of_comparators(study, shape).items():
                _count(tallies.setdefault(name, Tally()), outcomes, shape.tolerance)
    return tallies


def _outcomes(study: Study, shape: Shape, verdicts: Sequence[ProductVerdict]) -> Iterator[Outcome]:
    for item in verdicts:
        claimed = item.survives or shape.kind is not Kind.MISSING
        yield Outcome(
            study.gap(item.a, item.b, item.feature),
            item.verdict if claimed else Verdict.INCONCLUSIVE,
            item.gap or 0.0,
            item.marginal,
            item.simultaneous,
        )


def _of_comparators(study: Study, shape: Shape) -> dict[str, list[Outcome]]:
    truths: list[float] = []
    result: dict[str, list[GapPValues]] = {}
    for (a, b), gaps in study.truth.items():
        for feature, truth in enumerate(gaps):
            truths.append(float(truth))
            for name, tails in comparators_of(study, shape, feature, a, b).items():
                result.setdefault(name, []).append(p_values_of(tails, shape.tolerance))
    return {name: _concluded(truths, p_values) for name, p_values in result.items()}


def _concluded(truths: Sequence[float], p_values: Sequence[GapPValues]) -> list[Outcome]:
    """Conclude with both families of tests corrected by Holm."""
    apart = holm_rejects([item.p_disparity for item in p_values], ALPHA)
    within = [False] * len(p_values)
    p_equivalence = [p for item in p_values if (p := item.p_equivalence) is not None]
    if p_equivalence:
        within = holm_rejects(p_equivalence, ALPHA)
    return [
        Outcome(
            truth,
            Verdict.DISPARITY if far else Verdict.NO_DISPARITY if near else Verdict.INCONCLUSIVE,
            1.0 if gap.above else -1.0,
        )
        for truth, gap, far, near in zip(truths, p_values, apart, within, strict=True)
    ]


def _count(
    tally: Tally, outcomes: Sequence[Outcome], tolerance: float, seconds: float = 0.0
) -> None:
    """Add a run; a family is wrong if any of its verdicts is, and finds what share it finds."""
    tally.runs += 1
    tally.seconds += seconds
    tally.comparisons += len(outcomes)
    tally.false_disparities += any(_is_false_disparity(outcome, tolerance) for outcome in outcomes)
    apart = [outcome for outcome in outcomes if abs(outcome.truth) > tolerance + SLACK]
    tally.disparities.add(
        item.verdict is Verdict.DISPARITY and not _is_false_disparity(item, tolerance)
        for item in apart
    )
    if tolerance:
        beyond = [outcome for outcome in outcomes if abs(outcome.truth) >= tolerance - SLACK]
        within = [outcome for outcome in outcomes if abs(outcome.truth) < tolerance - SLACK]
        if beyond:
            tally.beyond += 1
            tally.false_equivalences += any(item.verdict is Verdict.NO_DISPARITY for item in beyond)
        tally.equivalences.add(item.verdict is Verdict.NO_DISPARITY for item in within)
    _count_intervals(tally, outcomes, tolerance)


def _count_intervals(tally: Tally, outcomes: Sequence[Outcome], tolerance: float) -> None:
    """Add what intervals cover; where none is shown, nothing false is said."""
    tally.contradictions.add(_contradicts(outcome, tolerance) for outcome in outcomes)
    tally.shown.add(outcome.marginal is not None for outcome in outcomes)
    tally.covered.add(_covers(outcome.marginal, outcome.truth) for outcome in outcomes)
    if any(outcome.simultaneous is not None for outcome in outcomes):
        tally.all_covered.add(
            [all(_covers(outcome.simultaneous, outcome.truth) for outcome in outcomes)]
        )


def _is_false_disparity(outcome: Outcome, tolerance: float) -> bool:
    if outcome.verdict is not Verdict.DISPARITY:
        return False
    apart = abs(outcome.truth) > tolerance + SLACK
    return not apart or copysign(1.0, outcome.gap) != copysign(1.0, outcome.truth)


def _contradicts(outcome: Outcome, tolerance: float) -> bool:
    """Return whether the interval shown beside a verdict says something else."""
    interval = outcome.simultaneous or outcome.marginal
    if interval is None or outcome.verdict is Verdict.INCONCLUSIVE:
        return False
    low, high = interval
    if outcome.verdict is Verdict.DISPARITY:
        return low < tolerance - SLACK and high > -tolerance + SLACK
    return low < -tolerance - SLACK or high > tolerance + SLACK


def _covers(interval: Interval | None, truth: float) -> bool:
    return interval is None or interval[0] - SLACK <= truth <= interval[1] + SLACK
