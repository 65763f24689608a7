"""The output of verbs: a document in a file or on the screen, rows as JSON or as a table."""

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import typer
from pydantic_core import to_jsonable_python
from rich.console import Console

from biaswatch.render.tables import print_table, terminal_table
from biaswatch.shared.formatting import TOO_SMALL, UNDEFINED
from biaswatch.written_files import write_whole


def write_document(document: str, output: Path | None) -> None:
    """Print a document, or write it into the file that is named.

    Raises
    ------
    UsageError
        The file cannot be written.
    """
    if output is None:
        typer.echo(document)
        return
    write_whole(output, document)
    typer.echo(f"Wrote {output}.", err=True)


def print_json(found: object) -> None:
    """Print what the gateway has answered as JSON."""
    typer.echo(json.dumps(to_jsonable_python(found), indent=2))


def print_rows(
    rows: Sequence[Mapping[str, object]],
    explained: str,
    *,
    as_json: bool,
    always: Collection[str] = (),
    left_out: Collection[str] = (),
) -> None:
    """Print rows with the sentence that explains them, or as JSON; their keys are the columns.

    A table shows no column that is empty in every row, unless it is in `always`, and none in
    `left_out`.
    """
    if as_json:
        typer.echo(json.dumps(rows, indent=2))
        return
    filled = [n for n in rows[0] if n in always or any(row[n] is not None for row in rows)]
    shown = [name for name in filled if name not in left_out]
    head = [name.replace("_", " ") for name in shown]
    table = terminal_table(head, ([_cell(row[name]) for name in shown] for row in rows))
    print_table(Console(), table)
    typer.echo(explained)


def _cell(value: object) -> str:
    return UNDEFINED if value is None else str(value)


def without_zero_p(found: Any) -> Any:
    """Return results for JSON in which a p-value too small to be computed is null, with why."""
    if isinstance(found, dict):
        said = {key: without_zero_p(value) for key, value in found.items()}
        if found.get("p_value") == 0:
            said |= {"p_value": None, "p_value_reason": TOO_SMALL}
        return said
    return [without_zero_p(each) for each in found] if isinstance(found, list) else found
