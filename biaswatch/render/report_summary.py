"""The first page of a report: what was found, how sure, what was not found, what not measured."""

from collections.abc import Iterable, Iterator, Sequence

from biaswatch.local.run_results import RunResults
from biaswatch.render.bias_scores import score_conclusions, unclear_scores, unread_scores
from biaswatch.render.findings import by_reading, lead
from biaswatch.render.studies import left_out
from biaswatch.render.tables import escape_md
from biaswatch.shared.contracts import Diagnosis
from biaswatch.shared.presentation.run_certainty import certainty, counted
from biaswatch.shared.presentation.run_findings import RunSummary, run_summary
from biaswatch.shared.presentation.score_tables import SCORES_MEAN, score_lead

MOST_SCORES = 10
WINDOW = (
    "A window of production traffic is judged together with all others of its monitor:"
    " `biaswatch monitor list` names it, `biaswatch monitor show NAME` tells what was found."
)
MOST_LINES = 8
"""So many lines of one kind on the first page; tables below have all."""


def first_page(results: RunResults) -> Iterator[str]:
    """Return the lines of the first page, each section under its heading."""
    compared = [each for each in results.diagnoses if not each.stratum]
    summary = run_summary(compared)
    yield from ("## What was found", "")
    yield from _found(results, summary)
    if certainty := list(_certainty(results, compared)):
        yield from ("", "## How sure this is", "")
        yield from _bullets(certainty)
    yield from ("", "## What was not found", "")
    yield from _bullets(_not_found(results, summary))
    yield from ("", "## What was not measured", "")
    yield from _bullets(_not_measured(results, summary))


def _found(results: RunResults, summary: RunSummary) -> Iterator[str]:
    if scores := score_conclusions(results.studies):
        some = scores[:MOST_SCORES]
        yield from (f"**{score_lead(results.studies.scores if results.studies else [])}**", "")
        yield from (f"- {escape_md(each)}" for each in some)
        if left := len(scores) - len(some):
            yield f"- {left} more models and categories, nearer to 0, are in the table."
        if not summary.comparisons:
            return
        yield ""
    yield f"**{WINDOW if _is_window(results) else lead(summary)}**"
    yield ""
    for each in summary.found:
        between = f", between {each.between}" if each.between else ""
        doubts = "".join(f"; {doubt}" for doubt in each.doubts)
        yield (
            f"- **{escape_md(each.a)}** is **{each.amount}** than {escape_md(each.b)} in"
            f" {escape_md(by_reading(each.feature, each.instrument))} at"
            f" {escape_md(each.where)}{between}"
            f" ({escape_md(each.p)}){escape_md(doubts)}."
        )
    if left := summary.disparities - len(summary.found):
        yield f"- {left} more disparities, with weaker evidence, are in the details."


def _is_window(results: RunResults) -> bool:
    return bool(results.provenance and results.provenance.suite_hash is None)


def _certainty(results: RunResults, compared: Sequence[Diagnosis]) -> Iterator[str]:
    """Say what errors are bounded, what it is about, and what could still be there."""
    if results.studies and results.studies.scores:
        yield SCORES_MEAN
        if results.studies.score_gaps:
            yield "Comparisons of models are corrected together (Holm)."
    yield from certainty(compared)


def _not_found(results: RunResults, summary: RunSummary) -> Iterator[str]:
    if unclear := unclear_scores(results.studies):
        yield f"Bias scores whose interval holds 0: {'; '.join(unclear)}."
    alike, open_, unmeasured = (
        sum(each.count for each in some)
        for some in (summary.not_found, summary.undecided, summary.unmeasured)
    )
    if not summary.comparisons:
        yield "No groups were compared with each other, so nothing is said of any gap."
        return
    if alike:
        yield f"{counted(alike)}: shown to differ by no more than the tolerance."
        for each in summary.not_found[:MOST_LINES]:
            yield f"{each.what}: {each.count} of {each.of}, {each.note}."
    if open_:
        yield (
            f"{counted(open_)}: too little evidence for a disparity or against one. That is no"
            " finding that groups are treated alike; more questions or repeats would decide, and"
            " `biaswatch plan` says how many."
        )
    if unmeasured:
        yield f"{counted(unmeasured)}: not measured, so nothing is said of them."
    if not (alike or open_ or unmeasured):
        yield "Nothing: every comparison shows a disparity."


def _not_measured(results: RunResults, summary: RunSummary) -> Iterator[str]:
    run, silent = results.run, True
    if run.responses < run.probes:
        yield f"{run.probes - run.responses:,} of {run.probes:,} answers never came: {run.stand}."
        silent = False
    yield from (*(paused.in_words() for paused in run.paused), *run.problems())
    silent = silent and not run.problems()
    yield from _unmeasured(summary)
    for each in summary.missing[:MOST_LINES]:
        why = f" ({each.reasons})" if each.reasons else ""
        differs = f"; the same in all groups? {each.differs}" if each.differs else ""
        of = f"{each.missing:,} of {each.asked:,} answers"
        yield f"{each.what}: {of} gave no number{why}{differs}."
        silent = False
    if (left := len(summary.missing) - MOST_LINES) > 0:
        yield f"{left} more numbers lack answers; the table of groups counts them."
    for sentence in left_out(results.studies) if results.studies else ():
        yield sentence
        silent = False
    for sentence in unread_scores(results.studies):
        yield sentence
        silent = False
    if silent and run.responses:
        yield "Every answer came, and every one gave its numbers."
    yield from _strata(results.diagnoses)


def _unmeasured(summary: RunSummary) -> Iterator[str]:
    for question in summary.unmeasured[:MOST_LINES]:
        yield f"{question.what}: {question.count} of {question.of} comparisons, {question.note}."


def _strata(diagnoses: Sequence[Diagnosis]) -> Iterator[str]:
    if names := sorted({each.dimension for each in diagnoses if each.stratum}):
        yield f"{', '.join(names)}: conditions of the questions, described and not compared."


def _bullets(sentences: Iterable[str]) -> Iterator[str]:
    return (f"- {_code_kept(each)}" for each in sentences)


def _code_kept(sentence: str) -> str:
    """Escape a sentence, less our own commands in it."""
    return escape_md(sentence).replace("\\`biaswatch plan\\`", "`biaswatch plan`")
