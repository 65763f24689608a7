"""What the evidence allows to say at any moment, and how much more a decision is likely to need."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, isfinite, log
from typing import Protocol

from shared.stats.anytime.inversion import threshold
from shared.stats.comparisons.verdicts import Conclusion, Decision
from shared.stats.estimate import check_alpha

FURTHEST = 2.0**16
"""Times the units so far: what lies beyond is no forecast."""
PRECISION = 0.01
"""Of the factor found."""


class Projection(Protocol):
    """What evidence would be with more units."""

    def log_e_beyond(self, tolerance: float) -> float:
        """Return the log e-value against a gap of at most the tolerance."""
        ...

    def within(self, tolerance: float, bound: float) -> bool:
        """Tell whether the interval lies within the tolerance."""
        ...


class GapEvidence(Projection, Protocol):
    """A state of evidence about one gap."""

    @property
    def units(self) -> int:
        """Return the number of units in it."""
        ...

    @property
    def estimate(self) -> float | None:
        """Return the gap."""
        ...

    def scaled(self, factor: float) -> Projection:
        """Return what so many times these units would show."""
        ...


@dataclass(frozen=True)
class Forecast:
    """How many more units a decision is expected to need, or why that cannot be said."""

    more_units: int | None = None
    decision: Decision | None = None
    reason: str | None = None


@dataclass(frozen=True)
class CurrentDecision:
    """A verdict at one moment, the evidence for it, and what a decision still needs."""

    conclusion: Conclusion
    log_e: float
    """Now, against a gap within the tolerance."""
    log_supremum: float
    """The largest it has been at any look."""
    forecast: Forecast


def judge(
    evidence: GapEvidence,
    *,
    tolerance: float,
    alpha: float,
    family: int = 1,
    log_supremum: float = 0.0,
) -> CurrentDecision:
    """Conclude from evidence that may have been looked at any number of times.

    - Disparity beyond the tolerance: the evidence against every gap within it has at some look
      reached ln(family / alpha). Over the whole life of a monitor at most alpha of such families
      say so of any comparison wrongly.
    - No disparity beyond the tolerance: the confidence sequence at alpha / family lies within it.
      It needs a tolerance above 0.
    - Not enough evidence: anything else.

    Parameters
    ----------
    evidence
        About the gap, in the units of the tolerance (log odds for odds ratios).
    tolerance
        The largest gap that does not matter, at least 0.
    family
        The number of comparisons declared, all of which alarm.
    log_supremum
        The largest log e-value of earlier looks.

    Raises
    ------
    ValueError
        For a tolerance below 0 or not finite, an empty family, or alpha outside (0, 1).
    """
    if not (isfinite(tolerance) and tolerance >= 0):
        raise ValueError(f"a tolerance is a number of at least 0, not {tolerance:g}")
    if family < 1:
        raise ValueError("a family has one comparison or more")
    bound = threshold(alpha, family=family)
    now = evidence.log_e_beyond(tolerance)
    supremum = max(log_supremum, now)
    conclusion = _concluded(evidence, supremum, tolerance, bound)
    forecast = Forecast()
    if conclusion.verdict is Decision.NOT_ENOUGH:
        forecast = outlook(evidence, tolerance=tolerance, bound=bound)
    return CurrentDecision(conclusion, now, supremum, forecast)


def _concluded(
    evidence: GapEvidence, log_supremum: float, tolerance: float, bound: float
) -> Conclusion:
    if not evidence.units:
        return Conclusion(Decision.NOT_ENOUGH, "there are no units yet")
    if log_supremum >= bound:
        return Conclusion(
            Decision.DISPARITY, "the evidence against every gap within the tolerance is enough"
        )
    if tolerance > 0 and evidence.within(tolerance, bound):
        return Conclusion(
            Decision.NO_DISPARITY, "the confidence sequence lies within the tolerance"
        )
    return Conclusion(
        Decision.NOT_ENOUGH, f"the log evidence is {log_supremum:.2f} of the {bound:.2f} needed"
    )


def outlook(evidence: GapEvidence, *, tolerance: float, bound: float) -> Forecast:
    """Forecast a decision: what is to come is taken to be like what is there.

    The smallest multiple of the units at which the evidence reaches the bound or the confidence
    sequence lies within the tolerance. A forecast from few units is as uncertain as their estimate.
    """
    if not evidence.units:
        return Forecast(reason="there are no units to forecast from")

    def decided(factor: float) -> Decision | None:
        seen = evidence.scaled(factor)
        if seen.log_e_beyond(tolerance) >= bound:
            return Decision.DISPARITY
        return Decision.NO_DISPARITY if tolerance > 0 and seen.within(tolerance, bound) else None

    high = 2.0
    while high <= FURTHEST and decided(high) is None:
        high *= 2
    if high > FURTHEST:
        return Forecast(reason="the gap is too near to the tolerance to forecast a decision")
    low = high / 2
    while log(high / low) > PRECISION:
        middle = (low * high) ** 0.5
        low, high = (low, middle) if decided(middle) else (middle, high)
    return Forecast(ceil(evidence.units * (high - 1)), decided(high))


LogEs = Sequence[float]
"""One log e-value per comparison of the family; a comparison without data has 0."""


def e_bh(log_es: LogEs, alpha: float) -> list[bool]:
    """Flag by Benjamini and Hochberg's procedure on e-values.

    For the view at one moment, with e-values *of that moment*: the false discovery rate is at
    most alpha under any dependence. Running suprema are not e-values, and the union of what is
    flagged over many looks has no such bound.

    References
    ----------
    Wang and Ramdas (2022), False discovery rate control with e-values.
    """
    check_alpha(alpha)
    ordered, k = sorted(log_es, reverse=True), len(log_es)
    largest = max(
        (rank for rank in range(1, k + 1) if ordered[rank - 1] >= log(k / (alpha * rank))),
        default=0,
    )
    return [largest > 0 and value >= ordered[largest - 1] for value in log_es]
