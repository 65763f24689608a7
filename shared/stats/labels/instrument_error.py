"""How wrong an instrument is, by group: its error, sensitivity and specificity, from labels."""

from dataclasses import dataclass

import numpy as np

from biaswatch.shared.stats.comparisons.compared_samples import Bounds, ComparedSamples
from biaswatch.shared.stats.comparisons.gap_test import compare_samples
from biaswatch.shared.stats.comparisons.mean_interval import mean_interval
from biaswatch.shared.stats.estimate import IntervalEstimate, undefined
from biaswatch.shared.stats.samples import Vector

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

    bias: IntervalEstimate
    """Mean of reading less label: above 0 where it reads too high."""
    absolute: IntervalEstimate
    """Mean distance of reading and label."""
    sensitivity: IntervalEstimate | None = None
    """Share of the answers that people select which the instrument selects."""
    specificity: IntervalEstimate | None = None
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
) -> tuple[IntervalEstimate, float | None]:
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
) -> IntervalEstimate:
    if (n := int(of.sum())) < LEAST_JUDGED:
        return undefined(f"{n} labelled answers are such; {LEAST_JUDGED} are needed")
    return mean_interval(weighed(values[of], weights[of]), bounds, alpha)
