"""What a run found as Markdown and as CSV."""

from collections.abc import Iterator, Sequence

from biaswatch.local.runs import RunResults
from biaswatch.render import interpretations, studies
from biaswatch.render.assessments import SUMMARY_HEAD, summary_rows, tables_of_all
from biaswatch.render.report_sections import first_page, limits, method, provenance_table
from biaswatch.render.report_tables import detail_tables, folded, nulls_table
from biaswatch.render.tables import escape_md, findings_csv, markdown_table
from biaswatch.shared.contracts import Correction
from biaswatch.shared.formatting import number_name
from biaswatch.shared.presentation.bias_scores import scores_csv
from biaswatch.shared.presentation.columns import GAP_COLUMNS, gap_rows
from biaswatch.shared.presentation.corrections import (
    ERROR_COLUMNS,
    correction_sentences,
    error_rows,
)
from biaswatch.shared.presentation.names import ModelNames
from biaswatch.shared.requests.run_views import FlaggedPair

FIGURES_HERE = "<!-- figures -->"
"""Where the pictures of a report stand."""


def as_markdown(
    results: RunResults, flagged: Sequence[FlaggedPair] = (), *, pictures: Sequence[str] = ()
) -> str:
    """Return the report for people; what models and users wrote is text, never markup.

    `pictures` are lines that show them, or stand for them.
    """
    run = results.run
    head = (
        f"Run `{run.run_id}` of {run.at:%Y-%m-%d}, {run.stand}: {run.responses:,} of"
        f" {run.probes:,} answers by {', '.join(map(escape_md, run.targets))}."
    )
    sections = [
        (title, lines)
        for title, found in _sections(results, flagged, pictures)
        if (lines := list(found))
    ]
    contents = (f"- [{title}](#{anchor(title)})" for title, _ in sections)
    lines = [f"# {escape_md(run.suite)}", "", head, "", *first_page(results)]
    lines += ["", "## Contents", "", *contents]
    for title, section in sections:
        lines += ["", f"## {title}", "", *section]
    return "\n".join(lines) + "\n"


def anchor(title: str) -> str:
    """Return what a heading is called in an address, as readers of Markdown make it."""
    kept = (c for c in title.lower() if c.isalnum() or c in " -")
    return "".join(kept).replace(" ", "-")


def as_csv(results: RunResults) -> str:
    """Return a row for each comparison; for each score, where a study compares nobody."""
    run_id = results.run.run_id
    gaps = [gap for each in results.diagnoses for gap in gap_rows(each, run_id)]
    if not gaps and results.studies and results.studies.scores:
        return scores_csv(results.studies, run_id)
    return findings_csv(GAP_COLUMNS, gaps)


def _sections(
    results: RunResults, flagged: Sequence[FlaggedPair], pictures: Sequence[str]
) -> Iterator[tuple[str, Iterator[str]]]:
    """Return the sections after the first page with their titles; some have no line."""
    yield "Comparisons that show no disparity", nulls_table(results.diagnoses)
    yield "As labels of people correct it", _corrected(results.corrections)
    yield "Figures", iter(pictures)
    if results.studies:
        yield from studies.sections(results.studies)
    yield "Beyond the gaps", _assessments(results)
    if results.provenance:
        yield "Provenance", provenance_table(results.provenance, results.run.run_id)
    yield "Method", _paragraphs(method(results))
    yield "Limits", (f"- {each}" for each in limits(results))
    yield "Details", detail_tables(results.diagnoses)
    yield "Interpretations", interpretations.sections(results.interpretations)
    yield "Flagged pairs", studies.flagged_pairs(flagged)


def _corrected(corrections: Sequence[Correction]) -> Iterator[str]:
    yield from (f"- {escape_md(each)}" for each in correction_sentences(corrections))
    names = ModelNames.among(corrections)
    for each in corrections:
        title = f"{names.of(each)}: {number_name(each.extractor, each.feature)} by {each.dimension}"
        yield from ("", f"**{escape_md(title)}**", "")
        yield from markdown_table(ERROR_COLUMNS, error_rows(each))


def _paragraphs(sentences: Iterator[str]) -> Iterator[str]:
    for each in sentences:
        yield from (each, "")


def _assessments(results: RunResults) -> Iterator[str]:
    if not results.assessments:
        return
    yield from markdown_table(SUMMARY_HEAD, summary_rows(results.assessments))
    for title, head, found in tables_of_all(results.assessments):
        yield from folded(title, markdown_table(head, found))
