"""Labels in files: our CSV and JSON lines, and what Label Studio and Argilla export."""

import csv
import json
from collections.abc import Iterator, Mapping
from io import StringIO
from pathlib import Path
from typing import Any

from biaswatch.readers.csv_mistakes import not_utf8, other_separator
from biaswatch.shared.conventions.messages import label_of
from biaswatch.shared.errors import UsageError

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
