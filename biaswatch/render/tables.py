"""Rows as tables in a terminal, in Markdown and in CSV; what others wrote is never markup."""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from textwrap import wrap
from typing import Any

import typer
from pydantic_core import to_jsonable_python
from rich.console import Console
from rich.markup import escape as without_markup
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from biaswatch.shared.contracts import Verdict
from biaswatch.shared.formatting import TOO_SMALL, UNDEFINED, isolated, on_one_line, shown
from biaswatch.shared.presentation.columns import Column, Row, Shown, columns
from biaswatch.shared.presentation.tables import csv_text
from biaswatch.written_files import write_whole

STYLES = {"disparity": "bold red", "no_disparity": "green"}
"""The colours of verdicts in a terminal."""
VERDICT_WIDTH = 10
INTERVAL_WIDTH = 22
LONGEST_WORD, WIDEST = 60, 2000
"""A longer word is folded; no line of a table is longer."""
BETWEEN, BORDERED = 2, 3
"""The room that a column takes beside its text, without lines and with them."""
NO_BREAK = "\u00a0"
_NUMBERS = re.compile(r"[-\u2212+<>=%()\[\]\d.,/:∞ ]*|-?[\d.]+e-?\d+|\d+ \(\d+ to \d+\)")
_ESTIMATE = re.compile(r"(-?\S+) (\[[-\d.,e+ ]+\])")
_TOGETHER = re.compile(r"\[[-\d.,e+ ]+\]|\bp [=<] \S+|\S+ \[[-\d.,e+ ]+\]")
"""What is read as one: an interval with its number, a p-value."""


def printable(text: str) -> str:
    """Return text in which nothing steers a terminal."""
    return shown(text)


def escape(text: str) -> str:
    """Return text that rich prints literally: printable, and without markup."""
    return without_markup(printable(text))


def escape_md(text: str) -> str:
    """Return text that no reader of Markdown takes for markup."""
    one_line = on_one_line(text)
    return isolated("".join(f"\\{c}" if c in "\\`*_{}[]<>#|!" else c for c in one_line))


def terminal_table(head: Sequence[str], rows: Iterable[Sequence[str | Text]] = ()) -> Table:
    """Return a table without lines, whose cells are plain text.

    A number stays on its line, with its interval below; words wrap between words.
    """
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="underline")
    cells = [[_cell_text(cell) for cell in row] for row in rows]
    for name, column in zip_longest(head, zip(*cells, strict=True) if cells else (), fillvalue=()):
        lines = [line for cell in column for line in cell.plain.split("\n")]
        whole = bool(lines) and all(map(_NUMBERS.fullmatch, lines))
        widest = max(map(len, lines)) if whole else 0
        table.add_column(_heading(str(name), widest), overflow="fold", no_wrap=whole)
    for row in cells:
        table.add_row(*row)
    return table


def _heading(name: str, widest: int) -> str:
    """Return a heading over numbers in lines as short as they are; one over words wraps itself."""
    name = escape(name)
    longest_word = max(map(len, name.split()), default=1)
    if not widest:
        return name
    lines = wrap(name.replace(" %", f"{NO_BREAK}%"), max(widest, longest_word))
    return "\n".join(lines).replace(NO_BREAK, " ")


def _cell_text(cell: str | Text) -> Text:
    if isinstance(cell, Text):
        return cell
    found = _ESTIMATE.fullmatch(text := printable(cell))
    return Text(f"{found[1]}\n{found[2]}" if found else text)


def print_table(console: Console, table: Table, *after: str) -> None:
    """Print a table with every word whole: as wide as that needs, even if the screen is not.

    A terminal then continues its lines below; words longer than a column may be are folded.
    """
    options = console.options.update(width=WIDEST)
    ranges = []
    for column in table.columns:
        cells = [Measurement.get(console, options, cell) for cell in (column.header, *column.cells)]
        most = max(cell.maximum for cell in cells)
        words = most if column.no_wrap else max(cell.minimum for cell in cells)
        ranges.append((max(min(words, LONGEST_WORD), column.min_width or 0), most))
    between, edge = (BETWEEN, 0) if table.box is None else (BORDERED, 1)
    widths = fitted([least for least, _ in ranges], [most for _, most in ranges],
                    console.width - between * len(ranges) - edge)  # fmt: skip
    for column, width in zip(table.columns, widths, strict=True):
        column.width = width
    width, console.width = console.width, WIDEST
    console.print(table, *after, crop=False, soft_wrap=False)
    console.width = width


def fitted(least: Sequence[int], most: Sequence[int], width: int) -> list[int]:
    """Return widths of columns between their least and most that fill a width where they can.

    What is left after the least goes to each column by what it still wants.
    """
    wanted = [max(0, high - low) for low, high in zip(least, most, strict=True)]
    left = max(0, min(width - sum(least), sum(wanted)))
    total = sum(wanted) or 1
    return [low + left * want // total for low, want in zip(least, wanted, strict=True)]


def print_sentence(console: Console, sentence: str, *, bullet: str = "", style: str = "") -> None:
    """Print a sentence in lines of the screen's width, with numbers and intervals whole."""
    kept = _TOGETHER.sub(lambda found: found[0].replace(" ", NO_BREAK), printable(sentence))
    lines = wrap(
        kept, console.width, initial_indent=bullet, subsequent_indent=" " * len(bullet),
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
    text = Text("\n".join(lines).replace(NO_BREAK, " "), style=style)
    console.print(text, soft_wrap=True, highlight=False)


def print_lines(console: Console, text: str) -> None:
    """Print a text of paragraphs and lists in lines of the screen's width; rows of tables stay."""
    for line in printable(text).split("\n"):
        if line.startswith("|"):
            typer.echo(line)
            continue
        bullet = "- " if line.startswith("- ") else ""
        print_sentence(console, line.removeprefix(bullet), bullet=bullet)


def findings_table(registry: Sequence[Column[Row]], found: Sequence[Row], level: str) -> Table:
    """Return gaps or groups as a table for a terminal, less the columns that have no cell."""
    seen = [
        column
        for column in columns(registry, Shown.TERMINAL)
        if any(column.text(row) for row in found)
    ]
    table = terminal_table(
        [column.heading.format(level=level) for column in seen],
        ([_terminal_cell(column, row) for column in seen] for row in found),
    )
    for column, drawn in zip(seen, table.columns, strict=True):
        drawn.min_width = VERDICT_WIDTH if column.is_verdict else None
    return table


def verdict_text(verdict: str, words: str) -> Text:
    """Return a verdict in its colour."""
    return Text(words, style=STYLES.get(verdict, ""))


def _terminal_cell(column: Column[Row], row: Row) -> Text:
    text = column.text(row)
    if column.is_verdict:
        return verdict_text(str(column.value(row)), text)
    if column.is_estimate:
        value, _, bounds = (text or UNDEFINED).partition(" ")
        text = "\n".join([value, *wrap(bounds, INTERVAL_WIDTH)])
    return Text(printable(text))


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Return the lines of a table, whose cells are plain text."""
    return _markdown_lines(head, (map(escape_md, row) for row in rows))


def findings_markdown(
    registry: Sequence[Column[Row]], found: Iterable[Row], level: str
) -> Iterator[str]:
    """Return the lines of gaps or groups as a table; disparities are in bold."""
    rows = list(found)
    seen = [
        column
        for column in columns(registry, Shown.DOCUMENT)
        if not column.is_optional or any(column.text(row) for row in rows)
    ]
    head = [column.heading.format(level=level) for column in seen]
    return _markdown_lines(head, ((_markdown_cell(column, row) for column in seen) for row in rows))


def _markdown_cell(column: Column[Row], row: Row) -> str:
    text = escape_md(column.text(row))
    return f"**{text}**" if column.is_verdict and column.value(row) == Verdict.DISPARITY else text


def _markdown_lines(head: Sequence[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield f"| {' | '.join(row)} |"


def findings_csv(registry: Sequence[Column[Row]], found: Iterable[Row]) -> str:
    """Return gaps as CSV, numbers unrounded."""
    seen = columns(registry, Shown.CSV)
    rows = ([column.value(row) for column in seen] for row in found)
    return csv_text([column.name for column in seen], rows)


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
