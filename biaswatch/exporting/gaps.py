"""Rows of the gaps of a run, for Python and for agents."""

from typing import Any

from biaswatch.local.runs import RunResults
from biaswatch.shared.presentation.correction_rows import corrected_columns, corrected_gaps
from biaswatch.shared.presentation.verdicts import verdict_columns


def gap_rows(results: RunResults) -> list[dict[str, Any]]:
    """Return a row for each gap of a run, with its interval, verdicts and correction by labels."""
    corrected = corrected_gaps(results.corrections)
    return [
        {
            "target": diagnosis.target, "scaffold": diagnosis.scaffold,
            "feature": diagnosis.feature, "dimension": diagnosis.dimension,
            "a": gap.a, "b": gap.b, "gap": gap.gap.value,
            "ci_low": gap.gap.low, "ci_high": gap.gap.high, "p_adjusted": gap.p_adjusted,
            "summary_ci_low": gap.summary_gap.low, "summary_ci_high": gap.summary_gap.high,
            "p_summary": gap.p_of_summary(gap.p_adjusted),
            **verdict_columns(gap),
            "survives_missing": gap.survives_missing,
            **corrected_columns(
                corrected.get(
                    (diagnosis.target, diagnosis.scaffold, diagnosis.extractor,
                     diagnosis.feature, diagnosis.dimension, gap.a, gap.b)
                )
            ),
        }
        for diagnosis in results.diagnoses
        for gap in diagnosis.gaps
    ]  # fmt: skip
