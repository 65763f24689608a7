"""The constant shift of twins: the interval that sign flips invert to.

Twins that are treated alike differ by no shift. A p-value for them that leaves the reader with an
interval of another question would seem to contradict it: this interval leaves out 0 exactly where
the p-value, corrected for its family, is at most alpha.
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from scipy import special

from biaswatch.shared.stats.comparisons.sign_flips import sign_flip_p
from biaswatch.shared.stats.estimate import Estimate, check_alpha, undefined
from biaswatch.shared.stats.samples import FLAT_RTOL, Vector

METHOD = "constant shift, inverted sign flips"
IDENTICAL = "all twins were answered alike: nothing shows how precise a shift of 0 is"
ALIKE = "all twins differ by as much: nothing shows how precise this is"
NO_TWINS = "no set has answers of both groups"
MAX_SUBSET_SETS = 12
"""Sets up to which the means of all subsets are computed for the interval."""
LEVEL_RTOL = 1 + 1e-6
"""A level above a p-value by this factor leaves out 0 in spite of rounding."""
RANK_ATOL = 1e-9
"""Slack of the count of subsets, for a level that equals a p-value."""


@dataclass(frozen=True)
class TwinDifferences:
    """The differences of twins on one feature, as far as the interval of their shift needs them."""

    sets: int
    mean: float
    sd: float
    """Standard deviation of the differences, with divisor n."""
    values: Vector
    """[sets]: the differences of up to 12 sets; empty for more."""

    @classmethod
    def of(cls, differences: Vector) -> "TwinDifferences":
        """Summarise differences [sets], finite: one twin minus the other, in any unit."""
        if not len(differences):
            return cls(0, 0.0, 0.0, differences)
        kept = differences if len(differences) <= MAX_SUBSET_SETS else np.empty(0)
        return cls(len(differences), float(differences.mean()), float(differences.std()), kept)

    @property
    def is_flat(self) -> bool:
        """True where all differences are equal, apart from rounding."""
        return self.sd <= FLAT_RTOL * abs(self.mean)

    @property
    def p_value(self) -> float | None:
        """The p-value of no shift that `shift` inverts; None without sets."""
        if len(self.values) or not self.sets:
            return sign_flip_p(self.values)
        spread = sqrt(self.mean**2 + self.sd**2)
        if not spread:
            return 1.0
        return 2 * float(special.ndtr(-abs(self.mean) / spread * sqrt(self.sets)))

    def shift(self, alpha: float) -> Estimate:
        """Return the constant shifts that sign flips do not reject at level `alpha`.

        Assumes that the group shifts every answer by one constant. Where it shifts a few answers by
        much, the interval covers the mean far less often than 1 - alpha. Up to 12 sets the limits
        are exact: means of subsets of the sets. For more, they come from the normal approximation
        of the flips.

        Parameters
        ----------
        alpha
            1 minus the coverage, in (0, 1).

        Returns
        -------
        Estimate
            Without limits, and with a reason, where the sets are too few to reject anything, and
            where all differences are equal.

        References
        ----------
        Lehmann (1975), Nonparametrics, section 4.3; Hartigan (1969), Using subsample values as
        typical values, for the means of subsets.

        Examples
        --------
        >>> differences = TwinDifferences.of(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]))
        >>> shift = differences.shift(0.05)
        >>> round(shift.low, 2), shift.value, round(shift.high, 2)
        (1.0, 3.5, 6.0)
        """
        check_alpha(alpha)
        if not self.sets:
            return undefined(NO_TWINS, method=METHOD)
        if self.is_flat:
            return undefined(ALIKE if self.mean else IDENTICAL, value=self.mean, method=METHOD)
        z = -float(special.ndtri(alpha / 2))
        rank = int(alpha * 2.0 ** (self.sets - 1) + RANK_ATOL) if len(self.values) else 1
        if rank < 1 or z * z >= self.sets:
            reason = f"{self.sets} sets cannot reject any shift at level {alpha:.2g}"
            return undefined(reason, value=self.mean, method=METHOD)
        if len(self.values):
            # A shift is rejected where the means of at most `rank` - 1 subsets lie beyond it.
            means = np.partition(_subset_means(self.values), [rank - 1, -rank])
            return Estimate(self.mean, float(means[rank - 1]), float(means[-rank]), METHOD)
        reach = z * self.sd / sqrt(self.sets - z * z)
        method = f"{METHOD}, normal approximation"
        return Estimate(self.mean, self.mean - reach, self.mean + reach, method)

    def shift_within(self, p_adjusted: float | None, alpha: float, family: int) -> Estimate:
        """Return the shift at the level at which a family tests these twins.

        The level is `alpha / family` (Bonferroni), so that all shifts of a family are covered
        together. Where the correction of the p-value decides otherwise, the level agrees with it:
        0 is left out exactly where `p_adjusted` is at most `alpha`.

        Parameters
        ----------
        p_adjusted
            The p-value of twins that are treated alike, corrected; None without a test.
        alpha
            The level of the family, in (0, 1).
        family
            Comparisons that were corrected together.

        Examples
        --------
        >>> differences = TwinDifferences.of(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]))
        >>> differences.p_value, round(differences.shift_within(0.047, 0.05, 3).low, 2)
        (0.015625, 1.0)
        """
        return self.shift(agreeing_level(self.p_value, p_adjusted, alpha, family))


def agreeing_level(
    p_value: float | None, p_adjusted: float | None, alpha: float, family: int
) -> float:
    """Return the level that rejects by `p_value` exactly where `p_adjusted` is at most `alpha`."""
    single = alpha / family
    if p_value is None or p_adjusted is None or (p_value <= single) is (p_adjusted <= alpha):
        return single
    level = alpha * p_value / p_adjusted
    return max(min(alpha, level), p_value * LEVEL_RTOL) if p_adjusted <= alpha else level


def _subset_means(differences: Vector) -> Vector:
    """Return the mean of every subset of the sets, but the empty one."""
    sums, sizes = np.zeros(1), np.zeros(1)
    for difference in differences:
        sums = np.concatenate([sums, sums + difference])
        sizes = np.concatenate([sizes, sizes + 1])
    means: Vector = sums[1:] / sizes[1:]
    return means
