"""Findings as labels correct them, as rows for JSON and frames."""

from collections.abc import Iterable, Mapping
from typing import Any

from biaswatch.shared.analysis.labels.table_corrections import TableCorrection
from biaswatch.shared.contracts import CorrectedGap, Correction

GapKey = tuple[str, ...]
"""Target, scaffold, extractor, feature, dimension and both groups."""


def correction_rows(corrections: Iterable[Correction]) -> list[dict[str, Any]]:
    """Return a row for each comparison of a run, for JSON and frames."""
    return [
        {
            "target": row.target,
            "scaffold": row.scaffold,
            "extractor": row.extractor,
            "feature": row.feature,
            "dimension": row.dimension,
            **_gap_row(gap),
            "labels": row.labels,
            "people": row.people,
            "labelled_until": row.labelled_until.isoformat(),
        }
        for row in corrections
        for gap in row.gaps
    ]


def table_correction_rows(corrections: Iterable[TableCorrection]) -> list[dict[str, Any]]:
    """Return a row for each comparison of a table, for JSON and frames."""
    return [
        {
            "feature": row.feature,
            "dimension": row.dimension,
            "domain": row.domain or None,
            **_gap_row(gap),
            "labels": row.labels,
            "people": row.people,
            "agreement": row.agreement.value,
        }
        for row in corrections
        for gap in row.gaps
    ]


def _gap_row(gap: CorrectedGap) -> dict[str, Any]:
    """Return a gap by readings and as labels correct it, as a row."""
    return {
        "a": gap.a,
        "b": gap.b,
        "by_readings": gap.reading.value,
        "by_readings_ci": bounds(gap.reading.low, gap.reading.high),
        "corrected": gap.corrected.value,
        "ci": bounds(gap.corrected.low, gap.corrected.high),
        "ci_by_itself": bounds(gap.by_itself.low, gap.by_itself.high),
        "p_value": gap.p_value,
        "p_adjusted": gap.p_adjusted,
        "verdict": gap.verdict.value,
        "ratio_by_readings": gap.reading_ratio,
        "ratio": gap.ratio.value if gap.ratio else None,
        "ratio_ci": bounds(gap.ratio.low, gap.ratio.high) if gap.ratio else None,
        "bias_difference": gap.bias_difference.value,
        "bias_difference_ci": bounds(gap.bias_difference.low, gap.bias_difference.high),
        "reason": gap.corrected.reason or gap.reason,
    }


def bounds(low: float | None, high: float | None) -> list[float | None] | None:
    """Return the ends of an interval for JSON; None without any."""
    return None if low is None and high is None else [low, high]


def corrected_gaps(corrections: Iterable[Correction]) -> Mapping[GapKey, CorrectedGap]:
    """Return the corrected gaps by subject."""
    return {
        (row.target, row.scaffold, row.extractor, row.feature, row.dimension, gap.a, gap.b): gap
        for row in corrections
        for gap in row.gaps
    }


def corrected_columns(gap: CorrectedGap | None) -> dict[str, Any]:
    """Return the columns beside a gap by readings, all null without labels."""
    return {
        "corrected": gap.corrected.value if gap else None,
        "corrected_low": gap.corrected.low if gap else None,
        "corrected_high": gap.corrected.high if gap else None,
        "corrected_verdict": gap.verdict.value if gap else None,
    }
