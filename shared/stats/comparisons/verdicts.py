"""The conclusion of a finished comparison: three verdicts, each with its reason."""

from dataclasses import dataclass
from math import isfinite

from biaswatch.shared.stats.estimate import Estimate, Verdict, check_alpha

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
    - Not enough evidence: anything else, and whatever is undefined.

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
        return Conclusion(Verdict.NOT_ENOUGH, gap.reason or "there is no test of the gap")
    if p_disparity <= alpha:
        side = "the tolerance" if tolerance else "0"
        return Conclusion(Verdict.DISPARITY, f"the gap is beyond {side}, at the family's level")
    if p_equivalence is not None and p_equivalence <= alpha:
        return Conclusion(Verdict.NO_DISPARITY, "the gap is within the tolerance")
    where = "gaps on both sides of the tolerance" if tolerance else "a gap of 0"
    return Conclusion(
        Verdict.NOT_ENOUGH, gap.reason or f"{where} cannot be excluded at the family's level"
    )
