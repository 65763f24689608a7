"""What a finished comparison allows to conclude: three verdicts, each with its reason."""

from dataclasses import dataclass
from enum import StrEnum
from math import isfinite

from shared.stats.estimate import IntervalEstimate, check_alpha


class Decision(StrEnum):
    """What a comparison concludes; the values are those of the contract."""

    DISPARITY = "disparity"
    NO_DISPARITY = "no_disparity"
    NOT_ENOUGH = "not_enough_evidence"


@dataclass(frozen=True)
class Conclusion:
    """A verdict and why it is this one."""

    verdict: Decision
    reason: str


def conclude(
    gap: IntervalEstimate, p_adjusted: float | None, *, tolerance: float, alpha: float
) -> Conclusion:
    """Conclude from a gap's interval and its adjusted p-value.

    - Disparity: the adjusted p-value is at most alpha and the whole interval lies beyond the
      tolerance, on one side. With tolerance 0 that is an interval without 0.
    - No disparity larger than the tolerance: the whole interval lies within it. This includes
      gaps that are surely not 0, and small. It needs a tolerance above 0: that a gap is exactly 0
      cannot be shown.
    - Not enough evidence: anything else, and whatever is undefined.

    Parameters
    ----------
    gap
        With its interval of coverage 1 - alpha, in the units of the tolerance.
    p_adjusted
        For no gap at all, after correction for the family; None where there is no test.
    tolerance
        The largest gap that does not matter, at least 0.
    alpha
        In (0, 1). The share of false disparities in the family; equivalence is concluded wrongly
        in at most alpha / 2 of single comparisons (two one-sided tests at alpha / 2 each).

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
    if gap.low is None or gap.high is None or not (isfinite(gap.low) and isfinite(gap.high)):
        return Conclusion(Decision.NOT_ENOUGH, gap.reason or "the gap has no interval")
    if p_adjusted is None or not isfinite(p_adjusted):
        return Conclusion(Decision.NOT_ENOUGH, "there is no test of the gap")
    return _concluded(gap.low, gap.high, p_adjusted, tolerance, alpha)


def conclude_by_test(
    gap: IntervalEstimate,
    p_adjusted: float | None,
    p_at_tolerance: float | None,
    *,
    tolerance: float,
    alpha: float,
) -> Conclusion:
    """Conclude from tests alone, where few units or no spread leave no interval to rely on.

    Parameters
    ----------
    gap
        Without an interval it can be a disparity, and never shows that there is none.
    p_adjusted, p_at_tolerance
        For no gap, and for a gap on the other side of the tolerance, after correction.
    tolerance, alpha
        As `conclude` takes them.
    """
    if gap.value is None or p_adjusted is None or p_at_tolerance is None:
        return Conclusion(Decision.NOT_ENOUGH, gap.reason or "there is no test of the gap")
    if abs(gap.value) > tolerance and max(p_adjusted, p_at_tolerance) <= alpha:
        return Conclusion(Decision.DISPARITY, "a permutation test rejects gaps in the tolerance")
    if abs(gap.value) < tolerance and gap.low is not None and p_at_tolerance <= alpha:
        return Conclusion(Decision.NO_DISPARITY, "a permutation test rejects gaps beyond it")
    why = "a permutation test does not decide on which side of the tolerance the gap lies"
    return Conclusion(Decision.NOT_ENOUGH, gap.reason or why)


def conclude_known(gap: float, *, tolerance: float) -> Conclusion:
    """Conclude on a gap of prompts to which every answer was always the same."""
    if abs(gap) > tolerance:
        return Conclusion(Decision.DISPARITY, "the answers to these prompts never vary")
    return Conclusion(
        Decision.NOT_ENOUGH, "equal answers do not show how much the answers could vary"
    )


def _concluded(
    low: float, high: float, p_adjusted: float, tolerance: float, alpha: float
) -> Conclusion:
    if -tolerance <= low and high <= tolerance and tolerance > 0:
        return Conclusion(Decision.NO_DISPARITY, "the interval lies within the tolerance")
    if not (low > tolerance or high < -tolerance):
        where = "includes gaps on both sides of the tolerance" if tolerance else "includes 0"
        return Conclusion(Decision.NOT_ENOUGH, f"the interval {where}")
    if p_adjusted > alpha:
        return Conclusion(
            Decision.NOT_ENOUGH, "the p-value is above alpha after correction for the family"
        )
    return Conclusion(
        Decision.DISPARITY, "the interval lies beyond the tolerance, and p below alpha"
    )
