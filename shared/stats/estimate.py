"""An estimate with its interval, the three questions with their verdicts, the check of a level.

Contracts carry these types as they are, and services without numpy import them: this module
imports only the standard library.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar


class Verdict(StrEnum):
    """Conclusion about a gap and its tolerance."""

    DISPARITY = "disparity"
    NO_DISPARITY = "no_disparity"
    INCONCLUSIVE = "inconclusive"


class SummaryWord(StrEnum):
    """The one word for all verdicts of a comparison: gates, alarms and badges read it."""

    DISPARITY = "disparity"
    """The headline question is answered yes."""
    NO_DISPARITY = "no_disparity"
    """The interval lies within the tolerance."""
    INCONCLUSIVE = "inconclusive"
    NOT_MEASURED = "not_measured"


WORD_OF_VERDICT = {verdict: SummaryWord(verdict.value) for verdict in Verdict}


class Question(StrEnum):
    """The three questions about a comparison of groups."""

    SAME_TREATMENT = "same_treatment"
    """Are twins treated differently? About these names and texts."""
    GROUP_EFFECT = "group_effect"
    """Does the group matter beyond these names and texts?"""
    GAP = "gap"
    """Is the mean gap beyond the tolerance, or within it?"""


DIFFERS, NOT_SHOWN = "differs", "not shown"
"""Answers to the first two questions; a third answer to the second is that of `too_few`."""
TOO_FEW = "too few"
MIN_FACTOR_LEVELS = 5
"""Names per group, or texts, that the question about the group needs."""


def too_few(factor: str) -> str:
    """Return the answer of a group effect whose random factor has too few values.

    Examples
    --------
    >>> too_few("name")
    'too few names'
    """
    return f"{TOO_FEW} {factor}s"


def planned_headline(*, tolerance: float, has_random_factors: bool, has_twins: bool) -> Question:
    """Return the headline question of a comparison, from its plan and never from its answers.

    Parameters
    ----------
    tolerance
        The largest gap that does not matter.
    has_random_factors
        True where random factors are declared and have enough values in both groups.
    has_twins
        True where twins are compared, or labels were assigned at random.

    Examples
    --------
    >>> planned_headline(tolerance=0.0, has_random_factors=False, has_twins=True)
    <Question.SAME_TREATMENT: 'same_treatment'>
    """
    if tolerance > 0:
        return Question.GAP
    if has_random_factors:
        return Question.GROUP_EFFECT
    return Question.SAME_TREATMENT if has_twins else Question.GAP


def summary_of(
    headline: Question,
    *,
    verdict: Verdict,
    same_treatment: str | None,
    group_effect: str | None,
    is_measured: bool = True,
) -> SummaryWord:
    """Return the one word for the verdicts of a comparison.

    A disparity is a headline question that is answered yes. No disparity is an interval within the
    tolerance. Anything else is inconclusive, or not measured where a group has no answer. Where
    names are declared as random and are too few, different treatment of twins may be an effect of
    these names: then the gap, which takes names as clusters, has to be a disparity, too.

    Examples
    --------
    >>> answers = {"same_treatment": "differs", "group_effect": None}
    >>> summary_of(Question.SAME_TREATMENT, verdict=Verdict.INCONCLUSIVE, **answers)
    <SummaryWord.DISPARITY: 'disparity'>
    """
    if not is_measured:
        return SummaryWord.NOT_MEASURED
    if headline is Question.GAP or verdict is Verdict.NO_DISPARITY:
        return WORD_OF_VERDICT[verdict]
    by_twins = answered_by_twins(headline, group_effect)
    if headline is Question.SAME_TREATMENT and not by_twins and verdict is not Verdict.DISPARITY:
        return SummaryWord.INCONCLUSIVE
    answer = same_treatment if headline is Question.SAME_TREATMENT else group_effect
    return SummaryWord.DISPARITY if answer == DIFFERS else SummaryWord.INCONCLUSIVE


def answered_by_twins(headline: Question, group_effect: str | None) -> bool:
    """Return whether the treatment of twins alone decides the summary.

    Parameters
    ----------
    headline
        The question of the headline.
    group_effect
        Its answer; `too few` of a random factor needs the gap, too.
    """
    is_few = group_effect is not None and group_effect.startswith(TOO_FEW)
    return headline is Question.SAME_TREATMENT and not is_few


@dataclass(frozen=True)
class Estimate:
    """A number with its interval, or why there is none: what is undefined is null, never 0."""

    __pydantic_config__: ClassVar = {
        "extra": "ignore",
        "use_attribute_docstrings": True,
        "allow_inf_nan": False,
    }

    value: float | None = field(default=None, metadata={"description": "The number."})
    low: float | None = field(
        default=None, metadata={"description": "The lower end of its interval."}
    )
    high: float | None = field(
        default=None, metadata={"description": "The upper end of its interval."}
    )
    method: str = field(default="", metadata={"description": "How the interval was made."})
    reason: str | None = field(
        default=None, metadata={"description": "Why the number or its interval is undefined."}
    )

    def __neg__(self) -> "Estimate":
        """Return the estimate of the opposite number: ends change places."""
        return Estimate(
            value=None if self.value is None else -self.value,
            low=None if self.high is None else -self.high,
            high=None if self.low is None else -self.low,
            method=self.method,
            reason=self.reason,
        )


def undefined(reason: str, *, value: float | None = None, method: str = "") -> Estimate:
    """Return an estimate without an interval, or without a value too, and the reason."""
    return Estimate(value=value, method=method, reason=reason)


def check_alpha(alpha: float) -> None:
    """Raise ValueError, with one sentence, unless alpha lies between 0 and 1."""
    if not 0 < alpha < 1:
        raise ValueError(f"alpha is {alpha:g}, but it has to lie between 0 and 1.")
