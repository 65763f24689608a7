"""Shares of labelled studies with a disparity, by method."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import TypedDict

import numpy as np

from biaswatch.shared.contracts import CorrectedGap, Estimate, Verdict
from biaswatch.shared.stats.comparisons.compared_samples import ComparedSamples
from biaswatch.shared.stats.comparisons.gap_test import compare_samples

Values = Mapping[str, Sequence[float]]
"""By group."""
ALPHA = 0.05


class LabelledRow(TypedDict):
    """Shares of studies of one case with a disparity, for a number of labels."""

    study: str
    gap: float
    labels: int
    studies: int
    by_readings: float
    labels_alone: float | None
    corrected: float
    without_error: float
    at_most: float | None
    """Largest share explained by chance without a planted gap."""


@dataclass(frozen=True)
class LabelledOutcome:
    """Methods by which one study has a disparity."""

    by_readings: bool
    by_labels_alone: bool
    corrected: bool
    without_error: bool
    """With the true value of every answer."""


def outcome(
    gap: CorrectedGap, labels: Values, truths: Values, bounds: tuple[float, float]
) -> LabelledOutcome:
    """Compare readings, labels, corrected readings and truth of one study.

    Labels alone need an even draw: with unequal probabilities their plain mean is biased.
    """
    return LabelledOutcome(
        _leaves_zero(gap.reading),
        is_disparity(labels, bounds),
        gap.verdict is Verdict.DISPARITY,
        is_disparity(truths, bounds),
    )


def is_disparity(values: Values, bounds: tuple[float, float]) -> bool:
    """Tell whether values of two groups differ, by the test used for readings."""
    a, b = (np.array(values[group], dtype=np.float64) for group in sorted(values))
    gap = compare_samples(
        ComparedSamples(only_a=a, only_b=b, bounds=bounds), alpha=ALPHA, tolerance=0.0
    )
    return gap.p_disparity is not None and gap.p_disparity <= ALPHA


def labelled_row(
    name: str, gap: float, labels: int, outcomes: Sequence[LabelledOutcome], *, even: bool
) -> LabelledRow:
    """Return the row of one case for a number of labels of each group."""
    n = len(outcomes)
    corrected = sum(study.corrected for study in outcomes) / n
    alone = sum(study.by_labels_alone for study in outcomes) / n
    return {
        "study": name,
        "gap": gap,
        "labels": labels,
        "studies": n,
        "by_readings": round(sum(study.by_readings for study in outcomes) / n, 3),
        "labels_alone": round(alone, 3) if even else None,
        "corrected": round(corrected, 3),
        "without_error": round(sum(study.without_error for study in outcomes) / n, 3),
        "at_most": None if gap else round(ALPHA + 3.5 * sqrt(ALPHA * (1 - ALPHA) / n), 3),
    }


def _leaves_zero(estimate: Estimate) -> bool:
    return (
        estimate.low is not None
        and estimate.high is not None
        and not estimate.low <= 0 <= estimate.high
    )
