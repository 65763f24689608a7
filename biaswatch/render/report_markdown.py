"""Findings of a run as a Markdown report and as CSV."""

from collections.abc import Iterable, Iterator, Sequence

from biaswatch.local.runs import RunResults
from biaswatch.render import interpretations, studies
from biaswatch.render.assessments import assessment_lines
from biaswatch.render.markdown import anchor, escape_md, folded, markdown_table, table_lines
from biaswatch.render.report_sections import conclusions_page, limits, method, provenance_table
from biaswatch.shared.contracts import Correction, Diagnosis
from biaswatch.shared.formatting import coverage, p_value
from biaswatch.shared.presentation.bias_scores import scores_csv
from biaswatch.shared.presentation.columns import FindingColumn, Row, Shown
from biaswatch.shared.presentation.conclusions import gap_notes, overall_sentences
from biaswatch.shared.presentation.corrections import (
    correction_sentences,
    correction_title,
    error_table,
)
from biaswatch.shared.presentation.finding_tables import (
    comparison_remarks,
    findings_csv,
    findings_table,
    without_common,
)
from biaswatch.shared.presentation.findings import ComparisonView, comparisons, group_rows, title_of
from biaswatch.shared.presentation.gap_columns import GAP_COLUMNS
from biaswatch.shared.presentation.group_columns import GROUP_COLUMNS
from biaswatch.shared.presentation.group_tables import disparities_table, parities_table
from biaswatch.shared.presentation.interactions import tested_interactions
from biaswatch.shared.presentation.names import ModelNames
from biaswatch.shared.presentation.run_summary import INCONCLUSIVE, NO_DISPARITY
from biaswatch.shared.presentation.tables import estimate_text
from biaswatch.shared.requests.run_views import FlaggedPair

MAX_NULL_ROWS = 40
MAX_ROWS = 250
"""Rows of one folded table; `--format csv` and `json` have all."""
SHRUNKEN_MEAN = (
    "Shrunken means are drawn towards the other groups (empirical Bayes), the more the fewer"
    " answers a group has: for looking, for no verdict. The ranges of ranks hold for all groups at"
    " once; 1 is the largest mean."
)
ONE_ROW = (
    "One row for each number and grouping at a model, with the comparison closest to a disparity."
)
NOT_ALIKE = "This does not show that groups are treated alike."
SHOWN_STATISTICS = ("mean", "selection_rate")
CHANCE = (
    "By chance is the median under random labels; it informs. Other statistics are in `--format"
    " json`."
)


def verdict_table(diagnoses: Sequence[Diagnosis], verdict: str) -> Iterator[str]:
    """Yield the table of comparisons with a verdict other than a disparity."""
    names = ModelNames.among(diagnoses)
    rows = [row for diagnosis in diagnoses if (row := _verdict_row(diagnosis, verdict, names))]
    if not rows:
        return
    rows.sort(key=lambda row: row[0])
    titles = (
        *("number", "model", "comparisons", "closest to a disparity"),
        *(f"gap [{coverage(diagnoses[0].alpha)}]", "adjusted p"),
    )
    yield from (ONE_ROW if verdict == NO_DISPARITY else f"{NOT_ALIKE} {ONE_ROW}", "")
    yield from markdown_table(titles, (cells for _, cells in rows[:MAX_NULL_ROWS]))
    yield from _rows_left_out(len(rows) - MAX_NULL_ROWS)


def _verdict_row(
    diagnosis: Diagnosis, verdict: str, names: ModelNames
) -> tuple[float, list[str]] | None:
    """Return p-value and cells of the comparison closest to a disparity."""
    rows = [row for row in comparisons([diagnosis]) if row.verdict == verdict]
    if not rows:
        return None
    nearest = min(rows, key=_closeness)
    return _closeness(nearest)[0], [
        *(title_of(diagnosis), names.of(diagnosis), f"{len(rows)} of {len(diagnosis.gaps)}"),
        *(f"{nearest.gap.a} - {nearest.gap.b}", estimate_text(nearest.gap.summary_gap)),
        p_value(nearest.gap.p_summary),
    ]


def _closeness(row: ComparisonView) -> tuple[float, float]:
    """Return the sort key of a comparison: closest to a disparity first."""
    p = 2.0 if row.gap.p_summary is None else row.gap.p_summary
    return p, -abs(row.gap.gap.value or 0.0)


def detail_tables(diagnoses: Sequence[Diagnosis]) -> Iterator[str]:
    """Yield every comparison and every group, each kind in one folded table."""
    if not diagnoses:
        return
    level, names = coverage(diagnoses[0].alpha), ModelNames.among(diagnoses)
    if gaps := comparisons(diagnoses):
        remarks = map(escape_md, comparison_remarks(diagnoses))
        lines = [*_finding_lines(GAP_COLUMNS, gaps, level), "", " ".join(remarks)]
        yield from folded(f"Every comparison ({len(gaps)})", lines)
    groups = group_rows(diagnoses)
    lines = [*_finding_lines(GROUP_COLUMNS, groups, level)]
    if any(row.group.shrunken_mean for row in groups):
        lines += ["", SHRUNKEN_MEAN]
    yield from folded(f"Every group ({len(groups)})", lines)
    yield from _all_groups(diagnoses, names)
    if rows := (parity := parities_table(diagnoses)).rows:
        lines = [*table_lines(parity, MAX_ROWS), *_rows_left_out(len(rows) - MAX_ROWS)]
        yield from folded(f"{parity.caption} ({len(rows)})", lines)
    missing = [
        [title_of(row), names.of(row), p_value(test.p_value), test.method or test.reason or ""]
        for row in diagnoses
        if (test := row.missing) and any(group.missing for group in row.groups)
    ]
    if missing:
        tests = markdown_table(("number", "model", "p", "how"), missing[:MAX_ROWS])
        title = "Are answers missing alike in all groups?"
        yield from folded(title, [*tests, *_rows_left_out(len(missing) - MAX_ROWS)])
    if notes := [
        f"- {escape_md(f'{names.of(row)}: {note}')}" for row in diagnoses for note in gap_notes(row)
    ]:
        title = f"Other tests, which decide nothing ({len(notes)})"
        yield from folded(title, [*notes[:MAX_ROWS], *_rows_left_out(len(notes) - MAX_ROWS)])


def _finding_lines(
    registry: Sequence[FindingColumn[Row]], rows: Sequence[Row], level: str
) -> Iterator[str]:
    """Yield a table whose common names are above it."""
    shown = rows[:MAX_ROWS]
    common, columns = without_common(registry, shown)
    if common:
        yield from (f"All of {escape_md(', '.join(common))}.", "")
    yield from table_lines(findings_table(columns, shown, Shown.DOCUMENT, level))
    yield from _rows_left_out(len(rows) - MAX_ROWS)


def _all_groups(diagnoses: Sequence[Diagnosis], names: ModelNames) -> Iterator[str]:
    """Yield the tests over all groups, and the distances between the groups."""
    lines = [
        f"- {escape_md(f'{names.of(row)}: {sentence}')}"
        for row in diagnoses
        if not row.stratum
        for sentence in overall_sentences(row)
    ]
    lines += [
        f"- {escape_md(f'{names.of(row)}: {text}')}"
        for row in diagnoses
        for text in tested_interactions(row)
    ]
    table = disparities_table(diagnoses, statistics=SHOWN_STATISTICS)
    if table.rows:
        lines += ["", CHANCE, "", *table_lines(table, MAX_ROWS)]
        lines += _rows_left_out(len(table.rows) - MAX_ROWS)
    if lines:
        yield from folded("All groups together", lines)


def _rows_left_out(left: int) -> Iterable[str]:
    """Return a line about rows beyond the limit."""
    return ["", f"{left} more rows are in `--format csv` and `json`."] if left > 0 else []


FIGURES_PLACEHOLDER = "<!-- figures -->"
FORESTS_PLACEHOLDER = "<!-- forests -->"


def as_markdown(
    results: RunResults,
    flagged: Sequence[FlaggedPair] = (),
    *,
    pictures: Sequence[str] = (),
    forests: Sequence[str] = (),
    most_pairs: int | None = studies.MAX_PAIRS,
) -> str:
    """Return the report, with texts of models and users escaped.

    `pictures` are lines that show the figures, or a placeholder; `forests` the same of the gaps
    under the headline; `most_pairs` flagged pairs are shown, or all for None.
    """
    run = results.run
    head = (
        f"Run `{run.run_id}` of {run.at:%Y-%m-%d}, {run.state}: {run.responses:,} of"
        f" {run.probes:,} answers by {', '.join(map(escape_md, run.targets))}."
    )
    sections = [
        (title, lines)
        for title, section in _sections(
            results, studies.flagged_pairs(flagged, most_pairs), pictures
        )
        if (lines := list(section))
    ]
    contents = (f"- [{title}](#{anchor(title)})" for title, _ in sections)
    lines = [f"# {escape_md(run.suite)}", "", head, "", *conclusions_page(results, forests)]
    lines += ["", "## Contents", "", *contents]
    for title, section in sections:
        lines += ["", f"## {title}", "", *section]
    return "\n".join(lines) + "\n"


def as_csv(results: RunResults) -> str:
    """Return a row for each comparison, or for each score of a study without comparisons."""
    run_id = results.run.run_id
    gaps = [row for d in results.diagnoses for row in comparisons([d], run_id)]
    if not gaps and results.studies and results.studies.scores:
        return scores_csv(results.studies, run_id)
    return findings_csv(GAP_COLUMNS, gaps)


def _sections(
    results: RunResults, flagged_pairs: Iterable[str], pictures: Sequence[str]
) -> Iterator[tuple[str, Iterable[str]]]:
    """Yield the sections after the first page with their titles; some have no line."""
    yield "Comparisons without a disparity", verdict_table(results.diagnoses, NO_DISPARITY)
    yield "Inconclusive comparisons", verdict_table(results.diagnoses, INCONCLUSIVE)
    yield "As labels of people correct it", _correction_lines(results.corrections)
    yield "Figures", pictures
    if results.studies:
        yield from studies.sections(results.studies)
    yield "Beyond the gaps", assessment_lines(results.assessments)
    if results.provenance:
        yield "Provenance", provenance_table(results.provenance, results.run.run_id)
    yield "Method", (line for sentence in method(results) for line in (sentence, ""))
    yield "Limits", (f"- {sentence}" for sentence in limits(results))
    yield "Details", detail_tables(results.diagnoses)
    yield "Interpretations", interpretations.sections(results.interpretations)
    yield "Flagged pairs", flagged_pairs


def _correction_lines(corrections: Sequence[Correction]) -> Iterator[str]:
    """Yield the effect of labels, then the errors of each reading."""
    yield from (f"- {escape_md(row)}" for row in correction_sentences(corrections))
    names = ModelNames.among(corrections)
    for row in corrections:
        yield from ("", f"**{escape_md(correction_title(row, names))}**", "")
        yield from table_lines(error_table(row.groups))
