"""Two groups whose answers cluster in prompts, compared with cluster-robust errors."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from math import sqrt

import numpy as np
import statsmodels.api as sm
from scipy import stats

from shared.stats.comparisons.means_and_rates import ROUNDING, MeanDifference
from shared.stats.estimate import IntervalEstimate, check_alpha, undefined
from shared.stats.samples import AnswersByPrompt, Vector, present

LEAST_PROMPTS = 10
"""Of each group, where errors are estimated from whole prompts: below, they come out too small."""
BALANCED_FROM = 30
"""With so many prompts in the smaller group, unequal numbers no longer mislead the sandwich."""
Sums = np.ndarray[tuple[int, int], np.dtype[np.float64]]
"""One row per prompt: the sum and number of a's answers, the sum and number of b's."""


@dataclass(frozen=True)
class ClusteredDifference:
    """A difference of means, and the numbers of prompts it is based on and of answers it misses."""

    difference: MeanDifference
    prompts_a: int
    prompts_b: int
    prompts_shared: int
    missing_a: int
    missing_b: int


@dataclass(frozen=True)
class AnsweredPrompts:
    """The finite answers of a group, by prompts that have any."""

    values: dict[Hashable, Vector]
    missing: int

    @classmethod
    def of(cls, answers: AnswersByPrompt) -> AnsweredPrompts:
        """Return the finite answers, sorted within each prompt."""
        found = {prompt: present(sample) for prompt, sample in answers.items()}
        # sorted: sums of the same answers are then equal to the last digit
        values = {prompt: np.sort(v) for prompt, (v, _) in found.items() if len(v)}
        return cls(values, sum(missing for _, missing in found.values()))


def cluster_robust(a: AnswersByPrompt, b: AnswersByPrompt, alpha: float) -> ClusteredDifference:
    """Compare the means of answers by least squares with errors clustered in prompts.

    Every answer counts the same, so the difference is not that of prompt means where prompts have
    unequal numbers of answers. A prompt of both groups is one cluster, which pairs it. The
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
    sums = _sums_by_prompt(x, y)
    if stopped := _too_few(sums, method):
        return _counted(x, y, stopped)
    values, in_a, prompts = _long(x, y)
    gap = _gap_of(sums)
    if _error_of(sums) <= ROUNDING * float(np.abs(values).max()):
        no_spread = undefined("the prompts do not differ", value=gap, method=method)
        return _counted(x, y, MeanDifference(no_spread, None))
    model = sm.OLS(values, np.column_stack([np.ones(len(values)), in_a]))
    fit = model.fit(cov_type="cluster", cov_kwds={"groups": prompts}, use_t=True)
    error = float(fit.bse[1])
    dof = len(sums) - 1
    reach = float(stats.t.ppf(1 - alpha / 2, dof)) * error
    p_value = float(2 * stats.t.sf(abs(gap) / error, dof))
    return _counted(
        x, y, MeanDifference(IntervalEstimate(gap, gap - reach, gap + reach, method), p_value)
    )


def _counted(a: AnsweredPrompts, b: AnsweredPrompts, found: MeanDifference) -> ClusteredDifference:
    """Return a difference with the numbers of prompts it is based on, and of missing answers."""
    shared = len(a.values.keys() & b.values.keys())
    prompts = (len(a.values), len(b.values), shared)
    return ClusteredDifference(found, *prompts, a.missing, b.missing)


def _sums_by_prompt(a: AnsweredPrompts, b: AnsweredPrompts) -> Sums:
    """Return the sums of every prompt that either group answered."""
    rows = [
        (*_sum_and_number(a.values.get(prompt)), *_sum_and_number(b.values.get(prompt)))
        for prompt in {**a.values, **b.values}
    ]
    return np.array(rows, dtype=np.float64).reshape(-1, 4)


def _sum_and_number(values: Vector | None) -> tuple[float, int]:
    return (0.0, 0) if values is None else (float(values.sum()), len(values))


def _too_few(sums: Sums, method: str) -> MeanDifference | None:
    """Return the difference without an interval where a group has too few prompts; else None."""
    few, many = sorted(int((sums[:, column] > 0).sum()) for column in (1, 3))
    if not few:
        return MeanDifference(undefined("a group has no values", method=method), None)
    if few < LEAST_PROMPTS:
        reason = f"fewer than {LEAST_PROMPTS} prompts in a group: use the means of prompts"
    elif few < BALANCED_FROM and 2 * few < many:
        reason = "few and unequal numbers of prompts: use the means of prompts"
    else:
        return None
    return MeanDifference(undefined(reason, value=_gap_of(sums), method=method), None)


def _gap_of(sums: Sums) -> float:
    """Return the difference of means over answers."""
    totals = sums.sum(axis=0)
    return float(totals[0] / totals[1] - totals[2] / totals[3])


def _error_of(sums: Sums) -> float:
    """Return the clustered standard error from each prompt's influence on the difference."""
    a, n_a, b, n_b = sums.T
    mean_a, mean_b = a.sum() / n_a.sum(), b.sum() / n_b.sum()
    influence = (a - mean_a * n_a) / n_a.sum() - (b - mean_b * n_b) / n_b.sum()
    return sqrt(float((influence**2).sum()) * len(sums) / (len(sums) - 1))


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
