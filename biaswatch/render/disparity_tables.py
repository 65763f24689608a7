"""How far groups lie apart, for people: as wide as a terminal of 80 columns."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from biaswatch.render.tables import escape, print_table, terminal_table
from biaswatch.shared.formatting import number, p_equals

Row = dict[str, Any]
CHANCE = "(in brackets: what random labels give half of the time; p: how often as much)"
SHOWN_METRICS = ("Max-Min", "Min/Max", "Max Z-Score", "Min Z-Score", "Dixon Q")
"""For people; the others are in the JSON and in the files."""


def print_disparities(console: Console, rows: Sequence[Row]) -> None:
    """Print a table for each feature and grouping that has any metric."""
    tables = list(_disparity_tables(rows))
    if tables:
        chance = any(row["p_value"] is not None for row in rows)
        console.print("[bold]Disparity[/]" + (f" {CHANCE}" if chance else ""))
    for table in tables:
        print_table(console, table, "")


def _disparity_tables(rows: Sequence[Row]) -> Iterator[Table]:
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


def _statistic_order(rows: Sequence[Row]) -> Callable[[Row], int]:
    names = list(dict.fromkeys(row["statistic"] for row in rows))
    return lambda row: names.index(row["statistic"])
