"""Tests of a gap against a tolerance, and the intervals that never disagree with them.

Two questions share the edge of a tolerance: is the gap beyond it, and is it within? At the edge
itself an interval of coverage 1 - alpha may exclude the truth in alpha of all cases, on both sides
together. Splitting that in halves, as intervals usually do, makes both verdicts harder than they
need to be. Here each verdict has nearly all of it, and a limit of the interval that would pass an
edge stays at the edge until the evidence against it is very strong.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite, sqrt

import numpy as np
from scipy import special

from biaswatch.shared.stats.comparisons.confidence_curve import (
    Curve,
    confidence_limits,
    one_sided_p,
)
from biaswatch.shared.stats.estimate import Estimate, Verdict, check_alpha

TailFunction = Callable[[float], tuple[float, float]]
"""Takes a gap; returns the p-values of "the gap is at most this", and of "it is at least this"."""
PValues = tuple[float, float | None]
"""For a disparity, and for equivalence."""
Limits = tuple[float, float]
FAR_LIMIT_ALPHA_SHARE = 0.05
"""Share of alpha at an edge that is reserved for a limit on the far side of it."""


def curve_tails(curve: Curve) -> TailFunction:
    """Return the one-sided tests that a confidence curve carries."""
    return lambda gap: one_sided_p(curve, gap)


def sided(p_value: float | None, direction: float) -> tuple[float, float]:
    """Return both one-sided p-values of a two-sided one, given the sign of the estimate.

    Without a test, or a direction, both are 1.
    """
    if p_value is None or not direction:
        return 1.0, 1.0
    near, far = p_value / 2, 1 - p_value / 2
    return (near, far) if direction > 0 else (far, near)


def joined_p(first: float, second: float, weight: float) -> float:
    """Return the one-sided p-value of two independent parts.

    Scores are added with the roots of the weights. A part with p = 1 adds a score of 0, not one of
    minus infinity.

    Parameters
    ----------
    first, second
        One-sided p-values.
    weight
        Weight of the first part, in (0, 1); the second has the rest.

    References
    ----------
    Stouffer et al. (1949), The American Soldier 1, with Liptak's (1958) weights.
    """
    scores = [0.0 if p >= 1 else -float(special.ndtri(p)) for p in (first, second)]
    return float(special.ndtr(-(sqrt(weight) * scores[0] + sqrt(1 - weight) * scores[1])))


def p_values_of(tails: TailFunction, tolerance: float) -> PValues:
    """Return the p-values of a gap of at most the tolerance, and of at least it."""
    return disparity_p(tails, tolerance), equivalence_p(tails, tolerance)


def disparity_p(tails: TailFunction, tolerance: float) -> float:
    """Return the p-value of a gap of at most the tolerance, in either direction.

    The chance of lying this far beyond one edge is added to the chance of lying as far out with the
    truth at the other edge: at tolerance 0 the test is the two-sided one, with a wide tolerance the
    one-sided. Above 0 it is divided by 1 - `FAR_LIMIT_ALPHA_SHARE`, so that intervals can agree.
    """
    at_most, at_least = tails(tolerance)
    if not tolerance:
        return min(1.0, 2 * at_most, 2 * at_least)
    lower_at_most, lower_at_least = tails(-tolerance)
    return min(
        1.0, min(at_most + lower_at_most, at_least + lower_at_least) / (1 - FAR_LIMIT_ALPHA_SHARE)
    )


def equivalence_p(tails: TailFunction, tolerance: float) -> float | None:
    """Return the p-value of a gap of at least the tolerance; None at 0, which cannot be shown.

    References
    ----------
    Schuirmann (1987), A comparison of the two one-sided tests procedure and the power approach.
    """
    if not tolerance:
        return None
    return min(1.0, max(tails(tolerance)[1], tails(-tolerance)[0]) / (1 - FAR_LIMIT_ALPHA_SHARE))


def agreeing_limits(curve: Curve, alpha: float, *, tolerance: float, p_values: PValues) -> Limits:
    """Return an interval of coverage 1 - alpha that agrees with the verdicts.

    Wholly beyond the tolerance where, and only where, the p-value for a disparity is at most alpha;
    wholly within it where, and only where, that for equivalence is. Elsewhere, and at tolerance 0,
    the limits are those of the curve at alpha / 2 a side, widened to an edge where a p-value
    demands it.

    References
    ----------
    Pratt (1961) and Puza and O'Neill (2006) for intervals that share alpha unequally between their
    two sides, differently at each value; here the shares differ at the edges of the tolerance.
    """
    low, high = confidence_limits(curve, alpha)
    p_disparity, p_equivalence = p_values
    if tolerance:
        far_low, far_high = confidence_limits(curve, 2 * FAR_LIMIT_ALPHA_SHARE * alpha)
        low = _held_at_edge(low, far_low, (-tolerance, tolerance))
        high = -_held_at_edge(-high, -far_high, (-tolerance, tolerance))
    if p_disparity <= alpha:
        return _beyond(low, high, tolerance, upwards=low + high > 0)
    low, high = min(low, tolerance), max(high, -tolerance)
    if p_equivalence is not None and p_equivalence <= alpha:
        return max(low, _inside(-tolerance)), min(high, _inside(tolerance))
    if tolerance and -tolerance < low and high < tolerance:
        return (low, tolerance) if tolerance - high < low + tolerance else (-tolerance, high)
    return low, high


def _held_at_edge(low: float, far_low: float, edges: Limits) -> float:
    """Return the lower limit, or the first edge it passed without strong evidence."""
    return next((edge for edge in edges if far_low <= edge < low), low)


def _beyond(low: float, high: float, tolerance: float, *, upwards: bool) -> Limits:
    if upwards:
        return max(low, float(np.nextafter(tolerance, np.inf))), high
    return low, min(high, -float(np.nextafter(tolerance, np.inf)))


def _inside(edge: float) -> float:
    return float(np.nextafter(edge, 0.0))


NEVER_VARY = "the answers to these prompts never vary"
"""The reason of a disparity, or of a change, that is known."""


@dataclass(frozen=True)
class Conclusion:
    """A verdict and why it is this one."""

    verdict: Verdict
    reason: str


def conclude(
    gap: Estimate,
    p_disparity: float | None,
    p_equivalence: float | None,
    *,
    tolerance: float,
    alpha: float,
) -> Conclusion:
    """Conclude from the tests of a gap, after the correction of their family.

    - Disparity: a gap of at most the tolerance is rejected.
    - No disparity larger than the tolerance: a gap of at least the tolerance is rejected. This
      includes gaps that are surely not 0, and small. It needs a tolerance above 0: that a gap is
      exactly 0 cannot be shown.
    - Inconclusive: anything else, and whatever is undefined.

    Parameters
    ----------
    gap
        For the reason of what is undefined.
    p_disparity, p_equivalence
        After correction; None without a test.
    tolerance
        The largest gap that does not matter, at least 0.
    alpha
        In (0, 1). Where all intervals of a family cover jointly, all verdicts are right with
        probability 1 - alpha.

    Raises
    ------
    ValueError
        For a tolerance below 0 or not finite, or an alpha outside (0, 1).

    References
    ----------
    Schuirmann (1987), A comparison of the two one-sided tests procedure and the power approach.
    """
    if not (isfinite(tolerance) and tolerance >= 0):
        raise ValueError(f"a tolerance is a number of at least 0, not {tolerance:g}")
    check_alpha(alpha)
    if gap.value is None or p_disparity is None or not isfinite(p_disparity):
        return Conclusion(Verdict.INCONCLUSIVE, gap.reason or "there is no test of the gap")
    if p_disparity <= alpha:
        side = "the tolerance" if tolerance else "0"
        return Conclusion(Verdict.DISPARITY, f"the gap is beyond {side}, at the family's level")
    if p_equivalence is not None and p_equivalence <= alpha:
        return Conclusion(Verdict.NO_DISPARITY, "the gap is within the tolerance")
    where = "gaps on both sides of the tolerance" if tolerance else "a gap of 0"
    return Conclusion(
        Verdict.INCONCLUSIVE, gap.reason or f"{where} cannot be excluded at the family's level"
    )
