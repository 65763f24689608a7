"""Group-sequential bounds for a declared number of looks, and the looks that a gap needs."""

from dataclasses import dataclass
from functools import lru_cache
from math import ceil, pi, sqrt

import numpy as np
from scipy.special import ndtr, ndtri, stdtr

from biaswatch.shared.stats.anytime.limits import MAX_LOOKS
from biaswatch.shared.stats.arrays import Floats
from biaswatch.shared.stats.estimate import check_alpha

SEQUENTIAL_SHARE = 0.9
"""Share of alpha for the declared looks; the rest keeps the e-process valid beyond them."""
GRID_STEP = 0.02
"""Step of the grid on which the path is integrated, in standard deviations of the last look."""
GRID_END = 9.0
MIN_UNITS = 2
LEAST_VARIANCE = 1e-12
GUARD_UNITS = 4.0
"""Units at the two ends of the range that the spread of few units is estimated with."""


def spent_alpha(fraction: Floats, alpha: float) -> Floats:
    """Return the one-sided alpha that may be spent by each fraction of the information.

    The spending function of Lan and DeMets that resembles the bounds of O'Brien and Fleming.

    Parameters
    ----------
    fraction
        In (0, 1].
    alpha
        One-sided, in (0, 1).

    References
    ----------
    Lan and DeMets (1983), Discrete sequential boundaries for clinical trials.

    Examples
    --------
    >>> spent_alpha(np.array([0.5, 1.0]), 0.025).round(5)
    array([0.00153, 0.025  ])
    """
    check_alpha(alpha)
    return np.asarray(2 * ndtr(ndtri(alpha / 2) / np.sqrt(fraction)), dtype=np.float64)


@dataclass(frozen=True)
class Bounds:
    """Bounds of the z-statistic at equally spaced looks."""

    bounds: Floats
    """[looks]"""

    def crossing_probabilities(self, drift: float) -> Floats:
        """Return [looks]: the probability that the path crosses at that look or before.

        Parameters
        ----------
        drift
            The expected z-statistic of the last look.
        """
        return np.cumsum(_crossings(self.bounds, drift))


@lru_cache(maxsize=512)
def sequential_bounds(looks: int, alpha: float) -> Bounds:
    """Return one-sided bounds whose probability of a crossing at any look is alpha.

    Parameters
    ----------
    looks
        From 1 to 1,000; looks are equally spaced in information.
    alpha
        One-sided, in (0, 1).

    Raises
    ------
    ValueError
        For another number of looks.

    References
    ----------
    Armitage, McPherson and Rowe (1969), Repeated significance tests on accumulating data;
    Jennison and Turnbull (2000), Group sequential methods, chapter 19.

    Examples
    --------
    >>> sequential_bounds(2, 0.025).bounds.round(3)
    array([2.963, 1.969])
    """
    if not 1 <= looks <= MAX_LOOKS:
        raise ValueError(f"the number of looks is from 1 to {MAX_LOOKS}, not {looks}")
    cumulative = spent_alpha(np.arange(1, looks + 1) / looks, alpha)
    bounds = np.empty(looks)
    _crossings(bounds, 0.0, spend=np.diff(cumulative, prepend=0.0))
    return Bounds(bounds)


def _crossings(bounds: Floats, drift: float, spend: Floats | None = None) -> Floats:
    """Return the probability of a first crossing at each look, and set bounds to `spend`.

    The path B(t) = sqrt(t) z(t) is kept as its density on a grid, below all earlier bounds.
    """
    looks = len(bounds)
    grid = np.arange(-GRID_END, GRID_END + GRID_STEP / 2, GRID_STEP)
    edges = grid + GRID_STEP / 2
    step_sd, step_drift = sqrt(1 / looks), drift / looks
    steps = ceil(8 * step_sd / GRID_STEP)
    reach = np.arange(-steps, steps + 1, dtype=np.float64)
    kernel = _normal_density(reach * GRID_STEP, step_sd) * GRID_STEP
    density = _normal_density(grid - step_drift, step_sd)
    crossed = np.empty(looks)
    for look in range(looks):
        if look:
            spread = np.convolve(density, kernel, mode="same")
            density = np.interp(grid - step_drift, grid, spread, left=0.0, right=0.0)
        scale = sqrt((look + 1) / looks)
        above = (np.cumsum(density[::-1])[::-1] - density) * GRID_STEP
        if spend is not None:
            bounds[look] = np.interp(-spend[look], -above, edges) / scale
        crossed[look] = np.interp(bounds[look] * scale, edges, above)
        below = (bounds[look] * scale - edges) / GRID_STEP + 1
        density = density * np.clip(below, 0.0, 1.0)
    return crossed


def _normal_density(deviations: Floats, sd: float) -> Floats:
    """Return the density of a normal distribution at deviations from its mean."""
    return np.asarray(np.exp(-((deviations / sd) ** 2) / 2) / sqrt(2 * pi) / sd)


@dataclass(frozen=True)
class WeightedMoments:
    """Means of the first three powers of units, as shares of the range: [gaps] each."""

    units: Floats
    first: Floats
    second: Floats
    third: Floats

    @classmethod
    def of(cls, values: Floats, weights: Floats) -> "WeightedMoments":
        """Return the moments of one gap from the values of its units, and how many have each."""
        total = float(weights.sum())
        shares = weights / max(total, 1.0)
        powers = [np.array([float(np.dot(shares, values**power))]) for power in (1, 2, 3)]
        return cls(np.array([total]), *powers)


def z_statistics(
    moments: WeightedMoments, tolerances: Floats, guard: float = GUARD_UNITS
) -> tuple[Floats, Floats]:
    """Return the z-statistics of gaps above the tolerance, and of gaps below its opposite.

    Student's t of the units, as a standard normal quantile of the same probability. Units at the
    ends of the range are added to the spread, since few units that are all alike are no certainty;
    skewness that speaks against the gap is subtracted (Johnson 1978).

    Parameters
    ----------
    moments
        Of independent units.
    tolerances
        [gaps], at least 0.
    guard
        How many units are added at the ends of the range; none where units are means of names,
        whose distribution is symmetric.

    References
    ----------
    Johnson (1978), Modified t tests and confidence intervals for asymmetrical populations.
    """
    units, means = np.maximum(moments.units, 1.0), moments.first
    total = units + guard
    squares = (moments.second * units + guard) / total
    variances = np.maximum(squares - (means * units / total) ** 2, LEAST_VARIANCE)
    skews = moments.third - 3 * means * moments.second + 2 * means**3
    degrees, few = np.maximum(units - 1, 1.0), moments.units < MIN_UNITS
    above, below = (
        _normal_scores(sign * means - tolerances, variances, sign * skews, units, degrees)
        for sign in (1.0, -1.0)
    )
    return np.where(few, -np.inf, above), np.where(few, -np.inf, below)


def _normal_scores(
    gaps: Floats, variances: Floats, skews: Floats, units: Floats, degrees: Floats
) -> Floats:
    adjusted = skews / (6 * variances * units) + skews * gaps**2 / (3 * variances**2)
    scores = (gaps + np.minimum(adjusted, 0.0)) / np.sqrt(variances / units)
    return np.asarray(-ndtri(stdtr(degrees, -scores)), dtype=np.float64)


def looks_needed(drift_per_look: float, looks: int, alpha: float, power: float = 0.8) -> int | None:
    """Return the first look with at least this power; None if all looks have less.

    Parameters
    ----------
    drift_per_look
        The expected z-statistic of one look alone: gap beyond the tolerance over the standard
        error of one round.
    looks
        The declared number of looks.
    alpha
        One-sided, of this comparison.
    power
        In (0, 1).

    Examples
    --------
    >>> looks_needed(1.0, 52, 0.001)
    28
    """
    probabilities = sequential_bounds(looks, alpha).crossing_probabilities(
        drift_per_look * sqrt(looks)
    )
    places = np.flatnonzero(probabilities >= power)
    return int(places[0]) + 1 if places.size else None
