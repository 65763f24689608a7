"""The answers to the three questions about one comparison, and what the headline is about."""

from biaswatch.shared.analysis.findings.factors import few_reason, sure_factor
from biaswatch.shared.analysis.findings.groupings import ComparisonPlan
from biaswatch.shared.analysis.findings.twins import NO_TWINS
from biaswatch.shared.contracts.diagnosis import Verdicts
from biaswatch.shared.stats.comparisons.random_factors import NO_FACTOR, FactorGap, nested_p
from biaswatch.shared.stats.estimate import (
    DIFFERS,
    NOT_SHOWN,
    Question,
    Verdict,
    planned_headline,
    too_few,
)

UNTESTED = "the twins have no answers to compare"
NOT_DRAWN = (
    "probabilities are not drawn, so any two names differ: that is compared with placebo twins with"
    " names of one group, which the suite lacks"
)


def verdicts_of(
    p_same: float | None,
    factor: FactorGap | None,
    effect: float | None,
    plan: ComparisonPlan,
    *,
    planned_few: bool,
    twin_rate: float | None,
    placebo_rate: float | None,
    drawn: bool = True,
) -> Verdicts:
    """Return the answers, but for the verdict about the gap.

    Parameters
    ----------
    p_same
        For twins that are treated alike, corrected; None without a test.
    factor
        The gap with random factors as clusters, where some are declared.
    effect
        For no effect of the group, corrected; None without a test.
    plan
        The plan of the comparisons.
    planned_few
        True if the plan has too few values of a random factor.
    twin_rate
        The share of twins that were answered differently; None without twins.
    placebo_rate
        The same share of placebo twins, with names of one group; None without them.
    drawn
        False for answers that a repeat would not change: any two twins differ, and `p_same` is for
        twins that differ no more than placebo twins do. The other questions do not depend on it.
    """
    p_effect = nested_p(effect, p_same if drawn else None)
    effect_reason = factor.reason if factor else NO_FACTOR
    group_effect = _answer(p_effect, plan.alpha)
    if factor is not None and factor.few:
        group_effect, p_effect = too_few(factor.few[0]), None
        effect_reason = few_reason(factor)
    headline = planned_headline(
        tolerance=plan.tolerance,
        has_random_factors=factor is not None and not planned_few,
        has_twins=twin_rate is not None,
    )
    return Verdicts(
        same_treatment=_answer(p_same, plan.alpha),
        p_same_treatment=p_same,
        same_treatment_reason=None if p_same is not None else _untested(twin_rate, drawn=drawn),
        group_effect=group_effect,
        p_group_effect=p_effect,
        group_effect_reason=None if p_effect is not None else effect_reason,
        verdict=Verdict.INCONCLUSIVE,
        headline=headline,
        scope=_scope(headline, factor),
        twin_rate=twin_rate,
        placebo_rate=placebo_rate,
    )


def _untested(twin_rate: float | None, *, drawn: bool) -> str:
    if not drawn:
        return NOT_DRAWN
    return NO_TWINS if twin_rate is None else UNTESTED


def _answer(p_value: float | None, alpha: float) -> str | None:
    if p_value is None:
        return None
    return DIFFERS if p_value <= alpha else NOT_SHOWN


def _scope(headline: Question, factor: FactorGap | None) -> str:
    """Return what the headline is about in words; empty for a gap of all prompts."""
    if factor is None:
        same = headline is Question.SAME_TREATMENT
        return "about these names and texts" if same else ""
    if factor.few:
        return f"about these {_plurals(factor.few)}"
    if (few := sure_factor(factor)) is not None:
        return f"about these {_plurals([few])}"
    where = "about" if headline is Question.SAME_TREATMENT else "beyond"
    return f"{where} these {_plurals([level.factor for level in factor.levels])}"


def _plurals(factors: "list[str] | tuple[str, ...]") -> str:
    *leading, last = (f"{factor}s" for factor in factors)
    return f"{', '.join(leading)} and {last}" if leading else last
