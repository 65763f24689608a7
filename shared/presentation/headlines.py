"""The headline of a comparison in one sentence, and its answers as columns."""

from typing import Any

from biaswatch.shared.contracts.diagnosis import Verdicts
from biaswatch.shared.formatting import COULD_UNDO, p_equals
from biaswatch.shared.stats.estimate import DIFFERS, Question, SummaryWord

VERDICT_COLUMNS = (
    *("same_treatment", "p_same_treatment", "same_treatment_reason"),
    *("group_effect", "p_group_effect", "group_effect_reason"),
    *("verdict", "headline", "scope", "summary", "twin_rate", "placebo_rate"),
)


def verdict_columns(verdicts: Verdicts) -> dict[str, Any]:
    """Return the answers to the three questions, and the word for all of them."""
    columns = verdicts.model_dump(mode="json", include=set(VERDICT_COLUMNS))
    return {name: columns[name] for name in VERDICT_COLUMNS}


def headline(
    verdicts: Verdicts,
    gap: str,
    p_adjusted: float | None,
    *,
    survives_missing: bool | None = None,
    family: str = "adjusted ",
) -> str:
    """Return the answer to the headline question in words.

    Parameters
    ----------
    verdicts
        The answers to the three questions.
    gap
        The gap with its interval, as text.
    p_adjusted
        The corrected p-value of the gap.
    survives_missing
        False if the missing answers could overturn the answer.
    """
    question, scope = verdicts.headline, f", {verdicts.scope}" if verdicts.scope else ""
    undone = f", but {COULD_UNDO}" if survives_missing is False else ""
    if verdicts.summary is SummaryWord.NO_DISPARITY:
        return f"no disparity beyond the tolerance ({gap}){scope}{undone}."
    if verdicts.summary is SummaryWord.INCONCLUSIVE:
        if question is Question.SAME_TREATMENT and verdicts.same_treatment == DIFFERS:
            p = p_equals(verdicts.p_same_treatment, 3)
            return (
                f"inconclusive{scope} ({gap}): twins are treated differently, {family}{p}, with"
                f" {verdicts.group_effect} for a conclusion about the group{_placebo(verdicts)}."
            )
        return f"inconclusive{scope} ({gap})."
    if question is Question.SAME_TREATMENT:
        p = p_equals(verdicts.p_same_treatment, 3)
        return (
            f"a disparity: twins are treated differently, {family}{p}{scope}; the mean gap is"
            f" {gap}{_placebo(verdicts)}{undone}."
        )
    p_value = verdicts.p_group_effect if question is Question.GROUP_EFFECT else p_adjusted
    return f"a disparity of {gap}, {family}{p_equals(p_value, 3)}{scope}{undone}."


def _placebo(verdicts: Verdicts) -> str:
    """Return how often placebo twins are answered differently, where there are some."""
    if verdicts.placebo_rate is None or verdicts.twin_rate is None:
        return ""
    return (
        f"; {100 * verdicts.twin_rate:.0f} % of twins and {100 * verdicts.placebo_rate:.0f} % of"
        " placebo twins were answered differently"
    )
