"""Interactions of two dimensions as rows for JSON and files, and in sentences."""

from collections.abc import Iterator, Sequence
from typing import Any

from biaswatch.shared.analysis.findings.interactions import DIFFERENCE
from biaswatch.shared.analysis.findings.table_diagnosis import TableDiagnosis
from biaswatch.shared.formatting import computed_p, interval, p_equals
from biaswatch.shared.presentation.correction_rows import bounds

Row = dict[str, Any]


def interaction_rows(diagnosis: TableDiagnosis) -> dict[str, list[Row]]:
    """Return the part of interactions; none with a single dimension."""
    if not diagnosis.description.interactions:
        return {}
    rows = [
        {
            "feature": row.feature,
            "dimension": row.dimensions,
            "domain": row.domain or None,
            "scale": row.scale,
            "statistic": row.test.statistic,
            "degrees_of_freedom": [row.test.numerator, row.test.denominator],
            "p_value": computed_p(row.test.p_value),
            "p_adjusted": computed_p(row.p_adjusted),
            "value": row.contrast.value,
            "ci": bounds(row.contrast.low, row.contrast.high),
            "method": row.test.method or None,
            "reason": row.test.reason,
        }
        for row in diagnosis.description.interactions
    ]
    return {"interactions": rows}


def interaction_sentences(rows: Sequence[Row], alpha: float) -> Iterator[str]:
    """Yield for each feature whether the effects of two dimensions add up."""
    for row in rows:
        if row["scale"] != DIFFERENCE:
            continue
        first, _, second = row["dimension"].partition(" x ")
        place = ", ".join(filter(None, [f"{row['feature']} by {row['dimension']}", row["domain"]]))
        if row["p_value"] is None:
            yield f"{place}: no test of an interaction ({row['reason']})."
            continue
        p = p_equals(row["p_adjusted"])
        words = f"the gap of {first} differs with {second}"
        if (row["p_adjusted"] or 0.0) > alpha:
            words = f"no evidence that the gap of {first} differs with {second}"
        size = ""
        if row["value"] is not None:
            low, high = row["ci"]
            size = f", difference of gaps {interval(row['value'], low, high, None)}"
        yield f"{place}: {words} ({p}{size})."
