"""Tables of findings: one view that a page, a terminal, a document and a CSV file each write."""

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from biaswatch.shared.contracts import Estimate, SummaryWord, Verdict
from biaswatch.shared.formatting import UNDEFINED, interval, number, p_value

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
"""Spreadsheets execute a text with such a beginning as a formula."""


@dataclass(frozen=True)
class Column:
    """Title and kind of one column."""

    title: str
    numeric: bool = False
    name: bool = False
    """Names may be long: a page breaks them between their parts."""
    ends: tuple[str, str] | None = None
    """Titles of an interval's ends, for a column of estimates."""
    number_format: str | None = None
    """How a workbook shows the numbers, as `0.0%`; None as they are."""


@dataclass(frozen=True)
class TableCell:
    """Text for people, value for files, and what a page adds."""

    text: str
    plain: str | float | int | None = None
    href: str | None = None
    chip: str | None = None
    """Kind of the chip around the text."""
    note: str | None = None
    """Second line, in small type."""
    live: str | None = None
    """Key of a number that the page updates."""
    estimate: Estimate | None = None
    """Written as three numbers on a page and in a file, as one text elsewhere."""


@dataclass(frozen=True)
class Table:
    """Columns and rows under a caption."""

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[TableCell, ...], ...]

    @property
    def titles(self) -> list[str]:
        """The titles of the columns."""
        return [column.title for column in self.columns]

    @property
    def texts(self) -> list[list[str]]:
        """The rows as people read them."""
        return [[cell.text for cell in row] for row in self.rows]

    def split_estimates(self) -> "Table":
        """Return the table with value and ends of each estimate in columns of their own."""
        if not any(column.ends for column in self.columns):
            return self
        columns = [part for column in self.columns for part in _split_column(column)]
        rows = [
            tuple(
                part
                for column, cell in zip(self.columns, row, strict=True)
                for part in (_split_cell(cell) if column.ends else (cell,))
            )
            for row in self.rows
        ]
        return Table(self.caption, tuple(columns), tuple(rows))


def _split_column(column: Column) -> Iterable[Column]:
    titles = (column.title, *column.ends) if column.ends else ()
    return [Column(title, numeric=True) for title in titles] or [column]


def _split_cell(cell: TableCell) -> Iterable[TableCell]:
    estimate = cell.estimate or Estimate()
    value = replace(cell, text=number(estimate.value), plain=estimate.value)
    return value, number_cell(estimate.low), number_cell(estimate.high)


def names(*titles: str) -> tuple[Column, ...]:
    """Return columns of names."""
    return tuple(Column(title, name=True) for title in titles)


def texts(*titles: str) -> tuple[Column, ...]:
    """Return columns of short texts."""
    return tuple(map(Column, titles))


def numbers(*titles: str) -> tuple[Column, ...]:
    """Return columns of numbers."""
    return tuple(Column(title, numeric=True) for title in titles)


def estimates(*titles: str, ends: tuple[str, str] = ("from", "to")) -> tuple[Column, ...]:
    """Return columns of numbers with their intervals."""
    return tuple(Column(title, numeric=True, ends=ends) for title in titles)


def text_cell(
    text: str,
    *,
    href: str | None = None,
    chip: str | None = None,
    note: str | None = None,
    live: str | None = None,
) -> TableCell:
    """Return a cell with text."""
    return TableCell(text, text, href, chip, note, live)


def number_cell(value: float | int | None, *, live: str | None = None) -> TableCell:
    """Return a cell with a number; counts keep all digits."""
    text = f"{value:,}" if isinstance(value, int) else number(value)
    return TableCell(text, value, live=live)


def estimate_cell(estimate: Estimate | None, *, note: str | None = None) -> TableCell:
    """Return a cell with a number and its interval; it is empty without an estimate."""
    if estimate is None:
        return TableCell("", note=note)
    return TableCell(estimate_text(estimate), estimate.value, note=note, estimate=estimate)


def gap_cell(gap: Estimate, *notes: str) -> TableCell:
    """Return a cell with a gap, and its interval in the second line."""
    ends = gap.reason or ""
    if gap.low is not None and gap.high is not None:
        ends = f"{number(gap.low)} to {number(gap.high)}"
    note = ", ".join(filter(None, (ends, *notes))) or None
    return TableCell(number(gap.value), gap.value, note=note)


def p_cell(value: float | None) -> TableCell:
    """Return a cell with a p-value."""
    return TableCell(p_value(value), value)


def verdict_cell(verdict: Verdict | SummaryWord) -> TableCell:
    """Return a cell with a verdict in its color."""
    return TableCell(words(verdict), verdict.value, chip=verdict.value)


def share_text(count: int, total: int) -> str:
    """Return a count and its share: `12 (40 %)`.

    >>> share_text(12, 30)
    '12 (40 %)'
    """
    return f"{count} ({round(100 * count / total)} %)" if total else f"{count}"


def words(name: str) -> str:
    """Return an identifier as people write it; a level behind @ stays.

    >>> words("asked_back"), words("called@look_up_order")
    ('asked back', 'called@look_up_order')
    """
    measure, at, level = name.partition("@")
    return f"{measure.replace('_', ' ')}{at}{level}"


def estimate_text(estimate: Estimate) -> str:
    """Return an estimate with its interval, or with the reason for having none."""
    return interval(estimate.value, estimate.low, estimate.high, estimate.reason)


def csv_of(table: Table) -> str:
    """Return a table as CSV with unrounded numbers."""
    split = table.split_estimates()
    return csv_text(split.titles, ((cell.plain for cell in row) for row in split.rows))


def csv_text(titles: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """Return rows as CSV, with an apostrophe before formulas."""
    return "".join(map(_csv_line, [titles, *rows] if titles else rows))


def _csv_line(row: Iterable[object]) -> str:
    """Return a row as a line; csv's own line ends make it quote carriage returns."""
    line = io.StringIO()
    csv.writer(line).writerow(map(escape_formula, row))
    return line.getvalue().removesuffix("\r\n") + "\n"


def escape_formula(cell: object) -> object:
    """Return a cell of a spreadsheet, with an apostrophe before what would be a formula."""
    is_formula = isinstance(cell, str) and cell.startswith(FORMULA_STARTS) and cell != UNDEFINED
    return f"'{cell}" if is_formula else cell
