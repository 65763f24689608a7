"""All groups of a table together: overall test, means and ranks, disparities."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from rich.console import Console
from rich.table import Table

from biaswatch.checks import is_unmeasured_row
from biaswatch.render.tables import escape, print_table, terminal_table
from biaswatch.shared.analysis.findings.group_disparities import GroupMean, OverallStatistic
from biaswatch.shared.formatting import (
    UNDEFINED,
    interval,
    number,
    p_equals,
    p_value,
    verdict_lead,
    verdict_words,
)

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


DisparityRow = dict[str, Any]
CHANCE = "(in brackets: what random labels give half of the time; p: how often as much)"
SHOWN_METRICS = ("Max-Min", "Min/Max", "Max Z-Score", "Min Z-Score", "Dixon Q")
"""For people; the others are in the JSON and in the files."""


def print_disparities(console: Console, rows: Sequence[DisparityRow]) -> None:
    """Print a table for each feature and grouping that has any metric."""
    tables = list(_disparity_tables(rows))
    if tables:
        chance = any(row["p_value"] is not None for row in rows)
        console.print("[bold]Disparity[/]" + (f" {CHANCE}" if chance else ""))
    for table in tables:
        print_table(console, table, "")


def _disparity_tables(rows: Sequence[DisparityRow]) -> Iterator[Table]:
    """Return a table for each feature and grouping: a row a statistic, a column a metric.

    What is undefined in every metric is in the JSON and in the files alone.
    """
    tables: dict[str, dict[str, dict[str, str]]] = {}
    for row in sorted(rows, key=_statistic_order(rows)):
        if row["metric"] not in SHOWN_METRICS or row["value"] is None:
            continue
        of = ", ".join(filter(None, [row["domain"], row["dimension"]]))
        shown = number(row["value"])
        if row["p_value"] is not None:  # what chance gives half of the time, how often as much
            shown = f"{shown}\n({number(row['null_median'])})\n{p_equals(row['p_value'])}"
        statistics = tables.setdefault(f"{row['feature']} by {of}", {})
        statistics.setdefault(row["statistic"].replace("_", " "), {})[row["metric"]] = shown
    for title, statistics in tables.items():
        table = terminal_table(("statistic", *SHOWN_METRICS))
        table.title, table.title_justify = escape(title), "left"
        for column in table.columns[1:]:
            column.no_wrap = True
        for statistic, metrics in statistics.items():
            cells = (escape(metrics.get(name, "-")) for name in SHOWN_METRICS)
            table.add_row(escape(statistic), *cells)
        yield table


def _statistic_order(rows: Sequence[DisparityRow]) -> Callable[[DisparityRow], int]:
    names = list(dict.fromkeys(row["statistic"] for row in rows))
    return lambda row: names.index(row["statistic"])


def conclusion_of(found: Mapping[str, Any], alpha: float) -> tuple[str, str]:
    """Return the verdict of the declared test, and what it says of the two groups."""
    p, gap = found["declared"]["p_value"], found["risk_difference"]
    is_disparity = p is not None and p <= alpha
    rates = [number(rate["estimate"]) for rate in found["rates"]]
    low, high = gap["ci"] or (None, None)
    test = f", {p_equals(p, 3)}" if p is not None else ""
    first, second = found["groups"]
    words = "a disparity" if is_disparity else "not enough evidence for a disparity"
    said = interval(gap["estimate"], low, high, gap["reason"])
    sentence = (
        f"{first} {rates[0]} against {second} {rates[1]}: {words} (risk difference {said}{test})."
    )
    return "disparity" if is_disparity else "not_enough_evidence", sentence
