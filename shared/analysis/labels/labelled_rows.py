"""Labelled answers of a run: readings, labels, and the probability of each label."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from biaswatch.shared.analysis.findings.observations import Whole, coded, within
from biaswatch.shared.analysis.labels.answer_columns import AnswerColumns
from biaswatch.shared.contracts import Label, LabelSample, LabelStratum
from biaswatch.shared.stats.arrays import Bools, Floats
from biaswatch.shared.stats.comparisons.compared_samples import Bounds
from biaswatch.shared.stats.labels.corrected_values import DrawnLabels
from biaswatch.shared.stats.samples import chunks

Stratum = tuple[str, str, str]
"""Target, scaffold and group."""


@dataclass(frozen=True)
class LabelledRows:
    """One row for each answer to one target and scaffold; few of them were drawn and labelled."""

    answers: AnswerColumns
    feature: str
    scale: Bounds
    """A reading beyond it is missing."""
    drawn: DrawnLabels
    """The mean of what people said of drawn answers, and how probable labels were."""
    threshold: float | None = None
    """From which value on readings and labels are 1, and 0 below; None: they are as they are."""

    def selected(self, threshold: float) -> "LabelledRows":
        """Return the rows with 1 for a reading, or a label, from the threshold on, and 0 below."""
        drawn = replace(self.drawn, labels=_at_least(self.drawn.labels, threshold))
        return replace(self, threshold=threshold, drawn=drawn)

    @property
    def readings(self) -> Floats:
        """[rows], what was read from each answer; nan is missing."""
        return within(self.answers.readings[self.feature], self.scale)

    @cached_property
    def present(self) -> Bools:
        """[rows], whether the answer has a reading."""
        present = np.empty(len(self.answers.readings[self.feature]), dtype=np.bool_)
        for chunk in chunks(len(present)):
            present[chunk] = np.isfinite(
                within(self.answers.readings[self.feature][chunk], self.scale)
            )
        return present

    @cached_property
    def yes_or_no(self) -> bool:
        """True if every reading is at an end of the scale."""
        of = self.answers.readings[self.feature]
        return all(
            np.isin(of[chunk][self.present[chunk]], self.scale).all() for chunk in chunks(len(of))
        )

    def read(self, rows: Whole | Bools) -> Floats:
        """Return the readings of some rows; nan is missing."""
        values = within(self.answers.readings[self.feature][rows], self.scale)
        return values if self.threshold is None else _at_least(values, self.threshold)


def _at_least(values: Floats, threshold: float) -> Floats:
    return np.where(np.isfinite(values), values >= threshold, np.nan)


def labels_by_answer(labels: Sequence[Label]) -> dict[str, dict[str, float]]:
    """Return, by answer, what each person said; who could not tell said nothing."""
    values: dict[str, dict[str, float]] = defaultdict(dict)
    for label in labels:
        if label.value is not None:
            values[label.response_id][label.person_id] = label.value
    return values


def labelled_rows(
    answers: AnswerColumns, sample: LabelSample, values_by_answer: Mapping[str, Mapping[str, float]]
) -> LabelledRows:
    """Return the rows of the answers to one target and scaffold, as one instrument read them.

    A drawn answer without a label is taken as left out by chance within its
    stratum: the probability of its neighbours is the smaller for it.
    """
    ids = {answer.response_id for answer in sample.drawn}
    means = {
        id_: float(np.mean(list(values.values())))
        for id_, values in values_by_answer.items()
        if id_ in ids and values
    }
    drawn = _drawn_labels(answers, sample, means)
    return LabelledRows(answers, sample.feature, (sample.low, sample.high), drawn)


def _drawn_labels(
    answers: AnswerColumns, sample: LabelSample, means: Mapping[str, float]
) -> DrawnLabels:
    """Return the labels of drawn answers, and the probability of each to be labelled."""
    here = [answer for answer in sample.drawn if answer.response_id in answers.row_of]
    here.sort(key=lambda answer: answers.row_of[answer.response_id])
    rows = np.array([answers.row_of[answer.response_id] for answer in here], dtype=np.intp)
    codes, levels = _strata(answers, sample.dimension)
    strata = {_key(stratum): number for number, stratum in enumerate(sample.strata)}
    shares = _labelled_shares(sample, means)
    # By level; the last one is that of answers without a group.
    shares_of, least = np.full(len(levels) + 1, np.nan), np.full(len(levels) + 1, np.nan)
    for code, level in enumerate(levels):
        number = strata.get((answers.target, answers.scaffold, level))
        if number is not None and shares[number]:
            shares_of[code], least[code] = shares[number], sample.strata[number].least_probability
    probabilities = np.array([answer.probability for answer in here], dtype=np.float64)
    labels = [means.get(answer.response_id, np.nan) for answer in here]
    return DrawnLabels(
        rows=rows,
        labels=np.array(labels, dtype=np.float64),
        probabilities=np.minimum(1.0, probabilities * shares_of[codes[rows]]),
        strata=codes,
        undrawn=np.minimum(1.0, least * shares_of),
    )


def _strata(answers: AnswerColumns, dimension: str) -> tuple[Whole, tuple[str, ...]]:
    if dimension in answers.groups:
        return coded(answers.groups[dimension])
    return np.broadcast_to(np.intp(-1), len(answers.units)), ()


def _labelled_shares(sample: LabelSample, means: Mapping[str, float]) -> list[float]:
    """Return, by stratum, which share of the drawn answers was labelled."""
    labelled = Counter(answer.stratum for answer in sample.drawn if answer.response_id in means)
    return [
        labelled[number] / stratum.drawn if stratum.drawn else 0.0
        for number, stratum in enumerate(sample.strata)
    ]


def _key(stratum: LabelStratum) -> Stratum:
    return stratum.target, stratum.scaffold, stratum.group
