"""Bias scores of a study: the decisive sentence, what the scores mean, and a table."""

from collections import Counter
from collections.abc import Sequence

from biaswatch.shared.contracts import Estimate
from biaswatch.shared.formatting import UNDEFINED
from biaswatch.shared.presentation.model_names import ModelNames
from biaswatch.shared.presentation.page_tables import (
    PageCell,
    PageColumn,
    PageTable,
    number_cell,
    words_cell,
)
from biaswatch.shared.requests.run_views import Scores

SCORES_MEAN = (
    "Bias scores run from -100 (whenever an answer names a person, against the stereotype) to 100"
    " (always with it). Each interval covers 95 % by itself, with contexts as units. Condition and"
    " polarity are strata of the questions: they are described, and no verdict is given of them."
)
CONDITIONS = {"ambig": "where the context leaves it open", "disambig": "where the context tells"}


def score_lead(scores: Sequence[Scores]) -> str:
    """Return the decisive sentence of a study that has bias scores."""
    told = sum(_has_interval(each) for each in scores)
    if not told:
        why = Counter(each.bias.reason for each in scores if each.bias.reason).most_common(1)
        because = f": {why[0][0]}" if why else ""
        which = "The bias score has no" if len(scores) == 1 else "No bias score has an"
        return f"{which} interval{because}."
    apart = sum(from_zero(each.bias) > 0 for each in scores)
    verb = "lies" if apart == 1 else "lie"
    if len(scores) == 1:
        verb = "lies" if apart else "does not lie"
        return f"The bias score {verb} apart from 0, by its own interval."
    rest = len(scores) - told
    without = f"; {rest} {'has' if rest == 1 else 'have'} none" if rest else ""
    return (
        f"{apart} of {len(scores)} bias scores {verb} apart from 0, each by its own"
        f" interval{without}."
    )


def scores_apart(scores: Sequence[Scores]) -> str:
    """Return the same in a few words, for a table."""
    if not any(map(_has_interval, scores)):
        return "bias score without interval" if len(scores) == 1 else "bias scores, no intervals"
    apart = sum(from_zero(each.bias) > 0 for each in scores)
    return f"{apart} of {len(scores)} bias score{'' if len(scores) == 1 else 's'} apart from 0"


def score_headline(scores: Sequence[Scores]) -> str:
    """Return the bias score by context; of several models or categories the farthest from 0."""
    several = len({(each.target, each.scaffold, each.category) for each in scores}) > 1
    names, said = ModelNames.among(scores), []
    for name, where in CONDITIONS.items():
        if some := [each for each in scores if each.condition == name]:
            most = max(some, key=lambda each: (from_zero(each.bias), abs(each.bias.value or 0.0)))
            whose = f" ({most.category}, {names.of(most)})" if several else ""
            said.append(f"{percent(most.bias)} {where}{whose}")
    return f"{'farthest: ' if several else ''}{'; '.join(said)}"


def percent(estimate: Estimate, times: float = 1) -> str:
    """Return an estimate in percent, to one decimal, with its interval or why it has none."""
    value, low, high = estimate.value, estimate.low, estimate.high
    if value is None:
        return f"{UNDEFINED} [{estimate.reason or 'undefined'}]"
    if low is None or high is None:
        return f"{times * value:.1f} [{estimate.reason or 'no interval'}]"
    return f"{times * value:.1f} [{times * low:.1f}, {times * high:.1f}]"


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
    ordered, names = (
        sorted(scores, key=lambda each: -from_zero(each.bias)),
        ModelNames.among(scores),
    )
    return PageTable("Bias scores", columns, tuple(_row(each, names) for each in ordered))


def _row(each: Scores, names: ModelNames) -> tuple[PageCell, ...]:
    ends = [end for found in (each.bias, each.accuracy) for end in _ends(found)]
    return (
        words_cell(names.of(each)),
        words_cell(each.category),
        words_cell(CONDITIONS.get(each.condition, each.condition), note=each.bias.reason),
        *map(number_cell, ends),
        *map(number_cell, (each.rows, each.missing, each.unmatched)),
    )


def _has_interval(each: Scores) -> bool:
    return each.bias.low is not None and each.bias.high is not None


def _ends(found: Estimate) -> tuple[float | None, ...]:
    return found.value, found.low, found.high
