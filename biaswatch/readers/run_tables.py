"""The measured answers of a run as a table: a column for each field of a probe and each feature."""

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import nan

import numpy as np

from biaswatch.readers.tables import joined_labels, observation_warnings
from biaswatch.shared.analysis.findings.observations import Floats, Observations, Whole, within
from biaswatch.shared.errors import UsageError
from biaswatch.shared.requests.exports import AnswerMeasurements, DeclaredAnalysis
from biaswatch.shared.stats.comparisons.compared_samples import Bounds

GROUPS = "groups."
"""A group comes before another field of the same short name."""


def short_names(names: Iterable[str]) -> dict[str, str]:
    """Return each full name's short one, or the full one where the short one means another."""
    every = list(names)
    ends = Counter(_end(name) for name in every)
    short = {}
    for name in every:
        end = _end(name)
        alone = ends[end] == 1 or (name == GROUPS + end and end not in every) or name == end
        short[name] = end if alone else name
    return short


def full_name(name: str, names: Iterable[str], *, kind: str, of: str) -> str:
    """Return the full name that is meant.

    Raises
    ------
    UsageError
        None is meant, or several are; the sentence lists them.
    """
    every = list(names)
    if name in every:
        return name
    found = [full for full in every if _end(full) == name]
    if GROUPS + name in found:
        return GROUPS + name
    if not found:
        there = ", ".join(short_names(every).values()) or "none"
        raise UsageError(f"{of} has no {kind} {name!r}. There are: {there}.")
    if len(found) > 1:
        raise UsageError(f"{of} has several {kind}s {name!r}: write {' or '.join(found)}.")
    return found[0]


def _end(name: str) -> str:
    return name.partition(".")[2] or name


Labels = list[str | None]
ASKED = ("target", "scaffold")
"""Answers of different targets or scaffolds are never compared with one another."""


class RunTable:
    """Collects the measured answers of a run; of texts, each different one is kept once.

    Fields are named in full: `groups.race`, `facts.keyword`; so are features: `vader.sentiment`.
    """

    def __init__(self, declared: DeclaredAnalysis, *, of: str | None = None) -> None:
        self.declared = declared
        self.name = of or f"The run {declared.run_id}"
        """What it is a table of, as a sentence begins."""
        self.rows = 0
        self.missing: dict[str, Counter[str]] = defaultdict(Counter)
        """By extractor, why answers have no values, and of how many."""
        self._labels: dict[str, Labels] = {}
        every = [f"{each.name}.{name}" for each in declared.extractors for name in each.features]
        self._values = {name: array("d") for name in every}
        self._baselines: dict[str, array[float]] = {}
        self._texts: dict[str, str] = {}

    def add(self, answer: AnswerMeasurements) -> None:
        """Add an answer as the last row."""
        plain = answer.model_dump(include={"key", "target", "scaffold", "repeat", "unit", "set"})
        labels = {name: None if label is None else str(label) for name, label in plain.items()}
        labels |= {f"groups.{name}": label for name, label in answer.groups.items()}
        labels |= {f"facts.{name}": label for name, label in answer.facts.items()}
        for name, label in labels.items():
            column = self._labels.setdefault(name, [])
            column.extend([None] * (self.rows - len(column)))
            column.append(None if label is None else self._texts.setdefault(label, label))
        for extractor, found in answer.measured.items():
            self._add(self._values, extractor, found.values)
            self._add(self._baselines, extractor, found.baseline)
            if found.missing is not None:
                self.missing[extractor][found.missing] += 1
        self.rows += 1

    def _add(
        self, columns: dict[str, "array[float]"], extractor: str, found: Mapping[str, float | None]
    ) -> None:
        for feature, value in found.items():
            column = columns.setdefault(f"{extractor}.{feature}", array("d"))
            column.extend([nan] * (self.rows - len(column)))
            column.append(nan if value is None else value)

    @property
    def fields(self) -> list[str]:
        """The fields that answers have labels of."""
        return list(self._labels)

    @property
    def features(self) -> list[str]:
        """Every feature that was measured, or was to be, by extractor and name."""
        return sorted(self._values, key=lambda name: name.split(".", 1))

    @property
    def has_baselines(self) -> bool:
        """Whether a baseline text was measured."""
        return bool(self._baselines)

    def labels(self, field: str) -> Labels:
        """Return the label of each row, None where it has none."""
        found = self._labels.get(field, [])
        return found + [None] * (self.rows - len(found))

    def values(self, feature: str) -> Floats:
        """Return the value of each row, nan where it is missing."""
        return self._whole(self._values.get(feature))

    def baseline(self, feature: str) -> Floats:
        """Return the value of each row's baseline text, nan where there is none."""
        return self._whole(self._baselines.get(feature))

    def _whole(self, column: "array[float] | None") -> Floats:
        whole = np.full(self.rows, np.nan)
        if column is not None:
            whole[: len(column)] = column
        return whole


@dataclass(frozen=True)
class RunColumns:
    """Which fields of a run's answers are what; empty for what the run itself declares."""

    groups: Sequence[str] = ()
    features: Sequence[str] = ()
    unit: str | None = None
    domains: Sequence[str] = ()
    set: str | None = None
    targets: Sequence[str] = ()
    """Only answers of these; of all, where none is named."""
    scaffolds: Sequence[str] = ()
    ranges: Mapping[str, Bounds | None] = field(default_factory=dict)
    """By feature, without its extractor: instead of what the run declares."""


def run_observations(table: RunTable, columns: RunColumns) -> Observations:
    """Return the rows that are asked for; every target and scaffold is a domain of its own.

    Raises
    ------
    UsageError
        The run has no such field, feature, target or scaffold.
    """
    kept = _kept(table, {"target": columns.targets, "scaffold": columns.scaffolds})
    groups = _groups(table, columns.groups)
    features = measured_features(table, columns.features)
    sets = _taken(table, _field(table, columns.set or "set"), kept)
    baseline = np.column_stack([table.baseline(name)[kept] for name in features])
    own = {name: name.split(".", 1)[1] for name in features}
    declared = {**table.declared.ranges, **columns.ranges}
    ends = {name: declared[own[name]] for name in features if own[name] in declared}
    short = short_names(table.features)
    return Observations(
        features=tuple(short[name] for name in features),
        values=np.column_stack(
            [within(table.values(name)[kept], ends.get(name)) for name in features]
        ),
        ranges={short[name]: each for name, each in ends.items()},
        groups={name: _taken(table, field, kept) for name, field in groups.items()},
        units=_taken(table, _field(table, columns.unit or "unit"), kept),
        sets=sets if any(sets) else None,
        domains=_domains(table, columns.domains, kept),
        baseline=baseline if table.has_baselines else None,
    )


def _field(table: RunTable, name: str) -> str:
    return full_name(name, table.fields, kind="field", of=table.name)


def _groups(table: RunTable, named: Sequence[str]) -> dict[str, str]:
    """Return the field of each dimension, by the name it is shown by."""
    if named:
        return {name: _field(table, name) for name in named}
    strata = {f"groups.{name}" for name in table.declared.strata}
    found = sorted(
        each for each in table.fields if each.startswith("groups.") and each not in strata
    )
    if not found:
        fields = ", ".join(short_names(table.fields).values())
        raise UsageError(f"{table.name} names no group. Name a field by --group: {fields}.")
    return {field.removeprefix("groups."): field for field in found}


def measured_features(table: RunTable, named: Sequence[str]) -> list[str]:
    """Return the named features in full, or those that the run's suite has diagnosed.

    Raises
    ------
    UsageError
        The run has no such feature, or none at all.
    """
    of = table.name
    if named:
        return [full_name(name, table.features, kind="feature", of=of) for name in named]
    wanted = table.declared.features
    found = [n for n in table.features if not wanted or n.split(".", 1)[1] in wanted]
    if not found:
        raise UsageError(f"{of} has no measured feature yet.")
    return found


def _kept(table: RunTable, wanted: Mapping[str, Sequence[str]]) -> Whole:
    """Return the rows of the named targets and scaffolds."""
    keep = np.ones(table.rows, dtype=bool)
    for asked, names in wanted.items():
        labels = table.labels(asked)
        there = dict.fromkeys(label for label in labels if label is not None)
        for name in names:
            if name not in there:
                raise UsageError(
                    f"{table.name} has no {asked} {name!r}. There are: {', '.join(there)}."
                )
        if names:
            keep &= np.array([label in names for label in labels])
    return np.flatnonzero(keep)


def _taken(table: RunTable, field: str, rows: Whole) -> Labels:
    labels = table.labels(field)
    return [labels[row] for row in rows.tolist()]


def _domains(table: RunTable, named: Sequence[str], rows: Whole) -> Labels | None:
    """Return what keeps rows apart: the named fields, and what of `ASKED` differs between rows."""
    asked = {field: _taken(table, field, rows) for field in ASKED}
    apart = [labels for labels in asked.values() if len(set(labels)) > 1]
    apart += [_taken(table, _field(table, name), rows) for name in named]
    return joined_labels(apart) if apart else None


def run_warnings(table: RunTable, rows: Observations) -> list[str]:
    """Return what somebody who reads the numbers of these rows of a run should know."""
    return [*missing_answers(table), *observation_warnings(rows)]


def missing_answers(table: RunTable) -> list[str]:
    """Return how many answers of a run have no values, and why, by extractor."""
    return [
        f"{sum(reasons.values())} of {table.rows} answers have no values by {extractor}:"
        f" {', '.join(f'{count} {why}' for why, count in sorted(reasons.items()))}."
        for extractor, reasons in sorted(table.missing.items())
    ]
