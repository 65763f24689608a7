"""Tables of a page: the same rows as HTML, as cards on a phone, and as CSV."""

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from biaswatch.shared.formatting import number

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""A text that begins so is a formula to a spreadsheet, which would do what its writer wants."""


@dataclass(frozen=True)
class PageColumn:
    """One column."""

    title: str
    numeric: bool = False
    name: bool = False
    """Whether it holds names, which may be long."""


@dataclass(frozen=True)
class PageCell:
    """One cell: what a page shows, where it leads, and what a file gets."""

    text: str
    plain: str | float | int | None = None
    href: str | None = None
    chip: str | None = None
    """The kind of chip the text stands in."""
    note: str | None = None
    """One line more, in small."""
    live: str | None = None
    """The place whose number it shows, where that is kept up to date."""


@dataclass(frozen=True)
class PageTable:
    """A table with its columns and rows."""

    caption: str
    columns: tuple[PageColumn, ...]
    rows: tuple[tuple[PageCell, ...], ...]
    download: str | None = None
    """Where the same table is as CSV."""


def words_cell(
    text: str,
    *,
    href: str | None = None,
    chip: str | None = None,
    note: str | None = None,
    live: str | None = None,
) -> PageCell:
    """Return a cell with words."""
    return PageCell(text, text, href, chip, note, live)


def number_cell(
    value: float | int | None, *, href: str | None = None, live: str | None = None
) -> PageCell:
    """Return a cell with a number; a count stands in full, the undefined is never 0."""
    text = f"{value:,}" if isinstance(value, int) else number(value)
    return PageCell(text, value, href, live=live)


def csv_of(table: PageTable) -> str:
    """Return a table as CSV, with the numbers in full."""
    return csv_text([each.title for each in table.columns], (_plain(row) for row in table.rows))


def csv_text(titles: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """Return rows as CSV; texts that a spreadsheet would take for a formula are made texts."""
    return "".join(map(_csv_line, [titles, *rows] if titles else rows))


def _csv_line(row: Iterable[object]) -> str:
    """Return a row as a line; the writer's own line ends make it quote carriage returns."""
    written = io.StringIO()
    csv.writer(written).writerow([_inert(cell) for cell in row])
    return written.getvalue().removesuffix("\r\n") + "\n"


def _plain(row: Iterable[PageCell]) -> list[str | float | None]:
    return [each.plain for each in row]


def _inert(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value
