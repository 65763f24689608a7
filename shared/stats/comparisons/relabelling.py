"""All, or random, exchanges of two labels within strata."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, prod

import numpy as np
from numpy.typing import NDArray
from scipy import special

from biaswatch.shared.stats.arrays import Floats
from biaswatch.shared.stats.samples import Vector

DRAW_INDICES_BELOW = 8
"""Up to this many units of one group, draw indices directly instead of permuting all units."""
MAX_ENUMERATED = 10_000
"""Relabellings up to which all are enumerated; beyond, random ones are drawn."""
TIE_RTOL = 1e-12
"""Relative to the sum of absolute values: closer sums are equal."""
_BLOCK_VALUES = 2_000_000
"""Random numbers held at once (16 MB)."""
RESAMPLES = 9999
_Rows = np.ndarray[tuple[int, int], np.dtype[np.float64]]


def log_ways(n: int, k: int | NDArray[np.integer]) -> Floats:
    """Return the logarithm of the number of ways to choose k of n, also of many k."""
    logs = special.gammaln(n + 1) - special.gammaln(np.add(k, 1)) - special.gammaln(n - k + 1)
    return np.asarray(logs, dtype=np.float64)


@dataclass(frozen=True)
class Stratum:
    """Units among which labels may be exchanged: the values of both groups in it."""

    a: Vector
    b: Vector

    @property
    def units(self) -> Vector:
        """Return the values of both groups, a's first."""
        return np.concatenate([self.a, self.b])

    def ways(self) -> int:
        """Return the number of relabellings with the same group sizes."""
        return comb(len(self.a) + len(self.b), len(self.a))


@dataclass(frozen=True)
class PermutationTest:
    """P-value of the observed sum among those of relabelled values."""

    p_value: float
    exact: bool
    """True where all relabellings are enumerated."""


def permutation_test(
    strata: Sequence[Stratum], rng: np.random.Generator | None, resamples: int
) -> PermutationTest:
    """Return the two-sided p-value of the sum of group a's values when labels move within strata.

    With at most 10,000 relabellings all are enumerated and a tail's p-value is its share of them;
    else `resamples` random ones are drawn and it is (b + 1) / (m + 1), b of m being as extreme as
    the observed one, which counts as a relabelling itself. The two-sided p-value is twice the
    smaller tail's, at most 1. The result does not depend on the order of the values.

    Parameters
    ----------
    strata
        The values of both groups in each stratum.
    rng, resamples
        For more than 10,000 relabellings.

    Raises
    ------
    ValueError
        Without `rng` where random relabellings are needed, or for `resamples` below 1.

    References
    ----------
    Fisher (1935), The Design of Experiments; Phipson and Smyth (2010), Permutation p-values should
    never be zero.
    """
    if resamples < 1:
        raise ValueError(f"a permutation test needs at least one resample, not {resamples}")
    movable = [stratum for stratum in strata if stratum.ways() > 1]
    ways = prod(stratum.ways() for stratum in movable)
    observed = float(sum(stratum.a.sum() for stratum in movable))
    if ways <= MAX_ENUMERATED:
        sums, extra = _all_sums(movable), 0
    elif rng is None:
        raise ValueError(
            f"there are more than {MAX_ENUMERATED:,} relabellings: give a random generator"
        )
    else:
        sums, extra = _random_sums(movable, rng, resamples), 1
    scale = float(sum(np.abs(s.a).sum() + np.abs(s.b).sum() for s in movable))
    slack = TIE_RTOL * scale
    above = (int((sums >= observed - slack).sum()) + extra) / (len(sums) + extra)
    below = (int((sums <= observed + slack).sum()) + extra) / (len(sums) + extra)
    return PermutationTest(min(1.0, 2 * min(above, below)), extra == 0)


def _all_sums(strata: Sequence[Stratum]) -> Vector:
    sums = np.zeros(1)
    for stratum in strata:
        units = stratum.units
        chosen = np.array(list(combinations(range(len(units)), len(stratum.a))))
        sums = (sums[:, None] + units[chosen].sum(axis=1)[None, :]).reshape(-1)
    return sums


def _random_sums(strata: Sequence[Stratum], rng: np.random.Generator, resamples: int) -> Vector:
    """Draw relabellings; strata of one shape are drawn together, which makes pairs cheap."""
    shapes: dict[tuple[int, int], list[Vector]] = defaultdict(list)
    for stratum in strata:
        units = np.sort(stratum.units)
        shapes[len(units), len(stratum.a)].append(units)
    sums = np.zeros(resamples)
    for (_, chosen), rows in sorted(shapes.items(), key=lambda item: item[0]):
        table = np.array(sorted(rows, key=lambda row: tuple(row)))
        sums += _drawn(table, chosen, rng, resamples)
    return sums


def _drawn(table: _Rows, chosen: int, rng: np.random.Generator, resamples: int) -> Vector:
    """Return sums over all rows of `chosen` random units of each row, `resamples` times."""
    units = table.shape[1]
    if len(table) == 1 and units > 2 and min(chosen, units - chosen) <= DRAW_INDICES_BELOW:
        few = _few_sums(table[0], min(chosen, units - chosen), rng, resamples)
        return few if 2 * chosen <= units else table[0].sum() - few
    step = max(1, _BLOCK_VALUES // table.size)
    sizes = [min(step, resamples - start) for start in range(0, resamples, step)]
    parts = []
    for size in sizes:
        if table.shape[1] == 2:  # one coin for each pair is far cheaper than an order
            coins = rng.integers(0, 2, size=(size, len(table)), dtype=np.int8)
            parts.append(table[:, 0].sum() + coins @ (table[:, 1] - table[:, 0]))
        else:
            shuffled = rng.permuted(np.repeat(table[None], size, axis=0), axis=2)
            parts.append(shuffled[:, :, :chosen].sum(axis=(1, 2)))
    return np.concatenate(parts, dtype=np.float64)


def _few_sums(units: Vector, chosen: int, rng: np.random.Generator, resamples: int) -> Vector:
    """Return sums of a few distinct units, a thousand times as fast as permuting all of them.

    Each next place is drawn among one more, and replaced by the last one where it repeats: every
    set of places is then equally likely (Floyd's algorithm; Bentley, 1987).
    """
    places = np.empty((chosen, resamples), dtype=np.intp)
    for row, last in enumerate(range(len(units) - chosen, len(units))):
        drawn = rng.integers(0, last + 1, size=resamples)
        repeated = (places[:row] == drawn).any(axis=0)
        places[row] = np.where(repeated, last, drawn)
    return np.asarray(units[places].sum(axis=0), dtype=np.float64)
