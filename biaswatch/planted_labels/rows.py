"""What is counted of labelled studies: disparities by readings, by labels, corrected, by truth."""

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
    """One kind of study with so many labels of each group: shares of studies with a disparity."""

    study: str
    gap: float
    labels: int
    studies: int
    by_readings: float
    labels_alone: float | None
    corrected: float
    without_error: float
    at_most: float | None
    """What chance explains where no gap is planted."""


@dataclass(frozen=True)
class LabelledOutcome:
    """In which ways one study, with so many labels, has a disparity."""

    by_readings: bool
    by_labels_alone: bool
    corrected: bool
    without_error: bool
    """With the truth of every answer, as if the instrument never erred."""


def outcome(
    gap: CorrectedGap, labels: Values, truths: Values, bounds: tuple[float, float]
) -> LabelledOutcome:
    """Return what one study says; what people said, and what is true, is compared as readings are.

    Labels alone are those of an even draw: with unequal probabilities their plain mean is off.
    """
    return LabelledOutcome(
        _leaves_zero(gap.reading),
        is_disparity(labels, bounds),
        gap.verdict is Verdict.DISPARITY,
        is_disparity(truths, bounds),
    )


def is_disparity(values: Values, bounds: tuple[float, float]) -> bool:
    """Tell whether values of two groups differ, by the test that readings are compared with."""
    a, b = (np.array(values[group], dtype=np.float64) for group in sorted(values))
    found = compare_samples(
        ComparedSamples(only_a=a, only_b=b, bounds=bounds), alpha=ALPHA, tolerance=0.0
    )
    return found.p_disparity is not None and found.p_disparity <= ALPHA


def labelled_row(
    name: str, gap: float, labels: int, outcomes: Sequence[LabelledOutcome], *, even: bool
) -> LabelledRow:
    """Return the row of one kind of study with so many labels of each group."""
    n = len(outcomes)
    corrected = sum(each.corrected for each in outcomes) / n
    alone = sum(each.by_labels_alone for each in outcomes) / n
    return {
        "study": name,
        "gap": gap,
        "labels": labels,
        "studies": n,
        "by_readings": round(sum(each.by_readings for each in outcomes) / n, 3),
        "labels_alone": round(alone, 3) if even else None,
        "corrected": round(corrected, 3),
        "without_error": round(sum(each.without_error for each in outcomes) / n, 3),
        "at_most": None if gap else round(ALPHA + 3.5 * sqrt(ALPHA * (1 - ALPHA) / n), 3),
    }


def broken(row: LabelledRow) -> bool:
    """Tell whether there are more false disparities than chance explains, or too few are found.

    A gap that is there is to be found at least as often as by labels alone, within 3.5 standard
    errors: what readings are for.
    """
    if (most := row["at_most"]) is not None:
        return row["corrected"] > most
    if (alone := row["labels_alone"]) is None:
        return False
    return row["corrected"] < alone - 3.5 * sqrt(alone * (1 - alone) / row["studies"])


def _leaves_zero(found: Estimate) -> bool:
    return found.low is not None and found.high is not None and not found.low <= 0 <= found.high
