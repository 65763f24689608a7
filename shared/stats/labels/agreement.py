"""How far people agree who labelled the same answers, and who answers as if at random."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from scipy import special

from biaswatch.shared.stats.comparisons.compared_samples import Bounds, ComparedSamples
from biaswatch.shared.stats.comparisons.gap_test import compare_samples
from biaswatch.shared.stats.comparisons.label_tests import exchange_p
from biaswatch.shared.stats.comparisons.mean_interval import mean_interval
from biaswatch.shared.stats.estimate import Estimate, check_alpha, undefined
from biaswatch.shared.stats.krippendorff import krippendorff_alpha
from biaswatch.shared.stats.samples import Vector

LEAST_TWICE = 10
"""Answers that two people labelled, before an interval or a doubt is worth anything."""
LEAST_SHARED = 20
"""Answers that a person must share with others before chance can be told from agreement."""
LEVEL = 0.05


def agreement(units: Sequence[Sequence[float | None]], alpha: float) -> Estimate:
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
    return Estimate(value, value - reach, min(1.0, value + reach), "jackknife over answers")


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


LEAST_JUDGED = 5
"""Labelled answers that a number of the instrument's error needs at the least."""


@dataclass(frozen=True)
class LabelledReadings:
    """The labelled answers of one group."""

    readings: Vector
    """[n]"""
    labels: Vector
    """[n], on the same scale."""
    weights: Vector
    """[n], 1 over the probability of being labelled."""


@dataclass(frozen=True)
class InstrumentError:
    """How wrong an instrument is in one group; what is undefined has its reason."""

    bias: Estimate
    """Mean of reading less label: above 0 where it reads too high."""
    absolute: Estimate
    """Mean distance of reading and label."""
    sensitivity: Estimate | None = None
    """Share of the answers that people select which the instrument selects."""
    specificity: Estimate | None = None
    """Share of those that people do not select which the instrument does not either."""


def instrument_error(
    group: LabelledReadings, bounds: Bounds, alpha: float, *, selected_at_least: float | None = None
) -> InstrumentError:
    """Return how wrong an instrument is in one group.

    Parameters
    ----------
    bounds
        The ends of the scale; readings and labels lie within.
    alpha
        1 minus the coverage of every interval, each by itself.
    selected_at_least
        From which value on an answer counts as selected; sensitivity and specificity need it.
    """
    width = bounds[1] - bounds[0]
    off = group.readings - group.labels
    every = np.ones(len(off), dtype=bool)
    if selected_at_least is None:
        sensitivity = specificity = None
    else:
        selected, truly = (values >= selected_at_least for values in (group.readings, group.labels))
        sensitivity = _mean(selected.astype(float), group.weights, truly, (0.0, 1.0), alpha)
        specificity = _mean((~selected).astype(float), group.weights, ~truly, (0.0, 1.0), alpha)
    return InstrumentError(
        _mean(off, group.weights, every, (-width, width), alpha),
        _mean(np.abs(off), group.weights, every, (0.0, width), alpha),
        sensitivity,
        specificity,
    )


def bias_difference(
    a: LabelledReadings, b: LabelledReadings, bounds: Bounds, alpha: float
) -> tuple[Estimate, float | None]:
    """Return how much higher an instrument reads in one group than in another, beside the labels.

    With the p-value for no difference: an instrument whose error differs between groups makes, or
    hides, gaps of the model. Groups with fewer than `LEAST_JUDGED` labels have no test.
    """
    if min(len(a.labels), len(b.labels)) < LEAST_JUDGED:
        return undefined(f"a group has fewer than {LEAST_JUDGED} labels"), None
    width = bounds[1] - bounds[0]
    units = [weighed(each.readings - each.labels, each.weights) for each in (a, b)]
    every = np.concatenate(units)
    ends = min(-width, float(every.min())), max(width, float(every.max()))
    samples = ComparedSamples(only_a=units[0], only_b=units[1], bounds=ends)
    found = compare_samples(samples, alpha=alpha, tolerance=0.0)
    return found.marginal, found.p_disparity


def weighed(values: Vector, weights: Vector) -> Vector:
    """Return units whose plain mean is the weighted one, with the variance of a weighted mean.

    Each value's distance from the weighted mean counts by its weight (the linearised ratio of
    Särndal, Swensson and Wretman 1992, 5.7). Equal weights leave the values as they are.
    """
    centre = float(weights @ values / weights.sum())
    if (weights == weights[0]).all():
        return values
    return np.asarray(centre + (values - centre) * weights / weights.mean())


def _mean(
    values: Vector, weights: Vector, of: np.ndarray, bounds: Bounds, alpha: float
) -> Estimate:
    if (n := int(of.sum())) < LEAST_JUDGED:
        return undefined(f"{n} labelled answers are such; {LEAST_JUDGED} are needed")
    return mean_interval(weighed(values[of], weights[of]), bounds, alpha)
