"""Answers of models as measured values: of a suite's feature, or of a judge of long texts."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from biaswatch.exporting.judged_twins import CRITERIA, judged_pairs
from biaswatch.exporting.twin_answers import AnswersBySet, TwinAnswers, twin_answers
from biaswatch.readers.contexts import CONTEXT
from biaswatch.shared.analysis.validity import MeasuredAnswer
from biaswatch.shared.contracts import Suite

CHOSEN = "choice.chosen"
OF_MODEL = "|"
"""Separates the model's number from the set in the sets of a judge's suite."""
Row = Mapping[str, Any]


def measured_answers(rows: Iterable[Row], feature: str, dimension: str) -> Iterator[MeasuredAnswer]:
    """Yield the answers that have a group of the dimension and a value of the feature."""
    for row in rows:
        columns = [name for name in row if name.partition(".")[2] == feature]
        value = row[columns[0]] if columns else None
        if value is not None and row.get("set") and (group := row.get(f"groups.{dimension}")):
            wording = row.get(f"facts.{CONTEXT}", "")
            yield MeasuredAnswer(
                row["target"], row["set"], group, float(value), row["repeat"], wording
            )


def judged_long_texts(rows: Sequence[Row], dimension: str, criterion: str) -> Suite:
    """Return the suite that compares the long texts of each model's twins, in both orders."""
    sets: AnswersBySet = {}
    for number, model in enumerate(models_of(rows)):
        twins = twin_answers((("answers", row) for row in rows), dimension, model)
        sets |= {f"{number}{OF_MODEL}{name}": groups for name, groups in twins.sets.items()}
    return judged_pairs(TwinAnswers(sets, len(rows)), dimension, {criterion: CRITERIA[criterion]})


def models_of(rows: Iterable[Row]) -> list[str]:
    """Return the names of the models in order."""
    return sorted({row["target"] for row in rows})


def judged_values(
    rows: Iterable[Row], models: Sequence[str], dimension: str
) -> Iterator[MeasuredAnswer]:
    """Yield a judge's choices as values of the models whose texts it compared."""
    for answer in measured_answers(rows, CHOSEN.partition(".")[2], dimension):
        number, _, set_name = answer.set.partition(OF_MODEL)
        yield MeasuredAnswer(models[int(number)], set_name, answer.group, answer.value)
