"""Output of the command line: tables and sentences on a terminal, JSON, documents in files."""

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from textwrap import wrap
from typing import Any

import typer
from pydantic_core import to_jsonable_python
from rich.console import Console
from rich.markup import escape as without_markup
from rich.measure import Measurement
from rich.table import Table as RichTable
from rich.text import Text

from biaswatch.shared.foreign_text import shown
from biaswatch.shared.formatting import TOO_SMALL, UNDEFINED
from biaswatch.shared.presentation.tables import Table, TableCell
from biaswatch.written_files import write_atomically

STYLES = {"disparity": "bold red", "no_disparity": "green"}
"""Colors of verdicts."""
INTERVAL_CHARS = 22
"""Line length of an interval below its number, or of the reason for having none."""
MAX_WORD_CHARS, MAX_LINE_CHARS = 60, 2000
"""Longer words are folded; longer lines are cut."""
COLUMN_GAP = 2
NO_BREAK = "\u00a0"
_NUMBERS = re.compile(
    r"[-\u2212\u2013+<>=%()\[\]\d.,/:∞ ]*|-?[\d.]+e-?\d+|\d+ \(\d+ to \d+\)"
    r"|differs|not shown|too few \w+|(p|evidence) [-=<\d. ]+;?|[\d. %]+, placebo [\d. %]+"
)
_ESTIMATE = re.compile(r"(-?\S+) (\[[-\d.,e+ ]+\])")
_TOGETHER = re.compile(r"\[[-\d.,e+ ]+\]|\bp [=<] \S+|\S+ \[[-\d.,e+ ]+\]")
"""Parts of a sentence that stay on one line: a number with its interval, a p-value."""


def printable(text: str) -> str:
    """Return text without control characters."""
    return shown(text)


def escape(text: str) -> str:
    """Return text for rich to print literally."""
    return without_markup(printable(text))


def terminal_table(
    titles: Sequence[str], rows: Iterable[Sequence[str | Text]] = (), *, caption: str = ""
) -> RichTable:
    """Return a table of plain text without lines, with a caption above it.

    A number stays on its line, with its interval below; words wrap between words.
    """
    table = RichTable(
        title=escape(caption) if caption else None,
        title_justify="left",
        box=None,
        pad_edge=False,
        padding=(0, COLUMN_GAP, 0, 0),
        header_style="underline",
    )
    cells = [[_rich_text(cell) for cell in row] for row in rows]
    contents = zip(*cells, strict=True) if cells else ()
    for title, column in zip_longest(titles, contents, fillvalue=()):
        lines = [line for cell in column for line in cell.plain.split("\n")]
        is_numeric = bool(lines) and all(map(_NUMBERS.fullmatch, lines))
        width = max(map(len, lines)) if is_numeric else 0
        table.add_column(_heading(str(title), width), overflow="fold", no_wrap=is_numeric)
    for row in cells:
        table.add_row(*row)
    return table


NOTE_CHARS = 48
"""Least width of a table with notes, which are wrapped at its width."""


def rich_table(table: Table) -> RichTable:
    """Return a table of findings for a terminal, without empty columns."""
    filled = [
        n
        for n in range(len(table.columns))
        if any(row[n].text not in ("", UNDEFINED) for row in table.rows)
    ]
    reasons: list[str] = []
    rows = [[finding_text(_noted(row[n], reasons)) for n in filled] for row in table.rows]
    printed = terminal_table([table.columns[n].title for n in filled], rows)
    if reasons:
        printed.caption = Text("\n".join(f"({n}) {reason}" for n, reason in enumerate(reasons, 1)))
        printed.caption_justify = "left"
        printed.min_width = NOTE_CHARS
    return printed


def _noted(cell: TableCell, reasons: list[str]) -> TableCell:
    """Return a cell with a long reason moved to a note below the table."""
    reason = cell.estimate.reason if cell.estimate else None
    if not reason or len(reason) <= INTERVAL_CHARS or not cell.text.endswith(f"[{reason}]"):
        return cell
    if reason not in reasons:
        reasons.append(reason)
    return replace(cell, text=cell.text.replace(f"[{reason}]", f"({reasons.index(reason) + 1})"))


def finding_text(cell: TableCell) -> Text:
    """Return a cell with its note and its interval on lines of their own."""
    text = printable(cell.text + (f"\n{cell.note}" if cell.note else ""))
    value, _, interval = text.partition(" ")
    if cell.estimate and interval.startswith("["):
        text = "\n".join([value, *wrap(interval, INTERVAL_CHARS)])
    return Text(text, style=STYLES.get(cell.chip or "", ""))


def _rich_text(cell: str | Text) -> Text:
    if isinstance(cell, Text):
        return cell
    estimate = _ESTIMATE.fullmatch(text := printable(cell))
    return Text(f"{estimate[1]}\n{estimate[2]}" if estimate else text)


def _heading(title: str, width: int) -> str:
    """Return a title in lines as short as the numbers below it."""
    title = escape(title)
    if not width:
        return title
    title = title.replace(" %", f"{NO_BREAK}%")
    longest_word = max(map(len, title.split(" ")), default=1)
    lines = wrap(title, max(width, longest_word))
    return "\n".join(lines).replace(NO_BREAK, " ")


def print_table(console: Console, table: RichTable, *after: str) -> None:
    """Print a table with whole words, wider than the terminal where they need it."""
    options = console.options.update(width=MAX_LINE_CHARS)
    for column in table.columns:
        cells = [Measurement.get(console, options, cell) for cell in (column.header, *column.cells)]
        is_whole = column.no_wrap
        longest = max(cell.maximum if is_whole else cell.minimum for cell in cells)
        column.min_width = min(longest, MAX_WORD_CHARS)
    least = sum(column.min_width or 0 for column in table.columns)
    least += COLUMN_GAP * (len(table.columns) - 1)
    if least > console.width:  # rich would drop whole columns instead
        table.width = least
    console.print(table, *after, crop=False)


def print_sentence(console: Console, sentence: str, *, bullet: str = "", style: str = "") -> None:
    """Print a sentence in lines of the terminal's width, with numbers and intervals whole."""
    kept = _TOGETHER.sub(lambda match: match[0].replace(" ", NO_BREAK), printable(sentence))
    lines = wrap(
        kept,
        console.width,
        initial_indent=bullet,
        subsequent_indent=" " * len(bullet),
        break_long_words=False,
        break_on_hyphens=False,
    )
    text = Text("\n".join(lines).replace(NO_BREAK, " "), style=style)
    console.print(text, soft_wrap=True, highlight=False)


def print_bullets(console: Console, sentences: Iterable[str], *, style: str = "") -> None:
    """Print sentences as a list."""
    for sentence in sentences:
        print_sentence(console, sentence, bullet="• ", style=style)


def print_lines(console: Console, text: str) -> None:
    """Print paragraphs and lists in lines of the terminal's width, and tables as they are."""
    for line in printable(text).split("\n"):
        if line.startswith("|"):
            typer.echo(line)
            continue
        bullet = "- " if line.startswith("- ") else ""
        print_sentence(console, line.removeprefix(bullet), bullet=bullet)


def print_rows(
    rows: Sequence[Mapping[str, object]],
    explanation: str,
    *,
    as_json: bool,
    always: Collection[str] = (),
    left_out: Collection[str] = (),
) -> None:
    """Print rows with an explanation, or as JSON; their keys are the columns.

    Columns without any value are left out, except those in `always`; so are those in `left_out`.
    """
    if as_json:
        typer.echo(json.dumps(rows, indent=2))
        return
    names = [
        name
        for name in rows[0]
        if name not in left_out and (name in always or any(row[name] is not None for row in rows))
    ]
    cells = ([UNDEFINED if row[name] is None else str(row[name]) for name in names] for row in rows)
    print_table(Console(), terminal_table([name.replace("_", " ") for name in names], cells))
    typer.echo(explanation)


def print_json(value: object) -> None:
    """Print a value as JSON."""
    typer.echo(json.dumps(to_jsonable_python(value), indent=2))


def write_document(document: str, output: Path | None) -> None:
    """Print a document, or write it into a file.

    Raises
    ------
    UsageError
        The file cannot be written.
    """
    if output is None:
        typer.echo(document)
        return
    write_atomically(output, document)
    typer.echo(f"Wrote {output}.", err=True)


def without_zero_p(results: Any) -> Any:
    """Return results for JSON, with null and a reason for p-values too small to compute."""
    if isinstance(results, dict):
        values = {key: without_zero_p(value) for key, value in results.items()}
        if results.get("p_value") == 0:
            values |= {"p_value": None, "p_value_reason": TOO_SMALL}
        return values
    return [without_zero_p(row) for row in results] if isinstance(results, list) else results
