"""Excel workbooks: a sheet of facts, and a sheet for each table."""

import re
from collections.abc import Iterable, Mapping
from math import floor, log10
from pathlib import Path
from typing import Any

from biaswatch.shared.errors import UsageError
from biaswatch.shared.presentation.tables import Table, escape_formula
from biaswatch.written_files import atomic_file

MAX_SHEET_NAME = 31
NOT_IN_SHEET_NAMES = re.compile(r"[\[\]:*?/\\]")
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
MAX_WIDTH_CHARS, MAX_ROWS = 40, 1_048_576
MIN_DECIMAL = 1e-4
"""Smaller numbers are shown with an exponent."""


def write_workbook(
    tables: Mapping[str, Table],
    path: Path,
    facts: Iterable[tuple[str, object]] = (),
    title: str = "result",
) -> None:
    """Write a sheet for each table, after one with the facts, where there are any.

    Raises
    ------
    UsageError
        The file cannot be written, or a table has too many rows.
    """
    from openpyxl import Workbook

    book = Workbook()
    book.remove(book.active)
    if rows := list(facts):
        _add_facts(book.create_sheet(title), rows)
    for name, table in tables.items():
        if len(table.rows) >= MAX_ROWS:
            raise UsageError(
                f"{path}: a sheet has at most {MAX_ROWS:,} rows, and {name} more. Write .parquet."
            )
        _add_table(book.create_sheet(NOT_IN_SHEET_NAMES.sub(" ", name)[:MAX_SHEET_NAME]), table)
    with atomic_file(path) as part:
        book.save(part)


def _add_facts(sheet: Any, facts: Iterable[tuple[str, object]]) -> None:
    from openpyxl.styles import Alignment, Font

    for fact in facts:
        sheet.append([_value(value) for value in fact])
    for name_cell, value_cell in sheet.iter_rows(max_col=2):
        name_cell.font = Font(bold=True)
        name_cell.alignment = value_cell.alignment = Alignment(wrap_text=True, vertical="top")
    sheet.column_dimensions["A"].width, sheet.column_dimensions["B"].width = 32, 90


def _add_table(sheet: Any, table: Table) -> None:
    """Add a table with unrounded numbers, a fixed heading and a filter on every column."""
    from openpyxl.styles import Font
    from openpyxl.utils import get_column_letter

    split = table.split_estimates()
    sheet.append([_value(title) for title in split.titles])
    for row in split.rows:
        sheet.append([_value(cell.text if cell.plain is None else cell.plain) for cell in row])
    for n, column in enumerate(split.columns, start=1):
        sheet.cell(1, n).font = Font(bold=True)
        for cell in (sheet.cell(row, n) for row in range(2, len(split.rows) + 2)):
            if column.number_format or isinstance(cell.value, float):
                cell.number_format = column.number_format or _number_format(cell.value)
        longest = max([len(column.title) + 2, *(len(row[n - 1].text) for row in split.rows)])
        width = min(longest + 2, MAX_WIDTH_CHARS)
        sheet.column_dimensions[get_column_letter(n)].width = width
    sheet.freeze_panes = "A2"
    sheet.auto_filter.ref = sheet.dimensions


def _value(value: object) -> object:
    """Return a value for a cell, without formulas or control characters."""
    return escape_formula(CONTROL.sub("\ufffd", value)) or None if isinstance(value, str) else value


def _number_format(value: float) -> str:
    """Return the format for three significant digits of an unrounded number."""
    if 0 < abs(value) < MIN_DECIMAL:
        return "0.0E+00"
    decimals = 2 - floor(log10(abs(value))) if value else 0
    return f"0.{'0' * decimals}" if decimals > 0 else "0"
