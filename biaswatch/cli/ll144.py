"""The verb `ll144`: a file of cases as the tables of New York City's Local Law 144."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from biaswatch.render.ll144 import NO_AUDIT, ll144_table
from biaswatch.render.output import write_document
from biaswatch.render.tables import escape_md

if TYPE_CHECKING:
    from services.diagnoser.domain.findings.observations import Observations


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
    write_document("\n".join(_text(table.name, seen, selected_at_least)) + "\n", output)


def _text(name: str, seen: "Observations", least: float | None) -> Iterator[str]:
    kind = "Scoring" if least is None else "Selection"
    yield f"# {kind} rates and impact ratios: {escape_md(name)}"
    yield ""
    what = "scored above the median of all" if least is None else f"with {least:g} or more"
    yield f"The rate is the share of cases {what}. {NO_AUDIT}"
    columns = list(seen.groups)
    for size in range(1, len(columns) + 1):
        for some in combinations(columns, size):
            yield ""
            yield f"## {escape_md(' x '.join(some))}"
            yield ""
            yield from _table(seen, some, least)


def _table(seen: "Observations", columns: Sequence[str], least: float | None) -> Iterator[str]:
    import numpy as np

    from shared.stats.studies.local_law_144 import above_median, impact_rows, selected_from

    scores = [float(v) if np.isfinite(v) else None for v in seen.values[:, 0]]
    names = [_named([seen.groups[column][row] for column in columns]) for row in range(seen.rows)]
    found, unknown = (
        above_median(scores, names) if least is None else selected_from(scores, names, least)
    )
    yield from ll144_table(impact_rows(found))
    yield ""
    without = sum(score is None for score in scores)
    yield (
        f"Cases of unknown category, in no row: {unknown}. Cases without a score, in no row:"
        f" {without}."
    )


def _named(levels: Sequence[str | None]) -> str | None:
    known = [level for level in levels if level is not None]
    return ", ".join(known) if len(known) == len(levels) else None
