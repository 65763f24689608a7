"""Tables and CSV of comparisons and groups, built of their columns."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from biaswatch.shared.contracts import Diagnosis
from biaswatch.shared.formatting import UNDEFINED
from biaswatch.shared.presentation.columns import FindingColumn, Row, Shown
from biaswatch.shared.presentation.findings import comparisons, group_rows
from biaswatch.shared.presentation.gap_columns import GAP_COLUMNS
from biaswatch.shared.presentation.group_columns import GROUP_COLUMNS
from biaswatch.shared.presentation.tables import Table, csv_text
from biaswatch.shared.presentation.verdicts import verdict_remarks

_LEVEL = re.compile(r" [\[(]\{level\}[\])]")


def findings_table(
    registry: Sequence[FindingColumn[Row]],
    rows: Sequence[Row],
    where: Shown,
    level: str = "",
    caption: str = "",
) -> Table:
    """Return gaps or groups as a table, without empty optional columns."""
    columns, contents = [], []
    for column in (column for column in registry if where & column.shown):
        cells = [column.cell(row) for row in rows]
        if not column.is_optional or any(cell.text not in ("", UNDEFINED) for cell in cells):
            heading = column.heading if level else _LEVEL.sub("", column.heading)
            columns.append(replace(column.kind, title=heading.format(level=level)))
            contents.append(cells)
    return Table(caption, tuple(columns), tuple(zip(*contents, strict=True)))


def findings_csv(registry: Sequence[FindingColumn[Row]], rows: Iterable[Row]) -> str:
    """Return gaps as CSV with unrounded numbers."""
    columns = [column for column in registry if Shown.CSV in column.shown]
    cells = ([column.cell(row).plain for column in columns] for row in rows)
    return csv_text([column.name for column in columns], cells)


def without_common(
    registry: Sequence[FindingColumn[Row]], rows: Sequence[Row]
) -> tuple[list[str], list[FindingColumn[Row]]]:
    """Return texts common to all rows, and the other columns."""
    common = [
        column
        for column in registry
        if column.is_common and len({column.cell(row).text for row in rows}) == 1
    ]
    left = [column for column in registry if column not in common]
    return [column.cell(rows[0]).text for column in common], left


def comparisons_table(
    diagnoses: Sequence[Diagnosis], run_id: str, *, max_rows: int | None = None
) -> Table:
    """Return the comparisons of one finding for its page, or of several for a file."""
    where = Shown.PAGE if len(diagnoses) == 1 else Shown.SEVERAL
    rows = comparisons(diagnoses, run_id)[:max_rows]
    return findings_table(GAP_COLUMNS, rows, where, caption="Comparisons of groups")


def comparison_remarks(diagnoses: Sequence[Diagnosis]) -> list[str]:
    """Return the subject of verdicts, and the reasons for missing ones."""
    measured = [(row, gap) for row in diagnoses for gap in row.gaps if not row.is_unmeasured(gap)]
    if not measured:
        return []
    first = measured[0][0]
    verdicts = [gap for _, gap in measured]
    return list(
        verdict_remarks(
            verdicts, first.family, first.p_anywhere, first.alpha, first.tolerance,
            shifts=any(gap.twin_shift for gap in verdicts),
        )
    )  # fmt: skip


def groups_table(diagnoses: Sequence[Diagnosis], run_id: str) -> Table:
    """Return the groups of one finding for its page, or of several for a file."""
    where = Shown.PAGE if len(diagnoses) == 1 else Shown.SEVERAL
    rows = group_rows(diagnoses, run_id)
    return findings_table(GROUP_COLUMNS, rows, where, caption="Groups by themselves")
