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
from biaswatch.planning.runs import (
    ENOUGH,
    MOST_REPEATS,
    RunAssumptions,
    RunPlan,
    assumed_answers,
    like_a_run,
)
from biaswatch.readers.run_tables import RunTable
from biaswatch.shared.contracts import Claim, Diagnosis, SummaryWord
from biaswatch.shared.errors import UsageError
from biaswatch.shared.stats.comparisons.planned_power import MAX_SETS, simulated_power
from biaswatch.shared.stats.comparisons.simulated_studies import PlannedTest
from biaswatch.shared.stats.estimate import Question

SIMULATIONS, STEPS = 100, 6
"""Precision: 1/64 of the largest possible gap, and a standard error of .04 of the power."""
MOST_FEATURES = 3
MOST_UNITS = 500
"""Limit of units per side: larger simulations take seconds, and such runs find small gaps."""
NARROWER = 0.8
HEADLINES = {
    Question.GAP: "that the gap is larger than the tolerance",
    Question.GROUP_EFFECT: "that the group matters beyond these names and texts",
    Question.SAME_TREATMENT: "that twins are treated differently",
}
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


def explained(plan: RunPlan) -> str:
    """Return the comparison, the assumptions and the smallest sufficient run in prose."""
    return "\n".join([_about(plan), _assumptions(plan), *_least_sentences(plan)])


def seen_sentence(run: str | None, seen: ObservedSpread) -> str:
    """Return a sentence on the values taken from a run, and on those still assumed."""
    values = (
        f"Taken from run {run}, {seen.feature}, unless an option sets another value: mean"
        f" {seen.mean:.4g}, spread, range, {seen.repeats} answers per prompt, {seen.missing:.1%}"
        " missing."
    )
    parts = [values]
    if not seen.repeated:
        parts.append("It has no repeats, so the spread between prompts is assumed.")
    if seen.set_correlation is None:
        parts.append("It has no twins, so their correlation is assumed.")
    return " ".join(parts)


def _about(plan: RunPlan) -> str:
    compared, test = plan.compared, plan.test
    units = "sets with both groups" if compared.shape.pairs else f"{_single(plan)}, unpaired"
    share = f"Alpha {test.alpha:g}"
    if test.family > 1:
        share += f" is shared by {test.family} comparisons"
    headline = compared.shape.headline(test.tolerance)
    about = HEADLINES[Question.GAP if test.fixed_prompts else headline]
    return (
        f"Planned for {compared.a} against {compared.b} ({compared.dimension}), the comparison with"
        f" the fewest units: {compared.shape.size} {units}. {share}; tolerance {test.tolerance:g}."
        f" Power is the share of runs that answer {about}."
    )


def _assumptions(plan: RunPlan) -> str:
    answers = plan.answers
    spread = "yes or no" if answers.sd is None else f"deviation {answers.sd:.3g} within a prompt"
    rounded = " before rounding" if answers.is_rated else ""
    named = any(plan.compared.shape.names or ())
    names = f", {answers.name_sd:.3g} between names" if named else ""
    return (
        f"Assumed: means of {answers.mean_a:.4g} and {answers.mean_b:.4g}, {spread}"
        f"{rounded}, {answers.between_sd:.3g} between prompts{names}, correlation of twins"
        f" {answers.set_correlation:g}, {answers.missing:.0%} of answers missing."
    )


def _least_sentences(plan: RunPlan) -> Sequence[str]:
    share = f"{plan.power:.0%} of runs"
    enough = [row for row in plan.rows if row["suite"] == ENOUGH and row["calls"] is not None]
    if not enough:
        return [_out_of_reach(plan, share)]
    best = min(enough, key=lambda row: row["calls"] or 0)
    repeats = f"{best['repeats']} repeats" if best["repeats"] != 1 else "1 repeat"
    units = "sets" if plan.compared.shape.pairs else _single(plan)
    calls = f"{best['calls']:,} calls"
    size = f"{share} find the gap with {best['sets']} {units} and {repeats}, in {calls}"
    if plan.test.fixed_prompts:
        return [f"{size}. The claim is about these prompts alone, so only more repeats help."]
    return [f"{size}: the fewest of the rows."]


def _single(plan: RunPlan) -> str:
    """Return the name of the units of groups that share no sets."""
    shape = plan.compared.shape
    is_family = max(shape.family_a, shape.family_b) > 1 and not plan.test.fixed_prompts
    return "families of prompts a group" if is_family else "prompts a group"


def _out_of_reach(plan: RunPlan, share: str) -> str:
    if plan.test.fixed_prompts:
        return (
            f"Not even {MOST_REPEATS:,} repeats find the gap in {share}; the claim is about these"
            " prompts alone, so only more repeats help."
        )
    return f"Not even {MAX_SETS:,} sets find the gap in {share}: plan for a larger gap."


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
