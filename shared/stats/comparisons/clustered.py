"""Comparisons of two groups whose responses cluster in prompts."""

import numpy as np
import statsmodels.api as sm
from scipy import stats

from shared.stats.comparisons.clusters import (
    AnsweredPrompts,
    Answers,
    Comparison,
    Sums,
    counted,
    error_of,
    gap_of,
    sums_by_prompt,
    too_few,
)
from shared.stats.comparisons.means_and_rates import ROUNDING, MeanDifference, difference
from shared.stats.estimate import IntervalEstimate, Vector, check_alpha, undefined

BALANCED_FROM = 30
"""With so many prompts in the smaller group, unequal numbers no longer mislead the sandwich."""


def between_prompts(a: Answers, b: Answers, alpha: float) -> Comparison:
    """Compare the means of prompt means, prompts independent between groups (Welch's t).

    Every prompt counts the same, however many answers it has. Prompts without any finite answer
    are left out. Where groups share prompts this ignores the pairing and is too careful:
    use `within_prompts`.

    References
    ----------
    Welch (1947), The generalization of Student's problem.
    """
    check_alpha(alpha)
    x, y = AnsweredPrompts.of(a), AnsweredPrompts.of(b)
    found = difference(sorted(x.means().values()), sorted(y.means().values()), alpha, paired=False)
    return counted(x, y, found)


def within_prompts(a: Answers, b: Answers, alpha: float) -> Comparison:
    """Compare the means of the prompts (or sets) that both groups answered: paired t.

    Prompts that one group alone answered are left out of the difference; `prompts_shared` says how
    many pairs remain. Every prompt counts the same.

    References
    ----------
    Student (1908), The probable error of a mean.
    """
    check_alpha(alpha)
    x, y = AnsweredPrompts.of(a), AnsweredPrompts.of(b)
    in_a, in_b = x.means(), y.means()
    pairs = sorted((in_a[prompt], in_b[prompt]) for prompt in in_a.keys() & in_b.keys())
    found = difference([p for p, _ in pairs], [p for _, p in pairs], alpha, paired=True)
    if not pairs:
        reason = undefined("the groups share no prompt", method="paired t over sets")
        found = MeanDifference(reason, None)
    return counted(x, y, found)


def cluster_robust(a: Answers, b: Answers, alpha: float) -> Comparison:
    """Compare the means of answers by least squares with errors clustered in prompts.

    Every answer counts the same, so the difference is not that of `between_prompts` where prompts
    have unequal numbers of answers. A prompt of both groups is one cluster, which pairs it. The
    sandwich has statsmodels' small-sample factor G/(G-1) (N-1)/(N-2) and t has G - 1 degrees of
    freedom, G being the number of prompts.

    Without an interval where a group has fewer than 10 prompts, or fewer than 30 and less than half
    as many as the other: the sandwich is then too small (10 against 100 prompts reject 8 % of true
    nulls instead of 5 %).

    References
    ----------
    Liang and Zeger (1986); Cameron and Miller (2015), A practitioner's guide to cluster-robust
    inference.
    """
    method = "least squares, errors clustered in prompts"
    check_alpha(alpha)
    x, y = AnsweredPrompts.of(a), AnsweredPrompts.of(b)
    sums = sums_by_prompt(x, y)
    if stopped := too_few(sums, method) or _unbalanced(sums, method):
        return counted(x, y, stopped)
    values, in_a, prompts = _long(x, y)
    gap = gap_of(sums)
    if error_of(sums) <= ROUNDING * float(np.abs(values).max()):
        no_spread = undefined("the prompts do not differ", value=gap, method=method)
        return counted(x, y, MeanDifference(no_spread, None))
    model = sm.OLS(values, np.column_stack([np.ones(len(values)), in_a]))
    fit = model.fit(cov_type="cluster", cov_kwds={"groups": prompts}, use_t=True)
    error = float(fit.bse[1])
    dof = len(sums) - 1
    reach = float(stats.t.ppf(1 - alpha / 2, dof)) * error
    p_value = float(2 * stats.t.sf(abs(gap) / error, dof))
    return counted(
        x, y, MeanDifference(IntervalEstimate(gap, gap - reach, gap + reach, method), p_value)
    )


def _long(a: AnsweredPrompts, b: AnsweredPrompts) -> tuple[Vector, Vector, Vector]:
    """Return one row per answer: its value, whether a gave it, and the number of its prompt."""
    numbers = {prompt: float(number) for number, prompt in enumerate({**a.values, **b.values})}
    parts = [
        (values, side, numbers[prompt])
        for side, group in ((1.0, a), (0.0, b))
        for prompt, values in group.values.items()
    ]
    lengths = [len(values) for values, _, _ in parts]
    in_a, prompts = (np.repeat([part[column] for part in parts], lengths) for column in (1, 2))
    return np.concatenate([values for values, _, _ in parts]), in_a, prompts


def _unbalanced(sums: Sums, method: str) -> MeanDifference | None:
    few, many = sorted(int((sums[:, column] > 0).sum()) for column in (1, 3))
    if few >= BALANCED_FROM or 2 * few >= many:
        return None
    reason = "few and unequal numbers of prompts: use the means of prompts"
    return MeanDifference(undefined(reason, value=gap_of(sums), method=method), None)
