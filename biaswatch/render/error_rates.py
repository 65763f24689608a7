"""Error rates by group as rows for JSON and files, and on a terminal."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from rich.table import Table as RichTable

from biaswatch.render.terminal import escape, terminal_table
from biaswatch.shared.analysis.findings.table_diagnosis import TableDiagnosis
from biaswatch.shared.formatting import VERDICT_WORDS, interval, number
from biaswatch.shared.presentation.correction_rows import bounds
from biaswatch.shared.presentation.tables import words
from biaswatch.shared.stats.estimate import Estimate

Row = dict[str, Any]


def error_rate_rows(diagnosis: TableDiagnosis) -> dict[str, list[Row]]:
    """Return error rates, parities and calibration; empty without a column of truth."""
    if not diagnosis.description.error_rates:
        return {}
    return {
        "error_rates": [
            {
                "feature": row.feature,
                "rate": row.rate.value,
                "dimension": row.dimension,
                "domain": row.domain or None,
                "group": row.group,
                **_estimate(row.estimate),
                "n": row.n,
                "n_missing": row.n_missing,
            }
            for row in diagnosis.description.error_rates
        ],
        "parity": [
            {
                "feature": row.feature,
                "metric": f"{row.parity}_{row.metric}",
                "dimension": row.dimension,
                "domain": row.domain or None,
                **_estimate(row.estimate),
                "verdict": None if row.verdict is None else row.verdict.value,
                "zero_filled": row.zero_filled,
            }
            for row in diagnosis.description.parities
        ],
        "calibration": [
            {
                "feature": row.feature,
                "dimension": row.dimension,
                "domain": row.domain or None,
                "group": row.group,
                "mean_score": row.score,
                **_estimate(row.positive),
                "n": row.n,
            }
            for row in diagnosis.description.calibration
        ],
    }


def _estimate(estimate: Estimate) -> Row:
    return {
        "value": estimate.value,
        "ci": bounds(estimate.low, estimate.high),
        "ci_method": estimate.method or None,
        "reason": estimate.reason,
    }


def error_rate_tables(
    rates: Sequence[Row], parity: Sequence[Row], level: str
) -> Iterator[RichTable]:
    """Yield tables of rates by group and of parities, by feature and dimension."""
    for place, rows in groupby(rates, key=_place):
        cells = [
            (words(row["rate"]), escape(row["group"]), _shown(row), str(row["n"])) for row in rows
        ]
        columns = ("rate", "group", f"value [{level}]", "n")
        yield terminal_table(columns, cells, caption=f"{place}, error rates")
    for place, rows in groupby(parity, key=_place):
        parities = [
            (words(row["metric"]), _shown(row), VERDICT_WORDS.get(row["verdict"], "-"))
            for row in rows
        ]
        head = ("metric", f"value [{level}]", "verdict")
        yield terminal_table(head, parities, caption=f"{place}, parity")


def _place(row: Row) -> str:
    """Return feature, dimension and domain of a row."""
    return ", ".join(filter(None, [f"{row['feature']} by {row['dimension']}", row["domain"]]))


def _shown(row: Row) -> str:
    """Return the value with its interval, or the reason for none."""
    if row["value"] is None:
        return f"{number(None)} ({row['reason']})"
    low, high = row["ci"] or (None, None)
    return interval(row["value"], low, high, row["reason"])
