"""Interactions of two dimensions as rows for JSON and files, and in sentences."""

from collections.abc import Iterator, Sequence
from typing import Any

from biaswatch.shared.analysis.findings.groupings import crossed_name
from biaswatch.shared.analysis.findings.interactions import DIFFERENCE
from biaswatch.shared.analysis.findings.table_diagnosis import TableDiagnosis
from biaswatch.shared.contracts import Diagnosis
from biaswatch.shared.formatting import computed_p, interval, p_equals
from biaswatch.shared.presentation.correction_rows import bounds
from biaswatch.shared.stats.estimate import Estimate

Row = dict[str, Any]


def interaction_rows(diagnosis: TableDiagnosis) -> dict[str, list[Row]]:
    """Return the part of interactions; none with a single dimension."""
    if not diagnosis.description.interactions:
        return {}
    rows = [
        {
            "feature": row.feature,
            "dimension": crossed_name(row.dimensions),
            "domain": row.domain or None,
            "scale": row.scale,
            "statistic": row.test.statistic,
            "degrees_of_freedom": [row.test.numerator, row.test.denominator],
            "p_value": computed_p(row.test.p_value),
            "p_adjusted": computed_p(row.p_adjusted),
            "contrast": row.contrast_of,
            "value": row.contrast.value,
            "ci": bounds(row.contrast.low, row.contrast.high),
            "method": row.test.method or None,
            "reason": row.test.reason or row.contrast.reason,
        }
        for row in diagnosis.description.interactions
    ]
    return {"interactions": rows}


def interaction_sentences(rows: Sequence[Row], alpha: float) -> Iterator[str]:
    """Yield for each feature whether the effects of two dimensions add up."""
    for row in rows:
        if row["scale"] == DIFFERENCE:
            place = f"{row['feature']} by {row['dimension']}"
            place = ", ".join(filter(None, [place, row["domain"]]))
            low, high = row["ci"] or (None, None)
            contrast = Estimate(row["value"], low, high, reason=row["reason"])
            first, _, second = row["dimension"].partition(" x ")
            tested = (first, second, row["p_adjusted"], contrast, row["contrast"])
            yield f"{place}: {interaction_words(*tested, alpha)}."


def tested_interactions(diagnosis: Diagnosis) -> Iterator[str]:
    """Yield the tests of interactions of a finding, in sentences."""
    for row in diagnosis.interactions:
        if row.p_adjusted is not None:
            first = diagnosis.dimension
            second = row.dimensions.removeprefix(crossed_name((first, "")))
            tested = (first, second, row.p_adjusted, row.contrast, row.contrast_of)
            where = f"{diagnosis.feature} by {row.dimensions}"
            yield f"{where}: {interaction_words(*tested, diagnosis.alpha)}."


def interaction_words(
    first: str,
    second: str,
    p_adjusted: float | None,
    contrast: Estimate,
    contrast_of: str | None,
    alpha: float,
) -> str:
    """Return whether the effects of two dimensions add up."""
    if p_adjusted is None:
        return f"no test of an interaction ({contrast.reason})"
    unproven = "no evidence that " if p_adjusted > alpha else ""
    ends = (contrast.value, contrast.low, contrast.high)
    size = "" if ends[0] is None else f"; {contrast_of}: {interval(*ends, None)}"
    return f"{unproven}the gap of {first} differs with {second} ({p_equals(p_adjusted)}{size})"
