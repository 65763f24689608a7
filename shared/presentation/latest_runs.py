"""The latest runs on the overview: what each found in a few words, how far it is, what it spent."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from biaswatch.shared.presentation.live_numbers import run_key, state_words
from biaswatch.shared.presentation.page_tables import (
    PageCell,
    PageColumn,
    PageTable,
    number_cell,
    words_cell,
)
from biaswatch.shared.presentation.score_tables import score_headline, scores_apart
from biaswatch.shared.requests.run_views import RunProgress, Scores


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
