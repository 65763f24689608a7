"""What a plan says in sentences: for what, of which assumptions, and what is enough."""

from collections.abc import Sequence

from biaswatch.run_planning.observed_spread import ObservedSpread
from biaswatch.run_planning.plan import ENOUGH, MOST_REPEATS, RunPlan
from biaswatch.shared.stats.comparisons.planned_power import FURTHEST


def explained(plan: RunPlan) -> str:
    """Say what was planned for, what is assumed, and what is the least that is enough."""
    return "\n".join([_about(plan), _assumptions(plan), *_least(plan)])


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


def _least(plan: RunPlan) -> Sequence[str]:
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
    return f"Not even {FURTHEST:,} sets find the gap in {asked}: plan for a larger gap."
