"""Tests of groups that are small, or whose units are all equal: no t interval alone decides."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import comb, copysign, prod

import numpy as np
from statsmodels.stats.proportion import proportion_confint

from shared.stats.comparisons.means_and_rates import ROUNDING, MeanDifference, difference, is_flat
from shared.stats.comparisons.relabelling import Stratum, pairs_of, tails
from shared.stats.estimate import IntervalEstimate, undefined
from shared.stats.samples import Vector
from shared.stats.tables.contingency import contingency_table
from shared.stats.tables.independence import fisher

ENOUGH_UNITS = 10
"""A side; of fewer answers on a scale of few steps, a t distribution is not to be relied on."""
FEW_RELABELLINGS, MANY_RELABELLINGS = 999, 9_999
"""The many are drawn only where the few come near to a rejection."""
NO_REJECTION = 0.1
FLAT = "the values of a group are all equal: how much they could vary is not known"
FLAT_PAIRS = "all differences are equal: how much they could vary is not known"
Test = Callable[[float], float | None]
"""Two-sided p-value for the gap being this one; None where nothing can vary."""


def t_suffices(a: Sequence[float], b: Sequence[float], *, paired: bool) -> bool:
    """Return whether both sides have ten units, and a spread; pairs in their differences too."""
    if min(len(a), len(b)) < ENOUGH_UNITS:
        return False
    x, y = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    return not (is_flat(x) or is_flat(y) or (paired and _flat_pairs(x, y)))


def exact_difference(
    a: Sequence[float],
    b: Sequence[float],
    alpha: float,
    *,
    paired: bool,
    tolerance: float,
    rng: np.random.Generator,
) -> MeanDifference:
    """Return mean(a) - mean(b) with p-values that hold for few units, and without spread.

    A p-value is the larger of the t test's, where there is one, and that of exchanging the labels
    (Fisher's exact test for two values; the signs of pairs). The interval for values of 0
    and 1 lies between Clopper and Pearson's limits of the two rates, each at alpha / 2, which holds
    for all rates and for pairs. Else it is the t interval, and none where there is no spread.

    References
    ----------
    Fisher (1935), The Design of Experiments; Clopper and Pearson (1934), The use of confidence or
    fiducial limits; Phipson and Smyth (2010), Permutation p-values should never be zero.
    """
    found = difference(a, b, alpha, paired=paired)
    if min(len(a), len(b)) < 2:
        return found
    x, y = np.asarray(a, dtype=float), np.asarray(b, dtype=float)

    def test(gap: float) -> float | None:
        shifted = x - gap
        by_t = difference(shifted.tolist(), y.tolist(), alpha, paired=paired).p_value
        return larger(by_t, label_p(pairs_of(shifted, y) if paired else [Stratum(shifted, y)], rng))

    if set(x) | set(y) == {0.0, 1.0}:
        p_value = test(0.0)
        return MeanDifference(_between_rates(x, y, alpha), p_value, None if tolerance else p_value)
    if paired:
        return decided(found, test, tolerance, FLAT_PAIRS if _flat_pairs(x, y) else None)
    return decided(found, test, tolerance, FLAT if is_flat(x) or is_flat(y) else None)


def decided(
    found: MeanDifference, test: Test, tolerance: float, flat: str | None
) -> MeanDifference:
    """Return the difference as a test decides it; `flat` says why it has no interval."""
    gap, p_value = found.estimate.value, test(0.0)
    if gap is None or p_value is None:
        return replace(found, p_value=None)
    estimate = undefined(flat, value=gap, method="permutation") if flat else found.estimate
    if not tolerance:
        return MeanDifference(estimate, p_value, p_value)
    if abs(gap) > tolerance:
        return MeanDifference(estimate, p_value, test(copysign(tolerance, gap)))
    return MeanDifference(estimate, p_value, larger(test(tolerance), test(-tolerance)))


def larger(one: float | None, other: float | None) -> float | None:
    """Return the larger p-value of those there are."""
    return max((p for p in (one, other) if p is not None), default=None)


def label_p(strata: Sequence[Stratum], rng: np.random.Generator) -> float | None:
    """Return the two-sided p-value of exchanging the labels within strata.

    In closed form where one group's values are nowhere below the other's, which includes a group
    without spread at the end of the scale; else by enumeration, or by random relabellings.
    """
    movable = [s for s in strata if len(s.a) and len(s.b) and not is_flat(s.units)]
    if not movable:
        return None
    if len(movable) == 1 and len(values := np.unique(movable[0].units)) == 2:
        return _fisher_p(movable[0], float(values[1]))
    for sign in (1, -1):
        tail = [_end_share(sign * s.a, sign * s.b) for s in movable]
        if None not in tail:
            return min(1.0, 2 * prod(share for share in tail if share is not None))
    found = tails(movable, rng, FEW_RELABELLINGS)
    if found.exact or found.p_value > NO_REJECTION:
        return found.p_value
    return tails(movable, rng, MANY_RELABELLINGS).p_value


def _fisher_p(stratum: Stratum, high: float) -> float | None:
    a, c = int((stratum.a == high).sum()), int((stratum.b == high).sum())
    return fisher(contingency_table(a, len(stratum.a) - a, c, len(stratum.b) - c)).p_value


def _end_share(a: Vector, b: Vector) -> float | None:
    """Return the share of relabellings that leave a this high, if no value of b is higher."""
    slack = ROUNDING * _scale(a, b)
    end = float(a.min())
    if float(b.max()) > end + slack:
        return None
    of_a, of_b = (int((np.abs(each - end) <= slack).sum()) for each in (a, b))
    return comb(of_a + of_b, of_a) / comb(len(a) + len(b), len(a))


def _between_rates(x: Vector, y: Vector, alpha: float) -> IntervalEstimate:
    (low_a, high_a), (low_b, high_b) = (
        proportion_confint(int(each.sum()), len(each), alpha=alpha / 2, method="beta")
        for each in (x, y)
    )
    gap = float(x.mean() - y.mean())
    low, high = float(low_a - high_b), float(high_a - low_b)
    return IntervalEstimate(gap, low, high, "Clopper and Pearson of both rates")


def _flat_pairs(x: Vector, y: Vector) -> bool:
    return is_flat(x - y, _scale(x, y))


def _scale(x: Vector, y: Vector) -> float:
    return float(max(np.abs(x).max(), np.abs(y).max()))
