"""How alike an odds ratio and a relative risk of the same table are; it imports no numpy."""

import math
from dataclasses import dataclass

from biaswatch.shared.stats.estimate import IntervalEstimate

SIMILAR_FROM = 0.9
"""The smaller ratio over the larger from which they are called similar: within about 10 %."""


@dataclass(frozen=True)
class RatioAgreement:
    """An odds ratio against a relative risk."""

    difference: float | None = None
    """Odds ratio minus relative risk."""
    ratio: float | None = None
    """The smaller of the two over the larger, in (0, 1]; 1 is equality."""
    says: str | None = None
    """`similar`, `moderate difference` or `conflicting`."""
    reason: str | None = None
    """Why there is no comparison."""


def ratio_agreement(
    odds_ratio: IntervalEstimate, relative_risk: IntervalEstimate
) -> RatioAgreement:
    """Compare the two.

    They conflict where they lie on different sides of 1, or where one interval excludes 1 and the
    other does not: then a reader of either alone concludes differently. Otherwise they are similar
    from a ratio of 0.9 on. A smaller ratio is a moderate difference, however small it is: odds
    ratios run ahead of relative risks where the outcome is common, which contradicts nothing.

    References
    ----------
    Zhang and Yu (1998), What's the relative risk?
    """
    odds, risk = odds_ratio.value, relative_risk.value
    if odds is None or risk is None:
        why = odds_ratio.reason if odds is None else relative_risk.reason
        return RatioAgreement(reason=why or "one of the two is undefined")
    if not (0 < odds < math.inf and 0 < risk < math.inf):
        return RatioAgreement(reason="one of the two is zero or infinite")
    ratio = min(odds, risk) / max(odds, risk)
    if _conflict(odds_ratio, relative_risk):
        says = "conflicting"
    else:
        says = "similar" if ratio >= SIMILAR_FROM else "moderate difference"
    return RatioAgreement(odds - risk, ratio, says)


def _conflict(odds_ratio: IntervalEstimate, relative_risk: IntervalEstimate) -> bool:
    if ((odds_ratio.value or 0) - 1) * ((relative_risk.value or 0) - 1) < 0:
        return True
    excluding = set()
    for each in (odds_ratio, relative_risk):
        if each.low is None or each.high is None:
            return False
        excluding.add(not each.low <= 1 <= each.high)
    return len(excluding) == 2
