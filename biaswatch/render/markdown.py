"""Markdown: tables, escaped text, folded sections."""

from collections.abc import Iterable, Iterator, Sequence
from html import escape as escape_html

from biaswatch.shared.foreign_text import isolated, on_one_line
from biaswatch.shared.presentation.tables import Table, TableCell

FOLD_BEGINS, FOLD_ENDS = "<details>", "</details>"
"""Lines around a folded section; texts of models cannot contain them, because `<` is escaped."""


def escape_md(text: str) -> str:
    """Return text with all markup of Markdown escaped."""
    return isolated("".join(f"\\{c}" if c in "\\`*_{}[]<>#|!" else c for c in on_one_line(text)))


def markdown_table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table of plain text."""
    yield from _lines(titles, (map(escape_md, row) for row in rows))


def table_lines(table: Table, max_rows: int | None = None) -> Iterator[str]:
    """Yield the lines of a table of findings, with disparities in bold."""
    yield from _lines(table.titles, (map(_cell, row) for row in table.rows[:max_rows]))


def _cell(cell: TableCell) -> str:
    text = escape_md(cell.text + (f" ({cell.note})" if cell.note else ""))
    return f"**{text}**" if cell.chip == "disparity" else text


def _lines(titles: Sequence[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    yield f"| {' | '.join(titles)} |"
    yield "|" + "---|" * len(titles)
    for row in rows:
        yield f"| {' | '.join(row)} |"


def folded(title: str, lines: Iterable[str]) -> Iterator[str]:
    """Yield lines folded behind their title."""
    yield from ("", FOLD_BEGINS, f"<summary>{escape_html(title)}</summary>", "")
    yield from lines
    yield from ("", FOLD_ENDS)


def anchor(title: str) -> str:
    """Return the address of a heading within a document."""
    kept = (c for c in title.lower() if c.isalnum() or c in " -")
    return "".join(kept).replace(" ", "-")
