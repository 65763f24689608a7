"""Findings of a run as a Markdown report and as CSV."""

from collections.abc import Iterable, Iterator, Sequence

from biaswatch.local.runs import RunResults
from biaswatch.render import interpretations, studies
from biaswatch.render.assessments import assessment_lines
from biaswatch.render.markdown import anchor, escape_md, table_lines
from biaswatch.render.report_sections import conclusions_page, limits, method, provenance_table
from biaswatch.render.report_tables import detail_tables, nulls_table
from biaswatch.shared.contracts import Correction
from biaswatch.shared.presentation.bias_scores import scores_csv
from biaswatch.shared.presentation.columns import GAP_COLUMNS, findings_csv
from biaswatch.shared.presentation.corrections import (
    correction_sentences,
    correction_title,
    error_table,
)
from biaswatch.shared.presentation.findings import comparisons
from biaswatch.shared.presentation.names import ModelNames
from biaswatch.shared.requests.run_views import FlaggedPair

FIGURES_PLACEHOLDER = "<!-- figures -->"


def as_markdown(
    results: RunResults, flagged: Sequence[FlaggedPair] = (), *, pictures: Sequence[str] = ()
) -> str:
    """Return the report; texts of models and users are never markup.

    `pictures` are lines that show the figures, or a placeholder.
    """
    run = results.run
    head = (
        f"Run `{run.run_id}` of {run.at:%Y-%m-%d}, {run.state}: {run.responses:,} of"
        f" {run.probes:,} answers by {', '.join(map(escape_md, run.targets))}."
    )
    sections = [
        (title, lines)
        for title, section in _sections(results, flagged, pictures)
        if (lines := list(section))
    ]
    contents = (f"- [{title}](#{anchor(title)})" for title, _ in sections)
    lines = [f"# {escape_md(run.suite)}", "", head, "", *conclusions_page(results)]
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
    results: RunResults, flagged: Sequence[FlaggedPair], pictures: Sequence[str]
) -> Iterator[tuple[str, Iterable[str]]]:
    """Yield the sections after the first page with their titles; some have no line."""
    yield "Comparisons that show no disparity", nulls_table(results.diagnoses)
    yield "As labels of people correct it", _corrected(results.corrections)
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
    yield "Flagged pairs", studies.flagged_pairs(flagged)


def _corrected(corrections: Sequence[Correction]) -> Iterator[str]:
    yield from (f"- {escape_md(row)}" for row in correction_sentences(corrections))
    names = ModelNames.among(corrections)
    for row in corrections:
        yield from ("", f"**{escape_md(correction_title(row, names))}**", "")
        yield from table_lines(error_table(row.groups))
