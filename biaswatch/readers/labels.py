"""Columns of a table that hold what people said of its rows, and how probable each label was."""

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from biaswatch.readers.table_files import not_utf8, other_separator
from biaswatch.readers.tables import TableColumns, numbers_in
from biaswatch.shared.analysis.findings.observations import Floats, Observations
from biaswatch.shared.analysis.labels.table_corrections import LabelledColumn
from biaswatch.shared.conventions.messages import label_of
from biaswatch.shared.errors import UsageError
from biaswatch.shared.stats.comparisons.compared_samples import Bounds

UNIT_SCALE = (0.0, 1.0)


def named_labels(given: Sequence[str], features: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the columns of labels by feature: of several people, several columns.

    With one feature `rude_by_anna` is enough; `rude=rude_by_anna` says of which they are.

    Raises
    ------
    UsageError
        A column is named of no feature, where there are several.
    """
    found: dict[str, tuple[str, ...]] = {}
    for each in given:
        feature, _, column = each.partition("=")
        if feature not in features or not column:
            if len(features) != 1:
                raise UsageError(
                    f"Labels {each!r}: say of which number they are, as in"
                    f" {features[0] if features else 'FEATURE'}={each}."
                )
            feature, column = features[0], each
        found[feature] = (*found.get(feature, ()), column)
    return found


def labelled_columns(
    frame: pd.DataFrame, columns: TableColumns, seen: Observations, source: Path | str
) -> list[LabelledColumn]:
    """Return what people said of the rows of a frame.

    Raises
    ------
    UsageError
        A value is no number, lies outside its scale, or the scale of a number is not known.
    """
    chances = None if columns.probability is None else _chances(frame, columns.probability, source)
    found = []
    for feature, names in columns.labels.items():
        said = np.column_stack([_finite(numbers_in(source, frame, name)) for name in names])
        read = seen.values[:, seen.features.index(feature)]
        bounds = _scale(feature, read, said, columns.ranges)
        for place, name in enumerate(names):
            _check(said[:, place], bounds, f"{source}, column {name}", feature)
        labelled = np.isfinite(said).any(axis=1)
        if chances is not None and (unknown := labelled & ~np.isfinite(chances)).any():
            row = int(np.flatnonzero(unknown)[0])
            raise UsageError(
                f"{source}, row {row + 1}: it has a label of {feature} and no number in"
                f" {columns.probability}."
            )
        found.append(LabelledColumn(feature, said, bounds, chances))
    return found


def label_warnings(columns: Sequence[LabelledColumn], seen: Observations) -> list[str]:
    """Return what somebody who reads corrected numbers of a table should know."""
    said = []
    for each in columns:
        labelled = np.isfinite(each.labels).any(axis=1)
        read = np.isfinite(seen.values[:, seen.features.index(each.feature)])
        if lost := int((labelled & ~read).sum()):
            said.append(f"{lost} labels of {each.feature} stand where it has no number.")
        cells = list(zip(*seen.groups.values(), strict=True)) if seen.groups else []
        known = {cell for cell, there in zip(cells, labelled & read, strict=True) if there}
        without = sum(there and cell not in known for cell, there in zip(cells, read, strict=True))
        if known and without:
            said.append(
                f"{without} rows lie in crossings of groups of which nobody has labelled a row:"
                f" they are left out where {each.feature} is corrected."
            )
    return said


def _scale(feature: str, read: Floats, said: Floats, ranges: Mapping[str, Bounds | None]) -> Bounds:
    if declared := ranges.get(feature):
        return declared
    there = np.concatenate([read[np.isfinite(read)], said[np.isfinite(said)]])
    if np.isin(there, UNIT_SCALE).all():
        return UNIT_SCALE
    raise UsageError(
        f"What labels can show depends on the scale of {feature}: declare the least and the largest"
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
    found = _finite(numbers_in(source, frame, name))
    wrong = np.isfinite(found) & ((found <= 0) | (found > 1))
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise UsageError(
            f"{source}, row {row + 1}, column {name}: a probability lies above 0 and is at most 1,"
            f" not {found[row]:g}."
        )
    return found


def _finite(values: Floats) -> Floats:
    return np.where(np.isfinite(values), values, np.nan)


Given = dict[str, Any]
"""A label as the gateway takes it."""
ANSWER, VALUE, PERSON, NOTE = "response_id", "value", "person", "note"


def labels_in(path: Path) -> list[Given]:
    """Return the labels of a file, whose shape is seen from it.

    Raises
    ------
    UsageError
        It cannot be read, or a label has no answer or no number; the sentence says which.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(not_utf8(path)) from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}).") from None
    if path.suffix == ".csv":
        found = [_plain(row, f"{path}, line {n}") for n, row in enumerate(_rows(text, path), 2)]
    else:
        found = [
            label
            for n, each in enumerate(_objects(text, path), 1)
            for label in _labels(each, f"{path}, entry {n}")
        ]
    if not found:
        raise UsageError(f"{path} holds no labels.")
    return found


def _rows(text: str, path: Path) -> Iterator[dict[str, str]]:
    try:
        reader = csv.DictReader(StringIO(text, newline=""))
        if said := other_separator(path, reader.fieldnames or []):
            raise UsageError(said)
        yield from reader
    except csv.Error as error:
        raise UsageError(f"{path} is no CSV that can be read: {error}.") from None


def _objects(text: str, path: Path) -> list[Any]:
    try:
        if text.lstrip().startswith("["):
            return list(json.loads(text))
        # Not at every separator of Unicode: JSON may hold them in its texts as they are.
        return [json.loads(line) for line in text.split("\n") if line.strip()]
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is not JSON, nor JSON lines: {error}.") from None


def _labels(found: Any, where: str) -> Iterator[Given]:
    if not isinstance(found, dict):
        raise UsageError(f"{where} is no object.")
    if "annotations" in found or "completions" in found:
        yield from _label_studio(found, where)
    elif "responses" in found:
        yield from _argilla(found, where)
    else:
        yield _plain(found, where)


def _plain(row: Mapping[str, Any], where: str) -> Given:
    if (answer := label_of(row.get(ANSWER))) is None:
        raise UsageError(f"{where} has no {ANSWER}.")
    label: Given = {ANSWER: answer, VALUE: _number(row.get(VALUE), where)}
    texts = {name: label_of(row.get(name)) for name in (PERSON, NOTE)}
    return label | {name: text for name, text in texts.items() if text is not None}


def _label_studio(task: Mapping[str, Any], where: str) -> Iterator[Given]:
    """Return the labels of one task; a skipped annotation is one that could not tell."""
    id_ = _mapping(task.get("data")).get(ANSWER)
    for each in _list(task.get("annotations") or task.get("completions")):
        results = _list(_mapping(each).get("result"))
        values = [_studio_value(_mapping(_mapping(one).get("value"))) for one in results]
        value = next((one for one in values if one is not None), None)
        by = _mapping(each).get("completed_by")
        name = _mapping(by).get("email") or _mapping(by).get("id") or by
        yield _plain({ANSWER: id_, VALUE: value, PERSON: name}, where)


def _studio_value(value: Mapping[str, Any]) -> Any:
    if choices := _list(value.get("choices")):
        return choices[0]
    return value.get("rating", value.get("number"))


def _argilla(record: Mapping[str, Any], where: str) -> Iterator[Given]:
    """Return the labels of one record, of Argilla 2 (by question) or 1 (by person)."""
    id_ = _mapping(record.get("metadata")).get(ANSWER) or record.get("id")
    responses = record["responses"]
    if isinstance(responses, dict):
        for each in (_mapping(one) for answers in responses.values() for one in _list(answers)):
            yield _plain(
                {ANSWER: id_, VALUE: each.get("value"), PERSON: each.get("user_id")}, where
            )
        return
    for each in _list(responses):
        values = list(_mapping(_mapping(each).get("values")).values())
        value = _mapping(values[0]).get("value") if values else None
        yield _plain({ANSWER: id_, VALUE: value, PERSON: _mapping(each).get("user_id")}, where)


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
        raise UsageError(f"{where}: the label {value!r} is no number.") from None
