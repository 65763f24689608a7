"""Columns of groups: counts, missing answers, means and ranks."""

from biaswatch.shared.contracts import GroupSummary
from biaswatch.shared.presentation.columns import (
    NAME,
    NAMING,
    NUMBER,
    RANK,
    FindingColumn,
    Shown,
    estimate_column,
    plain_column,
)
from biaswatch.shared.presentation.findings import GroupRow
from biaswatch.shared.presentation.tables import (
    TableCell,
    number_cell,
    share_text,
    text_cell,
    words,
)


def _group(row: GroupRow) -> TableCell:
    return text_cell(row.group.group, href=row.answers() if row.run_id else None)


def _missing(row: GroupRow) -> TableCell:
    """Return the number of missing answers with the reasons."""
    group = row.group
    reasons = ", ".join(
        f"{count} {words(reason)}" for reason, count in sorted(group.missing_reasons.items())
    )
    href = f"{row.answers()}&missing=any" if row.run_id and group.missing else None
    return TableCell(f"{group.missing}" + (f" ({reasons})" if reasons else ""), group.missing, href)


def _constrained(row: GroupRow) -> TableCell:
    """Return the share of answers given only under a schema."""
    group = row.group
    held = group.reservations.get("constrained", 0)
    if not held:
        return TableCell("")
    return TableCell(share_text(held, group.responses - group.missing), held)


def _shrunken(row: GroupRow) -> TableCell:
    mean = row.group.shrunken_mean
    value = mean.value if mean else None
    return number_cell(value) if value is not None else TableCell("")


def _rank(row: GroupRow) -> TableCell:
    rank = row.group.rank
    return TableCell(rank_text(row.group), rank.value if rank else None, estimate=rank)


def rank_text(group: GroupSummary) -> str:
    """Return a rank with the range of possible ranks: `2 (1 to 4)`."""
    rank = group.rank
    if rank is None or rank.value is None or rank.low is None or rank.high is None:
        return ""
    if rank.low == rank.high:
        return f"{rank.value:.0f}"
    return f"{rank.value:.0f} ({rank.low:.0f} to {rank.high:.0f})"


GROUP_COLUMNS: tuple[FindingColumn[GroupRow], ...] = (
    *NAMING,
    FindingColumn("group", Shown.TABLES, "group", _group, NAME),
    plain_column("units", Shown.TABLES, "group.units", "prompts"),
    plain_column("responses", Shown.TABLES, "group.responses", "answers"),
    FindingColumn("missing", Shown.TABLES, "missing", _missing, NUMBER),
    FindingColumn(
        "constrained", Shown.TABLES, "under schema", _constrained, NUMBER, is_optional=True
    ),
    estimate_column("mean", Shown.TABLES, "mean [{level}]", "group.mean"),
    estimate_column("selection_rate", Shown.TABLES, "selected [{level}]", "group.selection_rate"),
    FindingColumn(
        "shrunken_mean", Shown.TABLES, "shrunken mean", _shrunken, NUMBER, is_optional=True
    ),
    FindingColumn("rank", Shown.TABLES, "rank ({level})", _rank, RANK, is_optional=True),
)
