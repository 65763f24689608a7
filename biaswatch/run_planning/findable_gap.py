"""How small a gap a run could have found, by simulating its own tests on answers like its own."""

from collections.abc import Sequence
from math import sqrt

from biaswatch.local.run_results import POWER, FindableGap
from biaswatch.readers.run_tables import RunColumns, RunTable, run_observations
from biaswatch.run_planning.observed_spread import ObservedSpread, observed_spread
from biaswatch.run_planning.plan import Assumed, assumed_answers, like_a_run
from biaswatch.run_planning.suite_shape import ComparedShape, observed_shapes, smallest
from biaswatch.shared.contracts import Claim, Diagnosis, Verdict
from biaswatch.shared.errors import UsageError
from biaswatch.shared.stats.comparisons.planned_power import PlannedTest, simulated_power

SIMULATIONS, STEPS = 100, 6
"""The gap is found to a 64th of the widest that can be; the power to .04."""
MOST_FEATURES = 3
MOST_UNITS = 500
"""Of a side: a simulation of more takes seconds, and a run of as many finds small gaps."""
NARROWER = 0.8
WIDEST = 6.0
"""Deviations: a gap that is looked for where values have no range."""


def findable_gaps(diagnoses: Sequence[Diagnosis], table: RunTable) -> list[FindableGap]:
    """Return what a run without any disparity could have found, of its first features.

    Of each feature it is the comparison with the fewest units; empty where something was found,
    or where a comparison is too large to be simulated at once, or its answers are all alike.
    """
    compared = [each for each in diagnoses if each.gaps and not each.stratum]
    if any(gap.verdict is Verdict.DISPARITY for each in compared for gap in each.gaps):
        return []
    first = {each.feature: each for each in reversed(compared)}
    found = (_of(first[name], table) for name in sorted(first)[:MOST_FEATURES])
    return [each for each in found if each is not None]


def _of(diagnosis: Diagnosis, table: RunTable) -> FindableGap | None:
    columns = RunColumns(
        features=[f"{diagnosis.extractor}.{diagnosis.feature}"],
        targets=[diagnosis.target],
        scaffolds=[diagnosis.scaffold],
    )
    rows = run_observations(table, columns)
    try:
        shape = smallest(observed_shapes(rows, table.declared.compared), None)
        seen = observed_spread(rows, shape.dimension)
    except UsageError:  # too few answers have values: the findings say so
        return None
    flat = not seen.sd and not seen.between_sd
    if shape.shape.size > MOST_UNITS or flat:
        return None
    test = PlannedTest(
        diagnosis.alpha, table.declared.tolerance or 0.0, diagnosis.family,
        fixed_prompts=table.declared.claim is Claim.BANK, guessed=rows.is_guessed(0),
    )  # fmt: skip
    return FindableGap(
        diagnosis.target, diagnosis.feature, shape.dimension, shape.a, shape.b, shape.shape.size,
        seen.repeats, _least(shape, seen, test), diagnosis.family,
    )  # fmt: skip


def _least(shape: ComparedShape, seen: ObservedSpread, test: PlannedTest) -> float | None:
    """Return the least gap with enough power, by halving; power grows with the gap."""
    low, high = test.tolerance, _widest(seen)
    if high is None or high <= low or not _is_found(shape, seen, test, high):
        return None
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if _is_found(shape, seen, test, middle) else (middle, high)
    return high


def _widest(seen: ObservedSpread) -> float | None:
    """Return nearly the largest gap that groups about the run's mean can have with its spread."""
    gap = WIDEST * sqrt((seen.sd or 0.5) ** 2 + seen.between_sd**2)
    if seen.bounds is not None:
        low, high = seen.bounds
        gap = min(gap, 2 * min(seen.mean - low, high - seen.mean))
    for _ in range(STEPS):
        try:
            assumed_answers(like_a_run(Assumed(gap), seen))
        except ValueError:  # no answers have such means and such a spread
            gap *= NARROWER
        else:
            return gap
    return None


def _is_found(shape: ComparedShape, seen: ObservedSpread, test: PlannedTest, gap: float) -> bool:
    answers = assumed_answers(like_a_run(Assumed(gap), seen))
    power = simulated_power(shape.shape, seen.repeats, answers, test, runs=SIMULATIONS)
    return power >= POWER
