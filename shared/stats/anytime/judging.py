"""What the evidence allows to say at any moment, and how much more a decision is likely to need."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, isfinite, log
from typing import Protocol

import numpy as np

from shared.stats.anytime.bets import Bools, Floats
from shared.stats.anytime.inversion import threshold
from shared.stats.comparisons.verdicts import Conclusion, Decision
from shared.stats.estimate import check_alpha

OCTAVES: Floats = np.exp2(np.arange(1.0, 17.0))
"""Times the units so far: what lies beyond is no forecast."""
PARTS: Floats = np.exp2(np.linspace(-1, 0, 71)[1:])
"""Of an octave: a forecast is within a hundredth."""
WHOLE = 0.8
"""The weight of all rounds of a test; the rest is for gaps that began later."""


class GapEvidence(Protocol):
    """A state of evidence about one gap."""

    def log_e_beyond(self, tolerance: float) -> float:
        """Return the log e-value against a gap of at most the tolerance."""
        ...

    def within(self, tolerance: float, bound: float) -> bool:
        """Tell whether the interval lies within the tolerance."""
        ...

    @property
    def units(self) -> int:
        """Return the number of units in it."""
        ...

    @property
    def estimate(self) -> float | None:
        """Return the gap."""
        ...

    def beyond_at(self, factors: Floats, tolerance: float, bound: float) -> Bools:
        """Tell for which multiples of these units, in order, the tolerance would be rejected."""
        ...

    def within_at(self, factors: Floats, tolerance: float, bound: float) -> Bools:
        """Tell for which the interval would lie within the tolerance."""
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
    forecast: Forecast


def judge(
    evidence: GapEvidence,
    *,
    tolerance: float,
    alpha: float,
    family: int = 1,
    shown: GapEvidence | None = None,
    shown_share: float = 1.0,
    later: float | None = None,
) -> CurrentDecision:
    """Conclude, about now, from evidence that may have been looked at any number of times.

    - Disparity beyond the tolerance: the evidence against every gap within it is at least
      ln(family / alpha). The chance that any of such a family ever says so wrongly, at any look,
      is at most alpha.
    - No disparity beyond the tolerance: the confidence sequence at alpha / family lies within it.
      It needs a tolerance above 0.
    - Not enough evidence: anything else.

    What an earlier look concluded is not remembered: that belongs to whoever keeps alarms.

    Parameters
    ----------
    evidence
        What the test has seen, in the units of the tolerance (log odds for odds ratios).
    tolerance
        The largest gap that does not matter, at least 0.
    alpha
        The share of this test.
    family
        The number of comparisons declared, all of which alarm.
    shown
        What the confidence sequence is about, where it is more than the test has seen.
    shown_share
        Of alpha, for that confidence sequence.
    later
        The log evidence of gaps that began after the first round, where it is gathered: the test's
        evidence is then its mean with the whole, which weighs `WHOLE`.

    Raises
    ------
    ValueError
        For a tolerance below 0 or not finite, an empty family, or alpha outside (0, 1).
    """
    if not (isfinite(tolerance) and tolerance >= 0):
        raise ValueError(f"a tolerance is a number of at least 0, not {tolerance:g}")
    if family < 1:
        raise ValueError("a family has one comparison or more")
    bound, log_e = threshold(alpha, family=family), evidence.log_e_beyond(tolerance)
    ahead = bound
    if later is not None:
        log_e = float(np.logaddexp(log_e + log(WHOLE), later + log(1 - WHOLE)))
        ahead -= log(WHOLE)
    whole = evidence if shown is None else shown
    if not whole.units:
        conclusion = Conclusion(Decision.NOT_ENOUGH, "there are no units yet")
    elif log_e >= bound:
        why = "the evidence against every gap within the tolerance is enough"
        conclusion = Conclusion(Decision.DISPARITY, why)
    elif tolerance > 0 and whole.within(tolerance, bound - log(shown_share)):
        why = "the confidence sequence lies within the tolerance"
        conclusion = Conclusion(Decision.NO_DISPARITY, why)
    else:
        why = f"the log evidence is {log_e:.2f} of the {bound:.2f} needed"
        conclusion = Conclusion(Decision.NOT_ENOUGH, why)
    forecast = Forecast()
    if conclusion.verdict is Decision.NOT_ENOUGH:
        forecast = outlook(whole, tolerance=tolerance, bound=ahead)
    return CurrentDecision(conclusion, log_e, forecast)


def later_weighs_more(log_e: float, later: float | None) -> bool:
    """Tell whether more than half of a test's evidence is of gaps that began after it did."""
    return later is not None and later + log(1 - WHOLE) > log_e - log(2)


def outlook(evidence: GapEvidence, *, tolerance: float, bound: float) -> Forecast:
    """Forecast a decision: what is to come is taken to be like what is there.

    The smallest multiple of the units at which the evidence reaches the bound or the confidence
    sequence lies within the tolerance. A forecast from few units is as uncertain as their estimate.
    """
    if not evidence.units:
        return Forecast(reason="there are no units to forecast from")

    def decided(factors: Floats) -> tuple[Bools, Bools]:
        beyond = evidence.beyond_at(factors, tolerance, bound)
        return beyond, beyond | evidence.within_at(factors, tolerance, bound)

    beyond, either = decided(OCTAVES)
    if not either.any():
        return Forecast(reason="the gap is too near to the tolerance to forecast a decision")
    factors = OCTAVES[int(np.argmax(either))] * PARTS  # the last is decided
    beyond, either = decided(factors)
    first = int(np.argmax(either))
    decision = Decision.DISPARITY if beyond[first] else Decision.NO_DISPARITY
    return Forecast(ceil(evidence.units * (float(factors[first]) - 1)), decision)


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
