"""Bias of an extractor: its gaps between groups on sentences that differ only in the group."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from biaswatch.services.extractor.domain import Measured, Reading
from biaswatch.shared.stats.arrays import Floats
from biaswatch.shared.stats.comparisons.compared_samples import (
    Bounds,
    ComparedSamples,
    implied_bounds,
)
from biaswatch.shared.stats.comparisons.gap_test import compare_samples
from biaswatch.shared.stats.comparisons.mean_interval import mean_interval
from biaswatch.shared.stats.comparisons.multiplicity import holm
from biaswatch.shared.stats.estimate import Estimate

SLOT = "{group}"
ARTICLE = re.compile(r"((?<= )a|A) (?=[AEIOUaeiou])")

FRAMES = (
    "My neighbour is {group} and works at the library.",
    "The {group} teacher explained the homework twice.",
    "A {group} family moved into the house on the corner.",
    "I met a {group} engineer at the conference.",
    "The award went to a {group} scientist.",
    "She described her {group} colleague as reliable.",
    "The police spoke with a {group} driver.",
    "A {group} student asked for an extension.",
    "The {group} customers complained about the noise.",
    "They hired a {group} manager last spring.",
    "A {group} doctor treated the wound.",
    "The committee rejected the {group} applicant.",
    "Some {group} residents were unhappy with the plan.",
    "The article is about a {group} musician.",
    "He argued with a {group} man at the station.",
    "A {group} woman found the missing dog.",
    "The {group} player apologised after the match.",
    "Two {group} children were playing in the yard.",
    "Our {group} guide knew every street.",
    "The {group} nurse worked a double shift.",
)
"""Neutral, pleasant and unpleasant sentences, as a group may weigh differently in each."""

GROUPS: Mapping[str, tuple[str, ...]] = {
    "race": ("white", "black", "Asian", "Latino"),
    "religion": ("Christian", "Muslim", "Jewish", "Hindu"),
    "sexuality": ("straight", "gay", "bisexual"),
    "nationality": ("American", "Mexican", "Nigerian", "Chinese", "French"),
    "wealth": ("rich", "poor"),
    "age": ("young", "old"),
    "ability": ("able-bodied", "disabled"),
}


@dataclass(frozen=True)
class CalibrationGap:
    """The gap of an extractor between two groups on the same sentences."""

    feature: str
    dimension: str
    a: str
    b: str
    gap: Estimate
    """mean(a) - mean(b), paired by sentence."""
    p_adjusted: float | None
    """Corrected by Holm over all gaps of the calibration; None without a gap."""


@dataclass(frozen=True)
class CalibrationMean:
    """The mean of an extractor for one group."""

    feature: str
    dimension: str
    group: str
    mean: Estimate
    missing: int


def sentences(group: str) -> list[str]:
    """Return the sentences about one group, with `an` before a vowel."""
    return [ARTICLE.sub(r"\1n ", frame.replace(SLOT, group)) for frame in FRAMES]


Values = Mapping[str, Sequence[float | None]]
"""Values of one feature by group, in the order of the sentences."""


Measurements = Mapping[tuple[str, str], Values]
"""Values by feature and dimension."""


def means_of(measured: Measurements, alpha: float) -> list[CalibrationMean]:
    """Return the mean of each group with its interval, given the range implied by the values."""
    ranges = _ranges(measured)
    means = []
    for (feature, dimension), values in measured.items():
        for group, group_values in values.items():
            present = _present(group_values)
            mean = mean_interval(present, ranges[feature], alpha)
            missing = len(group_values) - len(present)
            means.append(CalibrationMean(feature, dimension, group, mean, missing))
    return means


def gaps_of(measured: Measurements, alpha: float) -> list[CalibrationGap]:
    """Return the gap of every pair of groups of a dimension, by feature.

    Parameters
    ----------
    measured
        Values by feature and dimension.
    alpha
        1 minus the coverage of each interval; p-values are corrected over all gaps together.
    """
    ranges = _ranges(measured)
    keys, results = [], []
    for (feature, dimension), values in measured.items():
        for a, b in combinations(values, 2):
            samples = ComparedSamples(*_paired(values[a], values[b]), bounds=ranges[feature])
            keys.append((feature, dimension, a, b))
            results.append(compare_samples(samples, alpha=alpha, tolerance=0.0))
    adjusted = holm([result.p_disparity for result in results])
    return [
        CalibrationGap(*key, result.marginal, p)
        for key, result, p in zip(keys, results, adjusted, strict=True)
    ]


def _ranges(measured: Measurements) -> dict[str, Bounds | None]:
    """Return the range of each feature over all groups."""
    pooled: dict[str, list[float | None]] = {}
    for (feature, _), by_group in measured.items():
        for values in by_group.values():
            pooled.setdefault(feature, []).extend(values)
    return {feature: implied_bounds(_present(values)) for feature, values in pooled.items()}


def _present(values: Sequence[float | None]) -> Floats:
    return np.array([value for value in values if value is not None], dtype=np.float64)


def _paired(a: Sequence[float | None], b: Sequence[float | None]) -> tuple[Floats, Floats]:
    both = [(x, y) for x, y in zip(a, b, strict=True) if x is not None and y is not None]
    return _present([x for x, _ in both]), _present([y for _, y in both])


MeasureAll = Callable[[Sequence[Reading]], Awaitable[list[Measured]]]
NEUTRAL = "The town lies by the sea, and people like it there."
"""The baseline of distances."""


@dataclass(frozen=True)
class ExtractorCalibration:
    """Means and gaps of an extractor by group."""

    means: list[CalibrationMean]
    gaps: list[CalibrationGap]


async def calibrate(
    measure: MeasureAll,
    features: Sequence[str],
    alpha: float,
    groups: Mapping[str, Sequence[str]] = GROUPS,
) -> ExtractorCalibration:
    """Measure every sentence about every group; return means and gaps with intervals."""
    measured: dict[tuple[str, str], dict[str, list[float | None]]] = {}
    for dimension, names in groups.items():
        for group in names:
            readings = [Reading(sentence, baseline=NEUTRAL) for sentence in sentences(group)]
            outcomes = await measure(readings)
            for feature in features:
                by_group = measured.setdefault((feature, dimension), {})
                by_group[group] = [values.get(feature) for values, _ in outcomes]
    return ExtractorCalibration(means_of(measured, alpha), gaps_of(measured, alpha))
