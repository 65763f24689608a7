"""Power of a study of given size, by simulation of the tests of its headline question."""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, sqrt

import numpy as np
from scipy import special

from biaswatch.shared.stats.comparisons.assumed_answers import AssumedAnswers
from biaswatch.shared.stats.comparisons.simulated_studies import (
    PlannedTest,
    StudyShape,
    Tested,
    judged_fixed,
    judged_sample,
)

RUNS = 400
"""The standard error of a power of .8 is then .02."""
POWER = 0.8
MAX_SETS = 4096
"""Largest number of sets that is planned."""
MOST_FREEDOM = 1000.0
"""With more degrees of freedom, Student's quantiles are the normal ones."""
SIZE_RTOL = 0.04
"""Relative tolerance of the smallest sufficient number."""


@dataclass(frozen=True)
class SufficientSize:
    """The smallest sufficient number, and its power."""

    number: int
    power: float


def simulated_power(
    shape: StudyShape,
    repeats: int,
    answers: AssumedAnswers,
    test: PlannedTest,
    *,
    runs: int = RUNS,
    seed: int = 1,
) -> float:
    """Return the share of simulated studies whose word is "disparity", in the gap's direction.

    Each study is judged by the test of its headline question, as a run is: sign flips of twins, the
    t test that is robust to clusters of random factors, `compare_samples` against a tolerance or
    without twins, and `fixed_prompts_gap` where prompts are fixed. A family is corrected by
    Bonferroni's method; runs whose comparisons share sets are corrected by joint exchanges, and
    find somewhat more. The same seed gives the same answer. Standard error: sqrt(p (1 - p) / runs).

    Parameters
    ----------
    shape
        At least two pairs, or two units a side; fewer are never enough.
    repeats
        Answers to each prompt, at least 1.
    answers
        Their assumed distribution.
    test
        Parameters of the test.
    runs, seed
        Number of simulated studies, and the random seed.
    """
    rng = np.random.default_rng(seed)
    judged = judged_fixed if test.fixed_prompts else judged_sample
    results = (judged(shape, repeats, answers, test, rng) for _ in range(runs))
    return sum(_detects(result, answers, test) for result in results) / runs


def findable_gap(
    half_width: float, tolerance: float, *, alpha: float, family: int, family_before: int
) -> tuple[float, float]:
    """Return the gap that about 80 % of studies like an earlier one find, and their reach.

    An interval of the earlier study reaches `half_width` to each side, after Bonferroni's
    correction over `family_before` comparisons. Studies of the same size, with `family`
    comparisons, reach that times the ratio of normal quantiles; a gap beyond the tolerance by this
    reach and the quantile of the power is found. In simulations of 12 to 120 sets, 0.81 to 0.87 of
    studies found it (`simulated_power`). More answers a prompt find smaller gaps.
    """
    before, now = (-special.ndtri(alpha / 2 / size) for size in (family_before, family))
    reach = half_width * now / before
    return float(tolerance + reach * (1 + special.ndtri(POWER) / now)), float(reach)


def interval_quantile(half_width: float, alone: float, alpha: float, family: int) -> float:
    """Return half-width over standard error of an interval that a family of comparisons shares.

    The ratio of its width to that of the interval by itself gives the degrees of freedom of
    Student's distribution, which the intervals of random factors do not state.

    Parameters
    ----------
    half_width, alone
        Of the interval with the family's correction and without; 0 where unknown.
    alpha, family
        Level of the interval by itself, in (0, 1), and the number of comparisons.

    Returns
    -------
    float
        Student's quantile; the normal one for a family of one, or without both widths.

    Examples
    --------
    >>> round(interval_quantile(0.522, 0.305, 0.05, 16), 1)
    3.8
    """
    normal = float(-special.ndtri(alpha / 2 / family))
    if family == 1 or not alone:
        return normal

    def excess(freedom: float) -> float:
        shared, single = special.stdtrit(freedom, 1 - alpha / 2 / np.array([family, 1]))
        return float(shared / single - half_width / alone)

    if excess(1.0) <= 0 or excess(MOST_FREEDOM) >= 0:
        return normal
    from scipy import optimize  # slow to load

    freedom = optimize.brentq(excess, 1.0, MOST_FREEDOM)
    return float(special.stdtrit(freedom, 1 - alpha / 2 / family))


def repeated_half_width(
    half_width: float, quantile: float, answer_error: float | None, ratio: float
) -> tuple[float, float]:
    """Return bounds of the half-width of an interval with another number of repeats.

    Repeats reduce the variance of answers to one prompt, and leave that between prompts.

    Parameters
    ----------
    half_width
        Of the earlier interval, at least 0.
    quantile
        Half-width over standard error of the earlier interval, above 0.
    answer_error
        Standard error of the earlier gap over new answers to the same prompts; None where each
        prompt was answered once.
    ratio
        Earlier repeats over new ones, above 0.

    Returns
    -------
    tuple of float
        The lowest and the highest half-width; the same where `answer_error` is known.

    References
    ----------
    Cochran (1977), Sampling Techniques, section 10.6 (variances of two stages).

    Examples
    --------
    >>> repeated_half_width(1.0, 2.0, 0.3, 0.25)
    (0.8544003745317531, 0.8544003745317531)
    >>> repeated_half_width(1.0, 2.0, None, 0.25)
    (0.5, 1.0)
    """
    all_of_it = half_width * sqrt(ratio)
    if answer_error is None:
        return min(all_of_it, half_width), max(all_of_it, half_width)
    share = min(1.0, (quantile * answer_error / half_width) ** 2) if half_width else 0.0
    reached = half_width * sqrt(1 + share * (ratio - 1))
    return reached, reached


def smallest_enough(
    power_of: Callable[[int], float], *, power: float = POWER, furthest: int = MAX_SETS
) -> SufficientSize | None:
    """Return the smallest number of sets, or of repeats, with this power, to 4 % of it.

    By doubling, and then by bisection.

    Parameters
    ----------
    power_of
        Power by number, taken to be increasing.
    power
        In (0, 1).
    furthest
        Largest number to try.

    Returns
    -------
    SufficientSize or None
        None where `furthest` is not enough.
    """
    low, high = 1, 2
    while (reached := power_of(high)) < power:
        low, high = high, high * 2
        if high > furthest:
            return None
    while high - low > max(1.0, SIZE_RTOL * high):
        middle = ceil((low + high) / 2)
        if (middle_power := power_of(middle)) < power:
            low = middle
        else:
            high, reached = middle, middle_power
    return SufficientSize(high, reached)


def _detects(tested: Tested, answers: AssumedAnswers, test: PlannedTest) -> bool:
    value, p_value = tested
    if value is None or p_value is None:
        return False
    same_sign = value * (answers.mean_a - answers.mean_b) > 0
    return same_sign and p_value * test.family <= test.alpha
