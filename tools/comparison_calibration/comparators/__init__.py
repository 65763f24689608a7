"""Procedures that the product is measured against, written without the product's code."""

from tools.comparison_calibration.comparators.betting import betting
from tools.comparison_calibration.comparators.exact_tables import rate_tests
from tools.comparison_calibration.comparators.independent import independent
from tools.comparison_calibration.comparators.paired import paired
from tools.comparison_calibration.comparators.partly_paired import partly_paired
from tools.comparison_calibration.comparators.samples import ComparedSamples, samples_of
from tools.comparison_calibration.comparators.tails import Comparators
from tools.comparison_calibration.comparators.within_prompts import within_prompts
from tools.comparison_calibration.study import Kind, Shape, Study


def comparators_of(study: Study, shape: Shape, feature: int, a: str, b: str) -> Comparators:
    """Return the comparators that fit a shape's kind of data, by name."""
    if shape.kind is Kind.MISSING:
        return {}
    if shape.kind is Kind.BANK:
        return within_prompts(study, feature, a, b)
    samples = samples_of(study, shape, feature, a, b)
    if shape.kind is Kind.PARTLY_PAIRED:
        return partly_paired(samples)
    if shape.kind in (Kind.PAIRED_BINARY, Kind.PAIRED_BOUNDED, Kind.PAIRED_UNBOUNDED):
        return paired(samples.pairs, samples.bounds, binary=shape.kind is Kind.PAIRED_BINARY)
    if len(samples.pairs):
        return paired(samples.pairs, None, binary=False)
    return _of_two_samples(samples, shape)


def _of_two_samples(samples: ComparedSamples, shape: Shape) -> Comparators:
    found = dict(independent(samples.x, samples.y, samples.bounds))
    if samples.bounds is not None:
        found["betting and MOVER"] = betting(samples.x, samples.y, samples.bounds)
    if shape.kind is Kind.BINARY:
        found |= rate_tests(samples.x, samples.y)
    return found
