"""Permutation tests of a difference of means: group labels exchanged at random."""

from collections import defaultdict
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from biaswatch.shared.stats.comparisons.relabelling import ROUNDING, Stratum, pairs_of, tails
from biaswatch.shared.stats.samples import AnswersByPrompt, Sample, present, present_pairs

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
