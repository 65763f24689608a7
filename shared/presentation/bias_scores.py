"""Bias scores of a study: sentences, a table for pages, rows for CSV."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from biaswatch.shared.contracts import Estimate
from biaswatch.shared.formatting import UNDEFINED
from biaswatch.shared.presentation.names import ModelNames
from biaswatch.shared.presentation.tables import (
    PageCell,
    PageColumn,
    PageTable,
    csv_text,
    number_cell,
    words_cell,
)
from biaswatch.shared.requests.run_views import Scores, StudyResults

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


MOST_UNCLEAR = 10


def score_conclusions(studies: StudyResults | None) -> list[str]:
    """Return for each model and category both bias scores and accuracies, with their intervals.

    Those whose intervals lie farthest from 0 come first.
    """
    if studies is None:
        return []

    names = ModelNames.among(studies.scores)

    def title(each: Scores) -> tuple[str, str]:
        return names.of(each), each.category

    found = []
    for (model, category), each_condition in groupby(sorted(studies.scores, key=title), key=title):
        some = list(each_condition)
        by_condition = {each.condition: each for each in some}
        there = [by_condition[name] for name in CONDITIONS if name in by_condition]
        biases = (f"{percent(each.bias)} {CONDITIONS[each.condition]}" for each in there)
        accuracies = (f"{percent(each.accuracy)} %" for each in there)
        said = (
            f"{model}, {category}: bias score {', '.join(biases)}; accuracy"
            f" {' and '.join(accuracies)}{' respectively' if len(there) > 1 else ''}."
        )
        found.append((max(from_zero(each.bias) for each in some), said))
    return [said for _, said in sorted(found, key=lambda each: -each[0])]


def unclear_scores(studies: StudyResults | None) -> list[str]:
    """Return which bias scores may be 0."""
    scores = studies.scores if studies else []
    names = ModelNames.among(scores)
    return [
        f"{names.of(each)}, {each.category}, {each.condition} ({percent(each.bias)})"
        for each in scores
        if not from_zero(each.bias)
    ][:MOST_UNCLEAR]


def unread_scores(studies: StudyResults | None) -> Iterator[str]:
    """Say which answers no score counts."""
    scores = studies.scores if studies else []
    names = ModelNames.among(scores)
    for each in scores:
        counts = {
            "missing": each.missing,
            "choose no option": each.unmatched,
            "do not say who the stereotype is about": each.without_target,
        }
        if said := ", ".join(f"{count} {what}" for what, count in counts.items() if count):
            yield (
                f"{names.of(each)}, {each.category}, {each.condition}: of {each.rows} answers"
                f" {said}."
            )


def scores_csv(studies: StudyResults, run_id: str) -> str:
    """Return a row for each score, unrounded, in percent."""
    head = ("run", "target", "scaffold", "category", "condition", "score", "value", "low", "high")
    counts = ("rows", "missing", "unmatched", "without_target", "contexts")
    rows = (
        (
            *(run_id, each.target, each.scaffold, each.category, each.condition, name),
            *(score.value, score.low, score.high, score.reason),
            *(getattr(each, count) for count in counts),
        )
        for each in studies.scores
        for name, score in (("accuracy", each.accuracy), ("s_dis", each.s_dis), ("bias", each.bias))
    )
    return csv_text((*head, "reason", *counts), rows)
