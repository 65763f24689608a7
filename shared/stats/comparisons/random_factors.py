"""A gap beyond the drawn names, texts and templates: a t test with several random factors.

A random factor is a kind of stimulus whose values could have been drawn differently. Answers that
share a value of any factor are dependent, so the variance of the gap adds up over the clusters of
each factor, and what two factors share is counted once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray
from scipy import special

from biaswatch.shared.stats.arrays import Bools, Indices
from biaswatch.shared.stats.comparisons.cluster_variance import (
    clustered,
    distinct,
    effective_dof,
    joined,
    total_variance,
)
from biaswatch.shared.stats.estimate import Estimate, check_alpha, undefined
from biaswatch.shared.stats.samples import FLAT_RTOL, Vector

MIN_LEVELS = 5
"""Minimum number of values of a factor per group for a claim beyond these values."""
MIN_SURE_LEVELS = 15
"""With fewer values of a factor per group, intervals are also about these values."""
METHOD = "cluster-robust t"
NO_ANSWERS = "a group has no answers"
NO_FACTOR = "no random factor is declared"
NO_SPREAD = "all answers are equal apart from the gap and the effects of texts"
_PROJECTIONS, _CONVERGED = 200, 1e-12


@dataclass(frozen=True)
class LevelCounts:
    """How many values of a random factor there are in each group."""

    factor: str
    a: int
    b: int
    shared: int
    """Values with answers of both groups."""

    @property
    def crossed(self) -> bool:
        """True where every value has answers of both groups, like a text; not like a name."""
        return self.shared > 0 and self.shared * 2 >= max(self.a, self.b)

    @property
    def clusters(self) -> int:
        """Return the number of clusters that the degrees of freedom count."""
        return self.shared if self.crossed else min(self.a, self.b)

    @property
    def few(self) -> bool:
        """True where the values are too few for a claim beyond them."""
        return self.clusters < MIN_LEVELS


@dataclass(frozen=True)
class FactorGap:
    """The gap of two groups with a standard error for several random factors."""

    gap: float | None
    error: float | None
    """Standard error, above 0; None without a test."""
    dof: float | None
    """Fewest values of a factor in a group, minus 1; less where some have most of the answers."""
    p_value: float | None
    """Two-sided, of a gap of 0; None without a test."""
    levels: tuple[LevelCounts, ...]
    reason: str | None = None
    width: float | None = None
    """Width of the range of answers, where it is declared; without spread, of those seen."""

    @property
    def few(self) -> tuple[str, ...]:
        """Return the factors with under five values per group."""
        return tuple(level.factor for level in self.levels if level.few)

    def interval(self, alpha: float) -> Estimate:
        """Return the gap with the t interval of coverage 1 - alpha."""
        check_alpha(alpha)
        method = f"{METHOD} over {', '.join(level.factor for level in self.levels)}"
        if self.gap is None or self.error is None or self.dof is None:
            return undefined(self.reason or NO_SPREAD, value=self.gap, method=method)
        reach = -float(special.stdtrit(self.dof, alpha / 2)) * self.error
        return Estimate(self.gap, self.gap - reach, self.gap + reach, method)

    def tails(self, gap: float) -> tuple[float, float]:
        """Return the p-values of "the gap is at most this", and of "it is at least this"."""
        if self.gap is None or self.error is None or self.dof is None:
            return 1.0, 1.0
        at_most = float(special.stdtr(self.dof, (gap - self.gap) / self.error))
        return at_most, 1.0 - at_most


def random_factor_gap(
    values: Vector, of_a: Bools, factors: Mapping[str, NDArray[np.integer]]
) -> FactorGap:
    """Return the gap of two groups, tested against names, texts and other random factors at once.

    Factors whose values occur in both groups, as texts do, are crossed with the group: their main
    effects are taken out, and the gap is that within texts. Then V = sum of the variances by each
    factor - those by each pair of factors + ..., each the sum over clusters of squared sums of
    weighted residuals, times k / (k - 1) for k clusters of a group. V is not smaller than that by
    any single factor that no other contains. The degrees of freedom are the smallest number of
    clusters minus 1. Where some clusters have most of the answers, V is larger and the degrees are
    fewer, by Bell and McCaffrey's correction for effects of the clusters.

    Answers of one group that share a value of every factor count once, as their mean. With a single
    factor that contains all others (templates above sets), the gap is the mean of the differences
    within its values, or the difference of their means, and the test is Student's t on these.

    Parameters
    ----------
    values
        [n], finite: the answers of both groups.
    of_a
        [n]: whether an answer is of the first group.
    factors
        By name, [n]: the value of each factor for each answer, as codes; a code below 0 is a value
        of its own. Declare sets, or prompts, as a factor as well: they are a sample, too.

    Returns
    -------
    FactorGap
        Without a test, and with a reason, where a factor has one value per group only, or where
        all answers are equal apart from the gap and the effects of texts.

    Raises
    ------
    ValueError
        The arrays differ in length, or there is no factor.

    Notes
    -----
    Holds its level from 2 names per group, and where one name has most of the answers; with fewer
    than 5 (`few`), make no claim beyond them.

    References
    ----------
    Cameron, Gelbach and Miller (2011), Robust inference with multiway clustering; Clark (1973), The
    language-as-fixed-effect fallacy; Judd, Westfall and Kenny (2012), Treating stimuli as a random
    factor; Bell and McCaffrey (2002), for few clusters.

    Examples
    --------
    >>> of_a = np.repeat([True, False], 12)
    >>> names, texts = np.arange(24) // 2, np.arange(24) % 12
    >>> values = of_a * 1.0 + np.random.default_rng(1).normal(0, 0.5, 24)
    >>> result = random_factor_gap(values, of_a, {"name": names, "text": texts})
    >>> result.dof, result.p_value < 0.05
    (5, True)
    """
    if not factors:
        raise ValueError(NO_FACTOR)
    if any(len(codes) != len(values) for codes in (of_a, *factors.values())):
        raise ValueError("values, groups and factors differ in length")
    names = tuple(factors)
    codes = [distinct(np.asarray(factors[name], dtype=np.intp)) for name in names]
    levels = tuple(_levels(*named, of_a) for named in zip(names, codes, strict=True))
    if of_a.all() or not of_a.any():
        return FactorGap(None, None, None, None, levels, NO_ANSWERS)
    values, of_a, codes = _cells(values, of_a, codes)
    crossed = [level.crossed for level in levels]
    values, of_a, codes = _within_shared(values, of_a, codes, crossed)
    out = [code for code, taken_out in zip(codes, crossed, strict=True) if taken_out]
    codes = _outermost(codes)
    weights = _weights(of_a, codes)
    gap, influence, shares = _influence(values, of_a, out, weights)
    most = min(level.clusters for level in levels) - 1
    if most < 1:
        few = min(levels, key=lambda level: level.clusters)
        reason = f"a group has one value of {few.factor}: a test needs two"
        return FactorGap(gap, None, None, None, levels, reason)
    single = [clustered(influence, shares, of_a, code) for code in codes]
    variance = total_variance(influence, shares, of_a, codes, [parts.sum() for parts, _ in single])
    if variance <= (FLAT_RTOL * float(np.abs(values).max())) ** 2:
        return FactorGap(gap, None, None, None, levels, NO_SPREAD)
    error = sqrt(variance)
    dof = min(most, *(effective_dof(*parts) for parts in single))
    p_value = min(1.0, 2 * float(special.stdtr(dof, -abs(gap) / error)))
    return FactorGap(gap, error, dof, p_value, levels)


def difference_of_factor_gaps(after: FactorGap, before: FactorGap) -> FactorGap:
    """Return the change of a gap between independent samples, as Welch's t of the two gaps.

    Names or texts that both samples share correlate the errors, which makes the interval too wide,
    not too narrow.

    References
    ----------
    Satterthwaite (1946), An approximate distribution of estimates of variance components.
    """
    gap = None if after.gap is None or before.gap is None else after.gap - before.gap
    if gap is None or not (after.error and before.error and after.dof and before.dof):
        return FactorGap(gap, None, None, None, after.levels, after.reason or before.reason)
    parts = [(after.error**2, after.dof), (before.error**2, before.dof)]
    variance = sum(square for square, _ in parts)
    dof = variance**2 / sum(square**2 / degrees for square, degrees in parts)
    p_value = min(1.0, 2 * float(special.stdtr(dof, -abs(gap) / sqrt(variance))))
    return FactorGap(gap, sqrt(variance), dof, p_value, after.levels)


def nested_p(p_group_effect: float | None, p_same_treatment: float | None) -> float | None:
    """Return the p-value of an effect of the group, never below that of treatment of twins.

    An effect beyond these names and texts implies one on them, so both share one alpha.

    Examples
    --------
    >>> nested_p(0.01, 0.03), nested_p(0.01, None), nested_p(None, 0.03)
    (0.03, 0.01, None)
    """
    if p_group_effect is None or p_same_treatment is None:
        return p_group_effect
    return max(p_group_effect, p_same_treatment)


def _levels(factor: str, codes: Indices, of_a: Bools) -> LevelCounts:
    count = int(codes.max(initial=-1)) + 1
    in_a = np.bincount(codes[of_a], minlength=count) > 0
    in_b = np.bincount(codes[~of_a], minlength=count) > 0
    return LevelCounts(factor, int(in_a.sum()), int(in_b.sum()), int((in_a & in_b).sum()))


def _cells(
    values: Vector, of_a: Bools, codes: list[Indices]
) -> tuple[Vector, Bools, list[Indices]]:
    """Return one answer, the mean, for each group and combination of values."""
    cell = joined([of_a.astype(np.intp), *codes])
    count = int(cell.max()) + 1
    if count == len(values):
        return values, of_a, codes
    first = np.full(count, len(values))
    np.minimum.at(first, cell, np.arange(len(values)))
    means = np.bincount(cell, weights=values) / np.bincount(cell)
    return np.asarray(means), of_a[first], [code[first] for code in codes]


def _within_shared(
    values: Vector, of_a: Bools, codes: list[Indices], crossed: Sequence[bool]
) -> tuple[Vector, Bools, list[Indices]]:
    """Return the answers whose values of crossed factors have answers of both groups."""
    kept = np.ones(len(values), dtype=np.bool_)
    for code, is_crossed in zip(codes, crossed, strict=True):
        if is_crossed:
            count = int(code.max()) + 1
            shared = (np.bincount(code[of_a], minlength=count) > 0) & (
                np.bincount(code[~of_a], minlength=count) > 0
            )
            kept &= shared[code]
    if kept.all():
        return values, of_a, codes
    return values[kept], of_a[kept], [distinct(code[kept]) for code in codes]


def _outermost(codes: list[Indices]) -> list[Indices]:
    """Return the factors without those whose values lie within values of another one."""
    kept: list[Indices] = []
    for place, code in enumerate(codes):
        remaining = [*kept, *codes[place + 1 :]]
        if not any(contains(other, code) for other in remaining):
            kept.append(code)
    return kept


def _weights(of_a: Bools, codes: list[Indices]) -> Vector:
    """Return weights that give every value of a single factor the same influence."""
    if len(codes) > 1:
        return np.ones(len(of_a))
    by_group = codes[0] * 2 + of_a
    return np.asarray(1.0 / np.bincount(by_group)[by_group])


def contains(outer: NDArray[np.integer], inner: NDArray[np.integer]) -> bool:
    """Return whether every value of the inner factor has one value of the outer one."""
    if (outer < 0).any() or (inner < 0).any():
        return False
    pairs = outer.astype(np.int64) * (int(inner.max(initial=0)) + 1) + inner
    return len(np.unique(pairs)) == len(np.unique(inner))


def _influence(
    values: Vector, of_a: Bools, out: Sequence[Indices], weights: Vector
) -> tuple[float, Vector, Vector]:
    """Return the gap, and the shares of each answer in its error and in the gap itself.

    Least squares of the answers on the group and the main effects of the factors to take out.
    """
    group = _residuals(of_a.astype(np.float64), out, weights)
    left = _residuals(values, out, weights)
    information = float((weights * group * group).sum())
    gap = float((weights * group * left).sum()) / information
    influence = np.asarray(weights * group * (left - gap * group) / information)
    return gap, influence, weights * group / information


def _residuals(values: Vector, out: Sequence[Indices], weights: Vector) -> Vector:
    """Return values minus the weighted means of each factor's values, by alternating projection."""
    if not out:
        return np.asarray(values - np.average(values, weights=weights))
    scale = float(np.abs(values).max())
    left = values
    for _ in range(_PROJECTIONS):
        before = left
        for code in out:
            sums = np.bincount(code, weights=weights * left)
            left = left - (sums / np.bincount(code, weights=weights))[code]
        if len(out) == 1 or float(np.abs(left - before).max()) <= _CONVERGED * scale:
            break
    return left
