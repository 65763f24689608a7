"""How small a gap a run could have found, by simulating its own tests on answers like its own."""

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
from biaswatch.planning.runs import (
    ENOUGH,
    MOST_REPEATS,
    Assumed,
    RunPlan,
    assumed_answers,
    like_a_run,
)
from biaswatch.readers.run_tables import RunColumns, RunTable, run_observations
from biaswatch.shared.contracts import Claim, Diagnosis, Verdict
from biaswatch.shared.errors import UsageError
from biaswatch.shared.stats.comparisons.planned_power import MAX_SETS, PlannedTest, simulated_power

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
        seen.repeats, _least_findable(shape, seen, test), diagnosis.family,
    )  # fmt: skip


def _least_findable(shape: ComparedShape, seen: ObservedSpread, test: PlannedTest) -> float | None:
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


def explained(plan: RunPlan) -> str:
    """Say what was planned for, what is assumed, and what is the least that is enough."""
    return "\n".join([_about(plan), _assumptions(plan), *_least_sentences(plan)])


def seen_sentence(run: str | None, seen: ObservedSpread) -> str:
    """Say what was taken from a run, and what it could not tell."""
    apart = (
        ""
        if seen.repeated
        else " No prompt of it was answered twice: how much of the spread lies between prompts is"
        " assumed."
    )
    twins = (
        "" if seen.set_correlation is not None else " It has no twins: their correlation is too."
    )
    return (
        f"Taken from run {run}, {seen.feature}: mean {seen.mean:.4g}, spread, range, {seen.repeats}"
        f" answers a prompt, {seen.missing:.1%} missing, wherever no option says otherwise."
        f"{apart}{twins}"
    )


def _about(plan: RunPlan) -> str:
    compared, test = plan.compared, plan.test
    units = "sets that both groups have" if compared.shape.pairs else f"{_single(plan)}, unpaired"
    share = f"alpha {test.alpha:g} is shared by {test.family} comparisons"
    return (
        f"Planned for {compared.a} against {compared.b} ({compared.dimension}), the comparison with"
        f" the fewest units: {compared.shape.size} {units}; {share}, tolerance {test.tolerance:g}."
    )


def _assumptions(plan: RunPlan) -> str:
    answers = plan.answers
    spread = "yes or no" if answers.sd is None else f"deviation {answers.sd:.3g} within a prompt"
    return (
        f"Assumed: means of {answers.mean_a:.4g} and {answers.mean_b:.4g}, {spread},"
        f" {answers.between_sd:.3g} between prompts, correlation of twins"
        f" {answers.set_correlation:g}, {answers.missing:.0%} of answers missing."
    )


def _least_sentences(plan: RunPlan) -> Sequence[str]:
    asked = f"{plan.power:.0%} of runs"
    enough = [row for row in plan.rows if row["suite"] == ENOUGH and row["calls"] is not None]
    if not enough:
        return [_out_of_reach(plan, asked)]
    row = min(enough, key=lambda each: each["calls"] or 0)
    more = f"{row['repeats']} repeats" if row["repeats"] != 1 else "1 repeat"
    of = "sets" if plan.compared.shape.pairs else _single(plan)
    said = f"{asked} find the gap with {row['sets']} {of} and {more}, in {row['calls']:,} calls"
    if plan.test.fixed_prompts:
        return [f"{said}. The claim is about these prompts alone, so that only repeats can change."]
    return [f"{said}: the fewest of the rows."]


def _single(plan: RunPlan) -> str:
    """Return what is counted where groups share no sets."""
    shape = plan.compared.shape
    is_family = max(shape.family_a, shape.family_b) > 1 and not plan.test.fixed_prompts
    return "families of prompts a group" if is_family else "prompts a group"


def _out_of_reach(plan: RunPlan, asked: str) -> str:
    if plan.test.fixed_prompts:
        return (
            f"Not even {MOST_REPEATS:,} repeats find the gap in {asked}; the claim is about these"
            " prompts alone, so that only repeats can change."
        )
    return f"Not even {MAX_SETS:,} sets find the gap in {asked}: plan for a larger gap."


MOST_ANSWERS = 5000
"""What is read and simulated at once; `plan --like RUN` takes any run."""


async def with_findable(client: GatewayClient, results: RunResults) -> RunResults:
    """Add how small a gap a run could have found, where it compared and found no disparity."""
    run = results.run
    gaps = list(chain.from_iterable(each.gaps for each in results.diagnoses))
    found = any(each.verdict is Verdict.DISPARITY for each in gaps)
    if found or not gaps or run.responses > MOST_ANSWERS:
        return results
    # The mathematics is slow to load.
    from biaswatch.diagnosis.sources import read_run

    table = await read_run(client, run.run_id)
    return replace(results, findable=findable_gaps(results.diagnoses, table))
