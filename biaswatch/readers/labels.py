"""Labels by people: columns of a table with labels and sampling probabilities, and label files."""

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from biaswatch.readers.numeric_columns import numbers_in
from biaswatch.readers.tables import TableColumns
from biaswatch.readers.text_tables import not_utf8, other_separator
from biaswatch.shared.analysis.findings.observations import Observations
from biaswatch.shared.analysis.labels.table_corrections import LabelledColumn, readings_of
from biaswatch.shared.conventions.messages import label_of
from biaswatch.shared.errors import UsageError
from biaswatch.shared.stats.arrays import Floats
from biaswatch.shared.stats.comparisons.compared_samples import Bounds

UNIT_SCALE = (0.0, 1.0)


def named_labels(
    arguments: Sequence[str], features: Sequence[str], truth: str | None = None
) -> dict[str, tuple[str, ...]]:
    """Return the label columns of each feature and of the truth, one column per person.

    With one feature `rude_by_anna` is enough; with several write `rude=rude_by_anna`.

    Raises
    ------
    UsageError
        There are several features, and an argument names none of them.
    """
    columns: dict[str, tuple[str, ...]] = {}
    for argument in arguments:
        feature, _, column = argument.partition("=")
        if (feature not in features and feature != truth) or not column:
            if len(features) != 1:
                raise UsageError(
                    f"Name the feature that the labels {argument!r} belong to, as in"
                    f" {features[0] if features else 'FEATURE'}={argument}."
                )
            feature, column = features[0], argument
        columns[feature] = (*columns.get(feature, ()), column)
    return columns


def labelled_columns(
    frame: pd.DataFrame, columns: TableColumns, seen: Observations, source: Path | str
) -> list[LabelledColumn]:
    """Return the label columns of a frame, by feature.

    Raises
    ------
    UsageError
        A value is not a number or lies outside its scale, or the scale is unknown.
    """
    chances = None if columns.probability is None else _chances(frame, columns.probability, source)
    labelled_features = []
    for feature, names in columns.labels.items():
        labels = np.column_stack([_finite(numbers_in(source, frame, name)) for name in names])
        of_truth = feature == columns.truth and feature not in columns.features
        column = LabelledColumn(
            feature, labels, UNIT_SCALE, chances, seen.truth if of_truth else None
        )
        read = readings_of(seen, column)
        bounds = _scale(feature, read, labels, columns.ranges)
        for place, name in enumerate(names):
            _check(labels[:, place], bounds, f"{source}, column {name}", feature)
        has_label = np.isfinite(labels).any(axis=1)
        if chances is not None and (unknown := has_label & ~np.isfinite(chances)).any():
            row = int(np.flatnonzero(unknown)[0])
            raise UsageError(
                f"{source}, row {row + 1}: it has a label of {feature} but no number in"
                f" {columns.probability}."
            )
        labelled_features.append(replace(column, bounds=bounds))
    return labelled_features


def label_warnings(columns: Sequence[LabelledColumn], seen: Observations) -> list[str]:
    """Return warnings about labels without a value and crossings without a label."""
    warnings = []
    for column in columns:
        labelled = np.isfinite(column.labels).any(axis=1)
        read = np.isfinite(readings_of(seen, column))
        if lost := int((labelled & ~read).sum()):
            warnings.append(f"{lost} labels of {column.feature} are in rows without its value.")
        cells = list(zip(*seen.groups.values(), strict=True)) if seen.groups else []
        known = {cell for cell, both in zip(cells, labelled & read, strict=True) if both}
        without = sum(
            has_value and cell not in known for cell, has_value in zip(cells, read, strict=True)
        )
        if known and without:
            warnings.append(
                f"{without} rows belong to crossings of groups without a labelled row; the"
                f" corrected gaps of {column.feature} exclude them."
            )
    return warnings


def _scale(
    feature: str, read: Floats, labels: Floats, ranges: Mapping[str, Bounds | None]
) -> Bounds:
    if declared := ranges.get(feature):
        return declared
    present = np.concatenate([read[np.isfinite(read)], labels[np.isfinite(labels)]])
    if np.isin(present, UNIT_SCALE).all():
        return UNIT_SCALE
    raise UsageError(
        f"Correcting {feature} by labels needs its scale: declare the smallest and the largest"
        f" value, as in {feature}=1:5 (--range; in Python ranges={{...}})."
    )


def _check(values: Floats, bounds: Bounds, where: str, feature: str) -> None:
    outside = np.isfinite(values) & ((values < bounds[0]) | (values > bounds[1]))
    if outside.any():
        row = int(np.flatnonzero(outside)[0])
        raise UsageError(
            f"{where}, row {row + 1}: the label {values[row]:g} lies outside the scale of"
            f" {feature}, {bounds[0]:g} to {bounds[1]:g}."
        )


def _chances(frame: pd.DataFrame, name: str, source: Path | str) -> Floats:
    chances = _finite(numbers_in(source, frame, name))
    wrong = np.isfinite(chances) & ((chances <= 0) | (chances > 1))
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise UsageError(
            f"{source}, row {row + 1}, column {name}: a sampling probability must be above 0 and at"
            f" most 1, not {chances[row]:g}."
        )
    return chances


def _finite(values: Floats) -> Floats:
    return np.where(np.isfinite(values), values, np.nan)


LabelFields = dict[str, Any]
"""A label as the gateway accepts it."""
ANSWER, *LABEL_FIELDS = "response_id", "value", "person", "note"
VALUE, PERSON, NOTE = LABEL_FIELDS


def labels_in(path: Path) -> list[LabelFields]:
    """Read labels from CSV, JSON or JSON lines, plain or by Label Studio or Argilla.

    Raises
    ------
    UsageError
        The file cannot be read, or a label has no answer or no number.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(not_utf8(path)) from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}).") from None
    if path.suffix == ".csv":
        labels = [
            _plain(row, f"{path}, line {n}")
            for n, row in enumerate(_rows(text, path), 2)
            if _is_labelled(row)
        ]
    else:
        labels = [
            label
            for n, entry in enumerate(_objects(text, path), 1)
            for label in _labels(entry, f"{path}, entry {n}")
        ]
    if not labels:
        raise UsageError(f"{path} holds no labels.")
    return labels


def _rows(text: str, path: Path) -> Iterator[dict[str, str]]:
    try:
        reader = csv.DictReader(StringIO(text, newline=""))
        if reason := other_separator(path, reader.fieldnames or []):
            raise UsageError(reason)
        yield from reader
    except csv.Error as error:
        raise UsageError(f"{path} cannot be read as CSV: {error}.") from None


def _objects(text: str, path: Path) -> list[Any]:
    try:
        if text.lstrip().startswith("["):
            return list(json.loads(text))
        # `splitlines` would also split at the Unicode separators that JSON texts may contain.
        return [json.loads(line) for line in text.split("\n") if line.strip()]
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is neither JSON nor JSON lines: {error}.") from None


def _labels(entry: Any, where: str) -> Iterator[LabelFields]:
    if not isinstance(entry, dict):
        raise UsageError(f"{where} is not an object.")
    if "annotations" in entry or "completions" in entry:
        yield from _label_studio(entry, where)
    elif "responses" in entry:
        yield from _argilla(entry, where)
    elif _is_labelled(entry):
        yield _plain(entry, where)


def _is_labelled(row: Mapping[str, Any]) -> bool:
    """Return whether a row is more than an answer that waits for its label."""
    return ANSWER not in row or any(row.get(name) not in (None, "") for name in LABEL_FIELDS)


def _plain(row: Mapping[str, Any], where: str) -> LabelFields:
    if (answer := label_of(row.get(ANSWER))) is None:
        raise UsageError(f"{where} has no {ANSWER}.")
    label: LabelFields = {ANSWER: answer, VALUE: _number(row.get(VALUE), where)}
    texts = {name: label_of(row.get(name)) for name in (PERSON, NOTE)}
    return label | {name: text for name, text in texts.items() if text is not None}


def _label_studio(task: Mapping[str, Any], where: str) -> Iterator[LabelFields]:
    """Yield the labels of a task; a skipped annotation has no value."""
    id_ = _mapping(task.get("data")).get(ANSWER)
    for annotation in _list(task.get("annotations") or task.get("completions")):
        results = _list(_mapping(annotation).get("result"))
        values = [_studio_value(_mapping(_mapping(one).get("value"))) for one in results]
        value = next((one for one in values if one is not None), None)
        by = _mapping(annotation).get("completed_by")
        name = _mapping(by).get("email") or _mapping(by).get("id") or by
        yield _plain({ANSWER: id_, VALUE: value, PERSON: name}, where)


def _studio_value(value: Mapping[str, Any]) -> Any:
    if choices := _list(value.get("choices")):
        return choices[0]
    return value.get("rating", value.get("number"))


def _argilla(record: Mapping[str, Any], where: str) -> Iterator[LabelFields]:
    """Yield the labels of a record of Argilla 2 (by question) or 1 (by person)."""
    id_ = _mapping(record.get("metadata")).get(ANSWER) or record.get("id")
    responses = record["responses"]
    if isinstance(responses, dict):
        answers = (_mapping(item) for items in responses.values() for item in _list(items))
        pairs = [(answer.get("value"), answer.get("user_id")) for answer in answers]
    else:
        pairs = []
        for response in map(_mapping, _list(responses)):
            values = list(_mapping(response.get("values")).values())
            value = _mapping(values[0]).get("value") if values else None
            pairs.append((value, response.get("user_id")))
    for value, person in pairs:
        yield _plain({ANSWER: id_, VALUE: value, PERSON: person}, where)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _number(value: Any, where: str) -> float | None:
    if value is None or value == "":
        return None
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise UsageError(f"{where}: the label {value!r} is not a number.") from None
