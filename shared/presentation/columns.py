"""Columns of gaps and groups: title, content, and the tables that show them.

A new statistic of a gap is one line of GAP_COLUMNS.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Flag, auto
from operator import attrgetter
from typing import Any, Generic, TypeVar

from biaswatch.shared.contracts import Diagnosis, GroupSummary
from biaswatch.shared.formatting import UNDEFINED, verdict_words
from biaswatch.shared.presentation.findings import (
    ComparisonView,
    GroupRow,
    comparisons,
    group_rows,
    title_of,
)
from biaswatch.shared.presentation.questions import (
    GROUP_EFFECT,
    TWINS,
    QuestionColumn,
    question_cell,
    verdict_reason,
    verdict_remarks,
)
from biaswatch.shared.presentation.tables import (
    Column,
    Table,
    TableCell,
    csv_text,
    estimate_cell,
    number_cell,
    p_cell,
    share_text,
    text_cell,
    words,
)
from biaswatch.shared.stats.estimate import Question

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


def _plain(name: str, shown: Shown, path: str, heading: str = "") -> FindingColumn[Any]:
    """Return a column of texts or counts, read from an attribute of the row."""
    read = attrgetter(path)
    is_count = path.startswith("group.")

    def cell(row: Any) -> TableCell:
        value = read(row)
        return TableCell(UNDEFINED if value is None else str(value), value)

    return FindingColumn(name, shown, heading or name, cell, NUMBER if is_count else TEXT)


def _estimate(name: str, shown: Shown, heading: str, path: str = "") -> FindingColumn[Any]:
    """Return a column of numbers with their intervals."""
    read = attrgetter(path or f"gap.{name}")

    def cell(row: Any) -> TableCell:
        return estimate_cell(read(row))

    return FindingColumn(name, shown, heading, cell, ESTIMATE, is_optional=True)


def _mean_gap(row: ComparisonView) -> TableCell:
    """Return the mean gap where the interval in column gap is that of a shift."""
    return estimate_cell(row.gap.gap) if row.gap.twin_shift else text_cell(UNDEFINED)


def _p(name: str, shown: Shown, heading: str) -> FindingColumn[ComparisonView]:
    """Return a column of p-values; a file has null where one is too small to compute."""
    read = attrgetter(name)

    def cell(row: ComparisonView) -> TableCell:
        p = read(row.gap)
        return TableCell(p_cell(row.gap.comparable_p(p)).text, p)

    return FindingColumn(name, shown, heading, cell, NUMBER)


def _gap_p(row: ComparisonView) -> TableCell:
    """Return the p-value of the mean gap before correction, where the gap is the headline."""
    gap = row.gap
    is_gap = gap.headline is Question.GAP
    return p_cell(gap.comparable_p(gap.p_value)) if is_gap else text_cell(UNDEFINED)


def _question(question: QuestionColumn) -> tuple[FindingColumn[ComparisonView], ...]:
    """Return the answer with its p-value for tables, and both with the reason for files."""
    files, name = Shown.CSV | Shown.SEVERAL, question.name

    def cell(row: ComparisonView) -> TableCell:
        return question_cell(question, row.gap)

    return (
        FindingColumn(name, Shown.TABLES, question.heading, cell, is_optional=True),
        _plain(name, Shown.CSV, f"gap.{name}"),
        _plain(f"p_{name}", files, f"gap.p_{name}", f"p of {question.heading}"),
        _plain(f"{name}_reason", Shown.CSV, f"gap.{name}_reason"),
    )


def _common(heading: str, text: Callable[[Any], str]) -> FindingColumn[Any]:
    """Return a column of a document that identifies the finding."""
    return FindingColumn(
        heading, Shown.DOCUMENT, heading, lambda row: text_cell(text(row)), is_common=True
    )


def _finding_title(row: ComparisonView | GroupRow) -> str:
    return title_of(row.diagnosis) + (" (a stratum)" if row.diagnosis.stratum else "")


def _pair(row: ComparisonView) -> TableCell:
    href = f"/runs/{row.run_id}/answers?{row.answers}" if row.run_id else None
    return text_cell(f"{row.gap.a} - {row.gap.b}", href=href)


def _why(row: ComparisonView) -> TableCell:
    return text_cell(verdict_reason(row.gap, row.gap.reason))


def _verdict(row: ComparisonView) -> TableCell:
    verdict, survives, unmeasured = row.conclusion
    text = verdict_words(verdict, survives, unmeasured=unmeasured)
    return TableCell(text, verdict, chip=verdict)


def _group(row: GroupRow) -> TableCell:
    return text_cell(row.group.group, href=row.answers() if row.run_id else None)


def _missing(row: GroupRow) -> TableCell:
    group = row.group
    reasons = ", ".join(
        f"{count} {words(reason)}" for reason, count in sorted(group.missing_reasons.items())
    )
    href = f"{row.answers()}&missing=any" if row.run_id and group.missing else None
    return TableCell(f"{group.missing}" + (f" ({reasons})" if reasons else ""), group.missing, href)


def _constrained(row: GroupRow) -> TableCell:
    group = row.group
    held = group.reservations.get("constrained", 0)
    if not held:
        return TableCell("")
    return TableCell(share_text(held, group.responses - group.missing), held)


def _shrunken(row: GroupRow) -> TableCell:
    mean = row.group.shrunken_mean
    value = mean.value if mean else None
    return number_cell(value) if value is not None else TableCell("")


def rank_text(group: GroupSummary) -> str:
    """Return a rank with the range of possible ranks: `2 (1 to 4)`."""
    rank = group.rank
    if rank is None or rank.value is None or rank.low is None or rank.high is None:
        return ""
    if rank.low == rank.high:
        return f"{rank.value:.0f}"
    return f"{rank.value:.0f} ({rank.low:.0f} to {rank.high:.0f})"


def _rank(row: GroupRow) -> TableCell:
    rank = row.group.rank
    return TableCell(rank_text(row.group), rank.value if rank else None, estimate=rank)


HEADLINE = ("summary", "verdict", "headline", "scope", "twin_rate", "placebo_rate")
NAMING: tuple[FindingColumn[Any], ...] = (
    _common("number", _finding_title),
    _common("model", lambda row: row.model),
    _plain("model", Shown.SEVERAL, "diagnosis.target"),
    _plain("scaffold", Shown.SEVERAL, "diagnosis.scaffold"),
    _plain("extractor", Shown.SEVERAL, "diagnosis.extractor"),
    _plain("number", Shown.SEVERAL, "diagnosis.feature"),
    _plain("grouping", Shown.SEVERAL, "diagnosis.dimension"),
)
GAP_COLUMNS: tuple[FindingColumn[ComparisonView], ...] = (
    *NAMING,
    _plain("run", Shown.CSV, "run_id"),
    _plain("target", Shown.CSV, "diagnosis.target"),
    _plain("scaffold", Shown.CSV, "diagnosis.scaffold"),
    _plain("feature", Shown.TERMINAL | Shown.CSV, "diagnosis.feature"),
    _plain("dimension", Shown.CSV, "diagnosis.dimension"),
    _plain("a", Shown.CSV, "gap.a"),
    _plain("b", Shown.CSV, "gap.b"),
    FindingColumn("groups", Shown.TABLES, "groups", _pair, NAME),
    _estimate("gap", Shown.TABLES, "gap [{level}]", "gap.summary_gap"),
    _estimate("gap", Shown.CSV, "gap [{level}]", "gap.gap"),
    _plain("low", Shown.CSV, "gap.gap.low"),
    _plain("high", Shown.CSV, "gap.gap.high"),
    _plain("summary_low", Shown.CSV, "gap.summary_gap.low"),
    _plain("summary_high", Shown.CSV, "gap.summary_gap.high"),
    _p("p_summary", Shown.CSV, "p"),
    FindingColumn("p_value", Shown.DOCUMENT, "p", _gap_p, NUMBER, is_optional=True),
    _p("p_value", Shown.CSV, "p"),
    _p("p_adjusted", Shown.CSV, "adjusted p"),
    _p("p_summary", Shown.TABLES, "adjusted p"),
    _estimate("effect_size", Shown.DOCUMENT | Shown.CSV, "effect size"),
    FindingColumn(
        "mean_gap",
        Shown.PAGES | Shown.DOCUMENT,
        "mean gap [{level}]",
        _mean_gap,
        ESTIMATE,
        is_optional=True,
    ),
    _estimate("constant_shift", Shown.CSV, "constant shift [{level}]"),
    _estimate("impact_ratio", Shown.TERMINAL | Shown.DOCUMENT, "impact ratio"),
    *_question(TWINS),
    *_question(GROUP_EFFECT),
    FindingColumn("verdict", Shown.TABLES, "summary", _verdict),
    *(_plain(name, Shown.CSV, f"gap.{name}") for name in HEADLINE),
    _plain("survives_missing", Shown.CSV, "gap.survives_missing"),
    _plain("reason", Shown.CSV, "gap.reason"),
    FindingColumn("why", Shown.PAGES, "why", _why),
    _plain("claim", Shown.CSV, "diagnosis.claim"),
)
GROUP_COLUMNS: tuple[FindingColumn[GroupRow], ...] = (
    *NAMING,
    FindingColumn("group", Shown.TABLES, "group", _group, NAME),
    _plain("units", Shown.TABLES, "group.units", "prompts"),
    _plain("responses", Shown.TABLES, "group.responses", "answers"),
    FindingColumn("missing", Shown.TABLES, "missing", _missing, NUMBER),
    FindingColumn(
        "constrained", Shown.TABLES, "under schema", _constrained, NUMBER, is_optional=True
    ),
    _estimate("mean", Shown.TABLES, "mean [{level}]", "group.mean"),
    _estimate("selection_rate", Shown.TABLES, "selected [{level}]", "group.selection_rate"),
    FindingColumn(
        "shrunken_mean", Shown.TABLES, "shrunken mean", _shrunken, NUMBER, is_optional=True
    ),
    FindingColumn("rank", Shown.TABLES, "rank ({level})", _rank, RANK, is_optional=True),
)
_LEVEL = re.compile(r" [\[(]\{level\}[\])]")


def findings_table(
    registry: Sequence[FindingColumn[Row]],
    rows: Sequence[Row],
    where: Shown,
    level: str = "",
    caption: str = "",
) -> Table:
    """Return gaps or groups as a table, without optional columns that have no content."""
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
    """Return what all rows have in common, and the columns that are left."""
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
    """Return what the verdicts of some findings are about, and the reasons for missing ones."""
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
