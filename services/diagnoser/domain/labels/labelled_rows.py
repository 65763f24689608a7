"""The answers of a run: what was read from each, what people said, and how probable that was."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from services.diagnoser.domain.findings.observations import Floats, coded, within
from services.diagnoser.domain.labels.answer_columns import AnswerColumns
from shared.contracts import DrawnAnswer, Label, LabelSample, LabelStratum

Stratum = tuple[str, str, str]
"""Target, scaffold and group."""


@dataclass(frozen=True)
class LabelledRows:
    """One row for each answer to one target and scaffold; nan is missing."""

    answers: AnswerColumns
    readings: Floats
    labels: Floats
    """The mean of what people said."""
    probabilities: Floats
    """Of being labelled; nan for answers that were not among those drawn from."""
    drawn: np.ndarray
    """[rows], whether the answer was drawn."""

    def selected(self, threshold: float) -> "LabelledRows":
        """Return the rows with 1 for a reading, or a label, from the threshold on, and 0 below."""
        readings, labels = (
            np.where(np.isfinite(values), values >= threshold, np.nan)
            for values in (self.readings, self.labels)
        )
        return replace(self, readings=readings, labels=labels)


def labels_by_answer(labels: Sequence[Label]) -> dict[str, dict[str, float]]:
    """Return, by answer, what each person said; who could not tell said nothing."""
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for each in labels:
        if each.value is not None:
            found[each.response_id][each.person_id] = each.value
    return found


def labelled_rows(
    answers: AnswerColumns, sample: LabelSample, said: Mapping[str, Mapping[str, float]]
) -> LabelledRows:
    """Return the rows of the answers to one target and scaffold, as one instrument read them.

    A drawn answer that nobody has labelled yet, or could, is taken as left out by chance within its
    stratum: the probability of its neighbours is the smaller for it.
    """
    readings = within(answers.readings[sample.feature], (sample.low, sample.high))
    drawn = [each for each in sample.drawn if each.response_id in answers.row_of]
    rows = [answers.row_of[each.response_id] for each in drawn]
    ids = {each.response_id for each in sample.drawn}
    means = {
        id_: float(np.mean(list(values.values())))
        for id_, values in said.items()
        if id_ in ids and values
    }
    labels, is_drawn = np.full(len(readings), np.nan), np.zeros(len(readings), dtype=np.bool_)
    labels[rows] = [means.get(each.response_id, np.nan) for each in drawn]
    is_drawn[rows] = True
    shares = _labelled_shares(sample, means)
    probabilities = _probabilities(answers, sample, shares, dict(zip(rows, drawn, strict=True)))
    return LabelledRows(answers, readings, labels, probabilities, is_drawn)


def _probabilities(
    answers: AnswerColumns,
    sample: LabelSample,
    shares: Sequence[float],
    drawn: Mapping[int, DrawnAnswer],
) -> Floats:
    """Return how probable each answer was to be labelled; `drawn` are those drawn, by rows."""
    found = np.full(len(answers.id_hashes), np.nan)
    if sample.dimension not in answers.groups:
        return found
    strata = {_key(each): number for number, each in enumerate(sample.strata)}
    codes, levels = coded(answers.groups[sample.dimension])
    numbers = [strata.get((answers.target, answers.scaffold, level)) for level in levels]
    for code, number in enumerate(numbers):
        if number is not None and shares[number]:
            least = sample.strata[number].least_probability
            found[codes == code] = min(1.0, least * shares[number])
    for row, each in drawn.items():
        number = numbers[codes[row]] if codes[row] >= 0 else None
        if number is not None and shares[number]:
            found[row] = min(1.0, each.probability * shares[number])
    return found


def _labelled_shares(sample: LabelSample, means: Mapping[str, float]) -> list[float]:
    """Return, by stratum, which share of the drawn answers was labelled."""
    labelled = Counter(each.stratum for each in sample.drawn if each.response_id in means)
    return [
        labelled[number] / each.drawn if each.drawn else 0.0
        for number, each in enumerate(sample.strata)
    ]


def _key(stratum: LabelStratum) -> Stratum:
    return stratum.target, stratum.scaffold, stratum.group
