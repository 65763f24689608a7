"""A run on one page for readers who decide and do not measure."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from biaswatch.shared.analysis.findings.twins import PLACEBO
from biaswatch.shared.contracts import Diagnosis, Gap, SummaryWord
from biaswatch.shared.foreign_text import elided
from biaswatch.shared.formatting import number
from biaswatch.shared.presentation.conclusions import families_of
from biaswatch.shared.presentation.findings import comparisons, title_of
from biaswatch.shared.presentation.forest_plots import Forest
from biaswatch.shared.presentation.forests import run_forests
from biaswatch.shared.presentation.run_summary import RunSummary, run_summary
from biaswatch.shared.presentation.tables import words
from biaswatch.shared.requests.run_views import RunProgress

MAX_FINDINGS = 3
MINUS = " minus "
MAX_BOARD_ROWS, MAX_BOARD_FORESTS = 5, 2
"""Gaps of all pictures and pictures that fit on the page."""
MAX_BOARD_MODELS = 3
"""Models that are named; of more, only their number is."""
GROUP_CHARS, NAME_CHARS, TITLE_CHARS, FOREST_CHARS, LEAD_CHARS = 18, 26, 48, 60, 200
ABOUT_CHARS = 240
"""Longest texts of the page; the full report has them whole."""
MAX_RANGES = 2
MEANING = {
    SummaryWord.DISPARITY: "At least two groups are treated differently, by more than chance"
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
UNMEASURED = (
    ("Meaning", "Nothing was measured: the page says nothing about the model."),
    ("Next steps", "Correct what kept the answers from being measured, and run the suite again."),
)


@dataclass(frozen=True)
class BoardPage:
    """The parts of the page, in reading order."""

    title: str
    word: SummaryWord | None
    """None where nothing is compared."""
    lead: str
    context: str
    """The warning about simulated models and the subject of the suite, before the pictures."""
    forests: Sequence[Forest]
    findings: Sequence[str]
    sections: Sequence[tuple[str, str]]
    """Title and text: meaning, next step, method."""
    source: str


def board_page(
    run: RunProgress,
    diagnoses: Sequence[Diagnosis],
    about: str = "",
    ranges: Mapping[str, tuple[float, float]] | None = None,
) -> BoardPage:
    """Return the page of a run.

    Parameters
    ----------
    about
        What the suite asks; "" where it does not say.
    ranges
        The least and the largest value of each measured number, where they are known.
    """
    compared = [row for row in diagnoses if not row.stratum]
    summary = run_summary(compared)
    word = SummaryWord(summary.word) if summary.word else None
    meant = [("Meaning", MEANING[word]), ("Next steps", NEXT_STEP[word])] if word else []
    if summary.unmeasured_reason:
        meant, compared = list(UNMEASURED), []
    pictured = [row for row in compared if row.dimension != PLACEBO] or compared
    rows = comparisons(pictured)
    titles = [title_of(row.diagnosis) for row in rows if not row.conclusion[2]]
    left_out = list(dict.fromkeys(titles))[MAX_BOARD_FORESTS:]
    features = {row.feature for row in pictured}
    known = {name: ends for name, ends in (ranges or {}).items() if name in features}
    subject = " ".join(filter(None, [elided(about, ABOUT_CHARS), *_ranges(known)]))
    return BoardPage(
        title=elided(run.described.name or f"{run.suite}, {run.at:%d %B %Y}", TITLE_CHARS),
        word=word,
        lead=elided(summary.lead, LEAD_CHARS),
        context=" ".join(filter(None, [_caution(run.targets), subject])),
        forests=_brief_forests(run_forests(rows)),
        findings=[*_findings(summary), *_by_model(compared), *_not_pictured(left_out)],
        sections=[*meant, ("How it was measured", _method(run, compared))],
        source=f"Run {run.run_id}; its full report has every number and its limits.",
    )


def _brief_forests(forests: Sequence[Forest]) -> list[Forest]:
    """Return the first pictures with short texts: room for disparities, then an equal share."""
    pictures = forests[:MAX_BOARD_FORESTS]
    briefs, room = [], MAX_BOARD_ROWS
    for left, forest in zip(range(len(pictures), 0, -1), pictures, strict=True):
        disparities = sum(row.word == SummaryWord.DISPARITY for row in forest.rows)
        briefs.append(_brief_forest(forest, min(room, max(disparities, room // left))))
        room -= len(briefs[-1].rows)
    return [brief for brief in briefs if brief.rows]


def _brief_forest(forest: Forest, max_rows: int) -> Forest:
    rows = [
        replace(row, name=_brief_gap(row.name), note=elided(row.note, NAME_CHARS))
        for row in forest.rows[:max_rows]
    ]
    left_out = forest.left_out + len(forest.rows[max_rows:])
    title = elided(forest.title, FOREST_CHARS)
    return replace(forest, title=title, rows=rows, left_out=left_out)


def _brief_gap(name: str) -> str:
    """Return `A minus B` with both groups shortened."""
    return MINUS.join(elided(group, GROUP_CHARS) for group in name.split(MINUS))


def _caution(targets: Sequence[str]) -> str:
    """Return the warning about simulated models."""
    warning = (
        "Simulated models answer with gaps planted for tests: the result is not about a real model."
    )
    return warning if any(target.startswith("simulator:") for target in targets) else ""


def _ranges(ranges: Mapping[str, tuple[float, float]]) -> Iterator[str]:
    """Yield the range of each measured number."""
    for feature, (low, high) in list(ranges.items())[:MAX_RANGES]:
        yield f"The {elided(words(feature), NAME_CHARS)} is from {number(low)} to {number(high)}."


def _by_model(diagnoses: Sequence[Diagnosis]) -> Iterator[str]:
    """Yield the verdicts of each model, where there are a few."""
    verdicts: dict[str, Counter[str]] = {}
    for row in comparisons(diagnoses):
        verdicts.setdefault(row.model, Counter())[row.verdict] += 1
    if 1 < len(verdicts) <= MAX_BOARD_MODELS:
        counts = (
            f"{elided(model, NAME_CHARS)}: "
            + ", ".join(f"{verdict} in {count}" for verdict, count in of_model.items())
            for model, of_model in verdicts.items()
        )
        yield f"Comparisons by model: {'; '.join(counts)}."


def _findings(summary: RunSummary) -> Iterator[str]:
    """Yield the strongest disparities in short sentences."""
    for row in summary.strongest[:MAX_FINDINGS]:
        ends = f" (between {row.between})" if row.between else ""
        names = (row.gap.a, row.gap.b, words(row.diagnosis.feature), row.model)
        a, b, feature, model = (elided(name, NAME_CHARS) for name in names)
        scope = f", {row.gap.scope}" if row.gap.scope else ""
        means = _means(row.diagnosis, row.gap)
        yield f"{a} is {row.amount} than {b} in {feature} by {model}{ends}{scope}.{means}"
    if left := summary.disparities - len(summary.strongest[:MAX_FINDINGS]):
        yield f"{left} more disparities are in the full report."
    undecided = sum(row.count for row in (*summary.undecided, *summary.unmeasured))
    if summary.disparities and undecided:
        yield f"{undecided} of {summary.comparisons} comparisons are inconclusive: no all-clear."


def _means(diagnosis: Diagnosis, gap: Gap) -> str:
    """Return a sentence with the means of both groups, for the scale of their gap."""
    means = {row.group: row.mean.value for row in diagnosis.groups}
    a, b = means.get(gap.a), means.get(gap.b)
    return "" if a is None or b is None else f" The means are {number(a)} and {number(b)}."


def _not_pictured(titles: Sequence[str]) -> Iterator[str]:
    """Yield the titles without a picture."""
    if titles:
        yield elided(f"Compared, but not pictured here: {', '.join(titles)}.", LEAD_CHARS)


def _method(run: RunProgress, compared: Sequence[Diagnosis]) -> str:
    """Return the paragraph on the method: answers, suite, models, error rate."""
    models = f"{len(run.targets)} models"
    if len(run.targets) <= MAX_BOARD_MODELS:
        models = ", ".join(elided(target, NAME_CHARS) for target in run.targets)
    text = (
        f"{run.responses:,} of {run.probes:,} answers by {models} to the suite"
        f" {elided(run.suite, NAME_CHARS)}, {run.at:%d %B %Y}. Groups were compared within sets of"
        " twins, which differ in the group alone, where there are any."
    )
    if not compared:
        return text
    share = number(100 * compared[0].alpha)
    return (
        f"{text} The chance of any false disparity among {families_of(compared)} is at most"
        f" {share} %."
    )
