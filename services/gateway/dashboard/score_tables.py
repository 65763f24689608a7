"""Bias scores of a study: the decisive sentence, what the scores mean, and a table."""

from collections.abc import Sequence

from services.gateway.dashboard.page_tables import (
    PageCell,
    PageColumn,
    PageTable,
    number_cell,
    words_cell,
)
from services.gateway.runs.views import Scores
from shared.contracts import Estimate

SCORES_MEAN = (
    "Bias scores run from -100 (whenever an answer names a person, against the stereotype) to 100"
    " (always with it). Each interval covers 95 % by itself, with contexts as units. Condition and"
    " polarity are strata of the questions: they are described, and no verdict is given of them."
)
CONDITIONS = {"ambig": "where the context leaves it open", "disambig": "where the context tells"}


def score_lead(scores: Sequence[Scores]) -> str:
    """Return the decisive sentence of a study that has bias scores."""
    apart = sum(from_zero(each.bias) > 0 for each in scores)
    verb = "lies" if apart == 1 else "lie"
    if len(scores) == 1:
        verb = "lies" if apart else "does not lie"
        return f"The bias score {verb} apart from 0, by its own interval."
    return f"{apart} of {len(scores)} bias scores {verb} apart from 0, each by its own interval."


def from_zero(score: Estimate) -> float:
    """Return how far an interval lies from 0; one that holds 0, or none, counts as 0."""
    if score.low is None or score.high is None:
        return 0.0
    return max(score.low, -score.high, 0.0)


def scores_table(scores: Sequence[Scores]) -> PageTable:
    """Return a row for each model, category and condition, what lies farthest from 0 first."""
    numeric = (
        *("bias score", "from", "to", "accuracy, %", "from", "to"),
        *("questions", "missing", "no option"),
    )
    columns = (
        *(PageColumn(title, name=True) for title in ("model", "category")),
        PageColumn("condition"),
        *(PageColumn(title, numeric=True) for title in numeric),
    )
    ordered = sorted(scores, key=lambda each: -from_zero(each.bias))
    return PageTable("Bias scores", columns, tuple(map(_row, ordered)))


def _row(each: Scores) -> tuple[PageCell, ...]:
    asked = "" if each.scaffold == "direct" else f", {each.scaffold.replace('_', ' ')}"
    ends = [end for found in (each.bias, each.accuracy) for end in _ends(found)]
    return (
        words_cell(f"{each.target}{asked}"),
        words_cell(each.category),
        words_cell(CONDITIONS.get(each.condition, each.condition), note=each.bias.reason),
        *map(number_cell, ends),
        *map(number_cell, (each.rows, each.missing, each.unmatched)),
    )


def _ends(found: Estimate) -> tuple[float | None, ...]:
    return found.value, found.low, found.high
