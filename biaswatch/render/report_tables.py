"""The tables of a report: one of what shows nothing, then every comparison and group, folded."""

from collections.abc import Iterable, Iterator, Sequence
from html import escape as escape_html

from biaswatch.render.studies import FOLD_BEGINS, FOLD_ENDS
from biaswatch.render.tables import escape_md, findings_markdown, markdown_table
from biaswatch.shared.contracts import Diagnosis, Gap, Verdict
from biaswatch.shared.formatting import coverage, number, p_value
from biaswatch.shared.presentation.columns import (
    GAP_COLUMNS,
    GROUP_COLUMNS,
    Column,
    GapRow,
    Row,
    Shown,
    columns,
    estimate_text,
    gaps_by_evidence,
    group_rows,
)
from biaswatch.shared.presentation.conclusions import gap_notes, overall_sentences
from biaswatch.shared.presentation.names import ModelNames
from biaswatch.shared.presentation.run_summary import strongest_first, title_of

MOST_NULLS = 40
MOST_ROWS = 250
"""Rows of one folded table; `--format csv` and `json` have all."""
SHRUNKEN = (
    "Shrunken means are drawn towards the other groups (empirical Bayes), the more the fewer"
    " answers a group has: for looking, for no verdict. The ranges of ranks hold for all groups at"
    " once; 1 is the largest mean."
)
NULLS_MEAN = (
    "One row for each number and grouping at a model: how many comparisons are shown to lie within"
    " the tolerance, how many are undecided, and the one that is closest to a disparity."
)
SHOWN_STATISTICS = {"mean", "selection_rate"}
CHANCE_MEANS = (
    "By chance is what labels handed out at random give half of the time; it informs. Other"
    " statistics are in `--format json`."
)


def nulls_table(diagnoses: Sequence[Diagnosis]) -> Iterator[str]:
    """Return the table of all comparisons that show no disparity."""
    names = ModelNames.among(diagnoses)
    rows = [row for each in diagnoses if (row := _null_row(each, names.of(each)))]
    if not rows:
        return
    rows.sort(key=lambda row: row[0])
    level = coverage(diagnoses[0].alpha)
    head = (
        *("number", "model", "comparisons", "within tolerance", "undecided"),
        *("closest to a disparity", f"gap [{level}]", "family p"),
    )
    yield from (NULLS_MEAN, "")
    yield from markdown_table(head, (cells for _, cells in rows[:MOST_NULLS]))
    yield from _rest(len(rows) - MOST_NULLS)


def _null_row(diagnosis: Diagnosis, model: str) -> tuple[float, list[str]] | None:
    gaps = [gap for gap in gaps_by_evidence(diagnosis) if gap.verdict is not Verdict.DISPARITY]
    if not gaps:
        return None
    alike = sum(gap.verdict is Verdict.NO_DISPARITY for gap in gaps)
    p = {id(gap): gap.comparable_p(gap.p_adjusted) for gap in gaps}

    def closeness(gap: Gap) -> tuple[float, float]:
        found = p[id(gap)]
        return 2.0 if found is None else found, -abs(gap.gap.value or 0.0)

    nearest = min(gaps, key=closeness)
    cells = [
        *(title_of(diagnosis), model, str(len(gaps)), str(alike)),
        *(str(len(gaps) - alike), f"{nearest.a} - {nearest.b}", estimate_text(nearest.gap)),
        p_value(p[id(nearest)]),
    ]
    return closeness(nearest)[0], cells


def detail_tables(diagnoses: Sequence[Diagnosis]) -> Iterator[str]:
    """Return every comparison and every group, folded, each kind in one table."""
    if not diagnoses:
        return
    level, names = coverage(diagnoses[0].alpha), ModelNames.among(diagnoses)
    gaps = sorted(((d, gap) for d in diagnoses for gap in d.gaps), key=strongest_first)
    if gaps:
        shown = [GapRow(d, gap, model=names.of(d)) for d, gap in gaps[:MOST_ROWS]]
        table = _with_common(GAP_COLUMNS, shown, level)
        title = f"Every comparison ({len(gaps)})"
        yield from folded(title, [*table, *_rest(len(gaps) - MOST_ROWS)])
    groups = [row for each in diagnoses for row in group_rows(each, names.of(each))]
    lines = [*_with_common(GROUP_COLUMNS, groups[:MOST_ROWS], level)]
    if any(row.group.shrunken_mean for row in groups):
        lines += ["", SHRUNKEN]
    yield from folded(f"Every group ({len(groups)})", [*lines, *_rest(len(groups) - MOST_ROWS)])
    yield from _all_groups(diagnoses, names)
    yield from _missing(diagnoses, names)
    if notes := [f"- {escape_md(note)}" for each in diagnoses for note in gap_notes(each)]:
        shown_notes = [*notes[:MOST_ROWS], *_rest(len(notes) - MOST_ROWS)]
        yield from folded(f"Other tests, which decide nothing ({len(notes)})", shown_notes)


def folded(title: str, lines: Iterable[str]) -> Iterator[str]:
    """Return lines that are folded behind their title."""
    yield from ("", FOLD_BEGINS, f"<summary>{escape_html(title)}</summary>", "")
    yield from lines
    yield from ("", FOLD_ENDS)


def _with_common(registry: Sequence[Column[Row]], rows: Sequence[Row], level: str) -> Iterator[str]:
    """Return a table without the names that all rows share; those are said above it."""
    names = [each for each in columns(registry, Shown.DOCUMENT) if each.is_name]
    common = [each for each in names if len({each.text(row) for row in rows}) == 1]
    if common:
        yield from (f"All of {escape_md(', '.join(each.text(rows[0]) for each in common))}.", "")
    yield from findings_markdown([each for each in registry if each not in common], rows, level)


def _all_groups(diagnoses: Sequence[Diagnosis], names: ModelNames) -> Iterator[str]:
    """Return the tests over all groups, and how far the groups lie apart."""
    lines = [
        f"- {escape_md(f'{names.of(each)}: {said}')}"
        for each in diagnoses
        if not each.stratum
        for said in overall_sentences(each)
    ]
    rows = [
        [f"{title_of(each)}, {names.of(each)}", d.statistic, d.metric, number(d.value),
         d.group or "", number(d.null_median), p_value(d.p_value)]
        for each in diagnoses
        for d in each.disparities
        if d.value is not None and d.statistic in SHOWN_STATISTICS
    ]  # fmt: skip
    if rows:
        head = ("of", "all groups", "metric", "value", "held by", "by chance", "p")
        lines += ["", CHANCE_MEANS, "", *markdown_table(head, rows[:MOST_ROWS])]
        lines += _rest(len(rows) - MOST_ROWS)
    if lines:
        yield from folded("All groups together", lines)


def _missing(diagnoses: Sequence[Diagnosis], names: ModelNames) -> Iterator[str]:
    rows = [
        [title_of(each), names.of(each), p_value(found.p_value), found.method or found.reason or ""]
        for each in diagnoses
        if (found := each.missing) and any(group.missing for group in each.groups)
    ]
    if rows:
        head = ("number", "model", "p", "how")
        table = [*markdown_table(head, rows[:MOST_ROWS]), *_rest(len(rows) - MOST_ROWS)]
        yield from folded("Are answers missing alike in all groups?", table)


def _rest(left: int) -> list[str]:
    return ["", f"{left} more rows are in `--format csv` and `json`."] if left > 0 else []
