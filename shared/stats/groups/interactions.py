"""A test that the effects of two dimensions add up: interaction of crossed groups."""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from scipy import special

from biaswatch.shared.stats.arrays import Floats, Indices
from biaswatch.shared.stats.estimate import Estimate, check_alpha, undefined
from biaswatch.shared.stats.samples import FLAT_RTOL

MIN_CELL_UNITS = 2
SHARED = "cluster-robust F (Hotelling), over sets"
SINGLE = "Welch and James's F (Johansen), over units"
METHOD = "Scheffe's interval of a difference of gaps"
FEW = "a combination of groups has fewer than two units"
COMPLETE = "too few combinations occur to tell an interaction from added effects"
FLAT = "a combination of groups, or a difference of gaps, shows no spread"
AT_THE_END = "a combination of groups has a share of 0 or 1, whose log odds are infinite"
NO_TETRAD = "no two groups of each dimension occur in all four combinations"
FEW_SETS = "fewer sets than the interaction has degrees of freedom"


@dataclass(frozen=True)
class InteractionTest:
    """The test that the effects of two dimensions add up."""

    statistic: float | None
    """F, at least 0."""
    numerator: int
    """Degrees of freedom of the interaction: (I - 1) (J - 1) for I x J groups."""
    denominator: float | None
    p_value: float | None
    contrast: Estimate
    """The difference of two gaps that is largest beside its error; its interval covers together
    with those of all other differences of gaps (Scheffe)."""
    method: str
    reason: str | None = None
    tetrad: int | None = None
    """Which of the differences of gaps `contrast` is."""


def interaction_test(
    means: Floats,
    covariance: Floats,
    units: Indices,
    design: Floats,
    tetrads: Floats,
    *,
    shared: bool,
    alpha: float,
    log_odds: bool = False,
) -> InteractionTest:
    """Test that the means of crossed groups are sums of effects of their dimensions.

    With L the contrasts that vanish for every sum, W = (Lm)' (L V L')^-1 (Lm). Where groups share
    sets, W is Hotelling's statistic with n - 1 degrees of freedom, n the units of the smallest
    group: exact for normal values in complete sets. Elsewhere W has the approximation of Johansen,
    which for 2 x 2 groups is Welch's t.

    Parameters
    ----------
    means
        [cells]: the mean of each combination that occurs.
    covariance
        [cells, cells]: of the means, clustered by sets.
    units
        [cells]: independent units of each, sets counting once.
    design
        [cells, columns]: the additive effects, with a column of ones.
    tetrads
        [differences of gaps, cells]: 1 and -1 for the four cells of each, 0 elsewhere.
    shared
        True where any two cells share a set.
    alpha
        1 minus the coverage of the contrast's interval.
    log_odds
        Test on the scale of log odds, by the delta method; means are then shares.

    References
    ----------
    Hotelling (1931); Johansen (1980), The Welch-James approximation to the distribution of the
    residual sum of squares in a weighted linear regression; Cameron, Gelbach and Miller (2011).

    Examples
    --------
    >>> design = np.array([[1, 0, 0], [1, 0, 1], [1, 1, 0], [1, 1, 1]], float)
    >>> test = interaction_test(
    ...     np.array([3.0, 3.0, 3.0, 2.0]), np.eye(4) / 100, np.full(4, 50), design,
    ...     np.array([[1.0, -1.0, -1.0, 1.0]]), shared=False, alpha=0.05,
    ... )  # fmt: skip
    >>> round(test.contrast.value, 6), test.p_value < 0.001
    (-1.0, True)
    """
    check_alpha(alpha)
    contrasts = _contrasts(design)
    q = len(contrasts)
    reason = _no_test(means, units, q, log_odds=log_odds)
    if reason:
        return _untested(q, reason)
    if log_odds:
        slope = 1 / (means * (1 - means))
        means, covariance = special.logit(means), covariance * np.outer(slope, slope)
    spread = contrasts @ covariance @ contrasts.T
    rounding = FLAT_RTOL * float(np.abs(covariance).max())
    if np.linalg.matrix_rank(spread, tol=rounding, hermitian=True) < q:
        return _untested(q, FLAT)
    distance = contrasts @ means
    w = float(distance @ np.linalg.solve(spread, distance))
    if shared:
        freedom = float(units.min() - 1)
        if freedom < q:
            return _untested(q, FEW_SETS)
        denominator, factor = freedom - q + 1, freedom * q / (freedom - q + 1)
    else:
        denominator, factor = _johansen(covariance, contrasts, spread, units)
    statistic = w / factor
    reach = sqrt(factor * float(special.fdtri(q, denominator, 1 - alpha)))
    contrast, tetrad = _largest(means, covariance, tetrads, reach)
    return InteractionTest(
        statistic,
        q,
        denominator,
        float(special.fdtrc(q, denominator, statistic)),
        contrast,
        SHARED if shared else SINGLE,
        tetrad=tetrad,
    )


def _contrasts(design: Floats) -> Floats:
    """Return [q, cells]: orthonormal contrasts that are 0 for every sum of effects."""
    u, singular, _ = np.linalg.svd(design, full_matrices=True)
    rank = int((singular > 1e-9 * singular.max()).sum())
    return np.asarray(u[:, rank:].T)


def _no_test(means: Floats, units: Indices, q: int, *, log_odds: bool) -> str | None:
    if not q:
        return COMPLETE
    if units.min() < MIN_CELL_UNITS:
        return FEW
    if log_odds and not ((means > 0) & (means < 1)).all():
        return AT_THE_END
    return None


def _untested(q: int, reason: str) -> InteractionTest:
    return InteractionTest(None, q, None, None, undefined(reason), "", reason)


def _johansen(
    covariance: Floats, contrasts: Floats, spread: Floats, units: Indices
) -> tuple[float, float]:
    """Return degrees of freedom and the factor of W for independent cells."""
    q = len(contrasts)
    shares = np.diag(covariance @ contrasts.T @ np.linalg.solve(spread, contrasts))
    a = float((shares**2 / (units - 1)).sum())
    return q * (q + 2) / (3 * a), q + 2 * a - 6 * a / (q + 2)


def _largest(
    means: Floats, covariance: Floats, tetrads: Floats, reach: float
) -> tuple[Estimate, int | None]:
    """Return the difference of gaps that is largest beside its error, and which one it is."""
    if not len(tetrads):
        return undefined(NO_TETRAD), None
    values = tetrads @ means
    errors = np.sqrt(np.einsum("ij,jk,ik->i", tetrads, covariance, tetrads))
    place = int(np.argmax(np.abs(values) / np.where(errors > 0, errors, np.inf)))
    value, to_side = float(values[place]), reach * float(errors[place])
    return Estimate(value, value - to_side, value + to_side, METHOD), place
