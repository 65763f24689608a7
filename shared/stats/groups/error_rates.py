"""Error rates of decisions against the truth, and their differences and ratios between groups.

A decision is positive (1) or negative (0), and so is the truth. Each rate is the mean of an outcome
over the rows that meet a condition, so it has the interval and the tests of any mean.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from biaswatch.shared.stats.arrays import Bools
from biaswatch.shared.stats.samples import Vector


class Rate(StrEnum):
    """A mean over the rows of one group that meet a condition."""

    SELECTION = "selection_rate"
    """Positive decisions among all decisions."""
    TRUE_POSITIVE = "true_positive_rate"
    """Positive decisions where the truth is positive."""
    FALSE_POSITIVE = "false_positive_rate"
    """Positive decisions where the truth is negative."""
    TRUE_NEGATIVE = "true_negative_rate"
    FALSE_NEGATIVE = "false_negative_rate"
    PRECISION = "precision"
    """Positive truths where the decision is positive."""
    ACCURACY = "accuracy"
    """Decisions that equal the truth."""
    CALIBRATION = "calibration_error"
    """The mean score less the share of positive truths; 0 for calibrated probabilities."""


TESTED = (Rate.TRUE_POSITIVE, Rate.FALSE_POSITIVE, Rate.PRECISION, Rate.ACCURACY)
"""Rates that are compared: those of negatives are 1 minus these."""
COMPLEMENTS = {Rate.TRUE_NEGATIVE: Rate.FALSE_POSITIVE, Rate.FALSE_NEGATIVE: Rate.TRUE_POSITIVE}
EMPTY = {
    Rate.TRUE_POSITIVE: "no row has a positive truth",
    Rate.FALSE_POSITIVE: "no row has a negative truth",
    Rate.PRECISION: "no decision is positive",
}
"""Why a rate is undefined for a group."""


@dataclass(frozen=True)
class RateRows:
    """The rows of a rate, and the value of each: the rate is their mean."""

    rows: Bools
    """[n]: True where the row meets the condition."""
    values: Vector
    """[n]: nan where the decision is missing."""


def rate_rows(rate: Rate, decisions: Vector, truth: Vector) -> RateRows:
    """Return the condition and the outcome of a rate.

    Parameters
    ----------
    rate
        Any rate but the two complements, `TRUE_NEGATIVE` and `FALSE_NEGATIVE`.
    decisions
        [n]: 1 or 0, nan where missing; for `CALIBRATION` scores in [0, 1].
    truth
        [n]: 1 or 0, nan where it is not known: such rows count in the selection rate alone.

    Raises
    ------
    ValueError
        The rate is a complement: compute 1 minus the other rate.

    Examples
    --------
    >>> decided, truth = np.array([1.0, 0.0, 1.0]), np.array([1.0, 1.0, 0.0])
    >>> chosen = rate_rows(Rate.TRUE_POSITIVE, decided, truth)
    >>> float(chosen.values[chosen.rows].mean())
    0.5
    """
    known = np.isfinite(truth)
    match rate:
        case Rate.SELECTION:
            return RateRows(np.ones(len(truth), dtype=np.bool_), decisions)
        case Rate.TRUE_POSITIVE:
            return RateRows(truth == 1, decisions)
        case Rate.FALSE_POSITIVE:
            return RateRows(truth == 0, decisions)
        case Rate.PRECISION:
            return RateRows(known & (decisions == 1), truth)
        case Rate.ACCURACY:
            equal = np.where(np.isfinite(decisions), decisions == truth, np.nan)
            return RateRows(known, equal)
        case Rate.CALIBRATION:
            return RateRows(known, decisions - truth)
        case _:
            raise ValueError(f"the {rate} is 1 minus the {COMPLEMENTS[rate]}")


class Parity(StrEnum):
    """A demand that groups have equal rates."""

    DEMOGRAPHIC = "demographic_parity"
    """Equal selection rates."""
    ODDS = "equalized_odds"
    """Equal true and equal false positive rates."""
    OPPORTUNITY = "equal_opportunity"
    """Equal true positive rates."""

    @property
    def rates(self) -> tuple[Rate, ...]:
        """The rates that have to be equal."""
        return PARITY_RATES[self]


PARITY_RATES: Mapping[Parity, tuple[Rate, ...]] = {
    Parity.DEMOGRAPHIC: (Rate.SELECTION,),
    Parity.ODDS: (Rate.TRUE_POSITIVE, Rate.FALSE_POSITIVE),
    Parity.OPPORTUNITY: (Rate.TRUE_POSITIVE,),
}
Rates = Sequence[float | None]
"""The same rate of every group; None where a group has no row that meets the condition."""


def parity_difference(rates: Sequence[Rates]) -> float | None:
    """Return the largest rate less the smallest, for the rate where this is largest.

    Parameters
    ----------
    rates
        For each rate of a parity, the values of all groups.

    Returns
    -------
    float or None
        In [0, 1]; None where any rate is undefined for any group.

    References
    ----------
    Hardt, Price and Srebro (2016), Equality of opportunity in supervised learning; Agarwal et al.
    (2018), A reductions approach to fair classification. The same number as Fairlearn's
    `equalized_odds_difference` with its default, the worst case of both rates.

    Examples
    --------
    >>> parity_difference([(0.5, 0.75), (0.25, 0.25)])
    0.25
    """
    known = _known(rates)
    return None if known is None else max(max(values) - min(values) for values in known)


def parity_ratio(rates: Sequence[Rates]) -> float | None:
    """Return the smallest rate over the largest, for the rate where this is smallest.

    Undefined too where every group's rate is 0.
    """
    known = _known(rates)
    if known is None or any(max(values) == 0 for values in known):
        return None
    return min(min(values) / max(values) for values in known)


def zero_filled_difference(rates: Sequence[Rates]) -> float:
    """Return the difference with 0 for undefined rates, as Fairlearn 0.15 computes it."""
    return max(max(values) - min(values) for values in _zero_filled(rates))


def zero_filled_ratio(rates: Sequence[Rates]) -> float | None:
    """Return the ratio with 0 for undefined rates, as Fairlearn 0.15 computes it.

    None where Fairlearn returns nan: where the first rate is 0 in every group.
    """
    first, *further = _zero_filled(rates)
    if max(first) == 0:
        return None
    return min(min(values) / max(values) for values in (first, *further) if max(values) > 0)


def _known(rates: Sequence[Rates]) -> list[list[float]] | None:
    known = [[value for value in values if value is not None] for values in rates]
    complete = all(len(a) == len(b) > 0 for a, b in zip(known, rates, strict=True))
    return known if complete else None


def _zero_filled(rates: Sequence[Rates]) -> list[list[float]]:
    return [[value or 0.0 for value in values] for values in rates]
