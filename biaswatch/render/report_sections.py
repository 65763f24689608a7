"""Sections of a report: findings, certainty, missing answers, method, limits, provenance."""

from collections.abc import Iterable, Iterator, Sequence

from biaswatch.local.runs import RunResults
from biaswatch.render.studies import left_out
from biaswatch.render.tables import escape_md, markdown_table
from biaswatch.services.gateway.runs.provenance import AnsweringModel, RunProvenance
from biaswatch.shared.contracts import Diagnosis
from biaswatch.shared.formatting import number
from biaswatch.shared.presentation.bias_scores import (
    SCORES_MEAN,
    score_conclusions,
    score_lead,
    unclear_scores,
    unread_scores,
)
from biaswatch.shared.presentation.conclusions import by_reading, certainty, counted, lead
from biaswatch.shared.presentation.run_summary import RunSummary, run_summary

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


MOMENT = "%Y-%m-%d %H:%M UTC"


def provenance_table(found: RunProvenance, run_id: str) -> Iterator[str]:
    """Return where the numbers come from, one fact a row."""
    return markdown_table(("fact", "value"), _facts(found, run_id))


def _themselves(found: RunProvenance) -> list[str]:
    """Return who judges where nobody is named."""
    return [] if found.judging_seed is None else ["each model judges itself"]


def _facts(found: RunProvenance, run_id: str) -> Iterator[list[str]]:
    yield ["suite", found.suite + (f": {found.about}" if found.about else "")]
    yield ["suite hash", found.suite_hash or "none: production traffic has no suite"]
    if found.questions:
        plural = "" if found.questions == 1 else "s"
        counted_questions = f"{found.questions:,} question{plural}"
        times = f", {found.repeats} times each" if found.repeats > 1 else ""
        scaffolds = ", ".join(each.replace("_", " ") for each in found.scaffolds)
        yield ["asked", f"{counted_questions}{times}, {scaffolds}"]
    for model in found.models:
        yield ["model", _model(model)]
    for judge in found.judges or _themselves(found):
        yield ["judge", judge]
    for each in found.instruments:
        by = f", by {each.instrument}" if each.instrument else ""
        yield ["instrument", f"{each.name} {each.version}{by}"]
    for name, (low, high) in found.ranges.items():
        yield ["range", f"{name} from {number(low)} to {number(high)}"]
    ended = f", diagnosed {found.concluded:{MOMENT}}" if found.concluded else ""
    yield ["dates", f"begun {found.begun:{MOMENT}}{ended}"]
    yield ["seed", found.seed]
    if found.judging_seed is not None:
        yield ["seed of judging", str(found.judging_seed)]
    if found.tokens is not None:
        cost = f", {number(found.cost)} by your price table" if found.cost else ""
        yield ["spent", f"{found.tokens:,} tokens{cost}"]
    yield ["code", f"biaswatch {found.software}"]
    yield ["run", run_id]


def _model(model: AnsweringModel) -> str:
    said = ", ".join(model.versions)
    called = f", called itself {said}" if said else ", which does not say its version"
    options = f"; {model.parameters}" if model.parameters else ""
    system = f"; system prompt: {model.system_prompt}" if model.system_prompt else ""
    return f"{model.target}{called}{options}{system}"


def method(results: RunResults) -> Iterator[str]:
    """Return in plain words how it was measured and compared."""
    compared = [each for each in results.diagnoses if not each.stratum]
    yield _asking(results)
    if results.studies and results.studies.scores:
        yield (
            "A bias score says how often an answer that names a person names the one whom the"
            " stereotype is about, less how often the other; accuracy is the share of right"
            " answers. Intervals draw whole contexts again at random (bootstrap)."
        )
    if not compared:
        return
    first = compared[0]
    yield (
        "A gap is the mean of the first group less that of the second, with twins compared within"
        " their sets where there are some. Each gap has an interval and a test; the"
        f" {first.family} tests of the run are corrected together (Bonferroni), so that the chance"
        f" of any false disparity is at most {number(100 * first.alpha)} %."
    )
    yield (
        "Three verdicts: a disparity, where the gap is larger than the tolerance of"
        f" {number(first.tolerance)} as far as the data can tell; no disparity, where it is no"
        " larger; not enough evidence otherwise. Family p is the p-value after the correction."
    )
    yield (
        "Missing answers are counted by group and reason, and a verdict says whether they could"
        " undo it. An undefined number is a dash with its reason, never 0."
    )


def _asking(results: RunResults) -> str:
    if results.provenance and results.provenance.suite_hash is None:
        return (
            "Answers that a live system gave to its users were sent in and turned into numbers;"
            " nobody was asked anything. A user counts once, however much they wrote. Users differ"
            " in more than their group, and so do their questions."
        )
    return (
        "Every question of the suite was put to each model; extractors turned the answers into"
        " numbers. What counts as one observation is the prompt, or the set of questions that"
        " differ in the group alone, unless the claim says otherwise."
    )


def limits(results: RunResults) -> Iterator[str]:
    """Return what must not be concluded."""
    compared = [each for each in results.diagnoses if not each.stratum]
    for claim in dict.fromkeys(each.claim for each in compared):
        yield f"The conclusions are about {escape_md(claim)}, at these models and versions."
    yield "A provider may change a model behind its name: what held on these days may not hold now."
    yield "A gap says that answers differ between groups. It does not say why, or who is harmed."
    if compared and not _calibrated(compared):
        yield (
            "How the extractors read the groups' names by themselves was not measured;"
            " `biaswatch extractors calibrate` does, and a part of a gap may be theirs."
        )
    if results.assessments:
        yield "Quality is held to the expected answers that the suite's authors gave."
    if results.studies and results.studies.pairs:
        yield "A flag is the opinion of its judge, which can be wrong in the same way every time."


def _calibrated(diagnoses: Sequence[Diagnosis]) -> bool:
    return any(gap.instrument for each in diagnoses for gap in each.gaps)
