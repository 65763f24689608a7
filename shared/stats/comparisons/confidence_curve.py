"""Confidence curves: how surely a mean, or a gap of two means, lies below each value.

A curve is an array with one value for each score of `LADDER`: the value at score s is the limit
below which the mean lies with confidence Phi(s). An interval of coverage 1 - alpha lies between the
values at -z and z, with z the normal quantile of 1 - alpha / 2, and a test of a value reads the
score at it, so that intervals and tests never disagree, at any level.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import isnan

import numpy as np
from scipy import special

from biaswatch.shared.stats.samples import Vector

_UP = np.concatenate([np.linspace(0.0, 8.0, 81), np.geomspace(8.5, 37.0, 12)])
LADDER: Vector = np.concatenate([-_UP[:0:-1], _UP])
"""Scores, from -37 to 37: beyond, a p-value is smaller than any number a computer holds."""
_TAILS = special.ndtr(-_UP)
Curve = Vector
"""[scores of `LADDER`]: values, none smaller than the one before."""
Curves = np.ndarray[tuple[int, int], np.dtype[np.float64]]
"""[n, scores]: several curves."""
Places = tuple[np.ndarray[tuple[int, int], np.dtype[np.intp]], Curves]
"""[scores, angles]: between which two scores of the ladder a score lies, and how far along."""


def _places(scores: Curves) -> Places:
    above = np.clip(np.searchsorted(LADDER, scores, side="right"), 1, len(LADDER) - 1)
    part = (scores - LADDER[above - 1]) / (LADDER[above] - LADDER[above - 1])
    return above, part


_ANGLES = np.linspace(0.0, np.pi / 2, 25)
"""How a squared score is split between two samples."""
_COSINE, _SINE = (np.outer(_UP, part(_ANGLES)) for part in (np.cos, np.sin))
_A_ABOVE, _A_BELOW, _B_ABOVE, _B_BELOW = map(_places, (_COSINE, -_COSINE, _SINE, -_SINE))


def student_curve(mean: float, error: float, dof: float) -> Curve:
    """Return the curve of a mean, or a gap, whose error follows Student's t.

    Parameters
    ----------
    mean, error
        The estimate and its standard error, above 0.
    dof
        Degrees of freedom, at least 1.

    References
    ----------
    Student (1908); Xie and Singh (2013), Confidence distribution, for curves as such.
    """
    upper = _quantiles(dof)
    with np.errstate(over="ignore"):  # limits beyond the largest number are infinite
        return np.asarray(mean + error * np.concatenate([-upper[:0:-1], upper]))


@lru_cache(maxsize=1024)
def _quantiles(dof: float) -> Vector:
    """Return the upper quantiles of Student's t at the scores from 0 upwards."""
    return np.asarray(-special.stdtrit(dof, _TAILS))


def gap_curve(a: Curve, b: Curve) -> Curve:
    """Return the curve of mean a minus mean b, of independent samples.

    The limit at score z is the largest difference of two values whose own squared scores add up to
    z squared. For normal samples of known spread that is the exact interval; with Wilson's limits
    of proportions, and joining limits at one level alone, it would be Newcombe's.

    References
    ----------
    Zou and Donner (2008), Construction of confidence limits about effect measures, for the idea;
    here every split of z between the two samples is looked at.
    """
    high = (_at(a, _A_ABOVE) - _at(b, _B_BELOW)).max(axis=1)
    low = (_at(a, _A_BELOW) - _at(b, _B_ABOVE)).min(axis=1)
    return np.concatenate([low[:0:-1], high])


def lowest_gaps(curves: Sequence[Curve], alpha: float) -> Curves:
    """Return [n, n], the lower limits of the gaps of each mean less each other, independent ones.

    They are those of `gap_curve` at coverage 1 - alpha.
    """
    reach = -float(special.ndtri(alpha / 2))
    low = np.array([np.interp(-reach * np.cos(_ANGLES), LADDER, curve) for curve in curves])
    high = np.array([np.interp(reach * np.sin(_ANGLES), LADDER, curve) for curve in curves])
    return np.asarray((low[:, None, :] - high[None, :, :]).min(axis=2))


def joined_curve(first: Curve, second: Curve, weight: float) -> Curve:
    """Return the curve of one mean from two independent samples with fixed weights.

    Scores are added with the roots of the weights (Stouffer's method): the level holds whatever the
    two spreads are, because the weights do not look at the values.

    Parameters
    ----------
    weight
        Of the first sample, in (0, 1); the second has the rest.
    """
    values = np.unique(np.concatenate([first[np.isfinite(first)], second[np.isfinite(second)]]))
    by_first, by_second = score_at(first, values), score_at(second, values)
    scores = np.sqrt(weight) * by_first + np.sqrt(1 - weight) * by_second
    return np.asarray(np.interp(LADDER, scores, values))


def score_at(curve: Curve, value: float | Vector) -> Vector:
    """Return the scores at values: Phi of it is the confidence that the mean lies below.

    Beyond the curve's ends it is the end of the ladder. Where the curve is level, as at the end of
    a range, it is the score nearest to 0.
    """
    values = np.atleast_1d(np.asarray(value, dtype=np.float64))
    first, after = (np.searchsorted(curve, values, side) for side in ("left", "right"))
    above = np.clip(first, 1, len(curve) - 1)
    low, high = curve[above - 1], curve[above]
    with np.errstate(invalid="ignore", divide="ignore"):
        part = np.nan_to_num(np.clip((values - low) / (high - low), 0, 1), nan=1.0)
    between = LADDER[above - 1] + part * (LADDER[above] - LADDER[above - 1])
    level = np.clip(0.0, LADDER[np.minimum(first, len(curve) - 1)], LADDER[after - 1])
    return np.where(first < after, level, between)


def confidence_limits(curve: Curve, alpha: float) -> tuple[float, float]:
    """Return the two-sided interval of coverage 1 - alpha."""
    reach = -float(special.ndtri(alpha / 2))
    low, high = np.interp([-reach, reach], LADDER, curve)
    return float(low), float(high)


def one_sided_p(curve: Curve, value: float) -> tuple[float, float]:
    """Return the p-values for a mean of at most this, and for one of at least this.

    Each is against a mean on the other side; 0 below 1e-299.
    """
    score = _score_of(curve, value)
    return _tail(score), _tail(-score)


def _score_of(curve: Curve, value: float) -> float:
    """Return what `score_at` gives for a single value, which comparisons ask by the thousand."""
    first, after = (int(curve.searchsorted(value, side)) for side in ("left", "right"))
    last = len(curve) - 1
    if first < after:
        return float(min(max(0.0, LADDER[min(first, last)]), LADDER[after - 1]))
    above = min(max(first, 1), last)
    low, high = float(curve[above - 1]), float(curve[above])
    if low == high:
        part = float(value >= low)
    else:
        part = (value - low) / (high - low)
        part = 1.0 if isnan(part) else min(max(part, 0.0), 1.0)
    start, end = float(LADDER[above - 1]), float(LADDER[above])
    return start + part * (end - start)


def _tail(score: float) -> float:
    return 0.0 if score <= LADDER[0] else float(special.ndtr(score))


def _at(curve: Curve, places: Places) -> Curves:
    """Return a curve's values at scores; a limit may be infinite."""
    above, part = places
    low, high = curve[above - 1], curve[above]
    with np.errstate(invalid="ignore"):
        between = low + part * (high - low)
    return np.where(part == 0, low, np.where(part == 1, high, between))
