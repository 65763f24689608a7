"""Sections of a report: findings, certainty, missing answers, method, limits, provenance."""

import re
from collections.abc import Iterable, Iterator, Sequence

from biaswatch.local.runs import RunResults
from biaswatch.render.markdown import escape_md, markdown_table
from biaswatch.render.studies import missing_results
from biaswatch.shared.contracts import Diagnosis
from biaswatch.shared.formatting import counted, number
from biaswatch.shared.presentation.bias_scores import (
    SCORES_MEAN,
    score_conclusions,
    score_lead,
    unclear_scores,
    unread_scores,
)
from biaswatch.shared.presentation.conclusions import certainty, families_of, level_scope
from biaswatch.shared.presentation.findings import feature_by_extractor
from biaswatch.shared.presentation.run_summary import RunSummary, VerdictCount, run_summary
from biaswatch.shared.presentation.tables import words
from biaswatch.shared.requests.run_sources import AnsweringModel, RunProvenance

MOMENT = "%Y-%m-%d %H:%M UTC"
MAX_SCORES = 10
OWN_COMMAND = re.compile(r"\\`(biaswatch [a-z ]+)\\`")
MAX_LINES = 8
"""Lines of one kind on the first page; tables below have all."""
WINDOW_LEAD = (
    "A window of production traffic is judged together with all others of its monitor:"
    " `biaswatch monitor list` names it, `biaswatch monitor show NAME` has the findings."
)
UNDECIDED = (
    "too little evidence for a disparity or against one. This does not show that groups are"
    " treated alike. More questions or repeats can show a disparity, and a declared tolerance lets"
    " them rule one out; `biaswatch plan` says how many."
)
SCORES_METHOD = (
    "A bias score is the share of answers, among those that name a person, that name the target of"
    " the stereotype, minus the share that name the other person; accuracy is the share of right"
    " answers. Intervals leave out one template at a time (jackknife)."
)
TRAFFIC_METHOD = (
    "Answers that a live system gave to its users were sent in and turned into numbers;"
    " biaswatch asked no questions. A user counts once, however much they wrote. Users differ in"
    " more than their group, and so do their questions."
)
SUITE_METHOD = (
    "Every question of the suite was put to each model; extractors turned the answers into"
    " numbers. One observation is a prompt, or a set of prompts that differ in the group alone; for"
    " conclusions about these prompts alone, it is an answer."
)
MISSING_METHOD = (
    "Missing answers are counted by group and reason, and a verdict says whether they could undo"
    " it. An undefined number is a dash with its reason, never 0."
)


def conclusions_page(results: RunResults, pictures: Sequence[str] = ()) -> Iterator[str]:
    """Yield the lines of the first page, each section under its heading; pictures come first."""
    compared = _compared(results)
    summary = run_summary(compared)
    yield from ("## What was found", "")
    yield from _disparities(results, summary, pictures)
    if certainty_lines := list(_certainty(results, compared)):
        yield from ("", "## How sure this is", "")
        yield from _bullets(certainty_lines)
    yield from ("", "## What was not found", "")
    yield from _bullets(_without_disparity(results, summary))
    yield from ("", "## What was not measured", "")
    problems = list(_not_measured(results, summary))
    if not problems and results.run.responses:
        problems = ["Every answer came, and every one gave its numbers."]
    strata = sorted({row.dimension for row in results.diagnoses if row.stratum})
    if strata:
        problems.append(f"{', '.join(strata)}: conditions of the questions, not compared.")
    yield from _bullets(problems)


def _compared(results: RunResults) -> list[Diagnosis]:
    """Return the findings that are not strata."""
    return [diagnosis for diagnosis in results.diagnoses if not diagnosis.stratum]


def _is_traffic(results: RunResults) -> bool:
    """Return whether the run is a window of production traffic."""
    return bool(results.provenance and results.provenance.suite_hash is None)


def _disparities(
    results: RunResults, summary: RunSummary, pictures: Sequence[str]
) -> Iterator[str]:
    """Yield the lead, the pictures and the strongest disparities."""
    if scores := score_conclusions(results.studies):
        yield from (f"**{score_lead(results.studies.scores if results.studies else [])}**", "")
        yield from (f"- {escape_md(score)}" for score in scores[:MAX_SCORES])
        if (left := len(scores) - MAX_SCORES) > 0:
            yield f"- {left} more models and categories, nearer to 0, are in the table."
        if not summary.comparisons:
            return
        yield ""
    yield f"**{WINDOW_LEAD if _is_traffic(results) else summary.lead}**"
    yield from ("", *pictures, "") if pictures else ("",)
    for row in summary.strongest:
        feature = feature_by_extractor(
            words(row.diagnosis.feature), row.instrument or row.diagnosis.feature
        )
        between = f", between {row.between}" if row.between else ""
        doubts = "".join(f"; {doubt}" for doubt in row.doubts)
        yield (
            f"- **{escape_md(row.gap.a)}** is **{row.amount}** than {escape_md(row.gap.b)} in"
            f" {escape_md(feature)} by {escape_md(row.model)}{between}"
            f" ({escape_md(row.p)}){escape_md(doubts)}."
        )
    if left := summary.disparities - len(summary.strongest):
        yield f"- {left} more disparities, with weaker evidence, are in the details."


def _certainty(results: RunResults, compared: Sequence[Diagnosis]) -> Iterator[str]:
    """Yield the method of the scores, then the certainty of the verdicts."""
    if results.studies and results.studies.scores:
        yield SCORES_MEAN
        if results.studies.score_gaps:
            yield "Comparisons of models are corrected together (Holm)."
    yield from certainty(compared)


def _without_disparity(results: RunResults, summary: RunSummary) -> Iterator[str]:
    """Yield the counts of comparisons without a disparity, by verdict."""
    if unclear := unclear_scores(results.studies):
        yield f"Bias scores whose interval holds 0: {'; '.join(unclear)}."
    if not summary.comparisons:
        yield "No groups were compared with each other, so there are no findings about gaps."
        return
    within, undecided, unmeasured = (
        sum(row.count for row in rows)
        for rows in (summary.within_tolerance, summary.undecided, summary.unmeasured)
    )
    if within:
        yield f"{counted(within, 'comparison')}: shown to differ by no more than the tolerance."
        yield from _counts(summary.within_tolerance, "")
    if undecided:
        yield f"{counted(undecided, 'comparison')}: {UNDECIDED}"
    if unmeasured:
        yield f"{counted(unmeasured, 'comparison')}: not measured, so without a finding."
    if not (within or undecided or unmeasured):
        yield "Nothing: every comparison shows a disparity."


def _counts(rows: Sequence[VerdictCount], noun: str) -> Iterator[str]:
    for row in rows[:MAX_LINES]:
        yield f"{row.what}: {row.count} of {row.of}{noun}, {row.note}."


def _not_measured(results: RunResults, summary: RunSummary) -> Iterator[str]:
    """Yield missing answers and unmeasured comparisons with their reasons."""
    run = results.run
    if run.responses < run.probes:
        yield f"{run.probes - run.responses:,} of {run.probes:,} answers never came: {run.state}."
    yield from (*(paused.in_words() for paused in run.paused), *run.problems())
    yield from _counts(summary.unmeasured, " comparisons")
    for row in summary.missing[:MAX_LINES]:
        why = f" ({row.reasons})" if row.reasons else ""
        differs = f"; the same in all groups? {row.differs}" if row.differs else ""
        counts = f"{row.missing:,} of {row.requested:,} answers"
        yield f"{row.what}: {counts} gave no number{why}{differs}."
    if (left := len(summary.missing) - MAX_LINES) > 0:
        yield f"{left} more numbers lack answers; the table of groups counts them."
    if results.studies:
        yield from missing_results(results.studies)
    yield from unread_scores(results.studies)


def _bullets(sentences: Iterable[str]) -> Iterator[str]:
    """Yield sentences as a list, with our own commands in code."""
    for sentence in sentences:
        yield "- " + OWN_COMMAND.sub(r"`\1`", escape_md(sentence))


def method(results: RunResults) -> Iterator[str]:
    """Yield the method of measurement and comparison in plain words."""
    yield TRAFFIC_METHOD if _is_traffic(results) else SUITE_METHOD
    if results.studies and results.studies.scores:
        yield SCORES_METHOD
    if not (compared := _compared(results)):
        return
    first = compared[0]
    within = " or within it (no disparity)" if first.tolerance else ""
    yield (
        "A gap is the mean of the first group minus that of the second, with twins compared within"
        " their sets where there are some. Each gap has an interval and a test. The chance of any"
        f" false disparity among {families_of(compared)} is at most {number(100 * first.alpha)} %"
        f"{level_scope(compared)} (Bonferroni's correction)."
    )
    yield (
        "Verdicts: as far as the data can tell, the gap is larger than the tolerance of"
        f" {number(first.tolerance)} (a disparity){within}; otherwise the comparison is"
        " inconclusive. Adjusted p is the p-value after the correction."
    )
    yield MISSING_METHOD


def limits(results: RunResults) -> Iterator[str]:
    """Yield the limits of the conclusions."""
    compared = _compared(results)
    for claim in dict.fromkeys(row.claim for row in compared):
        yield f"The conclusions are about {escape_md(claim)}, at these models and versions."
    yield "A provider may change a model behind its name: what held on these days may not hold now."
    yield "A gap says that answers differ between groups. It does not say why, or who is harmed."
    if compared and not any(gap.instrument for row in compared for gap in row.gaps):
        yield (
            "The extractors' reading of the groups' names alone was not measured;"
            " `biaswatch extractors bias` does so, and a part of a gap may be theirs."
        )
    if results.assessments:
        yield "Quality is held to the expected answers that the suite's authors gave."
    if results.studies and results.studies.pairs:
        yield "A flag is the opinion of its judge, which can be wrong in the same way every time."


def provenance_table(provenance: RunProvenance, run_id: str) -> Iterator[str]:
    """Yield the origin of the numbers, one fact a row."""
    return markdown_table(("fact", "value"), _facts(provenance, run_id))


def _facts(row: RunProvenance, run_id: str) -> Iterator[list[str]]:
    """Yield name and value of each fact about the origin."""
    yield ["suite", row.suite + (f": {row.about}" if row.about else "")]
    yield ["suite hash", row.suite_hash or "none: production traffic has no suite"]
    if row.questions:
        questions = f"{row.questions:,} question{'' if row.questions == 1 else 's'}"
        times = f", {row.repeats} times each" if row.repeats > 1 else ""
        yield ["asked", f"{questions}{times}, {', '.join(map(words, row.scaffolds))}"]
    for model in row.models:
        yield ["model", _model(model)]
    judges = row.judges or ([] if row.judging_seed is None else ["each model judges itself"])
    for judge in judges:
        yield ["judge", judge]
    for extractor in row.instruments:
        by = f", by {extractor.instrument}" if extractor.instrument else ""
        yield ["instrument", f"{extractor.name} {extractor.version}{by}"]
    for name, (low, high) in row.ranges.items():
        yield ["range", f"{name} from {number(low)} to {number(high)}"]
    ended = f", diagnosed {row.concluded:{MOMENT}}" if row.concluded else ""
    yield ["dates", f"begun {row.begun:{MOMENT}}{ended}"]
    yield ["seed", row.seed]
    if row.judging_seed is not None:
        yield ["seed of judging", str(row.judging_seed)]
    if row.tokens is not None:
        cost = f", {number(row.cost)} by your price table" if row.cost else ""
        yield ["spent", f"{row.tokens:,} tokens{cost}"]
    yield ["code", f"biaswatch {row.software}"]
    yield ["run", run_id]


def _model(model: AnsweringModel) -> str:
    versions = ", ".join(model.versions)
    version = f", called itself {versions}" if versions else ", which does not say its version"
    options = f"; {model.parameters}" if model.parameters else ""
    system = f"; system prompt: {model.system_prompt}" if model.system_prompt else ""
    return f"{model.target}{version}{options}{system}"
