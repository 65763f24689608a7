"""Progress of runs: the latest runs, live numbers of a page, expected cost."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pydantic import BaseModel

from biaswatch.shared.contracts import Run, derived_id
from biaswatch.shared.formatting import number
from biaswatch.shared.presentation.bias_scores import score_headline, scores_apart
from biaswatch.shared.presentation.tables import (
    PageCell,
    PageColumn,
    PageTable,
    number_cell,
    words_cell,
)
from biaswatch.shared.requests.monitor_views import MonitorStatus
from biaswatch.shared.requests.run_views import RunProgress, Scores


class LiveNumbers(BaseModel):
    """The numbers of a page at one moment."""

    numbers: dict[str, str]
    """What to show, by the place that shows it."""
    said: str
    """The same in a sentence, for who listens to the page."""
    shape: str
    """Changes when there is more than new numbers, such as another alarm: then the page is old."""
    news: str
    """What to say then."""


def live_run(run: RunProgress) -> LiveNumbers:
    """Return the numbers of a run's page."""
    counts = f"{run.responses:,} of {run.probes:,} answers"
    return LiveNumbers(
        numbers={
            "state": run.stand.value,
            "answers": f"{run.responses:,}",
            "of": f"{run.probes:,}",
        },
        said=f"{run.stand.value}, {counts}",
        shape=_shape([run.stand.value, str(run.opening), str(run.diagnoses), str(len(run.paused))]),
        news=f"The run is {run.stand.value}: {counts}.",
    )


def live_monitor(monitor: MonitorStatus) -> LiveNumbers:
    """Return the numbers of a monitor's page."""
    rounds = f"{monitor.rounds} round{'' if monitor.rounds == 1 else 's'}"
    alarms = f"{monitor.alarms} alarm{'' if monitor.alarms == 1 else 's'}"
    return LiveNumbers(
        numbers={"state": monitor.state, "rounds": rounds},
        said=f"{rounds}, {alarms}",
        shape=_shape([monitor.state, str(monitor.rounds), str(monitor.alarms)]),
        news=f"Something has changed: {rounds}, {alarms}.",
    )


def live_overview(
    runs: Sequence[RunProgress], monitors: Sequence[MonitorStatus], alarms: Iterable[str]
) -> LiveNumbers:
    """Return the numbers of the overview; `alarms` are the ids of those that stand."""
    standing = sorted(alarms)
    numbers = {run_key(each.run_id, "state"): state_words(each) for each in runs}
    numbers |= {run_key(each.run_id, "answers"): f"{each.responses:,}" for each in runs}
    numbers |= {f"rounds of {each.name}": str(each.rounds) for each in monitors}
    answers = sum(each.responses for each in runs)
    return LiveNumbers(
        numbers=numbers,
        said=f"{len(standing)} alarms, {len(runs)} runs with {answers:,} answers",
        shape=_shape([*standing, *map(_listed, runs), *(m.name for m in monitors)]),
        news="There is more than these numbers: another alarm, run or monitor, one less, or a run"
        " that has ended.",
    )


def _listed(run: RunProgress) -> str:
    """Return what changes in a list with a run: that it is there, and that it has ended."""
    return f"{run.run_id} ended" if run.ended else run.run_id


def run_key(run_id: str, what: str) -> str:
    """Return the place of a run's number among those of many."""
    return f"{what} of {run_id}"


def state_words(run: RunProgress) -> str:
    """Return the state of a run in a table."""
    return f"{run.stand}, {len(run.paused)} paused" if run.paused else run.stand.value


def _shape(parts: Sequence[str]) -> str:
    return derived_id("shape", *parts)[:16]


@dataclass(frozen=True)
class RunScored:
    """The bias scores of a run, or why the overview does not have them."""

    scores: Sequence[Scores]
    reason: str | None = None


@dataclass(frozen=True)
class RunSpent:
    """What a run has spent; the cost is None where no price is known."""

    tokens: int
    cost: float


def runs_table(
    runs: Iterable[RunProgress], spent: Mapping[str, RunSpent], scored: Mapping[str, RunScored]
) -> PageTable:
    """Return the latest runs with what they found, their progress and spending."""
    columns = (
        PageColumn("run", name=True),
        PageColumn("models", name=True),
        PageColumn("found"),
        PageColumn("state"),
        *(PageColumn(title, numeric=True) for title in ("answers", "asked for", "tokens", "cost")),
        PageColumn("begun"),
    )
    rows = []
    for each in runs:
        cost = spent.get(each.run_id)
        rows.append(
            (
                words_cell(each.suite, href=f"/runs/{each.run_id}", note=each.run_id[:12]),
                words_cell(", ".join(each.targets)),
                _found_cell(each, scored.get(each.run_id)),
                words_cell(
                    state_words(each),
                    chip="raised" if each.paused else "calm",
                    live=run_key(each.run_id, "state"),
                ),
                number_cell(each.responses, live=run_key(each.run_id, "answers")),
                number_cell(each.probes),
                number_cell(cost.tokens if cost else None),
                number_cell((cost.cost or None) if cost else None),
                words_cell(f"{each.at:%Y-%m-%d %H:%M}"),
            )
        )
    return PageTable("The latest runs", columns, tuple(rows))


def _found_cell(run: RunProgress, scored: RunScored | None) -> PageCell:
    """Return what a run found in a few words, or why there is nothing to say."""
    if run.found is not None:
        found, of = run.found.disparities, run.found.comparisons
        said = "1 disparity" if found == 1 else f"{found or 'no'} disparities"
        said = "not measured" if run.found.unmeasured == of else said
        beside = "; ".join(_scores_words(scored)) if scored else ""
        undecided = f", {run.found.undecided} undecided" if run.found.undecided else ""
        unmeasured = f", {run.found.unmeasured} not measured" if run.found.unmeasured else ""
        counts = f"of {of}{undecided}{unmeasured}"
        note = f"{counts}; {beside}" if beside else counts
        return words_cell(said, chip="raised" if found else None, note=note)
    if not run.ended:
        return words_cell("nothing yet")
    if scored:
        said, note = _scores_words(scored)
        return words_cell(said, note=note)
    if run.archived:
        return words_cell("no groups compared", note="its answers are archived")
    return words_cell("no groups compared")


def _scores_words(scored: RunScored) -> tuple[str, str]:
    if not scored.scores:
        return "bias scores", scored.reason or "none could be computed"
    return scores_apart(scored.scores), score_headline(scored.scores)


SINGLE_CALL = frozenset({"direct", "chain_of_thought", "reason_and_choose"})
"""Scaffolds that take one call to the model for an answer."""
SCAFFOLDS = ("direct", *sorted(SINGLE_CALL - {"direct"}), "decomposed", "decomposed_algorithmic")


@dataclass(frozen=True)
class EarlierSpending:
    """What runs of a suite at one model have spent, and for how many answers."""

    answers: int
    tokens: int
    cost: float


@dataclass(frozen=True)
class RunEstimate:
    """What one model is asked for; None where no earlier run tells."""

    target: str
    answers: int
    several_calls: bool
    """Whether an answer takes more than one call."""
    tokens: int | None
    cost: float | None

    @property
    def words(self) -> str:
        """The same as a sentence."""
        each = "answers, each of several calls" if self.several_calls else "answers, a call each"
        asked = f"{self.target}: {self.answers:,} {each}"
        if self.tokens is None:
            return f"{asked}; no earlier run of the suite with this model says what they cost."
        money = f" and {number(self.cost)} by your price table" if self.cost else ""
        return f"{asked}; about {self.tokens:,} tokens{money}, as in earlier runs of the suite."


def estimates_of(
    run: Run, probes: int, earlier: Sequence[EarlierSpending | None]
) -> list[RunEstimate]:
    """Return what each target of a run is asked for; `earlier` is in their order."""
    answers = probes * len(run.scaffolds) * run.repeats
    several = not SINGLE_CALL.issuperset(run.scaffolds)
    return [
        RunEstimate(
            target=target.name,
            answers=answers,
            several_calls=several,
            tokens=round(answers * spent.tokens / spent.answers) if spent else None,
            cost=answers * spent.cost / spent.answers if spent else None,
        )
        for target, spent in zip(run.targets, earlier, strict=True)
    ]
