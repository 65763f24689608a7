"""An extractor's own gap between groups, on sentences that differ in the group's name alone."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from services.extractor.domain import Measured, Reading
from shared.stats.comparisons.means_and_rates import difference, mean_of
from shared.stats.comparisons.multiplicity import holm
from shared.stats.estimate import IntervalEstimate

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
    gap: IntervalEstimate
    """mean(a) - mean(b), paired by sentence."""
    p_adjusted: float | None
    """Holm's, over all gaps of the calibration; None where there is no interval."""


@dataclass(frozen=True)
class CalibrationMean:
    """What an extractor reads on average for one group."""

    feature: str
    dimension: str
    group: str
    mean: IntervalEstimate
    missing: int


def sentences(group: str) -> list[str]:
    """Return the sentences about one group, with `an` before a vowel: only the group differs."""
    return [ARTICLE.sub(r"\1n ", frame.replace(SLOT, group)) for frame in FRAMES]


Values = Mapping[str, Sequence[float | None]]
"""One feature's values by group, sentence by sentence."""


def means_of(feature: str, dimension: str, values: Values, alpha: float) -> list[CalibrationMean]:
    """Return each group's mean with its interval."""
    found = []
    for group, each in values.items():
        there = [value for value in each if value is not None]
        mean = mean_of(there, alpha)
        found.append(CalibrationMean(feature, dimension, group, mean, len(each) - len(there)))
    return found


def gaps_of(measured: Mapping[tuple[str, str], Values], alpha: float) -> list[CalibrationGap]:
    """Return every gap between two groups of a dimension, by feature and dimension.

    Parameters
    ----------
    measured
        Values by feature and dimension.
    alpha
        1 minus the coverage of each interval; p-values are corrected over all gaps together.
    """
    rows = [
        (feature, dimension, a, b, difference(*_paired(values[a], values[b]), alpha, paired=True))
        for (feature, dimension), values in measured.items()
        for a, b in combinations(values, 2)
    ]
    adjusted = holm([row[4].p_value for row in rows])
    return [
        CalibrationGap(feature, dimension, a, b, found.estimate, p)
        for (feature, dimension, a, b, found), p in zip(rows, adjusted, strict=True)
    ]


def _paired(
    a: Sequence[float | None], b: Sequence[float | None]
) -> tuple[list[float], list[float]]:
    both = [(x, y) for x, y in zip(a, b, strict=True) if x is not None and y is not None]
    return [x for x, _ in both], [y for _, y in both]


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
    means: list[CalibrationMean] = []
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
            means += means_of(feature, dimension, values, alpha)
    return ExtractorCalibration(means, gaps_of(measured, alpha))
