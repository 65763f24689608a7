"""The verb `ll144`: a file of cases as the tables of New York City's Local Law 144."""

from pathlib import Path
from typing import Annotated

import typer

from biaswatch.render.ll144 import case_tables
from biaswatch.render.output import write_document


def register(app: typer.Typer) -> None:
    """Add the verb to the command line."""
    app.command("ll144")(ll144)


def ll144(
    table: Annotated[Path, typer.Argument(help="A CSV, Parquet or JSONL file, a row a case.")],
    group: Annotated[list[str], typer.Option(help="A column of categories; may be repeated.")],
    score: Annotated[str, typer.Option(help="The column of scores, or of 1 and 0.")],
    selected_at_least: Annotated[
        float | None, typer.Option(help="From which score on a case is selected.")
    ] = None,
    output: Annotated[Path | None, typer.Option("-o", help="A file, instead of printing.")] = None,
) -> None:
    """Write impact ratios by category and by every combination: scoring rates, or selection rates.

    Without --selected-at-least the rate is that of scores above the median of all scores.
    """
    from biaswatch.readers.tables import TableColumns, observations

    seen, _ = observations(table, TableColumns(group, [score]))
    write_document(case_tables(table.name, seen, selected_at_least), output)
