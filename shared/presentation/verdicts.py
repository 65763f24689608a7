"""Verdicts in sentences: the headline, its reason, and remarks on the scope and other questions."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from biaswatch.shared.contracts.diagnosis import Verdicts
from biaswatch.shared.formatting import COULD_UNDO, number, p_equals
from biaswatch.shared.presentation.questions import question_remarks
from biaswatch.shared.stats.estimate import DIFFERS, TOO_FEW, Question, SummaryWord, Verdict

SHIFTS = (
    "An interval contains every gap that the test would not reject if all twins had the same gap."
)
MEAN_GAPS = "With a known range, the mean gap's interval also allows for rare, far larger shifts."
ANSWERED = {
    Question.SAME_TREATMENT: "whether twins are treated differently",
    Question.GROUP_EFFECT: "whether the group matters",
    Question.GAP: "whether the mean gap exceeds the tolerance of {tolerance}",
}
"""The statement of a verdict, by its headline question."""
VERDICT_COLUMNS = (
    "summary",
    *("same_treatment", "p_same_treatment", "same_treatment_reason"),
    *("group_effect", "p_group_effect", "group_effect_reason"),
    *("verdict", "headline", "scope", "twin_rate", "placebo_rate"),
)


def headline(
    verdicts: Verdicts, gap: str, p_adjusted: float | None, *, survives_missing: bool | None = None
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
    p = p_equals(verdicts.p_same_treatment, 3)
    if verdicts.summary is SummaryWord.NO_DISPARITY:
        return f"no disparity beyond the tolerance ({gap}){scope}{undone}."
    if verdicts.summary is SummaryWord.INCONCLUSIVE:
        if question is Question.SAME_TREATMENT and verdicts.same_treatment == DIFFERS:
            return (
                f"inconclusive{scope} ({gap}): twins are treated differently, adjusted {p}, but"
                f" there are {verdicts.group_effect} for a conclusion about the"
                f" group{_placebo(verdicts)}."
            )
        if question is Question.SAME_TREATMENT and verdicts.verdict is Verdict.DISPARITY:
            return (
                f"inconclusive{scope} ({gap}): twins are not shown to be treated differently,"
                f" adjusted {p}."
            )
        return f"inconclusive{scope} ({gap})."
    if question is Question.SAME_TREATMENT:
        return (
            f"a disparity: twins are treated differently, adjusted {p}{scope}; the gap is"
            f" {gap}{_placebo(verdicts)}{undone}."
        )
    p_value = verdicts.p_group_effect if question is Question.GROUP_EFFECT else p_adjusted
    return f"a disparity of {gap}, adjusted {p_equals(p_value, 3)}{scope}{undone}."


def _placebo(verdicts: Verdicts) -> str:
    """Return how often placebo twins are answered differently, where there are some."""
    if verdicts.placebo_rate is None or verdicts.twin_rate is None:
        return ""
    return (
        f"; {100 * verdicts.twin_rate:.0f} % of twins and {100 * verdicts.placebo_rate:.0f} % of"
        " placebo twins were answered differently"
    )


def compared_groups(a: str, b: str, gap: float | None, summary: SummaryWord) -> str:
    """Return two groups with the direction of a disparity.

    >>> compared_groups("black", "white", -0.2, SummaryWord.DISPARITY)
    'black lower than white'
    >>> compared_groups("black", "white", -0.2, SummaryWord.INCONCLUSIVE)
    'black against white'
    """
    if summary is not SummaryWord.DISPARITY or not gap:
        return f"{a} against {b}"
    return f"{a} {'higher' if gap > 0 else 'lower'} than {b}"


def verdict_reason(verdicts: Verdicts, reason: str | None) -> str:
    """Return the reason for a verdict, by its headline question."""
    if verdicts.headline is Question.SAME_TREATMENT and verdicts.p_same_treatment is not None:
        shown = "" if verdicts.same_treatment == DIFFERS else "not shown to be "
        return f"twins are {shown}treated differently"
    if verdicts.headline is Question.GROUP_EFFECT and verdicts.p_group_effect is not None:
        is_shown = verdicts.group_effect == DIFFERS
        return "the group matters" if is_shown else "no group effect is shown"
    return reason or ""


def verdict_columns(verdicts: Verdicts) -> dict[str, Any]:
    """Return the answers to the three questions, and the word for all of them."""
    columns = verdicts.model_dump(mode="json", include=set(VERDICT_COLUMNS))
    return {name: columns[name] for name in VERDICT_COLUMNS}


def verdict_remarks(
    verdicts: Sequence[Verdicts],
    family: int,
    p_anywhere: float | None,
    alpha: float,
    tolerance: float,
    *,
    assigned: bool = False,
    reasons: bool = True,
    shifts: bool = False,
) -> Iterator[str]:
    """Yield what the verdicts are about, then the remarks on the other questions.

    Parameters
    ----------
    verdicts
        Of all comparisons of a table.
    family
        The number of comparisons that were corrected together.
    p_anywhere
        For twins that are treated alike in all of them.
    alpha
        The level of the family.
    tolerance
        The largest gap that does not matter.
    assigned
        True if labels were assigned to units at random.
    reasons
        False to leave out why a question is not answered, and what a disparity makes obvious.
    shifts
        True if intervals of constant shifts are shown.
    """
    if not verdicts:
        return
    yield from verdict_scopes(verdicts, tolerance, shifts=shifts)
    if shifts and reasons:
        yield MEAN_GAPS
    few = Counter(filter(None, map(_too_few_reason, verdicts)))
    if few:
        factors = " and ".join(
            dict.fromkeys(map(_too_few_factor, filter(_too_few_reason, verdicts)))
        )
        yield (
            f"{'; '.join(few)}. Until then, the summary is a disparity only if twins differ (column"
            f" twins, about these {factors} alone) and the gap's interval, which takes {factors} as"
            " clusters, excludes 0."
        )
    if any(row.placebo_rate is not None for row in verdicts):
        yield (
            "Shares: twins, and placebo twins (which differ, but not in the group), that were"
            " answered differently."
        )
    explained = () if assigned else {row.headline for row in verdicts}
    yield from question_remarks(
        verdicts, assigned=assigned, reasons=reasons, explained=explained, stated=few
    )
    some_differ = any(row.same_treatment == DIFFERS for row in verdicts)
    if family > 1 and p_anywhere is not None and (reasons or not some_differ):
        yield from _family_remark(family, p_anywhere, alpha, some_differ=some_differ)


def _family_remark(
    family: int, p_anywhere: float, alpha: float, *, some_differ: bool
) -> Iterator[str]:
    """Yield the test of all comparisons together, unless one by itself shows more."""
    if p_anywhere <= alpha or not some_differ:
        are = "are" if p_anywhere <= alpha else "are not shown to be"
        where = "somewhere" if p_anywhere <= alpha else "anywhere"
        lead = f"Over all {family} comparisons together, twins {are} treated differently"
        yield f"{lead} {where} ({p_equals(p_anywhere)})."


def _too_few_reason(verdicts: Verdicts) -> str | None:
    """Return why a random factor has too few values, where twins decide the verdict."""
    is_few = (verdicts.group_effect or "").startswith(TOO_FEW)
    is_about_twins = verdicts.headline is Question.SAME_TREATMENT
    return verdicts.group_effect_reason if is_few and is_about_twins else None


def _too_few_factor(verdicts: Verdicts) -> str:
    """Return the random factor with too few values: `names`."""
    return (verdicts.group_effect or "").removeprefix(TOO_FEW).strip()


def verdict_scopes(
    verdicts: Sequence[Verdicts], tolerance: float, *, shifts: bool = False
) -> Iterator[str]:
    """Yield the question of the verdicts, their scope, and the meaning of intervals."""
    by_twins_alone = {
        (row.headline, row.scope) for row in verdicts if not shifts and _is_by_twins_alone(row)
    }
    headlines = Counter((row.headline, row.scope) for row in verdicts)
    for (headline, scope), count in headlines.items():
        noun = f"{count} comparison{'' if count == 1 else 's'}"
        which = "The summary" if len(headlines) == 1 else f"The summary of {noun}"
        answered = ANSWERED[headline].format(tolerance=number(tolerance))
        about = f", {scope}" if scope else ""
        if len(headlines) > 1 or (headline, scope) not in by_twins_alone:
            yield f"{which} says {answered}{about}."
        if (headline, scope) in by_twins_alone:
            yield (
                f"Disparity: twins are treated differently{about} (exchange of labels within sets);"
                " the interval of the mean gap may still include 0, as rare extreme answers may be"
                " missing from the data."
            )
    if shifts:
        yield SHIFTS


def _is_by_twins_alone(verdicts: Verdicts) -> bool:
    """Return whether twins alone show a disparity, not the mean gap."""
    return (
        verdicts.headline is Question.SAME_TREATMENT
        and verdicts.summary is SummaryWord.DISPARITY
        and verdicts.verdict is not Verdict.DISPARITY
    )
