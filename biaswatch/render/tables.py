"""Rows as tables in a terminal, in Markdown and in CSV; what others wrote is never markup."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap

from rich.markup import escape as without_markup
from rich.table import Table
from rich.text import Text

from biaswatch.render.columns import Column, Row, Shown, columns
from shared.contracts import Verdict
from shared.formatting import UNDEFINED
from shared.shown_text import isolated, on_one_line, shown

STYLES = {"disparity": "bold red", "no_disparity": "green"}
"""The colours of verdicts in a terminal."""
VERDICT_WIDTH = 10
INTERVAL_WIDTH = 22


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


def terminal_table(
    head: Sequence[str], rows: Iterable[Sequence[str]] = (), *, indent: int = 0
) -> Table:
    """Return a table without lines, whose cells are plain text."""
    padding = (0, 2, 0, indent)
    table = Table(box=None, pad_edge=False, padding=padding, header_style="underline")
    for name in head:
        table.add_column(escape(name), overflow="fold")
    for row in rows:
        table.add_row(*map(escape, row))
    return table


def findings_table(registry: Sequence[Column[Row]], found: Sequence[Row], level: str) -> Table:
    """Return gaps or groups as a table for a terminal, less the columns that have no cell."""
    seen = [
        column
        for column in columns(registry, Shown.TERMINAL)
        if any(column.text(row) for row in found)
    ]
    table = terminal_table([column.heading.format(level=level) for column in seen])
    for column, drawn in zip(seen, table.columns, strict=True):
        drawn.no_wrap = column.no_wrap
        drawn.min_width = VERDICT_WIDTH if column.is_verdict else None
    for row in found:
        table.add_row(*(_terminal_cell(column, row) for column in seen))
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


def csv_text(head: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """Return rows as CSV, numbers unrounded, no text taken for a formula."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(map(_csv_cell, row) for row in rows)
    return written.getvalue()


def _csv_cell(value: object) -> object:
    """Keep a spreadsheet from taking text for a formula."""
    return f"'{value}" if isinstance(value, str) and value[:1] in "=+-@\t" else value
