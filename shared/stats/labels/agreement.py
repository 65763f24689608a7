"""Agreement of people who labelled the same answers, and the error of an instrument."""

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

MIN_LABELLED_TWICE = 10
"""Answers labelled twice that an interval needs."""
MIN_SHARED_ANSWERS = 20
"""Answers a person must share with the others for a test of agreement."""
DOUBT_LEVEL = 0.05
"""P-value above which a person's labels are doubtful."""


def agreement(units: Sequence[Sequence[float | None]], alpha: float) -> Estimate:
    """Return Krippendorff's alpha for interval data, with an interval over answers.

    The interval is the jackknife's, from alpha without each answer in turn, with Student's t of
    answers less 1 degrees of freedom; at most 1.

    Parameters
    ----------
    units
        The labels of each answer; None where a person gave none.
    alpha
        1 minus the coverage, in (0, 1).

    References
    ----------
    Krippendorff (2011), Computing Krippendorff's alpha-reliability; Efron and Tibshirani (1993),
    An introduction to the bootstrap, 11.5, for the jackknife's standard error.
    """
    check_alpha(alpha)
    labels = ([value for value in unit if value is not None] for unit in units)
    twice = [unit for unit in labels if len(unit) > 1]
    value, reason = krippendorff_alpha(twice)
    if value is None:
        return undefined(reason or "alpha is undefined")
    if len(twice) < MIN_LABELLED_TWICE:
        reason = f"{len(twice)} answers were labelled twice; {MIN_LABELLED_TWICE} are needed"
        return undefined(f"{reason} for an interval", value=value)
    without = [krippendorff_alpha([*twice[:n], *twice[n + 1 :]])[0] for n in range(len(twice))]
    left = np.array([value for value in without if value is not None])
    n = len(left)
    error = sqrt((n - 1) / n * float(((left - left.mean()) ** 2).sum()))
    reach = -float(special.stdtrit(n - 1, alpha / 2)) * error
    return Estimate(value, value - reach, min(1.0, value + reach), "jackknife over answers")


def doubtful_raters(labels: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Return the people whose labels are compatible with answering at random, by name.

    Tested by exchanging the answers to which a person gave higher and lower labels: with labels at
    random, the others' labels of the answers that got the person's higher labels are as high as
    those of the rest. One-sided in effect: a person who contradicts all others is doubtful too.
    People who share fewer than `MIN_SHARED_ANSWERS` answers with others are not tested.

    Parameters
    ----------
    labels
        By person, the label of each answer, by its id.

    References
    ----------
    Fisher (1935), The Design of Experiments, for the exchange.
    """
    return [name for name in sorted(labels) if _is_doubtful(name, labels)]


def _is_doubtful(name: str, labels: Mapping[str, Mapping[str, float]]) -> bool:
    other_raters = [labels_of_rater for rater, labels_of_rater in labels.items() if rater != name]
    pairs = [
        (label, np.mean(answer_labels))
        for answer, label in labels[name].items()
        if (answer_labels := [other[answer] for other in other_raters if answer in other])
    ]
    if len(pairs) < MIN_SHARED_ANSWERS:
        return False
    own, other_means = np.array(pairs).T
    return _association(own, other_means) > DOUBT_LEVEL


def _association(own: np.ndarray, other_means: np.ndarray) -> float:
    """Return the one-sided p-value that others' labels are higher where one's own are."""
    middle = float(np.median(own))
    high = own > middle if (own > middle).any() else own >= middle
    if high.all() or not high.any():
        return 1.0  # constant labels carry no information on the answers
    a, b = np.sort(other_means[high]), np.sort(other_means[~high])
    p = exchange_p(a, b)
    if p is None or a.mean() <= b.mean():
        return 1.0
    return p / 2


MIN_JUDGED = 5
"""Labelled answers that a measure of an instrument's error needs."""


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
    """Error of an instrument in one group; what is undefined has its reason."""

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
    """Return the error of an instrument in one group.

    Parameters
    ----------
    group
        Readings and labels of the same answers.
    bounds
        The ends of the scale of readings and labels.
    alpha
        1 minus the coverage of every interval, each by itself.
    selected_at_least
        Least value of a selected answer; sensitivity and specificity need it.
    """
    width = bounds[1] - bounds[0]
    off = group.readings - group.labels
    all_units = np.ones(len(off), dtype=bool)
    if selected_at_least is None:
        sensitivity = specificity = None
    else:
        selected, truly = (values >= selected_at_least for values in (group.readings, group.labels))
        sensitivity = _mean(selected.astype(float), group.weights, truly, (0.0, 1.0), alpha)
        specificity = _mean((~selected).astype(float), group.weights, ~truly, (0.0, 1.0), alpha)
    return InstrumentError(
        _mean(off, group.weights, all_units, (-width, width), alpha),
        _mean(np.abs(off), group.weights, all_units, (0.0, width), alpha),
        sensitivity,
        specificity,
    )


def bias_difference(
    a: LabelledReadings, b: LabelledReadings, bounds: Bounds, alpha: float
) -> tuple[Estimate, float | None]:
    """Return the difference of an instrument's bias between two groups, and its p-value.

    An instrument whose error differs between groups makes, or hides, gaps of the model. Groups with
    fewer than `MIN_JUDGED` labels have no test.
    """
    if min(len(a.labels), len(b.labels)) < MIN_JUDGED:
        return undefined(f"a group has fewer than {MIN_JUDGED} labels"), None
    width = bounds[1] - bounds[0]
    units = [weighted_units(group.readings - group.labels, group.weights) for group in (a, b)]
    values = np.concatenate(units)
    ends = min(-width, float(values.min())), max(width, float(values.max()))
    samples = ComparedSamples(only_a=units[0], only_b=units[1], bounds=ends)
    gap = compare_samples(samples, alpha=alpha, tolerance=0.0)
    return gap.marginal, gap.p_disparity


def weighted_units(values: Vector, weights: Vector) -> Vector:
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
    if (n := int(of.sum())) < MIN_JUDGED:
        return undefined(f"{n} labelled answers are such; {MIN_JUDGED} are needed")
    return mean_interval(weighted_units(values[of], weights[of]), bounds, alpha)
