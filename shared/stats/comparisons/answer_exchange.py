"""Exchange of single answers within sets, a test that these twins are treated alike.

Where the label changes nothing, the answers to the twins of a set come from one distribution, and
each of them could have carried either label. This is exact for any numbers of answers, while an
exchange of their means is exact only where both twins have equally many.
"""

from collections import defaultdict
from collections.abc import Hashable, Mapping
from math import log
from typing import Any

import numpy as np
from scipy import special

from biaswatch.shared.stats.comparisons.relabelling import RESAMPLES, Stratum, permutation_test
from biaswatch.shared.stats.samples import FLAT_RTOL, Sample, Vector, present

PromptAnswers = Mapping[Any, Sample]
_RATES = np.geomspace(0.01, 1000, 100)
_Sides = tuple[list[Vector], list[Vector]]


def answer_exchange_p(
    a: PromptAnswers,
    b: PromptAnswers,
    sets: Mapping[Any, Hashable] | None,
    *,
    rng: np.random.Generator,
    resamples: int = RESAMPLES,
) -> float | None:
    """Return the two-sided p-value of twins that are treated alike, by exchange of their answers.

    The statistic is the mean over sets of the difference of the groups' means. All answers of a
    set are exchanged, whatever prompt they answer: a difference between names of one group is a
    difference of treatment, too. Where no answer to any prompt ever varied they may not have been
    drawn anew: then each prompt is also exchanged as one unit, and the larger p-value is returned.

    Parameters
    ----------
    a, b
        The answers of each group by prompt; missing ones are left out.
    sets
        The counterfactual set of each prompt; None where twins share their prompt.
    rng, resamples
        Where there are more than 10,000 exchanges, `resamples` random ones are drawn. If none is
        as extreme, a bound of the tail by exponential moments may be smaller still.

    Returns
    -------
    float or None
        In (0, 1]; None where no set has answers of both groups.

    References
    ----------
    Fisher (1935), The Design of Experiments; Pitman (1937); Phipson and Smyth (2010).

    Examples
    --------
    >>> a, b = {"a1": [3, 4, 5], "a2": [4, 5, 5]}, {"b1": [1, 2, 2], "b2": [1, 1, 2]}
    >>> sets = {"a1": 1, "b1": 1, "a2": 2, "b2": 2}
    >>> round(answer_exchange_p(a, b, sets, rng=np.random.default_rng(0)), 3)
    0.005
    """
    by_set = _shared_sets(a, b, sets)
    if not by_set:
        return None
    answers = [(np.concatenate(a), np.concatenate(b)) for a, b in by_set]
    p_value = _exchange_p(answers, rng, resamples)
    if any(_varies(sample) for sides in by_set for side in sides for sample in side):
        return p_value
    prompts = [(_means(a), _means(b)) for a, b in by_set]
    return max(p_value, _exchange_p(prompts, rng, resamples))


def _shared_sets(
    a: PromptAnswers, b: PromptAnswers, sets: Mapping[Any, Hashable] | None
) -> list[_Sides]:
    by_set = defaultdict[Hashable, _Sides](lambda: ([], []))
    for side, group in enumerate((a, b)):
        for prompt, sample in group.items():
            values = np.sort(present(sample)[0])
            if len(values) and (sets is None or prompt in sets):
                by_set[prompt if sets is None else sets[prompt]][side].append(values)
    return [sides for sides in by_set.values() if sides[0] and sides[1]]


def _exchange_p(
    sets: list[tuple[Vector, Vector]], rng: np.random.Generator, resamples: int
) -> float:
    """Return the p-value of exchanging units within sets.

    Units are scaled so that the sum of a's units is the set's part of the gap: with n and m units
    the difference of means is (1/n + 1/m) times the sum of a's units, up to a constant.
    """
    scales = ((1 / len(a) + 1 / len(b)) / len(sets) for a, b in sets)
    strata = [Stratum(a * scale, b * scale) for (a, b), scale in zip(sets, scales, strict=True)]
    if not np.ptp(np.concatenate([stratum.units for stratum in strata])):
        return 1.0
    drawn = permutation_test(strata, rng, resamples)
    if drawn.exact or drawn.p_value > 2 / (resamples + 1):
        return drawn.p_value
    return min(drawn.p_value, 2 * tail_bound(strata))


def tail_bound(strata: list[Stratum]) -> float:
    """Return a bound of the smaller tail of all exchanges, for tails that random ones never reach.

    Chernoff's bound, with units that are drawn with replacement: their exponential moments are
    never smaller than those without (Hoeffding 1963, theorem 4).
    """
    deviation = sum(float((side.a - side.units.mean()).sum()) for side in strata)
    logs = -abs(deviation) * (rates := _RATES / max(float(np.ptp(s.units)) for s in strata))
    for stratum in strata:
        by_a = len(stratum.a) <= len(stratum.b)
        sign = 1.0 if (deviation >= 0) == by_a else -1.0
        units = sign * (stratum.units - stratum.units.mean())
        moments = special.logsumexp(np.outer(rates, units), axis=1) - log(len(units))
        logs += min(len(stratum.a), len(stratum.b)) * moments
    return float(np.exp(min(0.0, logs.min())))


def _means(samples: list[Vector]) -> Vector:
    return np.array([sample.mean() for sample in samples])


def _varies(sample: Vector) -> bool:
    return bool(np.ptp(sample) > FLAT_RTOL * np.abs(sample).max())
