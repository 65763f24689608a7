"""The answers of a run: what was read from each, what people said, and how probable that was."""

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import nan

import numpy as np
from numpy.typing import NDArray

from biaswatch.shared.analysis.findings.measured_columns import NumberedNames
from biaswatch.shared.analysis.findings.observations import (
    CodedLabels,
    Floats,
    Labels,
    MeasuredResponse,
    Whole,
    coded,
    within,
)
from biaswatch.shared.contracts import Label, LabelSample, LabelStratum
from biaswatch.shared.stats.anytime.units import Hashes, hashes
from biaswatch.shared.stats.comparisons.compared_samples import Bounds
from biaswatch.shared.stats.labels.corrected_values import DrawnLabels
from biaswatch.shared.stats.samples import chunks

Case = tuple[str, MeasuredResponse]
"""The id of a response, and what was measured of it."""
Key = tuple[str, str, str]
"""Extractor, target and scaffold."""
HASHED_TOGETHER = 4096


@dataclass(frozen=True)
class AnswerColumns:
    """The answers to one target and scaffold, as one instrument read them: a row each."""

    extractor: str
    target: str
    scaffold: str
    readings: Mapping[str, Floats]
    """By feature that labels are given for, [rows]; nan is missing."""
    units: Labels
    sets: Labels | None
    groups: Mapping[str, Labels]
    """By dimension, in their order."""
    row_of: Mapping[str, int]
    """By the ids of the answers that were drawn or labelled."""
    id_hashes: Hashes
    """[rows]: 64 bits of the id of each, until the pairs of a round are counted."""

    def without_ids(self) -> "AnswerColumns":
        """Return the same columns without the ids of answers, which take as much as readings."""
        return replace(self, id_hashes=np.empty(0, dtype=np.uint64))


def fold_answers(
    cases: Iterable[Case],
    samples: Sequence[LabelSample],
    labels: Sequence[Label],
    *,
    many_units: bool = False,
) -> list[AnswerColumns]:
    """Return the answers of a run as the sampled instruments read them, sorted by their keys.

    Parameters
    ----------
    many_units
        Hash the names of units to 64 bits, without keeping them (two of 5 million collide
        with a chance of 1 in a million).
    """
    features: dict[str, set[str]] = defaultdict(set)
    for sample in samples:
        features[sample.extractor].add(sample.feature)
    looked_up = {answer.response_id for sample in samples for answer in sample.drawn}
    looked_up |= {label.response_id for label in labels}
    folded: dict[Key, _FoldedCases] = {}
    for id_, case in cases:
        if case.extractor in features:
            key = case.extractor, case.target, case.scaffold
            if key not in folded:
                folded[key] = _FoldedCases(sorted(features[case.extractor]), named=not many_units)
            folded[key].add(id_, case, looked_up=id_ in looked_up)
    return [folded.pop(key).columns(key) for key in sorted(folded)]


class _FoldedCases:
    """Columns that grow."""

    def __init__(self, features: Sequence[str], *, named: bool) -> None:
        self._readings = {feature: array("d") for feature in features}
        self._units: _NameColumn | _HashedNames = _NameColumn() if named else _HashedNames()
        self._sets = _NameColumn()
        self._ids = _HashedNames()
        self._groups: dict[tuple[tuple[str, str], ...], int] = {}
        self._groups_of = array("i")
        self._row_of: dict[str, int] = {}

    def add(self, id_: str, case: MeasuredResponse, *, looked_up: bool) -> None:
        if looked_up:
            self._row_of[id_] = len(self._groups_of)
        for feature, column in self._readings.items():
            value = case.values.get(feature)
            column.append(nan if value is None else value)
        self._units.add(case.unit)
        self._sets.add(case.set)
        self._ids.add(id_)
        groups = tuple(case.groups.items())
        self._groups_of.append(self._groups.setdefault(groups, len(self._groups)))

    def columns(self, key: Key) -> AnswerColumns:
        return AnswerColumns(
            *key,
            readings={name: np.frombuffer(column) for name, column in self._readings.items()},
            units=self._units.labels(),
            sets=self._sets.labels() if self._sets.any_named else None,
            groups=self._by_dimension(),
            row_of=self._row_of,
            id_hashes=self._ids.hashes(),
        )

    def _by_dimension(self) -> dict[str, Labels]:
        known = [dict(group) for group in self._groups]
        groups_of = np.frombuffer(self._groups_of, dtype=np.int32)
        columns: dict[str, Labels] = {}
        for dimension in sorted({name for groups in known for name in groups}):
            codes, levels = coded([groups.get(dimension) for groups in known])
            small = np.min_scalar_type(-len(levels) - 1)
            of_groups, of_rows = codes.astype(small), np.empty(len(groups_of), small)
            for chunk in chunks(len(groups_of)):
                of_rows[chunk] = of_groups[groups_of[chunk]]
            columns[dimension] = CodedLabels(of_rows, levels)
        return columns


class _NameColumn:
    """Names by their places in the order of all, -1 for none."""

    def __init__(self) -> None:
        self._names = NumberedNames()
        self._of = array("i")
        self._unnamed = 0
        """Before the first name: a window has no sets, and needs no column of none."""

    @property
    def any_named(self) -> bool:
        return self._names.any_named

    def add(self, name: str | None) -> None:
        if name is None and not self._names:
            self._unnamed += 1
            return
        if not self._names:
            self._of = array("i", [-1]) * self._unnamed
        self._of.append(self._names.number_of(name))

    def labels(self) -> CodedLabels:
        levels, ranks = self._names.ranked()
        return CodedLabels(ranks[np.frombuffer(self._of, dtype=np.int32)], levels)


class _HashedNames:
    """64 bits of each name."""

    def __init__(self) -> None:
        self._hashes = array("Q")
        self._new: list[str] = []

    def add(self, name: str) -> None:
        self._new.append(name)
        if len(self._new) == HASHED_TOGETHER:
            self._hash()

    def hashes(self) -> Hashes:
        self._hash()
        return np.frombuffer(self._hashes, dtype=np.uint64)

    def labels(self) -> CodedLabels:
        """Return the ranks of the hashes, which take half of their memory."""
        known = self.hashes()
        order = np.argsort(known)
        ranks, last, rank = np.empty(len(known), dtype=np.int32), None, -1
        for chunk in chunks(len(known)):
            ordered = known[order[chunk]]
            new = np.ones(len(ordered), dtype=np.bool_)
            np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
            new[0] = last is None or ordered[0] != last
            ranks[order[chunk]] = rank + np.cumsum(new)
            last, rank = ordered[-1], rank + int(new.sum())
        return CodedLabels(ranks, ())

    def _hash(self) -> None:
        self._hashes.frombytes(hashes(self._new).tobytes())
        self._new.clear()


Bools = NDArray[np.bool_]

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
