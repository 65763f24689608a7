"""Permutation tests of a difference of means: all, or random, exchanges of two labels."""

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from biaswatch.shared.stats.samples import AnswersByPrompt, Sample, Vector, present, present_pairs

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


def log_ways(n: int, k: int | NDArray[np.integer]) -> NDArray[np.float64]:
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
class PermutationTail:
    """P-value of the observed sum among the relabelled ones."""

    p_value: float
    relabellings: int
    exact: bool


def pairs_of(x: Vector, y: Vector) -> list[Stratum]:
    """Return a stratum for each pair of i-th values."""
    return [Stratum(x[i : i + 1], y[i : i + 1]) for i in range(len(x))]


def tails(
    strata: Sequence[Stratum], rng: np.random.Generator | None, resamples: int
) -> PermutationTail:
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
    return PermutationTail(min(1.0, 2 * min(above, below)), len(sums), extra == 0)


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


@dataclass(frozen=True)
class PermutationTest:
    """A difference of means over units, and its permutation p-value."""

    gap: float | None
    """mean(a) - mean(b), each over the means of units."""
    p_value: float | None
    relabellings: int
    """Number of relabellings; 0 without a test."""
    exact: bool
    """True where all relabellings were enumerated, so that the p-value is not random."""
    units_a: int
    units_b: int
    missing_a: int
    missing_b: int
    method: str
    reason: str | None = None


def label_permutation(
    a: AnswersByPrompt,
    b: AnswersByPrompt,
    *,
    sets: Mapping[Any, Hashable] | None = None,
    rng: np.random.Generator | None = None,
    resamples: int = RESAMPLES,
) -> PermutationTest:
    """Test a difference of means by exchanging the labels.

    Parameters
    ----------
    a, b
        The answers of each group by unit. A unit's answers count as their mean and move together;
        a unit without any finite answer is left out.
    sets
        The counterfactual set of each unit; labels move only inside a set. Units it does not name
        form one set together. A unit that is in both groups is a set of its own: the same prompt.
    rng, resamples
        Where there are more than 10,000 relabellings, `resamples` random ones are drawn.

    Returns
    -------
    PermutationTest
        Undefined with a reason where a group has no units, where labels cannot move, or where
        moves change nothing. The p-value is twice the smaller tail's; exact under the hypothesis
        that labels are exchangeable inside sets.

    References
    ----------
    Fisher (1935), The Design of Experiments; Phipson and Smyth (2010).
    """
    (means_a, missing_a), (means_b, missing_b) = _unit_means(a), _unit_means(b)
    strata = _strata(means_a, means_b, sets or {})
    scope = "within sets" if len(strata) > 1 else "of units"
    counts = (len(means_a), len(means_b), missing_a, missing_b)
    return _tested(strata, counts, f"label permutation {scope}", rng, resamples)


def sign_flip(
    a: Sample, b: Sample, *, rng: np.random.Generator | None = None, resamples: int = RESAMPLES
) -> PermutationTest:
    """Test a mean paired difference by exchanging the two values of pairs.

    Exact up to 13 pairs. Assumes that under the hypothesis the two values of a pair are
    exchangeable.

    Parameters
    ----------
    a, b
        [pairs]: the i-th of both are one pair; pairs with a missing value are left out and counted.
    rng, resamples
        For more than 13 pairs.

    References
    ----------
    Fisher (1935), The Design of Experiments, section 21.
    """
    x, y, missing = present_pairs(a, b)
    counts = (len(x), len(y), missing, missing)
    return _tested(pairs_of(x, y), counts, "sign flips of pairs", rng, resamples)


def _tested(
    strata: list[Stratum],
    counts: tuple[int, int, int, int],
    method: str,
    rng: np.random.Generator | None,
    resamples: int,
) -> PermutationTest:
    gap = None
    if counts[0] and counts[1]:
        x, y = (np.concatenate([getattr(s, side) for s in strata]) for side in ("a", "b"))
        gap = float(x.mean() - y.mean())
    if reason := _no_test(strata, counts):
        return PermutationTest(gap, None, 0, False, *counts, method, reason)
    permuted = tails(strata, rng, resamples)
    name = f"{method}, {'all' if permuted.exact else 'random'} relabellings"
    return PermutationTest(
        gap, permuted.p_value, permuted.relabellings, permuted.exact, *counts, name
    )


def _no_test(strata: list[Stratum], counts: tuple[int, int, int, int]) -> str | None:
    if not counts[0] or not counts[1]:
        return "a group has no values"
    movable = [stratum for stratum in strata if len(stratum.a) and len(stratum.b)]
    if not movable:
        return "no set holds units of both groups: no label can move"
    if all(np.ptp(s.units) <= TIE_RTOL * np.abs(s.units).max() for s in movable):
        return "all values that labels could move between are equal"
    return None


def _unit_means(answers: AnswersByPrompt) -> tuple[dict[Hashable, float], int]:
    by_unit = {unit: present(values) for unit, values in answers.items()}
    means = {
        unit: float(np.sort(values).mean()) for unit, (values, _) in by_unit.items() if len(values)
    }
    return means, sum(missing for _, missing in by_unit.values())


def _strata(
    a: Mapping[Hashable, float], b: Mapping[Hashable, float], sets: Mapping[Hashable, Hashable]
) -> list[Stratum]:
    """Return the strata within which labels move."""
    by_stratum = defaultdict[tuple[str, Hashable], tuple[list[float], list[float]]](
        lambda: ([], [])
    )
    for side, means in enumerate((a, b)):
        for unit, mean in means.items():
            own_stratum = ("unit", unit) if unit in a and unit in b else ("rest", None)
            place = ("set", sets[unit]) if unit in sets else own_stratum
            by_stratum[place][side].append(mean)
    return [Stratum(np.array(x), np.array(y)) for x, y in by_stratum.values()]
