"""All groups of a table together: the overall test, shrunken means and ranks, what decides."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from rich.table import Table

from biaswatch.checks import is_unmeasured_row
from biaswatch.render.tables import escape, terminal_table
from biaswatch.shared.analysis.findings.all_groups import GroupMean, OverallStatistic
from biaswatch.shared.formatting import UNDEFINED, number, p_value, verdict_lead, verdict_words

Row = dict[str, Any]


def overall_row(each: OverallStatistic) -> Row:
    """Return the test over all groups of a domain as a row."""
    return {
        "feature": each.feature,
        "dimension": each.dimension,
        "domain": each.domain or None,
        "groups": each.groups,
        "units": each.units,
        "statistic": each.statistic,
        "p_value": each.p_value,
        "permutations": each.permutations,
        "method": each.method,
        "reason": each.reason,
    }


def group_mean_row(each: GroupMean) -> Row:
    """Return a group's mean among those of all groups as a row."""
    return {
        "feature": each.feature,
        "dimension": each.dimension,
        "domain": each.domain or None,
        "group": each.group,
        "mean": each.mean,
        "shrunken_mean": each.shrunken_mean,
        "shrunken_method": each.shrunken_method,
        "shrunken_reason": each.shrunken_reason,
        "rank": each.rank,
        "rank_ci": None if each.rank is None else [each.rank_low, each.rank_high],
        "rank_method": each.rank_method,
    }


def overall_sentences(rows: Sequence[Row]) -> Iterator[str]:
    """Return the tests over all groups in words."""
    for row in rows:
        where = f"{row['feature']} by {_of(row)}, all {row['groups']} groups together"
        if row["p_value"] is None:
            yield f"{where}: no test, because {row['reason'] or 'there is none'}."
        else:
            yield (
                f"{where}: p = {p_value(row['p_value'])} for means this far apart under random"
                f" labels ({row['units']} units); it informs and decides nothing."
            )


def group_mean_tables(rows: Sequence[Row], level: str) -> Iterator[Table]:
    """Return a table for each feature and dimension, the largest mean first."""
    for (feature, of), some in groupby(rows, key=lambda row: (row["feature"], _of(row))):
        ranked = sorted(some, key=lambda row: row["rank"] or float("inf"))
        cells = (
            (
                ", ".join(row["group"].values()), number(row["mean"]),
                number(row["shrunken_mean"]), _rank(row),
            )
            for row in ranked
        )  # fmt: skip
        table = terminal_table(
            ("group", "mean", "shrunken mean (for looking)", f"rank ({level})"), cells
        )
        table.title = escape(f"{feature} by {of}")
        table.title_justify = "left"
        yield table


def row_verdict(row: Row) -> str:
    """Return the verdict of a comparison in words, with what the missing answers could do to it."""
    return verdict_words(row["verdict"], row["survives_missing"], unmeasured=is_unmeasured_row(row))


def verdict_counts(rows: Sequence[Row]) -> str:
    """Return how many comparisons came to which verdict, disparities first."""
    return verdict_lead(
        [(row["verdict"], row["survives_missing"], is_unmeasured_row(row)) for row in rows]
    )


def _of(row: Row) -> str:
    return ", ".join(filter(None, [row["domain"], row["dimension"]]))


def _rank(row: Row) -> str:
    if row["rank"] is None:
        return UNDEFINED
    low, high = row["rank_ci"]
    return f"{row['rank']}" if low == high else f"{row['rank']} ({low} to {high})"
