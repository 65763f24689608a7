"""Fields of recorded answers: mappings that replace usual names, labels, plain rows."""

from collections.abc import Mapping
from math import inf
from typing import Any

from biaswatch.shared.conventions.contents import RecordedContent, recorded
from biaswatch.shared.conventions.mapping import FieldMapping, value_at
from biaswatch.shared.conventions.messages import label_of, parsed, prompt_in
from biaswatch.shared.conventions.outputs import NOTHING, logged_output
from biaswatch.shared.conventions.signals import Fields
from biaswatch.shared.errors import UsageError


def merged(usual: FieldMapping, declared: FieldMapping) -> FieldMapping:
    """Return the usual mapping, with the declared fields replaced."""
    names = declared.model_fields_set & set(FieldMapping.model_fields)
    return usual.model_copy(update={name: getattr(declared, name) for name in names})


def named_content(content: RecordedContent, row: Fields, mapping: FieldMapping) -> dict[str, Any]:
    """Return the fields of the content that the mapping replaces."""
    changed: dict[str, Any] = {}
    if (output := logged_output(value_at(row, mapping.text))) != NOTHING:
        named = recorded(output, None)
        changed = {
            "text": named.text,
            "reason": named.reason,
            "finish_reason": named.finish_reason or content.finish_reason,
        }
    if prompt := prompt_in(value_at(row, mapping.prompt)):
        changed["prompt"] = prompt
    if not mapping.prompts:
        changed["prompt"] = ()
    return changed


IDS = ("id", "unit")
LABELS = (*IDS, "reason", "model", "fingerprint", "finish_reason")
DIMENSIONS = ("groups", "facts")
EXACT_FLOAT_LIMIT = 2.0**53
"""Above this limit, a double holds only some of the integers."""
SCALAR = "Write text, a number, true or false."


def plain_answer(where: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with scalars converted to text, without empty fields.

    Raises
    ------
    UsageError
        A label is a list or an object, or groups are not an object.
    """
    changed: dict[str, Any] = {n: _label(where, n, row[n]) for n in LABELS if n in row}
    changed |= {n: _labels(where, n, row[n]) for n in DIMENSIONS if n in row}
    if "text" in row:
        changed["text"] = logged_output(row["text"]).text
    answer = {**row, **changed}
    return {name: value for name, value in answer.items() if value is not None}


def id_label(value: Any) -> str | None:
    """Return an id as a label; a rounded float keeps its exponent, which shows the rounding."""
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
