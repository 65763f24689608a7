"""Verdicts on anytime evidence, the spending of alpha, and forecasts of decisions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, inf, log, pi
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from biaswatch.shared.stats.anytime.bets import Bools, Floats
from biaswatch.shared.stats.comparisons.verdicts import Conclusion
from biaswatch.shared.stats.estimate import Verdict, check_alpha

Ints = NDArray[np.int64]
OCTAVES: Floats = np.exp2(np.arange(1.0, 17.0))
"""Times the units so far: what lies beyond is no forecast."""
PARTS: Floats = np.exp2(np.linspace(-1, 0, 71)[1:])
"""Of an octave: a forecast is within a hundredth."""
MULTIPLES: Floats = np.multiply.outer(OCTAVES, PARTS).ravel()
WHOLE = 0.8
"""The weight of all rounds of a test; the rest is for gaps that began later."""


class GapTable(Protocol):
    """States of evidence about many gaps, a row each; tolerances and bounds have one number each.

    It is true of every state: what decides with so many units, decides with more of their kind.
    """

    @property
    def units(self) -> Floats:
        """Return the number of units in each."""
        ...

    @property
    def estimates(self) -> Floats:
        """Return the gaps; NaN where one is not defined."""
        ...

    def of_rows(self, rows: Ints) -> Self:
        """Return some of the states."""
        ...

    def log_es_beyond(self, tolerances: Floats) -> Floats:
        """Return the log e-values against gaps of at most the tolerance."""
        ...

    def within(self, tolerances: Floats, bounds: Floats) -> Bools:
        """Tell whose interval lies within the tolerance."""
        ...

    def first_beyond(self, tolerances: Floats, bounds: Floats, multiples: Floats) -> Floats:
        """Return the first of these multiples of the units that would reject the tolerance."""
        ...

    def first_within(self, tolerances: Floats, bounds: Floats, multiples: Floats) -> Floats:
        """Return the first with which the interval would lie within it; infinity where none is."""
        ...

    def intervals(self, alphas: Floats) -> Floats:
        """Return the ends of what is not rejected at each alpha; NaN is no bound."""
        ...


@dataclass(frozen=True)
class Forecast:
    """How many more units a decision is expected to need, or why that cannot be said."""

    more_units: int | None = None
    decision: Verdict | None = None
    reason: str | None = None


@dataclass(frozen=True)
class CurrentDecision:
    """A verdict at one moment, the evidence for it, and what a decision still needs."""

    conclusion: Conclusion
    log_e: float
    """Now, against a gap within the tolerance."""
    forecast: Forecast


@dataclass(frozen=True)
class Asked:
    """What is asked of evidence, a number for each gap."""

    tolerances: Floats
    """The largest gaps that do not matter, at least 0: in the units of the evidence."""
    alphas: Floats
    """The share of each test."""
    family: int = 1
    """The number of comparisons declared, all of which alarm."""
    shown_shares: Floats | float = 1.0
    """Of alpha, for the confidence sequence, where it is about more than the test has seen."""
    later: Floats | float = np.nan
    """The log evidence of gaps that began after the first round, NaN where none is gathered: the
    test's evidence is then its mean with the whole, which weighs `WHOLE`."""

    def __post_init__(self) -> None:
        """Refuse what no evidence can be asked.

        Raises
        ------
        ValueError
            For a tolerance below 0 or not finite, an empty family, or alpha outside (0, 1).
        """
        wrong = self.tolerances[~(np.isfinite(self.tolerances) & (self.tolerances >= 0))]
        if wrong.size:
            raise ValueError(f"a tolerance is a number of at least 0, not {wrong[0]:g}")
        if self.family < 1:
            raise ValueError("a family has one comparison or more")
        for alpha in np.unique(self.alphas).tolist():
            check_alpha(alpha)

    @property
    def bounds(self) -> Floats:
        """Return the log e-values that reject: ln(family / alpha)."""
        return np.asarray(np.log(self.family / self.alphas), dtype=np.float64)


def judge(evidence: GapTable, asked: Asked, shown: GapTable | None = None) -> list[CurrentDecision]:
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
        What the tests have seen, in the units of the tolerance (log odds for odds ratios).
    shown
        What the confidence sequences are about, where it is more than the tests have seen.
    """
    whole = evidence if shown is None else shown
    log_es, ahead = _with_later(evidence.log_es_beyond(asked.tolerances), asked)
    disparity = (log_es >= asked.bounds) & (whole.units > 0)
    inside = whole.within(asked.tolerances, asked.bounds - np.log(asked.shown_shares))
    none = inside & ~disparity & (asked.tolerances > 0) & (whole.units > 0)
    forecasts = [Forecast()] * len(log_es)
    for place, forecast in _outlooks(whole, asked.tolerances, ahead, ~(disparity | none)):
        forecasts[place] = forecast
    columns = (log_es, asked.bounds, whole.units, disparity, none)
    rows = zip(*(each.tolist() for each in columns), forecasts, strict=True)
    return [CurrentDecision(_concluded(*row), row[0], forecast) for *row, forecast in rows]


def _with_later(log_es: Floats, asked: Asked) -> tuple[Floats, Floats]:
    """Return the evidence together with that of later gaps, and the bound for the whole alone."""
    later = np.broadcast_to(asked.later, log_es.shape)
    weights = np.where(np.isnan(later), 0.0, log(WHOLE))
    rest = np.where(np.isnan(later), -np.inf, later + log(1 - WHOLE))
    return np.logaddexp(log_es + weights, rest), asked.bounds - weights


def _concluded(log_e: float, bound: float, units: float, disparity: bool, none: bool) -> Conclusion:
    if not units:
        return Conclusion(Verdict.NOT_ENOUGH, "there are no units yet")
    if disparity:
        why = "the evidence against every gap within the tolerance is enough"
        return Conclusion(Verdict.DISPARITY, why)
    if none:
        why = "the confidence sequence lies within the tolerance"
        return Conclusion(Verdict.NO_DISPARITY, why)
    why = f"the log evidence is {log_e:.2f} of the {bound:.2f} needed"
    return Conclusion(Verdict.NOT_ENOUGH, why)


def later_weighs_more(log_e: float, later: float | None) -> bool:
    """Tell whether more than half of a test's evidence is of gaps that began after it did."""
    return later is not None and later + log(1 - WHOLE) > log_e - log(2)


NO_UNITS = Forecast(reason="there are no units to forecast from")
TOO_NEAR = Forecast(reason="the gap is too near to the tolerance to forecast a decision")


def _outlooks(
    evidence: GapTable, tolerances: Floats, bounds: Floats, is_open: Bools
) -> Iterator[tuple[int, Forecast]]:
    """Forecast the decisions that are open: what is to come is taken to be like what is there.

    The smallest multiple of the units at which the evidence reaches the bound or the confidence
    sequence lies within the tolerance. A forecast from few units is as uncertain as their estimate.
    """
    rows = np.flatnonzero(is_open)
    those, asked = evidence.of_rows(rows), (tolerances[rows], bounds[rows], MULTIPLES)
    columns = (rows, those.units, those.first_beyond(*asked), those.first_within(*asked))
    for row, *found in zip(*(each.tolist() for each in columns), strict=True):
        yield row, _forecast(*found)


def _forecast(units: float, beyond: float, within: float) -> Forecast:
    if not units:
        return NO_UNITS
    first = min(beyond, within)
    if first == inf:
        return TOO_NEAR
    decision = Verdict.DISPARITY if beyond <= within else Verdict.NO_DISPARITY
    return Forecast(ceil(units * (first - 1)), decision)


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


GAPS = 1 / 2
"""Of alpha, for gaps beyond the tolerance."""
CHANGES = 1 / 8
"""Of alpha, four times: for references and for detectors, of changes of gap and of level."""


def alpha_of_gap_test(alpha: float, number: int) -> float:
    """Return the chance of a false alarm that one test of a whole family's gaps may have."""
    return alpha * GAPS * share_of_test(number)


def alpha_of_search(alpha: float, family: int, number: int) -> float:
    """Return that of one member's search for changes: for the detector, and for its references."""
    return alpha * CHANGES * share_of_test(number) / family


def share_of_test(number: int) -> float:
    """Return the share of alpha of the test with this number: 6 / (pi number)^2.

    The shares of all tests that can ever begin sum to 1, so that the chance of any false alarm of
    any of them is at most alpha, however many there will be and whatever makes one begin.

    Parameters
    ----------
    number
        Which test it is, from 1.

    Raises
    ------
    ValueError
        For a number below 1.
    """
    if number < 1:
        raise ValueError(f"tests are counted from 1, not from {number}")
    return 6 / (pi * number) ** 2


def share_left(number: int) -> float:
    """Return the share of alpha that is left once the test with this number has begun."""
    return max(0.0, 1 - sum(share_of_test(each) for each in range(1, number + 1)))


def share_of_attempt(number: int) -> float:
    """Return the share of the attempt with this number, of attempts that may go on for ever.

    1 / (number (number + 1)): the shares sum to 1.
    """
    if number < 1:
        raise ValueError(f"attempts are counted from 1, not from {number}")
    return 1 / (number * (number + 1))
