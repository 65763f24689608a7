"""Exchange of single answers within sets, a test that these twins are treated alike.

Where the label changes nothing, the answers to the twins of a set come from one distribution, and
each of them could have carried either label. This is exact for any numbers of answers, while an
exchange of their means is exact only where both twins have equally many.
"""

from collections import defaultdict
from collections.abc import Hashable, Mapping

import numpy as np

from biaswatch.shared.stats.comparisons.relabelling import RESAMPLES, Stratum, tails
from biaswatch.shared.stats.comparisons.sign_flips import sign_flip_p
from biaswatch.shared.stats.samples import FLAT_RTOL, Sample, Vector, present

PromptAnswers = Mapping[Hashable, Sample]
_Sides = tuple[list[Vector], list[Vector]]


def answer_exchange_p(
    a: PromptAnswers,
    b: PromptAnswers,
    sets: Mapping[Hashable, Hashable] | None,
    *,
    rng: np.random.Generator,
    resamples: int = RESAMPLES,
) -> float | None:
    """Return the two-sided p-value of twins that are treated alike, by exchange of their answers.

    The statistic is the mean over sets of the difference of the groups' means. In a set with
    several prompts of one group, prompts are exchanged with all their answers. Where no answer to
    a prompt ever varied they may not have been drawn anew: then each prompt counts once, too, and
    the larger p-value is returned.

    Parameters
    ----------
    a, b
        The answers of each group by prompt; missing ones are left out.
    sets
        The counterfactual set of each prompt; None where twins share their prompt.
    rng, resamples
        Where there are more than 10,000 exchanges, `resamples` random ones are drawn.

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
    strata = [_stratum(*sides, len(by_set)) for sides in by_set]
    units = np.concatenate([stratum.units for stratum in strata])
    if not np.ptp(units):
        return 1.0
    p_value = tails(strata, rng, resamples).p_value
    if any(_varies(answers) for sides in by_set for side in sides for answers in side):
        return p_value
    differences = [_mean(first) - _mean(second) for first, second in by_set]
    return max(p_value, sign_flip_p(np.array(differences)) or 1.0)


def _shared_sets(
    a: PromptAnswers, b: PromptAnswers, sets: Mapping[Hashable, Hashable] | None
) -> list[_Sides]:
    by_set = defaultdict[Hashable, _Sides](lambda: ([], []))
    for side, group in enumerate((a, b)):
        for prompt, sample in group.items():
            values = np.sort(present(sample)[0])
            if len(values) and (sets is None or prompt in sets):
                by_set[prompt if sets is None else sets[prompt]][side].append(values)
    return [sides for sides in by_set.values() if sides[0] and sides[1]]


def _stratum(a: list[Vector], b: list[Vector], sets: int) -> Stratum:
    """Return the units of a set, scaled so that the sum of a's is the set's part of the gap.

    With n and m units the difference of the means is (1/n + 1/m) times the sum of a's units, up to
    a constant.
    """
    single = len(a) == len(b) == 1
    of_a, of_b = (
        side[0] if single else np.array([values.mean() for values in side]) for side in (a, b)
    )
    scale = (1 / len(of_a) + 1 / len(of_b)) / sets
    return Stratum(of_a * scale, of_b * scale)


def _mean(side: list[Vector]) -> float:
    return float(np.mean([values.mean() for values in side]))


def _varies(answers: Vector) -> bool:
    return bool(np.ptp(answers) > FLAT_RTOL * np.abs(answers).max())
