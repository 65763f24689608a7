"""Bias scores of a study in sentences and as CSV: what lies apart from 0, and what may be 0."""

from collections.abc import Iterator
from itertools import groupby

from biaswatch.shared.presentation.model_names import ModelNames
from biaswatch.shared.presentation.page_tables import csv_text
from biaswatch.shared.presentation.score_tables import CONDITIONS, from_zero, percent
from biaswatch.shared.requests.run_views import Scores, StudyResults

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
