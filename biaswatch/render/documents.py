"""What a run found as Markdown and as CSV."""

from collections.abc import Iterator

from biaswatch.local.run_results import RunResults
from biaswatch.render.assessments import SUMMARY_HEAD, details, summary_row
from biaswatch.render.columns import GAP_COLUMNS, GROUP_COLUMNS, gap_rows, group_rows
from biaswatch.render.findings import (
    NOTHING_TO_COMPARE,
    conclusions,
    gap_notes,
    overall_sentences,
    target_name,
)
from biaswatch.render.studies import SCORES_MEAN, score_conclusions, scores_csv
from biaswatch.render.tables import escape_md, findings_csv, findings_markdown, markdown_table
from shared.contracts import Diagnosis
from shared.formatting import coverage, number, p_equals, p_value

SHRUNKEN = (
    "Shrunken means are drawn towards the other groups (empirical Bayes), the more the fewer"
    " answers a group has: for looking, for no verdict. The ranges of ranks hold for all groups at"
    " once; 1 is the largest mean."
)


def as_markdown(results: RunResults) -> str:
    """Return the report for people; what models and users wrote is text, never markup."""
    run = results.run
    head = (
        f"Run `{run.run_id}` of {run.at:%Y-%m-%d}, {run.stand}: {run.responses} of"
        f" {run.probes} answers by {', '.join(map(escape_md, run.targets))}."
    )
    lines = [f"# {escape_md(run.suite)}", "", head, *_findings(results), *_assessments(results)]
    return "\n".join(lines) + "\n"


def as_csv(results: RunResults) -> str:
    """Return a row for each comparison; for each score, where a study compares nobody."""
    run_id = results.run.run_id
    gaps = [gap for each in results.diagnoses for gap in gap_rows(each, run_id)]
    if not gaps and results.studies and results.studies.scores:
        return scores_csv(results.studies, run_id)
    return findings_csv(GAP_COLUMNS, gaps)


def _findings(results: RunResults) -> Iterator[str]:
    scores = score_conclusions(results.studies)
    compared = [each for each in results.diagnoses if not each.stratum]
    if scores or compared:
        yield from ("", "## Conclusions", "")
        yield from (f"- {escape_md(each)}" for each in (*scores, *conclusions(compared)))
    else:
        yield from ("", NOTHING_TO_COMPARE)
    if scores:
        yield from ("", SCORES_MEAN)
    for first in compared[:1]:
        yield ""
        yield (
            f"A family of {first.family} comparisons, Bonferroni-corrected at level"
            f" {first.alpha:g}, tolerance {first.tolerance:g}. The conclusions are about"
            f" {escape_md(first.claim)}."
        )
    for diagnosis in results.diagnoses:
        yield ""
        yield from _diagnosis(diagnosis)


def _diagnosis(diagnosis: Diagnosis) -> Iterator[str]:
    level = coverage(diagnosis.alpha)
    names = (diagnosis.target, diagnosis.scaffold, diagnosis.feature)
    kind = " (a stratum)" if diagnosis.stratum else ""
    yield f"## {', '.join(map(escape_md, names))}, by {escape_md(diagnosis.dimension)}{kind}"
    yield ""
    if not diagnosis.stratum:
        for sentence in overall_sentences(diagnosis):
            yield from (f"In {escape_md(sentence)}", "")
        yield from findings_markdown(GAP_COLUMNS, gap_rows(diagnosis), level)
        yield ""
    yield from findings_markdown(GROUP_COLUMNS, group_rows(diagnosis), level)
    if any(group.shrunken_mean for group in diagnosis.groups):
        yield from ("", SHRUNKEN)
    if notes := list(gap_notes(diagnosis)):
        yield ""
        yield from (f"- {escape_md(note)}" for note in notes)
    if (missing := diagnosis.missing) and missing.p_value is None:
        yield from ("", f"Missing answers are not tested: {escape_md(str(missing.reason))}.")
    elif missing:
        by = f"{p_equals(missing.p_value)} ({escape_md(missing.method)})"
        yield from ("", f"Missing answers differ between groups with {by}.")
    if defined := [
        [d.statistic, d.metric, number(d.value), d.group or "", number(d.null_median),
         p_value(d.p_value)]
        for d in diagnosis.disparities
        if d.value is not None
    ]:  # fmt: skip
        yield ""
        head = ("all groups", "metric", "value", "held by", "by chance (median)", "p")
        yield from markdown_table(head, defined)


def _assessments(results: RunResults) -> Iterator[str]:
    if not results.assessments:
        return
    yield from ("", "## Beyond the gaps", "")
    yield from markdown_table(SUMMARY_HEAD, map(summary_row, results.assessments))
    for each in results.assessments:
        for title, head, found in details(each):
            yield from ("", f"### {escape_md(target_name(each))}: {title}", "")
            yield from markdown_table(head, found)
