"""Verdicts with the least favourable missing answers."""

from biaswatch.shared.stats.comparisons.gap_test import GapResult


def verdict_holds(
    worst: GapResult, gap: float | None, *, differs: bool, alpha: float, family: int
) -> bool:
    """Return whether a verdict on a gap, in its direction, would be the same with a worse result.

    `differs` is true for a disparity or a change, false for none beyond the tolerance.
    """
    if differs and (worst.marginal.value or 0.0) * (gap or 0.0) <= 0:
        return False
    p_value = worst.p_disparity if differs else worst.p_equivalence
    return p_value is not None and min(1.0, p_value * family) <= alpha


def undoing(missing: int, *, survives: bool) -> str:
    """Return whether the missing answers could undo a verdict, in words."""
    return f"the {missing} missing answers {'cannot' if survives else 'could'} undo it"
