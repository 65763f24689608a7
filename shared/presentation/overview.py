"""The overview: the latest runs, tiles, expected spending."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from biaswatch.shared.contracts import SummaryWord
from biaswatch.shared.formatting import NOT_MEASURED, UNDEFINED, counted, number, undetected_words
from biaswatch.shared.presentation.bias_scores import score_counts, score_headline
from biaswatch.shared.presentation.live_numbers import live_key, state_words
from biaswatch.shared.presentation.tables import (
    Table,
    TableCell,
    names,
    number_cell,
    numbers,
    text_cell,
    texts,
    words,
)
from biaswatch.shared.requests.monitor_views import MonitorStatus
from biaswatch.shared.requests.platform import DaySpending
from biaswatch.shared.requests.run_views import RunProgress, RunVerdicts, Scores

SINGLE_CALL = frozenset({"direct", "chain_of_thought", "reason_and_choose"})
"""Scaffolds that take one call to the model for an answer."""
SCAFFOLDS = (
    "direct",
    *sorted(SINGLE_CALL - {"direct"}),
    "decomposed",
    "decomposed_algorithmic",
    "likelihood",
    "conversation",
    "tools",
)


@dataclass(frozen=True)
class RunScores:
    """The bias scores of a run, or the reason why the overview lacks them."""

    scores: Sequence[Scores]
    reason: str | None = None

    @property
    def summary(self) -> tuple[str, str]:
        """The scores in a few words, and in detail."""
        if not self.scores:
            return "bias scores", self.reason or "none could be computed"
        return score_counts(self.scores), score_headline(self.scores)


@dataclass(frozen=True)
class RunCost:
    """Tokens and cost of a run; a cost of 0 means no known price."""

    tokens: int
    cost: float


def runs_table(
    runs: Iterable[RunProgress], spent: Mapping[str, RunCost], scored: Mapping[str, RunScores]
) -> Table:
    """Return the latest runs with their findings, progress and spending."""
    columns = (
        *names("run", "models"),
        *texts("found", "state"),
        *numbers("answers", "asked for", "tokens", "cost"),
        *texts("begun"),
    )
    rows = (_run_row(run, spent.get(run.run_id), scored.get(run.run_id)) for run in runs)
    return Table("The latest runs", columns, tuple(rows))


def _run_row(
    run: RunProgress, spending: RunCost | None, scored: RunScores | None
) -> tuple[TableCell, ...]:
    """Return the cells of a run, some of them updated live."""
    chip = "raised" if run.paused else "calm"
    return (
        _name_cell(run),
        text_cell(", ".join(run.targets)),
        _findings_cell(run, scored),
        text_cell(state_words(run), chip=chip, live=live_key(run.run_id, "state")),
        number_cell(run.responses, live=live_key(run.run_id, "answers")),
        number_cell(run.probes),
        number_cell(spending.tokens if spending else None),
        number_cell((spending.cost or None) if spending else None),
        text_cell(f"{run.at:%Y-%m-%d %H:%M}", note=f"by {run.owner}" if run.owner else None),
    )


def _name_cell(run: RunProgress) -> TableCell:
    """Return what a run is called, with its tags, and otherwise its suite."""
    called = run.described
    suite = [run.suite] if called.name else []
    note = " · ".join([*suite, run.run_id[:12], *called.tags])
    return text_cell(called.name or run.suite, href=f"/runs/{run.run_id}", note=note)


def _findings_cell(run: RunProgress, scored: RunScores | None) -> TableCell:
    """Return the findings of a run in words, or the reason for none."""
    if counts := run.found:
        note = "; ".join([counts_note(counts), *(scored.summary if scored else ())])
        return text_cell(words(counts.word), chip=counts.word.value, note=note)
    if not run.ended:
        return text_cell("nothing yet")
    if scored:
        text, note = scored.summary
        return text_cell(text, note=note)
    return text_cell(
        "no groups compared", note="its answers are archived" if run.archived else None
    )


@dataclass(frozen=True)
class Tile:
    """A number at the top of the overview."""

    value: str
    label: str
    href: str
    note: str = ""
    kind: str = ""
    """The verdict whose colour it has."""


def overview_tiles(
    alarms: int, monitors: Sequence[MonitorStatus], runs: Sequence[RunProgress], day: DaySpending
) -> list[Tile]:
    """Return the tiles: alarms, verdicts other than no disparity, the last day's work and cost."""
    cost = number(day.cost) if day.cost else f"{day.tokens:,}"
    unit = "by your price table" if day.cost else "tokens, without a price"
    return [
        Tile(
            f"{alarms}",
            "alarm" if alarms == 1 else "alarms",
            "#alarms",
            "raised now",
            "disparity" if alarms else "",
        ),
        _not_cleared([row.word for row in monitors], [run.found.word for run in runs if run.found]),
        Tile(f"{day.answers:,}", "answers", "#runs", f"{day.runs:,} runs and rounds, last 24 h"),
        Tile(cost, "spent", "#runs", f"{unit}, last 24 h"),
    ]


def _not_cleared(monitors: Sequence[SummaryWord], runs: Sequence[SummaryWord]) -> Tile:
    """Return how many monitors and runs show a disparity or cannot exclude one."""
    judged = Counter([*monitors, *runs])
    disparities, undecided = judged[SummaryWord.DISPARITY], judged[SummaryWord.INCONCLUSIVE]
    total = f"of {counted(len(monitors), 'monitor')} and {counted(len(runs), 'latest run')}"
    kind = SummaryWord.DISPARITY if disparities else SummaryWord.INCONCLUSIVE
    return Tile(
        f"{disparities + undecided}" if judged else UNDEFINED,
        "without an all-clear",
        "#monitors",
        f"{total}: {disparities} with a disparity, {undecided} inconclusive",
        kind if disparities + undecided else "",
    )


def counts_note(counts: RunVerdicts) -> str:
    """Return the counts of comparisons behind the word of a run."""
    if counts.unmeasured == counts.comparisons:
        return NOT_MEASURED
    if counts.word is SummaryWord.DISPARITY:
        return f"{counts.disparities} of {counts.comparisons}"
    if counts.word is SummaryWord.NO_DISPARITY:
        return f"{counts.comparisons} of {counts.comparisons}"
    undecided = f"{counts.undecided} of {counts.comparisons}"
    return "; ".join(filter(None, (undecided, undetected_words(counts.undetected))))


@dataclass(frozen=True)
class EarlierSpending:
    """Spending of earlier runs at one model, and their answers."""

    answers: int
    tokens: int
    cost: float
    alone: bool = True
    """False if those runs asked other models too, whose spending is part of the mean."""


@dataclass(frozen=True)
class SpendingEstimate:
    """Expected answers and spending at one model, from earlier runs."""

    target: str
    answers: int
    several_calls: bool
    """True if an answer takes more than one call."""
    earlier: EarlierSpending | None
    suite: str | None
    """The suite of the earlier runs; None for all suites."""

    @property
    def words(self) -> str:
        """The estimate as a sentence."""
        calls = "answers, each of several calls" if self.several_calls else "answers, a call each"
        volume = f"{self.target}: {self.answers:,} {calls}"
        with_others = "" if self.earlier is None or self.earlier.alone else " and others"
        runs = f"{f'of {self.suite} ' if self.suite else ''}at this model{with_others}"
        if self.earlier is None:
            return f"{volume}; the cost is unknown without an earlier run {runs}."
        share = self.answers / self.earlier.answers
        cost = share * self.earlier.cost
        money = f" and {number(cost)} by your price table" if cost else ""
        tokens = round(share * self.earlier.tokens)
        return f"{volume}; about {tokens:,} tokens{money}, as in earlier runs {runs}."


def is_several_calls(scaffolds: Iterable[str]) -> bool:
    """Return whether an answer takes more than one call through any of some scaffolds."""
    return not SINGLE_CALL.issuperset(scaffolds)
