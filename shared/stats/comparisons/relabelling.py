"""Sums of one group's values under all, or many random, exchanges of the labels."""

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

FEW_CHOSEN = 8
"""Of many units: so few are drawn one by one, and not by an order of all."""
EXACT_UP_TO = 10_000
"""With so few relabellings each is looked at once; beyond, random ones are drawn."""
ROUNDING = 1e-12
"""Relative to the sum of absolute values: sums closer than this are the same sum."""
_CHUNK = 2_000_000
"""Random numbers held at once (16 MB)."""
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
        """Return the number of ways to label as many of the units a as were."""
        return comb(len(self.a) + len(self.b), len(self.a))


@dataclass(frozen=True)
class Tails:
    """Where the observed sum lies among the relabelled ones."""

    p_value: float
    relabellings: int
    exact: bool


def pairs_of(x: Vector, y: Vector) -> list[Stratum]:
    """Return a stratum for each pair, of the i-th of both."""
    return [Stratum(x[i : i + 1], y[i : i + 1]) for i in range(len(x))]


def tails(strata: Sequence[Stratum], rng: np.random.Generator | None, resamples: int) -> Tails:
    """Return the two-sided p-value of the sum of group a's values when labels move within strata.

    With at most 10,000 relabellings all are enumerated and a tail's p-value is its share of them;
    else `resamples` random ones are drawn and it is (b + 1) / (m + 1), b of m being as extreme as
    the observed one, which counts as a relabelling itself. The two-sided p-value is twice the
    smaller tail's, at most 1. The result depends on the values and on `rng`, not on their order.

    Raises
    ------
    ValueError
        Where random relabellings are needed and no `rng` is given, or `resamples` is below 1.

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
    if ways <= EXACT_UP_TO:
        sums, extra = _all_sums(movable), 0
    elif rng is None:
        raise ValueError(
            f"there are more than {EXACT_UP_TO:,} relabellings: give a random generator"
        )
    else:
        sums, extra = _random_sums(movable, rng, resamples), 1
    scale = float(sum(np.abs(s.a).sum() + np.abs(s.b).sum() for s in movable))
    slack = ROUNDING * scale
    above = (int((sums >= observed - slack).sum()) + extra) / (len(sums) + extra)
    below = (int((sums <= observed + slack).sum()) + extra) / (len(sums) + extra)
    return Tails(min(1.0, 2 * min(above, below)), len(sums), extra == 0)


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
    if len(table) == 1 and units > 2 and min(chosen, units - chosen) <= FEW_CHOSEN:
        few = _few_sums(table[0], min(chosen, units - chosen), rng, resamples)
        return few if 2 * chosen <= units else table[0].sum() - few
    step = max(1, _CHUNK // table.size)
    sizes = [min(step, resamples - start) for start in range(0, resamples, step)]
    found = []
    for size in sizes:
        if table.shape[1] == 2:  # one coin for each pair is far cheaper than an order
            coins = rng.integers(0, 2, size=(size, len(table)), dtype=np.int8)
            found.append(table[:, 0].sum() + coins @ (table[:, 1] - table[:, 0]))
        else:
            shuffled = rng.permuted(np.repeat(table[None], size, axis=0), axis=2)
            found.append(shuffled[:, :, :chosen].sum(axis=(1, 2)))
    return np.concatenate(found, dtype=np.float64)


def _few_sums(units: Vector, chosen: int, rng: np.random.Generator, resamples: int) -> Vector:
    """Return sums of a few different units: to order all of them takes a thousandfold as long.

    Each next place is drawn among one more, and is the last of them where it is taken already:
    every set of places is then as likely as any other (Floyd's algorithm; Bentley, 1987).
    """
    places = np.empty((chosen, resamples), dtype=np.intp)
    for row, last in enumerate(range(len(units) - chosen, len(units))):
        drawn = rng.integers(0, last + 1, size=resamples)
        taken = (places[:row] == drawn).any(axis=0)
        places[row] = np.where(taken, last, drawn)
    return np.asarray(units[places].sum(axis=0), dtype=np.float64)


RESAMPLES = 9999


@dataclass(frozen=True)
class PermutationTest:
    """A difference of means over units, and how often relabelling gives one as large."""

    gap: float | None
    """mean(a) - mean(b), each over the means of units."""
    p_value: float | None
    relabellings: int
    """How many were looked at; 0 where there was no test."""
    exact: bool
    """All relabellings were enumerated: the p-value is not random."""
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
        Undefined with a reason where a group has no units, where no label can move, or where no
        move can change anything. The p-value is twice the smaller tail's; exact under the
        hypothesis that labels are exchangeable inside sets.

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

    The i-th of `a` and of `b` are one pair; pairs of which a value is missing are left out and
    counted. Exact up to 13 pairs. Assumes that under the hypothesis each pair could as well have
    come the other way round.

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
    found = tails(strata, rng, resamples)
    name = f"{method}, {'all' if found.exact else 'random'} relabellings"
    return PermutationTest(gap, found.p_value, found.relabellings, found.exact, *counts, name)


def _no_test(strata: list[Stratum], counts: tuple[int, int, int, int]) -> str | None:
    if not counts[0] or not counts[1]:
        return "a group has no values"
    movable = [stratum for stratum in strata if len(stratum.a) and len(stratum.b)]
    if not movable:
        return "no set holds units of both groups: no label can move"
    if all(np.ptp(s.units) <= ROUNDING * np.abs(s.units).max() for s in movable):
        return "all values that labels could move between are equal"
    return None


def _unit_means(answers: AnswersByPrompt) -> tuple[dict[Hashable, float], int]:
    found = {unit: present(values) for unit, values in answers.items()}
    means = {
        unit: float(np.sort(values).mean()) for unit, (values, _) in found.items() if len(values)
    }
    return means, sum(missing for _, missing in found.values())


def _strata(
    a: Mapping[Hashable, float], b: Mapping[Hashable, float], sets: Mapping[Hashable, Hashable]
) -> list[Stratum]:
    """Sort units under what their labels may move in; a kind keeps sets and units apart."""
    sorted_: dict[tuple[str, Hashable], tuple[list[float], list[float]]]
    sorted_ = defaultdict(lambda: ([], []))
    for side, means in enumerate((a, b)):
        for unit, mean in means.items():
            apart = ("unit", unit) if unit in a and unit in b else ("rest", None)
            place = ("set", sets[unit]) if unit in sets else apart
            sorted_[place][side].append(mean)
    return [Stratum(np.array(x), np.array(y)) for x, y in sorted_.values()]
