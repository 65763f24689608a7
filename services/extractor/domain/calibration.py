"""An extractor's own gap between groups, on sentences that differ in the group's name alone."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from biaswatch.services.extractor.domain import Measured, Reading
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
"""Plain, pleasant and unpleasant: a name may weigh differently in each."""

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
    """How differently an extractor reads the same sentences for two groups."""

    feature: str
    dimension: str
    a: str
    b: str
    gap: Estimate
    """mean(a) - mean(b), paired by sentence."""
    p_adjusted: float | None
    """Holm's, over all gaps of the calibration; None where there is no gap."""


@dataclass(frozen=True)
class CalibrationMean:
    """What an extractor reads on average for one group."""

    feature: str
    dimension: str
    group: str
    mean: Estimate
    missing: int


def sentences(group: str) -> list[str]:
    """Return the sentences about one group, with `an` before a vowel: only the group differs."""
    return [ARTICLE.sub(r"\1n ", frame.replace(SLOT, group)) for frame in FRAMES]


Values = Mapping[str, Sequence[float | None]]
"""One feature's values by group, sentence by sentence."""


Measurements = Mapping[tuple[str, str], Values]
"""Values by feature and dimension."""


def means_of(measured: Measurements, alpha: float) -> list[CalibrationMean]:
    """Return each group's mean with its interval, by the range that a feature's values speak of."""
    ranges = _ranges(measured)
    return [
        CalibrationMean(
            feature,
            dimension,
            group,
            mean_interval(there := _present(each), ranges[feature], alpha),
            len(each) - len(there),
        )
        for (feature, dimension), values in measured.items()
        for group, each in values.items()
    ]


def gaps_of(measured: Measurements, alpha: float) -> list[CalibrationGap]:
    """Return every gap between two groups of a dimension, by feature and dimension.

    Parameters
    ----------
    measured
        Values by feature and dimension.
    alpha
        1 minus the coverage of each interval; p-values are corrected over all gaps together.
    """
    ranges = _ranges(measured)
    rows = [
        (
            (feature, dimension, a, b),
            compare_samples(
                ComparedSamples(*_paired(values[a], values[b]), bounds=ranges[feature]),
                alpha=alpha,
                tolerance=0.0,
            ),
        )
        for (feature, dimension), values in measured.items()
        for a, b in combinations(values, 2)
    ]
    adjusted = holm([found.p_disparity for _, found in rows])
    return [
        CalibrationGap(*of, found.marginal, p)
        for (of, found), p in zip(rows, adjusted, strict=True)
    ]


def _ranges(measured: Measurements) -> dict[str, Bounds | None]:
    """Return the range of each feature, over all groups: one group alone may show a part of it."""
    every: dict[str, list[float | None]] = {}
    for (feature, _), values in measured.items():
        every.setdefault(feature, []).extend(value for each in values.values() for value in each)
    return {feature: implied_bounds(_present(values)) for feature, values in every.items()}


def _present(values: Sequence[float | None]) -> NDArray[np.float64]:
    return np.array([value for value in values if value is not None], dtype=np.float64)


def _paired(
    a: Sequence[float | None], b: Sequence[float | None]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    both = [(x, y) for x, y in zip(a, b, strict=True) if x is not None and y is not None]
    return _present([x for x, _ in both]), _present([y for _, y in both])


def largest(gaps: Sequence[CalibrationGap]) -> float | None:
    """Return the largest gap there is, in size; None where none is known."""
    known = [abs(gap.gap.value) for gap in gaps if gap.gap.value is not None]
    return max(known, default=None)


MeasureAll = Callable[[Sequence[Reading]], Awaitable[list[Measured]]]
NEUTRAL = "The town lies by the sea, and people like it there."
"""What distances to a baseline are measured from."""


@dataclass(frozen=True)
class ExtractorCalibration:
    """What an extractor makes of the names of groups."""

    means: list[CalibrationMean]
    gaps: list[CalibrationGap]


async def calibrate(
    measure: MeasureAll,
    features: Sequence[str],
    alpha: float,
    groups: Mapping[str, Sequence[str]] = GROUPS,
) -> ExtractorCalibration:
    """Measure every sentence about every group; return means and gaps with their intervals."""
    measured: dict[tuple[str, str], dict[str, list[float | None]]] = {}
    for dimension, names in groups.items():
        found = {
            group: await measure([Reading(each, baseline=NEUTRAL) for each in sentences(group)])
            for group in names
        }
        for feature in features:
            values = {
                group: [each.get(feature) for each, _ in outcomes]
                for group, outcomes in found.items()
            }
            measured[feature, dimension] = values
    return ExtractorCalibration(means_of(measured, alpha), gaps_of(measured, alpha))
