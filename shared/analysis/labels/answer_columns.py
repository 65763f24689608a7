"""Answers of a run as columns for corrections by labels: cases are folded in one by one."""

from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import nan

import numpy as np

from biaswatch.shared.analysis.findings.growing_columns import NumberedNames
from biaswatch.shared.analysis.findings.measured_responses import MeasuredResponse
from biaswatch.shared.analysis.findings.observations import CodedLabels, Labels, coded
from biaswatch.shared.contracts import Label, LabelSample
from biaswatch.shared.stats.anytime.units import Hashes, hashes
from biaswatch.shared.stats.arrays import Floats
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
