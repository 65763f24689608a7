"""Columns of findings: title, content, and the outputs that show them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Flag, auto
from operator import attrgetter
from typing import Any, Generic, TypeVar

from biaswatch.shared.formatting import UNDEFINED
from biaswatch.shared.presentation.findings import ComparisonView, GroupRow, title_of
from biaswatch.shared.presentation.tables import Column, TableCell, estimate_cell, text_cell

Row = TypeVar("Row", ComparisonView, GroupRow)


class Shown(Flag):
    """Outputs that have a column."""

    TERMINAL = auto()
    DOCUMENT = auto()
    """Markdown and HTML reports."""
    CSV = auto()
    """Files of the command line."""
    PAGE = auto()
    """Pages of one finding."""
    SEVERAL = auto()
    """Files of the dashboard, whose rows come from several findings."""
    PAGES = PAGE | SEVERAL
    TABLES = TERMINAL | DOCUMENT | PAGES


TEXT, NAME, NUMBER = Column(""), Column("", name=True), Column("", numeric=True)
ESTIMATE, RANK = (replace(NUMBER, ends=ends) for ends in (("from", "to"), ("rank from", "rank to")))


@dataclass(frozen=True)
class FindingColumn(Generic[Row]):
    """One column of gaps or groups."""

    name: str
    """Title in CSV."""
    shown: Shown
    heading: str
    """Title for people; `{level}` becomes the coverage of the intervals."""
    cell: Callable[[Row], TableCell]
    kind: Column = TEXT
    """Kind of the column, whose title is the heading."""
    is_optional: bool = False
    """Left out where every cell is empty."""
    is_common: bool = False
    """Named once above a document's table where all rows agree."""


def plain_column(name: str, shown: Shown, path: str, heading: str = "") -> FindingColumn[Any]:
    """Return a column of texts or counts, read from an attribute of the row."""
    read = attrgetter(path)
    is_count = path.startswith("group.")

    def cell(row: Any) -> TableCell:
        value = read(row)
        return TableCell(UNDEFINED if value is None else str(value), value)

    return FindingColumn(name, shown, heading or name, cell, NUMBER if is_count else TEXT)


def estimate_column(name: str, shown: Shown, heading: str, path: str = "") -> FindingColumn[Any]:
    """Return a column of numbers with their intervals."""
    read = attrgetter(path or f"gap.{name}")

    def cell(row: Any) -> TableCell:
        return estimate_cell(read(row))

    return FindingColumn(name, shown, heading, cell, ESTIMATE, is_optional=True)


def common_column(heading: str, text: Callable[[Any], str]) -> FindingColumn[Any]:
    """Return a column of a document for the name of the finding."""
    return FindingColumn(
        heading, Shown.DOCUMENT, heading, lambda row: text_cell(text(row)), is_common=True
    )


def _finding_title(row: ComparisonView | GroupRow) -> str:
    return title_of(row.diagnosis) + (" (a stratum)" if row.diagnosis.stratum else "")


NAMING: tuple[FindingColumn[Any], ...] = (
    common_column("number", _finding_title),
    common_column("model", lambda row: row.model),
    plain_column("model", Shown.SEVERAL, "diagnosis.target"),
    plain_column("scaffold", Shown.SEVERAL, "diagnosis.scaffold"),
    plain_column("extractor", Shown.SEVERAL, "diagnosis.extractor"),
    plain_column("number", Shown.SEVERAL, "diagnosis.feature"),
    plain_column("grouping", Shown.SEVERAL, "diagnosis.dimension"),
)
