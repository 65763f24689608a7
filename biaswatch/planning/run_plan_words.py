"""Describe a planned run in prose."""

from collections.abc import Sequence

from biaswatch.planning.observed import ObservedSpread
from biaswatch.planning.runs import ENOUGH, MOST_REPEATS, RunPlan
from biaswatch.shared.stats.comparisons.planned_power import MAX_SETS
from biaswatch.shared.stats.estimate import Question

HEADLINES = {
    Question.GAP: "that the gap is larger than the tolerance",
    Question.GROUP_EFFECT: "that the group matters beyond these names and texts",
    Question.SAME_TREATMENT: "that twins are treated differently",
}


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
    size = f"At least {share} find the gap with {best['sets']} {units} and {repeats}, in {calls}"
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
