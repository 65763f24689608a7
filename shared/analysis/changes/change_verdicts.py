"""What the test of a change between two runs allows to conclude."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from biaswatch.shared.stats.comparisons.changes import ChangeResult
from biaswatch.shared.stats.comparisons.gap_test import GapResult
from biaswatch.shared.stats.comparisons.verdicts import NEVER_VARY, Decision, conclude


class ChangeVerdict(StrEnum):
    """What a test of a change concludes."""

    CHANGED = "changed"
    NO_CHANGE = "no_change"
    """None beyond the tolerance."""
    NOT_ENOUGH = "not_enough_evidence"


@dataclass(frozen=True)
class ChangeConclusion:
    """A verdict on a change and why it is this one."""

    verdict: ChangeVerdict
    reason: str
    p_adjusted: float | None = None
    p_equivalence_adjusted: float | None = None


def conclude_change(
    found: ChangeResult, *, tolerance: float, alpha: float, family: int
) -> ChangeConclusion:
    """Conclude as of a gap, after the correction of the family (Bonferroni)."""
    change = found.result.simultaneous
    p_values = (found.result.p_disparity, found.result.p_equivalence)
    changed, within = (None if p is None else min(1.0, p * family) for p in p_values)
    if found.result.known:
        return ChangeConclusion(ChangeVerdict.CHANGED, NEVER_VARY, changed, within)
    decision = conclude(change, changed, within, tolerance=tolerance, alpha=alpha).verdict
    verdict, reason = _SAID[decision]
    if decision is Decision.DISPARITY:
        reason = reason.format(side="the tolerance" if tolerance else "0")
    elif decision is Decision.NOT_ENOUGH:
        where = "changes on both sides of the tolerance" if tolerance else "a change of 0"
        reason = change.reason or reason.format(where=where)
    return ChangeConclusion(verdict, reason, changed, within)


def stands(
    conclusion: ChangeConclusion,
    change: float | None,
    worst: Iterable[GapResult],
    *,
    alpha: float,
    family: int,
) -> bool:
    """Return whether a verdict, in its direction, is the same with each of these results."""
    return all(_same(conclusion.verdict, change or 0.0, each, alpha, family) for each in worst)


def _same(
    verdict: ChangeVerdict, change: float, worst: GapResult, alpha: float, family: int
) -> bool:
    p_value = worst.p_equivalence
    if verdict is ChangeVerdict.CHANGED:
        if (worst.marginal.value or 0.0) * change <= 0:
            return False
        p_value = worst.p_disparity
    return p_value is not None and min(1.0, p_value * family) <= alpha


_SAID = {
    Decision.DISPARITY: (
        ChangeVerdict.CHANGED, "the change is beyond {side}, at the family's level"
    ),
    Decision.NO_DISPARITY: (ChangeVerdict.NO_CHANGE, "the change is within the tolerance"),
    Decision.NOT_ENOUGH: (
        ChangeVerdict.NOT_ENOUGH, "{where} cannot be excluded at the family's level"
    ),
}  # fmt: skip
