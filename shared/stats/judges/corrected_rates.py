"""Rates of flags corrected by the errors of a judge on controls."""

from collections.abc import Sequence
from math import sqrt

import numpy as np
from scipy import special

from biaswatch.shared.stats.arrays import Floats
from biaswatch.shared.stats.estimate import Estimate, check_alpha, undefined

METHOD = "Rogan-Gladen, interval of Lang and Reiczigel"
NO_BETTER = "the judge is right no more often than chance"


def corrected_rate(
    clusters: Sequence[tuple[int, int]],
    *,
    sensitivity: tuple[int, int],
    specificity: tuple[int, int],
    alpha: float,
) -> Estimate:
    """Return the true rate behind a judge's rate, if it judges texts as well as controls.

    The estimate is Rogan and Gladen's (rate + Sp - 1) / (Se + Sp - 1), within 0 and 1. Where flags
    cluster in templates, the number of texts is divided by the design effect of the templates, and
    Student's t takes the place of the normal quantile.

    Parameters
    ----------
    clusters
        (flagged, judged) of each template; of each text where texts are independent, or one entry.
    sensitivity, specificity
        (right, asked) on controls with the flag and without it.
    alpha
        1 minus the coverage, in (0, 1).

    Returns
    -------
    Estimate
        In [0, 1]; undefined without texts or controls, and for a judge no better than chance.

    References
    ----------
    Rogan and Gladen (1978), Estimating prevalence from the results of a screening test; Lang and
    Reiczigel (2014), Confidence limits for prevalence of disease adjusted for estimated sensitivity
    and specificity, Preventive Veterinary Medicine 113, 13-22.

    Examples
    --------
    >>> rate = corrected_rate([(40, 100)], sensitivity=(36, 40), specificity=(36, 40), alpha=0.05)
    >>> round(rate.value, 3), round(rate.low, 2), round(rate.high, 2)
    (0.375, 0.21, 0.52)
    """
    check_alpha(alpha)
    counts = np.array(clusters, dtype=np.float64).reshape(-1, 2)
    flagged, n = counts.sum(axis=0).tolist()
    if not n or not sensitivity[1] or not specificity[1]:
        return undefined("nothing was judged, or no control was answered", method=METHOD)
    se, sp = (right / controls for right, controls in (sensitivity, specificity))
    if se + sp <= 1:
        return undefined(NO_BETTER, method=METHOD)
    size, quantile = _effective_size(counts, alpha)
    value = min(max((flagged / n + sp - 1) / (se + sp - 1), 0.0), 1.0)
    low, high = _limits(flagged / n, size, sensitivity, specificity, quantile)
    return Estimate(value, min(low, value), max(high, value), METHOD)


def _limits(
    rate: float, n: float, se: tuple[int, int], sp: tuple[int, int], z: float
) -> tuple[float, float]:
    p = (n * rate + z**2 / 2) / (n + z**2)
    sensitivity, specificity = (se[0] + 1) / (se[1] + 2), (sp[0] + 1) / (sp[1] + 2)
    power = sensitivity + specificity - 1
    true = (p + specificity - 1) / power
    se_part = sensitivity * (1 - sensitivity) / (se[1] + 2)
    sp_part = specificity * (1 - specificity) / (sp[1] + 2)
    shift = 2 * z**2 * (true * se_part - (1 - true) * sp_part)
    variance = p * (1 - p) / (n + z**2) + true**2 * se_part + (1 - true) ** 2 * sp_part
    reach = z * sqrt(variance) / power
    low, high = (min(max(true + shift + sign * reach, 0.0), 1.0) for sign in (-1, 1))
    return low, high


def _effective_size(counts: Floats, alpha: float) -> tuple[float, float]:
    """Return the number of independent texts that are worth as much, and the quantile."""
    flagged, n = counts.sum(axis=0).tolist()
    clusters, rate = len(counts), flagged / n
    normal = -float(special.ndtri(alpha / 2))
    if clusters < 2 or counts[:, 1].max() <= 1:
        return n, normal
    student = -float(special.stdtrit(clusters - 1, alpha / 2))
    residuals = counts[:, 0] - rate * counts[:, 1]
    variance = float(np.square(residuals).sum()) * clusters / (clusters - 1) / n**2
    if not 0 < rate < 1 or not variance:
        return n, student
    return min(n, rate * (1 - rate) / variance), student
