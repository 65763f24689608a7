"""Procedures that the product is measured against, written without the product's code."""

from dataclasses import replace

from biaswatch.shared.stats.comparisons.compared_samples import implied_bounds
from calibration.comparisons.comparators.betting import betting
from calibration.comparisons.comparators.exact_tables import rate_tests
from calibration.comparisons.comparators.independent import independent
from calibration.comparisons.comparators.paired import paired
from calibration.comparisons.comparators.partly_paired import partly_paired
from calibration.comparisons.comparators.samples import ComparatorSamples, samples_of
from calibration.comparisons.comparators.tails import Comparators, Tails
from calibration.comparisons.comparators.within_prompts import within_prompts
from calibration.comparisons.study import Kind, Shape, Study


def comparators_of(study: Study, shape: Shape, feature: int, a: str, b: str) -> Comparators:
    """Return the comparators that fit a shape's kind of data, by name."""
    if shape.kind is Kind.MISSING:
        return {}
    if shape.kind in (Kind.BANK, Kind.RARE_FAR_BANK):
        return within_prompts(study, feature, a, b)
    if shape.kind is Kind.CLUSTERED and shape.bounds is None:
        # What is known of the range is no matter of the procedure: all are told the same.
        shape = replace(shape, bounds=implied_bounds(study.values[:, feature]))
    samples = samples_of(study, shape, feature, a, b)
    if shape.kind is Kind.PARTLY_PAIRED:
        return partly_paired(samples)
    if shape.kind in (Kind.PAIRED_BINARY, Kind.PAIRED_BOUNDED, Kind.PAIRED_UNBOUNDED):
        return paired(samples.pairs, samples.bounds, binary=shape.kind is Kind.PAIRED_BINARY)
    if shape.kind in (Kind.CLUSTERED, Kind.CLUSTERED_UNBOUNDED):
        return _of_clusters(samples, shape)
    return _of_two_samples(samples, shape)


def _of_clusters(samples: ComparatorSamples, shape: Shape) -> Comparators:
    """Return the comparators of means of clusters; without a range no ends can be added."""
    if len(samples.pairs):
        result = dict(paired(samples.pairs, samples.bounds, binary=False))
        by_range = {"paired t with both ends added": result["paired t"]}
    else:
        result = _of_two_samples(samples, shape)
        by_range = {"Welch with both ends added": result["Welch"]}
    return result if samples.bounds is not None else {**result, **by_range}


def _of_two_samples(samples: ComparatorSamples, shape: Shape) -> dict[str, Tails]:
    result = dict(independent(samples.x, samples.y, samples.bounds))
    if samples.bounds is not None:
        result["betting and MOVER"] = betting(samples.x, samples.y, samples.bounds)
    if shape.kind is Kind.BINARY:
        result |= rate_tests(samples.x, samples.y)
    return result
