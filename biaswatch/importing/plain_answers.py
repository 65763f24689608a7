"""Answers as the API takes them: labels become texts, and the parts of a text one text."""

from collections.abc import Mapping
from math import inf
from typing import Any

from biaswatch.shared.conventions.messages import answer_text, label_of, parsed
from biaswatch.shared.errors import UsageError

IDS = ("id", "unit")
LABELS = (*IDS, "reason", "model", "fingerprint", "finish_reason")
DIMENSIONS = ("groups", "facts")
EXACT_FLOAT_LIMIT = 2.0**53
"""From here on, a double holds only some of the whole numbers."""
SCALAR = "Write text, a number, true or false."


def plain_answer(where: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with texts in place of other scalars; empty fields are left out.

    Raises
    ------
    UsageError
        A label is a list or an object, or groups are no object.
    """
    changed: dict[str, Any] = {n: _label(where, n, row[n]) for n in LABELS if n in row}
    changed |= {n: _labels(where, n, row[n]) for n in DIMENSIONS if n in row}
    if not isinstance(row.get("text"), str):
        changed["text"] = answer_text(row.get("text"))
    answer = {**row, **changed}
    return {name: value for name, value in answer.items() if value is not None}


def id_label(value: Any) -> str | None:
    """Return an id as a label; a float that dropped digits keeps the form that shows it."""
    is_rounded = isinstance(value, float) and EXACT_FLOAT_LIMIT <= abs(value) < inf
    return repr(value) if is_rounded else label_of(value)


def _label(where: str, name: str, value: Any) -> str | None:
    if isinstance(value, list | Mapping):
        raise UsageError(f"{where}: {name} is {_kind(value)}. {SCALAR}")
    return id_label(value) if name in IDS else label_of(value)


def _labels(where: str, name: str, written: Any) -> dict[str, str]:
    values = {} if written is None else parsed(written)
    if not isinstance(values, Mapping):
        raise UsageError(
            f"{where}: {name} is {_kind(values)}. Write an object with a label for each dimension,"
            ' like {"gender": "female"}.'
        )
    labels = {key: _label(where, f"{name}.{key}", value) for key, value in values.items()}
    return {key: label for key, label in labels.items() if label is not None}


def _kind(value: Any) -> str:
    if isinstance(value, list):
        return "a list"
    if isinstance(value, Mapping):
        return "an object"
    return "text" if isinstance(value, str) else "a single value"
