"""The measured answers of a run as a table, with a column per field and per feature."""

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from math import nan

import numpy as np

from biaswatch.shared.errors import UsageError
from biaswatch.shared.requests.exports import AnswerMeasurements, DeclaredAnalysis
from biaswatch.shared.stats.arrays import Floats

FIRST = ("groups.", "stimuli.")
"""Prefixes of dimensions and stimuli, which take precedence over other fields of one name."""


def short_names(names: Iterable[str]) -> dict[str, str]:
    """Map each full name to its short name, or to itself where that is ambiguous."""
    full_names = list(names)
    ends = Counter(_end(name) for name in full_names)
    short = {}
    for name in full_names:
        end = _end(name)
        first = next((kind + end for kind in FIRST if kind + end in full_names), None)
        unique = ends[end] == 1 or (name == first and end not in full_names) or name == end
        short[name] = end if unique else name
    return short


def full_name(name: str, names: Iterable[str], *, kind: str, of: str) -> str:
    """Return the full name of a full or short name.

    Raises
    ------
    UsageError
        No name matches, or several do; the message lists them.
    """
    full_names = list(names)
    if name in full_names:
        return name
    matches = [full for full in full_names if _end(full) == name]
    if first := [prefix + name for prefix in FIRST if prefix + name in matches]:
        return first[0]
    if not matches:
        known = ", ".join(short_names(full_names).values()) or "none"
        raise UsageError(f"{of} has no {kind} {name!r}. Known {kind}s: {known}.")
    if len(matches) > 1:
        raise UsageError(f"{of} has several {kind}s {name!r}: write {' or '.join(matches)}.")
    return matches[0]


def _end(name: str) -> str:
    return name.partition(".")[2] or name


Labels = list[str | None]


class RunTable:
    """Collect the measured answers of a run; equal texts are stored once.

    Fields are named in full: `groups.race`, `facts.keyword`; so are features: `vader.sentiment`.
    """

    def __init__(self, declared: DeclaredAnalysis, *, of: str | None = None) -> None:
        self.declared = declared
        self.name = of or f"The run {declared.run_id}"
        """The subject of messages about this table."""
        self.rows = 0
        self.missing: dict[str, Counter[str]] = defaultdict(Counter)
        """Number of answers without values, by extractor and reason."""
        self._labels: dict[str, Labels] = {}
        features = [
            f"{extractor.name}.{name}"
            for extractor in declared.extractors
            for name in extractor.features
        ]
        self._values = {name: array("d") for name in features}
        self._baselines: dict[str, array[float]] = {}
        self._truth = array("d")
        self._texts: dict[str, str] = {}

    def add(self, answer: AnswerMeasurements) -> None:
        """Add an answer as the last row."""
        plain = answer.model_dump(include={"key", "target", "scaffold", "repeat", "unit", "set"})
        labels = {name: None if label is None else str(label) for name, label in plain.items()}
        labels |= {f"groups.{name}": label for name, label in answer.groups.items()}
        labels |= {f"stimuli.{name}": label for name, label in answer.stimuli.items()}
        labels |= {f"facts.{name}": label for name, label in answer.facts.items()}
        for name, label in labels.items():
            column = self._labels.setdefault(name, [])
            column.extend([None] * (self.rows - len(column)))
            column.append(None if label is None else self._texts.setdefault(label, label))
        self._truth.append(nan if answer.truth is None else answer.truth)
        for extractor, measurement in answer.measured.items():
            self._add(self._values, extractor, measurement.values)
            self._add(self._baselines, extractor, measurement.baseline)
            if measurement.missing is not None:
                self.missing[extractor][measurement.missing] += 1
        self.rows += 1

    def _add(
        self, columns: dict[str, "array[float]"], extractor: str, values: Mapping[str, float | None]
    ) -> None:
        for feature, value in values.items():
            column = columns.setdefault(f"{extractor}.{feature}", array("d"))
            column.extend([nan] * (self.rows - len(column)))
            column.append(nan if value is None else value)

    @property
    def fields(self) -> list[str]:
        """Names of the fields of answers."""
        return list(self._labels)

    @property
    def features(self) -> list[str]:
        """Names of the measured and the declared features, sorted by extractor and name."""
        return sorted(self._values, key=lambda name: name.split(".", 1))

    @property
    def has_baselines(self) -> bool:
        """True if a baseline text was measured."""
        return bool(self._baselines)

    def labels(self, field: str) -> Labels:
        """Return the label of each row, or None."""
        labels = self._labels.get(field, [])
        return labels + [None] * (self.rows - len(labels))

    def values(self, feature: str) -> Floats:
        """Return the value of each row, nan for missing values."""
        return self._whole(self._values.get(feature))

    def baseline(self, feature: str) -> Floats:
        """Return the value of each row's baseline text, nan for missing values."""
        return self._whole(self._baselines.get(feature))

    @property
    def truth(self) -> Floats:
        """[rows]: the expected answers that are numbers, nan for others."""
        return np.array(self._truth)

    def _whole(self, column: "array[float] | None") -> Floats:
        whole = np.full(self.rows, np.nan)
        if column is not None:
            whole[: len(column)] = column
        return whole


def missing_answers(table: RunTable) -> list[str]:
    """Return sentences with the number of answers without values, by extractor and reason."""
    return [
        f"{sum(reasons.values())} of {table.rows} answers have no values by {extractor}:"
        f" {', '.join(f'{count} {why}' for why, count in sorted(reasons.items()))}."
        for extractor, reasons in sorted(table.missing.items())
    ]
