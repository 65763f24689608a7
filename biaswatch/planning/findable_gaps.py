"""Estimate the smallest gap that a run could have found, by simulating its tests."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from math import sqrt

from biaswatch.local.client import GatewayClient
from biaswatch.local.runs import POWER, FindableGap, RunResults
from biaswatch.planning.observed import (
    ComparedShape,
    ObservedSpread,
    observed_shapes,
    observed_spread,
    smallest,
)
from biaswatch.planning.runs import RunAssumptions, assumed_answers, like_a_run
from biaswatch.readers.run_tables import RunTable
from biaswatch.shared.contracts import Claim, Diagnosis, SummaryWord
from biaswatch.shared.errors import UsageError
from biaswatch.shared.stats.comparisons.planned_power import simulated_power
from biaswatch.shared.stats.comparisons.simulated_studies import PlannedTest

SIMULATIONS, STEPS = 100, 6
"""Precision: 1/64 of the largest possible gap, and a standard error of .04 of the power."""
MOST_FEATURES = 3
MOST_UNITS = 500
"""Limit of units per side: larger simulations take seconds, and such runs find small gaps."""
NARROWER = 0.8
WIDEST = 6.0
"""Largest gap considered for values without a range, in standard deviations."""


def findable_gaps(diagnoses: Sequence[Diagnosis], table: RunTable) -> list[FindableGap]:
    """Return the smallest gap that a run without disparities could have found, by feature.

    Uses the comparison with the fewest units of each of the first features. Empty for runs with a
    disparity; comparisons that are too large to simulate, or without variation, are left out.
    """
    compared = [diagnosis for diagnosis in diagnoses if diagnosis.gaps and not diagnosis.stratum]
    if any(gap.summary is SummaryWord.DISPARITY for row in compared for gap in row.gaps):
        return []
    # Features by level of a stratum are not columns of the table.
    measured = [of for of in compared if f"{of.extractor}.{of.feature}" in table.features]
    first = {diagnosis.feature: diagnosis for diagnosis in reversed(measured)}
    gaps = (_findable_gap(first[name], table) for name in sorted(first)[:MOST_FEATURES])
    return [gap for gap in gaps if gap is not None]


def _findable_gap(diagnosis: Diagnosis, table: RunTable) -> FindableGap | None:
    from biaswatch.readers.run_observations import RunColumns, run_observations  # loads pandas

    columns = RunColumns(
        features=[f"{diagnosis.extractor}.{diagnosis.feature}"],
        targets=[diagnosis.target],
        scaffolds=[diagnosis.scaffold],
    )
    rows = run_observations(table, columns)
    try:
        shape = smallest(observed_shapes(rows, table.declared.compared), None)
        seen = observed_spread(rows, shape.dimension)
    except UsageError:  # too few answers have values, as the findings report
        return None
    if shape.shape.size > MOST_UNITS or not (seen.sd or seen.between_sd):
        return None
    test = PlannedTest(
        diagnosis.alpha, table.declared.tolerance or 0.0, diagnosis.family,
        fixed_prompts=table.declared.claim is Claim.BANK, guessed=rows.is_guessed(0),
    )  # fmt: skip
    return FindableGap(
        diagnosis.target, diagnosis.feature, shape.dimension, shape.a, shape.b, shape.shape.size,
        seen.repeats, _least_findable(shape, seen, test), diagnosis.family,
    )  # fmt: skip


def _least_findable(shape: ComparedShape, seen: ObservedSpread, test: PlannedTest) -> float | None:
    """Return the smallest gap with enough power, by bisection; power grows with the gap."""
    low, high = test.tolerance, _widest(seen)
    if high is None or high <= low or not _has_power(shape, seen, test, high):
        return None
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if _has_power(shape, seen, test, middle) else (middle, high)
    return high


def _widest(seen: ObservedSpread) -> float | None:
    """Return about the largest gap that is possible with the run's mean and spread."""
    gap = WIDEST * sqrt((seen.sd or 0.5) ** 2 + seen.between_sd**2)
    if seen.bounds is not None:
        low, high = seen.bounds
        gap = min(gap, 2 * min(seen.mean - low, high - seen.mean))
    for _ in range(STEPS):
        try:
            assumed_answers(like_a_run(RunAssumptions(gap), seen))
        except ValueError:  # these means are impossible with this spread
            gap *= NARROWER
        else:
            return gap
    return None


def _has_power(shape: ComparedShape, seen: ObservedSpread, test: PlannedTest, gap: float) -> bool:
    answers = assumed_answers(like_a_run(RunAssumptions(gap), seen))
    power = simulated_power(shape.shape, seen.repeats, answers, test, runs=SIMULATIONS)
    return power >= POWER


MOST_ANSWERS = 5000
"""Answers of a run that is read and simulated by default; `plan --like RUN` has no limit."""


async def with_findable(client: GatewayClient, results: RunResults) -> RunResults:
    """Add the smallest findable gap to the results of a run without disparities."""
    gaps = list(chain.from_iterable(diagnosis.gaps for diagnosis in results.diagnoses))
    has_disparity = any(gap.summary is SummaryWord.DISPARITY for gap in gaps)
    if has_disparity or not gaps or results.run.responses > MOST_ANSWERS:
        return results
    # The mathematics is slow to load.
    from biaswatch.diagnosis.sources import read_run

    table = await read_run(client, results.run.run_id)
    return replace(results, findable=findable_gaps(results.diagnoses, table))
