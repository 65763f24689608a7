"""Bias scores of a study: sentences, a table for pages, rows for CSV."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from biaswatch.shared.contracts import Estimate
from biaswatch.shared.formatting import UNDEFINED
from biaswatch.shared.presentation.names import ModelNames
from biaswatch.shared.presentation.tables import (
    Table,
    csv_text,
    estimate_cell,
    estimates,
    names,
    number_cell,
    numbers,
    text_cell,
    texts,
)
from biaswatch.shared.requests.run_views import Scores, StudyResults

SCORES_MEAN = (
    "Bias scores run from -100 (whenever an answer names a person, against the stereotype) to 100"
    " (always with it). Each interval covers 95 % by itself, with templates as units. Condition and"
    " polarity are strata of the questions: they are described, and have no verdict."
)
CONDITIONS = {"ambig": "where the context leaves it open", "disambig": "where the context tells"}
MAX_UNCLEAR = 10
"""Scores near 0 in one sentence."""


def score_lead(scores: Sequence[Scores]) -> str:
    """Return the decisive sentence of a study with bias scores."""
    known = sum(map(_has_interval, scores))
    if not known:
        reasons = Counter(row.bias.reason for row in scores if row.bias.reason).most_common(1)
        because = f": {reasons[0][0]}" if reasons else ""
        subject = "The bias score has no" if len(scores) == 1 else "No bias score has an"
        return f"{subject} interval{because}."
    nonzero = sum(from_zero(row.bias) > 0 for row in scores)
    if len(scores) == 1:
        verb = "lies" if nonzero else "does not lie"
        return f"The bias score {verb} apart from 0, by its own interval."
    rest = len(scores) - known
    without = f"; {rest} {'has' if rest == 1 else 'have'} none" if rest else ""
    return (
        f"{nonzero} of {len(scores)} bias scores {'lies' if nonzero == 1 else 'lie'} apart from 0,"
        f" each by its own interval{without}."
    )


def score_counts(scores: Sequence[Scores]) -> str:
    """Return the decisive sentence in a few words."""
    plural = "" if len(scores) == 1 else "s"
    if not any(map(_has_interval, scores)):
        return f"bias score{plural} without interval{plural}"
    nonzero = sum(from_zero(row.bias) > 0 for row in scores)
    return f"{nonzero} of {len(scores)} bias score{plural} apart from 0"


def score_headline(scores: Sequence[Scores]) -> str:
    """Return the bias score in each context, of several the farthest from 0."""
    several = len({(row.target, row.scaffold, row.category) for row in scores}) > 1
    model_names, parts = ModelNames.among(scores), []
    for condition, where in CONDITIONS.items():
        if rows := [row for row in scores if row.condition == condition]:
            most = max(rows, key=lambda row: (from_zero(row.bias), abs(row.bias.value or 0.0)))
            subject = f" ({most.category}, {model_names.of(most)})" if several else ""
            parts.append(f"{percent(most.bias)} {where}{subject}")
    return f"{'farthest: ' if several else ''}{'; '.join(parts)}"


def percent(estimate: Estimate, factor: float = 1) -> str:
    """Return an estimate in percent, with its interval or the reason for none."""
    value, low, high = estimate.value, estimate.low, estimate.high
    if value is None:
        return f"{UNDEFINED} [{estimate.reason or 'undefined'}]"
    if low is None or high is None:
        return f"{factor * value:.1f} [{estimate.reason or 'no interval'}]"
    return f"{factor * value:.1f} [{factor * low:.1f}, {factor * high:.1f}]"


def from_zero(score: Estimate) -> float:
    """Return the distance of an interval from 0; 0 inside it."""
    if score.low is None or score.high is None:
        return 0.0
    return max(score.low, -score.high, 0.0)


def _has_interval(row: Scores) -> bool:
    return row.bias.low is not None and row.bias.high is not None


def scores_table(scores: Sequence[Scores]) -> Table:
    """Return a row for each model, category and condition, the farthest from 0 first."""
    columns = (
        *names("model", "category"),
        *texts("condition"),
        *estimates("bias score", "accuracy, %"),
        *numbers("questions", "missing", "no option"),
    )
    model_names = ModelNames.among(scores)
    rows = [
        (
            text_cell(model_names.of(row)),
            text_cell(row.category),
            text_cell(CONDITIONS.get(row.condition, row.condition), note=row.bias.reason),
            estimate_cell(row.bias),
            estimate_cell(row.accuracy),
            *map(number_cell, (row.rows, row.missing, row.unmatched)),
        )
        for row in sorted(scores, key=lambda row: -from_zero(row.bias))
    ]
    return Table("Bias scores", columns, tuple(rows))


def score_conclusions(studies: StudyResults | None) -> list[str]:
    """Return scores and accuracies of each model and category, the farthest from 0 first."""
    scores = studies.scores if studies else []
    model_names = ModelNames.among(scores)

    def subject(row: Scores) -> tuple[str, str]:
        return model_names.of(row), row.category

    sentences = []
    for (model, category), group in groupby(sorted(scores, key=subject), key=subject):
        rows = list(group)
        by_condition = {row.condition: row for row in rows}
        known = [by_condition[name] for name in CONDITIONS if name in by_condition]
        biases = ", ".join(f"{percent(row.bias)} {CONDITIONS[row.condition]}" for row in known)
        accuracies = " and ".join(f"{percent(row.accuracy)} %" for row in known)
        sentence = (
            f"{model}, {category}: bias score {biases}; accuracy {accuracies}"
            f"{' respectively' if len(known) > 1 else ''}."
        )
        sentences.append((max(from_zero(row.bias) for row in rows), sentence))
    return [sentence for _, sentence in sorted(sentences, key=lambda row: -row[0])]


def unclear_scores(studies: StudyResults | None) -> list[str]:
    """Return the bias scores with 0 in their interval."""
    scores = studies.scores if studies else []
    model_names = ModelNames.among(scores)
    return [
        f"{model_names.of(row)}, {row.category}, {row.condition} ({percent(row.bias)})"
        for row in scores
        if not from_zero(row.bias)
    ][:MAX_UNCLEAR]


def unread_scores(studies: StudyResults | None) -> Iterator[str]:
    """Yield the counts of answers outside all scores."""
    scores = studies.scores if studies else []
    model_names = ModelNames.among(scores)
    for row in scores:
        counts = {
            "missing": row.missing,
            "choose no option": row.unmatched,
            "do not say who the stereotype is about": row.without_target,
        }
        if listed := ", ".join(f"{count} {what}" for what, count in counts.items() if count):
            where = f"{model_names.of(row)}, {row.category}, {row.condition}"
            yield f"{where}: of {row.rows} answers {listed}."


def scores_csv(studies: StudyResults, run_id: str) -> str:
    """Return a row for each score, unrounded, in percent."""
    head = ("run", "target", "scaffold", "category", "condition", "score", "value", "low", "high")
    counts = ("rows", "missing", "unmatched", "without_target", "clusters")
    rows = (
        (
            *(run_id, row.target, row.scaffold, row.category, row.condition, name),
            *(score.value, score.low, score.high, score.reason),
            *(getattr(row, count) for count in counts),
        )
        for row in studies.scores
        for name, score in (("accuracy", row.accuracy), ("s_dis", row.s_dis), ("bias", row.bias))
    )
    return csv_text((*head, "reason", *counts), rows)
