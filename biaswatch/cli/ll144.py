"""The verb `ll144`: tables in the format of Local Law 144, of a file or of a run."""

import asyncio
from collections import defaultdict
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from biaswatch.cli.options import Server, Token
from biaswatch.local.connections import connected
from biaswatch.local.runs import may_name_run, neither_run_nor_file, whole_run_id
from biaswatch.render.ll144 import ImpactDocument, ImpactFormat, case_document, run_document
from biaswatch.render.terminal import write_document
from biaswatch.shared.errors import UsageError
from biaswatch.shared.stats.studies.local_law_144 import (
    SMALL_SHARE,
    UNKNOWN_LABELS,
    applicant_score,
    impact_tables,
    unused_unknown_labels,
)

if TYPE_CHECKING:
    import pandas as pd

    from biaswatch.shared.analysis.findings.observations import Observations


def ll144(
    given: Annotated[
        str,
        typer.Argument(
            metavar="TABLE | RUN",
            help="A CSV, Parquet or JSON file with a row for each applicant, or a run.",
        ),
    ],
    group: Annotated[
        list[str] | None,
        typer.Option(help="A column of categories, or a dimension of the run; may be repeated."),
    ] = None,
    score: Annotated[
        str | None,
        typer.Option(help="The column of scores (or of 1 and 0), or a feature of the run."),
    ] = None,
    selected_at_least: Annotated[
        float | None, typer.Option(help="From which score on an applicant is selected.")
    ] = None,
    small_share: Annotated[
        float,
        typer.Option(
            help="Smaller categories are left out of the impact ratios; 0 leaves none out."
        ),
    ] = SMALL_SHARE,
    unit: Annotated[
        str | None,
        typer.Option(help="The column that names an applicant with several rows in a file."),
    ] = None,
    unknown: Annotated[
        list[str] | None,
        typer.Option(help="One more label that says a category is not known; may be repeated."),
    ] = None,
    form: Annotated[
        ImpactFormat | None,
        typer.Option("--format", help="md, csv or json; md into a file, else a table to read."),
    ] = None,
    output: Annotated[Path | None, typer.Option("-o", help="A file, instead of printing.")] = None,
    server: Server = None,
    token: Token = None,
) -> None:
    """Write selection or scoring rates and impact ratios, by category and by every combination.

    Without --selected-at-least a file's rate is that of scores above the median of all; a run takes
    what its suite says is a selection, and the same where the suite says nothing.
    """
    if not 0 <= small_share < 1:
        raise UsageError(f"--small-share is {small_share:g}, but has to be from 0 to below 1.")
    if selected_at_least is not None and not isfinite(selected_at_least):
        raise UsageError("--selected-at-least has to be a finite number.")
    asked = {
        "group": group or [],
        "score": score,
        "selected_at_least": selected_at_least,
        "small_share": small_share,
        "unknown": unknown or [],
    }
    is_there = Path(given).exists()
    if not is_there and not may_name_run(given):
        raise neither_run_nor_file(given)
    if not is_there:
        if unit is not None:
            raise UsageError("--unit is for files; the applicants of a run are its prompts.")
        document = asyncio.run(_of_run(given, asked, server, token))
    else:
        document = _of_table(Path(given), unit, asked)
    if form is None and output is None:
        document.print_on(Console(emoji=False))
    else:
        write_document(document.as_text(form or ImpactFormat.MD), output)


async def _of_run(
    run_id: str, asked: dict[str, Any], server: str | None, token: str | None
) -> ImpactDocument:
    async with connected(server, token, with_models=False) as client:
        run = await client.progress(await whole_run_id(client, run_id, or_file=True))
        return run_document(run, await client.impact_ratios(run.run_id, asked))


def _of_table(path: Path, unit: str | None, asked: dict[str, Any]) -> ImpactDocument:
    from biaswatch.readers.row_ids import label_form_warnings
    from biaswatch.readers.table_files import frame_of
    from biaswatch.readers.tables import TableColumns, frame_observations

    frame = frame_of(path)
    if not asked["group"] or asked["score"] is None:
        raise UsageError(
            f"Name columns of {path} with --group and --score. Its columns are"
            f" {', '.join(map(str, frame.columns))}."
        )
    columns = TableColumns(asked["group"], [asked["score"]], unit=unit)
    if unit:
        frame = _with_applicant(frame, unit, path)
    seen, _ = frame_observations(frame, columns, path)
    for warning in label_form_warnings(frame, seen.groups, columns.ids):
        typer.echo(warning, err=True)
    scores, labels = _applicants(seen)
    if all(each is None for each in scores):
        raise UsageError(f"No row of {path} has a value of {asked['score']}: name another --score.")
    _check_unknown(path, asked["unknown"], labels)
    tables = impact_tables(
        scores,
        labels,
        selected_at_least=asked["selected_at_least"],
        small_share=asked["small_share"],
        unknown_labels=UNKNOWN_LABELS | {each.strip().casefold() for each in asked["unknown"]},
    )
    applicant = f"all rows with the same {unit}, by their mean" if unit else "a row of the file"
    return case_document(path.name, asked["score"], tables, applicant=applicant)


def _check_unknown(path: Path, named: list[str], labels: dict[str, list[str | None]]) -> None:
    """Refuse a label for unknown categories that no row has."""
    from biaswatch.readers.columns import NAME, check_value_keys

    every = [label for of in labels.values() for label in of if label is not None]
    unused = unused_unknown_labels(named, every)
    sentence = f"No row of {path} has the category {NAME} that --unknown names."
    check_value_keys(unused, list(dict.fromkeys(every)), sentence)


def _with_applicant(frame: "pd.DataFrame", unit: str, path: Path) -> "pd.DataFrame":
    """Return the rows that name an applicant, and say how many do not.

    Raises
    ------
    UsageError
        There is no such column.
    """
    from biaswatch.readers.columns import check_columns
    from biaswatch.readers.row_ids import column_labels

    check_columns([unit], frame, path)
    named = [label is not None for label in column_labels(frame[unit])]
    if (absent := named.count(False)) == 0:
        return frame
    typer.echo(f"{absent} of {len(named)} rows have no {unit} and are left out.", err=True)
    return frame[named]


def _applicants(seen: "Observations") -> tuple[list[float | None], dict[str, list[str | None]]]:
    """Return the score and the categories of each applicant, whose rows are averaged.

    Raises
    ------
    UsageError
        Rows of one applicant have different categories.
    """
    scores: dict[int, list[float]] = defaultdict(list)
    first: dict[int, int] = {}
    units, values = seen.unit_codes.tolist(), seen.values[:, 0].tolist()
    for row, (unit, value) in enumerate(zip(units, values, strict=True)):
        scores[unit].append(value)
        first.setdefault(unit, row)
        for name, labels in seen.groups.items():
            if labels[row] != labels[first[unit]]:
                names = " and ".join(str(labels[k] or "none") for k in (first[unit], row))
                raise UsageError(
                    f"The applicant {seen.units[row] if seen.units else row} has several categories"
                    f" of {name}: {names}. An applicant counts once: correct the rows, or name"
                    " another column by --unit."
                )
    found = {name: [labels[k] for k in first.values()] for name, labels in seen.groups.items()}
    return [applicant_score(mine) for mine in scores.values()], found
