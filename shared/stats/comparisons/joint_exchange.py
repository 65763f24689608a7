"""Exchange of all labels within sets, for several groups and features at once.

Under Fisher's sharp null the answers of a set could have carried each other's labels. All features
of an answer move together, so the largest statistic of the family has its exact distribution
whatever the correlation of features, and few sets can still find something.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from math import factorial, prod

import numpy as np

from biaswatch.shared.stats.arrays import Floats
from biaswatch.shared.stats.comparisons.exchange_totals import (
    all_totals,
    centred_sets,
    random_totals,
)
from biaswatch.shared.stats.comparisons.multiplicity import holm
from biaswatch.shared.stats.comparisons.sign_flips import sign_flip_p

MAX_ENUMERATED = 50_000
"""Exchanges up to which all are enumerated; beyond, random ones are drawn."""
EXCHANGES = 2999
"""Random exchanges: the smallest p-value is 0.00033."""
MAX_CLOSED_GROUPS = 6
"""Groups up to which closed testing visits every subset (57 of them)."""
MAX_RESOLVED_PAIRS = 30
"""Pairs of groups that random exchanges can still correct: Holm's smallest p-value is then 0.01."""
SKIP_ABOVE = 0.2
"""P-value of a subset of groups; above it, its own subsets are not tested."""
TIE_RTOL = 1e-9
"""Relative to the root of the sum of squares: closer statistics are equal."""


@dataclass(frozen=True)
class JointExchange:
    """P-values of one family of comparisons that share their sets."""

    pairs: tuple[tuple[int, int], ...]
    """Groups of each comparison; the second is -1 for all other groups together."""
    p_values: Floats
    """[pairs, features]: of each comparison by itself; NaN without a test."""
    adjusted: Floats
    """[pairs, features]: corrected over all comparisons; at least `p_values`. A value above
    `SKIP_ABOVE` is a lower bound."""
    overall_p: float | None
    """P-value of "no group is treated differently on any feature"; None without a test."""
    exact: bool
    """True where every exchange was enumerated or counted."""


def joint_exchange(
    values: Floats,
    *,
    against_rest: bool = False,
    rng: np.random.Generator | None = None,
    exchanges: int = EXCHANGES,
) -> JointExchange:
    """Test whether twins are treated differently, for all pairs of groups and all features.

    Across features: the largest standardised statistic over joint exchanges, step-down. Across
    groups: closed testing, first of all labels, then of every subset of groups, then of pairs;
    with Ryan's share of alpha for subsets that leave two groups or more out. With more than six
    groups, Holm's correction of the pairs; of all exact p-values where there are more than 30 pairs
    of too many sets to enumerate, since random exchanges have a smallest p-value. Against all
    others, one exchange of all labels tests every group, since "this group is treated as all
    others" is one hypothesis for all.

    Parameters
    ----------
    values
        [sets, groups, features], NaN where missing: the mean answer of each group in each set. A
        set needs answers of two groups to count; a group without any value in a set takes no part
        in its exchanges.
    against_rest
        Compare each group with all others together instead of all pairs.
    rng, exchanges
        Where there are more than 50,000 exchanges, `exchanges` random ones are drawn.

    Raises
    ------
    ValueError
        Random exchanges are needed, and there is no `rng`.

    References
    ----------
    Fisher (1935); Westfall and Young (1993), Resampling-based multiple testing; Marcus, Peritz and
    Gabriel (1976), On closed testing procedures; Ryan (1960), Significance tests for multiple
    comparison of proportions, variances, and other statistics; Phipson and Smyth (2010).

    Examples
    --------
    >>> answers = np.tile([[4.0, 2.0, 2.0]], (6, 1))[:, :, None]
    >>> joint_exchange(answers).adjusted.round(3).ravel().tolist()
    [0.031, 0.031, 1.0]
    """
    groups, features = values.shape[1:]
    if against_rest:
        null = _null_of(values, rng, exchanges, against_rest=True)
        adjusted, single = null.step_down().reshape(groups, features), null.single()
        rest = tuple((group, -1) for group in range(groups))
        return JointExchange(
            rest, single.reshape(groups, features), adjusted, _least(adjusted), null.exact
        )
    by_pair = pairwise_flips(values)
    pairs, p_values = by_pair.pairs, by_pair.p_values
    if groups == 2 and features == 1:
        return JointExchange(pairs, p_values, p_values, _least(p_values), exact=True)
    null = _null_of(values, rng, exchanges)
    overall, family = null.step_down(), partial(_adjusted, values, rng, exchanges)
    if len(pairs) > MAX_RESOLVED_PAIRS and 2 ** (len(values) - 1) > MAX_ENUMERATED:
        adjusted = by_pair.adjusted
    elif groups > MAX_CLOSED_GROUPS:
        columns = np.array([family(pair) for pair in pairs]).T
        adjusted = np.array([_holm(column) for column in columns]).T
    else:
        adjusted = _closed(family, pairs, groups, overall)
    adjusted = np.fmax(adjusted, p_values)
    return JointExchange(pairs, p_values, adjusted, _least(overall), null.exact)


def pairwise_flips(values: Floats) -> JointExchange:
    """Return exact sign flips of each pair of groups, corrected by Holm's method.

    Parameters
    ----------
    values
        As in `joint_exchange`; for so many sets that all labels together cannot be exchanged.
    """
    pairs = tuple(combinations(range(values.shape[1]), 2))
    shape = len(pairs), values.shape[2]
    p_values = np.array([_flip_ps(values, pair) for pair in pairs]).reshape(shape)
    adjusted = np.array(_holm(p_values.ravel())).reshape(shape)
    return JointExchange(pairs, p_values, adjusted, _least(adjusted), exact=True)


def _flip_ps(values: Floats, pair: tuple[int, ...]) -> Floats:
    """Return [features]: the exact p-values of a pair, over its complete sets."""
    differences = values[:, pair[0]] - values[:, pair[1]]
    columns = (column[np.isfinite(column)] for column in differences.T)
    return np.array([np.nan if (p := sign_flip_p(column)) is None else p for column in columns])


def _adjusted(
    values: Floats, rng: np.random.Generator | None, exchanges: int, subset: tuple[int, ...]
) -> Floats:
    """Return [features]: step-down p-values of "these groups are treated alike"."""
    if len(subset) == 2 and values.shape[2] == 1:
        return _flip_ps(values, subset)
    return _null_of(values[:, subset], rng, exchanges).step_down()


def _closed(
    family: Callable[[tuple[int, ...]], Floats],
    pairs: tuple[tuple[int, int], ...],
    groups: int,
    overall: Floats,
) -> Floats:
    """Return the largest p-value of all subsets of groups that contain each pair."""
    adjusted = np.tile(overall, (len(pairs), 1))
    for size in range(groups - 1, 1, -1):
        ryan = groups / size if size < groups - 1 else 1.0
        for subset in combinations(range(groups), size):
            inside = [place for place, pair in enumerate(pairs) if set(pair) <= set(subset)]
            if not (adjusted[inside] > SKIP_ABOVE).all():
                p_values = np.minimum(1.0, ryan * family(subset))
                adjusted[inside] = np.fmax(adjusted[inside], p_values)
    return adjusted


def _holm(p_values: Floats) -> list[float]:
    return [np.nan if p is None else p for p in holm(p_values.tolist())]


def _least(p_values: Floats) -> float | None:
    tested = p_values[np.isfinite(p_values)]
    return float(tested.min()) if len(tested) else None


@dataclass(frozen=True)
class _Null:
    """Observed statistics and those under exchanges, standardised; NaN without a test."""

    observed: Floats
    """[statistics]."""
    null: Floats
    """[statistics, exchanges]."""
    exact: bool

    def single(self) -> Floats:
        """Return [statistics]: the p-value of each by itself."""
        return self._shares(self.null)

    def step_down(self) -> Floats:
        """Return [statistics]: p-values corrected by the largest statistic, step-down."""
        order = np.argsort(self.observed)  # NaN last
        tested = order[np.isfinite(self.observed[order])]
        ordered = replace(self, observed=self.observed[tested], null=self.null[tested])
        np.maximum.accumulate(ordered.null, axis=0, out=ordered.null)
        p_values = np.full(len(self.observed), np.nan)
        p_values[tested[::-1]] = np.maximum.accumulate(ordered.single()[::-1])
        return p_values

    def _shares(self, null: Floats) -> Floats:
        random = 0 if self.exact else 1
        least = self.observed[:, None] - TIE_RTOL
        as_large = np.count_nonzero(null >= least, axis=1) + random
        shares = as_large / (null.shape[1] + random)
        return np.asarray(np.where(np.isfinite(self.observed), shares, np.nan))


def _null_of(
    values: Floats, rng: np.random.Generator | None, exchanges: int, *, against_rest: bool = False
) -> _Null:
    """Return the null distribution of the statistics of all groups within sets.

    They are the largest difference of two groups, by feature; or every group's distance from the
    mean of all, by group and feature.
    """
    if values.shape[1] == 2 and not against_rest:
        return _flip_null(values[:, 0] - values[:, 1], rng, exchanges)
    statistic = _deviations if against_rest else _ranges
    centred, answered = centred_sets(values)
    centred = _standardised(centred, bool(np.isfinite(values).any()))
    observed = statistic(centred.sum(axis=0)[None])[:, 0]
    ways = prod(factorial(int(count)) for count in answered.sum(axis=1))
    fixed = 0
    if statistic is _ranges and answered.size and answered.all():
        # The same permutation of all sets changes no range.
        fixed, ways = 1, ways // factorial(answered.shape[1])
    if ways <= MAX_ENUMERATED:
        return _Null(observed, statistic(all_totals(centred, answered, fixed)), True)
    blocks = random_totals(centred, answered, _generator(rng), exchanges)
    null = np.concatenate([statistic(totals) for totals in blocks], axis=1)
    return _Null(observed, null, False)


def _flip_null(differences: Floats, rng: np.random.Generator | None, exchanges: int) -> _Null:
    """Return the null distribution of the mean differences of two groups, [sets, features]."""
    present = np.isfinite(differences)
    used = differences[present.any(axis=1)]
    flipped = _standardised(np.where(np.isfinite(used), used, 0.0), bool(present.any()))
    flipped[:, ~present.any(axis=0)] = np.nan
    sets = len(flipped)
    exact = 2 ** max(sets - 1, 0) <= MAX_ENUMERATED
    if exact:  # the opposite of all signs changes no distance from 0
        signs = (np.arange(2 ** max(sets - 1, 0))[:, None] >> np.arange(sets)) & 1
    else:
        signs = _generator(rng).integers(0, 2, size=(exchanges, sets), dtype=np.int8)
    null = flipped.T @ (signs * 2.0 - 1.0).T
    return _Null(np.abs(flipped.sum(axis=0)), np.abs(null, out=null), exact)


def _generator(rng: np.random.Generator | None) -> np.random.Generator:
    if rng is None:
        raise ValueError(f"there are more than {MAX_ENUMERATED:,} exchanges: pass a generator")
    return rng


def _standardised(answers: Floats, tested: bool) -> Floats:
    """Return answers [..., features] with a sum of squares of 1; NaN without any."""
    scale = np.sqrt(np.square(answers).sum(axis=tuple(range(answers.ndim - 1))))
    return answers / np.where(scale > 0, scale, 1.0 if tested else np.nan)


def _ranges(totals: Floats) -> Floats:
    """Return [features, exchanges]: the largest difference of two groups."""
    return np.asarray((totals.max(axis=1) - totals.min(axis=1)).T)


def _deviations(totals: Floats) -> Floats:
    """Return [groups * features, exchanges]: how far groups are from the mean of all."""
    return np.abs(totals).reshape(len(totals), -1).T
