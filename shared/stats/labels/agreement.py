"""How far people agree who labelled the same answers, and who answers as if at random."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from scipy import special

from biaswatch.shared.stats.comparisons.label_tests import exchange_p
from biaswatch.shared.stats.estimate import IntervalEstimate, check_alpha, undefined
from biaswatch.shared.stats.krippendorff import krippendorff_alpha

LEAST_TWICE = 10
"""Answers that two people labelled, before an interval or a doubt is worth anything."""
LEAST_SHARED = 20
"""Answers that a person must share with others before chance can be told from agreement."""
LEVEL = 0.05


def agreement(units: Sequence[Sequence[float | None]], alpha: float) -> IntervalEstimate:
    """Return Krippendorff's alpha for interval data, with an interval over answers.

    The interval is the jackknife's: what alpha becomes without each answer in turn shows how much
    it hangs on which answers were labelled; with Student's t of answers less 1, at most 1.

    Parameters
    ----------
    units
        For each answer the labels it got; None where a person gave none.
    alpha
        1 minus the coverage, in (0, 1).

    References
    ----------
    Krippendorff (2011), Computing Krippendorff's alpha-reliability; Efron and Tibshirani (1993),
    An introduction to the bootstrap, 11.5, for the jackknife's standard error.
    """
    check_alpha(alpha)
    twice = [found for unit in units if len(found := [v for v in unit if v is not None]) > 1]
    value, reason = krippendorff_alpha(twice)
    if value is None:
        return undefined(reason or "alpha is undefined")
    if len(twice) < LEAST_TWICE:
        return undefined(f"{len(twice)} answers were labelled twice; {LEAST_TWICE} are needed for"
                         " an interval", value=value)  # fmt: skip
    without = [krippendorff_alpha([*twice[:n], *twice[n + 1 :]])[0] for n in range(len(twice))]
    left = np.array([each for each in without if each is not None])
    n = len(left)
    error = sqrt((n - 1) / n * float(((left - left.mean()) ** 2).sum()))
    reach = -float(special.stdtrit(n - 1, alpha / 2)) * error
    return IntervalEstimate(value, value - reach, min(1.0, value + reach), "jackknife over answers")


@dataclass(frozen=True)
class PersonAgreement:
    """How one person's labels go with those of the others."""

    person: str
    labels: int
    shared: int
    """Answers that others labelled too."""
    p_value: float | None
    """For labels that have nothing to do with those of others; None where too few are shared."""
    doubtful: bool
    """Whether this person could as well have answered at random."""


def people(
    labels: Mapping[str, Mapping[str, float]], doubted_above: float = LEVEL
) -> list[PersonAgreement]:
    """Return how each person's labels go with the mean of the others', by name.

    Tested by exchanging which answers a person's higher and lower labels were given to: with labels
    at random, what others said of the answers that got the person's higher labels is no higher than
    of the rest. One-sided in effect: whoever goes against all others is doubtful too.

    Parameters
    ----------
    labels
        By person, the label of each answer, by its id.
    """
    return [_person(name, labels, doubted_above) for name in sorted(labels)]


def _person(
    name: str, labels: Mapping[str, Mapping[str, float]], doubted_above: float
) -> PersonAgreement:
    mine = labels[name]
    others = {
        answer: [each[answer] for who, each in labels.items() if who != name and answer in each]
        for answer in mine
    }
    shared = [answer for answer in mine if others[answer]]
    if len(shared) < LEAST_SHARED:
        return PersonAgreement(name, len(mine), len(shared), None, False)
    own = np.array([mine[answer] for answer in shared])
    of_others = np.array([np.mean(others[answer]) for answer in shared])
    p_value = _association(own, of_others)
    return PersonAgreement(name, len(mine), len(shared), p_value, p_value > doubted_above)


def _association(own: np.ndarray, others: np.ndarray) -> float:
    """Return a one-sided p-value for others' labels being higher where one's own are."""
    middle = float(np.median(own))
    high = own > middle if (own > middle).any() else own >= middle
    if high.all() or not high.any():
        return 1.0  # who always says the same tells nothing of the answers
    a, b = np.sort(others[high]), np.sort(others[~high])
    p = exchange_p(a, b)
    if p is None or a.mean() <= b.mean():
        return 1.0
    return p / 2
