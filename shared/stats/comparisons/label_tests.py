"""Tests that exchange labels or signs, in closed form, however small the p-value.

Exact where there are few relabellings, or where one group lies wholly beyond the other; else by a
saddlepoint approximation of the distribution over all relabellings, which needs no random numbers.
"""

from math import comb, log

import numpy as np
from scipy import special

from shared.stats.comparisons.relabelling import EXACT_UP_TO, ROUNDING, Stratum, pairs_of, tails
from shared.stats.samples import Vector

_STEPS, _ENOUGH = 100, 1e-9
_SMALLEST = 1e-4
"""A signed root nearer to 0 than this is 0: both halves are as large."""


def exchange_p(a: Vector, b: Vector) -> float | None:
    """Return the two-sided p-value of exchanging the labels of two independent samples.

    Assumes that under the hypothesis both samples have one distribution. Twice the smaller tail, at
    most 1; None where all values are equal, so that nothing can be exchanged.

    References
    ----------
    Fisher (1935), The Design of Experiments; Skovgaard (1987), Saddlepoint expansions for
    conditional distributions: conditional on the sizes, the exchange of labels is a logistic
    regression of the label on the value, and its signed root is corrected by formula 4.
    """
    slack = ROUNDING * float(max(np.abs(a).max(), np.abs(b).max()))
    if max(a.max(), b.max()) - min(a.min(), b.min()) <= slack:
        return None
    for x, y in ((a, b), (-a, -b)):
        if (share := _end_share(x, y, slack)) is not None:
            return min(1.0, 2 * share)
    if comb(len(a) + len(b), len(a)) <= EXACT_UP_TO:
        return tails([Stratum(a, b)], None, 1).p_value
    return _two_sided(_exchange_root(a, b))


def flip_p(differences: Vector) -> float | None:
    """Return the two-sided p-value of flipping the signs of paired differences.

    Assumes that under the hypothesis each difference is as likely to be its opposite. None where
    all are 0.

    References
    ----------
    Fisher (1935); Lugannani and Rice (1980), with the cumulant function sum log cosh(s d).
    """
    moved = differences[differences != 0]
    if not len(moved):
        return None
    if (moved > 0).all() or (moved < 0).all():
        return float(2.0 ** (1 - len(moved)))
    if 2 ** len(moved) <= EXACT_UP_TO:
        zeros = np.zeros(len(moved))
        return tails(pairs_of(moved, zeros), None, 1).p_value
    return _two_sided(_flip_root(moved / np.abs(moved).max()))


def _end_share(a: Vector, b: Vector, slack: float) -> float | None:
    """Return the share of relabellings that leave a this high, if no value of b is higher."""
    end = float(a.min())
    if float(b.max()) > end + slack:
        return None
    of_a, of_b = (int((np.abs(each - end) <= slack).sum()) for each in (a, b))
    logs = _log_ways(of_a + of_b, of_a) - _log_ways(len(a) + len(b), len(a))
    return float(np.exp(logs))


def _log_ways(n: int, k: int) -> float:
    return float(special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1))


def _exchange_root(a: Vector, b: Vector) -> float:
    """Return the corrected signed root: normal, of either sign, under exchanged labels."""
    values = np.concatenate([a, b])
    values = (values - values.mean()) / values.std()
    label = np.concatenate([np.ones(len(a)), np.zeros(len(b))])
    share = len(a) / len(values)
    intercept, slope = log(share / (1 - share)), 0.0
    information = np.eye(2)
    for _ in range(_STEPS):
        p = special.expit(intercept + slope * values)
        weight = p * (1 - p)
        information = np.array(
            [[weight.sum(), weight @ values], [weight @ values, weight @ values**2]]
        )
        gradient = np.array([(label - p).sum(), (label - p) @ values])
        step = np.linalg.solve(information, gradient)
        size = float(np.abs(step).max())
        step *= min(1.0, 2.0 / size) if size else 1.0
        intercept, slope = intercept + float(step[0]), slope + float(step[1])
        if size < _ENOUGH:
            break
    linear = intercept + slope * values
    fitted = float((label * linear - np.logaddexp(0.0, linear)).sum())
    null = len(values) * (share * log(share) + (1 - share) * log(1 - share))
    root = float(np.sign(slope) * np.sqrt(max(2 * (fitted - null), 0.0)))
    of_null = len(values) * share * (1 - share)
    return _corrected(root, slope * float(np.sqrt(np.linalg.det(information) / of_null)))


def _flip_root(differences: Vector) -> float:
    total, tilt, slope = float(differences.sum()), 0.0, 1.0
    for _ in range(_STEPS):
        bent = np.tanh(tilt * differences)
        slope = float((differences**2) @ (1 - bent**2))
        step = (total - float(differences @ bent)) / slope
        tilt += float(np.clip(step, -2.0 - abs(tilt), 2.0 + abs(tilt)))
        if abs(step) < _ENOUGH * (1 + abs(tilt)):
            break
    size = tilt * differences
    cumulants = float((np.logaddexp(size, -size) - log(2)).sum())
    root = float(np.sign(tilt) * np.sqrt(max(2 * (tilt * total - cumulants), 0.0)))
    return _corrected(root, tilt * float(np.sqrt(slope)))


def _corrected(root: float, standard: float) -> float:
    """Return Barndorff-Nielsen's form of the saddlepoint approximation of a tail."""
    if abs(root) < _SMALLEST:
        return 0.0
    return root + log(standard / root) / root


def _two_sided(root: float) -> float:
    return min(1.0, 2 * float(special.ndtr(-abs(root))))
