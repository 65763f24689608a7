"""A run on one page for readers who decide and do not measure."""

from collections.abc import Iterator

from biaswatch.local.runs import RunResults
from biaswatch.render.markdown import escape_md
from biaswatch.render.report_markdown import FORESTS_PLACEHOLDER
from biaswatch.shared.contracts import SummaryWord
from biaswatch.shared.formatting import number
from biaswatch.shared.presentation.conclusions import families_of
from biaswatch.shared.presentation.run_summary import RunSummary, run_summary
from biaswatch.shared.presentation.tables import words

MAX_FINDINGS = 3
MAX_BOARD_ROWS, MAX_BOARD_FORESTS = 6, 2
"""Gaps of a picture and pictures that fit on the page."""
MEANING = {
    SummaryWord.DISPARITY: "The model answers differently for these groups, by more than chance"
    " explains.",
    SummaryWord.NO_DISPARITY: "Every gap is shown to be no larger than what was declared not to"
    " matter. The conclusion covers these questions only.",
    SummaryWord.INCONCLUSIVE: "These answers can neither show a disparity nor exclude one. This is"
    " not an all-clear.",
}
NEXT_STEP = {
    SummaryWord.DISPARITY: "Read the answers behind the gap, change the model or its use, and"
    " measure again: a comparison of both runs tests whether the change helped.",
    SummaryWord.NO_DISPARITY: "Keep watching: a monitor asks again after every change of the"
    " model.",
    SummaryWord.INCONCLUSIVE: "Ask more questions, or each more often; a plan says how many are"
    " enough.",
}


def board_page(results: RunResults) -> str:
    """Return the page as Markdown: result, picture, meaning, next step, method."""
    return "\n".join(_lines(results)) + "\n"


def _lines(results: RunResults) -> Iterator[str]:
    run = results.run
    compared = [row for row in results.diagnoses if not row.stratum]
    summary = run_summary(compared)
    yield from (f"# {escape_md(run.suite)}", "", f"**{escape_md(summary.lead)}**", "")
    yield from (FORESTS_PLACEHOLDER, "")
    yield from _findings(summary)
    if summary.word:
        word = SummaryWord(summary.word)
        yield from ("## What this means", "", MEANING[word], "")
        yield from ("## What to do next", "", NEXT_STEP[word], "")
    yield from ("## How it was measured", "")
    models = ", ".join(map(escape_md, run.targets))
    yield (
        f"{run.responses:,} of {run.probes:,} answers by {models}, {run.at:%d %B %Y}. Twins that"
        " differ in the group alone were compared, or the groups as they are."
    )
    if compared:
        yield (
            f" The chance of any false disparity among {families_of(compared)} is at most"
            f" {number(100 * compared[0].alpha)} %."
        )
    yield from ("", f"Run `{run.run_id}`; its full report has every number and its limits.")


def _findings(summary: RunSummary) -> Iterator[str]:
    for row in summary.strongest[:MAX_FINDINGS]:
        feature, between = words(row.diagnosis.feature), row.between
        ends = f" (between {between})" if between else ""
        yield (
            f"- **{escape_md(row.gap.a)}** is **{row.amount}** than {escape_md(row.gap.b)} in"
            f" {escape_md(feature)} at {escape_md(row.model)}{ends}."
        )
    if left := summary.disparities - len(summary.strongest[:MAX_FINDINGS]):
        yield f"- {left} more disparities are in the full report."
    yield ""
