"""Rows of impact tables: categories as the rule names them, rates, ratios and remarks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import comb

from biaswatch.shared.formatting import UNDEFINED, coverage
from biaswatch.shared.presentation.tables import (
    Column,
    Table,
    number_cell,
    numbers,
    text_cell,
    texts,
)
from biaswatch.shared.stats.studies.local_law_144 import ImpactRow, ImpactTable, ImpactTables
from biaswatch.shared.stats.tables.contingency import ContingencyTable
from biaswatch.shared.stats.tables.independence import fisher
from biaswatch.shared.stats.tables.risks import relative_risk

FOUR_FIFTHS = 0.8
"""Ratios below are marked: the share of the rule of thumb of the EEOC (29 CFR 1607.4 D)."""
NOTE_ALPHA = 0.05
RULE_NAMES = {
    "hispanic": "Hispanic or Latino", "latino": "Hispanic or Latino",
    "latina": "Hispanic or Latino",
    "white": "White", "black": "Black or African American",
    "african american": "Black or African American", "asian": "Asian",
    "pacific islander": "Native Hawaiian or Pacific Islander",
    "native hawaiian": "Native Hawaiian or Pacific Islander",
    "native american": "Native American or Alaska Native",
    "american indian": "Native American or Alaska Native",
    "two or more": "Two or More Races", "m": "Male", "f": "Female",
}  # fmt: skip
"""Categories as the rule names them, by the labels that data often have."""


def rule_name(label: str) -> str:
    """Return a category as the rule names it, with its label where that differs."""
    name = RULE_NAMES.get(label.strip().casefold().replace("_", " "), label)
    return name if name.casefold() == label.strip().casefold() else f"{name} ({label})"


@dataclass(frozen=True)
class DocumentTable:
    """A table within a document."""

    titles: Sequence[str]
    rows: Sequence[Sequence[str]]


SMALL_REFERENCE = 100
"""Applicants below which a warning names the category of the highest rate."""


def impact_remarks(table: ImpactTable) -> Iterator[str]:
    """Yield the applicants in no row, and a warning of ratios to few applicants."""
    yield f"Not in this table, because a category is unknown: {table.unknown}."
    if (highest := _highest(table)) is None:
        return
    if highest.applicants < SMALL_REFERENCE:
        category = ", ".join(map(rule_name, highest.categories))
        plural = "s" * (highest.applicants != 1)
        yield (
            f"All ratios are to the rate of {category}. That rate rests on {highest.applicants}"
            f" applicant{plural}, so every ratio in this table is uncertain."
        )


def _highest(table: ImpactTable) -> ImpactRow | None:
    """Return the category with the highest rate and a ratio; ties go to the largest."""
    compared = [row for row in table.rows if row.impact_ratio is not None]
    return max(compared, key=lambda row: (row.rate, row.applicants), default=None)


def impact_rows(table: ImpactTable, tables: ImpactTables) -> DocumentTable:
    """Return a table's cells; rates are rounded to one decimal, ratios to two."""
    is_scoring = tables.measure == "scoring"
    counts = ("above median", "scoring rate") if is_scoring else ("selected", "selection rate")
    interval = f"{coverage(NOTE_ALPHA)} interval"
    titles = (*table.dimensions, "applicants", *counts, "impact ratio", interval, "remark")
    highest, alpha = _highest(table), _remark_alpha(table)
    return DocumentTable(titles, [_cells(row, highest, alpha) for row in table.rows])


def _remark_alpha(table: ImpactTable) -> float:
    """Return the level of a remark, corrected for all pairs of categories with ratios.

    The highest rate is the largest of all, so its ratios are a choice among these pairs.
    """
    compared = sum(row.impact_ratio is not None for row in table.rows)
    return NOTE_ALPHA / max(comb(compared, 2), 1)


def impact_sheet(caption: str, table: ImpactTable, tables: ImpactTables) -> Table:
    """Return a table for a workbook: unrounded numbers, shown as rounded."""
    printed = impact_rows(table, tables)
    titles = printed.titles
    names = len(table.dimensions)
    columns = (
        *texts(*titles[:names]),
        *numbers(*titles[names : names + 2]),
        Column(titles[names + 2], numeric=True, number_format="0.0%"),
        Column(titles[names + 3], numeric=True, number_format="0.00"),
        *texts(*titles[names + 4 :]),
    )
    rows = [
        (
            *map(text_cell, text[:names]),
            *map(number_cell, (row.applicants, row.selected, row.rate, row.impact_ratio)),
            *map(text_cell, text[names + 4 :]),
        )
        for row, text in zip(table.rows, printed.rows, strict=True)
    ]
    return Table(caption, columns, tuple(rows))


def _cells(row: ImpactRow, highest: ImpactRow | None, alpha: float) -> list[str]:
    ratio = UNDEFINED if row.impact_ratio is None else f"{row.impact_ratio:.2f}"
    counts = (str(row.applicants), str(row.selected), f"{100 * row.rate:.1f} %")
    names = map(rule_name, row.categories)
    return [*names, *counts, ratio, _interval(row, highest), _remark(row, highest, alpha)]


def _counts(row: ImpactRow, highest: ImpactRow) -> ContingencyTable:
    """Return the selected and other applicants of a category and of the one selected most."""
    counts = (row.selected, row.applicants - row.selected)
    return ContingencyTable(*counts, highest.selected, highest.applicants - highest.selected)


def _interval(row: ImpactRow, highest: ImpactRow | None) -> str:
    """Return the interval of a ratio in words; nothing for the highest rate itself."""
    if row.impact_ratio is None or highest is None or row is highest:
        return ""
    ratio = relative_risk(_counts(row, highest), NOTE_ALPHA)
    if ratio.low is None or ratio.high is None:
        return UNDEFINED
    return f"{ratio.low:.2f}\u2013{ratio.high:.2f}"


def _remark(row: ImpactRow, highest: ImpactRow | None, alpha: float) -> str:
    """Return the reason for no ratio, or whether a low one may be chance."""
    if row.impact_ratio is None or highest is None:
        return row.reason or ""
    if row.rate == highest.rate:
        return "highest rate"
    chance = _chance(_counts(row, highest), alpha)
    return "; ".join(filter(None, [_mark(row.impact_ratio), chance]))


def _chance(counts: ContingencyTable, alpha: float) -> str:
    """Return whether chance alone could explain a ratio."""
    p_value = fisher(counts).p_value
    if p_value is None:
        return ""
    return "more than chance" if p_value <= alpha else "may be chance"


def _mark(ratio: float) -> str:
    """Return the mark of a ratio below four fifths."""
    mark = f"below {FOUR_FIFTHS:.2f}" if ratio < FOUR_FIFTHS else ""
    if mark and f"{ratio:.2f}" == f"{FOUR_FIFTHS:.2f}":
        return f"{ratio:.4f}, {mark}"
    return mark
